"""Questions that a language model writes to places of passages."""

from dataclasses import replace
from typing import Any

import pytest

from surefoot.evaluate.testset.model_questions import WrittenQuestion, answer_fault, drafts, named, span, wording_fault
from surefoot.evaluate.testset.prompter import name_of
from surefoot.types import Passage

QUEUE = (
    "The ferry daemon holds letters in its queue for 5 days. Letters that bounce are returned to whoever sent them, "
    "unless the option silent is set in the harbour file. A buoy is a mark that shows where ships may anchor."
)
START = QUEUE.index("Letters that bounce")
END = QUEUE.index(" A buoy")
ANSWER = "returned to whoever sent them"
BOUNCE = WrittenQuestion("how-to", START, END, "What happens to ferry mail that bounces?", ANSWER)


@pytest.mark.parametrize(
    ("question", "fault"),
    [
        ("What happens to mail that ferry cannot deliver?", ""),
        ("Ferry?", "no question"),
        ("What does this option of ferry do?", "not understood alone"),
        ("When does it return letters to the harbour?", "not understood alone"),
        ("Letters that bounce are returned to whoever?", "repeats the passage"),
        ("Letters of ferry bounce to whoever sent them", "no question"),
    ],
)
def test_a_question_has_to_stand_alone(question: str, fault: str) -> None:
    assert wording_fault("how-to", question, QUEUE[START:END]) == fault


def test_yes_or_no_is_not_asked_by_what() -> None:
    assert wording_fault("yes", "What does ferry return?", QUEUE) == "no question"
    assert wording_fault("yes", "Does ferry return letters?", QUEUE) == ""


def test_a_question_names_its_subject() -> None:
    """As the title does, where it has no word of that and the name is short."""
    assert named("How do I stop?", name_of("ferryd(8): Manual Page › Queue", "")) == "How do I stop in ferryd?"
    assert named("How do I stop?", name_of("FAQ › Queue", "ferry")) == "How do I stop in ferry?"
    assert named("How do I stop ferryd?", "ferryd") == "How do I stop ferryd?"
    assert named("How do I stop?", "ways to sail boats quickly") == "How do I stop?"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({}, ""),
        ({"reply": "NONE"}, "answered elsewhere"),
        ({"reply": ""}, "gives its answer"),
        ({"reply": "Mail that bounces is thrown away by the captain"}, "answered elsewhere"),
        ({"reply": "holds letters in its queue for 5 days"}, "answered elsewhere"),
        ({"reply": "what happens to ferry mail is a letter"}, "gives its answer"),
        ({"question": "Are letters returned to whoever sent them?"}, "gives its answer"),
        ({"kind": "yes", "reply": "Yes: returned to whoever sent them"}, ""),
        ({"kind": "yes", "reply": "No: returned to whoever sent them"}, "another verdict"),
        ({"kind": "no", "reply": "returned to whoever sent them"}, "another verdict"),
    ],
)
def test_a_second_answer_has_to_agree(change: dict[str, Any], fault: str) -> None:
    assert answer_fault(replace(BOUNCE, **change), QUEUE) == fault


def test_an_answer_is_a_slice_of_its_passage() -> None:
    """The model's words where they stand there, however written; else the whole place."""
    assert span(BOUNCE, QUEUE) == ANSWER
    assert span(replace(BOUNCE, reply="Returned to whoever SENT them"), QUEUE) == ANSWER
    assert span(replace(BOUNCE, reply="bounce letters are returned"), QUEUE) == QUEUE[START:END]


def test_a_draft_fits_its_kind() -> None:
    """A number where there is one, a comparison only with a word for it; no place is taken twice."""
    every = [list(drafts(Passage(str(n), QUEUE))) for n in range(50)]
    assert {kind for some in every for kind, *_ in some} >= {"how-to", "number", "definition", "detail"}
    assert all(len({draft[1:] for draft in some}) == len(some) for some in every)
    assert {QUEUE[a:b] for some in every for kind, a, b in some if kind == "number"} == {QUEUE[: START - 1]}
    assert "comparison" not in {kind for some in every for kind, *_ in some}
