"""Files of other tools, made by the tools themselves, whose format `formats.toml` describes.

They were written by ragas 0.4.3, deepeval 4.3.1, trulens 2.16.0, arize-phoenix 20.26.1, langsmith 0.15.1, promptfoo,
haystack-ai 3.4.1, mlflow and openinference 0.1.80, and shortened. Those of Bedrock, OpenAI evals, Langfuse, the agent's
runs and MLflow's table follow the documented schemas, since no program on this side writes them.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from surefoot.evaluate.records.files import read
from surefoot.evaluate.records.paths import ABSENT, look, nest, parsed
from surefoot.types import Record
from surefoot.types.errors import UsageError

FILES = Path(__file__).with_name("files")
QUESTION = "When was the bell of Orrin Pier cast"
BELL, LENGTH = "The bell of Orrin Pier was cast in 1871.", "The pier is 320 metres long."
BOTH, LATER = (BELL, LENGTH), (BELL, "The pier isn't long: 320 metres.")


def texts(record: Record) -> tuple[str, ...] | None:
    return None if record.contexts is None else tuple(passage.text for passage in record.contexts)


def written(path: Path, *rows: Any) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("file", "form", "contexts", "truths", "records"),
    [
        ("ragas_single.jsonl", "JSON lines", BOTH, ("1871",), 2),
        ("ragas_single.csv", "CSV", BOTH, ("1871",), 2),
        ("deepeval_cases.csv", "test cases of DeepEval", BOTH, ("1871",), 2),
        ("trulens_records.csv", "CSV", None, (), 2),
        ("trulens_events.csv", "spans", BOTH, (), 2),
        ("phoenix.csv", "spans", LATER, (), 2),
        ("phoenix.json", "spans", LATER, (), 2),
        ("openinference.jsonl", "spans", LATER, (), 2),
        ("langsmith_runs.jsonl", "spans", BOTH, (), 2),
        ("langsmith_roots.jsonl", "spans", BOTH, (), 2),
        ("langsmith_table.csv", "CSV", BOTH, ("1871",), 2),
        ("promptfoo.json", "results of promptfoo", BOTH, ("1871",), 2),
        ("haystack_report.json", "a JSON list", BOTH, ("1871",), 2),
        ("haystack_answers.jsonl", "answers of Haystack", BOTH, (), 2),
        ("mlflow_traces.jsonl", "spans", LATER, ("1871",), 2),
        ("mlflow_table.json", "a JSON list", BOTH, ("1871",), 2),
        ("langfuse.json", "spans", BOTH, (), 1),
        ("openai_items.json", "output items of OpenAI evals", BOTH, ("1871",), 2),
        ("openai_rows.jsonl", "rows of OpenAI evals", BOTH, ("1871",), 1),
        ("openai_log.jsonl", "spans", None, ("1871",), 1),
        ("bedrock_rag.jsonl", "RAG evaluations of Bedrock", BOTH, ("1871",), 3),
        ("bedrock_model.jsonl", "model evaluations of Bedrock", None, ("1871",), 1),
    ],
)
def test_a_file_of_another_tool_is_read_whole(
    file: str, form: str, contexts: tuple[str, ...] | None, truths: tuple[str, ...], records: int
) -> None:
    """Question, answer, contexts one by one in their order, references, and each record."""
    loaded = read(FILES / file)
    record = next(one for one in loaded.records if one.question.startswith(QUESTION))
    assert (loaded.format, len(loaded.records)) == (form, records)
    assert (record.answer, texts(record), record.truths) == ("The bell was cast in 1871.", contexts, truths)
    assert all(one.question and one.answer for one in loaded.records)


@pytest.mark.parametrize(
    "file", ["ragas_multi.jsonl", "ragas_multi.csv", "deepeval_turns.json", "langsmith_agent.jsonl"]
)
def test_a_conversation_is_one_record_with_its_history(file: str) -> None:
    """Its last question, the turns before it, and all that tools returned on the way."""
    record = read(FILES / file).records[0]
    assert (record.question, record.answer) in (
        ("And when was its bell cast?", "In 1871."),
        ("And when was its bell cast?", "The bell was cast in 1871."),
    )
    assert [question for question, _ in record.history] in (["Tell me of Orrin Pier."], ["How long is Orrin Pier?"])
    assert all("320 metres" in answer for _, answer in record.history)
    assert {*(texts(record) or ())} & {BELL, LENGTH}
    assert record.group == ""


def test_each_turn_that_was_evaluated_is_a_record() -> None:
    """Of Bedrock's conversations, with the turns before it, in one group; so of spans of one session."""
    first, second, alone = read(FILES / "bedrock_rag.jsonl").records
    assert (second.question, second.history) == ("And how long is it?", ((first.question, first.answer),))
    assert (first.group, alone.group, first.tags) == (second.group, "", {"system": "pier-kb"})
    one, other = read(FILES / "openinference.jsonl").records
    assert (one.history, other.history) == ((), ((one.question, one.answer),))


def test_a_long_conversation_keeps_its_last_turns(tmp_path: Path) -> None:
    """Twenty, or the records of a session would become a hundred times as large; nothing asked is a record too."""
    chat = [{"role": role, "content": f"{role} {n}"} for n in range(30) for role in ("user", "assistant")]
    spans = [
        {
            "traceId": f"t{n}",
            "spanId": "a",
            "startTimeUnixNano": n,
            "attributes": {"input.value": str(n), "session.id": "s"},
        }
        for n in range(30)
    ]
    turns = {"conversationTurns": [{"prompt": f"user {n}", "output": {"text": "a"}} for n in range(30)]}
    for name, rows in (("chat", [{"messages": chat}]), ("spans", spans), ("turns", [turns])):
        last = read(written(tmp_path / name, *rows)).records[-1]
        assert (len(last.history), last.history[-1][0].removeprefix("user ")) == (20, "28")
    assert len(read(written(tmp_path / "none", {"conversationTurns": []}, turns)).records) == 31


