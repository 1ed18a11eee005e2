"""Figures for papers, by matplotlib: robustness, types and actions, risk and coverage, and the words of grades.

Colour never stands alone: lines have marks, cells their share, bars a direction. Colours are those of Okabe and Ito.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from typer import Option

from surefoot.explain.explanation import number, printable, strongest
from surefoot.stats.text import percent
from surefoot.types import Action, Attribution
from surefoot.types.errors import MissingExtra, UsageError
from surefoot_lab.figures import counted
from surefoot_lab.qa import QAReport, by_type, telling

if TYPE_CHECKING:
    from surefoot_lab.tuning import TuningReport
    from surefoot_lab.words import ActionSample

TITLES = {
    "fewer": "Passages taken away",
    "lost": "Passages with an answer taken away",
}
COLOURS, MARKS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#24292f"), "os^Dv"
WORDS = 8
"""Words of a grade that are drawn."""

Explained = Sequence[tuple["ActionSample", Attribution]]


def drawing(what: str) -> Any:
    """The option of a picture; a name that cannot be drawn is refused before anything is computed."""
    return Option("--figure", metavar="FILE", help=f"Draw {what} here: .svg, .png or .pdf.", callback=_drawable)


def _drawable(path: Path | None) -> Path | None:
    if path and path.suffix.lower() not in (".svg", ".png", ".pdf"):
        raise UsageError(f"a picture is written as .svg, .png or .pdf, and {path.name} is none of these")
    if path:
        _figure(1, 1, "")
    return path


def _figure(rows: int, columns: int, title: str, width: float = 4.5, height: float = 3.2) -> tuple[Any, Any]:
    """A figure and its axes, rows by columns. Raises MissingExtra where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("a picture", "pictures", "surefoot-lab") from error
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    figure.suptitle(_plain(title), fontsize=11)
    return figure, axes


def _save(figure: Any, path: Path) -> None:
    from matplotlib import rc_context

    path.parent.mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "surefoot"}):
        figure.savefig(
            path, metadata={} if path.suffix == ".png" else {"Date" if path.suffix == ".svg" else "CreationDate": None}
        )


def _plain(text: str, most: int = 200) -> str:
    """The text on one line, printable, with no sign of matplotlib's mathematics."""
    text = printable(" ".join(text.split())).replace("$", r"\$")
    return text if len(text) <= most else f"{text[: most - 1]}…"


def robustness(reports: Sequence[QAReport], data: str, path: Path) -> None:
    """The share of right answers over the share of passages taken away, a panel for each kind of change."""
    rule, steps = telling(reports), [(one, *one.change.partition(" ")[::2]) for one in reports]
    methods = dict.fromkeys(one.method for one in reports)
    kinds = [kind for kind in TITLES if any(kind == mine for _, mine, _ in steps)]
    about = f"{len(reports[0].outcomes):,} questions of {PurePath(data).name}, right by {rule}; bars: 95 % intervals"
    figure, axes = _figure(ceil(len(kinds) / 2), min(2, len(kinds)), about)
    for kind, panel in zip(kinds, axes.flat, strict=False):
        panel.set(title=TITLES[kind], xlabel="share of passages taken away", ylim=(0, None))
        for method, colour, mark in zip(methods, COLOURS * 9, MARKS * 9, strict=False):
            curve = [
                (float(step or 0), found.share, found.low or 0.0, found.high or 0.0)
                for one, mine, step in steps
                if one.method == method and mine in ("", kind) and (found := one.share(rule)).share is not None
            ]
            taken, shares, lows, highs = zip(*sorted(curve), strict=True) if curve else ((), (), (), ())
            ends = [[abs(a - b) for a, b in zip(shares, side, strict=True)] for side in (lows, highs)]
            panel.errorbar(taken, shares, ends, color=colour, marker=mark, capsize=3, label=_plain(method))
    axes.flat[0].legend()
    _save(figure, path)


def types_and_actions(report: QAReport, data: str, path: Path) -> None:
    """Accuracy of each type of question, and by type and action."""
    rule = telling([report])
    known = by_type(report, rule)
    actions = [action for action in next(iter(known.values()), {}) if any(cell[action].of for cell in known.values())]
    whole = [
        counted(sum(c.count for c in cells.values()), sum(c.of for c in cells.values())) for cells in known.values()
    ]
    about = f"{len(report.outcomes):,} questions of {PurePath(data).name}, right by the rule {rule}"
    figure, axes = _figure(1, 2, f"{report.name}: {about}", height=1.2 + 0.4 * max(1, len(known)))
    bars, cells = axes.flat
    bars.barh([_plain(name, 19) for name in known], [one.share or 0.0 for one in whole], color=COLOURS[0])
    bars.set(xlim=(0, 1), title="right, by type")
    for place, one in enumerate(whole):
        bars.text(0.01, place, f"{percent(one.share, 0)} of {one.of}", va="center", color="white")
    shades = [[row[action].share or 0.0 for action in actions] for row in known.values()]
    cells.imshow(shades, vmin=0, vmax=1, cmap="Blues", aspect="auto")
    cells.set(title="right, by type and action", yticks=[])
    cells.set_xticks(range(len(actions)), [action.upper() for action in actions])
    for y, row in enumerate(known.values()):
        for x, action in enumerate(actions):
            share = row[action]
            text = f"{percent(share.share, 0)} of {share.of}" if share.of else "none"
            cells.text(x, y, text, ha="center", va="center")
    bars.invert_yaxis()
    _save(figure, path)


