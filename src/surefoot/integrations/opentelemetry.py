"""Traces as spans of OpenTelemetry, in the words of OpenInference and of its own conventions for generative AI.

Needs the extra `otel`. A question is a span, and so is each of its steps; a step that called a language model has a
span of these calls in it. Ids, scores, labels, tokens and times are sent; the words of questions, passages, answers and
errors only with `texts`. A trace holds no prompts and no secrets, so neither is ever sent.
"""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import PurePath
from typing import Any

from surefoot.evaluate.records.traces import read
from surefoot.types import Event, Passage, Step, Trace
from surefoot.types.errors import MissingExtra

try:
    from opentelemetry import trace as otel
    from opentelemetry._logs import LoggerProvider, get_logger
    from opentelemetry.trace import Span, SpanKind, StatusCode, TracerProvider
except ImportError as error:
    raise MissingExtra("surefoot.integrations", "otel") from error

_KINDS = {"take": "RETRIEVER", "retrieve": "RETRIEVER", "search": "RETRIEVER"}
_KINDS |= {"grade": "EVALUATOR", "refine": "RERANKER", "verify": "GUARDRAIL"}
_KINDS |= {f"{step} external": kind for step, kind in _KINDS.items()}
"""OpenInference's kind of each step; all others are a CHAIN."""
_SUPPORT = {True: "supported", False: "unsupported", None: "unchecked"}

Attributes = dict[str, Any]
"""The words among them have a question mark before their names, and are sent only where that is wanted."""


class OpenTelemetry:
    """A listener that sends the trace of each finished question: `pipeline.but(listener=OpenTelemetry())`.

    Without providers it takes the program's own. Evaluation results are log records. `texts` sends words too.
    """

    def __init__(
        self, tracers: TracerProvider | None = None, loggers: LoggerProvider | None = None, texts: bool = False
    ) -> None:
        self._tracer = otel.get_tracer("surefoot", tracer_provider=tracers)
        self._logger = get_logger("surefoot", logger_provider=loggers)
        self._texts = texts

    def __call__(self, event: Event) -> None:
        """Send the trace of the event that ends a question."""
        if event.name == "ended":
            self.export(event.value)

    def export(self, trace: Trace) -> None:
        """Send a finished trace, whenever it ran; its spans have its own times."""
        created = _nanoseconds(trace.created) or time.time_ns()
        starts = [_nanoseconds(step.started) or created for step in trace.steps]
        ends = [start + round(step.seconds * 1e9) for start, step in zip(starts, trace.steps, strict=True)]
        root = self._span("surefoot", None, _of_question(trace), min(starts, default=created))
        last = {step.name: number for number, step in enumerate(trace.steps)}
        queries, spans = _queries(trace), {"answer": root}
        for number, (step, start, end) in enumerate(zip(trace.steps, starts, ends, strict=True)):
            found = _of_step(step, trace) if last[step.name] == number else {}
            about = {
                "?input.value": found.get("?input.value", queries.get(number, trace.standalone_question)),
                "openinference.span.kind": _KINDS.get(step.name, "CHAIN"),
                "surefoot.graded": step.graded or None,
                "surefoot.degraded": bool(step.degraded) or None,
                "?surefoot.degraded.because": step.degraded,
            }
            span = spans[step.name] = self._span(step.name, root, found | about, start)
            if step.calls:
                called = _of_model(step, trace)
                self._close(self._span(f"chat {called['llm.model_name']}", span, called, start), step.error, end)
            self._close(span, step.error, end)
        self._close(root, trace.error, max(ends, default=created))
        for place, result in _results(trace):
            context, name = otel.set_span_in_context(spans.get(place, root)), "gen_ai.evaluation.result"
            self._logger.emit(context=context, event_name=name, attributes=self._attributes(result))

    def _span(self, name: str, around: Span | None, about: Attributes, start: int) -> Span:
        kind = SpanKind.CLIENT if "llm.model_name" in about else SpanKind.INTERNAL
        context = otel.set_span_in_context(around) if around else None
        return self._tracer.start_span(name, context, kind, self._attributes(about), start_time=start)

    def _close(self, span: Span, error: str | None, end: int) -> None:
        span.set_status(StatusCode.ERROR if error else StatusCode.OK, self._attributes({"?error": error}).get("error"))
        span.end(end)

    def _attributes(self, about: Attributes) -> Attributes:
        """Those that may be sent; half a character in a text would lose a whole batch."""
        chosen = {name.lstrip("?"): value for name, value in about.items() if self._texts or name[0] != "?"}
        whole = {name: v.encode("utf-8", "replace").decode() if isinstance(v, str) else v for name, v in chosen.items()}
        return {name: value for name, value in whole.items() if value not in (None, "")}


def _of_question(trace: Trace) -> Attributes:
    answer, decision = trace.answer, trace.decision
    about: Attributes = {"trace": trace.id, "action": decision.action.value if decision else None}
    if answer:
        about |= {"certainty": answer.certainty, "confidence": answer.confidence, "refused": answer.refused}
    return {
        "?input.value": trace.question,
        "?output.value": answer.text if answer else None,
        "openinference.span.kind": "CHAIN",
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.agent.name": "surefoot",
        "metadata": json.dumps({name: value for name, value in about.items() if value is not None}),
        **{f"surefoot.{name}": value for name, value in about.items()},
    }


