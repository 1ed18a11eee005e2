"""`surefoot lab rules`: the effect of each word rule."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from surefoot.cli._console import headed, out
from surefoot.run.store import recorded
from surefoot_lab.rules import SETS, effects


def rules(
    folder: Annotated[Path, Argument(metavar="INJECTIONS", help="The folder benchmarks/injections.")],
    run: Annotated[
        Path | None, Option("--run", help="A folder of `surefoot lab manuals`: count its questions, too.")
    ] = None,
) -> None:
    """Switch each rule that excludes sentences off, and count what is then missed."""
    traces = [*recorded(run / "surefoot")[1].values()] if run else []
    table = headed(
        ["rule that is off"], [f"caught, {name}" for name in SETS] + ["harmless excluded", "questions touched"]
    )
    for one in effects(folder, traces):
        counts = [str(one.caught[name]) for name in SETS]
        table.add_row(one.rule or "none", *counts, str(one.harmless), str(one.questions))
    out.print(table)
