"""Evaluators whose Shapley values are known: every way of asking them comes to these values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from surefoot.explain.grade import explain
from surefoot.types import Attribution, Grade, Passage, Thresholds
from surefoot.types.protocols import Pair

FEW = "one two three four five six"
MANY = " ".join(f"w{n}" for n in range(30))


class Planted:
    """Scores a text by any function of its words; words that are gone are "…", so that places stay."""

    name, thresholds = "planted", Thresholds(1.0, 0.0, 0.0, "planted")

    def __init__(self, worth: Callable[[list[str]], float]) -> None:
        self.worth = worth

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        return tuple(Grade(passage.id, self.worth(passage.text.split())) for _, passage in pairs)


def explained(worth: Callable[[list[str]], float], text: str, **options: object) -> Attribution:
    return explain(Planted(worth), "Who", Passage("p", text), baseline="pad", **options)  # type: ignore[arg-type]


def values(found: Attribution) -> dict[str, float]:
    return {unit.words: value for unit, value in zip(found.units, found.values, strict=True)}


def both(words: list[str]) -> float:
    return float({"one", "two"} <= set(words) or {"w1", "w2"} <= set(words))


def either(words: list[str]) -> float:
    return float(bool({"one", "two", "w1", "w2"} & set(words)))


@pytest.mark.parametrize("worth", [both, either])
@pytest.mark.parametrize(("text", "pair"), [(FEW, ("one", "two")), (MANY, ("w1", "w2"))])
def test_two_who_need_or_replace_each_other_share_evenly(
    worth: Callable[[list[str]], float], text: str, pair: tuple[str, str]
) -> None:
    """AND and OR: half each, and nothing for the others, counted as well as sampled."""
    found = explained(worth, text, tolerance=0.01)
    assert values(found) == pytest.approx({word: 0.5 * (word in pair) for word in ("Who", *text.split())}, abs=1e-5)


@pytest.mark.parametrize("method", ["exact", "regression"])
def test_a_sum_is_shared_as_it_is_made(method: str) -> None:
    """A linear evaluator: each word its own worth."""
    worth = {"one": 2.0, "two": -1.0, "six": 0.5}
    found = explained(lambda words: sum(worth.get(word, 0.0) for word in words), FEW, method=method)
    assert values(found) == pytest.approx({"Who": 0.0, **dict.fromkeys(FEW.split(), 0.0), **worth}, abs=1e-5)


def windows(words: list[str]) -> float:
    """As an evaluator that reads a long text in parts: the best of its windows of three words."""
    scores = [sum(word != "…" for word in words[at : at + 3]) ** 2 for at in range(0, len(words), 3)]
    return float(max(scores, default=0))


def counted(players: int, worth: Callable[[list[str]], float]) -> list[float]:
    """By the definition: what each adds to those before, over all orders."""
    names, total = FEW.split()[:players], np.zeros(players)
    orders = list(itertools.permutations(range(players)))
    for order in orders:
        for place, player in enumerate(order):
            before, after = (
                worth([name if n in order[:end] else "…" for n, name in enumerate(names)]) for end in (place, place + 1)
            )
            total[player] += after - before
    return [value / math.factorial(players) for value in total]


def test_the_best_of_windows_is_shared_by_its_words() -> None:
    """A maximum is no sum; the values are those of the definition, and sampled they lie within their errors."""
    truth = counted(6, windows)
    assert explained(windows, FEW).values[1:] == pytest.approx(truth, abs=1e-9)
    sampled = explained(windows, FEW, method="regression", tolerance=0.05)
    off = np.abs(np.array(sampled.values[1:]) - truth)
    assert (off <= 4 * np.array(sampled.errors[1:]) + 1e-6).all()
