"""Tables of `surefoot lab evaluator`: evaluators side by side, file by file, in 100 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TypeVar

from rich.table import Table

from surefoot.cli._console import REASONS, headed, out, plain, short
from surefoot.cli._numbers import figure, of, share
from surefoot.stats.text import NONE
from surefoot_lab import robustness
from surefoot_lab.grading import Decisions, GradingFileReport, GradingReport, Mean, Titles

T = TypeVar("T")
Line = tuple[str, str, GradingFileReport | Mean]
"""A file, an evaluator, and what it came to there."""

_LEGEND = (
    "CORRECT: the share that has a relevant passage; INCORRECT: the share that has none. [95 % interval]\n"
    "all files: the mean over those where it is defined; actions and pairs/s of all together"
)


def show(reports: Sequence[GradingReport]) -> None:
    """The files; then pairs, labels and questions, a table each; then thresholds, and what is missing and why."""
    lines, several = list(_lines(reports)), len(reports) > 1
    titles = [
        (file, name, one.titles) for file, name, one in lines if isinstance(one, GradingFileReport) and one.titles
    ]
    tables = [_files(reports[0]), *(_table(lines, columns, several) for columns in (_PAIRS, _LABELS, _QUESTIONS))]
    for table in [*tables, *([_table(titles, _TITLES, several)] if titles else [])]:
        out.print(table)
        out.print()
    out.print(_LEGEND, style="dim", soft_wrap=True)
    for report in reports:
        out.say(_about(report), "dim")
    for note in (*_missing(lines), *_trouble(lines)):
        out.say(note, "yellow")


def names(reports: Sequence[GradingReport | robustness.RobustnessReport]) -> list[str]:
    """The name of each evaluator: the one asked for, or the full name where several share it."""
    asked = [str(report.config.get("evaluator", {}).get("use", report.evaluator)) for report in reports]
    pairs = zip(asked, reports, strict=True)
    return [plain(use if asked.count(use) == 1 else report.evaluator) for use, report in pairs]


def _lines(reports: Sequence[GradingReport]) -> Iterator[Line]:
    """File by file, so that the evaluators stand below one another."""
    for same in zip(*(report.files for report in reports), strict=True):
        yield from ((short(one.file), name, one) for name, one in zip(names(reports), same, strict=True))
    if len(reports[0].files) > 1:
        yield from (("all files", name, report.mean) for name, report in zip(names(reports), reports, strict=True))


def _about(report: GradingReport) -> str:
    used, pooled = report.thresholds, report.mean.pooled_calibration_error
    at = f"τ+ {used.upper:.3g}, τ− {used.lower:.3g}" if used else "no thresholds, which surefoot lab tune would fit"
    several = report.mean.files > 1 and pooled.value is not None
    return f"{report.evaluator}: {at}" + (f"; ECE of all files together {figure(pooled)}" if several else "")


def _files(report: GradingReport) -> Table:
    table = headed(["file"], ["questions", "pairs", "relevant", "without a label, left out"])
    for one in report.files:
        counts = f"{one.questions:,}", f"{one.pairs:,}", f"{one.relevant * 100:.1f} %", f"{one.unlabelled:,}"
        table.add_row(short(one.file), *counts)
    return table


def _table(lines: Iterable[tuple[str, str, T]], columns: Mapping[str, Callable[[T], str]], several: bool) -> Table:
    table = headed(["file", "evaluator"] if several else ["file"], columns)
    before = ""
    for file, name, one in lines:
        first = ["" if file == before else file, name] if several else [file]
        table.add_row(*first, *(text(one) for text in columns.values()))
        before = file
    return table


def _missing(lines: Iterable[Line]) -> Iterator[str]:
    """Each reason why a figure is undefined, with the files."""
    files: dict[str, dict[str, None]] = {}
    for file, _, one in lines:
        for field in fields(one.metrics) if isinstance(one, GradingFileReport) else ():
            if reason := getattr(one.metrics, field.name).undefined:
                files.setdefault(reason, {})[file] = None
    yield from (f"– {reason}: {', '.join(where)}" for reason, where in files.items())


def _trouble(lines: Iterable[Line]) -> Iterator[str]:
    """A line for pairs that an evaluator could not grade, and one for each time that it fell back."""
    for file, name, one in lines:
        if isinstance(one, GradingFileReport):
            if one.ungraded:
                reasons = "; ".join(f"{reason} ({n:,})" for reason, n in [*one.ungraded_because.items()][:REASONS])
                yield f"{file}, {name}: {one.ungraded:,} of {one.pairs:,} pairs could not be graded: {reasons}"
            yield from (f"{file}, {name}: {what}" for what in one.degraded)


def _decided(decisions: Decisions, shown: str) -> str:
    return shown if decisions.correct.of else NONE


def _speed(pairs_per_second: float | None) -> str:
    return NONE if pairs_per_second is None else f"{pairs_per_second:,.{0 if pairs_per_second >= 10 else 1}f}"


_PAIRS: dict[str, Callable[[GradingFileReport | Mean], str]] = {
    "ROC-AUC": lambda one: figure(one.metrics.roc_auc),
    "average precision": lambda one: figure(one.metrics.average_precision),
    "ungraded": lambda one: f"{one.ungraded:,}",
    "pairs/s": lambda one: _speed(one.pairs_per_second),
}
_LABELS: dict[str, Callable[[GradingFileReport | Mean], str]] = {
    "accuracy at τ+": lambda one: figure(one.metrics.accuracy_at_upper),
    "at probability .5": lambda one: figure(one.metrics.accuracy_at_half),
    "ECE": lambda one: share(one.metrics.expected_calibration_error.value),
    "Brier": lambda one: share(one.metrics.brier.value),
    "evidence F1": lambda one: share(one.metrics.evidence_f1.value),
}
_QUESTIONS: dict[str, Callable[[GradingFileReport | Mean], str]] = {
    "question AUC": lambda one: figure(one.metrics.question_auc),
    "CORRECT": lambda one: _decided(one.decisions, of(one.decisions.correct_with_evidence)),
    "AMBIGUOUS": lambda one: _decided(one.decisions, f"{one.decisions.ambiguous.count:,}"),
    "INCORRECT": lambda one: _decided(one.decisions, of(one.decisions.incorrect_without_evidence)),
}
_TITLES: dict[str, Callable[[Titles], str]] = {
    "titles, ranks 1–10": lambda one: f"{one.pairs:,} pairs",
    "majority": lambda one: share(one.majority),
    "accuracy at τ+": lambda one: figure(one.accuracy_at_upper),
    "at probability .5": lambda one: figure(one.accuracy_at_half),
}
