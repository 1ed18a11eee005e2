"""What is counted, and how sure one can be of it."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from surefoot.stats.figures import (
    RESAMPLES,
    Figure,
    Paired,
    Statistic,
    figure,
    match,
    match_lower,
    mcnemar,
    mean,
    replicates,
    resampled,
    roc_auc,
    wilson,
)
from surefoot.stats.groups import averaged, count, error, numbered, visible
from surefoot.stats.text import interval, number, percent


@pytest.mark.parametrize(
    ("answer", "golds", "exact", "lower"),
    [
        ("It was Tomas Aldwin.", ["Aldwin"], True, True),
        ("It was TOMAS ALDWIN.", ["Aldwin"], False, True),
        ("a politician", ["Politician", "statesman"], False, True),
        ("Bergen", ["Oslo", "Bergen"], True, True),
        ("Oslo", ["Bergen"], False, False),
        ("", ["Bergen"], False, False),
        ("Bergen", [], False, False),
        ("Bergen", ["", " "], False, False),
    ],
)
def test_an_alias_in_the_answer_is_a_match(answer: str, golds: list[str], exact: bool, lower: bool) -> None:
    """With its capitals, or without; a blank alias, which every text holds, is none."""
    assert match(answer, golds) is exact
    assert match_lower(answer, golds) is lower


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (8, 10, 0.4902, 0.9433),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (1, 1, 0.2065, 1.0),
        (50, 100, 0.4038, 0.5962),
        (81, 263, 0.2553, 0.3662),
    ],
)
def test_the_interval_is_wilsons(successes: int, trials: int, low: float, high: float) -> None:
    """Known values; the last is the example of Newcombe (1998), method 3."""
    assert wilson(successes, trials) == pytest.approx((low, high), abs=5e-5)


@settings(deadline=None)
@given(st.integers(1, 10_000).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials))))
def test_the_interval_holds_the_share(case: tuple[int, int]) -> None:
    """It lies in [0, 1] around the share, and is mirrored for the failures."""
    successes, trials = case
    assert wilson(0, 0) is None
    low, high = wilson(successes, trials) or (2.0, -1.0)
    assert 0 <= low <= successes / trials + 1e-12
    assert successes / trials - 1e-12 <= high <= 1
    assert wilson(trials - successes, trials) == pytest.approx((1 - high, 1 - low))


"""(score, label, how often it counts): few distinct scores, so that many are tied."""


def test_a_resample_draws_as_many_questions_as_there_are() -> None:
    """With replacement; the same draw for the same seed, another for another."""
    counts = resampled(40)
    assert counts.shape == (RESAMPLES, 40)
    assert set(counts.sum(axis=1)) == {40}
    assert counts.max() > 1
    assert (counts == resampled(40)).all()
    assert not (counts == resampled(40, [0, 1])).all()


def test_resamples_of_many_questions_take_little_memory() -> None:
    """Two bytes a question and resample; drawn all at once they would take eight times as much, thrice."""
    tracemalloc.start()
    try:
        counts = resampled(2000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert counts.nbytes == 2 * RESAMPLES * 2000
    assert peak < 1.5 * counts.nbytes


def test_a_question_is_drawn_with_all_its_items() -> None:
    """Ten alike items of one question are no ten observations: the interval is as wide as over questions."""
    values = np.arange(20) % 2
    alone, _ = figure(mean(values), resampled(20))
    tenfold, _ = figure(mean(np.repeat(values, 10), np.repeat(np.arange(20), 10)), resampled(20))
    assert (tenfold.low, tenfold.high, tenfold.of) == (alone.low, alone.high, 200)
    assert figure(mean(np.repeat(values, 10)), resampled(200))[0].low > alone.low + 0.1  # type: ignore[operator]


def test_the_interval_is_as_wide_as_theory_says() -> None:
    """Of the mean of 400 throws of a coin: 1.96 standard errors to each side, give or take a tenth. One question, whose
    resamples are all the same, has none."""
    alone, _ = figure(mean([0, 1, 1], np.zeros(3, dtype=np.int64)), resampled(1))
    assert alone == Figure(pytest.approx(2 / 3), None, None, 3)
    shown, _ = figure(mean(np.arange(400) % 2), resampled(400))
    assert shown.low == pytest.approx(0.5 - 1.96 * 0.025, abs=0.005)
    assert shown.high == pytest.approx(0.5 + 1.96 * 0.025, abs=0.005)


def test_a_figure_that_many_resamples_lack_has_no_interval() -> None:
    """With one relevant question of thirty, a third of the resamples have none; with ten, hardly any."""
    rare, drawn = figure(roc_auc(range(30), [0] * 29 + [1]), resampled(30))
    assert (rare.value, rare.low, rare.high) == (1.0, None, None)
    assert 0.3 < np.isnan(drawn).mean() < 0.4
    assert figure(roc_auc(range(30), [0] * 20 + [1] * 10), resampled(30))[0].low == 1.0


def test_only_what_one_of_two_has_right_tells_them_apart() -> None:
    """The p of an exact binomial test of one half: 2 of 37 is 1e-8, 5 of 16 is 0.21, as published elsewhere."""
    first, second = [1] * 35 + [0] * 2 + [1, 0] * 40, [0] * 35 + [1] * 2 + [1, 0] * 40
    assert mcnemar(first, second) == Paired(117, 35, 2, pytest.approx(1.024e-8, rel=1e-3))  # type: ignore[arg-type]
    assert mcnemar([1] * 11 + [0] * 5, [0] * 11 + [1] * 5).p == pytest.approx(0.2101, abs=1e-4)
    assert mcnemar([True, False], [False, True]).p == mcnemar([True], [True]).p == mcnemar([], []).p == 1


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40))
def test_it_does_not_matter_which_of_two_comes_first(pairs: list[tuple[bool, bool]]) -> None:
    """Two-sided; and the p is what counting all ways to fall says."""
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    one, other = mcnemar(first, second), mcnemar(second, first)
    assert (one.first, one.second, one.p) == (other.second, other.first, other.p)
    n = one.first + one.second
    ways = sum(math.comb(n, k) for k in range(n + 1) if abs(2 * k - n) >= abs(one.first - one.second))
    assert one.p == pytest.approx(ways / 2**n)


def test_many_resamples_are_worked_on_at_once() -> None:
    """Or an interval over ten thousand pairs would take a thousand rounds; the chunks change nothing."""
    statistic = roc_auc(np.arange(3000) % 7, np.arange(3000) % 3 == 0)
    counts = resampled(3000)[:100]
    assert (replicates(statistic, counts) == statistic.weighted(counts[:, statistic.questions].astype(float))).all()
    rounds: list[int] = []

    def weighted(weights: np.ndarray) -> np.ndarray:
        rounds.append(len(weights))
        return weights.sum(axis=1)

    items = np.arange(10_000)
    assert (replicates(Statistic(weighted, items // 10, ""), resampled(1000)) > 0).all()
    assert (sum(rounds), len(rounds) < 100) == (RESAMPLES, True)


# Means of records that come in groups, and how many records it takes.


def test_records_without_a_group_are_each_their_own() -> None:
    """Also one whose id is the name of another's group."""
    assert numbered(["a", "b", "g", "c", ""], {"a": "g", "c": "g", "b": ""}).tolist() == [0, 1, 2, 0, 3]


