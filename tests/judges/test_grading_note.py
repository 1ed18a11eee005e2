"""The grading note, by rules."""

from __future__ import annotations

import pytest

from surefoot.judges.grading_note import GradingNote, note_of, required
from surefoot.types import Record, Score

STEPS = "1. Grate the cheese.\n2. Boil the dumplings."


def judged(note: str, answer: str, **options: bool) -> Score:
    return GradingNote(**options).judge(Record("r", "How?", None, answer, (), note))


@pytest.mark.parametrize(
    ("note", "good", "bad"),
    [
        ("list the steps in order", STEPS, "Cheese is grated."),
        ("be a bulleted list", "- iron\n- stone", "Iron."),
        ("use a table", "| a | b |\n|---|---|", "a and b"),
        ("compare the two", "Iron is heavier than wood.", "Iron is heavy."),
        ("begin with a yes or no", "No, it is of iron.", "It is of iron."),
        ("give a number", "It has 3 arches.", "It has arches."),
        ("include the date", "in 1911", "long ago"),
        ("give the name of the builder", "Tomas Aldwin", "some engineer"),
        ("explain why", "because it rusts", "it rusts"),
        ("include an example", "metals, such as iron", "metals"),
        ("define the term", "A strip is a slice.", "Strips!"),
        ("show code", "```\nls\n```", "Use the shell."),
        ("use headings", "# Iron\nIt rusts.", "It rusts."),
        ("cite its sources", "It is of iron [1].", "It is of iron."),
        ("be concise", "Iron.", "iron " * 90),
        ("be detailed", "iron " * 50, "Iron."),
        ("be in two paragraphs", "Iron.\n\nStone.", "Iron. Stone."),
    ],
)
def test_r_15_what_the_note_asks_for_is_looked_for(note: str, good: str, bad: str) -> None:
    """An answer that has it gets 1, one that has not gets less, and the reason says what it lacks."""
    assert judged(f"The response should {note}.", good).value == 1.0
    score = judged(f"The response should {note}.", bad)
    assert score.value is not None
    assert score.value < 1.0
    assert "lacks" in score.reason


def test_r_15_each_aspect_counts_the_same() -> None:
    """The value is the share of those that are there."""
    score = judged("The response should give a number and an example.", "It has 3 arches.")
    assert score.value == 0.5
    assert "has a number; it lacks an example" in score.reason


def test_r_15_a_refusal_has_all_that_can_be_asked() -> None:
    """Unless that is switched off: it rewards refusals."""
    assert judged("The response should give a number.", "The context does not mention it.").value == 1.0
    assert judged("The response should give a number.", "The context does not mention it.", refusal=False).value == 0.0


def test_so_many_things_are_counted() -> None:
    """In lines, or in one sentence."""
    assert required("give three reasons", "- a\n- b\n- c")["3 items"]
    assert required("give three reasons", "rust, weight and price")["3 items"]
    assert not required("give three reasons", "rust and weight")["3 items"]


def test_what_is_not_wanted_is_not_asked_for() -> None:
    """As far as a clause goes."""
    assert required("be concise without examples", "Iron.") == {"brevity": True}


def test_a_note_that_the_rules_do_not_know_is_unscored() -> None:
    """Neither 0 nor 1 would be true of it."""
    score = judged("The response should be kind.", "Iron, dear.")
    assert score.value is None
    assert score.unscored_because


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("How do I boil dumplings?", "The response should list the steps in order."),
        ("how many arches has it", "The response should give a number."),
        ("Is it of iron?", "The response should begin with a yes or no."),
        (
            "What is the difference between iron and steel?",
            "The response should be a comparison of the things asked about.",
        ),
        ("Tell me about iron.", ""),
    ],
)
def test_r_16_a_note_can_be_written_by_rules_from_the_question_alone(question: str, note: str) -> None:
    """Structure only; empty where the form of the question asks for none. The judge knows what it says."""
    assert note_of(question) == note
    assert bool(required(note, "x")) == bool(note)
