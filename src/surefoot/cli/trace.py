"""`surefoot trace` and `surefoot replay`: look at a recorded trace, and decide again from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument

from surefoot.cli._console import cut, out, plain, tabled
from surefoot.cli._trace_view import whole
from surefoot.evidence.policies import redecide
from surefoot.explain.difference import differences
from surefoot.run.store import read_trace
from surefoot.stats.text import NONE
from surefoot.types import Trace
from surefoot.types.errors import TraceFault

SHOWN = 160
"""Characters of what a trace says, at most."""

TraceFile = Annotated[Path, Argument(metavar="FILE", help="A trace that `surefoot ask --trace FILE` kept.")]


def trace(
    file: TraceFile,
    other: Annotated[
        Path | None, Argument(metavar="OTHER", help="Another one: show only where the two differ.", show_default=False)
    ] = None,
) -> None:
    """Draw a recorded trace: grades, decision, strips, answer, and what each step cost; or where two of them part."""
    recorded = read_trace(file)
    if other:
        _differ(recorded, read_trace(other))
        return
    try:
        drawn = whole(recorded)
    except (KeyError, ValueError) as error:  # a strip without its passage, or grades that are too few
        raise TraceFault(f"{file} does not fit together: it was changed by hand, or not all of it is there") from error
    out.print(drawn)


def _differ(first: Trace, second: Trace) -> None:
    found = [*differences(first, second)]
    rows = ([plain(one.of), *(plain(cut(said, SHOWN)) or NONE for said in (one.first, one.second))] for one in found)
    out.print(tabled(["", "the first", "the second"], [], rows) if found else "no difference")


def replay(file: TraceFile) -> None:
    """Take the decision again from the recorded grades; exit code 1 when it differs."""
    recorded = read_trace(file)
    again, was = redecide(recorded), recorded.decision
    same = again == was
    out.say(f"{'same decision' if same else 'DIFFERENT'}: {again.action.value} ({again.because})")
    if not same:
        out.say(f"recorded: {was.action.value if was else 'none'} ({was.because if was else ''})")
        raise typer.Exit(1)
