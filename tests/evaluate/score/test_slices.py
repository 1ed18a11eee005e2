"""Means by tag beside the rest: worst first, and no alarm for what chance does among many."""

import numpy as np
import pytest

from surefoot.evaluate.score.slices import slices
from surefoot.types import Record, Score

METRICS = ("m",)


def tagged(values: list[float], names: list[str]) -> tuple[list[Record], list[Score]]:
    records = [Record(f"r{n}", "?", tags={"domain": name} if name else {}) for n, name in enumerate(names)]
    return records, [Score(f"r{n}", "m", value) for n, value in enumerate(values)]


def test_the_worst_slice_comes_first_with_the_mean_of_the_rest() -> None:
    """Records without the tag are in no slice of it, nor in the rest."""
    random = np.random.default_rng(0)
    values = [*random.normal(0.3, 0.05, 20), *random.normal(0.8, 0.05, 40), *[0.0] * 9]
    found = slices(*tagged(values, ["law"] * 20 + ["food"] * 40 + [""] * 9), {}, METRICS)
    assert [(one.value, one.of, one.worse) for one in found] == [("law", 20, True), ("food", 40, False)]
    assert found[0].mean == pytest.approx(np.mean(values[:20]))
    assert found[0].rest == pytest.approx(np.mean(values[20:60]))
    assert found[0].low < found[0].mean < found[0].high


def test_many_slices_of_one_kind_raise_no_alarm() -> None:
    """Some p is below 5 % by chance; after Holm's correction none is."""
    random = np.random.default_rng(4)
    names = [f"d{n % 40}" for n in range(400)]
    found = slices(*tagged(random.random(400).tolist(), names), {}, METRICS)
    assert len(found) == 40
    assert min(one.p for one in found) < 0.05
    assert not any(one.worse for one in found)


def test_groups_count_as_one_and_few_of_them_make_no_slice() -> None:
    """Twenty answers to two questions are two, of which nothing can be said."""
    records, scores = tagged([0.1] * 20 + [0.9, 0.8] * 20, ["law"] * 20 + ["food"] * 40)
    assert slices(records, scores, {}, METRICS)[0].worse
    assert slices(records, scores, {f"r{n}": f"g{n % 2}" for n in range(20)}, METRICS) == ()


def test_only_the_metrics_asked_for_are_sliced() -> None:
    """Each one more would be a look more."""
    records, scores = tagged([0.1, 0.2] * 10 + [0.9, 0.8] * 20, ["law"] * 20 + ["food"] * 40)
    assert slices(records, scores, {}, ("other",)) == ()


def test_a_tag_that_differs_from_record_to_record_makes_no_slices() -> None:
    """It would be a look for each of its values."""
    names = [f"page {n % 51}" for n in range(510)]
    assert slices(*tagged([0.5, 0.6] * 255, names), {}, METRICS) == ()
    assert slices(*tagged([0.5, 0.6] * 255, [name.replace("50", "49") for name in names]), {}, METRICS)


def test_equal_scores_are_not_tested() -> None:
    """No p where nothing differs; it is not called worse."""
    found = slices(*tagged([0.5] * 20, ["law", "food"] * 10), {}, METRICS)
    assert {(one.p, one.holm, one.worse) for one in found} == {(None, None, False)}
