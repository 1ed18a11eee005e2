"""Labelled pairs come out of a file as they stand there; what nobody labelled is counted, not guessed."""

import json
from pathlib import Path
from typing import Any

import pytest

from surefoot.evaluate.ask import questions
from surefoot.types import Passage
from surefoot.types.errors import UsageError
from surefoot_lab.datasets.pairs import LabelledPair, LabelledSet, blanked, read


def passage(id: str, label: int | None = 1, **more: Any) -> dict[str, Any]:
    return {"id": id, "title": "Ruvel Bridge", "text": f"Text {id}.", "label": label, **more}


def row(id: str, *passages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": id, "question": f"Who built {id}?", "passages": list(passages), **more}


def written(folder: Path, *rows: Any) -> Path:
    path = folder / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def ids(labelled: LabelledSet) -> list[tuple[str, str]]:
    return [(pair.question_id, pair.passage.id) for pair in labelled.pairs]


def test_a_pair_holds_what_its_line_says(tmp_path: Path) -> None:
    """Also where the passage came from, its rank, and the title rule's label."""
    line = row("q", passage("a", 0, source="contriever", rank=3, label_title=1), answers=["Aldwin", "T. Aldwin"])
    expected = LabelledPair(
        "q",
        "Who built q?",
        Passage("a", "Text a.", "Ruvel Bridge"),
        0,
        ("Aldwin", "T. Aldwin"),
        source="contriever",
        rank=3,
        label_title=1,
    )
    assert read(written(tmp_path, line)).pairs == (expected,)


def test_a_passage_without_a_label_is_left_out_and_counted(tmp_path: Path) -> None:
    """Null, or no label at all; of questions that have no other passage, too."""
    path = written(tmp_path, row("q", passage("a", None), passage("b", 0)), row("r", {"id": "c", "text": "Text."}))
    labelled = read(path)
    assert (ids(labelled), labelled.unlabelled) == ([("q", "b")], 2)


def test_a_sample_is_the_one_that_other_benchmarks_take(tmp_path: Path) -> None:
    """Whole questions, in the order of the file, a smaller sample within a larger one."""
    path = written(tmp_path, *(row(f"q{n}", passage("a"), passage("b", 0), answers=[]) for n in range(50)))
    ten, twenty = ([pair.question_id for pair in read(path, limit).pairs] for limit in (10, 20))
    assert list(dict.fromkeys(ten)) == [example.id for example in questions.read(path, 10)]
    assert len(ten) == 20
    assert [question_id for question_id in twenty if question_id in ten] == ten


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ({"id": "q", "passages": []}, "'question' is missing"),
        ({"question": "Who?", "passages": []}, "'id' is missing"),
        (row("q", {"id": "a", "label": 1}), "'text' is missing"),
        (row("q", {"id": "a", "text": 3, "label": 1}), "text must be a text, not 3"),
        (row("q", passage("a", 2)), "label must be 1, 0 or null, not 2"),
        (row("q", passage("a", label_title="yes")), "label_title must be 1, 0 or null, not 'yes'"),
        (row("q", passage("a", rank="first")), "rank must be a whole number or null, not 'first'"),
        ({**row("q"), "question": None}, "question must be a text, not None"),
        (row("q", passage("a"), answers="Aldwin"), "answers must be a list, not 'Aldwin'"),
        ({**row("q"), "passages": {"a": 1}}, "passages must be a list, not {'a': 1}"),
        (["q"], "indices"),
    ],
)
def test_a_line_that_does_not_fit_is_named(tmp_path: Path, line: Any, why: str) -> None:
    """By its number, with what is wrong with it."""
    with pytest.raises(UsageError, match="line 2 is no question with passages") as caught:
        read(written(tmp_path, row("ok", passage("a")), line))
    assert why in str(caught.value)


PAIRS = LabelledSet(
    "f", "0", tuple(LabelledPair(q, f"Who built {q}?", Passage(q, f"{q} built it.", q), 1) for q in "ab"), 3
)


def test_a_blanked_question_is_the_same_for_every_pair() -> None:
    """And nothing else is another."""
    hidden = blanked(PAIRS, "question")
    assert len({pair.question for pair in hidden.pairs}) == 1
    assert [pair.passage for pair in hidden.pairs] == [pair.passage for pair in PAIRS.pairs]
    assert (hidden.path, hidden.unlabelled) == ("f", 3)
