"""The citations of an answer in the words of chat clients, and as lines of Markdown where a client shows none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from surefoot.types import Answer, Citation, Passage, Trace

_MARKER = re.compile(r"\[(\d{1,4})\]")
_MARKUP = re.compile(r"([\\`*_\[\]<>#|])")


@dataclass(frozen=True, slots=True)
class Place:
    """A citation at one of its marks in the text."""

    citation: Citation
    start: int
    end: int
    url: str
    title: str
    passage: str


def places(trace: Trace, collection: str, base: str) -> tuple[Place, ...]:
    """Each quoted citation where its mark stands in the answer, in order. `base` is this server's own address, under
    which the page opens the answer with a source that has no address of its own."""
    if trace.answer is None:
        return ()

    def opened(passage: str) -> str:
        return f"{base}/?{urlencode({'collection': collection, 'passage': passage})}#/t/{trace.id}"

    known = {passage.id: passage for passage in (*trace.passages, *trace.external)}
    return tuple(_places(trace.answer, known, opened))


def _places(answer: Answer, known: dict[str, Passage], opened: Callable[[str], str]) -> Iterator[Place]:
    quoted = {one.marker: one for one in answer.citations if one.quoted and one.strip}
    for mark in _MARKER.finditer(answer.text):
        one = quoted.get(int(mark[1]))
        if one is None or one.strip is None:
            continue
        id = one.strip.passage_id
        passage = known.get(id)
        own = one.url or (passage.url if passage else None) or ""
        url = own if own.startswith(("https://", "http://")) else opened(id)
        yield Place(one, *mark.span(), url, one.title or (passage.title if passage else "") or own or id, id)


def footer(found: tuple[Place, ...]) -> str:
    """The sources as a list in Markdown, each once; empty where there are none."""
    lines = {
        place.citation.marker: f"- [{place.citation.marker}] [{_plain(place.title)}]({place.url})" for place in found
    }
    return "\n\n**Sources**\n\n" + "\n".join(lines.values()) if lines else ""


def _plain(title: str) -> str:
    return _MARKUP.sub(r"\\\1", " ".join(title.split()))


def url_citations(found: tuple[Place, ...]) -> list[dict[str, Any]]:
    """The annotations of a chat completion."""
    return [
        {
            "type": "url_citation",
            "url_citation": {"url": one.url, "title": one.title, "start_index": one.start, "end_index": one.end},
        }
        for one in found
    ]


def file_citations(found: tuple[Place, ...]) -> list[dict[str, Any]]:
    """The annotations of a response: of a file for what is in the collection, else of an address."""
    return [
        {"type": "file_citation", "file_id": one.passage, "filename": one.title, "index": one.start}
        if "passage=" in one.url and one.citation.url != one.url
        else {
            "type": "url_citation",
            "url": one.url,
            "title": one.title,
            "start_index": one.start,
            "end_index": one.end,
        }
        for one in found
    ]
