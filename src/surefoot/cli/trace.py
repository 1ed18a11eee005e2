"""`surefoot trace`: look at a recorded trace, or decide again from it."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from surefoot.cli._console import out
from surefoot.cli._trace_view import whole
from surefoot.evidence.policies import redecide
from surefoot.run.store import read_trace
from surefoot.types.errors import TraceFault


def trace(
    file: Annotated[Path, Argument(metavar="FILE", help="A trace that `surefoot ask --trace FILE` kept.")],
    replay: Annotated[
        bool, Option("--replay", help="Take the decision again from the recorded grades; code 1 when it differs.")
    ] = False,
) -> None:
    """Draw a recorded trace: grades, decision, strips, answer, and the cost of each step."""
    recorded = read_trace(file)
    if replay:
        again, was = redecide(recorded), recorded.decision
        out.say(f"{'same decision' if again == was else 'DIFFERENT'}: {again.action.value} ({again.because})")
        if again != was:
            out.say(f"recorded: {was.action.value if was else 'none'} ({was.because if was else ''})")
            raise typer.Exit(1)
        return
    try:
        drawn = whole(recorded)
    except (KeyError, ValueError) as error:  # a strip without its passage, or grades that are too few
        raise TraceFault(f"{file} does not fit together: it was changed by hand, or not all of it is there") from error
    out.print(drawn)
