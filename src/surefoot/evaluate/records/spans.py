"""Spans of OpenTelemetry, in the words of OpenInference or of its own gen_ai conventions, as a record for each trace.

It reads OTLP's JSON (`resourceSpans`, as the collector's file exporter writes it), spans as SDKs write them, and those
of Phoenix, nested or with dotted names. Contexts are the documents of the outermost retrievers, in order of time; those
of a reranker replace what was retrieved before it. Question and answer are input and output of the outermost chain or
agent, else the retriever's query and the last words of a language model.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from surefoot.evaluate.problems import Problems
from surefoot.evaluate.records.messages import FOREIGN, Who, nested, passages, plain_text, words
from surefoot.types import Passage, Record
from surefoot.types.errors import UsageError

_SEEKERS = tuple(FOREIGN["documents"])
_WRAPPED = ("CHAIN", "AGENT", "")
"""Kinds of spans that may stand around a whole request."""
_FAILED = ("2", "ERROR", "STATUS_CODE_ERROR")


@dataclass(frozen=True, slots=True)
class _Span:
    trace: str
    id: str
    parent: str
    start: float
    kind: str
    attributes: dict[str, Any]
    """Attributes by dotted name, such as "retrieval.documents.0.document.content"."""
    failed: bool


def recognised(value: Any) -> bool:
    """True for an export of spans, or a single span."""
    if not isinstance(value, Mapping):
        return False
    described = any(str(name) == "attributes" or str(name).startswith("attributes.") for name in value)
    return isinstance(value.get("resourceSpans"), list) or (described and bool(_trace_of(_flat(value))))


def records(values: Sequence[tuple[str, Any]], problems: Problems) -> list[Record]:
    """A record a trace, in the order in which they begin to be told. Raises UsageError for what is no span."""
    traces: defaultdict[str, list[_Span]] = defaultdict(list)
    for place, value in values:
        for raw, service in _raw(value, place):
            span = _span(raw, service)
            traces[span.trace].append(span)
    read = {trace: _record(trace, sorted(spans, key=lambda s: s.start), problems) for trace, spans in traces.items()}
    for trace in (trace for trace, record in read.items() if record is None):
        problems.add("traces in which nothing was asked, retrieved or answered; no records", trace)
    if not (found := [record for record in read.values() if record]):
        raise UsageError(
            "no trace holds a question, documents or an answer; have the exporter keep what goes in and comes out"
        )
    return found


def _record(trace: str, spans: list[_Span], problems: Problems) -> Record | None:
    tree = {span.id: span for span in spans}
    depth = {span.id: len(list(_above(span, tree))) for span in spans}
    # Models that judge or guard a request do not answer it.
    spans = [s for s in spans if not any(up.kind in ("EVALUATOR", "GUARDRAIL") for up in (s, *_above(s, tree)))]
    outer = sorted((span for span in spans if span.kind in _WRAPPED), key=lambda span: depth[span.id])
    last = sorted(outer, key=lambda span: (depth[span.id], -span.start))
    seekers = [s for s in spans if s.kind in _SEEKERS and not any(up.kind in _SEEKERS for up in _above(s, tree))]
    models = [span for span in spans if span.kind == "LLM"]
    question = _first((*outer, *seekers, *models), "user")
    answer: str | None = _first((*last, *reversed(models)), "assistant") or None
    contexts = _contexts(seekers, trace, problems)
    if not question and answer is None and not contexts:
        return None
    if answer is None and any(span.failed for span in spans):
        problems.add("requests that failed; their answer counts as empty", trace)
        answer = ""
    elif answer is None and any(span.attributes.get("output.value") == "" for span in outer):
        answer = ""
    every = {name: value for span in reversed(spans) for name, value in span.attributes.items()}
    group = str(every.get("session.id") or every.get("gen_ai.conversation.id") or "")
    tags = {"system": str(every["service.name"])} if every.get("service.name") else {}
    return Record(trace, question, contexts, answer, group=group, tags=tags)


def _contexts(seekers: Sequence[_Span], trace: str, problems: Problems) -> tuple[Passage, ...] | None:
    if not seekers:
        return None
    documents: dict[str, Any] = {}
    bare = 0
    for span in seekers:
        own = [(passages([each])[0].text, each) for each in _documents(span)]
        bare += sum(not text.strip() for text, _ in own)
        documents = documents if span.kind == "RETRIEVER" else {}
        for text, each in own:
            if text.strip():
                documents.setdefault(text, each)
    if bare:
        problems.add("retrieved documents that were kept without their text; left out", trace, bare)
    return passages(list(documents.values())) if documents or not bare else None


def _documents(span: _Span) -> list[Any]:
    """The documents of a retriever: from its attributes, else from its output, where some frameworks keep them."""
    for name in FOREIGN["documents"][span.kind]:
        if listed := _numbered(span.attributes, name, "document."):
            return listed
        if isinstance(whole := _value(span.attributes.get(name)), list):
            return whole
    output = _value(span.attributes.get("output.value"))
    if isinstance(output, Mapping):
        output = next((output[name] for name in ("documents", "results") if name in output), None)
    return output if isinstance(output, list) else [output] if isinstance(output, str) and output.strip() else []


def _first(spans: Sequence[_Span], who: Who) -> str:
    """The first words in any of the spans; else the first value as it is; empty: there is none."""
    values = [value for span in spans for value in _values_of(span, who) if value not in (None, "", [])]
    found = next(filter(None, (words(value, who) for value in values)), None)
    return found if found is not None else plain_text(values[0], who) if values else ""


def _values_of(span: _Span, who: Who) -> list[Any]:
    """A span's values for what was asked or answered, the best first: of a model, messages before a raw output."""
    values = [span.attributes.get(name) for name in FOREIGN[who]["values"]]
    if span.kind != "LLM":
        return values
    listed = [_numbered(span.attributes, name, "message.") for name in FOREIGN[who]["messages"]]
    return [*([_message(each) for each in messages] for messages in listed if messages), *reversed(values)]


