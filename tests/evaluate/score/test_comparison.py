"""Two evaluations on the records that both have, and the gate."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from surefoot.evaluate.records.folder import Evaluated
from surefoot.evaluate.score.comparison import FLIPS, Comparison, MetricChange, compared, flipped, gate
from surefoot.evaluate.score.summaries import summaries
from surefoot.run.store import to_json
from surefoot.stats.figures import mcnemar
from surefoot.types import Record, Score, Summary
from surefoot.types.errors import UsageError

Values = Mapping[str, Sequence[float | None]]


def run(values: Values, group: int = 1, judge: str = "j", **others: Any) -> Evaluated:
    """Records r0, r1, …, so many in a group, with their scores; None: unscored."""
    length = max(map(len, values.values()))
    records = [Record(f"r{n}", f"question {n}?", group="" if group == 1 else f"g{n // group}") for n in range(length)]
    scores = [Score(f"r{n}", metric, one, judge=judge) for metric, all in values.items() for n, one in enumerate(all)]
    return Evaluated({}, others.get("records", tuple(records)), tuple(scores))


def pair(first: Evaluated, second: Evaluated) -> Comparison:
    (found,) = compared(first, second)
    return found


def only(first: Evaluated, second: Evaluated) -> MetricChange:
    (change,) = pair(first, second).changes
    return change


def test_the_difference_is_over_records_that_both_scored() -> None:
    """What only one scored is named, and is in neither mean; a metric that only one has is in the table, untested."""
    alone = pair(run({"m": [0.2, 0.4]}), run({"f": [0.2, 0.4]})).changes
    nothing = [(name, 0, None, None, None) for name in "fm"]
    assert [(one.metric, one.of, one.difference, one.p, one.holm) for one in alone] == nothing
    change = only(run({"m": [0.2, 0.4, None, 1.0]}), run({"m": [0.4, 0.8, 0.6, None]}))
    assert (change.of, change.only_first, change.only_second) == (2, ("r3",), ("r2",))
    assert (change.before, change.after, change.difference) == pytest.approx((0.3, 0.6, 0.3))


def test_records_are_the_same_by_id_and_question() -> None:
    """An id that names another question is compared in nothing; records of one run only are named."""
    mine = Record("r0", "question 0?"), Record("r1", "question 1?"), Record("a", "A?")
    theirs = Record("r0", "question 0?"), Record("r1", "another?"), Record("b", "B?")
    first, second = run({"m": [0.2, 0.4]}, records=mine), run({"m": [0.6, 0.4]}, records=theirs)
    found = pair(first, second)
    assert (found.records, found.only_first, found.only_second, found.unlike) == (1, ("a",), ("b",), ("r1",))
    assert found.changes[0].of == 1


def test_two_valued_scores_are_tested_by_mcnemar_and_others_by_sign_flips() -> None:
    """Exactly, where records stand for themselves; in groups McNemar's test would find four times the evidence. Of five
    differences that all rise, one flip in sixteen adds up to as much. Where nothing changed p is 1, and no difference
    is visible."""
    first, second = [0.0] * 8 + [1.0] * 4, [1.0] * 8 + [0.0] + [1.0] * 3
    change = only(run({"m": first}), run({"m": second}))
    assert (change.test, change.p) == ("McNemar", mcnemar([x == 1 for x in first], [x == 1 for x in second]).p)
    grouped = only(run({"m": [0.0] * 16}, group=4), run({"m": [1.0] * 16}, group=4))
    assert (grouped.test, grouped.groups, grouped.p) == ("sign flips", 4, 2 / 2**4)
    same = run({"m": [0.2, 0.4, 0.6]})
    assert (only(same, same).p, only(same, same).difference, only(same, same).visible) == (1.0, 0.0, None)
    change = only(run({"m": [0.2, 0.2, 0.4, 0.4, 0.6]}), run({"m": [0.4, 0.8, 0.6, 1.0, 1.0]}))
    assert (change.test, change.p) == ("sign flips", 2 / 2**5)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=13))
def test_sign_flips_are_mcnemars_test_on_two_values(pairs: list[tuple[bool, bool]]) -> None:
    """The one is the other in closed form."""
    gaps = np.array([float(after) - float(before) for before, after in pairs])
    exact = mcnemar([one for one, _ in pairs], [two for _, two in pairs]).p
    assert flipped(gaps, np.arange(len(gaps))) == pytest.approx(exact)


def test_many_groups_are_flipped_by_lot() -> None:
    """The lots come near the exact value, are the same each time, and never give a p of 0."""
    gaps = np.array([1.0] * 15 + [-1.0] * 5)
    exact = mcnemar([False] * 15 + [True] * 5, [True] * 15 + [False] * 5).p
    assert flipped(gaps, np.arange(20)) == pytest.approx(exact, abs=0.01)
    assert flipped(gaps, np.arange(20)) == flipped(gaps, np.arange(20))
    assert flipped(np.ones(60), np.arange(60)) == 1 / (1 + FLIPS)


def test_p_values_are_corrected_over_all_metrics() -> None:
    """Holm: the smallest of three times three, and no p after it smaller."""
    low, high = [0.2] * 6, [0.4, 0.8, 0.6, 1.0, 0.4, 0.6]
    mixed = [0.4, 0.2, 0.2, 0.0, 0.4, 0.6]
    found = pair(run({"a": low, "b": low, "c": low}), run({"a": high, "b": low, "c": mixed})).changes
    assert found[0].holm == pytest.approx(3 * found[0].p)
    assert found[1].holm == 1.0


def test_p_values_are_corrected_over_all_runs_beside_the_first() -> None:
    """Two runs of one metric are two looks."""
    low, high, mixed = [0.2] * 6, [0.4, 0.8, 0.6, 1.0, 0.4, 0.6], [0.4, 0.2, 0.2, 0.0, 0.4, 0.6]
    better, like = compared(run({"m": low}), run({"m": high}), run({"m": mixed}))
    assert better.changes[0].holm == pytest.approx(2 * better.changes[0].p)
    assert better.changes[0].p < like.changes[0].p == like.changes[0].holm


def test_the_interval_holds_the_difference_and_swaps_sign_with_the_runs() -> None:
    """Paired, from one set of resamples."""
    random = np.random.default_rng(4)
    one = run({"m": random.random(40).tolist()}, group=2)
    two = run({"m": random.random(40).tolist()}, group=2)
    there, back = only(one, two), only(two, one)
    assert there.low < there.difference < there.high
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low))


def test_what_changed_most_is_named() -> None:
    """The worst fall and the greatest rise first; what stayed is in neither. So is another judge."""
    values = {"m": [0.2, 0.4]}
    assert only(run(values, judge="a"), run(values, judge="b")).judges == ("a", "b")
    assert only(run(values, judge="a"), run(values, judge="a")).judges == ()
    found = pair(run({"m": [0.4, 1.0, 0.2, 0.2, 0.6]}), run({"m": [0.2, 0.2, 0.4, 1.0, 0.6]}))
    assert [one.record_id for one in found.fell] == ["r1", "r0"]
    assert [one.record_id for one in found.rose] == ["r3", "r2"]


@settings(max_examples=30)
@given(st.lists(st.tuples(st.none() | st.floats(0, 1), st.none() | st.floats(0, 1)), min_size=1, max_size=20))
def test_any_comparison_is_json_without_nan(values: list[tuple[float | None, float | None]]) -> None:
    """Whatever is missing on whichever side."""
    found = pair(run({"m": [one for one, _ in values]}), run({"m": [two for _, two in values]}))
    json.dumps(to_json(found), allow_nan=False)
    assert found.changes[0].p is None or 0 < found.changes[0].p <= 1


def summed(**values: Sequence[float | None]) -> tuple[Summary, ...]:
    return summaries(run(values).scores, {})


GOOD = summed(context_adherence=[0.8, 1.0] * 10, context_recall=[0.6] * 9 + [None])


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("context_adherence.mean>=0.9", True),
        ("adherence.mean >= 0.9", True),
        ("adherence.mean>0.9", False),
        ("adherence.low>=.9", False),
        ("adherence.high≥.9", True),
        ("recall.low>=0.6", True),
        ("recall.mean>=0.7", False),
        ("recall.unscored<=0.1", True),
        ("recall.unscored≤0.05", False),
        ("recall.coverage>0.89", True),
        ("recall.scored>=9", True),
        ("recall.least>=0.54", True),
        ("recall.most<0.6", False),
        ("recall.smallest>=0.6", True),
        ("recall.largest<=0.6", True),
    ],
)
def test_a_condition_is_held_against_its_figure(condition: str, kept: bool) -> None:
    """Of the metric whose name, or last word, it gives; a limit that is reached on paper is reached. Without a figure
    the harder end of the interval counts."""
    check, least, most = gate([condition, "adherence>=0.8", "adherence<=0.8"], GOOD)
    assert check.kept is kept
    assert (least.figure, most.figure) == ("low", "high")


def test_a_condition_without_a_metric_is_held_against_each() -> None:
    """But for those that apply to no record."""
    nowhere = summaries([Score("r0", "factuality", None, applies=False)], {})
    checks = gate(["unscored<=0.02"], [*GOOD, *nowhere])
    assert [(one.metric, one.kept) for one in checks] == [("context_adherence", True), ("context_recall", False)]


@pytest.mark.parametrize(
    ("condition", "because"),
    [
        ("faithfulness.mean>=0.5", "no metric 'faithfulness'; there are: answer_relevancy, context_adherence"),
        ("relevancy.mean>=0.5", "could be any of: answer_relevancy, context_relevancy"),
        ("context_recall.mean>=0.5", "no record is scored"),
        ("context_adherence.low>=0.5", "fewer than two groups"),
        ("factuality.mean>=0.5", "it applies to no record"),
    ],
)
def test_what_cannot_be_checked_is_neither_kept_nor_broken(condition: str, because: str) -> None:
    """It says why."""
    values: Values = {"context_adherence": [1.0], "answer_relevancy": [1.0], "context_relevancy": [1.0]}
    found = summaries(run({**values, "context_recall": [None]}).scores, {})
    nowhere = summaries([Score("r0", "factuality", None, applies=False)], {})
    (check,) = gate([condition], [*found, *nowhere])
    assert (check.kept, check.value) == (None, None)
    assert because in check.because


@pytest.mark.parametrize(
    "condition", ["adherence", "adherence.low>=", ">=0.8", "adherence.low=>0.8", "a.low>=0.8 or b"]
)
def test_what_is_no_condition_is_refused(condition: str) -> None:
    """With how one is written."""
    with pytest.raises(UsageError, match="is no condition; write METRIC"):
        gate([condition], GOOD)