def risk_coverage(report: TuningReport, path: Path) -> None:
    """The share of CORRECT decisions without evidence over the share of questions decided so, with both bounds, the
    target, and the chosen threshold."""
    names = ", ".join(PurePath(file.file).name for file in report.files)
    figure, axes = _figure(1, 1, f"{report.evaluator}, {report.fit.testing:,} test questions of {names}", 7, 4)
    panel, points = axes[0, 0], [point for point in report.curve if point.of]
    covered, target = [point.of / report.fit.testing for point in points], report.aim.target
    panel.plot(covered, [point.risk for point in points], color=COLOURS[0])
    panel.fill_between(covered, [p.low for p in points], [p.high for p in points], color=COLOURS[0], alpha=0.16)
    panel.axhline(target, color=COLOURS[1], linestyle="--", label=f"target {percent(target)}")
    choice, top = report.fit.upper, max([6 * target, *(p.risk or 0.0 for p in points)]) if points else 1.0
    panel.set(
        xlim=(0, 1),
        ylim=(0, min(1.0, top)),
        xlabel="coverage: share of questions decided CORRECT",
        ylabel="risk: share of these without evidence",
    )
    if choice.shown and choice.shown.risk is not None:
        name = f"τ+ {choice.threshold:.4g}" if choice.threshold is not None else "no τ+ keeps the target; surest"
        at = choice.shown.of / report.fit.testing
        label = f"{name}: {percent(at)} covered, {percent(choice.shown.risk)} risk, bound {percent(choice.shown.high)}"
        panel.plot([at], [choice.shown.risk], "o", color=COLOURS[4], label=label)
    panel.legend()
    _save(figure, path)


def words(explained: Explained, path: Path) -> None:
    """The strongest words of each sample as bars with their standard errors, a row an action."""
    rows = {action: [found for sample, found in explained if sample.action is action] for action in Action}
    rows = {action: found for action, found in rows.items() if found}
    title = f"The words that weigh most in {explained[0][1].of}, by action"
    figure, axes = _figure(len(rows), max(map(len, rows.values())), title)
    for panel in axes.flat:
        panel.axis("off")
    for line, (action, found) in zip(axes, rows.items(), strict=True):
        for panel, one in zip(line, found, strict=False):
            shown = strongest(one, WORDS)[::-1]
            values = [one.values[n] for n in shown]
            panel.axis("on")
            panel.barh(
                range(len(shown)),
                values,
                xerr=[one.errors[n] for n in shown],
                color=[COLOURS[value > 0] for value in values],
            )
            panel.set_yticks(range(len(shown)), [_plain(one.units[n].words, 16) for n in shown])
            panel.set_title(_plain(f"{action.value.upper()} {number(one.full)}: {one.question}", 46), fontsize=8)
    _save(figure, path)


def heatmap(explained: Explained, path: Path) -> None:
    """The strongest words of each sample in reading order, shaded by their share of its largest value."""
    title = "Each sample's own strongest words in reading order; + raises, − lowers"
    figure, axes = _figure(1, 1, title, 1.3 * WORDS + 3, 0.6 * len(explained) + 1)
    panel = axes[0, 0]
    shades = [[0.0] * WORDS for _ in explained]
    for y, (_, one) in enumerate(explained):
        most = max(map(abs, one.values)) or 1.0
        for x, n in enumerate(sorted(strongest(one, WORDS))):
            shades[y][x] = one.values[n] / most
            panel.text(
                x, y, f"{_plain(one.units[n].words, 13)}\n{number(one.values[n])}", ha="center", va="center", fontsize=7
            )
    panel.imshow(shades, vmin=-2, vmax=2, cmap="RdBu_r", aspect="auto")
    panel.set(xticks=[])
    names = [_plain(f"{sample.action.value.upper()}: {one.question}", 36) for sample, one in explained]
    panel.set_yticks(range(len(explained)), names, fontsize=8)
    _save(figure, path)
