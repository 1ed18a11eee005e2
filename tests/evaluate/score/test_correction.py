"""A judge's mean, corrected by what people say of a few records."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.evaluate.score.correction import LEAST, corrected, corrections
from surefoot.evaluate.score.labels import Label
from surefoot.stats.figures import Floats
from surefoot.types import Score


def experiment(random: np.random.Generator, few: int, many: int, noise: float) -> tuple[Floats, Floats, Floats]:
    """Seven of ten answers are right; the judge is too kind by .3 where they are not, and unsure."""
    right = (random.random(few + many) < 0.7).astype(float)
    judged = np.clip(0.3 + 0.6 * right + random.normal(0, noise, few + many), 0, 1)
    return right[:few], judged[:few], judged[few:]


@pytest.mark.parametrize("noise", [0.2, 1.0])
@pytest.mark.parametrize("weight", [0.0, 1.0, None])
def test_the_interval_holds_what_people_would_say(noise: float, weight: float | None) -> None:
    """In about 95 of 100 experiments with 30 labels, whether the judge is good or bad, and however it is weighted."""
    random = np.random.default_rng(5)
    estimates = [corrected(*experiment(random, 30, 300, noise), np.arange(330), weight)[0] for _ in range(400)]
    held = np.mean([(one.low or 0) <= 0.7 <= (one.high or 0) for one in estimates])
    assert 0.915 <= held <= 0.985


def test_the_interval_holds_for_groups() -> None:
    """Fifteen groups of five labels each: taken for 75 single ones, they would hold it in fewer than 85 of 100."""
    random = np.random.default_rng(6)
    held = []
    for _ in range(300):
        numbers = np.repeat(np.arange(60), 5)
        people = 0.5 + random.normal(0, 0.2, 60)[numbers] + random.normal(0, 0.2, 300)
        judged = 0.8 * people + random.normal(0, 0.15, 300)
        one = corrected(people[:75], judged[:75], judged[75:], numbers)[0]
        held.append((one.low or 0) <= 0.5 <= (one.high or 0))
    assert 0.91 <= np.mean(held) <= 0.99


def widths(noise: float) -> list[float]:
    """Of the mean of the labels, of plain correction, and of the weighted one; over 40 experiments."""
    random, found = np.random.default_rng(7), np.zeros(3)
    for _ in range(40):
        given = experiment(random, 60, 600, noise)
        several = [corrected(*given, np.arange(660), weight)[0] for weight in (0.0, 1.0, None)]
        found += [(one.high or 0) - (one.low or 0) for one in several]
    return list(found / 40)


def test_a_good_judge_narrows_the_interval() -> None:
    """By more than a fourth; a bad one does not widen it: where plain correction does, the weight turns to the labels.
    One that says the opposite has no weight."""
    people, _, both = widths(0.2)
    assert both < 0.75 * people
    people, plain, both = widths(1.0)
    assert plain > 1.1 * people
    assert both < 1.01 * people
    truth = np.array([0.0, 1.0] * 10)
    assert corrected(truth, 1 - truth, truth[:8], np.arange(28))[1] == 0.0


def test_a_weight_of_one_is_plain_prediction_powered_inference() -> None:
    """The judge's mean over the rest, and what it is off by where there are labels."""
    people, judged, others = experiment(np.random.default_rng(8), 20, 100, 0.2)
    one, weight = corrected(people, judged, others, np.arange(120), 1.0)
    assert (one.value, weight) == (pytest.approx(others.mean() + (people - judged).mean()), 1.0)
    half = 2.093 * np.sqrt((people - judged).var() / 19 + others.var() / 100 * 20 / 19)
    assert one.high == pytest.approx(one.value + half, abs=1e-4)


def test_without_other_records_it_is_the_mean_of_the_labels() -> None:
    """With Student's interval."""
    people = np.array([0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0])
    one, weight = corrected(people, people, np.zeros(0), np.arange(7))
    assert (one.value, weight) == (pytest.approx(5 / 7), 0.0)
    assert one.high == pytest.approx(5 / 7 + 2.4469 * people.std(ddof=1) / np.sqrt(7), abs=1e-3)


def test_too_few_groups_have_no_interval() -> None:
    """The mean is given all the same."""
    people = np.ones(LEAST - 1)
    one, _ = corrected(people, people, np.zeros(3), np.arange(LEAST + 2))
    assert (one.low, one.high) == (None, None)
    enough, _ = corrected(np.ones(LEAST), np.ones(LEAST), np.zeros(3), np.arange(LEAST + 3))
    assert enough.low is not None


def scores(*values: float | None, rating: bool = False) -> list[Score]:
    return [Score(f"r{n}", "m", one, round(5 * one) if rating and one else None) for n, one in enumerate(values)]


def test_labels_are_put_into_the_unit_of_the_judge() -> None:
    """A rating of 3 is .6 of a judge that rates, and .5 of one that does not; of yes and no it is the share of yes."""
    binary = [Label(f"r{n}", "m", float(n > 0), binary=True) for n in range(4)]
    (found,) = corrections(scores(0.2, 0.6, 0.8, 1.0, 1.0, rating=True), binary)
    assert found.people.value == 0.75
    labels = [Label(f"r{n}", "m", 0.5) for n in range(2)]
    (rated,) = corrections(scores(0.6, 0.6, 1.0, rating=True), labels)
    (plain,) = corrections(scores(0.6, 0.6, 1.0), labels)
    assert (rated.people.value, plain.people.value) == (pytest.approx(0.6), 0.5)
    assert (rated.labels, rated.records, rated.judged) == (2, 3, pytest.approx(2.2 / 3))


def test_groups_count_whoever_says_them() -> None:
    """Eight labels in two groups are too few for an interval, whether the records say so or the labels."""
    labels = [Label(f"r{n}", "m", n / 10) for n in range(8)]
    values = scores(*[n / 10 for n in range(10)])
    halves = [Label(one.record_id, "m", one.share, group=f"g{n % 2}") for n, one in enumerate(labels)]
    (alone,), (told,) = corrections(values, labels), corrections(values, halves)
    (known,) = corrections(values, labels, {f"r{n}": f"g{n % 2}" for n in range(8)})
    assert alone.people.low is not None
    assert (told.people.low, known.people.low) == (None, None)


def test_a_record_that_the_judge_left_unscored_helps_nobody() -> None:
    """It is neither among the labels nor among the records."""
    labels = [Label(f"r{n}", "m", 0.5) for n in range(3)]
    (found,) = corrections(scores(0.6, None, 0.4, None, 0.8), labels)
    assert (found.labels, found.records) == (2, 3)
    assert corrections(scores(None), labels[:1]) == ()
