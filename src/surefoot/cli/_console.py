"""What the commands share: the consoles, a bar for model files, and the options that make a configuration."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Annotated, Any

import typer
from rich.console import Console, ConsoleDimensions
from rich.progress import BarColumn, DownloadColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from surefoot.cli import trusting
from surefoot.config import consent
from surefoot.config.settings import Config, read, settings
from surefoot.config.trust import Own, Rebuilt, rebuilt
from surefoot.draw.svg import drawable
from surefoot.errors import UnagreedCode
from surefoot.models import files

REASONS = 3
"""Of the reasons why pairs could not be graded, so many are shown."""
WIDE = 120
"""Columns that a table may take where there is no terminal to be too narrow for it; rich would fold it at 80."""


class _Console(Console):
    def __init__(self, stderr: bool = False) -> None:
        # Everything printed may hold text of documents, models and servers, so none of it is read as markup.
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)
        self._width = self._height = None  # COLUMNS is read when something is printed, not now

    def say(self, text: str, style: str | None = None) -> None:
        """Print one line of text, however long it is, without what would steer a terminal."""
        self.print(plain(text), style=style, soft_wrap=True)

    @property
    def size(self) -> ConsoleDimensions:
        own = super().size
        free = not self.is_terminal and "COLUMNS" not in self._environ
        return ConsoleDimensions(WIDE, own.height) if free else own

    @size.setter
    def size(self, new: tuple[int, int]) -> None:
        self._width, self._height = new


out = _Console()
err = _Console(stderr=True)

# Controls, overrides and marks of direction, tags (which spell ASCII that nobody sees), halves of characters.
_STEERING = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e0fff\ud800-\udfff]"
)

ConfigFile = Annotated[
    str | None, typer.Option("--config", metavar="FILE", help="Configuration; surefoot.toml here is read unasked.")
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="A.B=C", help="Override one setting; may be given again.")
]
IndexFile = Annotated[
    str | None, typer.Option("--index", metavar="FILE", help="The index, instead of .surefoot/index.db.")
]


def drawing(what: str) -> Any:
    """The option of a picture; a name that cannot be drawn is refused before anything is computed."""
    said = f"Draw {what} here; .svg, or .png with the extra png."
    return typer.Option("--figure", metavar="FILE", help=said, callback=_drawn)


def configured(config: str | None, sets: list[str] | None, index: str | None) -> Config:
    """The configuration of a command: file, then --index, then each --set."""
    chosen = [{"index": {"path": index}}] if index else []
    return agreed(config, *chosen, *settings(sets or []))


def agreed(config: str | Mapping[str, Any] | None, *overrides: Mapping[str, Any]) -> Config:
    """`config.read`. A file that names code is asked about once in a folder, where there is a terminal to ask on."""
    try:
        found = read(config, *overrides, trusted=trusting.get())
    except UnagreedCode as error:
        if not (sys.stdin.isatty() and err.is_terminal and _agree(error)):
            raise
        found = read(config, *overrides)
    return found


def as_recorded(recorded: Mapping[str, Any], origin: str, sets: list[str] | None) -> Config:
    """The configuration of a trace or a run; what it may not say is the user's own. Then each --set."""
    found = rebuilt(recorded, owned(sets))
    say(found, origin)
    return found.config


def owned(sets: list[str] | None) -> Own:
    """What the user says beside a record: surefoot.toml, each --set, and --trust."""
    return Own(agreed(None), settings(sets or []), trusting.get())


def say(found: Rebuilt, origin: str) -> None:
    """Say which code of a record is trusted, before any is imported, and which settings were not taken."""
    for name in found.imports:
        err.say(f"{origin} is trusted to name {name}, from {consent.origin(name)}")
    if found.left:
        kept = f"not taken from {origin}: {', '.join(found.left)}; files, machines and keys are yours to name"
        err.say(f"{kept}: --set {found.left[0]}=…, or surefoot.toml", "dim")


def _agree(error: UnagreedCode) -> bool:
    err.print("The configuration names code that was never used in this folder:")
    for name in error.names:
        err.say(f"{name}, from {consent.origin(name)}")
    said = typer.confirm("Import and run it, now and later?", err=True)
    if said:
        consent.remember(error.names)
    return said


def _drawn(path: Path | None) -> Path | None:
    if path:
        drawable(path)
    return path


def plain(text: str) -> str:
    """The text on one line, with what would steer a terminal, or could not be written to it, shown as \ufffd."""
    return " ".join(_STEERING.sub("\ufffd", text).split())


def short(file: str) -> str:
    """A file's name and that of its folder, as they are shown."""
    return plain("/".join(PurePath(file).with_suffix("").parts[-2:]))


def headed(left: Iterable[str], right: Iterable[str]) -> Table:
    """A table without lines: names, which may fold, then figures, which may not."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in left:
        table.add_column(heading, overflow="fold", min_width=8)  # in a narrow terminal too a row has its name
    for heading in right:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


@contextmanager
def bar(*columns: ProgressColumn) -> Iterator[Progress]:
    """A progress bar with the time left, on standard error, gone when it is done; silent where there is no terminal."""
    layout = (TextColumn("{task.description}"), BarColumn(), *columns, TimeRemainingColumn())
    with Progress(*layout, console=err, transient=True, disable=not err.is_terminal) as progress:
        yield progress


@contextmanager
def pulling() -> Iterator[None]:
    """Show each model file that is fetched inside: its name, a bar, and a line when it is there."""
    with bar(DownloadColumn()) as progress:
        tasks: dict[str, int] = {}

        def report(name: str, done: int, total: int) -> None:
            if name not in tasks:
                err.print(f"Fetching {name} ({total / 1e6:.0f} MB), once; after that nothing goes out.")
                tasks[name] = progress.add_task(name, total=total)
            progress.update(tasks[name], completed=done, total=total)  # type: ignore[arg-type]

        with files.reporting(report):
            yield
