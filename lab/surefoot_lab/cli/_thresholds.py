"""Tables of `surefoot lab tune`, and the risk–coverage curve, in 100 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from surefoot.cli._console import REASONS, headed, out, plain, short
from surefoot.cli._numbers import number, percent
from surefoot.stats.text import NONE
from surefoot.stats.text import percent as digits
from surefoot_lab.grading import Decisions
from surefoot_lab.risk_coverage import height
from surefoot_lab.tuning import THIN, Point, TuningReport

COLUMNS, ROWS = 60, 6
"""Size of the curve, in characters."""

_DECIDED = ["CORRECT", "lack evidence", "AMBIGUOUS", "INCORRECT", "have evidence"]
_LEVELS = " ▁▂▃▄▅▆▇█"


def show(report: TuningReport) -> None:
    """The thresholds with their risk; the decisions, file by file; the curve; and what is missing and why."""
    for part in (_thresholds(report), _decisions(report)):
        out.print(part)
        out.print()
    if report.crossed:
        out.print(_crossed(report))
        out.print()
    if any(point.of for point in report.curve):
        out.print(_curve(report))
    out.print(_legend(report), style="dim", soft_wrap=True)
    for note in _notes(report):
        out.say(note, "yellow")


def _thresholds(report: TuningReport) -> Table:
    table = headed([plain(report.evaluator), ""], ["counted", "wrong", "risk", "bound", "target"])
    for name, rule, choice, wrong in (
        ("τ+", "CORRECT ≥", report.fit.upper, "lack evidence"),
        ("τ−", "INCORRECT <", report.fit.lower, "have evidence"),
        ("strip", "kept ≥", report.fit.strip, "lost"),
    ):
        found = choice.threshold
        said = Text("none found", style="yellow") if found is None else Text(f"{rule} {found:.4g}")
        table.add_row(name, said, *_figures(choice.shown, wrong), digits(choice.target))
    return table


def _figures(shown: Point | None, wrong: str) -> tuple[str, str, str, str]:
    if shown is None or shown.risk is None:
        return "0", NONE, NONE, NONE
    return number(shown.of), f"{shown.wrong:,} {wrong}", digits(shown.risk), digits(shown.high)


def _decisions(report: TuningReport) -> Table:
    table = headed(["file"], ["tested", *_DECIDED])
    rows = [(short(one.file), one.decisions) for one in report.files]
    for name, made in [*rows, *([("all files", report.decisions)] if len(rows) > 1 else [])]:
        table.add_row(name, *_shares(made))
    return table


def _crossed(report: TuningReport) -> Table:
    """Decisions by thresholds that were fitted on other questions."""
    table = headed(["cross-validated", "thresholds"], ["held out", *_DECIDED])
    several = len(report.crossed) > 1
    for row in report.crossed:
        name = row.file if several and row is report.crossed[-1] else short(row.file)
        for fitted, held in (("its own", row.own), ("of all", row.shared))[: 1 + several]:
            missing = f", {held.unfitted} not found" if held.unfitted else ""
            table.add_row(name, fitted + missing, *_shares(held.decisions))
    return table


def _shares(made: Decisions) -> tuple[str, ...]:
    """The cells of `_DECIDED`, and before them the number of questions."""
    with_evidence, without = made.correct_with_evidence.share, made.incorrect_without_evidence.share
    return (
        number(made.correct.of),
        percent(made.correct),
        percent(None if with_evidence is None else 1 - with_evidence),
        percent(made.ambiguous),
        percent(made.incorrect),
        percent(None if without is None else 1 - without),
    )


def _curve(report: TuningReport) -> Table:
    """Risk over coverage, a column for each share of the questions; above the target it is yellow."""
    risks = [_risk(report, (column + 0.5) / COLUMNS) for column in range(COLUMNS)]
    top = height(report)
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(justify="right", style="dim")
    table.add_column(no_wrap=True)
    names = {ROWS - 1: digits(top), 0: "risk 0 %", _level(report, top): f"target {digits(report.aim.target)}"}
    for row in reversed(range(ROWS)):
        table.add_row(names.get(row, ""), _row(risks, row, top, report.aim.target))
    table.add_row("", _marks(report))
    table.add_row("coverage", Text("0 %" + "100 %".rjust(COLUMNS - 3), style="dim"))
    return table


def _level(report: TuningReport, top: float) -> int:
    """The row that the target lies in; never the lowest, which is named for 0."""
    return max(1, min(ROWS - 2, int(report.aim.target / top * ROWS)))


def _risk(report: TuningReport, coverage: float) -> float | None:
    """The risk of the strictest candidate that covers so much; None: none does."""
    wanted = coverage * report.fit.testing
    return next((point.risk for point in report.curve if point.of >= wanted), None)


def _row(risks: Sequence[float | None], row: int, top: float, target: float) -> Text:
    text = Text()
    for risk in risks:
        eighths = 0 if risk is None else round(risk / top * ROWS * 8) - row * 8
        if row == 0 and risk is not None:
            eighths = max(1, eighths)  # no risk at all is a line, and not nothing
        style = "yellow" if risk is not None and risk > target else "green"
        text.append(_LEVELS[min(8, max(0, eighths))], style)
    return text


def _marks(report: TuningReport) -> Text:
    upper = report.fit.upper
    if upper.threshold is None or upper.shown is None:
        return Text("")
    column = min(COLUMNS - 1, round(upper.shown.of / report.fit.testing * COLUMNS))
    mark = f"▲ τ+ {upper.threshold:.4g}"
    if column + len(mark) > COLUMNS:
        mark = f"τ+ {upper.threshold:.4g} ▲"
        column -= len(mark) - 1
    return Text(" " * column + mark, style="bold")


def _legend(report: TuningReport) -> str:
    fit, sure = report.fit, digits(report.fit.confidence)
    thinned = f"One question in {THIN} was asked without its relevant passages.\n"
    return (thinned if any(file.thinned for file in report.files) else "") + (
        f"{fit.testing:,} questions test; {fit.proposing:,} others proposed what to test. Risk: share that is wrong.\n"
        f"With {sure} confidence each, the targets are kept for questions like these taken together.\n"
        "Bound: what holds of the one threshold by itself."
    )


def _notes(report: TuningReport) -> Iterator[str]:
    fit = report.fit
    for name, choice in (("τ+", fit.upper), ("τ−", fit.lower), ("strip", fit.strip)):
        if choice.threshold is None:
            yield f"no {name}: {choice.reason}"
    if ungraded := sum(file.ungraded for file in report.files):
        because = [f"{reason} ({n:,})" for reason, n in [*report.ungraded_because.items()][:REASONS]]
        total = sum(file.pairs for file in report.files)
        yield f"{ungraded:,} of {total:,} pairs could not be graded: {'; '.join(because)}"
