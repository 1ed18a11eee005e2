"""Records from files and runs, whoever's system made them, and what is said of what they lack."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.evaluate.problems import DataProblem
from surefoot.evaluate.records.files import LoadedRecords, read, write
from surefoot.evaluate.records.traces import record as of_trace
from surefoot.generators.llm import prompt
from surefoot.run import manifest
from surefoot.run.meter import metered
from surefoot.run.store import Run, dumps, to_json
from surefoot.types import Answer, Citation, Passage, Record, Step, Strip, Trace
from surefoot.types.errors import TraceFault, UsageError

FULL = {
    "id": "q1",
    "question": "Who built it?",
    "contexts": ["Anna built it.", {"id": "p7", "title": "Hut", "text": "It is a hut.", "url": "http://a.b/c"}],
    "answer": "Anna",
    "ground_truth": "Anna Tresk",
}


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    return path


def count(loaded: LoadedRecords, start: str) -> int:
    return next((problem.count for problem in loaded.problems if problem.what.startswith(start)), 0)


def trace(**changes: Any) -> Trace:
    passages = (Passage("p1", "Anna built it. She was 30.", "Hut"), Passage("p2", "Cheese."))
    strips = (
        Strip("p1", 0, 14, "Anna built it.", 0.9, kept=True),
        Strip("p2", 0, 7, "Cheese.", -0.9, kept=False, reason="below"),
        Strip("p1", 15, 26, "She was 30.", 0.4, kept=True),
    )
    answer = Answer("Anna built it [1].", (Citation(1, strips[0], "Anna built it", quoted=True),))
    return replace(Trace("t1", "Who built it?", passages, strips=strips, answer=answer), **changes)


def test_a_record_is_read_with_all_that_it_has(tmp_path: Path) -> None:
    """Question, contexts in their order, answer and reference."""
    (record,) = read(lines(tmp_path / "x.jsonl", FULL)).records
    assert record == Record(
        "q1",
        "Who built it?",
        (Passage("c1", "Anna built it."), Passage("p7", "It is a hut.", "Hut", url="http://a.b/c")),
        "Anna",
        ("Anna Tresk",),
    )


@pytest.mark.parametrize(
    "row",
    [
        {"question": "Q", "contexts": ["C"], "answer": "A", "ground_truths": ["T"]},
        {"user_input": "Q", "retrieved_contexts": ["C"], "response": "A", "reference": "T"},
        {"input": "Q", "retrieval_context": ["C"], "actual_output": "A", "expected_output": "T"},
        {"query": "Q", "retrieved_context": [{"doc_id": "1", "text": "C"}], "response": "A", "gt_answer": "T"},
        {"question": "Q", "golden_answers": ["T"], "output": {"pred": "A", "retrieval_result": [{"contents": "C"}]}},
        {"Question": "Q", "Retrieved Contexts": "C", "Answer": "A", "Ground Truth": "T"},
        {
            "question": "Q",
            "contexts": [{"page_content": "C", "metadata": {}}],
            "prediction": "A",
            "answers": {"text": ["T"]},
        },
    ],
)
def test_fields_are_known_by_the_names_that_others_give_them(tmp_path: Path, row: dict[str, Any]) -> None:
    """RAGAS, DeepEval, RAGChecker, FlashRAG, LangChain, SQuAD; in any case."""
    (record,) = read(lines(tmp_path / "x.jsonl", row)).records
    assert (record.question, record.answer, record.truths) == ("Q", "A", ("T",))
    assert [passage.text for passage in record.contexts or ()] == ["C"]


def test_the_format_is_told_by_what_is_in_the_file(tmp_path: Path) -> None:
    """Not by its name: JSON lines, a list under a name, and tables."""
    rows = [{"id": "a", "question": "Q", "answer": "A"}, {"id": "b", "question": "R", "answer": "B"}]
    forms = {
        "JSON lines": "\n".join(map(json.dumps, rows)),
        "a JSON list": json.dumps({"version": 1, "data": rows}, indent=2),
        "CSV": "id,question,answer\na,Q,A\nb,R,B\n",
        "CSV with semicolons": "id;question;answer\r\na;Q;A\r\nb;R;B\r\n",
        "TSV": "id\tquestion\tanswer\na\tQ\tA\nb\tR\tB\n",
    }
    for name, text in forms.items():
        path = tmp_path / "whatever.dat"
        path.write_text(text, encoding="utf-8", newline="")
        loaded = read(path)
        assert (loaded.format, [(r.id, r.question, r.answer) for r in loaded.records]) == (
            name,
            [("a", "Q", "A"), ("b", "R", "B")],
        )


def test_a_table_may_hold_lists_as_json_or_as_python_writes_them(tmp_path: Path) -> None:
    """Contexts and references; an answer in brackets stays as it is."""
    path = tmp_path / "x.csv"
    cells = 'question,contexts,answer,ground_truths\nQ,"[""a"", ""b""]",[1],"[\'x\', \'y\']"\nR,plain,A,z\n'
    path.write_text(cells, encoding="utf-8")
    first, second = read(path).records
    assert [passage.text for passage in first.contexts or ()] == ["a", "b"]
    assert (first.answer, first.truths) == ("[1]", ("x", "y"))
    assert [passage.text for passage in second.contexts or ()] == ["plain"]


def test_of_messages_the_last_of_each_side_counts(tmp_path: Path) -> None:
    """A conversation as a question; parts of a message are put together."""
    chat = [
        {"role": "user", "content": "First"},
        {"role": "assistant", "content": "Yes"},
        {"role": "user", "content": [{"type": "text", "text": "Second"}]},
    ]
    row = {"user_input": chat, "response": {"role": "assistant", "content": "A"}}
    (record,) = read(lines(tmp_path / "x.jsonl", row)).records
    assert (record.question, record.answer) == ("Second", "A")


def test_a_text_of_json_in_an_answer_stays_as_it_is(tmp_path: Path) -> None:
    """It is what the system said."""
    (record,) = read(lines(tmp_path / "x.jsonl", {"question": "Q", "answer": '{"answer": "A"}'})).records
    assert record.answer == '{"answer": "A"}'


def test_a_trace_becomes_what_the_generator_read(tmp_path: Path) -> None:
    """Kept strips in their order, with ids of their own, their titles and places; markers are no part of the answer."""
    path = tmp_path / "trace.json"
    path.write_text(dumps(trace()), encoding="utf-8")
    (record,) = read(path).records
    assert [(p.id, p.text, p.title, p.start) for p in record.contexts or ()] == [
        ("p1", "Anna built it.", "Hut", 0),
        ("p1#2", "She was 30.", "Hut", 15),
    ]
    assert (record.answer, record.trace) == ("Anna built it.", trace())


def test_what_the_generator_left_out_is_no_context() -> None:
    """By what the step reports; the report is the one of the language model's generator."""
    whole = trace()
    knowledge = [(strip, whole.passages[0]) for strip in whole.strips if strip.kept]
    with metered() as spent:
        prompt("Who?", knowledge, max_characters=15)
    assert spent.degraded
    cut = trace(steps=(Step("generate", 0.1, degraded="; ".join(spent.degraded)),))
    assert [passage.text for passage in of_trace(cut).contexts or ()] == ["Anna built it."]


