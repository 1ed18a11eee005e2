"""`surefoot lab drift`: whether the scores of recent questions have left those of earlier ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from surefoot.cli._console import out, print_json, tabled
from surefoot.run.store import to_json
from surefoot.types import Action
from surefoot_lab.drift import CHANCE, MOVED, Drift, drift, marked, traces

WHAT_TO_DO = (
    "Look at what is asked and indexed now that was not before. Then label some recent questions, and fit thresholds "
    "to them: surefoot lab tune"
)


def drifted(
    runs: Annotated[list[Path], Argument(metavar="TRACES...", help="Traces, folders of runs, or folders of these.")],
    before: Annotated[
        list[Path] | None,
        Option("--before", metavar="TRACES", help="Earlier ones to hold them against; again for one more."),
    ] = None,
    days: Annotated[int, Option("--days", min=1, help="Without --before: the last so many days are recent.")] = 30,
    as_json: Annotated[bool, Option("--json", help="Print the figures as JSON, and nothing else.")] = False,
) -> None:
    """Tell whether the grades of recent questions have left the distribution of earlier ones. Code 1: they have.

    Each question counts by the best score among its passages. Nothing is graded again.
    """
    found = drift([*marked(traces(runs))], [*marked(traces(before or []))], days)
    if as_json:
        print_json({**to_json(found), "moved": found.moved})
    else:
        _show(found)
    if found.moved:
        raise typer.Exit(1)


def _show(found: Drift) -> None:
    windows = found.earlier, found.recent
    rows = [
        ["first asked", *(one.begins for one in windows)],
        ["last asked", *(one.ends for one in windows)],
        ["questions", *(f"{one.questions:,}" for one in windows)],
        ["median of the best scores", *(f"{one.median:.3g}" for one in windows)],
        *([action.value, *(f"{one.actions[action.value]:.0%}" for one in windows)] for action in Action),
    ]
    out.print(tabled([""], ["earlier", "recent"], rows))
    out.say(f"stability index {found.index:.3f} [{found.low:.3f}, {found.high:.3f}], an alarm from {MOVED} up")
    out.say(f"Kolmogorov–Smirnov {found.apart:.3f}, p = {found.p:.2g}, an alarm below {CHANCE}")
    if found.left_out:
        out.say(f"{found.left_out:,} questions were graded by another evaluator and do not count", "yellow")
    if found.moved:
        out.say(f"The scores have moved. {WHAT_TO_DO}", "red")
    else:
        out.say("The scores have not moved, as far as so many questions show.")
