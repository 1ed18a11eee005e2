"""Spans of other frameworks as records."""

import json
from pathlib import Path
from typing import Any

import pytest

from surefoot.evaluate.records.files import LoadedRecords, read
from surefoot.types import Record
from surefoot.types.errors import UsageError


def span(id: str, parent: str, kind: str, start: int, trace: str = "t1", **attributes: Any) -> dict[str, Any]:
    """As OTLP's JSON has it; a double underscore in a name stands for a dot."""
    given = {"openinference.span.kind": kind} if kind else {}
    given |= {name.replace("__", "."): value for name, value in attributes.items()}
    pairs = [{"key": name, "value": {"stringValue": value}} for name, value in given.items()]
    times = {"startTimeUnixNano": str(1_700_000_000_000_000_000 + start)}
    return {"traceId": trace, "spanId": id, "parentSpanId": parent, "name": id, **times, "attributes": pairs}


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


def documents(*texts: str, under: str = "retrieval.documents") -> dict[str, str]:
    named = {f"{under}.{i}.document.content": text for i, text in enumerate(texts)}
    return named | {f"{under}.{i}.document.id": f"d{text}" for i, text in enumerate(texts)}


def loaded(tmp_path: Path, *values: Any) -> LoadedRecords:
    path = tmp_path / "spans.txt"
    path.write_text("\n".join(json.dumps(value) for value in values), encoding="utf-8")
    return read(path)


def one(tmp_path: Path, *spans: dict[str, Any]) -> Record:
    found = loaded(tmp_path, otlp(*spans))
    assert found.format == "spans"
    (record,) = found.records
    return record


def texts(record: Record) -> list[str]:
    return [passage.text for passage in record.contexts or ()]


CHAIN = span("a", "", "CHAIN", 0, input__value="Who?", output__value="Anna", session__id="s9")
RETRIEVER = span("b", "a", "RETRIEVER", 1, input__value="query", **documents("one", "two"))
MODEL = span("c", "a", "LLM", 2, output__value="the model's own")


def test_spans_of_openinference_become_a_record(tmp_path: Path) -> None:
    """Input and output of the chain, documents of the retriever; trace, session and service name it."""
    record = one(tmp_path, MODEL, CHAIN, RETRIEVER)
    assert (record.id, record.question, record.answer) == ("t1", "Who?", "Anna")
    assert [(p.id, p.text) for p in record.contexts or ()] == [("done", "one"), ("dtwo", "two")]
    assert (record.group, record.tags) == ("s9", {"system": "shop"})


def test_spans_are_grouped_by_trace_over_all_batches(tmp_path: Path) -> None:
    """As the collector's file exporter writes them: a batch a line."""
    other = span("z", "", "CHAIN", 0, "t2", input__value="What?", output__value="That")
    found = loaded(tmp_path, otlp(CHAIN, other), otlp(RETRIEVER)).records
    assert [(record.id, texts(record)) for record in found] == [("t1", ["one", "two"]), ("t2", [])]
    assert found[1].contexts is None


def test_spans_of_an_sdk_are_read(tmp_path: Path) -> None:
    """A line each, with ids in hexadecimal and times in words."""
    printed = [
        {
            "name": each["name"],
            "context": {"trace_id": "0xab", "span_id": f"0x{each['spanId']}"},
            "parent_id": f"0x{each['parentSpanId']}" if each["parentSpanId"] else None,
            "start_time": f"2024-01-01T00:00:0{i}.000000Z",
            "status": {"status_code": "OK"},
            "attributes": {pair["key"]: pair["value"]["stringValue"] for pair in each["attributes"]},
            "resource": {"attributes": {"service.name": "shop"}},
        }
        for i, each in enumerate((CHAIN, RETRIEVER, MODEL))
    ]
    (record,) = loaded(tmp_path, *printed).records
    assert (record.id, record.question, record.answer, texts(record)) == ("ab", "Who?", "Anna", ["one", "two"])
    assert record.tags == {"system": "shop"}


def test_spans_of_phoenix_are_read(tmp_path: Path) -> None:
    """A list with dotted names, documents as objects; and the same under "data" with nested attributes."""
    kept = [{"document.content": "one", "document.metadata": '{"source": "a.md"}'}]
    flat = [
        {"context.trace_id": "t", "context.span_id": "1", "span_kind": "CHAIN", "attributes.input.value": "Who?",
         "attributes.output.value": "Anna", "parent_id": None},
        {"context.trace_id": "t", "context.span_id": "2", "span_kind": "RETRIEVER", "parent_id": "1",
         "attributes.retrieval.documents": kept},
    ]  # fmt: skip
    nested = [
        {"context": {"trace_id": "t", "span_id": "1"}, "span_kind": "CHAIN", "parent_id": None,
         "attributes": {"input": {"value": "Who?"}, "output": {"value": "Anna"}}},
        {"context": {"trace_id": "t", "span_id": "2"}, "span_kind": "RETRIEVER", "parent_id": "1",
         "attributes": {"retrieval": {"documents": [{"document": {"content": "one"}}]}}},
    ]  # fmt: skip
    for value in (flat, {"data": nested}):
        (record,) = loaded(tmp_path, value).records
        assert (record.question, record.answer, texts(record)) == ("Who?", "Anna", ["one"])
    assert (loaded(tmp_path, flat).records[0].contexts or ())[0].url == "a.md"