def test_a_question_that_goes_on_is_judged_as_it_stands_alone() -> None:
    """A judge sees no earlier turns. A mended spelling is no completion: what the user typed is judged."""
    read = trace(question="And who keeps it?", read_as="Who keeps the hut?")
    assert of_trace(replace(read, steps=(Step("complete", 0.1),))).question == "Who keeps the hut?"
    assert of_trace(read).question == "And who keeps it?"


def test_of_a_refusal_what_was_looked_at_is_no_answer() -> None:
    """Else judges take it for claims. The trace keeps all of it; a refusal without words stays one."""
    said = "I cannot answer this from the evidence. Looked at: 3 passages graded (best score 1 < τ+ 2)."
    refused = of_trace(trace(answer=Answer(said, refused=True)))
    assert refused.answer == "I cannot answer this from the evidence."
    assert refused.trace is not None
    assert refused.trace.answer == Answer(said, refused=True)
    assert of_trace(trace(answer=Answer("", refused=True))).answer == ""


def test_a_question_that_failed_counts_with_an_empty_answer(tmp_path: Path) -> None:
    """And is counted among the problems."""
    path = tmp_path / "trace.json"
    path.write_text(dumps(trace(answer=None, error="ValueError: x")), encoding="utf-8")
    loaded = read(path)
    assert loaded.records[0].answer == ""
    assert count(loaded, "questions that failed") == 1


def questions(path: Path) -> Path:
    return lines(path, {"id": "q1", "question": "Who built it?", "answers": ["Anna", "Anna Tresk"]})


