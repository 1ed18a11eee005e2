"""The paired test of a change, and what it takes to keep it."""

from typing import Any

import pytest

from surefoot.config.settings import read
from surefoot.evaluate.diagnose.remedies import Levers
from surefoot.evaluate.diagnose.settings import SystemSettings
from surefoot.evaluate.improve.controls import random_lever
from surefoot.evaluate.improve.ledger import Cost, expected, interval, points
from surefoot.evaluate.improve.proof import Control, Difference, adjusted, needed, paired, values, verdict
from surefoot.evaluate.patch import size, tried
from surefoot.retrievers._given import USE
from surefoot.stats.figures import holm, mcnemar
from surefoot.types import Gain, Score
from surefoot.types.errors import UsageError

ALPHA = 0.05


def found(difference: float, p: float = 0.001, unscored: int = 0, worst: float | None = None) -> Difference:
    gain = Gain("right", 0.3, 0.3 + difference, difference, difference - 0.1, difference + 0.1, p, 50)
    return Difference(gain, unscored, difference if worst is None else worst)


def alone(*ids: str) -> dict[str, str]:
    return {id: id for id in ids}


def questions(outcomes: list[float | None]) -> dict[str, float | None]:
    return {str(number): outcome for number, outcome in enumerate(outcomes)}


def test_a_gain_is_tested_as_two_evaluations_are() -> None:
    """By McNemar's exact test for right and wrong, by flipping signs for ratings: of 2^4 ways two are as far apart.
    Twenty questions that all hang on two documents are two trials, and no test tells two trials from chance."""
    before, after = questions([0.0] * 12 + [1.0] * 3), questions([1.0] * 9 + [0.0] * 5 + [1.0])
    got = paired("right", before, after, alone(*before))
    assert got.gain.p == mcnemar([v == 1 for v in before.values()], [v == 1 for v in after.values()]).p
    assert (got.gain.questions, got.gain.difference) == (15, pytest.approx(7 / 15))
    assert got.gain.low <= got.gain.difference <= got.gain.high
    rated = paired("adherence", questions([0.2, 0.4, 0.2, 0.6]), questions([0.4, 0.8, 1.0, 0.8]), alone(*"0123"))
    assert rated.gain.p == 2 / 16
    groups = {str(n): str(n % 2) for n in range(20)}
    assert paired("right", questions([0.0] * 20), questions([1.0] * 20), groups).gain.p == 2 / 4


def test_what_is_unscored_is_in_no_mean() -> None:
    """It is counted, and what it could be worth at worst is stated; what does not apply is not there."""
    scores = [Score("1", "m", 0.4), Score("2", "m", None), Score("3", "m", None, applies=False), Score("4", "n", 1.0)]
    assert values(scores, "m") == {"1": 0.4, "2": None}
    got = paired("right", questions([0.0, 0.0, None, 1.0]), questions([1.0, None, 1.0, 1.0]), alone(*"0123"))
    assert (got.gain.questions, got.gain.difference, got.unscored) == (2, 0.5, 2)
    assert got.worst == pytest.approx((1 + 0 + 0 + 0) / 4)


def test_without_two_groups_there_is_no_test() -> None:
    """None, and no number that stands for it."""
    assert paired("right", questions([0.0]), questions([1.0]), alone("0")) is None
    assert paired("right", questions([None, None]), questions([1.0, 1.0]), alone("0", "1")) is None


def test_all_arms_are_corrected_together() -> None:
    """By Holm; an arm without a test is 1 and costs the others nothing."""
    got = adjusted({"a": found(0.3, 0.01), "b": found(0.1, 0.04), "c": None})
    assert got == {"a": holm([0.01, 0.04])[0], "b": holm([0.01, 0.04])[1], "c": 1.0}


