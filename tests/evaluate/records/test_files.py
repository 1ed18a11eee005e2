"""Records from files and runs, whoever's system made them, and what is said of what they lack."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from surefoot.evaluate.problems import DataProblem
from surefoot.evaluate.records.files import LoadedRecords, read
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
    rows = [
        {"user_input": chat, "response": {"role": "assistant", "content": "A"}},
        {"user_input": "Q", "response": '{"a": 1}'},
    ]
    messages, spelled = read(lines(tmp_path / "x.jsonl", *rows)).records
    assert (messages.question, messages.answer) == ("Second", "A")
    assert spelled.answer == '{"a": 1}', "a text of JSON is what the system said"


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
    """Else judges take it for claims. The trace keeps all of it; a refusal without words, and a failure, stay empty."""
    said = "I cannot answer this from the evidence. Looked at: 3 passages graded (best score 1 < τ+ 2)."
    refused = of_trace(trace(answer=Answer(said, refused=True)))
    assert refused.answer == "I cannot answer this from the evidence."
    assert refused.trace.answer == Answer(said, refused=True)
    assert of_trace(trace(answer=Answer("", refused=True))).answer == ""
    assert of_trace(trace(answer=None, error="ValueError: x")).answer == ""


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


def test_records_come_back_as_they_were_written(tmp_path: Path) -> None:
    """All fields, alone or under a key, from the file or its folder; with half a surrogate pair in it."""
    whole = Record(
        "q1", "Who? \udc80 ü", (Passage("p", "x", score=0.5),), "A", ("T",), "N", "g", {"domain": "d"}, trace()
    )
    bare = Record("q2", "What?", history=(("Who?", "Anna"),))
    lines(tmp_path / "records.jsonl", to_json(whole), to_json(bare))
    assert read(tmp_path).records == read(tmp_path / "records.jsonl").records == (whole, bare)
    keyed = lines(tmp_path / "keyed.jsonl", *({"key": r.id, "value": to_json(r)} for r in (whole, bare)))
    assert read(keyed).records == (whole, bare)


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
    failed = read(lines(tmp_path / "t.jsonl", json.loads(dumps(trace(answer=None, error="ValueError: x")))))
    assert count(failed, "questions that failed") == 1
    assert [record.id for record in loaded.records] == ["a", "a#2", "3"]
    assert set(loaded.problems) == {
        DataProblem("columns that are not read", 1, ("human",)),
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


def test_columns_have_their_meaning(tmp_path: Path) -> None:
    """Tags and groups are taken over; "answer" beside a prediction is the reference, and that is said."""
    row = {"question": "Q", "Domain": "law", "session_id": "s", "tags": {"x": 1}, "system": "", "prediction": "A"}
    loaded = read(lines(tmp_path / "x.jsonl", row | {"answer": "T"}))
    (record,) = loaded.records
    assert (record.tags, record.group) == ({"x": "1", "domain": "law"}, "s")
    assert (record.answer, record.truths) == ("A", ("T",))
    assert count(loaded, "columns that are not read") == 0
    assert count(loaded, "records whose column 'answer' is taken for the reference") == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (" \n", "is empty"),
        ("[]", "holds no records"),
        ('{"train": [{"question": "Q"}], "test": [{"question": "R"}]}', "several lists: train, test"),
        ('{"frage": "Q", "antwort": "A"}', r"it has: frage, antwort; .*--map question=PATH \(fields: id, question"),
        ('{"question": {"0": "Q", "1": "R"}, "answer": "A"}', "holds columns, .* as JSON lines"),
        ('{"question": ["Q", "R"], "answer": ["A"]}', "holds columns, .* as JSON lines"),
        ('{"question": "Q"}\n\n{"question": \n', "x.txt, line 3 is not JSON .*mend the line, or take it out"),
        ('[{"question": "Q"},\n {"question" "R"}]', "x.txt, line 2 is not JSON"),
        ('{"question": "Q"}\n["Q"]\n', "x.txt, line 2 is no record.*take it out"),
        ("question,answer\nQ,A\nR,one, two\n", "x.txt, line 3: the row that ends there has 3 cells .*in quotes"),
        ('{"question": "Q", "contexts": ' + "[" * 300 + "]" * 300 + "}", "it is nested more than 100 deep"),
        ('[\n{"question": ' + "[" * 300 + "]" * 300 + "}\n]", "it is nested more than 100 deep"),
        (f'{{"question": "Q", "contexts": {json.dumps([""] * 10_001)}}}', "10,001 contexts, and at most 10,000 are"),
    ],
)
def test_what_holds_no_records_is_an_error_that_can_be_mended(tmp_path: Path, text: str, said: str) -> None:
    """It names the line, the columns or the lists, and says what to do."""
    (tmp_path / "x.txt").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        read(tmp_path / "x.txt")


def test_a_folder_holds_one_run(tmp_path: Path) -> None:
    """Of several, which hold the same questions, one has to be named; of none there is nothing to read."""
    for place in (tmp_path, tmp_path / "none.jsonl"):
        with pytest.raises(UsageError, match=r"holds no records|cannot be read"):
            read(place)
    for name in ("a", "b"):
        Run(tmp_path / name, {}).append("q1", trace())
    with pytest.raises(UsageError, match="several runs; give one of them"):
        read(tmp_path)


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


def test_records_that_ask_the_same_form_a_group(tmp_path: Path) -> None:
    """They are not independent of each other; a group of their own stays, and so do records without a question."""
    asked = ["Who?", "who ?", "What?", "", ""]
    rows = [{"id": str(n), "question": question, "answer": "A"} for n, question in enumerate(asked)]
    rows.append({"id": "5", "question": "Who?", "answer": "A", "group": "g"})
    rows[1]["question"] = "WHO?"
    loaded = read(lines(tmp_path / "x.jsonl", *rows))
    assert [record.group for record in loaded.records] == ["0", "0", "", "", "", "g"]
    assert count(loaded, "records that ask what another asks; grouped with it") == 2


@pytest.mark.parametrize(
    ("row", "retrieved"),
    [
        ({"retrieved_context_ids": ["d1", 2]}, ("d1", "2")),
        ({"retrieved_context_ids": "['d1', 2]"}, ("d1", "2")),
        ({"contexts": ["a", "b"]}, ()),
    ],
)
def test_ids_of_what_was_retrieved_and_of_what_holds_the_answer_are_read(
    tmp_path: Path, row: dict[str, Any], retrieved: tuple[str, ...]
) -> None:
    """From fields of their own, as RAGAS writes them."""
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"question": "Who?", "answer": "A.", "reference_context_ids": ["d1"], **row}))
    (record,) = read(file).records
    assert (record.context_ids, record.reference_ids) == (retrieved, ("d1",))


def test_a_question_that_nothing_answers_is_no_record_without_a_reference(tmp_path: Path) -> None:
    """Whether the record says so or the file of gold answers; the passages that this labels are the record's."""
    rows = [{"id": "a", "question": "Who?", "answer": "No."}, {"id": "b", "question": "When?", "answer": "No."}]
    file = lines(
        tmp_path / "rows.jsonl", rows[0] | {"answerable": False}, rows[1], {"question": "Where?", "answer": "A"}
    )
    passages = [{"id": "p1", "label": 1}, {"id": "p2", "label": 0}]
    golds = lines(
        tmp_path / "golds.jsonl",
        {"id": "b", "question": "When?", "answers": [], "answerable": False},
        {"id": "c", "question": "where?", "answers": ["A"], "passages": passages},
    )
    loaded = read(file, golds)
    assert [record.answerable for record in loaded.records] == [False, False, True]
    assert [record.reference_ids for record in loaded.records] == [(), (), ("p1",)]
    counted = {problem.what: problem.count for problem in loaded.problems}
    assert not any("gold answer" in what or "reference" in what for what in counted)
