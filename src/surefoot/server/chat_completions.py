"""`/v1/chat/completions` and `/v1/models`: Surefoot as a model of any chat client; `/v1/responses` shares its parts.

A model is a collection: "surefoot-NAME", or "surefoot-NAME+sources" with the sources as Markdown behind the answer;
"surefoot-NAME+MODEL", where another model than the usual one words it.
Only checked text is streamed, as the model writes it, so that hardly anything that is shown is taken back.
"""

import json
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from functools import partial
from time import time
from typing import Any
from urllib.parse import quote, urlencode, urlsplit
from uuid import uuid4

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from surefoot.server.history import Turn
from surefoot.server.http import EVENTS, CompatibleBody, JsonRoute, awaited, stream
from surefoot.server.problems import Problem, invalid, problem_of
from surefoot.server.questions import MOST_TURNS, Happening, QuestionRequest, ask, watch
from surefoot.server.service import Caller, RequestCaller
from surefoot.text.questions import checked
from surefoot.types import Citation, Trace

router = APIRouter(route_class=JsonRoute, prefix="/v1")
Fields = dict[str, Any]
PREFIX = "surefoot-"
SOURCES = "+sources"
WITHDRAWN = "The text above is withdrawn; the answer is:"
_MARKER = re.compile(r"\[(\d{1,4})\]")
_ESCAPED = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>#|"})


class ContentPart(CompatibleBody):
    """A part of a message."""

    type: str
    text: str | None = None


class ChatMessage(CompatibleBody):
    """A message of a conversation; those of system and tools are ignored, and items of a response that are none."""

    role: str | None = None
    content: str | tuple[ContentPart, ...] | None = None

    @property
    def text(self) -> str:
        """Its parts of text, a line each."""
        if isinstance(self.content, tuple):
            return "\n".join(part.text for part in self.content if part.text is not None)
        return self.content or ""


def pieces(text: str) -> list[str]:
    """The text as it is streamed, some words at a time."""
    return re.findall(r"(?:\S+\s*){1,6}|\s+", text)


def last_question(messages: Iterable[ChatMessage]) -> tuple[str, tuple[Turn, ...]]:
    """The last user message, and the ones before it with their answers.

    Raises Problem where there is none, or where it has a part that is no text: a picture that nobody looks at must not
    seem to be answered. Earlier messages were refused for theirs already.
    """
    turns: list[Turn] = []
    last = ChatMessage()
    for message in messages:
        if message.role == "user":
            turns.append(Turn(message.text))
            last = message
        elif message.role == "assistant" and turns:
            turns[-1] = Turn(turns[-1].question, message.text)
    parts = last.content if isinstance(last.content, tuple) else ()
    if other := next((part.type for part in parts if part.text is None), None):
        raise invalid(f"this model reads text alone, and a message has a part of the type {other[:40]!r}; leave it out")
    if not last.text.strip():
        raise Problem(400, "no_question", "there is no user message with text to answer; send one")
    return last.text, tuple(turns[:-1][-MOST_TURNS:])


def addressed(caller: Caller, name: str) -> tuple[str, str]:
    """The collection that a model's name means, and the model that words the answer. Raises Problem for one that is not
    there, or is somebody else's."""
    collection, _, model = name.removeprefix(PREFIX).removesuffix(SOURCES).partition("+")
    with suppress(Problem):
        if name.startswith(PREFIX) and collection:
            return caller.collection(collection), caller.model(model)
    raise Problem(404, "model_not_found", "there is no such model, or not for this key; GET /v1/models lists them")


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A citation at one of its markers in the text."""

    citation: Citation
    start: int
    end: int
    url: str
    title: str
    passage: str

    @property
    def markdown(self) -> str:
        """The title as the text of a link in Markdown."""
        return " ".join(self.title.split()).translate(_ESCAPED)

    def as_json(self) -> Fields:
        """The fields of a citation of an address."""
        return {"url": self.url, "title": self.title, "start_index": self.start, "end_index": self.end}


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The answer of a trace, in the parts that both shapes are made of."""

    text: str
    sources: tuple[SourceLocation, ...]
    """Each quoted citation where its marker stands in the answer, in order."""
    input_tokens: int
    """Tokens of the language model; 0 where none was asked. Likewise `output_tokens`."""
    output_tokens: int


def completion(trace: Trace, model: str, collection: str, request: Request) -> ChatReply:
    """The answer as this model gives it. The address of the request is this server's own, under which the page opens
    the answer with a source that has no address of its own."""
    sources = tuple(_locations(trace, collection, str(request.base_url).rstrip("/")))
    text = trace.answer.text if trace.answer else ""
    if sources and model.endswith(SOURCES):
        lines = {one.citation.marker: f"- [{one.citation.marker}] [{one.markdown}]({one.url})" for one in sources}
        text += "\n\n**Sources**\n\n" + "\n".join(lines.values())
    output_tokens = sum(step.completion_tokens for step in trace.steps)
    return ChatReply(text, sources, sum(step.tokens for step in trace.steps) - output_tokens, output_tokens)


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
        # A row of an uploaded table claims any address that it likes, and a chat client may load it: the page shows it.
        fetched = passage is not None and passage.source == "external"
        url = _linkable(citation.url or passage.url or "") if passage and fetched else ""
        url = url or f"{base}/?{urlencode({'collection': collection, 'passage': id})}#/t/{trace.id}"
        title = citation.title or (passage.title if passage else "") or citation.url or id
        yield SourceLocation(citation, *marker.span(), url, title, id)


