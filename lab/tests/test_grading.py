"""An evaluator is measured against labels: pairs, questions and decisions, with nothing left out in silence."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from surefoot.run import meter
from surefoot.stats.figures import Figure
from surefoot.types import Grade, Passage, Thresholds
from surefoot.types.errors import ComponentError, ConfigError, ModelError
from surefoot.types.protocols import Pair
from surefoot_lab.datasets.pairs import LabelledPair, LabelledSet
from surefoot_lab.grading import CALL, GradingReport, graded, run

OWN = Thresholds(upper=0.5, lower=0.2, strip=0.2, evaluator="reader")


class Reader:
    """Reads its scores off the passages: "0.7", "0.7 0.9" with a probability, "?" for what it cannot grade."""

    name = "reader"
    thresholds = OWN

    def __init__(self) -> None:
        self.batches: list[int] = []

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """One grade a pair; "!" breaks the batch."""
        self.batches.append(len(pairs))
        meter.count(calls=1, prompt_tokens=8, completion_tokens=2)
        meter.degrade("asked twice")
        if any(passage.text == "!" for _, passage in pairs):
            raise ModelError("out of memory")
        return tuple(self._grade(passage) for _, passage in pairs)

    def _grade(self, passage: Passage) -> Grade:
        if passage.text == "?":
            return Grade(passage.id, None, reason="no words")
        score, _, probability = passage.text.partition(" ")
        return Grade(passage.id, float(score), float(probability) if probability else None)


def labelled(*questions: str, name: str = "some/file.jsonl", **more: Any) -> LabelledSet:
    """A file of questions such as "0.9+ 0.1-": passages as `Reader` reads them (_ for a space), each with its label."""
    pairs = [
        LabelledPair(f"q{n}", f"Who {n}?", Passage(f"{n}-{i}", word[:-1].replace("_", " ")), int(word[-1] == "+"))
        for n, words in enumerate(questions)
        for i, word in enumerate(words.split())
    ]
    return LabelledSet(name, **{"sha256": "0123456789abcdef", "pairs": tuple(pairs), "unlabelled": 0, **more})


def silent(done: int, total: int) -> None:
    """For who need not know."""


def measured(file: LabelledSet, thresholds: Thresholds | None = None) -> GradingReport:
    (report,) = run(Reader(), [file], silent, thresholds)
    return report


FILE = labelled("0.9_0.9+ 0.6_0.4- 0.1_0.1-", "0.3_0.4- 0.3_0.6+", "0.1_0.2-", "0.55_0.7-", unlabelled=3)


@pytest.fixture(scope="module")
def figures() -> GradingReport:
    """Four questions: right, unsure, rightly given up, and wrongly believed."""
    return measured(FILE)


def test_pairs_are_ranked_by_score(figures: GradingReport) -> None:
    """Over all questions together: 0.9+ 0.6- 0.55- 0.3+ 0.3- 0.1- 0.1-."""
    assert figures.figures["ROC-AUC"].value == pytest.approx((5 + 2.5) / 10)
    assert figures.figures["average precision"].value == pytest.approx((1 + 2 / 5) / 2)
    assert figures.figures["ROC-AUC"].of == 7


def test_accuracy_is_taken_at_the_threshold_and_at_one_half(figures: GradingReport) -> None:
    """A score of τ+ or more says relevant; so does a probability of one half or more."""
    assert figures.figures["accuracy at τ+"].value == pytest.approx(4 / 7)
    assert figures.figures["at probability .5"].value == pytest.approx(6 / 7)
    on_it = measured(labelled("0.5_0.5+ 0.1_0.1-"))
    assert (on_it.figures["accuracy at τ+"].value, on_it.figures["at probability .5"].value) == (1, 1)


def test_a_question_counts_by_its_best_score(figures: GradingReport) -> None:
    """Bests 0.9+ 0.3+ 0.1- 0.55-: three of four pairs of questions are in order."""
    assert (figures.figures["question AUC"].value, figures.figures["question AUC"].of) == (0.75, 4)
    every = measured(labelled("0.9+", "0.1+")).figures["question AUC"]
    assert (every.value, every.undefined) == (None, "it takes both labels, and 2 of 2 are positive")


class Pointer(Reader):
    """Points at the words from the first capital on, in passages that have one."""

    def _grade(self, passage: Passage) -> Grade:
        start = next((i for i, letter in enumerate(passage.text) if letter.isupper()), None)
        return Grade(passage.id, 0.5, span=None if start is None else (start, len(passage.text)))


def answered(*texts: str, answers: tuple[str, ...] = ("Ada Veil", "the Bell"), label: int = 1) -> LabelledSet:
    """One question a text."""
    pairs = [LabelledPair(f"q{n}", "Who?", Passage(f"p{n}", text), label, answers) for n, text in enumerate(texts)]
    return LabelledSet("some/spans.jsonl", "0123456789abcdef", tuple(pairs), 0)


def test_the_words_that_a_grade_points_at_are_held_against_the_answers() -> None:
    """Whole, half, and not at all; articles do not count, and of several answers the best does."""
    (found,) = run(Pointer(), [answered("by Ada Veil", "it was Old ada veil", "the Bell", "ada veil")], silent)
    assert found.figures["evidence F1"].value == pytest.approx((1 + 4 / 5 + 1 + 0) / 4)
    assert found.figures["evidence F1"].of == 4


def test_decisions_are_counted_with_their_evidence(figures: GradingReport) -> None:
    """CORRECT should hold some, INCORRECT none; AMBIGUOUS has its count too."""
    made = figures.decisions
    counts = {action: [(share.count, share.of) for share in both] for action, both in made.items()}
    assert counts == {"CORRECT": [(2, 4), (1, 2)], "AMBIGUOUS": [(1, 4), (1, 1)], "INCORRECT": [(1, 4), (1, 1)]}
    assert made["CORRECT"][1].low == pytest.approx(0.0945, abs=1e-4)
    wrong = measured(labelled("0.1+")).decisions["INCORRECT"][1]
    assert (wrong.count, wrong.of) == (0, 1)


def test_thresholds_of_another_evaluator_are_refused() -> None:
    """They mean nothing for its scores."""
    with pytest.raises(ConfigError, match="fitted for the evaluator 't5'"):
        measured(FILE, Thresholds(0.8, 0.7, 0.2, "t5"))


def test_what_could_not_be_graded_is_in_no_ranking() -> None:
    """Not even last: it is counted, by reason, and keeps a question from INCORRECT."""
    part = measured(labelled("0.9+ ?+ nan-", "0.1- ?-", "?+"))
    assert (part.pairs, part.ungraded) == (6, 4)
    assert part.notes[0] == "4 of 6 pairs could not be graded: no words (3); the evaluator returned nan (1)"
    assert (part.figures["ROC-AUC"].value, part.figures["ROC-AUC"].of) == (1, 2)
    assert part.figures["accuracy at τ+"].of == 2
    assert (part.decisions["INCORRECT"][0].count, part.decisions["AMBIGUOUS"][0].count) == (0, 2)


def test_a_call_that_fails_leaves_its_pairs_ungraded() -> None:
    """The next call goes on."""
    file = labelled(*["0.9+"] * CALL, "0.1- !-")
    part = measured(file)
    assert (part.pairs, part.ungraded) == (CALL + 2, 2)
    assert part.notes == (f"2 of {CALL + 2} pairs could not be graded: out of memory (2)", "asked twice")


TITLED = labelled("0.9_0.9- 0.3_0.2- 0.6_0.6- 0.9_0.9+", "0.9_0.1-")


def titled(pair: LabelledPair, rank: int | None, title: int | None) -> LabelledPair:
    return replace(pair, rank=rank, label_title=title)


def test_the_title_rule_is_counted_over_the_first_ten_ranks() -> None:
    """There "relevant" is what the right article says; the labels do not matter, the majority is shown beside it."""
    marks = [(1, 1), (10, 0), (2, 0), (11, 0), (3, None)]
    file = replace(TITLED, pairs=tuple(titled(p, *mark) for p, mark in zip(TITLED.pairs, marks, strict=True)))
    pairs, majority, upper, half = measured(file).titles or (0, 0.0, None, None)
    assert (pairs, majority) == (3, pytest.approx(2 / 3))
    assert upper is not None
    assert half is not None
    assert (upper.value, half.value) == (pytest.approx(2 / 3), pytest.approx(2 / 3))


def test_intervals_are_drawn_over_questions() -> None:
    """The same for the same file, whatever stands beside it; one question has none."""
    file = labelled(*["0.9+ 0.6- 0.1-", "0.3- 0.3+", "0.1- 0.2+"] * 10)
    alone = measured(file)
    beside = run(Reader(), [FILE, file], silent)[1]
    assert alone.figures == beside.figures
    low, high = alone.figures["ROC-AUC"].low, alone.figures["ROC-AUC"].high
    assert low is not None and high is not None and low < (alone.figures["ROC-AUC"].value or 0) < high  # noqa: PT018
    assert measured(replace(file, sha256="f" * 16)).figures["ROC-AUC"].low != low
    assert measured(labelled("0.9+ 0.1-")).figures["ROC-AUC"].low is None


def test_the_mean_weighs_files_alike() -> None:
    """And leaves out those where a figure is undefined."""
    files = labelled("0.9+ 0.6- 0.1-", "0.3+ 0.9-"), labelled("0.9+ 0.1-", "0.6- 0.2-", "?-")
    first, second, mean = (one.figures for one in run(Reader(), files, silent))
    aucs = [one["ROC-AUC"].value or 0 for one in (first, second)]
    assert mean["ROC-AUC"].value == pytest.approx(sum(aucs) / 2)
    assert (mean["ROC-AUC"].of, mean["question AUC"].of) == (2, 1)
    assert mean["question AUC"].value == second["question AUC"].value
    assert mean["Brier"].value is None


class Unfitted(Reader):
    """Has no thresholds yet."""

    @property
    def thresholds(self) -> Thresholds:  # type: ignore[override]
        """None: like a cross-encoder that nobody has fitted."""
        raise ConfigError("reader has no thresholds; fit them")


def test_an_evaluator_without_thresholds_is_measured() -> None:
    """All but what takes thresholds, which says so; with some that are given it is whole."""
    marked = tuple(replace(pair, rank=1, label_title=1) for pair in FILE.pairs)
    (one,) = run(Unfitted(), [replace(FILE, pairs=marked)], silent)
    assert one.figures["ROC-AUC"] == measured(FILE).figures["ROC-AUC"]
    assert one.figures["accuracy at τ+"] == Figure(None, None, None, 0, "the evaluator has no thresholds")
    assert one.titles is not None
    assert one.titles[2].value is None
    assert one.titles[3].value is not None
    assert one.decisions["CORRECT"][0].of == 0
    assert run(Unfitted(), [FILE], silent, OWN)[0].decisions == measured(FILE).decisions


def test_the_pooled_calibration_error_is_that_of_all_pairs() -> None:
    """One file's doubts and another's trust can be right together, and wrong in the mean."""
    shy, bold = labelled("0.5_0.5+ 0.5_0.5+"), labelled("0.5_0.5- 0.5_0.5-", sha256="f" * 16)
    both = run(Reader(), [shy, bold], silent)[2].figures
    assert both["ECE"].value == 0.5
    pooled = both["pooled ECE"]
    assert (pooled.value, pooled.of) == (0, 4)
    assert pooled.high == 0.5, "the questions of both files are drawn as two questions"
    alone = measured(FILE).figures
    assert alone["pooled ECE"] == alone["ECE"]


class Broken(Reader):
    """Breaks an evaluator's promises."""

    def __init__(self, *grades: Grade) -> None:
        self.grades = grades

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """The same, whatever is asked."""
        return self.grades


@pytest.mark.parametrize(
    ("grades", "why"),
    [
        ((), "reader gave 0 grades for 1 pairs"),
        ((Grade("a", 1.0, 1.5),), "reader gave the probability 1.5, outside 0 to 1"),
        ((Grade("a", 1.0, float("nan")),), "reader gave the probability nan, outside 0 to 1"),
    ],
)
def test_grades_that_are_none_are_an_error(grades: tuple[Grade, ...], why: str) -> None:
    """Figures of them would be wrong."""
    with pytest.raises(ComponentError, match=why):
        graded(Broken(*grades), FILE.pairs[:1], silent)
