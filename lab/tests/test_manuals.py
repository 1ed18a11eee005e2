"""Questions about manuals are counted by their outcome, and the evidence is followed from retrieval to the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from surefoot.pipeline import Pipeline
from surefoot.types import Answer, Grade, Passage, Step, Strip, Trace
from surefoot_lab.datasets.manuals import ManualQuestion
from surefoot_lab.manuals import OUTCOMES, ManualReport, as_markdown, compared, first_passage, outcome, report

HOT = "It boils at 95 degrees by default."


def question(**changes: Any) -> ManualQuestion:
    queries = ManualQuestion(
        "1", "kettle-doc 1", "k.html", "How hot?", "number", "en", True, ("95",), (), ("95 degrees",), "95 degrees."
    )
    return replace(queries, **changes)


def unanswerable(**changes: Any) -> ManualQuestion:
    gone = {"id": "2", "kind": "unanswerable", "file": None, "answerable": False, "answers": (), "evidence": ()}
    return question(**{**gone, **changes})


class EmptyShelf:
    """Finds nothing."""

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        """Nothing."""
        return ()


class Reserved(Answer):
    """An answer that is given with a reservation."""

    def __getattribute__(self, name: str) -> Any:
        return True if name == "hedged" else super().__getattribute__(name)


def trace(answer: Answer | None, *passages: tuple[str, float | None], strips: tuple[Strip, ...] = ()) -> Trace:
    found = tuple(Passage(str(place), text) for place, (text, _) in enumerate(passages))
    grades = tuple(Grade(str(place), score) for place, (_, score) in enumerate(passages))
    return Trace(
        "t", "How hot?", passages=found, grades=grades, strips=strips, answer=answer, steps=(Step("retrieve", 0.5),)
    )


@pytest.mark.parametrize(
    ("answer", "ending", "right"),
    [
        (Answer("At 95 [1]."), "right", True),
        (Answer("At 80 [95]."), "wrong", False),
        (Reserved("At 95."), "hedged", True),
        (Reserved("At 80."), "hedged", False),
        (Answer("Not 95.", refused=True), "refused", False),
        (None, "failed", False),
    ],
)
def test_a_question_ends_in_one_way(answer: Answer | None, ending: str, right: bool) -> None:
    """A hedged answer may be right all the same; a refusal never is, whatever it says."""
    one = outcome(question(), trace(answer))
    assert (one.ending, one.right) == (ending, right)
    assert (one.words is None) == (ending in ("refused", "failed"))


def test_the_evidence_is_followed_to_the_answer() -> None:
    """The fourth-best passage is retrieved but not shown; what has no grade is no best-graded one."""
    others = [("water", 0.9), ("steam", 0.8), ("lid", 0.7)]
    deep = outcome(question(), trace(Answer("Boils."), (HOT, 0.1), *others))
    assert (deep.retrieved, deep.three, deep.shown, deep.kept, deep.answered) == (True, False, False, False, False)
    third = outcome(question(), trace(Answer("Boils."), ("lid", None), (HOT, 0.1), *others[:2]))
    assert (third.three, third.best, third.shown, third.answered) == (True, False, True, False)
    best = outcome(question(), trace(None, ("lid", 0.2), (HOT, 0.3)))
    assert (best.best, best.answered) == (True, False)


@pytest.fixture
def reports() -> list[ManualReport]:
    """Four questions: Surefoot has one right, withholds one, gets one wrong, and declines the unanswerable one."""
    queries = [question(id=str(number), lang=lang) for number, lang in enumerate(("en", "de", "en"))] + [unanswerable()]
    ours = [
        trace(Answer("It is 95 degrees."), (HOT, 0.9)),
        trace(Reserved("It is warm."), (HOT, 0.9)),
        trace(Answer("It is cold."), ("lid", 0.9)),
        trace(Answer("Nothing.", refused=True)),
    ]
    queries[3] = replace(queries[3], id="3")
    plain = [
        replace(trace(Answer(text), (text, None)), grades=()) for text in ("The lid.", HOT, "The lid.", "The lid.")
    ]
    return [report("surefoot", queries, ours), report("bm25", queries, plain)]


def counts(one: ManualReport, place: int = 0) -> dict[str, tuple[int, int]]:
    return {name: (share.count, share.of) for name, share in one.groups[place].shares.items()}


def test_shares_are_of_the_answerable_and_declined_is_of_the_others(reports: list[ManualReport]) -> None:
    """Withheld: hedged or refused and not right, although the evidence was retrieved."""
    ours, plain = reports
    assert counts(ours) == {
        "right": (1, 3),
        "right_unhedged": (1, 3),
        "wrong": (1, 3),
        "withheld": (1, 3),
        "failed": (0, 3),
        "declined": (1, 1),
        "retrieved": (2, 3),
        "best": (2, 3),
        "three": (2, 3),
        "shown": (2, 3),
        "kept": (0, 3),
        "answered": (1, 3),
    }
    assert counts(plain)["right"] == (1, 3)
    assert counts(plain)["declined"] == (0, 1)
    assert counts(plain)["three"] == (0, 0)
    assert (ours.whole.words, ours.seconds) == (3, 0.5)


def test_methods_are_compared_question_by_question(reports: list[ManualReport]) -> None:
    """Each has one right that the other has not; in German only the plain search."""
    gains = compared(reports[0], reports[1], OUTCOMES[0])
    assert sorted(gains) == ["all", "class number", "lang de", "lang en", "manual kettle-doc"]
    assert (gains["all"].paired.of, gains["all"].paired.first, gains["all"].paired.second) == (3, 1, 1)
    assert gains["all"].gain.value == 0
    assert (gains["lang de"].paired.first, gains["lang de"].paired.second) == (0, 1)
    assert gains["lang de"].gain.value == -1


def test_the_tables_show_shares_with_interval_and_count(reports: list[ManualReport]) -> None:
    """Every row has as many cells as its table has columns, and an empty class has dashes."""
    text = as_markdown(reports)
    assert "| right, hedged or not | 33.3 % (6.1 to 79.2), 1 of 3 | 33.3 % (6.1 to 79.2), 1 of 3 |" in text
    assert "Right answers: surefoot less bm25 +0 (−100 to +100) points, only surefoot 1, only bm25 1" in text
    assert "| the three that are shown | 66.7 % (20.8 to 93.9), 2 of 3 | – |" in text
    assert "| unanswerable | 0 + 1 | – | – | – | – | – | 100 (21 to 100) |" in text
    tables = [part.splitlines() for part in text.split("\n\n") if part.startswith("|")]
    assert len(tables) == 4
    assert all(line.count("|") == table[0].count("|") for table in tables for line in table)


def test_the_baseline_shows_the_first_passage_as_it_stands(pipeline: Pipeline) -> None:
    """Nothing is graded; a search that finds nothing refuses."""
    shown = first_passage(pipeline, "Who built the Ruvel Bridge?")
    assert shown.answer is not None
    assert shown.answer.text == shown.passages[0].text
    assert shown.grades == ()
    empty = first_passage(replace(pipeline, retriever=EmptyShelf()), "Who built the Ruvel Bridge?")
    assert empty.answer is not None
    assert empty.answer.refused