def test_a_run_brings_the_answers_of_its_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the file that it names below the working directory, while that is as it was; by id."""
    monkeypatch.chdir(tmp_path)
    data = questions(tmp_path / "q.jsonl")
    about = {"data": "q.jsonl", "sha256": manifest.fingerprint(data), "method": "crag"}
    Run(tmp_path / "run", about).append("q1", trace())
    loaded = read(tmp_path / "run")
    (record,) = loaded.records
    assert (record.id, record.truths, record.tags) == ("q1", ("Anna", "Anna Tresk"), {"system": "crag"})
    data.write_text(data.read_text(encoding="utf-8").replace("Anna", "Otto"), encoding="utf-8")
    changed = read(tmp_path / "run")
    assert changed.records[0].truths == ()
    assert count(changed, "runs whose questions have changed") == 1
    assert read(tmp_path / "run", golds=data).records[0].truths == ("Otto", "Otto Tresk")


@pytest.mark.parametrize("said", ["/dev/zero", "../q.jsonl", "//elsewhere/share/q.jsonl"])
def test_a_run_does_not_say_which_file_of_this_machine_is_opened(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder may be anybody's."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    about = {"data": said, "sha256": manifest.fingerprint(questions(tmp_path / "q.jsonl")), "method": "crag"}
    Run(tmp_path / "run", about).append("q1", trace())
    loaded = read(tmp_path / "run")
    assert loaded.records[0].truths == ()
    assert count(loaded, "runs whose questions are not below this folder") == 1


def test_golds_are_joined_by_id_and_else_by_the_words_of_the_question(tmp_path: Path) -> None:
    """A reference of the record's own stays; what finds none is counted."""
    rows = [
        {"id": "q1", "question": "other words"},
        {"id": "x", "question": "who  BUILT it?"},
        {"id": "q1b", "question": "?", "reference": "mine"},
        {"id": "y", "question": "unknown"},
    ]
    loaded = read(lines(tmp_path / "x.jsonl", *rows), golds=questions(tmp_path / "q.jsonl"))
    known = ("Anna", "Anna Tresk")
    assert [record.truths for record in loaded.records] == [known, known, ("mine",), ()]
    assert count(loaded, "records that the file of gold answers has no answer for") == 1


def test_of_several_runs_one_has_to_be_named(tmp_path: Path) -> None:
    """They hold the same questions."""
    for name in ("a", "b"):
        Run(tmp_path / name, {}).append("q1", trace())
    with pytest.raises(UsageError, match="several runs; give one of them"):
        read(tmp_path)


def test_records_come_back_as_they_were_written(tmp_path: Path) -> None:
    """All fields, alone or under a key, from the file or its folder; with half a surrogate pair in it."""
    whole = Record(
        "q1", "Who? \udc80 ü", (Passage("p", "x", score=0.5),), "A", ("T",), "N", "g", {"domain": "d"}, trace()
    )
    bare = Record("q2", "What?")
    write([whole, bare], tmp_path / "records.jsonl")
    assert read(tmp_path).records == read(tmp_path / "records.jsonl").records == (whole, bare)
    keyed = lines(tmp_path / "keyed.jsonl", *({"key": r.id, "value": to_json(r)} for r in (whole, bare)))
    assert read(keyed).records == (whole, bare)


@given(
    st.lists(
        st.builds(Record, st.text(min_size=1).filter(str.strip), st.text(), answer=st.none() | st.text()), max_size=4
    )
)
@settings(max_examples=30, deadline=None)
def test_every_record_is_read_back(tmp_path_factory: pytest.TempPathFactory, records: list[Record]) -> None:
    """Line separators of Unicode and all; in their order, and as many."""
    path = tmp_path_factory.mktemp("records") / "records.jsonl"
    write(records, path)
    if records:
        found = read(path).records
        assert [(r.question, r.answer) for r in found] == [(r.question, r.answer) for r in records]
        assert len({record.id for record in found}) == len(records)


def test_a_damaged_record_of_ours_names_its_line(tmp_path: Path) -> None:
    """And what to do."""
    good = to_json(Record("q1", "Q"))
    with pytest.raises(TraceFault, match=r"line 2: .*take the line out"):
        read(lines(tmp_path / "records.jsonl", good, good | {"truths": "T"}))


