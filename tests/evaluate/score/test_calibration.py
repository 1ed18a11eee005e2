"""Cuts that people's labels move: never wild, never on a record's own label, silent where the judge cannot tell."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from surefoot.evaluate.score.calibration import LEAST_OF_A_KIND, SHIPPED, WORDING, Calibration, calibrations, fitted
from surefoot.evaluate.score.correction import corrected_summaries
from surefoot.evaluate.score.labels import ANSWER, Label
from surefoot.types import Score

METRIC = "context_adherence"


def scores(values: list[float], metric: str = METRIC) -> list[Score]:
    return [Score(f"r{n}", metric, value) for n, value in enumerate(values)]


def labels(good: list[bool], metric: str = METRIC) -> list[Label]:
    return [Label(f"r{n}", metric, float(one), binary=True) for n, one in enumerate(good)]


def only(*found: Calibration) -> Calibration:
    (one,) = found
    return one


VALUES = [n / 99 for n in range(100)]
STRICT = [value > 0.8 for value in VALUES]
"""People who call an answer good from .8 on."""


def test_labels_move_the_cuts_to_where_people_draw_the_line() -> None:
    """Shipped, a score of .7 is right."""
    assert SHIPPED.verdict(0.7) == "right"
    one = only(*calibrations(scores(VALUES), labels(STRICT)))
    assert (one.labels, one.bad, one.because) == (100, 80, "")
    assert one.cuts.lost == pytest.approx(0.8, abs=0.05)
    assert one.cuts.right == pytest.approx(0.8, abs=0.05)
    assert one.cuts.low == pytest.approx(0.8, abs=0.05)
    assert one.of(Score("new", METRIC, 0.7)).verdict(0.7) == "lost"


def test_few_labels_leave_the_shipped_cuts() -> None:
    """So do many of one kind, and no label at all."""
    few = only(*calibrations(scores(VALUES), labels(STRICT)[70:88]))
    assert (few.cuts, few.of(Score("new", METRIC, 0.7))) == (None, SHIPPED)
    assert few.because == "18 labels, 10 of them bad, move no cut: it takes 20, 5 good and 5 bad ones among them"
    kind = only(*calibrations(scores(VALUES), labels([n >= LEAST_OF_A_KIND - 1 for n in range(100)])))
    assert kind.cuts is None
    assert calibrations(scores(VALUES), []) == ()


def test_a_judge_that_does_not_tell_decides_nothing() -> None:
    """Every score is undecided, and none is low; the reason is said."""
    random = np.random.default_rng(0)
    one = only(*calibrations(scores(random.random(50).tolist()), labels((random.random(50) > 0.5).tolist())))
    assert one.because == "its judge does not tell the good answers from the bad ones"
    cuts = one.of(Score("new", METRIC, 0.0))
    assert {cuts.verdict(value) for value in VALUES} == {"undecided"}
    assert (cuts.low, cuts.silent) == (None, True)


def test_a_judge_of_wording_decides_once_labels_show_that_it_can() -> None:
    """Answer relevancy of this machine is silent as shipped."""
    assert WORDING.silent
    metric = "answer_relevancy"
    one = only(*calibrations(scores(VALUES, metric), labels(STRICT, metric)))
    assert one.of(Score("new", metric, 0.1)).verdict(0.1) == "lost"


def test_no_record_is_judged_by_a_cut_fitted_on_its_own_label() -> None:
    """With the other label, its own cuts stay as they are; those of others change. A group stays together."""
    good = [value > 0.5 for value in VALUES[::2]]
    every = scores(VALUES[::2])
    before = only(*calibrations(every, labels(good)))
    after = only(*calibrations(every, labels([not good[0], *good[1:]])))
    assert after.of(every[0]) == before.of(every[0])
    assert after.cuts != before.cuts
    groups = {f"r{n}": f"g{n // 2}" for n in range(50)}
    fold = only(*calibrations(every, labels(good), groups)).fold
    assert all(fold[f"r{n}"] == fold[f"r{n + 1}"] for n in range(0, 50, 2))
    assert len({*fold.values()}) == 5


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=60))
def test_a_higher_score_never_has_the_worse_verdict(judged: list[tuple[float, bool]]) -> None:
    """Whatever people said, and the cuts lie within the scores' range."""
    values, good = np.array([value for value, _ in judged]), np.array([one for _, one in judged])
    cuts = fitted(values, good, values)
    rank = {"lost": 0, "undecided": 1, "right": 2}
    verdicts = [rank[cuts.verdict(value)] for value in VALUES]
    assert verdicts == sorted(verdicts)
    assert all(0 <= cut <= 1 for cut in (cuts.lost, cuts.right, cuts.low) if cut is not None)


def test_labels_of_the_whole_answer_serve_the_metrics_that_decide() -> None:
    """Where these have none of their own; they correct no metric's mean."""
    every = [*scores(VALUES), *scores(VALUES, "context_recall")]
    assert [one.metric for one in calibrations(every, labels(STRICT, ANSWER))] == [METRIC]
    both = only(*calibrations(every, [*labels(STRICT, ANSWER), *labels([value > 0.3 for value in VALUES])]))
    assert both.cuts.lost == pytest.approx(0.3, abs=0.05)
    assert not any(one.corrected for one in corrected_summaries(every, labels(STRICT, ANSWER), {}))


def test_the_mean_of_a_labelled_metric_is_as_people_would_have_it() -> None:
    """With its interval in [0, 1] and its level; fewer labels than an interval takes leave the judge's."""
    one, other = corrected_summaries(
        [*scores([0.9] * 40), *scores([0.9] * 40, "m")], labels([False] * 3 + [True] * 9), {}
    )
    assert (one.mean, one.corrected, one.level) == (pytest.approx(0.75), 12, "moderate")
    assert 0 <= one.low < 0.75 < one.high <= 1
    assert (other.mean, other.corrected) == (pytest.approx(0.9), 0)
    (few,) = corrected_summaries(scores([0.9] * 40), labels([False] * 3), {})
    assert (few.mean, few.corrected) == (pytest.approx(0.9), 0)


def test_cuts_that_decide_nothing_are_said() -> None:
    """In the sentence that the terminal and the page show."""
    assert "lost up to 0.8" in only(*calibrations(scores(VALUES), labels(STRICT))).text
    flat = only(*calibrations(scores(VALUES), labels([n % 3 == 0 for n in range(100)])))
    assert flat.text == f"{METRIC}: its judge does not tell the good answers from the bad ones."
