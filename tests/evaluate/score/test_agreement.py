"""How far a judge agrees with people."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from surefoot.evaluate.score.agreement import Agreement, agreed, missing, tau_b
from surefoot.evaluate.score.labels import Label
from surefoot.types import Score


def rated(*ratings: int | None, judge: str = "j") -> list[Score]:
    return [Score(f"r{n}", "m", one and one / 5, one, judge=judge) for n, one in enumerate(ratings)]


def valued(*values: float | None) -> list[Score]:
    return [Score(f"r{n}", "m", one) for n, one in enumerate(values)]


def said(*ratings: float) -> list[Label]:
    return [Label(f"r{n}", "m", (one - 1) / 4) for n, one in enumerate(ratings)]


def yes(*labels: bool) -> list[Label]:
    return [Label(f"r{n}", "m", float(one), binary=True) for n, one in enumerate(labels)]


def only(*found: Agreement) -> Agreement:
    (one,) = found
    return one


def figures(one: Agreement) -> dict[str, float | None]:
    return {name: figure.value for name, figure in one.figures.items()}


def test_ratings_have_tau_and_an_error_and_yes_and_no_are_ranked() -> None:
    """A judge that says what people say agrees wholly; of a yes and a no three of four pairs are in order. Without
    ratings a value v counts as 1 + 4·v, and that is said: .5 is the middle of the scale, where a rating of 3 is .6."""
    same = only(*agreed(rated(1, 2, 3, 5, 5), said(1, 2, 3, 5, 5)))
    assert figures(same) == pytest.approx({"tau_b": 1, "nmae": 0})
    assert (same.rated, same.labels, same.of, same.groups) == (True, "ratings", 5, 5)
    binary = only(*agreed(valued(0.1, 0.6, 0.5, 0.9), yes(False, False, True, True)))
    assert (binary.labels, figures(binary)["auc"], "nmae" in binary.figures) == ("yes and no", 0.75, False)
    found = only(*agreed(valued(0.0, 0.5, 1.0), said(1, 3, 5)))
    assert (found.rated, figures(found)["nmae"]) == (False, 0.0)


def test_every_figure_has_an_interval_over_groups() -> None:
    """Copies of ten records make it no narrower when they are grouped."""
    random = np.random.default_rng(0)
    people = random.integers(1, 6, size=10).tolist() * 8
    judge = [min(5, max(1, one + int(random.integers(-2, 3)))) for one in people[:10]] * 8
    groups = {f"r{n}": f"g{n % 10}" for n in range(80)}
    alone, grouped = only(*agreed(rated(*judge), said(*people))), only(*agreed(rated(*judge), said(*people), groups))
    assert (alone.groups, grouped.groups) == (80, 10)
    for name in ("tau_b", "nmae"):
        one, two = alone.figures[name], grouped.figures[name]
        assert one.value == two.value
        assert one.low is not None
        assert one.high is not None
        assert two.low is not None
        assert two.high is not None
        assert two.low < one.low < one.high < two.high


def test_labels_without_a_score_are_counted() -> None:
    """Of records and of metrics that nobody judged; what the judge left unscored is in no figure."""
    unscored = only(*agreed(rated(1, None, 5), said(1, 5, 5)))
    assert (unscored.of, unscored.unscored, figures(unscored)["nmae"]) == (2, 1, 0.0)
    labels = [*said(1, 2, 3), Label("r0", "f", 1.0)]
    assert missing(rated(1, 2), labels) == {"m": 1, "f": 1}
    assert only(*agreed(rated(1, 2), labels)).of == 2


def test_several_ratings_of_a_record_count_as_their_mean() -> None:
    """A record weighs no more for having been rated twice; several judges are held each against all labels."""
    several = agreed([*rated(1, 2, judge="a"), *rated(2, 1, judge="b")], said(1, 2))
    assert [(one.judge, one.figures["tau_b"].value) for one in several] == [("a", 1.0), ("b", -1.0)]
    found = only(*agreed(rated(3, 5), [*said(2, 5), Label("r0", "m", 0.75)]))
    assert (found.of, figures(found)["nmae"]) == (2, 0.0)


def test_a_figure_that_is_not_defined_says_why() -> None:
    """Never NaN: a judge that always says the same ranks nothing."""
    found = only(*agreed(rated(4, 4, 4), said(1, 2, 3)))
    assert (found.figures["tau_b"].value, found.figures["tau_b"].undefined) == (None, "all are tied")
    assert found.figures["nmae"].value == pytest.approx((3 + 2 + 1) / 3 / 4)


RATINGS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=25)


@settings(max_examples=50)
@given(RATINGS)
def test_agreement_lies_between_its_ends_and_is_mutual(pairs: list[tuple[int, int]]) -> None:
    """In [-1, 1], whoever of the two is called the judge; turned round, a ranking agrees as much the other way."""
    one, two = np.array(pairs, dtype=float).T
    there, back, turned = tau_b(one, two).value, tau_b(two, one).value, tau_b(-one, two).value
    if there is None:
        assert back is turned is None
        return
    assert -1 - 1e-9 <= there <= 1 + 1e-9
    assert (back, turned) == pytest.approx((there, -there))