def test_what_is_missing_is_counted_and_nothing_is_dropped(tmp_path: Path) -> None:
    """Each kind once, with how many and where."""
    rows = [
        {"id": "a", "question": "Q", "contexts": [], "answer": "", "reference": ""},
        {"id": "a", "question": " ", "contexts": ["x", " "], "answer": None, "human": {"x": 1}},
        {"question": "R"},
    ]
    loaded = read(lines(tmp_path / "x.jsonl", *rows))
    assert [record.id for record in loaded.records] == ["a", "a#2", "3"]
    assert set(loaded.problems) == {
        DataProblem("rows whose column 'human' is not read", 1, ("x.jsonl",)),
        DataProblem("blank reference answers; left out", 1, ("x.jsonl, line 1",)),
        DataProblem("contexts without any text; left out", 1, ("x.jsonl, line 2",)),
        DataProblem("records whose id was there before; numbered", 1, ("a",)),
        DataProblem("records without an id; numbered by their place", 1, ("3",)),
        DataProblem("records without a question", 1, ("a#2",)),
        DataProblem("records with empty contexts: that is judged", 1, ("a",)),
        DataProblem("records without contexts", 1, ("3",)),
        DataProblem("records with an empty answer: it is judged as one", 1, ("a",)),
        DataProblem("records without an answer", 2, ("a#2", "3")),
        DataProblem("records without a reference answer", 3, ("a", "a#2", "3")),
    }


def test_two_answers_without_a_reference_are_answer_and_reference(tmp_path: Path) -> None:
    """As in files of predictions beside gold answers; it is said."""
    loaded = read(lines(tmp_path / "x.jsonl", {"question": "Q", "answer": "T", "prediction": "A"}))
    assert (loaded.records[0].answer, loaded.records[0].truths) == ("A", ("T",))
    assert count(loaded, "records whose column 'answer' is taken for the reference") == 1


def test_a_file_without_records_a_row_is_an_error(tmp_path: Path) -> None:
    """Unknown columns are named; columns as pandas writes them have to be turned into rows."""
    with pytest.raises(UsageError, match=r"it has: frage, antwort; rename its columns \(fields: id, question"):
        read(lines(tmp_path / "x.jsonl", {"frage": "Q", "antwort": "A"}))
    for cells in ({"0": "Q", "1": "R"}, ["Q", "R"]):
        with pytest.raises(UsageError, match=r"holds columns, .* as JSON lines"):
            read(lines(tmp_path / "x.json", {"question": cells, "answer": cells}))