def test_spans_of_gen_ai_are_read(tmp_path: Path) -> None:
    """OpenTelemetry's own conventions: messages and documents as texts of JSON."""
    said = [
        {"role": "assistant", "parts": [{"type": "reasoning", "content": "Hm."}, {"type": "text", "content": "Anna"}]}
    ]
    asked = [{"role": "system", "parts": []}, {"role": "user", "parts": [{"type": "text", "content": "a prompt"}]}]
    found = [{"id": "d1", "score": 0.5, "content": "one"}]
    retrieval = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": "Who?"}
    chat = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(asked)}
    record = one(
        tmp_path,
        span("a", "", "", 0, http__method="POST"),
        span("b", "a", "", 1, **retrieval, **{"gen_ai.retrieval.documents": json.dumps(found)}),
        span("c", "a", "", 2, **chat, **{"gen_ai.output.messages": json.dumps(said), "gen_ai.conversation.id": "s"}),
    )
    assert (record.question, record.answer, texts(record), record.group) == ("Who?", "Anna", ["one"], "s")
    assert (record.contexts or ())[0].score == 0.5


def test_documents_may_be_structured_values_of_otlp(tmp_path: Path) -> None:
    """Lists and objects as OTLP writes them."""
    pair = {"key": "content", "value": {"stringValue": "one"}}
    listed = {"arrayValue": {"values": [{"kvlistValue": {"values": [pair]}}]}}
    retrieval = span("b", "a", "RETRIEVER", 1)
    retrieval["attributes"].append({"key": "gen_ai.retrieval.documents", "value": listed})
    assert texts(one(tmp_path, CHAIN, retrieval)) == ["one"]


def test_numbered_messages_are_read(tmp_path: Path) -> None:
    """The last of the user, and what the model completed."""
    theirs = {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "Who?"}
    part = {"llm.output_messages.0.message.contents.0.message_content.text": "Anna"}
    record = one(tmp_path, span("c", "", "LLM", 0, **theirs, **part, input__value="raw", output__value="raw"))
    assert (record.question, record.answer, record.contexts) == ("Who?", "Anna", None)


def test_inputs_and_outputs_in_wrappers_are_unwrapped(tmp_path: Path) -> None:
    """As LangChain and LlamaIndex keep them; what has no words in it gives way to the retriever's and the model's."""
    message = {"lc": 1, "id": ["HumanMessage"], "kwargs": {"content": "Who?", "type": "human"}}
    wrapped = span("a", "", "CHAIN", 0, input__value=json.dumps({"messages": [[message]]}),
                   output__value=json.dumps({"context": ["x"], "answer": "Anna"}))  # fmt: skip
    record = one(tmp_path, wrapped)
    assert (record.question, record.answer) == ("Who?", "Anna")
    opaque = span("a", "", "CHAIN", 0, input__value='{"args": 1, "n": 2}', output__value='{"x": 1, "y": 2}')
    record = one(tmp_path, opaque, RETRIEVER, MODEL)
    assert (record.question, record.answer) == ("query", "the model's own")
    assert one(tmp_path, opaque).answer == '{"x": 1, "y": 2}'


def test_an_inner_retriever_is_part_of_the_outer_one(tmp_path: Path) -> None:
    """An ensemble hands on what it chose; of retrievers side by side each brings its own, once. A reranker takes the
    place of what was retrieved before it."""
    reranker = span("d", "a", "RERANKER", 3, **documents("two", under="reranker.output_documents"))
    later = span("e", "a", "RETRIEVER", 4, **documents("five"))
    assert texts(one(tmp_path, CHAIN, RETRIEVER, reranker, later)) == ["two", "five"]
    inner = span("d", "b", "RETRIEVER", 2, **documents("three"))
    beside = span("e", "a", "RETRIEVER", 3, **documents("two", "four"))
    assert texts(one(tmp_path, CHAIN, RETRIEVER, inner, beside)) == ["one", "two", "four"]


def test_spans_that_mlflow_took_over_are_read(tmp_path: Path) -> None:
    """It writes each attribute as a text of JSON, those of OpenInference too."""
    own = {"mlflow.spanType": "CHAIN", "input.value": "Who?", "output.value": 'Anna, "the"\nkeeper'}
    seeker = {"mlflow.spanType": "RETRIEVER", "retrieval.documents.0.document.content": "1874"}
    spans = [
        {"trace_id": "t", "span_id": id, "parent_span_id": up, "name": id, "start_time_unix_nano": start,
         "attributes": {name: json.dumps(value) for name, value in attributes.items()}}
        for id, up, start, attributes in (("a", None, 1, own), ("b", "a", 2, seeker))
    ]  # fmt: skip
    (record,) = loaded(tmp_path, {"info": {"trace_id": "t"}, "data": {"spans": spans}}).records
    assert (record.question, record.answer, texts(record)) == ("Who?", 'Anna, "the"\nkeeper', ["1874"])


