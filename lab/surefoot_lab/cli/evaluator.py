"""`surefoot lab evaluator`: grade labelled pairs and count, or probe the grades; evaluators side by side."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from rich.table import Table
from rich.text import Text
from typer import Argument, Option

from surefoot import __version__
from surefoot.cli._configuration import ConfigFile, Settings, agreed
from surefoot.cli._console import REASONS, counting, headed, out, plain, pulling, short, write_json
from surefoot.cli._numbers import figure, number, share, signed
from surefoot.config.builder import Builder
from surefoot.config.settings import Config
from surefoot.config.settings import settings as overrides
from surefoot.run import manifest
from surefoot.stats.figures import Figure
from surefoot.stats.text import NONE
from surefoot.types import Thresholds
from surefoot.types.errors import UsageError
from surefoot.types.protocols import Evaluator
from surefoot_lab import grading, robustness
from surefoot_lab.cli._options import JsonFile
from surefoot_lab.datasets import pairs
from surefoot_lab.grading import GradingFileReport, GradingReport, Mean, Titles
from surefoot_lab.report import of
from surefoot_lab.robustness import ProbeFileReport, ProbeFinding, RobustnessReport

Built = tuple[Config, Evaluator, Thresholds | None]
R = TypeVar("R", GradingReport, RobustnessReport)
T = TypeVar("T")
Line = tuple[str, str, GradingFileReport | Mean]
"""A file, an evaluator, and its figures there."""
Limit = Annotated[int | None, Option("--limit", min=1, help="Only a sample of so many questions a file.")]

_LEGEND = (
    "CORRECT: the share that has a relevant passage; INCORRECT: the share that has none. [95 % interval]\n"
    "all files: the mean over those where it is defined; actions and pairs/s of all together"
)
_PROBE_LEGEND = (
    "change: mean of score after less score before [95 % interval]; prob.: the same of the probability\n"
    "τ+, τ−: how many fell below it ↓ and rose to it ↑; screened: graded as a pipeline would have it\n"
    "as expected, must fall: of those at or above τ+, the share that fell below it; must hold: the share\n"
    "with the same label as before; must stay low: of irrelevant ones below τ+, the share that still is"
)
_GROUPS = {"falls": "must fall", "holds": "must hold", "low": "must stay low", "reported": "only reported"}


def evaluator(
    data: Annotated[list[Path], Argument(help="Labelled pairs: lines of {id, question, passages}.")],
    names: Annotated[
        list[str] | None,
        Option(
            "--evaluator",
            metavar="NAME",
            help="Instead of the configured one, with options as in 'minilm model=PATH'; again for one beside it.",
        ),
    ] = None,
    limit: Limit = None,
    blank: Annotated[
        Literal["question", "passage"] | None, Option("--blank", help="Control: hide this from the evaluator.")
    ] = None,
    probe: Annotated[
        bool, Option("--probe", help="Instead: how grades move when one thing about a pair is changed.")
    ] = False,
    json_file: JsonFile = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Grade labelled pairs and count: AUC, accuracy, calibration, actions, speed.

    Settings of evaluator and thresholds are for the first --evaluator; those beside it have the options that are named
    with them. Figures that take thresholds stay empty for one that has none yet.
    """
    if probe and blank:
        raise UsageError("--probe changes one thing about a pair and --blank hides one; use either")
    files = [pairs.read(path, limit) for path in data]
    if blank:
        files = [pairs.blanked(file, blank) for file in files]
    with pulling():
        builders = [Builder(chosen) for chosen in side_by_side(config, settings or [], names or [])]
        built = [(one.config, one.evaluator, one.thresholds if probe else _thresholds(one)) for one in builders]
    about = {**recorded(limit), "blank": blank}
    if probe:
        probed = _measured(built, files, robustness.run)
        write_json(json_file, robustness.as_json(probed, about))
        _show_probes(probed)
    else:
        reports = _measured(built, files, grading.run)
        write_json(json_file, grading.as_json(reports, about))
        _show(reports)


