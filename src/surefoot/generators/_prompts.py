"""The words that ask a language model: a template for each task, or one of the user's own in a file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from surefoot.text import toml_values
from surefoot.types.errors import ConfigError

USUAL = "qa"

_FIELD = re.compile(r"\{(sources|question)\}")


_WRITTEN = toml_values.beside(__file__, "prompts.toml")

ABSTAIN: str = _WRITTEN["abstain"]
"""For models that can tell."""


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


TEMPLATES = {task: Template(**words) for task, words in _WRITTEN["tasks"].items()}
"""The words of each task."""


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
