"""An evaluator that is asked for no pair twice: what is kept, for how long, and what is not."""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from surefoot.evaluators._cached import CachedEvaluator
from surefoot.run import meter
from surefoot.run.meter import metered
from surefoot.types import Grade, Passage, Thresholds
from surefoot.types.errors import ComponentError
from surefoot.types.protocols import Pair

ONE = Passage("1", "one", "Numbers", url="a.txt", score=3.0)


class Counting:
    """Grades a passage by the length of its text, or as `scores` says; keeps what it was asked for."""

    name = "counting"
    thresholds = Thresholds(5.0, 1.0, 1.0, "counting")
    returns_spans = True

    def __init__(self, **scores: float | None) -> None:
        self.scores = scores
        self.asked: list[str] = []

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """One grade a pair."""
        meter.count(graded=len(pairs))
        self.asked += [p.text for _, p in pairs]
        return tuple(Grade(p.id, self.scores.get(p.text, float(len(p.text))), reason="read") for _, p in pairs)


def ask(evaluator: CachedEvaluator, *texts: str, question: str = "Who?") -> list[float | None]:
    return [grade.score for grade in evaluator.grade([(question, Passage(t, t)) for t in texts])]


def test_a_pair_is_asked_for_once() -> None:
    """Within a call and from call to call, also beside new ones; each grade has its own passage's id."""
    inner = Counting()
    outer = CachedEvaluator(inner)
    twins = [("Who?", replace(ONE, id=id)) for id in "ab"]
    first = outer.grade(twins)
    again = outer.grade([("Who?", Passage("2", "two!")), *twins])
    assert inner.asked == ["one", "two!"]
    assert [g.passage_id for g in first] == ["a", "b"]
    assert again == (Grade("2", 4.0, reason="read"), *first)


def test_the_meter_counts_every_pair_and_says_what_was_known() -> None:
    """`graded` is what was wanted, `cached` how much of it cost nothing."""
    outer = CachedEvaluator(Counting())
    with metered() as spent:
        ask(outer, "one", "one", "two")
        ask(outer, "two")
    assert (spent.graded, spent.cached) == (4, 2)


@pytest.mark.parametrize(
    "other",
    [replace(ONE, text="One"), replace(ONE, title=""), replace(ONE, url="b.txt"), replace(ONE, score=2.0)],
    ids=["text", "title", "url", "score"],
)
def test_what_differs_in_anything_but_the_id_is_another_pair(other: Passage) -> None:
    """An evaluator may read any of it; and so is another question."""
    inner = Counting()
    outer = CachedEvaluator(inner)
    outer.grade([("Who?", ONE), ("Who?", other), ("When?", ONE)])
    assert len(inner.asked) == 3


@pytest.mark.parametrize("failure", [None, math.nan])
def test_what_could_not_be_graded_is_asked_for_again(failure: float | None) -> None:
    """A server that was down is up again."""
    inner = Counting(one=failure)
    outer = CachedEvaluator(inner)
    ask(outer, "one", "two")
    inner.scores = {}
    assert ask(outer, "one", "two") == [3.0, 3.0]
    assert inner.asked == ["one", "two", "one"]


def test_an_evaluator_that_gives_too_few_grades_has_failed() -> None:
    """Nobody knows whose they are; nothing of it is remembered."""
    inner = Counting()
    inner.grade = lambda pairs: (Grade("1", 1.0),)  # type: ignore[method-assign]
    with pytest.raises(ComponentError, match="counting gave 1 grades for 2 passages"):
        ask(CachedEvaluator(inner), "one", "two")


def test_the_latest_used_are_kept() -> None:
    """A server that runs for months does not grow for months, and forgets what nobody asks for."""
    inner = Counting()
    outer = CachedEvaluator(inner, most=2)
    for text in ("one", "two", "one", "three", "one", "two"):
        ask(outer, text)
    assert inner.asked == ["one", "two", "three", "two"]


def test_many_threads_share_one() -> None:
    """While what they want is forgotten under their hands."""
    outer = CachedEvaluator(Counting(), most=3)
    texts = ["x" * n for n in range(1, 9)]
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda n: ask(outer, *texts[n % 5 :]), range(200)):
            assert found == [float(len(text)) for text in texts[-len(found) :]]
