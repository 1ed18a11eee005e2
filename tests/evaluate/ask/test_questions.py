"""Labelled questions are read line by line, and a line that is none is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from surefoot.evaluate.ask.questions import Example, load, read
from surefoot.types.errors import UsageError

ROW = {"id": "q1", "question": "Who built it?", "answers": ["Tomas Aldwin", "Aldwin"]}


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_a_question_has_its_answers_and_gold_passages(tmp_path: Path) -> None:
    """Only passages with label 1 are gold; ids may be numbers; blank lines are nothing."""
    passages = [{"id": 7, "label": 1}, {"id": 8, "label": 0}, {"id": 9}]
    path = lines(tmp_path / "q.jsonl", ROW, "", ROW | {"id": 2, "answers": [1911], "passages": passages})
    assert read(path) == [
        Example("q1", "Who built it?", ("Tomas Aldwin", "Aldwin"), frozenset()),
        Example("2", "Who built it?", ("1911",), frozenset({"7"})),
    ]


def test_a_question_may_be_unanswerable(tmp_path: Path) -> None:
    """Only where the data say so; that it has no gold answer is then no problem."""
    path = lines(tmp_path / "q.jsonl", ROW | {"answers": [], "answerable": False}, ROW | {"id": "q2", "answers": []})
    loaded = load(path)
    assert [example.answerable for example in loaded.examples] == [False, True]
    assert [problem.count for problem in loaded.problems if "no gold answer" in problem.what] == [1]


def test_a_limit_takes_the_same_sample_everywhere(tmp_path: Path) -> None:
    """In the order of the file; a smaller one is part of a larger one; it is not the first lines. An id may be half a
    surrogate pair, and a file may begin with a mark of byte order."""
    path = lines(tmp_path / "q.jsonl", *(ROW | {"id": f"q{n}"} for n in range(50)))
    (tmp_path / "marked.jsonl").write_bytes(b"\xef\xbb\xbf" + json.dumps(ROW | {"id": "\ud800"}).encode())
    assert len(read(tmp_path / "marked.jsonl", limit=1)) == 1
    order = [f"q{n}" for n in range(50)]
    small, large = ([example.id for example in read(path, limit)] for limit in (5, 20))
    assert len(small) == 5
    assert set(small) < set(large)
    assert large == sorted(large, key=order.index)
    assert small != order[:5]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("{", "line 2 is not JSON: Expecting property name"),
        ("1" * 5000, "line 2 is not JSON: .*digits"),
        ({"id": "x", "question": "Q?"}, r"line 2 is not a question: it needs id, question and answers \('answers'\)"),
        ({"question": "Q?", "answers": []}, "line 2 is not a question"),
        ([1, 2], "line 2 is not a question"),
        (ROW | {"id": "x", "answers": None}, "line 2 is not a question"),
        (
            ROW | {"id": "x", "answers": "Paris"},
            "line 2 is not a question: question must be a text, and answers a list",
        ),
        (ROW | {"id": "x", "question": 5}, "line 2 is not a question: question must be a text, and answers a list"),
        (ROW | {"id": "x", "passages": ["p1"]}, "line 2 is not a question"),
        (ROW, "line 2: the id 'q1' was there before; ids must be distinct"),
    ],
)
def test_a_line_that_is_no_question_is_named(tmp_path: Path, row: Any, says: str) -> None:
    """With its number; an answer that is one text would be read letter by letter."""
    with pytest.raises(UsageError, match=says):
        read(lines(tmp_path / "q.jsonl", ROW, row))


def test_a_file_without_questions_says_so(tmp_path: Path) -> None:
    """Empty, absent, or no text."""
    with pytest.raises(UsageError, match="holds no questions"):
        read(lines(tmp_path / "empty.jsonl", "", ""))
    with pytest.raises(UsageError, match=r"absent\.jsonl cannot be read: No such file"):
        read(tmp_path / "absent.jsonl")
    (tmp_path / "image.jsonl").write_bytes(b"\x89PNG\xff")
    with pytest.raises(UsageError, match=r"image\.jsonl is not UTF-8 text"):
        read(tmp_path / "image.jsonl")
