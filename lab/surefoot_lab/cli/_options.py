"""Options that several commands of the lab share, and the table that holds methods against each other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from rich.table import Table
from typer import Option

from surefoot.cli._console import headed, plain
from surefoot.cli._numbers import number
from surefoot_lab.cli._numbers import brief, points
from surefoot_lab.qa import MethodComparison

Top = Annotated[int, Option("--top", min=1, help="Passages that rag reads where it does not say.")]
Methods = Annotated[
    list[str] | None,
    Option(
        "--method",
        metavar="NAME",
        help="none (the model's memory), rag (or rag:10: ten passages), self-rag (or self-rag:10), crag (searches "
        "nowhere), crag+search, self-crag, self-crag+search; again for one beside it. Unnamed: crag, with the search "
        "if one is configured.",
    ),
]
JsonFile = Annotated[Path | None, Option("--json", metavar="FILE", help="Write the report here.")]
RunFolder = Annotated[
    Path | None, Option("--run", metavar="FOLDER", help="Keep the traces here, a folder each; resumes.")
]


def compared(comparisons: list[MethodComparison]) -> Table:
    """Methods held against each other, with how sure one can be that they differ."""
    table = headed(["difference"], ["points", "95 % interval", "only the first", "only the second", "p"])
    for one in comparisons:
        counts = number(one.paired.first), number(one.paired.second), brief(one.paired.p)
        table.add_row(plain(f"{one.first} − {one.second}"), *points(one.gain), *counts)
    return table
