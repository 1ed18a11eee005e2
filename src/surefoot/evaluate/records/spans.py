"""Spans of OpenTelemetry and runs of other tracing tools as a record for each trace.

It reads OTLP's JSON (`resourceSpans`, as the collector's file exporter writes it), spans as SDKs write them, in the
words of OpenInference or of the gen_ai conventions, and those of Phoenix, LangSmith, Langfuse, MLflow and TruLens.
Contexts are the documents of the outermost retrievers, in order of time, and those of a reranker replace what was
retrieved before it; without a retriever, what tools returned, or the documents in the output. Question and answer are
input and output of the outermost chain or agent, else the retriever's query and the last words of a language model.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from surefoot.evaluate.problems import Problems
from surefoot.evaluate.records import rows
from surefoot.evaluate.records.messages import TURNS, Who, passages, question_fields, words
from surefoot.evaluate.records.paths import ABSENT, COLUMNS, FORMATS, Paths, first, known, look, nest, nested
from surefoot.types import Record
from surefoot.types.errors import UsageError

_PATHS: dict[str, list[str]] = FORMATS["spans"]
_SEEKERS = ("RETRIEVER", "RERANKER")
_WRAPPED = ("CHAIN", "AGENT", "")
"""Kinds of spans that may stand around a whole request."""
_FAILED = ("2", "ERROR", "STATUS_CODE_ERROR")


@dataclass(frozen=True, slots=True)
class _Span:
    row: Mapping[str, Any]
    """What a tool wrote of it, with names of attributes taken apart."""
    trace: str = ""
    id: str = ""
    parent: str = ""
    start: float = 0.0
    kind: str = ""
    """In the words of OpenInference; empty: none that matters here."""

    def values(self, name: str) -> list[Any]:
        """What stands at the paths of `name`, the best first, decoded where it is a text of JSON."""
        found = [look(self.row, path) for path in _PATHS[name]]
        return [cell if (inner := nested(cell)) is None else inner for cell in found if cell not in (ABSENT, None)]


def recognised(value: Any) -> bool:
    """True for an export of spans, or a single span."""
    return isinstance(value, Mapping) and known(nest(value), _PATHS["known"])


def records(values: Sequence[tuple[str, Any]], problems: Problems, mapping: Paths) -> list[Record]:
    """A record a trace, in the order in which they begin to be told; paths of `mapping` are looked up in its outermost
    spans first. Raises UsageError for what is no span."""
    traces: defaultdict[str, list[_Span]] = defaultdict(list)
    for place, value in values:
        if known(value, _PATHS["beside"]):
            problems.add("lines beside the spans; not read", place)
            continue
        if not recognised(value):
            raise UsageError(f"{place} is no span; a file is of spans or of records: take it out, and read again")
        if all(
            isinstance(cell, str | None) for cell in value.values()
        ):  # a row of a table, whose blank cells hold nothing
            value = {name: cell for name, cell in value.items() if cell}
        for span in _spans(value, _Span({})):
            traces[span.trace].append(span)
    ordered = {trace: sorted(spans, key=lambda span: span.start) for trace, spans in traces.items()}
    read = {trace: _record(trace, spans, problems, mapping) for trace, spans in ordered.items()}
    for trace in (trace for trace, record in read.items() if record is None):
        problems.add("traces in which nothing was asked, retrieved or answered; no records", trace)
    found = {trace: record for trace, record in read.items() if record}
    if not found:
        raise UsageError(
            "no trace holds a question, documents or an answer; have the exporter keep what goes in and comes out"
        )
    sessions: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for trace in sorted(found, key=lambda trace: ordered[trace][0].start):
        record, earlier = found[trace], sessions[found[trace].group]
        if record.group and not record.history:
            found[trace] = replace(record, history=tuple(earlier[-TURNS:]))
        earlier.append((record.question, record.answer or ""))
    return list(found.values())


def _record(trace: str, spans: list[_Span], problems: Problems, mapping: Paths) -> Record | None:
    tree = {span.id: span for span in spans}
    depth = {span.id: len(list(_above(span, tree))) for span in tree.values()}
    # Models that judge or guard a request do not answer it.
    spans = [s for s in tree.values() if not any(up.kind in ("EVALUATOR", "GUARDRAIL") for up in (s, *_above(s, tree)))]
    outer = sorted((span for span in spans if span.kind in _WRAPPED), key=lambda span: depth[span.id])
    last = sorted(outer, key=lambda span: (depth[span.id], -span.start))
    seekers = _outermost(_SEEKERS, spans, tree)
    models = [span for span in spans if span.kind == "LLM"]
    contexts = _contexts(seekers or _outermost(("TOOL",), spans, tree))
    if contexts is None:
        contexts = next(filter(None, map(_beside_answer, outer)), None)
    fields: dict[str, Any] = {
        "question": _first((*outer, *seekers, *models), "input", "user"),
        "contexts": contexts,
        "answer": _first((*last, *reversed(models)), "output", "assistant"),
    }
    fields |= {name: cell for name, paths in mapping.items() if (cell := _value_in((*outer, *spans), paths))}
    if not any((fields | {"contexts": any(passages([each])[0].text for each in contexts or ())}).values()):
        return None  # not even of documents more than ids
    if fields["answer"] is None and any("" in span.values("output") for span in outer):
        fields["answer"] = ""
    failed = any(str(cell).upper() in _FAILED for span in spans for cell in span.values("status"))
    named = {name: _value_in(spans, _PATHS[name]) for name in ("truths", "group", "system")}
    return rows.record({"id": trace, "error": failed, **named, **fields}, {}, trace, problems)


def _value_in(spans: Sequence[_Span], paths: Sequence[str]) -> Any:
    return next(filter(None, (first(span.row, paths) for span in spans)), None)


def _outermost(kinds: Sequence[str], spans: Sequence[_Span], tree: Mapping[str, _Span]) -> list[_Span]:
    return [s for s in spans if s.kind in kinds and not any(up.kind in kinds for up in _above(s, tree))]


def _contexts(seekers: Sequence[_Span]) -> list[Any] | None:
    """What retrievers, or tools, returned, each text once; None: there are none."""
    documents: dict[str, Any] = {}
    for span in seekers:
        documents = {} if span.kind == "RERANKER" else documents
        for each in _documents(span):
            documents.setdefault(passages([each])[0].text, each)
    return list(documents.values()) if seekers else None


def _documents(span: _Span) -> list[Any]:
    """The documents of a retriever: from its attributes, else from its output, where some frameworks keep them."""
    found = next((cell for name in ("documents", "output") for cell in span.values(name) if cell != ""), None)
    if isinstance(found, Mapping):
        found = first(found, ["results", *COLUMNS["contexts"]]) or words(found, "tool")
    return found if isinstance(found, list) else [found] if isinstance(found, str) and found.strip() else []


def _beside_answer(span: _Span) -> Any:
    """The documents beside an answer, or what tools said in messages."""
    for output in span.values("output"):
        listed = first(output, COLUMNS["contexts"]) if isinstance(output, Mapping) else None
        if found := listed if isinstance(listed, list) else question_fields(output).get("contexts"):
            return found
    return None


def _first(spans: Sequence[_Span], name: str, who: Who) -> Any:
    """The first value in any of the spans that has words; else the first value; None: there is none."""
    values = [value for span in spans for value in span.values(name) if value not in ("", [])]
    return next((value for value in values if words(value, who)), values[0] if values else None)


def _above(span: _Span, tree: Mapping[str, _Span]) -> Iterator[_Span]:
    """The spans around a span, from the inside; a cycle, which a broken export may hold, is gone round once."""
    seen = {span.id}
    while (up := tree.get(span.parent)) and up.id not in seen:
        seen.add(up.id)
        yield up
        span = up


def _spans(value: Mapping[str, Any], around: _Span) -> Iterator[_Span]:
    """The span that a value is, and those inside it; what one does not say of itself, the one around it says."""
    row = {"resource": around.row.get("resource"), **nest(value)}
    row |= {name: _attributes(row[name]) for name in ("attributes", "record_attributes") if name in row}
    if isinstance(resource := row["resource"], Mapping):
        row["resource"] = {"attributes": _attributes(resource.get("attributes"))}
    own = {name: first(row, _PATHS[name]) for name in ("trace", "id", "parent", "start")}
    span = _Span(
        row,
        around.trace or str(own["trace"] or ("observations" in row and row.get("id")) or "").removeprefix("0x"),
        str(own["id"] or id(row)),
        str(own["parent"] or around.id),
        _when(own["start"]),
        next(filter(None, (_kind(first(row, [path])) for path in _PATHS["kind"])), ""),
    )
    if span.trace:
        yield span
    for path in _PATHS["inside"]:
        for each in _objects(look(row, path)):
            yield from _spans(each, span)


def _kind(name: Any) -> str:
    kind = str(name or "").strip('"')
    kind = FORMATS["kinds"].get(kind.lower(), kind.upper())
    return "" if kind.startswith("SPAN_KIND") else kind


def _attributes(attributes: Any) -> dict[str, Any]:
    """Attributes with their names taken apart, of an object, of its text, or as OTLP lists them."""
    found = nested(attributes) or attributes
    if isinstance(found, list):
        found = {str(pair["key"]): _any(pair.get("value")) for pair in _objects(found) if "key" in pair}
    if not isinstance(found, Mapping):
        return {}
    if any(name.startswith("mlflow.") for name in found):  # which writes each as a text of JSON, also what is a text
        found = {name: (nested(f"[{cell}]") or [cell])[0] for name, cell in found.items()}
    return nest(found)


def _any(value: Any) -> Any:
    """OTLP's AnyValue."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    name, inner = next(iter(value.items()))
    several = _objects(inner.get("values")) if isinstance(inner, Mapping) else []
    if name == "arrayValue":
        return [_any(each) for each in several]
    return {str(pair.get("key")): _any(pair.get("value")) for pair in several} if name == "kvlistValue" else inner


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _when(value: Any) -> float:
    """A time of any form, such that earlier is less; 0: it is not told."""
    for read in (float, lambda text: datetime.fromisoformat(str(text)).timestamp()):
        with suppress(TypeError, ValueError, OverflowError, OSError):
            return read(value)
    return 0.0
