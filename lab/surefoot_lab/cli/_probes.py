"""Tables of `surefoot lab evaluator --probe`, one for each file and evaluator, in 100 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.table import Table
from rich.text import Text

from surefoot.cli._console import headed, out, short
from surefoot.cli._numbers import number, of
from surefoot.stats.figures import Figure
from surefoot.stats.text import NONE
from surefoot_lab.cli._evaluators import names
from surefoot_lab.robustness import Flips, ProbeFileReport, ProbeFinding, RobustnessReport

_GROUPS = {"falls": "must fall", "holds": "must hold", "low": "must stay low", "reported": "only reported"}
_LEGEND = (
    "change: mean of score after less score before [95 % interval]; prob.: the same of the probability\n"
    "τ+, τ−: how many fell below it ↓ and rose to it ↑; screened: graded as a pipeline would have it\n"
    "as expected, must fall: of those at or above τ+, the share that fell below it; must hold: the share\n"
    "with the same label as before; must stay low: of irrelevant ones below τ+, the share that still is"
)


def show(reports: Sequence[RobustnessReport]) -> None:
    """File by file, so that the evaluators stand below one another; then what was left out, and why."""
    for same in zip(*(report.files for report in reports), strict=True):
        for name, report, one in zip(names(reports), reports, same, strict=True):
            used = f"τ+ {report.thresholds.upper:.3g}, τ− {report.thresholds.lower:.3g}"
            pairs = f"{one.relevant:,} relevant and {one.irrelevant:,} irrelevant pairs"
            out.say(f"{short(one.file)} · {name} ({used}) · {pairs}")
            out.print(_table(one))
            for note in _ungraded(one):
                out.say(note, "yellow")
            out.print()
        for note in _left_out(same[0]):
            out.say(note, "dim")
        out.print()
    out.print(_LEGEND, style="dim", soft_wrap=True)


def _table(one: ProbeFileReport) -> Table:
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
        _signed(finding.score_change),
        _sign(finding.probability_change.value),
        _crossed(finding.upper),
        _crossed(finding.lower),
        "" if finding.as_expected is None else of(finding.as_expected),
    )


def _ungraded(one: ProbeFileReport) -> Iterator[str]:
    for finding in one.findings:
        for reason, count in finding.ungraded.items():
            yield f"{finding.probe}: {count:,} could not be graded: {reason}"
    yield from one.degraded


def _left_out(one: ProbeFileReport) -> Iterator[str]:
    """Each reason why probes do not apply, with the probes: the same for every evaluator."""
    reasons: dict[str, list[str]] = {}
    for finding in one.findings:
        for reason, count in finding.left_out.items():
            if not finding.screened:
                reasons.setdefault(reason, []).append(f"{finding.probe} {count:,}")
    yield from (f"left out, {reason}: {', '.join(counts)}" for reason, counts in reasons.items())


def _signed(figure: Figure) -> str:
    if figure.low is None:
        return _sign(figure.value)
    return f"{_sign(figure.value)} [{_sign(figure.low)}, {_sign(figure.high)}]"


def _sign(value: float | None) -> str:
    if value is None:
        return NONE
    size = abs(value)
    shown = f"{size:.3f}".removeprefix("0") if size < 0.9995 else f"{size:.2f}" if size < 10 else f"{size:.1f}"
    return shown if float(shown) == 0 else f"{'−' if value < 0 else '+'}{shown}"


def _crossed(flips: Flips) -> str:
    return f"↓{flips.down:,} ↑{flips.up:,}"
