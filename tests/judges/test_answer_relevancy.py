"""Answer relevancy without a language model."""

from __future__ import annotations

import pytest

from surefoot.evaluators.lexical import Lexical
from surefoot.judges.answer_relevancy import OTHER_KIND, REFUSED, AnswerRelevancy, lacking
from surefoot.types import Record


def value(question: str, answer: str) -> float:
    found = AnswerRelevancy(Lexical()).judge(Record("r", question, None, answer)).value
    assert found is not None
    return found


def test_an_answer_is_for_its_question() -> None:
    """Right or wrong, and of a few words too, which are read behind the question; not for another one."""
    who = "Who built the Ruvel Bridge?"
    assert value(who, "Anna Tresk built the great Ruvel Bridge in 1911.") == 1.0
    assert value(who, "Anna Tresk") == 1.0
    assert value(who, "Grate the cheese, add Flour and boil Dumplings.") < 0.2


def test_a_refusal_does_not_meet_the_need() -> None:
    """Nor does the question said again."""
    who = "Which engineer built the Ruvel Bridge in the county?"
    assert value(who, "I don't know.") == value(who, "") == REFUSED
    assert value(who, "An engineer built the Ruvel Bridge in the county.") == REFUSED


@pytest.mark.parametrize(
    ("question", "answer", "lacks"),
    [
        ("How many arches has it?", "Three of them", ""),
        ("How many arches has it?", "It has arches.", "number"),
        ("When was it built?", "in May", ""),
        ("When was it built?", "by an engineer", "date or time"),
        ("Who built it?", "Tomas Aldwin did.", ""),
        ("Who built it?", "The engineer built it.", "name"),
        ("Who built it?", "tomas aldwin", ""),
        ("What is it of?", "iron", ""),
    ],
)
def test_what_is_asked_for_has_a_kind(question: str, answer: str, lacks: str) -> None:
    """A number, a date or a name; text all in lower case shows no names."""
    assert lacking(question, answer) == lacks


def test_another_kind_of_answer_counts_half() -> None:
    """Its words are about the question all the same."""
    assert value("How many arches has the Ruvel Bridge?", "The Ruvel Bridge has beautiful old arches.") == OTHER_KIND