def _linkable(url: str) -> str:
    """An address of the web without a login, in characters of which none ends a link of Markdown or turns the direction
    of letters; "": it is none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2])
    return quote(bare.geturl(), "!#$%&'*+,/:;=?@~", errors="replace") if parts.scheme in ("http", "https") else ""


class StreamOptions(CompatibleBody):
    """Additions to a stream."""

    include_usage: bool | None = None


class ChatBody(CompatibleBody):
    """A chat completion, as OpenAI's clients ask for it; its other fields are ignored."""

    model: str
    messages: tuple[ChatMessage, ...]
    stream: bool | None = None
    stream_options: StreamOptions | None = None


@router.post("/chat/completions", responses=EVENTS)
async def post_chat(body: ChatBody, request: Request, caller: RequestCaller) -> Response:
    """Answer the last user message of a conversation."""
    collection, model = addressed(caller, body.model)
    question, history = last_question(body.messages)
    posed = QuestionRequest(collection, checked(question), history, owner=caller.owner, model=model)
    head = {"id": f"chatcmpl-{uuid4().hex[:12]}", "created": int(time()), "model": body.model}
    completed = partial(completion, model=body.model, collection=collection, request=request)
    if body.stream:
        usage = bool(body.stream_options and body.stream_options.include_usage)
        watched = watch(caller.service, posed)
        return stream(_streamed(watched, completed, {**head, "object": "chat.completion.chunk"}, usage))
    found = completed(await awaited(request, ask(caller.service, posed)))
    message = {"role": "assistant", "content": found.text, "refusal": None, "annotations": _annotations(found)}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    return JSONResponse({**head, "object": "chat.completion", "choices": [choice], "usage": _usage(found)})


def _annotations(found: ChatReply) -> list[Fields]:
    return [{"type": "url_citation", "url_citation": one.as_json()} for one in found.sources]


async def _streamed(
    watched: Happening,
    completed: Callable[[Trace], ChatReply],
    head: Fields,
    usage: bool,
) -> AsyncIterator[str]:
    """The role at once, so that the client sees that it is heard; the text as it is checked."""

    def chunk(delta: Fields, finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return json.dumps({**head, "choices": [choice]})

    sent = ""
    try:
        async with aclosing(watched):
            yield chunk({"role": "assistant", "content": ""})
            async for _, name, value in watched:
                if name == "text":
                    sent += value
                    yield chunk({"content": value})
        found = completed(continued(value, sent))
    except Exception as error:  # noqa: BLE001 - the status is sent already; the client reads the error from the stream
        yield json.dumps(problem_of(error).as_json())
        return
    for piece in pieces(found.text[len(sent) :]):
        yield chunk({"content": piece})
    if found.sources:
        yield chunk({"annotations": _annotations(found)})
    yield chunk({}, "stop")
    if usage:
        yield json.dumps({**head, "choices": [], "usage": _usage(found)})
    yield "[DONE]"


def continued(trace: Trace, sent: str) -> Trace:
    """The trace with its answer as the text that was sent goes on: the hedge stands at the end, and where another
    answer took its place, that is said."""
    if trace.answer is None or trace.answer.text.startswith(sent):
        return trace
    hedge = trace.answer.hedge
    whole = trace.answer.text.removeprefix(hedge).lstrip("\n")
    text = f"{whole}\n\n{hedge}" if whole.startswith(sent) else f"{sent}\n\n{WITHDRAWN}\n\n{trace.answer.text}"
    return replace(trace, answer=replace(trace.answer, text=text))


def _usage(found: ChatReply) -> Fields:
    total = found.input_tokens + found.output_tokens
    return {"prompt_tokens": found.input_tokens, "completion_tokens": found.output_tokens, "total_tokens": total}


@router.get("/models")
def get_models(caller: RequestCaller) -> Fields:
    """List the models: each collection that this key sees, by whoever may word its answers, with and without the list
    of sources."""
    models = ("", *(f"+{model}" for model in caller.service.collections.models()[1:]))
    ends = [f"{model}{sources}" for model in models for sources in ("", SOURCES)]
    names = [f"{PREFIX}{collection}{end}" for collection in caller.visible() for end in ends]
    return {"object": "list", "data": [_described(name) for name in names]}


@router.get("/models/{name:path}")
def get_model(name: str, caller: RequestCaller) -> Fields:
    """Describe one model."""
    addressed(caller, name)
    return _described(name)


def _described(name: str) -> Fields:
    return {"id": name, "object": "model", "created": 0, "owned_by": "surefoot"}
