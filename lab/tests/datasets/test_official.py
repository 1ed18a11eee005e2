"""Official files: what each set is known by, what becomes of its rows, and what is out of step in CRAG's folders."""

import json
from pathlib import Path
from typing import Any

import pytest

from surefoot.evaluate.ask.questions import load
from surefoot.types import Passage
from surefoot.types.errors import UsageError
from surefoot_lab.datasets.official import recognised

CTXS = [{"id": "7", "title": "Ruvel Bridge", "text": "Tomas Aldwin built it.", "score": "1.2"}]
POPQA = {
    "id": 11,
    "question": "What is Tomas Aldwin's occupation?",
    "possible_answers": '["engineer", "builder"]',
    "prop": "occupation",
    "s_wiki_title": "Tomas Aldwin",
    "ctxs": CTXS,
}
ARC = {
    "id": "Mercury_1",
    "question": "What melts?",
    "choices": {"label": ["1", "2", "3"], "text": ["iron", "ice", "air"]},
    "answerKey": "2",
    "ctxs": CTXS,
}
CLAIM = {"claim": "Ice is warm.", "label": "REFUTES", "ctxs": CTXS}
BIOGRAPHY = {
    "input": "Question: Tell me a bio of Tomas Aldwin.",
    "output": "He was a baker.",
    "topic": "Tomas Aldwin",
    "cat": ["rare"],
    "ctxs": CTXS,
}
OPEN = {"id": "t1", "question": "Who built it?", "answers": ["Aldwin"], "ctxs": CTXS}


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (POPQA, "PopQA"),
        (ARC, "ARC-Challenge"),
        (CLAIM, "PubHealth"),
        (BIOGRAPHY, "Biography"),
        (OPEN, "a set of questions"),
        ({"id": "1", "question": "Q?", "answers": ["a"]}, None),
        (OPEN | {"passages": []}, None),
        ("[1]", None),
        ("{", None),
    ],
)
def test_a_set_is_known_by_its_columns(tmp_path: Path, row: Any, name: str | None) -> None:
    """Whatever the file is called; the shared format, and what is no JSON, is none of them."""
    assert recognised(lines(tmp_path / "x.jsonl", "", row)) == name


def test_answers_may_be_written_out_as_a_list(tmp_path: Path) -> None:
    """As in PopQA's own file; the passages are kept in their order, and `prop` names the type."""
    loaded = load(lines(tmp_path / "p.jsonl", POPQA))
    (example,) = loaded.examples
    assert (loaded.format, example.id, example.answers) == ("PopQA of Self-RAG", "11", ("engineer", "builder"))
    assert (example.prop, [p.title for p in example.passages]) == ("occupation", ["Ruvel Bridge"])
    assert loaded.problems == ()


@pytest.mark.parametrize(
    ("row", "answers"),
    [
        (CLAIM, ("false",)),
        (CLAIM | {"label": "SUPPORTS"}, ("true",)),
        (CLAIM | {"answers": ["True"]}, ("true",)),
        (CLAIM | {"label": "NOT ENOUGH INFO"}, ()),
    ],
)
def test_a_claim_is_true_or_false(tmp_path: Path, row: dict[str, Any], answers: tuple[str, ...]) -> None:
    """By its answers, or else by its label; of another label nothing is known."""
    (example,) = load(lines(tmp_path / "c.jsonl", row)).examples
    assert (example.question, example.answers, example.prop) == ("Ice is warm.", answers, "claim")


def test_what_is_amiss_is_counted_and_stays(tmp_path: Path) -> None:
    """A question without its columns, an id twice, a passage that says nothing: four rows are four questions."""
    rows = [OPEN, OPEN, {"id": "t3", "answers": ["x"]}, OPEN | {"id": None, "ctxs": [{"title": "T"}, 5]}]
    loaded = load(lines(tmp_path / "o.jsonl", *rows))
    assert [example.id for example in loaded.examples] == ["t1", "t1#2", "t3", "line 4"]
    assert {problem.what: (problem.count, problem.where) for problem in loaded.problems} == {
        "questions without the column 'question'": (1, ("line 3",)),
        "questions without the column 'ctxs'": (1, ("line 3",)),
        "questions without an id; the line's number stands for it": (1, ("line 4",)),
        "retrieved passages without text; left out": (2, ("line 4, passage 1", "line 4, passage 2")),
        "questions whose id was there before; numbered": (1, ("t1",)),
        "asked before under another id; each counts": (2, ("t1#2", "line 4")),
        "no question; it fails, and counts as wrong": (1, ("t3",)),
    }


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"id": ', "line 2 is not JSON"),
        ("[1]", "line 2 is no JSON object"),
        ("1" * 5000, "line 2 is not JSON: Exceeds the limit"),
    ],
)
def test_a_download_that_was_cut_off_is_refused(tmp_path: Path, line: str, says: str) -> None:
    """What is not there cannot be counted."""
    with pytest.raises(UsageError, match=says):
        load(lines(tmp_path / "o.jsonl", OPEN, line))


