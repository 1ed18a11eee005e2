"""The words that ask a language model: a template for each task, or one of the user's own in a file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from surefoot.types.errors import ConfigError

USUAL = "qa"

_FIELD = re.compile(r"\{(sources|question)\}")


RULES = (
    "Answer the question from the numbered sources, in one or two full sentences and in the language of the question. "
    "End each sentence with the number of its source in brackets."
)
"""The system message of the task "qa". Told to put "[1]" behind each statement, Qwen2.5-Coder of 1.5 billion parameters
writes nothing else."""
SHORT = "Answer the question from the numbered sources. Give only the answer, and no other words."
ABSTAIN = "Where the sources do not answer the question, say so, and say what is missing."
"""For models that can tell: told this, Qwen2.5-Coder of 1.5 billion parameters says it in 5 of 9 questions whose answer
lies before it, and not told, it answers."""


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt with the places of its sources and its question."""

    text: str
    """It holds {sources}, which are lines of their own or nothing, and {question}, once each."""
    max_tokens: int
    """Room for the answer."""
    system: str = ""
    """The system message, where there are sources; empty: none."""

    def filled(self, sources: str, question: str) -> str:
        """The prompt. In one pass: what a source or a question says is never a place itself."""
        fields: Mapping[str, str] = {"sources": sources, "question": question}
        return _FIELD.sub(lambda place: fields[place[1]], self.text)


TEMPLATES: dict[str, Template] = {
    "qa": Template("{sources}{question}", 1024, RULES),
    "short": Template("{sources}{question}", 100, SHORT),
    "choice": Template("{sources}{question}\nOne of these is right. Answer with its letter.", 100),
    "claim": Template("{sources}Claim: {question}\nIs the claim true or false? Answer with one of these words.", 100),
    "biography": Template("{sources}{question} Answer in several sentences, with names, places and dates.", 300),
    "chat": Template("{sources}{question}", 1024),
}
"""The words of each task. The room for short and long answers of the papers' tasks is theirs, 100 and 300 tokens."""


def template(prompt: str) -> Template:
    """The template of a task, or that in a file; ConfigError for what is neither."""
    if prompt in TEMPLATES:
        return TEMPLATES[prompt]
    try:
        text = Path(prompt).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"generator.prompt is neither a task ({', '.join(TEMPLATES)}) nor a file that can be read: {prompt!r} "
            f"({error})"
        ) from error
    if sorted(_FIELD.findall(text)) != ["question", "sources"]:
        raise ConfigError(f"the prompt in {prompt} must hold {{sources}} and {{question}}, once each")
    return Template(text, TEMPLATES[USUAL].max_tokens)