def test_documents_of_which_only_ids_were_sent_are_no_record(tmp_path: Path) -> None:
    retriever = span("b", "", "RETRIEVER", 1, **{"retrieval.documents.0.document.id": "d1"})
    with pytest.raises(UsageError, match="have the exporter keep what goes in"):
        loaded(tmp_path, otlp(retriever))


def test_what_tools_returned_is_read_where_nothing_retrieved(tmp_path: Path) -> None:
    """By an agent; a retriever inside a tool counts alone, and without either, documents beside the answer."""
    agent = span("a", "", "AGENT", 0, input__value="Who?", output__value="Anna")
    tool = span("t", "a", "TOOL", 1, output__value='{"content": "one", "type": "tool"}')
    semantic = span(
        "u", "a", "", 2, gen_ai__operation__name="execute_tool", gen_ai__tool__call__result='["two", "three"]'
    )
    assert texts(one(tmp_path, agent, tool, semantic)) == ["one", "two", "three"]
    assert texts(one(tmp_path, agent, tool, span("r", "t", "RETRIEVER", 2, **documents("four")))) == ["four"]
    beside = json.dumps({"answer": "Anna", "context": [{"page_content": "five"}]})
    record = one(tmp_path, span("a", "", "CHAIN", 0, input__value="Who?", output__value=beside))
    assert (record.answer, texts(record)) == ("Anna", ["five"])


def test_a_blank_cell_of_a_table_of_spans_holds_nothing(tmp_path: Path) -> None:
    """An output that was not kept is no empty answer, and a retriever's documents are looked for in its output."""
    header = "context.trace_id,context.span_id,parent_id,span_kind,attributes.input.value,attributes.output.value"
    rows = "t,a,,CHAIN,Who?,,\nt,b,a,RETRIEVER,,[{'content': 'one'}],\n"
    (tmp_path / "x.csv").write_text(f"{header},attributes.retrieval.documents\n{rows}", encoding="utf-8")
    (record,) = read(tmp_path / "x.csv").records
    assert (record.question, record.answer, texts(record)) == ("Who?", None, ["one"])


def test_a_model_that_judges_does_not_answer(tmp_path: Path) -> None:
    """What stands inside an evaluator or a guardrail is left aside."""
    root = span("a", "", "CHAIN", 0, input__value="Who?")
    judge = span("e", "a", "EVALUATOR", 8, output__value="good")
    inner = span("f", "e", "LLM", 9, output__value="5 of 5")
    assert one(tmp_path, root, MODEL, judge, inner).answer == "the model's own"


def test_a_retriever_that_found_nothing_and_one_whose_texts_were_not_kept_differ(tmp_path: Path) -> None:
    """The first is judged, the second is not known; it is told."""
    assert one(tmp_path, CHAIN, span("b", "a", "RETRIEVER", 1)).contexts == ()
    bare = span("b", "a", "RETRIEVER", 1, **{"retrieval.documents.0.document.id": "d1"})
    found = loaded(tmp_path, otlp(CHAIN, bare))
    assert found.records[0].contexts is None
    assert any(p.what.startswith("contexts without any text") for p in found.problems)


def test_a_request_that_failed_has_an_empty_answer(tmp_path: Path) -> None:
    """So that it counts; one whose output was not kept has none."""
    root = span("a", "", "CHAIN", 0, input__value="Who?")
    found = loaded(tmp_path, otlp(root | {"status": {"code": 2}}))
    assert found.records[0].answer == ""
    assert any(problem.what.startswith("requests that failed") for problem in found.problems)
    assert one(tmp_path, root).answer is None


def test_traces_without_anything_to_judge_are_counted(tmp_path: Path) -> None:
    """A health check beside a request; alone it is an error that says what to do. So is what is no span among spans.
    Spans in a circle, of a broken export, are read all the same."""
    circle = span("a", "b", "CHAIN", 0, input__value="Who?"), span("b", "a", "LLM", 1)
    assert one(tmp_path, *circle).question == "Who?"
    with pytest.raises(UsageError, match=r"spans.txt, line 2 is no span"):
        loaded(tmp_path, otlp(CHAIN), {"question": "Q"})
    idle = span("h", "", "", 0, "t9", http__method="GET")
    found = loaded(tmp_path, otlp(CHAIN, idle))
    assert len(found.records) == 1
    assert [p.where for p in found.problems if p.what.startswith("traces in which nothing")] == [("t9",)]
    with pytest.raises(UsageError, match="have the exporter keep"):
        loaded(tmp_path, otlp(idle))
