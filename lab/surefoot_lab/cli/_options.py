"""Options that several commands of the lab share."""

from pathlib import Path
from typing import Annotated

from typer import Option

JsonFile = Annotated[Path | None, Option("--json", metavar="FILE", help="Write the report here.")]
Threads = Annotated[int, Option("--threads", min=1, help="Questions at a time.")]
Limit = Annotated[int | None, Option("--limit", min=1, help="Only a sample of so many questions a file.")]