def _of_step(step: Step, trace: Trace) -> Attributes:
    """What the steps of this name found; a trace does not tell which of them found what."""
    kind, answer, near = _KINDS.get(step.name, "CHAIN"), trace.answer, len(trace.passages)
    if kind == "RETRIEVER":
        found = trace.external if step.name == "search" else trace.passages
        named = _documents("retrieval.documents", found)
        return named | {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": named["output.value"]}
    if kind == "EVALUATOR":
        grades = trace.grades[:near] if step.name == "grade" else trace.grades[near:]
        return _output([{"id": one.passage_id, "score": one.score, "label": one.label} for one in grades])
    if kind == "RERANKER":
        # The last one has all that was read, for those who take a reranker's documents for the contexts.
        every = step.name == [one.name for one in trace.steps if _KINDS.get(one.name) == kind][-1]
        left = [replace(one, score=strip.score) for one, strip in zip(read(trace), trace.kept_strips, strict=False)]
        return _documents("reranker.output_documents", [one for one in left if every or one.source == "corpus"])
    if kind == "GUARDRAIL" and answer:
        verdicts = [citation.supported for citation in answer.citations]
        return {"?input.value": answer.body} | _output({name: verdicts.count(of) for of, name in _SUPPORT.items()})
    return {"?output.value": answer.body} if answer and step.name in ("generate", "quote") else {}


def _output(value: Any, words: str = "") -> Attributes:
    return {f"{words}output.value": json.dumps(value), "output.mime_type": "application/json"}


def _documents(name: str, passages: Sequence[Passage]) -> Attributes:
    """The last one first: where a span takes fewer attributes, the oldest fall out. MLflow draws only the output."""
    named, bare, whole = dict[str, Any](), [], []
    for number, one in reversed([*enumerate(passages)]):
        place, about = f"{name}.{number}.document", {"title": one.title, "url": one.url, "source": one.source}
        named |= {f"?{place}.metadata": json.dumps(about), f"?{place}.content": one.text}
        named |= {f"{place}.score": one.score, f"{place}.id": one.id}
        bare.append({"id": one.id, "score": one.score})
        whole.append({"id": one.id, "page_content": one.text, "metadata": {"score": one.score, **about}})
    return named | _output(bare[::-1]) | _output(whole[::-1], "?")


def _of_model(step: Step, trace: Trace) -> Attributes:
    """The calls of a language model in a step, which a trace counts together."""
    answer, section, inputs = trace.answer, trace.config.get("llm", {}), step.tokens - step.completion_tokens
    model = PurePath(str(section.get("model") or (answer and answer.model) or "model")).name
    return {
        "?output.value": (answer.withheld or answer.body) if answer and step.name == "generate" else None,
        "openinference.span.kind": "LLM",
        "llm.model_name": model,
        "llm.token_count.prompt": inputs,
        "llm.token_count.completion": step.completion_tokens,
        "llm.token_count.total": step.tokens,
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": section.get("use"),
        "gen_ai.request.model": model,
        "gen_ai.usage.input_tokens": inputs,
        "gen_ai.usage.output_tokens": step.completion_tokens,
        "surefoot.calls": step.calls,
    }


def _results(trace: Trace) -> Iterator[tuple[str, Attributes]]:
    """The evaluation results, each with the step that it is about."""
    if decision := trace.decision:
        yield "grade", _result("decision", decision.best, decision.action.value, decision.because)
    for number, grade in enumerate(trace.grades):
        step = "grade" if number < len(trace.passages) else "grade external"
        yield step, _result("grade", grade.score, grade.label, grade.reason, grade.passage_id)
    if answer := trace.answer:
        yield "answer", _result("confidence", answer.confidence, answer.certainty, answer.unjudged or answer.because)
        for one in answer.citations:
            score = None if one.supported is None else float(one.supported)
            source = one.strip.passage_id if one.strip else None
            yield "verify", _result("support", score, _SUPPORT[one.supported], one.reason, source)


def _result(name: str, score: float | None, label: str | None, why: str, passage: str | None = None) -> Attributes:
    scored = {"name": f"surefoot.{name}", "score.value": score, "score.label": label}
    named: Attributes = {f"gen_ai.evaluation.{key}": value for key, value in scored.items()}
    return named | {"?gen_ai.evaluation.explanation": why, "surefoot.passage": passage}


def _queries(trace: Trace) -> dict[int, str]:
    """The query of each search, by the number of its step; empty: a trace that asked one twice does not tell."""
    seeking = [number for number, step in enumerate(trace.steps) if step.name in ("retrieve", "search")]
    every = (trace.standalone_question, *trace.queries)
    return dict(zip(seeking, every, strict=True)) if len(seeking) == len(every) else {}


def _nanoseconds(moment: str) -> int:
    return round(datetime.fromisoformat(moment).timestamp() * 1e6) * 1000 if moment else 0
