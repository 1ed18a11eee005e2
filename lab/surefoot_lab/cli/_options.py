"""Options that several commands of the lab share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from surefoot.config.trust import place
from surefoot.types.errors import UsageError

JsonFile = Annotated[Path | None, Option("--json", metavar="FILE", help="Write the report here.")]
Threads = Annotated[int, Option("--threads", min=1, help="Questions at a time.")]
DataFile = Annotated[
    Path | None, Option("--data", metavar="FILE", help="The questions, if they are no longer where they were.")
]


def data_of(folder: Path, about: Mapping[str, Any]) -> Path:
    """The data that a run says it was made on, below the working directory. Raises UsageError where there are none."""
    if not (named := about.get("data")):
        raise UsageError(f"{folder} does not say on which data it was run; name them with --data")
    return place(str(named), "--data")
