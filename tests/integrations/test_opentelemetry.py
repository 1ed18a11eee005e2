"""A trace as spans and log records: kinds, times and numbers always, words only where they are wanted; read back."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk", reason="needs the extra otel")

from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from shelf import pipeline as built
from surefoot.evaluate.records import traces
from surefoot.evaluate.records.files import read
from surefoot.integrations.opentelemetry import OpenTelemetry
from surefoot.pipeline import Pipeline
from surefoot.types import Record, Trace
from surefoot.types.errors import ComponentError, UsageError

from .conftest import Outside

QUESTION = "Who built the Ruvel Bridge?"
SHELF: Pipeline = built.__wrapped__() if hasattr(built, "__wrapped__") else built.__pytest_wrapped__.obj()
MODEL = {"llm": {"use": "scripted", "model": "small-1"}}


class Backend:
    """Keeps what is sent."""

    def __init__(self, texts: bool = False) -> None:
        self._spans, self._logs = InMemorySpanExporter(), InMemoryLogRecordExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._spans))
        logs = LoggerProvider()
        logs.add_log_record_processor(SimpleLogRecordProcessor(self._logs))
        self.listener = OpenTelemetry(self.provider, logs, texts=texts)

    def asked(self, pipeline: Pipeline = SHELF, question: str = QUESTION) -> Trace:
        return pipeline.but(listener=self.listener).run(question)

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self._spans.get_finished_spans())

    def span(self, name: str) -> ReadableSpan:
        (found,) = [span for span in self.spans if span.name == name]
        return found

    def results(self, name: str) -> list[tuple[int, dict[str, Any]]]:
        """The id of the span that each is about, and its attributes."""
        records = [one.log_record for one in self._logs.get_finished_logs()]
        assert {record.event_name for record in records} == {"gen_ai.evaluation.result"}
        found = [(record.span_id, dict(record.attributes or {})) for record in records]
        return [one for one in found if one[1]["gen_ai.evaluation.name"] == f"surefoot.{name}"]

    def record(self, folder: Path) -> Record:
        """As our own reader reads what the SDK writes of a span, a line each."""
        file = folder / "spans.jsonl"
        file.write_text("\n".join(json.dumps(json.loads(span.to_json())) for span in self.spans), encoding="utf-8")
        (record,) = read(file).records
        return record


class Broken:
    """Fails where it should grade."""

    name = SHELF.evaluator.name
    thresholds = SHELF.evaluator.thresholds

    def grade(self, pairs: Any) -> Any:
        raise ComponentError("secret-host is out of memory")


def kinds(backend: Backend) -> dict[str, Any]:
    return {span.name: (span.attributes or {})["openinference.span.kind"] for span in backend.spans}


def test_each_step_is_a_span_of_its_kind_within_the_question() -> None:
    backend = Backend()
    backend.asked(replace(SHELF, config=MODEL))
    assert kinds(backend) == {
        "retrieve": "RETRIEVER",
        "grade": "EVALUATOR",
        "refine": "RERANKER",
        "generate": "CHAIN",
        "chat small-1": "LLM",
        "verify": "GUARDRAIL",
        "surefoot": "CHAIN",
    }
    parents = {span.name: span.parent and span.parent.span_id for span in backend.spans}
    root, generate = backend.span("surefoot").context.span_id, backend.span("generate").context.span_id
    assert parents.pop("surefoot") is None
    assert parents.pop("chat small-1") == generate
    assert {*parents.values()} == {root}


def test_spans_have_the_times_of_their_steps() -> None:
    """Whenever the trace is sent."""
    trace = SHELF.run(QUESTION)
    moved = replace(trace, steps=tuple(replace(step, started="2024-05-01T10:00:00.250+00:00") for step in trace.steps))
    backend = Backend()
    backend.listener.export(moved)
    retrieve, begun = backend.span("retrieve"), 1_714_557_600_250_000_000
    assert (retrieve.start_time, backend.span("surefoot").start_time) == (begun, begun)
    assert retrieve.end_time == begun + round(moved.steps[0].seconds * 1e9)
    assert backend.span("surefoot").end_time == max(span.end_time or 0 for span in backend.spans)


def test_tokens_stand_at_the_calls_of_the_model_in_both_conventions() -> None:
    backend = Backend()
    trace = backend.asked(replace(SHELF, config=MODEL))
    (step,) = [step for step in trace.steps if step.name == "generate"]
    about = backend.span("chat small-1").attributes or {}
    assert about["llm.token_count.total"] == step.tokens > step.completion_tokens > 0
    assert about["llm.token_count.completion"] == about["gen_ai.usage.output_tokens"] == step.completion_tokens
    assert about["llm.token_count.prompt"] == about["gen_ai.usage.input_tokens"] == step.tokens - step.completion_tokens
    assert (about["gen_ai.operation.name"], about["gen_ai.request.model"]) == ("chat", "small-1")


def test_a_model_file_is_named_without_its_folder() -> None:
    backend = Backend()
    backend.asked(replace(SHELF, config={"llm": {"model": "/home/anna/models/small.gguf"}}))
    assert "chat small.gguf" in kinds(backend)


def test_documents_are_sent_with_ids_and_scores() -> None:
    backend = Backend()
    backend.asked()
    about = backend.span("retrieve").attributes or {}
    assert (about["retrieval.documents.1.document.id"], about["retrieval.documents.1.document.score"]) == ("h#2", 1.0)
    assert json.loads(str(about["gen_ai.retrieval.documents"])) == [
        {"id": "b", "score": 2.0},
        {"id": "h#2", "score": 1},
    ]


def test_no_words_are_sent_unasked() -> None:
    """Neither of the question, the passages and the answer, nor of an error or a fallback, which may quote them."""
    backend = Backend()
    for one in (SHELF, replace(SHELF, evaluator=Broken(), searcher=Outside())):
        backend.asked(one)
    sent = " ".join(span.to_json() for span in backend.spans) + str(backend.results("grade"))
    for word in ("Ruvel", "aldwin", "Larrow", "Sorvay", "secret-host", "dumplings", "example.org"):
        assert word.lower() not in sent.lower()


def test_words_are_sent_where_they_are_wanted() -> None:
    backend = Backend(texts=True)
    trace = backend.asked()
    assert trace.answer
    root = backend.span("surefoot").attributes or {}
    assert (root["input.value"], root["output.value"]) == (QUESTION, trace.answer.text)
    about = backend.span("retrieve").attributes or {}
    assert about["retrieval.documents.0.document.content"] == trace.passages[0].text
    assert json.loads(str(about["retrieval.documents.0.document.metadata"]))["title"] == "Ruvel Bridge"
    shown = json.loads(str(about["output.value"]))[0]  # as MLflow draws documents
    assert (shown["page_content"], shown["metadata"]["title"]) == (trace.passages[0].text, "Ruvel Bridge")


def test_our_own_reader_reads_it_back(tmp_path: Path) -> None:
    """Question, contexts and answer as the trace has them."""
    backend = Backend(texts=True)
    trace = backend.asked()
    found, own = backend.record(tmp_path), traces.record(trace)
    assert trace.answer
    assert (found.question, found.answer) == (QUESTION, trace.answer.text)
    assert found.contexts
    assert [(one.id, one.text, one.title) for one in found.contexts] == [
        (one.id, one.text, one.title) for one in own.contexts or ()
    ]
    assert [span.name for span in backend.spans if "chat" not in span.name][:-1] == [step.name for step in trace.steps]


def test_it_is_read_back_from_otlp_too(tmp_path: Path) -> None:
    """As a collector writes it into a file."""
    common = pytest.importorskip(
        "opentelemetry.exporter.otlp.proto.common.trace_encoder", reason="needs the extra otel"
    )
    from google.protobuf.json_format import MessageToJson

    backend = Backend(texts=True)
    trace = backend.asked()
    file = tmp_path / "spans.json"
    file.write_text(MessageToJson(common.encode_spans(backend.spans)), encoding="utf-8")
    (record,) = read(file).records
    assert trace.answer
    assert (record.question, record.answer) == (QUESTION, trace.answer.text)
    assert [one.text for one in record.contexts or ()] == [one.text for one in traces.read(trace)]


def test_what_was_searched_elsewhere_is_read_back_too(tmp_path: Path) -> None:
    """The query stands at the search, and the contexts are those of both places that were read."""
    backend, outside = Backend(texts=True), Outside()
    trace = backend.asked(replace(SHELF, searcher=outside), "Who lit the Sorvay Lighthouse?")
    search = backend.span("search").attributes or {}
    assert (search["input.value"], search["openinference.span.kind"]) == (outside.queries[0], "RETRIEVER")
    assert search["retrieval.documents.0.document.id"] == "1"
    contexts = backend.record(tmp_path).contexts or ()
    assert [one.text for one in contexts] == [one.text for one in traces.read(trace)] != []


def test_without_words_there_is_no_record(tmp_path: Path) -> None:
    backend = Backend()
    backend.asked()
    with pytest.raises(UsageError, match="have the exporter keep what goes in and comes out"):
        backend.record(tmp_path)


def test_evaluation_results_are_log_records_of_their_spans() -> None:
    backend = Backend()
    trace = backend.asked()
    assert trace.decision
    assert trace.answer
    ((span, decision),) = backend.results("decision")
    assert span == backend.span("grade").context.span_id
    assert decision["gen_ai.evaluation.score.label"] == trace.decision.action.value
    assert decision["gen_ai.evaluation.score.value"] == trace.decision.best
    grades = [about for _, about in backend.results("grade")]
    assert [(one["surefoot.passage"], one["gen_ai.evaluation.score.value"]) for one in grades] == [
        (grade.passage_id, grade.score) for grade in trace.grades
    ]
    ((span, support),) = backend.results("support")
    assert (span, support["gen_ai.evaluation.score.label"]) == (backend.span("verify").context.span_id, "supported")
    ((span, confidence),) = backend.results("confidence")
    assert (span, confidence["gen_ai.evaluation.score.label"]) == (
        backend.span("surefoot").context.span_id, trace.answer.certainty,
    )  # fmt: skip
    assert "gen_ai.evaluation.score.value" not in confidence, "a confidence that is not known is no number"


def test_a_step_that_failed_is_an_error_and_no_number() -> None:
    backend = Backend(texts=True)
    backend.asked(replace(SHELF, evaluator=Broken()))
    status = backend.span("grade").status
    assert (status.status_code.name, status.description) == ("ERROR", "secret-host is out of memory")
    assert all("gen_ai.evaluation.score.value" not in about for _, about in backend.results("grade"))


def test_a_question_is_part_of_the_span_that_is_open() -> None:
    backend = Backend()
    with backend.provider.get_tracer("host").start_as_current_span("request"):
        backend.asked()
    assert backend.span("surefoot").parent == backend.span("request").context


def test_half_a_character_is_no_reason_to_lose_the_rest() -> None:
    backend = Backend(texts=True)
    backend.asked(question="Who built\ud83d the Ruvel Bridge?")
    assert (backend.span("surefoot").attributes or {})["input.value"] == "Who built? the Ruvel Bridge?"


def test_documents_beyond_the_limit_of_a_span_fall_out_from_the_end() -> None:
    """OpenTelemetry's own limit is 128 attributes."""
    backend = Backend(texts=True)
    trace = SHELF.run(QUESTION)
    many = tuple(replace(trace.passages[0], id=f"p{n}") for n in range(50))
    backend.listener.export(replace(trace, passages=many, strips=(), grades=()))
    about = backend.span("retrieve").attributes or {}
    assert about["retrieval.documents.0.document.content"] == trace.passages[0].text
    assert "retrieval.documents.49.document.id" not in about
    assert about["input.value"] == QUESTION