def test_a_line_that_is_no_record_is_an_error_that_names_it(tmp_path: Path) -> None:
    """Not JSON, no object, or too many cells: with the line and what to do."""
    path = tmp_path / "x.jsonl"
    path.write_text('{"question": "Q"}\n\n{"question": \n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"x.jsonl, line 3 is not JSON .*mend the line, or take it out"):
        read(path)
    with pytest.raises(UsageError, match=r"x.jsonl, line 2 is no record.*take it out"):
        read(lines(path, {"question": "Q"}, ["Q"]))
    path.write_text("question,answer\nQ,A\nR,one, two\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"x.jsonl, line 3: the row that ends there has 3 cells .*in quotes"):
        read(path)
    path.write_text('[{"question": "Q"},\n {"question" "R"}]', encoding="utf-8")
    with pytest.raises(UsageError, match=r"x.jsonl, line 2 is not JSON"):
        read(path)


@pytest.mark.parametrize("before", ["", "[\n"])
def test_records_that_nest_without_end_are_refused(tmp_path: Path, before: str) -> None:
    """Python decodes 300 levels, and gives up on what walks through them."""
    path = tmp_path / "x.jsonl"
    path.write_text(
        before + '{"question": "Who?", "contexts": ' + "[" * 300 + "]" * 300 + "}" + before.replace("[", "]")
    )
    with pytest.raises(UsageError, match=r"is not JSON \(it is nested more than 100 deep"):
        read(path)


def test_encodings_are_told_and_counted(tmp_path: Path) -> None:
    """UTF-8 and UTF-16 with a mark are read as such, Windows-1252 is told."""
    path = tmp_path / "x.csv"
    for encoding, problems in (("utf-8-sig", 0), ("utf-16", 0), ("cp1252", 1)):
        path.write_bytes("question,answer\nWo?,Zürich — «dort»\n".encode(encoding))
        loaded = read(path)
        assert loaded.records[0].answer == "Zürich — «dort»"
        assert count(loaded, "the file is not UTF-8; it was read as cp1252") == problems


@pytest.mark.parametrize("start", [b"PAR1", b"\x1f\x8b", b"PK\x03\x04", b"SQLite format 3\0", b"\x00\x01"])
def test_what_is_not_read_says_how_to_convert_it(tmp_path: Path, start: bytes) -> None:
    """By what is in the file."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(start + b"\0\0\0")
    with pytest.raises(UsageError, match=r"write it as JSON lines or as CSV first: .*to_json"):
        read(path)


def test_nothing_there_is_an_error(tmp_path: Path) -> None:
    """No file, an empty one, an empty list, an empty folder, several lists at once."""
    with pytest.raises(UsageError, match="cannot be read"):
        read(tmp_path / "none.jsonl")
    path = tmp_path / "x.json"
    for text, what in (
        (" \n", "is empty"),
        ("[]", "holds no records"),
        ('{"train": [{"question": "Q"}], "test": [{"question": "R"}]}', "several lists: train, test"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=what):
            read(path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="holds no records"):
        read(tmp_path / "folder")


def test_tags_and_groups_are_taken_over(tmp_path: Path) -> None:
    """What results are told apart by, and what belongs together."""
    row = {"question": "Q", "Domain": "law", "session_id": "s", "tags": {"x": 1}, "system": ""}
    loaded = read(lines(tmp_path / "x.jsonl", row))
    assert (loaded.records[0].tags, loaded.records[0].group) == ({"x": "1", "domain": "law"}, "s")
    assert count(loaded, "rows whose column") == 0


NAMED = st.sampled_from(
    "id question contexts answer ground_truth output columns data rows row tags metadata text title messages role "
    "content type kwargs resourceSpans resource attributes scopeSpans spans traceId context trace_id context.trace_id "
    "spanId key value stringValue arrayValue values events status retrieval.documents openinference.span.kind schema "
    "truths trace strips steps parent_id input.value output.value 0".split()
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from(["", "x", "CHAIN", "RETRIEVER", '[{"text": 1}]', "{"])
)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMED, inner, max_size=5), max_leaves=25
)


@given(st.dictionaries(NAMED, JSON, max_size=6) | st.lists(st.dictionaries(NAMED, JSON, max_size=5), max_size=3))
@settings(max_examples=150, deadline=None)
def test_any_json_gives_records_or_an_error_that_can_be_mended(
    tmp_path_factory: pytest.TempPathFactory, value: Any
) -> None:
    """Nothing in a file brings a library's error to light; what is read can be written and read again."""
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    try:
        found = read(path).records
    except UsageError:
        return
    write(found, path)
    assert read(path).records == found


@given(st.binary(max_size=60) | st.text("question,answer;\t\n\r\"'[]{}: aü", max_size=60).map(str.encode))
@settings(max_examples=150, deadline=None)
def test_any_bytes_give_records_or_an_error_that_can_be_mended(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    """Torn JSON, broken tables, whatever; the error is one line."""
    path = tmp_path_factory.getbasetemp() / "any.bin"
    path.write_bytes(data)
    said = ""
    try:
        read(path)
    except UsageError as error:
        said = str(error)
    assert "\n" not in said


def test_records_that_ask_the_same_form_a_group(tmp_path: Path) -> None:
    """They are not independent of each other; a group of their own stays, and so do records without a question."""
    asked = ["Who?", "who ?", "What?", "", ""]
    rows = [{"id": str(n), "question": question, "answer": "A"} for n, question in enumerate(asked)]
    rows.append({"id": "5", "question": "Who?", "answer": "A", "group": "g"})
    rows[1]["question"] = "WHO?"
    loaded = read(lines(tmp_path / "x.jsonl", *rows))
    assert [record.group for record in loaded.records] == ["0", "0", "", "", "", "g"]
    assert count(loaded, "records that ask what another asks; grouped with it") == 2


def test_a_record_of_endless_contexts_is_refused(tmp_path: Path) -> None:
    """Two hundred thousand empty ones are 400 kB, and would be 60 MB of records and report."""
    file = tmp_path / "records.jsonl"
    file.write_text(json.dumps({"question": "Who?", "answer": "He.", "contexts": [""] * 10_001}) + "\n")
    with pytest.raises(UsageError, match="10,001 contexts, and at most 10,000 are read"):
        read(file)
