"""How fitted thresholds are shown: what they come to, file by file, and the risk–coverage curve, in 100 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from surefoot.cli._console import REASONS, headed, out, plain, short
from surefoot.lab.risk_coverage import height
from surefoot.lab.tuning import THIN, Choice, Point, TuningReport
from surefoot.stats.figures import Share
from surefoot.stats.text import percent

COLUMNS, ROWS = 60, 6
"""Of the curve, in characters."""

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
    fit = report.fit
    for name, sign, choice, wrong in (
        ("τ+", "≥", fit.upper, "lack evidence"),
        ("τ−", "<", fit.lower, "have evidence"),
        ("strip", "≥", fit.strip, "lost"),
    ):
        what = {"τ+": "CORRECT", "τ−": "INCORRECT", "strip": "kept"}[name]
        table.add_row(name, _rule(what, sign, choice), *_figures(choice.shown, wrong), percent(choice.target))
    return table


def _rule(what: str, sign: str, choice: Choice) -> Text:
    if choice.threshold is None:
        return Text("none found", style="yellow")
    return Text(f"{what} {sign} {choice.threshold:.4g}")


def _figures(shown: Point | None, wrong: str) -> tuple[str, str, str, str]:
    if shown is None or shown.risk is None:
        return "0", "–", "–", "–"
    return f"{shown.of:,}", f"{shown.wrong:,} {wrong}", percent(shown.risk), percent(shown.high)


def _decisions(report: TuningReport) -> Table:
    right = ["tested", "CORRECT", "lack evidence", "AMBIGUOUS", "INCORRECT", "have evidence"]
    table = headed(["file"], right)
    rows = [(short(one.file), one.decisions) for one in report.files]
    for name, made in [*rows, *([("all files", report.decisions)] if len(rows) > 1 else [])]:
        shares = made.correct, made.correct_with_evidence, made.ambiguous
        others = made.incorrect, made.incorrect_without_evidence
        table.add_row(name, f"{made.correct.of:,}", *_cells(*shares), *_cells(*others))
    return table


def _crossed(report: TuningReport) -> Table:
    """What was decided by thresholds that the decided questions had no part in."""
    right = ["held out", "CORRECT", "lack evidence", "AMBIGUOUS", "INCORRECT", "have evidence"]
    table = headed(["cross-validated", "thresholds"], right)
    for row in report.crossed:
        for of, held in (("its own", row.own), ("of all", row.shared))[: 1 + (len(report.crossed) > 1)]:
            made = held.decisions
            shares = made.correct, made.correct_with_evidence, made.ambiguous
            cells = *_cells(*shares), *_cells(made.incorrect, made.incorrect_without_evidence)
            name = row.file if row is report.crossed[-1] and len(report.crossed) > 1 else short(row.file)
            missing = f", {held.unfitted} not found" if held.unfitted else ""
            table.add_row(name, of + missing, f"{made.correct.of:,}", *cells)
    return table


def _cells(taken: Share, right: Share, *more: Share) -> Iterator[str]:
    """How often an action was taken, and was wrong; and how often others were taken."""
    yield percent(taken.share, 1)
    yield percent(None if right.share is None else 1 - right.share, 1)
    yield from (percent(one.share, 1) for one in more)


def _curve(report: TuningReport) -> Table:
    """Risk over coverage, a column for each share of the questions; above the target it is yellow."""
    risks = [_risk(report, (column + 0.5) / COLUMNS) for column in range(COLUMNS)]
    top = height(report)
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(justify="right", style="dim")
    table.add_column(no_wrap=True)
    names = {ROWS - 1: percent(top), 0: "risk 0 %", _level(report, top): f"target {percent(report.aim.target)}"}
    for row in reversed(range(ROWS)):
        table.add_row(names.get(row, ""), _row(risks, row, top, report.aim.target))
    table.add_row("", _marks(report))
    table.add_row("coverage", Text("0 %" + "100 %".rjust(COLUMNS - 3), style="dim"))
    return table


def _level(report: TuningReport, top: float) -> int:
    """The row that the target lies in; never the lowest, which is named for 0."""
    return max(1, min(ROWS - 2, int(report.aim.target / top * ROWS)))


def _risk(report: TuningReport, coverage: float) -> float | None:
    """Of the strictest candidate that covers so much; None: none does."""
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
    fit, sure = report.fit, percent(report.fit.confidence)
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