def test_what_lies_beside_a_log_of_records_is_named() -> None:
    """With its line."""
    (problem,) = [one for one in read(FILES / "openai_log.jsonl").problems if "beside" in one.what]
    assert (problem.count, problem.where[0]) == (2, "openai_log.jsonl, line 1")


def test_columns_of_pandas_are_rows(tmp_path: Path) -> None:
    """By index, as `to_json` writes them where nothing else is asked for; two of one name are told."""
    rows = {"id": {"0": "a", "1": "b"}, "inputs.question": {"0": "Q", "1": "R"}, "outputs.answer": {"0": "A", "1": "B"}}
    found = read(written(tmp_path / "x.json", rows)).records
    assert [(one.id, one.question, one.answer) for one in found] == [("a", "Q", "A"), ("b", "R", "B")]
    (tmp_path / "x.csv").write_text("question,answer,answer\nQ,A,B\n", encoding="utf-8")
    loaded = read(tmp_path / "x.csv")
    assert loaded.records[0].answer == "B"
    assert loaded.problems[0].what == "columns of one name; the last of them is read"


def test_of_several_answers_the_first_is_judged_and_a_failed_one_is_empty(tmp_path: Path) -> None:
    """Both are counted."""
    rows = [{"question": "Q", "answer": ["A", "B"]}, {"question": "R", "answer": None, "error": "timeout"}]
    loaded = read(written(tmp_path / "x.jsonl", *rows))
    assert [one.answer for one in loaded.records] == ["A", ""]
    found = {problem.what for problem in loaded.problems}
    assert {"records with several answers; the first is judged"} <= found
    assert {"requests that failed; their answer counts as empty"} <= found


OWN = {
    "frage": {"text": "Wo?"},
    "runde": [{"wer": "such", "was": "Dort."}, {"wer": "ich", "was": "Ja."}],
    "aus": "Dort",
}


def test_fields_of_any_file_are_mapped_to_paths(tmp_path: Path) -> None:
    """Also those of items that have a value; a path wins over the usual names."""
    mapping = parsed(["question=frage.text", "contexts=runde.wer=such.was", "answer=zeugnis", "answer=aus"])
    (record,) = read(written(tmp_path / "x.jsonl", {**OWN, "answer": "usual"}), mapping=mapping).records
    assert (record.question, texts(record), record.answer) == ("Wo?", ("Dort.",), "Dort")
    trace = {"trace_id": "t", "run_type": "chain", "inputs": {"a": 1, "b": "Q"}, "outputs": {"x": "A", "y": "B"}}
    (spanned,) = read(written(tmp_path / "t.jsonl", trace), mapping=parsed(["answer=outputs.y"])).records
    assert spanned.answer == "B"


def test_a_refusal_says_what_is_there_what_was_found_and_how_to_map_the_rest(tmp_path: Path) -> None:
    """Of a file without known names, of a path that leads nowhere, and of what is no mapping."""
    path = written(tmp_path / "x.jsonl", {**OWN, "qid": "7"})
    with pytest.raises(
        UsageError, match=r"it has: frage\.text, runde\.\*\.wer, .*found: id at qid; .*--map question=PATH"
    ):
        read(path)
    with pytest.raises(UsageError, match=r"has nothing at frage\.wort \(question\); it has: frage\.text"):
        read(path, mapping=parsed(["question=frage.wort"]))
    (tmp_path / "x.csv").write_text("question,[m] Answer {{question}}\nQ,A\n", encoding="utf-8")
    hints = [one.what for one in read(tmp_path / "x.csv").problems if "--map" in one.what]
    assert [hint.rpartition(" ")[2] for hint in hints] == ["contexts=PATH", "answer=PATH"]
    (mapped,) = read(tmp_path / "x.csv", mapping=parsed(["answer=[m] Answer {{question}}"])).records
    assert mapped.answer == "A"
    for wrong in ("question", "frage=text", "question="):
        with pytest.raises(UsageError, match=r"is not FIELD=PATH, such as question=input\.query; fields: id, question"):
            parsed([wrong])


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.b", 1),
        ("A.b", 1),
        ("turns.0.text", "x"),
        ("turns.-1.text", "y"),
        ("turns.2.text", ABSENT),
        ("turns.*.text", ["x", "y"]),
        ("turns.role=tool|function.text", ["y"]),
        ("spelled.k", None),
        ("ground_truth", "T"),
        ("a.b.c", ABSENT),
        ("turns.text", ABSENT),
    ],
)
def test_a_path_leads_to_a_value(path: str, value: Any) -> None:
    """Through objects, lists and texts of JSON or Python; a name in lower case in whatever case it stands."""
    row = {
        "a.b": 1,
        "turns": [{"text": "x"}, {"role": "tool", "text": "y"}],
        "spelled": "{'k': None}",
        "groundTruth": "T",
    }
    if path == "A.b":
        row = {"A": {"b": 1}}
    assert look(nest(row), path) == value


def test_names_with_dots_are_taken_apart_and_others_stay_whole() -> None:
    """Numbers make a list; a name with spaces, or one in the way of another, stays."""
    row = {"in.put": 1, "docs.1.text": "b", "docs.0.text": "a", "e.g. this": 2, "x": 3, "x.y": 4}
    apart = {"in": {"put": 1}, "docs": [{"text": "a"}, {"text": "b"}], "e.g. this": 2, "x": 3, "x.y": 4}
    assert nest(row) == apart
