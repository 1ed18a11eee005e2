"""How far a judge agrees with people."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from surefoot.evaluate.score.agreement import Agreement, agreed, krippendorff, missing, people_agreed
from surefoot.evaluate.score.correction import LEAST, corrected, corrections
from surefoot.evaluate.score.labels import Label, labelled
from surefoot.stats.figures import Floats
from surefoot.types import Score
from surefoot.types.errors import UsageError


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


def two(first: list[float], second: list[float]) -> list[Label]:
    """The labels of Ada and of Bo, on r0, r1, …"""
    return [replace(one, by=name) for name, mine in (("Ada", first), ("Bo", second)) for one in said(*mine)]


def test_two_people_are_held_against_each_other() -> None:
    """The share on which both say the same, and Krippendorff's alpha with its interval; one label is in neither."""
    (one,) = people_agreed([*two([1, 2, 3, 5, 5], [1, 2, 3, 5, 4]), Label("r9", "m", 0.5, by="Ada")])
    assert (one.people, one.of, one.same, one.labels) == (("Ada", "Bo"), 5, 0.8, "ratings")
    assert one.alpha.low <= one.alpha.value <= one.alpha.high <= 1
    assert people_agreed(said(1, 2, 3)) == ()


def test_a_person_who_labels_twice_counts_once() -> None:
    """By the last label."""
    (one,) = people_agreed([*two([1, 5], [1, 5]), replace(said(1)[0], share=1.0, by="Ada")])
    assert one.same == 0.5


def test_alpha_is_krippendorffs() -> None:
    """His example of four observers (2011), with gaps; of yes and no it is the nominal one. Labels that are all the
    same have none."""
    rows = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
    units = [[int(row[n]) for row in rows if row[n] != "."] for n in range(12)]
    assert krippendorff([unit for unit in units if len(unit) > 1]).value == pytest.approx(0.849, abs=0.0005)
    nominal = [(0, 1), (1, 1), (0, 1), (0, 0), (0, 0), (0, 1), (0, 0), (0, 0), (1, 0), (0, 0)]
    assert krippendorff(nominal).value == pytest.approx(0.095, abs=0.0005)
    assert krippendorff([(1, 1), (1, 1)]).value is None


# What people said of records, read from files.


def read(folder: Path, *lines: str, name: str = "labels.jsonl", **options: Any) -> list[Label]:
    (folder / name).write_text("\n".join(lines) + "\n")
    return list(labelled(folder / name, **options))


M = {"metric": "m"}
YES_AND_NO = [Label("a", "m", 1.0, binary=True), Label("b", "m", 0.0, binary=True)]


@pytest.mark.parametrize(
    ("lines", "options", "expected"),
    [
        (['{"id": 7, "metric": "m", "label": 5, "group": "q7"}'], {}, [Label("7", "m", 1.0, group="q7")]),
        (['{"id": "a", "rating": 1}', '{"id": "b", "rating": 4}'], M, [Label("a", "m", 0.0), Label("b", "m", 0.75)]),
        (['{"id": "a", "label": 5, "by": "Ada"}'], M, [Label("a", "m", 1.0, by="Ada")]),
        (['{"id": "a", "label": 5, "labeller": "Bo"}'], M, [Label("a", "m", 1.0, by="Bo")]),
        (['{"id": "a", "label": 2}'], M | {"scale": (1, 4)}, [Label("a", "m", pytest.approx(1 / 3))]),
        (['{"id": "a", "label": 0}'], M | {"scale": (0, 1)}, [Label("a", "m", 0.0)]),
        (['{"id": "a", "label": true}', '{"id": "b", "label": false}'], M, YES_AND_NO),
        (['{"id": "a", "label": 1}', '{"id": "b", "label": 0}'], M, YES_AND_NO),
        (["id,metric,label,domain", "a,m,TRUE,law", "b,m,false,", "c,m,,law"], {"name": "labels.csv"}, YES_AND_NO),
    ],
)
def test_a_label_lies_on_its_scale(tmp_path: Path, lines: list[str], options: Any, expected: list[Label]) -> None:
    """From 1 to 5, or as is said. Truth values are yes and no; so are 0 and 1 where there is a 0, which no rating is.
    The group is kept, a number may be an id, and an empty cell of a table says nothing."""
    assert read(tmp_path, *lines, **options) == expected


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": "a", "rating": 7, "metric": "m"}', "7 does not lie between 1 and 5; give the scale"),
        ('{"id": "a", "rating": "good", "metric": "m"}', "line 1: the label 'good' is no number"),
        ('{"id": "a", "rating": 1' + "0" * 400 + ', "metric": "m"}', "line 1: the label '1000"),
        ('{"id": "a", "rating": NaN, "metric": "m"}', "no line has label or rating or value"),
        ('{"id": "a", "rating": 3}', "names no metric; give it with --metric"),
        ('{"rating": 3, "metric": "m"}', "has no id"),
        ('{"id": "a"}', "no line has label or rating or value"),
    ],
)
def test_what_is_no_label_is_refused(tmp_path: Path, line: str, said: str) -> None:
    """In one line that says where and what to do."""
    with pytest.raises(UsageError, match=said):
        read(tmp_path, line)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Of either kind."""
    for name in ("none.csv", "none.jsonl"):
        with pytest.raises(UsageError, match=f"{name} cannot be read"):
            labelled(tmp_path / name)


# A judge's mean, corrected by what people say of a few records.


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