def side_by_side(config: str | None, sets: list[str], names: list[str]) -> Iterator[Config]:
    """The configuration of each evaluator; options and thresholds of one mean nothing to another."""
    written = agreed(config)
    shared = [text for text in sets if not text.lstrip().startswith(("evaluator.", "thresholds."))]
    if not names:
        yield agreed(written, *overrides(sets))
    for place, text in enumerate(names):
        named = _named(text)
        own = named == {"use": written["evaluator"]["use"]}
        chosen = written if own else {**written, "evaluator": named, "thresholds": {}}
        yield agreed(chosen, *overrides(shared if place else sets))


def recorded(limit: int | None) -> dict[str, Any]:
    """The part of a report that says how it was made."""
    return {"surefoot": __version__, "limit": limit, "environment": manifest.environment()}


def _named(text: str) -> dict[str, Any]:
    """The section that `NAME key=value …` stands for."""
    try:
        name, *options = shlex.split(text) or [""]
        if odd := [option for option in options if "=" not in option]:
            raise ValueError(f"'{odd[0]}' is no key=value")
    except ValueError as error:
        raise UsageError(f"--evaluator '{text}' is no NAME key=value …: {error}") from error
    section = {"use": name}
    for override in overrides(f"evaluator.{option}" for option in options):
        section |= override["evaluator"]
    return section


def _thresholds(builder: Builder) -> Thresholds | None:
    """None: the configuration has none, nor has the evaluator so far."""
    known = builder.config["thresholds"] or grading.own(builder.evaluator)
    return builder.thresholds if known else None


def _measured(built: Sequence[Built], files: Sequence[pairs.LabelledSet], run: Callable[..., R]) -> list[R]:
    reports: list[R] = []
    for chosen, one, thresholds in built:
        with counting(one.name) as on_progress:
            reports.append(replace(run(one, files, on_progress, thresholds), config=chosen))
    return reports


def _names(reports: Sequence[GradingReport | RobustnessReport]) -> list[str]:
    """The name of each evaluator: its short name, or the full one where several share it."""
    uses = [str(report.config.get("evaluator", {}).get("use", report.evaluator)) for report in reports]
    return [plain(use if uses.count(use) == 1 else report.evaluator) for use, report in zip(uses, reports, strict=True)]


def _show(reports: Sequence[GradingReport]) -> None:
    """The files; then pairs, labels and questions, a table each; then thresholds, and what is missing and why."""
    lines: list[Line] = []
    for same in zip(*(report.files for report in reports), strict=True):
        lines += [(short(one.file), name, one) for name, one in zip(_names(reports), same, strict=True)]
    if len(reports[0].files) > 1:
        lines += [("all files", name, report.mean) for name, report in zip(_names(reports), reports, strict=True)]
    files = headed(["file"], ["questions", "pairs", "relevant", "without a label, left out"])
    for one in reports[0].files:
        counts = f"{one.questions:,}", f"{one.pairs:,}", f"{one.relevant * 100:.1f} %", f"{one.unlabelled:,}"
        files.add_row(short(one.file), *counts)
    titles = [(file, name, t) for file, name, one in lines if isinstance(one, GradingFileReport) and (t := one.titles)]
    several = len(reports) > 1
    tables = [files, *(_table(lines, columns, several) for columns in (_PAIRS, _LABELS, _QUESTIONS))]
    for table in [*tables, *([_table(titles, _TITLES, several)] if titles else [])]:
        out.print(table)
        out.print()
    out.print(_LEGEND, style="dim", soft_wrap=True)
    for report in reports:
        out.say(_thresholds_of(report), "dim")
    for note in (*_missing(lines), *_trouble(lines)):
        out.say(note, "yellow")


def _thresholds_of(report: GradingReport) -> str:
    used, pooled = report.thresholds, report.mean.pooled_calibration_error
    at = f"τ+ {used.upper:.3g}, τ− {used.lower:.3g}" if used else "no thresholds, which surefoot lab tune would fit"
    several = report.mean.files > 1 and pooled.value is not None
    return f"{report.evaluator}: {at}" + (f"; ECE of all files together {figure(pooled)}" if several else "")


