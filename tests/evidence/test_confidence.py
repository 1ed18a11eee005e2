"""How sure an answer is, and what that rests on."""

import math
from dataclasses import replace

import pytest

from surefoot.evaluators.minilm import MiniLM
from surefoot.evidence.confidence import (
    AGAINST,
    GRADE,
    HELD,
    OTHERS,
    OUTSIDE,
    PLACE,
    QUOTED,
    SAME,
    WORDED,
    ConfidenceFit,
    facts,
    judged,
    shipped,
)
from surefoot.stats.calibration import Head
from surefoot.types import Answer, Citation, Grade, Passage, Strip

WHO = "Who built the Ruvel Bridge?"
TEXT = "It is old. Tomas Aldwin built it."
SPAN = (11, 23)
FOUND = (
    Passage("a", "A bridge of stone.", "Stone"),
    Passage("b", TEXT, "Ruvel Bridge"),
    Passage("c", "The builder was Tomas Aldwin, they say."),
    Passage("d", "Anna Tresk paid for it."),
)
GRADES = (
    Grade("a", -3.0, 0.1),
    Grade("b", 2.0, 0.9, span=SPAN),
    Grade("c", 1.0, 0.5, span=(16, 28)),
    Grade("d", 0.0, 0.25, span=(0, 10)),
)


def quoting(start: int = 11, end: int = 33, score: float | None = 1.5, passage: str = "b") -> Answer:
    strip = Strip(passage, start, end, TEXT[start:end], score, True)
    return Answer(f"{strip.text} [1]", (Citation(1, strip, strip.text, True),), model=shipped(False).evaluator)


def values(answer: Answer | None = None, question: str = WHO, **changed: object) -> dict[str, float]:
    given = {"passages": FOUND, "grades": GRADES, **changed}
    answer = answer or quoting()
    found = facts(question, answer, given["passages"], given["grades"])  # type: ignore[arg-type]
    assert found is not None
    return dict(zip(WORDED if answer.worded else QUOTED, found, strict=True))


def test_the_facts_are_those_of_the_quotation_and_of_its_passage() -> None:
    """Grade, whether the words that are pointed at are in it, and the place in retrieval."""
    found = values()
    assert (found[GRADE], found[HELD]) == (1.5, 1.0)
    assert found[PLACE] == pytest.approx(math.log(2))
    assert values(quoting(0, 10))[HELD] == 0.0


def test_the_facts_of_a_worded_answer_are_those_of_its_words() -> None:
    """Whether it holds all that is pointed at; and what it says that no cited passage does, markers and question
    aside."""
    answer = replace(quoting(), text="The Ruvel Bridge is the work of Tomas Aldwin. [1]", worded=True)
    found = values(answer)
    assert (found[GRADE], found[HELD], found[PLACE]) == (1.5, 1.0, pytest.approx(math.log(2)))
    assert found[OUTSIDE] == pytest.approx(math.log(2))
    assert values(replace(answer, text="Aldwin did. [1]"))[HELD] == 0.0


def test_passages_vote_with_their_probability() -> None:
    """Those that point at the same words beside the question's, and those that point at others; who points at nothing
    has no vote."""
    found = values()
    assert found[SAME] == pytest.approx(math.log1p(0.5))
    assert found[OTHERS] == pytest.approx(math.log1p(0.25))


def test_a_passage_that_repeats_another_is_no_second_voice() -> None:
    """A manual that is indexed as one page and as several agrees with itself; so does a copy of what disagrees."""
    copies = [replace(FOUND[n], id=f"{FOUND[n].id}2") for n in (1, 2, 3)]
    grades = [replace(GRADES[n], passage_id=f"{FOUND[n].id}2") for n in (1, 2, 3)]
    assert values(passages=(*FOUND, *copies), grades=(*GRADES, *grades)) == values()


def test_a_passage_from_outside_has_its_place_among_those() -> None:
    """Not behind all that the index gave."""
    outside = tuple(replace(p, source="external") if p.id in "bd" else p for p in FOUND)
    assert values(passages=outside)[PLACE] == 0.0


def test_the_factors_add_up_to_the_confidence() -> None:
    """From the log-odds of the average answer of the fit."""
    answer = judged(WHO, quoting(), FOUND, GRADES, shipped(False).evaluator)
    own = shipped(False)
    assert answer.confidence is not None
    assert (0 < answer.confidence < 1, answer.unjudged) == (True, "")
    base = own.head.bias + sum(w * m for w, m in zip(own.head.weights, own.middle, strict=True))
    total = base + sum(factor.adds for factor in answer.factors)
    assert 1 / (1 + math.exp(-total)) == pytest.approx(answer.confidence)
    assert [factor.name for factor in answer.factors] == [*QUOTED]


@pytest.mark.parametrize(("evaluator", "model"), [("cosine", None), ("", "gpt"), ("", None), ("cosine", "")])
def test_what_the_fit_never_saw_gets_no_number(evaluator: str, model: str | None) -> None:
    """Another evaluator's grades, or another reader's answer; the reason names them."""
    own = shipped(False).evaluator
    answer = replace(quoting(), model=own if model == "" else model)
    told = judged(WHO, answer, FOUND, GRADES, evaluator or own)
    assert (told.confidence, told.factors) == (None, ())
    assert told.unjudged.startswith(f"it is fitted to answers that {own} graded and read, not ")
    assert (evaluator or model or "no model") in told.unjudged


def test_an_answer_without_a_graded_strip_gets_no_number() -> None:
    """There is nothing to judge it by; a refusal stays as it is."""
    own = shipped(False).evaluator
    bare = Answer("Aldwin", model=own)
    for answer in (bare, quoting(score=None), quoting(passage="elsewhere")):
        assert judged(WHO, answer, FOUND, GRADES, own).unjudged == "it cites no graded strip"
    refused = Answer("no", refused=True, model=own)
    assert judged(WHO, refused, FOUND, GRADES, own) == refused


@pytest.mark.parametrize(
    ("model", "evaluator", "known"), [("tiny-1.5b", "", True), ("gpt", "", False), ("tiny-1.5b", "cosine", False)]
)
def test_the_words_of_a_small_model_get_a_number(model: str, evaluator: str, known: bool) -> None:
    """Where the shipped evaluator graded what they cite."""
    answer = replace(quoting(), model=model, worded=True)
    found = judged(WHO, answer, FOUND, GRADES, evaluator or shipped(True).evaluator)
    assert (found.confidence is not None, not found.unjudged) == (known, known)


@pytest.mark.parametrize(("worded", "names"), [(False, QUOTED), (True, WORDED)])
def test_a_shipped_fit_weighs_these_facts_of_the_shipped_evaluator(worded: bool, names: tuple[str, ...]) -> None:
    """In this order, each with its average; none has the wrong sign. Other weights need another fit, which
    `recipes/confidence.py` makes."""
    own = shipped(worded)
    assert own.evaluator == MiniLM().name
    assert (own.head.inputs, len(own.middle)) == (names, len(names))
    assert all(
        weight * (-1 if name in AGAINST else 1) >= 0 for name, weight in zip(names, own.head.weights, strict=True)
    )


def test_more_risk_asks_for_less_confidence() -> None:
    """Down to none; where no confidence keeps the risk, none is enough."""
    own = shipped(False)
    least = [own.least(percent / 100) for percent in range(101)]
    assert least == sorted(least, reverse=True)
    assert least[-1] == 0.0
    assert ConfidenceFit(Head((), (), 0.0), (), "", ((0.5, 0.3),)).least(0.2) == math.inf