def _message(parts: Mapping[str, Any]) -> dict[str, Any]:
    """A message from its dotted names: "role", "contents.0.message_content.text"."""
    texts = [str(cell) for name, cell in sorted(parts.items()) if name.endswith(".message_content.text")]
    return {"role": parts.get("role", ""), "content": parts.get("content") or "".join(texts)}


def _numbered(attributes: Mapping[str, Any], name: str, prefix: str) -> list[dict[str, Any]]:
    """The items of a list whose attributes are called `name.0.…`, `name.1.…`, without `prefix`."""
    items: defaultdict[int, dict[str, Any]] = defaultdict(dict)
    for key, cell in attributes.items():
        if match := re.match(rf"{re.escape(name)}\.(\d+)\.(.+)", key):
            items[int(match[1])][match[2].removeprefix(prefix)] = cell
    return [items[number] for number in sorted(items)]


def _value(cell: Any) -> Any:
    """An attribute, decoded where it is a text of JSON."""
    return cell if (inner := nested(cell)) is None else inner


def _above(span: _Span, tree: Mapping[str, _Span]) -> Iterator[_Span]:
    """The spans around a span, from the inside; a cycle, which a broken export may hold, is gone round once."""
    seen = {span.id}
    while (up := tree.get(span.parent)) and up.id not in seen:
        seen.add(up.id)
        yield up
        span = up


def _raw(value: Any, place: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Each span as it stands, with the name of its service."""
    if not recognised(value):
        raise UsageError(f"{place} is no span; a file is either of spans or of records: take it out, and read again")
    alone = [{"resource": value.get("resource"), "scopeSpans": [{"spans": [value]}]}]
    batches = value["resourceSpans"] if isinstance(value.get("resourceSpans"), list) else alone
    for batch in _objects(batches):
        resource = batch.get("resource")
        service = _pairs(resource.get("attributes")).get("service.name", "") if isinstance(resource, Mapping) else ""
        for scope in _objects(batch.get("scopeSpans")):
            yield from ((span, str(service)) for span in _objects(scope.get("spans")))


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _span(raw: Mapping[str, Any], service: str) -> _Span:
    flat = _flat({**raw, "attributes": _pairs(raw.get("attributes"))})
    named = {name.removeprefix("attributes."): cell for name, cell in flat.items() if name.startswith("attributes.")}
    attributes = {"service.name": service} | named
    return _Span(
        trace=_trace_of(flat),
        id=str(_look(flat, "spanId", "context.span_id") or id(raw)),
        parent=str(_look(flat, "parentSpanId", "parent_id") or ""),
        start=_when(_look(flat, "startTimeUnixNano", "start_time")),
        kind=_kind(attributes, raw),
        attributes=attributes,
        failed=str(_look(flat, "status.code", "status.status_code", "status", "status_code")).upper() in _FAILED,
    )


def _kind(attributes: Mapping[str, Any], raw: Mapping[str, Any]) -> str:
    """The kind in the words of OpenInference; empty: none that matters here."""
    named = str(attributes.get("openinference.span.kind") or raw.get("span_kind") or "").upper()
    if named and named != "UNKNOWN" and not named.startswith("SPAN_KIND"):
        return named
    return str(FOREIGN["operations"].get(str(attributes.get("gen_ai.operation.name")), ""))


def _pairs(attributes: Any) -> dict[str, Any]:
    """Attributes by dotted name, as OTLP lists them, or of an object."""
    if isinstance(attributes, list):
        pairs = (pair for pair in attributes if isinstance(pair, Mapping) and "key" in pair)
        return _flat({str(pair["key"]): _any(pair.get("value")) for pair in pairs})
    return _flat(attributes) if isinstance(attributes, Mapping) else {}


def _any(value: Any) -> Any:
    """OTLP's AnyValue."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    name, inner = next(iter(value.items()))
    several = _objects(inner.get("values")) if isinstance(inner, Mapping) else []
    if name == "arrayValue":
        return [_any(each) for each in several]
    return {str(pair.get("key")): _any(pair.get("value")) for pair in several} if name == "kvlistValue" else inner


def _flat(value: Mapping[str, Any]) -> dict[str, Any]:
    """Every leaf under its dotted name; lists count from 0, but lists of plain values are leaves."""
    found: dict[str, Any] = {}
    waiting: list[tuple[str, Any]] = [(str(name), cell) for name, cell in reversed(list(value.items()))]
    while waiting:
        name, cell = waiting.pop()
        if isinstance(cell, Mapping) and cell:
            waiting += [(f"{name}.{key}", inner) for key, inner in reversed(list(cell.items()))]
        elif isinstance(cell, list) and any(isinstance(inner, Mapping) for inner in cell):
            waiting += [(f"{name}.{number}", inner) for number, inner in reversed(list(enumerate(cell)))]
        else:
            found[name] = cell
    return found


def _trace_of(flat: Mapping[str, Any]) -> str:
    return str(_look(flat, "traceId", "context.trace_id") or "").removeprefix("0x")


def _look(flat: Mapping[str, Any], *names: str) -> Any:
    """The first that is there of these."""
    return next((flat[name] for name in names if flat.get(name) is not None), None)


def _when(value: Any) -> float:
    """A time of any form, such that earlier is less; 0: it is not told."""
    for read in (float, lambda text: datetime.fromisoformat(str(text)).timestamp()):
        with suppress(TypeError, ValueError, OverflowError, OSError):
            return read(value)
    return 0.0
