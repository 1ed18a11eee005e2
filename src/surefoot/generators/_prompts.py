"""The words that ask a language model: a template for each task, or one of the user's own in a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from surefoot.types.errors import ConfigError

USUAL = "qa"

_FIELD = re.compile(r"\{(sources|question)\}")


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt with the places of its sources and its question."""

    text: str
    """It holds {sources}, which are lines of their own or nothing, and {question}, once each."""
    max_tokens: int
    """Room for the answer."""

    def filled(self, sources: str, question: str) -> str:
        """The prompt. In one pass: what a source or a question says is never a place itself."""
        fields: Mapping[str, str] = {"sources": sources, "question": question}
        return _FIELD.sub(lambda place: fields[place[1]], self.text)


TEMPLATES: dict[str, Template] = {
    "qa": Template("{sources}{question} Answer briefly.", 100),
    "choice": Template("{sources}{question}\nOne of these is right. Answer with its letter.", 100),
    "claim": Template("{sources}Claim: {question}\nIs the claim true or false? Answer with one of these words.", 100),
    "biography": Template("{sources}{question} Answer in several sentences, with names, places and dates.", 300),
    "chat": Template("{sources}{question}", 300),
}
"""Plain, because the model that ships is small: of 20 PopQA questions with the same sources it answered 19 with the
sources as plain lines, 17 with them numbered, 13 to 16 with any rule added (short, cited, quotations only, "not
found"). The room is that of the papers: 100 tokens, and 300 for a long answer."""


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