def test_of_no_records_there_is_no_mean() -> None:
    """And nothing is raised, nor a NaN given."""
    none = numbered([], {})
    assert (averaged([], none).value, averaged([], none).low) == (None, None)
    assert (error(np.zeros(0), none), visible(np.zeros(0), none)) == (None, None)


def test_the_error_of_independent_records_is_the_textbooks() -> None:
    """The standard deviation over the root of n."""
    values = np.array([0.1, 0.5, 0.3, 0.9, 0.2])
    assert error(values, np.arange(5)) == pytest.approx(values.std(ddof=1) / np.sqrt(5))


def test_copies_of_a_record_make_no_mean_surer() -> None:
    """Grouped with it they weigh nothing."""
    values = np.array([0.1, 0.5, 0.3, 0.9, 0.2])
    copied, numbers = np.tile(values, 10), np.tile(np.arange(5), 10)
    assert error(copied, numbers) == pytest.approx(error(values, np.arange(5)))
    assert count(numbers) == 5


def test_the_visible_difference_shows_four_times_in_five() -> None:
    """Simulated: 300 experiments with that difference. Where nothing differs it is None, not 0."""
    random = np.random.default_rng(2)
    seen = visible(random.normal(size=400), np.arange(400))
    drawn = random.normal(seen, 1.0, size=(300, 400))
    shown = np.abs(drawn.mean(axis=1)) > 1.96 * drawn.std(axis=1, ddof=1) / 20
    assert 0.72 < shown.mean() < 0.88
    assert visible(np.zeros(10), np.arange(10)) is None


# Figures are written in one way.


def test_a_share_is_written_in_per_cent() -> None:
    """To three digits, or to the places that are asked for."""
    assert [percent(share) for share in (None, 0.05, 0.125, 1 / 3)] == ["–", "5 %", "12.5 %", "33.3 %"]
    assert [percent(share, 0) for share in (0.0, 0.126, 1.0)] == ["0 %", "13 %", "100 %"]
    assert percent(1, 1) == "100.0 %"


def test_a_number_has_a_minus_that_is_one() -> None:
    """And a dash stands for none."""
    assert [number(value, "+.2f") for value in (-0.5, 0.25, None)] == ["−0.50", "+0.25", "–"]


def test_an_interval_has_both_ends() -> None:
    """Or is not known."""
    assert interval(-1.5, 2.0, ".3g") == "−1.5 to 2"
    assert interval(None, 1.0, ".1f") == interval(1.0, None, ".1f") == "–"
