"""Parts of OpenAI's shapes that chat completions and responses share: models, messages, pieces, citations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from surefoot.server.history import Turn
from surefoot.server.problems import Problem, invalid
from surefoot.server.questions import MOST_TURNS
from surefoot.server.request_bodies import CompatibleBody
from surefoot.server.service import Caller
from surefoot.types import Citation, Trace

PREFIX = "surefoot-"
SOURCES = "+sources"
_MARKER = re.compile(r"\[(\d{1,4})\]")
_MARKUP = re.compile(r"([\\`*_\[\]<>#|])")
_PIECE = re.compile(r"(?:\S+\s*){1,6}|\s+")
"""Words that are streamed together."""


class ContentPart(CompatibleBody):
    """A part of a message."""

    type: str
    text: str | None = None


Content = str | tuple[ContentPart, ...] | None


def pieces(text: str) -> list[str]:
    """The text as it is streamed."""
    return _PIECE.findall(text)


def texts(messages: Iterable[tuple[str, Content]]) -> list[tuple[str, str]]:
    """The role and the text of each message. Raises Problem where the last one of the user has a part that is no text:
    a picture that nobody looks at must not seem to be answered. Earlier messages were refused for theirs already."""
    every = [*messages]
    last = next((content for role, content in reversed(every) if role == "user"), None)
    parts = () if last is None or isinstance(last, str) else last
    if other := next((part.type for part in parts if part.text is None), None):
        raise invalid(f"this model reads text alone, and a message has a part of the type {other[:40]!r}; leave it out")
    return [(role, _text(content)) for role, content in every]


def _text(content: Content) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part.text for part in content if part.text is not None)


def last_question(messages: Sequence[tuple[str, str]]) -> tuple[str, tuple[Turn, ...]]:
    """The last user message, and the ones before it with their answers. Raises Problem where there is none."""
    turns: list[Turn] = []
    for role, text in messages:
        if role == "user":
            turns.append(Turn(text))
        elif role == "assistant" and turns:
            turns[-1] = Turn(turns[-1].question, text)
    if not turns or not turns[-1].question.strip():
        raise Problem(400, "no_question", "there is no user message with text to answer; send one")
    return turns[-1].question, tuple(turns[:-1][-MOST_TURNS:])


def model_collection(caller: Caller, name: str) -> str:
    """The collection that a model's name means. Raises Problem for one that is not there, or is somebody else's."""
    collection = name.removeprefix(PREFIX).removesuffix(SOURCES)
    try:
        if name.startswith(PREFIX) and collection:
            return caller.collection(collection)
    except Problem:
        pass
    raise Problem(404, "model_not_found", "there is no such model, or not for this key; GET /v1/models lists them")


def model_names(caller: Caller) -> Iterator[str]:
    """The models of each visible collection."""
    for collection in caller.visible():
        yield from (f"{PREFIX}{collection}", f"{PREFIX}{collection}{SOURCES}")


def trace_tokens(trace: Trace) -> tuple[int, int]:
    """The input and output tokens of the language model; 0 where none was asked."""
    output_tokens = sum(step.completion_tokens or 0 for step in trace.steps)
    return sum(step.tokens for step in trace.steps) - output_tokens, output_tokens


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