def _table(lines: Iterable[tuple[str, str, T]], columns: Mapping[str, Callable[[T], str]], several: bool) -> Table:
    table, before = headed(["file", "evaluator"] if several else ["file"], columns), ""
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
            yield from (f"{file}, {name}: {fallback}" for fallback in one.degraded)


def _speed(one: GradingFileReport | Mean) -> str:
    rate = one.pairs_per_second
    return NONE if rate is None else f"{rate:,.{0 if rate >= 10 else 1}f}"


def _decided(one: GradingFileReport | Mean, text: str) -> str:
    return text if one.decisions.correct.of else NONE


_PAIRS: dict[str, Callable[[GradingFileReport | Mean], str]] = {
    "ROC-AUC": lambda one: figure(one.metrics.roc_auc),
    "average precision": lambda one: figure(one.metrics.average_precision),
    "ungraded": lambda one: f"{one.ungraded:,}",
    "pairs/s": _speed,
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
    "CORRECT": lambda one: _decided(one, of(one.decisions.correct_with_evidence)),
    "AMBIGUOUS": lambda one: _decided(one, f"{one.decisions.ambiguous.count:,}"),
    "INCORRECT": lambda one: _decided(one, of(one.decisions.incorrect_without_evidence)),
}
_TITLES: dict[str, Callable[[Titles], str]] = {
    "titles, ranks 1–10": lambda one: f"{one.pairs:,} pairs",
    "majority": lambda one: share(one.majority),
    "accuracy at τ+": lambda one: figure(one.accuracy_at_upper),
    "at probability .5": lambda one: figure(one.accuracy_at_half),
}


def _show_probes(reports: Sequence[RobustnessReport]) -> None:
    """File by file, so that the evaluators stand below one another; then what was left out, and why."""
    for same in zip(*(report.files for report in reports), strict=True):
        for name, report, one in zip(_names(reports), reports, same, strict=True):
            used = f"τ+ {report.thresholds.upper:.3g}, τ− {report.thresholds.lower:.3g}"
            counts = f"{one.relevant:,} relevant and {one.irrelevant:,} irrelevant pairs"
            out.say(f"{short(one.file)} · {name} ({used}) · {counts}")
            out.print(_probes(one))
            for finding in one.findings:
                for reason, count in finding.ungraded.items():
                    out.say(f"{finding.probe}: {count:,} could not be graded: {reason}", "yellow")
            for fallback in one.degraded:
                out.say(fallback, "yellow")
            out.print()
        reasons: dict[str, list[str]] = {}
        for finding in (finding for finding in same[0].findings if not finding.screened):
            for reason, count in finding.left_out.items():
                reasons.setdefault(reason, []).append(f"{finding.probe} {count:,}")
        for reason, left_out in reasons.items():
            out.say(f"left out, {reason}: {', '.join(left_out)}", "dim")
        out.print()
    out.print(_PROBE_LEGEND, style="dim", soft_wrap=True)


def _probes(one: ProbeFileReport) -> Table:
    table = headed(["probe"], ["pairs", "change", "prob.", "τ+", "τ−", "as expected"])
    for expects, group in groupby(one.findings, lambda finding: finding.expects):
        table.add_row(Text(_GROUPS[expects], style="dim"))
        for finding in group:
            table.add_row(*_row(finding))
    return table


def _row(finding: ProbeFinding) -> tuple[str, ...]:
    return (
        "    screened" if finding.screened else f"  {finding.probe}",
        number(finding.pairs),
        _change(finding.score_change),
        _sign(finding.probability_change.value),
        *(f"↓{flips.down:,} ↑{flips.up:,}" for flips in (finding.upper, finding.lower)),
        "" if finding.as_expected is None else of(finding.as_expected),
    )


def _change(figure: Figure) -> str:
    ends = "" if figure.low is None else f" [{_sign(figure.low)}, {_sign(figure.high)}]"
    return f"{_sign(figure.value)}{ends}"


def _sign(value: float | None) -> str:
    """A score may be a logit: three decimals below 1, fewer above."""
    if value is None or abs(value) < 0.9995:
        return signed(value)
    return f"{value:+.{2 if abs(value) < 10 else 1}f}".replace("-", "−")
