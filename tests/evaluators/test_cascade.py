"""Two evaluators on one scale: who decides what, and what happens when the dear one fails."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from surefoot.config.options import assemble
from surefoot.evaluators.cascade import Cascade
from surefoot.evaluators.lexical import Lexical
from surefoot.evaluators.llm import LLMEvaluator
from surefoot.evidence.policies import Threshold, label, labelled
from surefoot.llms.scripted import Scripted
from surefoot.run.meter import metered
from surefoot.types import Action, Grade, Passage, Thresholds
from surefoot.types.errors import ComponentError, ConfigError
from surefoot.types.protocols import Pair

OWN = Thresholds(upper=0.7, lower=0.3, strip=0.2, evaluator="cheap", fitted_on="tests")
OTHER = Thresholds(upper=2.0, lower=-2.0, strip=-2.0, evaluator="dear")


class Fixed:
    """Gives each passage the grade that its id has here; remembers which it was asked for."""

    def __init__(self, thresholds: Thresholds, grades: dict[str, Grade]) -> None:
        self.name = thresholds.evaluator
        self.thresholds = thresholds
        self.asked: list[str] = []
        self._grades = grades

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        self.asked += [passage.id for _, passage in pairs]
        return tuple(self._grades[passage.id] for _, passage in pairs)


class Broken(Fixed):
    """Fails as it is told to."""

    def __init__(self, error: Exception) -> None:
        super().__init__(OTHER, {})
        self._error = error

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        raise self._error


def cheap(**scores: float | None) -> Fixed:
    return Fixed(OWN, {id: Grade(id, s, s, reason="by words", span=(0, 1)) for id, s in scores.items()})


def dear(**labels: Action | None) -> Fixed:
    at = {Action.CORRECT: 2.5, Action.AMBIGUOUS: 0.0, Action.INCORRECT: -2.5, None: None}
    return Fixed(OTHER, {id: Grade(id, at[label], label=label, reason="read it") for id, label in labels.items()})


def graded(first: Fixed, second: Fixed, band: Sequence[float] | None = None) -> dict[str, Grade]:
    pairs = [("Who?", Passage(id, "text")) for id in first._grades]
    return {grade.passage_id: grade for grade in Cascade([first, second], band).grade(pairs)}


def test_only_the_pairs_inside_the_band_go_to_the_second() -> None:
    """From τ− on and below τ+, what the first calls AMBIGUOUS, unless a band in the first's scores is given."""
    scores = {"below": 0.29, "low": 0.3, "middle": 0.5, "upper": 0.7, "none": None}
    for band, asked in ((None, ["low", "middle"]), ([0.0, 0.3], ["below"])):
        second = dear(**dict.fromkeys(scores, Action.CORRECT))
        graded(cheap(**scores), second, band)
        assert second.asked == asked


def test_outside_the_band_a_grade_is_the_firsts_untouched() -> None:
    """With its probability, its reason and no label; also one that could not be graded."""
    first = cheap(low=0.1, high=0.9, none=None)
    assert graded(first, dear()) == first._grades


@given(st.floats(-3, 3), st.sampled_from(Action))
def test_the_firsts_thresholds_read_a_score_as_the_label_that_the_second_gave(score: float, said: Action) -> None:
    """So that one scale and one set of thresholds serve both."""
    grade = graded(cheap(a=score), dear(a=said), [-3, 4])["a"]
    assert grade.score is not None
    assert label(grade.score, OWN) is said


@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(0, 3), st.sampled_from(Action))
def test_label_and_decision_agree_under_any_thresholds(score: float, lower: float, more: float, said: Action) -> None:
    """Under those that were fitted on the cascade, too: what counts is where the score lies."""
    fitted = Thresholds(lower + more, lower, lower, "cascade")
    grades = labelled(tuple(graded(cheap(a=score), dear(a=said), [-3, 4]).values()), fitted)
    assert grades[0].label is Threshold(fitted).decide(grades).action


@given(st.floats(-3, 3), st.floats(-3, 3), st.sampled_from(Action), st.sampled_from(Action))
def test_a_higher_score_or_a_better_label_never_lowers_a_grade(one: float, two: float, a: Action, b: Action) -> None:
    """Monotone in what either evaluator says."""
    better = [Action.INCORRECT, Action.AMBIGUOUS, Action.CORRECT]
    low, high = sorted((one, two))
    bad, good = sorted((a, b), key=better.index)
    grades = graded(cheap(low=low, high=high), dear(low=bad, high=good), [-3, 4])
    assert (grades["low"].score or 0.0) <= (grades["high"].score or 0.0)


def test_a_decided_grade_says_who_decided_and_what_the_first_had_said() -> None:
    """Without the first's probability where that was overruled."""
    grades = graded(cheap(a=0.5, b=0.5), dear(a=Action.CORRECT, b=Action.AMBIGUOUS))
    assert grades["a"].reason == grades["b"].reason == "dear decided: read it (cheap: 0.5)"
    assert (grades["a"].probability, grades["a"].score) == (None, OWN.upper)
    assert (grades["b"].probability, grades["b"].score) == (0.5, 0.5)


