"""Self-RAG's eval_data: what each of its sets is known by, and what becomes of its rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from surefoot.evaluate.ask.questions import load
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
