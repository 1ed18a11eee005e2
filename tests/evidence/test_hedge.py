"""When an answer is shown behind the passages, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from surefoot.evidence.hedge import ALONE, UNSURE, hedged
from surefoot.protocols import Pair
from surefoot.types import Action, Answer, Grade, Thresholds

ANSWER = Answer("Tomas Aldwin [1]", model="m")
SURE, HALF = Grade("a", 1.0, label=Action.CORRECT), Grade("b", 0.0, label=Action.AMBIGUOUS)
WHO = "Who built the Ruvel Bridge?"
GERMAN = "Wer hat die Brücke über den Fluss gebaut?"


class Any:
    """An evaluator that does not say what it reads."""

    name = "any"
    thresholds = Thresholds(0.5, -0.5, -0.5, "any")

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        raise AssertionError("nothing is graded for a hedge")


class English(Any):
    """One that has learned English."""

    reads = ("en",)


def test_one_correct_passage_is_reason_enough_to_answer() -> None:
    """Whatever the others are."""
    assert hedged(WHO, ANSWER, [HALF, SURE, Grade("c", None)], English()) == ANSWER


@pytest.mark.parametrize("grades", [[], [HALF], [Grade("a", None)], [Grade("a", 9.0, label=Action.INCORRECT)]])
def test_without_a_correct_passage_an_answer_is_hedged(grades: list[Grade]) -> None:
    """Its words and citations stay as they are."""
    assert hedged(WHO, ANSWER, grades, English()) == replace(ANSWER, hedged=True, because=UNSURE)


def test_a_question_that_goes_on_from_another_is_told_so() -> None:
    """The user can mend that; where a passage answers it all the same, nothing is said."""
    assert hedged("And in 1921?", ANSWER, [HALF], English()).because == ALONE
    assert hedged("And in 1921?", ANSWER, [SURE], English()) == ANSWER


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (GERMAN, "German"),
        ("Qui a construit le pont sur la rivière et pour quelle ville ?", "French"),
        ("谁建造了这座桥？", "Chinese or Japanese"),
        ("Кто построил этот мост через реку?", "Cyrillic"),
    ],
)
def test_a_language_that_the_evaluator_does_not_read_is_said(question: str, told: str) -> None:
    """Though a passage be graded CORRECT: the grade is a guess."""
    answer = hedged(question, ANSWER, [SURE], English())
    assert answer.hedged
    assert answer.because == (
        f"the question seems to be in {told}, and the evaluator reads English: only names and numbers count; "
        "ask in English, or configure another evaluator"
    )


def test_an_evaluator_that_reads_every_language_is_believed() -> None:
    """So is one that has learned the question's."""

    class Both(Any):
        reads = ("en", "de")

    for evaluator in (Any(), Both()):
        assert hedged(GERMAN, ANSWER, [SURE], evaluator) == ANSWER


def test_a_generators_own_reason_stays() -> None:
    """It has read the sentences, where the grades are of passages."""
    answer = Answer("x [1]", hedged=True, because="the reader is not sure of it")
    assert hedged(WHO, answer, [SURE], English()) == hedged(WHO, answer, [HALF], English()) == answer


@pytest.mark.parametrize("question", ["And in 1921?", GERMAN])
def test_what_the_asker_can_mend_comes_first(question: str) -> None:
    """Before a reason of the generator's own; a refusal says it too, and stays one."""
    unsure = Answer("x [1]", hedged=True, because="the reader is not sure of it")
    told = hedged(question, ANSWER, [HALF], English()).because
    assert hedged(question, unsure, [HALF], English()) == replace(unsure, because=told)
    refused = Answer("I cannot answer this.", refused=True)
    assert hedged(question, refused, [HALF], English()) == replace(refused, because=told)


def test_a_refusal_to_a_whole_question_stays_as_it_is() -> None:
    """It says what was missing by itself."""
    refused = Answer("I cannot answer this.", refused=True)
    assert hedged(WHO, refused, [HALF], English()) == refused


def test_a_question_that_goes_on_is_sent_to_the_conversation() -> None:
    """By the name of its command."""
    assert "`surefoot chat`" in ALONE