def test_a_folder_of_several_sets_names_them(tmp_path: Path) -> None:
    """One is asked for; a folder without any says what there is."""
    lines(tmp_path / "popqa.jsonl", POPQA)
    lines(tmp_path / "notes.txt", "hello")
    with pytest.raises(UsageError, match=r"holds several sets of questions; give one of them: \S+popqa\.jsonl$"):
        load(tmp_path)
    (tmp_path / "popqa.jsonl").unlink()
    with pytest.raises(UsageError, match="holds no questions that are known here; there are those of eval_data"):
        load(tmp_path)


NAMES = [f"Ada{number} Moss{number}" for number in range(30)]
QUESTIONS = [f"In what city was {name} born?" for name in NAMES]
KNOWLEDGE = [f"{name}: {name} was born in town {number}." for number, name in enumerate(NAMES)]


def folder(path: Path, **files: str) -> Path:
    """A set of CRAG's; in the names of its files "_" stands for "/"."""
    for name, text in ({"sources": "\n".join(QUESTIONS)} | files).items():
        file = path / "popqa" / name.replace("ref_", "ref/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return path / "popqa"


def told(passages: tuple[Passage, ...]) -> str:
    """Their texts behind their titles, as the files have them."""
    return " ; ".join(f"{one.title}: {one.text}" if one.title else one.text for one in passages)


def test_knowledge_is_read_in_parts_with_their_titles(tmp_path: Path) -> None:
    """That of retrieval has two spaces behind a title, or two strokes; that of a search a colon."""
    kept = ["Ruvel Bridge  It is long. ; Hut // It is old. ; No title here.", *KNOWLEDGE[1:]]
    brought = ["Hut: It is old. ;  ; Bare", *KNOWLEDGE[1:]]
    one, *_ = load(folder(tmp_path, ref_correct=marked(kept), ref_incorrect=marked(brought))).examples
    assert [(part.title, part.text) for part in one.passages] == [
        ("Ruvel Bridge", "It is long."),
        ("Hut", "It is old."),
        ("", "No title here."),
    ]
    assert {part.source for part in one.passages} == {"corpus"}
    assert [(part.title, part.text, part.source) for part in one.outside] == [
        ("Hut", "It is old.", "external"),
        ("", "Bare", "external"),
    ]


def marked(texts: list[str]) -> str:
    return "\n".join(f"#{text}" for text in texts)


def found(path: Path) -> dict[str, int]:
    """What is amiss, apart from the gold answers, of which these folders have none."""
    return {p.what: p.count for p in load(path).problems if not p.what.startswith("no gold")}


def test_the_files_are_joined_by_line(tmp_path: Path) -> None:
    """Both kinds of knowledge, choices, and passages with their titles."""
    choices = "\n".join(["A: in Ruvel; B: in Hohrin"] * 29 + ["1: yes; 2: no; 3: A: or so"])
    passages = "\n".join(["Ada // She lived. [sep] No title here. [sep] " + "word " * 50 + "// too long for one"] * 30)
    path = folder(
        tmp_path,
        ref_correct=marked(KNOWLEDGE),
        ref_incorrect=marked(KNOWLEDGE),
        choices=choices,
        retrieved_psgs=passages,
    )
    first, *_, last = load(path).examples
    assert (first.id, first.question, told(first.outside)) == ("popqa-1", QUESTIONS[0], KNOWLEDGE[0])
    assert first.choices == (("A", "in Ruvel"), ("B", "in Hohrin"))
    assert last.choices == (("A", "yes"), ("B", "no"), ("C", "A: or so"))
    assert [(p.title, p.text) for p in first.passages][:2] == [("Ada", "She lived."), ("", "No title here.")]
    assert (first.passages[2].title, first.passages[2].text.split()[0]) == ("", "word")
    assert found(path) == {}


def test_a_blank_row_and_carriage_returns_are_repaired(tmp_path: Path) -> None:
    """As ARC's external file has them: read by line as they are, nearly every question gets another's knowledge."""
    broken = [text.replace(" was", "\r was\r") for text in KNOWLEDGE]
    path = folder(tmp_path, ref_correct=marked(KNOWLEDGE), ref_incorrect="\n" + marked(broken))
    texts = [told(example.outside).split() for example in load(path).examples]
    assert texts == [text.split() for text in KNOWLEDGE]
    assert found(path) == {
        "carriage returns inside ref/incorrect; read as spaces": 60,
        "blank rows in ref/incorrect; taken out": 1,
    }


def test_a_row_over_several_lines_is_put_together(tmp_path: Path) -> None:
    """Where nearly every row begins with the mark that CRAG's scripts write."""
    texts = [KNOWLEDGE[0].replace(" was", "\nwas"), *KNOWLEDGE[1:]]
    path = folder(tmp_path, ref_correct=marked(texts), ref_incorrect=marked(KNOWLEDGE))
    assert [told(example.passages) for example in load(path).examples] == KNOWLEDGE
    assert found(path) == {"lines of ref/correct that go on with the row before; joined to it": 1}


def test_a_file_of_another_length_is_not_used(tmp_path: Path) -> None:
    """Whose each row is cannot be told; the questions stay."""
    path = folder(tmp_path, ref_correct=marked(KNOWLEDGE[1:]), ref_incorrect=marked(KNOWLEDGE))
    assert found(path) == {"misaligned: ref/correct has 29 rows for 30 questions; not used": 1}
    assert [(example.passages, bool(example.outside)) for example in load(path).examples] == [((), True)] * 30


def test_rows_that_belong_to_the_next_question_are_noticed(tmp_path: Path) -> None:
    """A page that did not load shifts all after it, and a line at the end hides that."""
    texts = KNOWLEDGE[:15] + KNOWLEDGE[16:] + ["Nothing found."]
    path = folder(tmp_path, ref_correct=marked(KNOWLEDGE), ref_incorrect=marked(texts))
    (problem,) = [p for p in load(path).problems if "seem" in p.what]
    assert problem.what == "rows of ref/incorrect that seem to belong to the question 1 below"
    assert (problem.count, problem.where) == (15, ("lines 16 to 30",))


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    """A file, the knowledge of a question, choices that are none, and a blank last line of the questions."""
    path = folder(
        tmp_path,
        sources="\n".join([*QUESTIONS, "", ""]),
        ref_correct=marked(["", *KNOWLEDGE[1:]]),
        choices="\n".join(["A: one; B: two"] * 29 + ["either"]),
    )
    assert found(path) == {
        "blank lines at the end of sources; no questions": 1,
        "questions for which ref/correct says nothing": 1,
        "ref/incorrect is not there": 1,
        "questions whose choices cannot be told apart": 1,
    }


def test_gold_answers_come_from_another_file(tmp_path: Path) -> None:
    """Joined by the words of the question, so that its order does not matter; of equal ones the first to the first."""
    path = folder(tmp_path, sources="Who?\nWhere?\nWho?\nWhy?", retrieved_psgs="a\na\na\na")
    rows = [("g1", "who?", "Ada"), ("popqa-4", "Where? ", "Ruvel"), ("g3", "Who?", "Bea"), ("g4", "When?", "1911")]
    golds = [{"id": id, "question": question, "answers": [answer], "passages": []} for id, question, answer in rows]
    (tmp_path / "golds.jsonl").write_text("\n".join(map(json.dumps, reversed(golds))))
    loaded = load(path, tmp_path / "golds.jsonl")
    assert [(example.id, example.answers) for example in loaded.examples] == [
        ("g3", ("Bea",)),
        ("popqa-4", ("Ruvel",)),
        ("g1", ("Ada",)),
        ("popqa-4#2", ()),
    ]
    assert all(example.passages for example in loaded.examples)
    problems = {problem.what: problem.where for problem in loaded.problems}
    assert problems["questions that the file of gold answers does not have"] == ("popqa-4",)
    assert problems["gold answers to questions that are not there"] == ("g4",)
