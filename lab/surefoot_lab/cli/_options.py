"""Options that several commands of the lab share, and the table that holds methods against each other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

from rich.table import Table
from typer import Option

from surefoot.cli import _questions as questions
from surefoot.cli._console import headed, plain
from surefoot.cli._numbers import brief, number, points
from surefoot.config.builder import Builder
from surefoot.config.settings import Config
from surefoot.evaluate.ask.runs import Spread
from surefoot.pipeline import Pipeline
from surefoot.types.errors import MissingExtra
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
Ray = Annotated[
    str | None,
    Option("--ray", metavar="ADDRESS", help="Spread the questions over this Ray cluster: host:port, or auto."),
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


@contextmanager
def spread(config: Config, ray: str | None, workers: int) -> Iterator[Spread]:
    """Workers that ask the questions: on a cluster, or threads of this process."""
    if ray is None:
        with questions.spread(config, workers) as found:
            yield found
        return
    try:
        from surefoot_lab import cluster
    except ImportError as error:
        raise MissingExtra("--ray", "ray") from error
    with cluster.workers(ray, partial(_built, config, os.getcwd())) as found:
        yield found


def _built(config: Config, folder: str) -> Pipeline:
    """Build the pipeline in another process, where relative paths must lead to the same folder."""
    os.chdir(folder)
    return Builder(config).pipeline()
