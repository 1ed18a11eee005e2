"""Questions about manuals: how they are read, and when an answer is right and a passage holds the evidence."""

import json
from pathlib import Path
from typing import Any

import pytest

from surefoot.types.errors import UsageError
from surefoot_lab.datasets.manuals import ManualQuestion, comparable, contains, held, read, right

ROW: dict[str, Any] = {
    "id": "kettle-001",
    "corpus": "kettle-doc 1.2-3",
    "file": "kettle.html",
    "question": "How hot does it get?",
    "class": "number",
    "lang": "en",
    "answerable": True,
    "answers": ["95 degrees"],
    "all_of": [],
    "evidence": ["95 degrees by default"],
    "gold": "95 degrees.",
}


def question(**changes: Any) -> ManualQuestion:
    fields = {**{("kind" if name == "class" else name): value for name, value in ROW.items()}, **changes}
    return ManualQuestion(**fields)


def written(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_question_is_read_with_its_class_and_the_name_of_its_manual(tmp_path: Path) -> None:
    """`class` is a word of Python, so the field is called `kind`; the corpus is package and version."""
    (one,) = read(written(tmp_path, ROW))
    assert (one.kind, one.manual, one.answers) == ("number", "kettle-doc", ("95 degrees",))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"corpus": "../etc 1"}, "name of a package"),
        ({"evidence": []}, "has evidence"),
        ({"answers": []}, "has evidence and answers"),
        ({"answerable": False}, "no other has"),
        ({"answers": "95"}, "not"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_question_that_does_not_fit_is_refused_with_its_line(
    tmp_path: Path, change: dict[str, Any], why: str
) -> None:
    """The corpus becomes a folder's name, and a question without evidence would count as never found."""
    with pytest.raises(UsageError, match=rf"line 2.*{why}"):
        read(written(tmp_path, ROW, {**ROW, "id": "2", **change}))


@pytest.mark.parametrize(
    ("text", "wanted", "there"),
    [
        ("it waits 5 seconds", "5", True),
        ("it waits 15 seconds", "5", False),
        ("it waits 51 seconds", "5", False),
        ("version 1.30", "30", False),
        ("about 30,000", "30", False),
        ("30, or more", "30", True),
        ("15, then 5", "5", True),
        ("the banner", "ban", False),
        ("a bandage", "ban", False),
        ("a ban.", "ban", True),
        ("the banner", "bann", True),
        ("ends with -t5", "-t", False),
        ("ends with -t", "-t", True),
        ("anything", "", False),
        ("reset head", "`reset`  *HEAD*", True),
    ],
)
def test_numbers_do_not_go_on_and_short_words_stand_alone(text: str, wanted: str, there: bool) -> None:
    """A longer number or word contains the wanted one only by chance."""
    assert contains(text, wanted) is there


def test_an_answer_is_compared_without_markers_and_signs() -> None:
    """The 1 of [1] is no number of the answer, and Markdown's signs are no words."""
    assert comparable("It is  `95`\ndegrees [1], [2, 3].") == "it is 95 degrees,."
    assert not right(question(answers=("1",)), "It is hot [1].")


def test_every_part_of_an_answer_in_parts_is_needed() -> None:
    """One alternative of each group; the groups count only where there are no `answers`."""
    both = question(answers=(), all_of=(("lid",), ("spout", "beak")))
    assert right(both, "The lid and the beak.")
    assert not right(both, "The lid.")
    assert not right(question(answers=(), all_of=()), "The lid.")


@pytest.mark.parametrize(
    "text",
    ["It is 95 degrees\nby default.", "| It is | 95 degreesby default |", "<b>95</b> degrees <i>by default</i>"],
)
def test_evidence_is_found_without_white_space_tags_and_signs(text: str) -> None:
    """Lost spaces, tables and tags do not hide it."""
    assert held(question(), ["nothing", text])
    assert not held(question(), ["nothing", "95 degrees by de", "fault"])


HOME = Path(__file__).parents[3]
ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in (HOME / "examples/manual/questions.jsonl").read_text(encoding="utf-8").splitlines()
]
PAGES = " ".join(
    " ".join(page.read_text(encoding="utf-8").split())
    for page in (HOME / "README.md", *sorted((HOME / "docs").rglob("*.md")))
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_a_gold_answer_stands_in_the_pages_and_none_where_none_is_there(row: dict[str, Any]) -> None:
    """A page that changes a figure changes the gold answer with it; otherwise the right answer would count as wrong."""
    assert bool(row["answers"]) == (row["prop"] != "not there")
    assert not row["answers"] or any(answer in PAGES for answer in row["answers"])
