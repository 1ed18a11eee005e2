"""`surefoot lab rules`: the effect of each word rule."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from surefoot.cli._console import out, tabled
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
    rows = (
        (one.rule or "none", *(str(one.caught[name]) for name in SETS), str(one.harmless), str(one.questions))
        for one in effects(folder, traces)
    )
    counted = [*(f"caught, {name}" for name in SETS), "harmless excluded", "questions touched"]
    out.print(tabled(["rule that is off"], counted, rows))