@pytest.mark.parametrize(
    ("change", "p", "control", "because"),
    [
        (found(0.3), 0.004, Control(found(0.0, 1.0), 1.0, found(0.3)), ""),
        (found(0.3), 0.05, None, "not shown to be better on the held-out half (p = 0.05 after Holm)"),
        (found(-0.3), 0.001, None, "not shown to be better"),
        (found(0.0, 1.0), 1.0, None, "not shown to be better"),
        (found(0.3, unscored=20, worst=-0.1), 0.004, None, "its gain hangs on 20 questions"),
        (found(0.3, unscored=1, worst=0.2), 0.004, None, ""),
        (
            found(0.3),
            0.004,
            Control(found(0.3, 0.2), 0.4, found(0.0, 1.0)),
            "placebo does as well as far as can be told",
        ),
        (found(0.3), 0.004, Control(found(0.25), 0.01, found(0.05, 0.4)), "told (+25.0 points)"),
        (found(0.3), 0.004, Control(found(0.25), 0.01, found(0.05, 0.01)), ""),
        (found(0.3), 0.004, Control(found(0.25), 0.2, found(0.05, 0.4)), ""),
    ],
)
def test_a_change_is_kept_that_is_significantly_better_and_matched_by_nothing(
    change: Difference, p: float, control: Control | None, because: str
) -> None:
    """The level itself is not below the level, and a significant loss is no gain. A control matches with the same gain,
    or where it is better too and cannot be told apart."""
    kept, why = verdict(change, p, control)
    assert kept == (not because)
    assert (because or ("the placebo does not" if control else "no other lever")) in why


def test_how_many_questions_it_takes_is_told_beforehand() -> None:
    """Eight in one direction pass among four arms, seven do not."""
    assert needed(4) == 8
    assert 4 * mcnemar([False] * 8, [True] * 8).p < ALPHA <= 4 * mcnemar([False] * 7, [True] * 7).p


# The placebo.


SIMPLE: dict[str, Any] = {
    "embedder": {"use": "hashing"},
    "evaluator": {"use": "lexical"},
    "retriever": {"use": USE},
    "llm": {"use": "scripted", "replies": {}},
    "generator": {"use": "llm"},
}
CONFIG = read(SIMPLE)


@pytest.mark.parametrize("seed", range(4))
def test_a_random_lever_can_be_built_and_changes_as_many_settings(seed: int) -> None:
    """None that the chosen patch sets, and none to the value that is in effect; the same for a seed."""
    config = read(SIMPLE, {"thresholds": {"strip": 0.5}})
    chosen = {"pipeline": {"k": 5}, "refiner": {"size": 2}}
    patch = random_lever(config, 2, seed, chosen)
    assert size(patch) == 2
    assert tried(config, patch)
    for section, keys in patch.items():
        assert not keys.keys() & chosen.get(section, {}).keys()
        assert all(value != SystemSettings(config).now(f"{section}.{key}") for key, value in keys.items())
    assert patch == random_lever(config, 2, seed, chosen)


def test_levers_differ_by_seed_and_are_fewer_where_so_many_cannot_be_drawn() -> None:
    """None at all is an error."""
    config = read(SIMPLE, {"thresholds": {"strip": 0.5}})
    assert len({str(random_lever(config, 2, seed, {})) for seed in range(6)}) > 3
    levers: Levers = {("pipeline", "k"): (3,), ("index", "path"): ("x",)}
    assert random_lever(CONFIG, 2, 0, {}, levers=levers) == {"pipeline": {"k": 3}}
    with pytest.raises(UsageError, match="no random patch"):
        random_lever(CONFIG, 2, 0, {"pipeline": {"k": 3}}, levers=levers)


# What a trial costs, and brings.


@pytest.mark.parametrize(
    ("cost", "said"),
    [
        (Cost(50, 12.3, 0, 0), "about 12 s for 50 questions"),
        (
            Cost(50, 600.0, 100, 20_000),
            "about 10 min for 50 questions, 100 calls and 20,000 tokens of a language model",
        ),
        (None, "unknown"),
    ],
)
def test_the_cost_is_told_in_words(cost: Cost | None, said: str) -> None:
    """Time, questions, and what a model would be asked; gains in points, of which none is no zero."""
    assert expected(cost) == said
    assert (points(0.125), points(None), interval(None)) == ("+12.5", "–", "–")
