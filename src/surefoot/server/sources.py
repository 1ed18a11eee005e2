"""The citations of an answer in the shapes of chat clients, and as lines of Markdown where a client shows none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from surefoot.types import Citation, Trace

_MARKER = re.compile(r"\[(\d{1,4})\]")
_MARKUP = re.compile(r"([\\`*_\[\]<>#|])")


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A citation at one of its markers in the text."""

    citation: Citation
    start: int
    end: int
    url: str
    title: str
    passage: str


def locations(trace: Trace, collection: str, base: str) -> tuple[SourceLocation, ...]:
    """Each quoted citation where its marker stands in the answer, in order. `base` is this server's own address, under
    which the page opens the answer with a source that has no address of its own."""
    return tuple(_locations(trace, collection, base))


def _locations(trace: Trace, collection: str, base: str) -> Iterator[SourceLocation]:
    if trace.answer is None:
        return
    passages = {passage.id: passage for passage in (*trace.passages, *trace.external)}
    quoted = {one.marker: (one, one.strip) for one in reversed(trace.answer.citations) if one.quoted and one.strip}
    for marker in _MARKER.finditer(trace.answer.text):
        if int(marker[1]) not in quoted:
            continue
        citation, strip = quoted[int(marker[1])]
        id, passage = strip.passage_id, passages.get(strip.passage_id)
        own = citation.url or (passage.url if passage else None) or ""
        opened = f"{base}/?{urlencode({'collection': collection, 'passage': id})}#/t/{trace.id}"
        url = own if own.startswith(("https://", "http://")) else opened
        title = citation.title or (passage.title if passage else "") or own or id
        yield SourceLocation(citation, *marker.span(), url, title, id)


def footer(sources: tuple[SourceLocation, ...]) -> str:
    """The sources as a list in Markdown, each once; empty where there are none."""
    lines = {one.citation.marker: f"- [{one.citation.marker}] [{_plain(one.title)}]({one.url})" for one in sources}
    return "\n\n**Sources**\n\n" + "\n".join(lines.values()) if lines else ""


def _plain(title: str) -> str:
    return _MARKUP.sub(r"\\\1", " ".join(title.split()))


def _url_citation(one: SourceLocation) -> dict[str, Any]:
    return {"url": one.url, "title": one.title, "start_index": one.start, "end_index": one.end}


def url_citations(sources: tuple[SourceLocation, ...]) -> list[dict[str, Any]]:
    """The annotations of a chat completion."""
    return [{"type": "url_citation", "url_citation": _url_citation(one)} for one in sources]


def file_citations(sources: tuple[SourceLocation, ...]) -> list[dict[str, Any]]:
    """The annotations of a response: of a file for a passage of the collection, else of an address."""
    return [
        {"type": "file_citation", "file_id": one.passage, "filename": one.title, "index": one.start}
        if "passage=" in one.url and one.citation.url != one.url
        else {"type": "url_citation", **_url_citation(one)}
        for one in sources
    ]
