"""`surefoot gate`: conditions that an evaluation has to keep, for continuous integration."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text
from typer import Argument, Option

from surefoot.cli._console import out, plain, print_json, share, tabled
from surefoot.evaluate.records.folder import opened
from surefoot.evaluate.score.comparison import FIGURES, Condition, gate
from surefoot.evaluate.score.summaries import summaries
from surefoot.stats.groups import FEW
from surefoot.types import Summary

_VERDICT = {True: ("kept", "green"), False: ("not kept", "red"), None: ("cannot be checked", "yellow")}


def gated(
    run: Annotated[Path, Argument(metavar="RUN", help="Folder of an evaluation.")],
    conditions: Annotated[
        list[str],
        Option(
            "--min",
            metavar="CONDITION",
            help="A condition in quotes, such as 'adherence.low>=0.8' or 'unscored<=0.02'; again for one more. "
            f"Figures: {', '.join(FIGURES)}.",
        ),
    ],
    as_json: Annotated[bool, Option("--json", help="Print the checks as JSON, and nothing else.")] = False,
) -> None:
    """Hold an evaluation against conditions. Code 1: one is not kept; 2: one cannot be checked.

    Code 2 is given where no condition is broken, but one cannot be checked.
    """
    found = opened(run)
    sums = summaries(found.scores, found.groups)
    checks = gate(conditions, sums)
    if as_json:
        print_json(checks)
    else:
        _show(checks, sums)
    if any(check.kept is False for check in checks):
        raise typer.Exit(1)
    if any(check.kept is None for check in checks):
        raise typer.Exit(2)


def _show(checks: Sequence[Condition], sums: Sequence[Summary]) -> None:
    rows = []
    for check in checks:
        value = f"{check.value:,.0f}" if check.figure == "scored" and check.value is not None else share(check.value)
        verdict = Text(*_VERDICT[check.kept])
        rows.append((plain(check.condition), plain(check.metric), check.figure, value, verdict))
    out.print(tabled(["condition", "metric"], ["figure", "value", ""], rows))
    for check in checks:
        if check.because:
            out.say(f"{check.condition}: {check.because}", "yellow")
    small = {one.metric for one in sums if one.scored < FEW}
    for metric in sorted({check.metric for check in checks if check.figure in ("low", "high")} & small):
        out.print(plain(f"{metric} has fewer than {FEW} scores: its interval is too narrow"), style="yellow")
