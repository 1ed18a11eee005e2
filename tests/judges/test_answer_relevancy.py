"""Answer relevancy without a language model."""

from __future__ import annotations

from surefoot.evaluators.lexical import Lexical
from surefoot.judges.answer_relevancy import REFUSED, AnswerRelevancy
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