def test_the_span_of_an_answer_goes_with_the_answer() -> None:
    """The second's where it points at one, else the first's; none in a passage of no use."""
    second = dear(own=Action.CORRECT, other=Action.CORRECT, none=Action.INCORRECT)
    second._grades["own"] = replace(second._grades["own"], span=(2, 3), window=(0, 4))
    grades = graded(cheap(own=0.5, other=0.5, none=0.5), second)
    assert [grade.span for grade in grades.values()] == [(2, 3), (0, 1), None]
    assert [grade.window for grade in grades.values()] == [(0, 4), None, None]


def test_where_the_second_cannot_grade_the_firsts_grade_stands() -> None:
    """With the reason in the grade and the number in the step; the others are decided."""
    first = cheap(a=0.5, b=0.4)
    with metered() as spent:
        grades = graded(first, dear(a=None, b=Action.CORRECT))
    assert grades["a"] == replace(first._grades["a"], reason="by words; dear could not say: read it")
    assert grades["b"].score == OWN.upper
    assert spent.degraded == ["dear could not grade 1 of 2 passages: the grades of cheap stand"]


def test_where_the_second_fails_the_firsts_grades_stand() -> None:
    """All of them, and the step says why."""
    with metered() as spent:
        grades = graded(cheap(a=0.5, b=0.9), Broken(ComponentError("the server is down")))
    assert [(grade.score, grade.label, grade.probability) for grade in grades.values()] == [
        (0.5, None, 0.5),
        (0.9, None, 0.9),
    ]
    assert grades["a"].reason == "by words; dear could not say: it failed"
    assert spent.degraded == ["dear failed (the server is down): the grades of cheap stand"]


def test_it_points_where_one_of_the_two_points() -> None:
    """Grades pass through it, and so do their spans."""
    pointing, silent = cheap(), dear()
    pointing.returns_spans = True  # type: ignore[attr-defined]
    assert [Cascade(pair).returns_spans for pair in ([pointing, silent], [silent, pointing], [silent, silent])] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize("band", [[0.5], [0.6, 0.5], [0.1, float("nan")], ["low", "high"], []])
def test_a_band_that_is_none_is_refused(band: list[float]) -> None:
    """Two numbers, the lower one first."""
    with pytest.raises(ConfigError, match="band"):
        assemble("evaluator 'cascade'", Cascade, {"band": band}, {"evaluators": lambda: [cheap(), dear()]})


MIDDLE = Thresholds(upper=20.0, lower=10.0, strip=5.0, evaluator="middle")


def middle(**scores: float) -> Fixed:
    return Fixed(MIDDLE, {id: Grade(id, score, reason="by sense") for id, score in scores.items()})


def test_each_of_three_is_asked_where_the_one_before_is_unsure() -> None:
    """On the first's scale all the way; who decided is told."""
    first, second, third = cheap(a=0.9, b=0.5, c=0.5), middle(b=25.0, c=15.0), dear(c=Action.INCORRECT)
    with metered() as spent:
        said = Cascade([first, second, third]).grade([("Who?", Passage(id, "text")) for id in "abc"])
    assert (first.asked, second.asked, third.asked) == (["a", "b", "c"], ["b", "c"], ["c"])
    assert [label(grade.score or 0.0, OWN) for grade in said] == [Action.CORRECT, Action.CORRECT, Action.INCORRECT]
    assert "dear decided: read it" in said[2].reason
    assert spent.escalated == 3


@pytest.mark.parametrize("number", [0, 1])
def test_a_cascade_is_made_of_two_or_more(number: int) -> None:
    """One alone has nobody to ask."""
    with pytest.raises(ConfigError, match=f"has two evaluators or more, the cheapest one first, not {number}"):
        Cascade([cheap()] * number)


def test_the_cost_is_the_firsts_for_all_and_the_seconds_for_some() -> None:
    """`graded` shows how many pairs were handed up, `calls` what that cost."""
    llm = LLMEvaluator(Scripted(lambda _: '{"1": {"rationale": "says who", "grade": "CORRECT", "confidence": 1.0}}'))
    texts = ["Tomas Aldwin built the Ruvel Bridge", "A bridge was built in Ruvel", "Cheese"]
    pairs = [("Who built the Ruvel Bridge?", Passage(str(n), text)) for n, text in enumerate(texts)]
    with metered() as spent:
        sure, unsure, useless = Cascade([Lexical(), llm]).grade(pairs)
    assert (spent.graded, spent.escalated, spent.calls) == (3 + 1, 1, 1)
    said = [grade.label for grade in labelled((sure, unsure, useless), Lexical.thresholds)]
    assert said == [Action.CORRECT, Action.CORRECT, Action.INCORRECT]


def test_a_grade_that_may_decide_alone_keeps_that_from_who_decided() -> None:
    """Not where the first was sure, and only compared words."""
    read = Fixed(OTHER, {"a": Grade("a", 2.5, label=Action.CORRECT, cap=Action.CORRECT)})
    grades = graded(cheap(a=0.5, b=0.9), read)
    assert (grades["a"].cap, grades["b"].cap) == (Action.CORRECT, None)
