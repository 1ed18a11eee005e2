"""Texts that come with the questions, in place of an index and a search: what a retriever once found, and the parts
that CRAG's authors kept of their retrieval and of their web search."""

from __future__ import annotations

import re

from surefoot.evaluate.ask.questions import Example
from surefoot.evidence.merge import by_id
from surefoot.types import Passage, Source

# As CRAG's released files write the title before a text; a text may stand there without one.
_INTERNAL = r"([^.]{1,80}?)(?:  | // )(\S.*)"
_EXTERNAL = r"([^:]{1,80}): (.*)"


def inside(example: Example) -> tuple[Passage, ...]:
    """The question's passages in the order of retrieval, each id once; where it has none, the parts of its `internal`
    text."""
    found = by_id([passage for passage in example.passages if passage.text.strip()])
    return found or _parts(example.internal, _INTERNAL, "corpus")


def outside(example: Example) -> tuple[Passage, ...]:
    """The results of a web search: the parts of its `external` text."""
    return _parts(example.external, _EXTERNAL, "external")


def _parts(text: str, titled: str, source: Source) -> tuple[Passage, ...]:
    """CRAG joins the parts of a text with " ; ", each behind its title, if it has one."""
    found = []
    for number, part in enumerate(part.strip() for part in text.split(" ; ") if part.strip()):
        match = re.match(titled, part, re.DOTALL)
        found.append(Passage(f"{source}-{number}", match[2] if match else part, match[1] if match else "", source))
    return tuple(found)
