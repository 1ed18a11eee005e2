"""The consoles, tables, figures and progress bars of all commands."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleDimensions, RenderableType
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from surefoot.models import registry
from surefoot.run.store import to_json, write_value
from surefoot.stats.figures import Figure
from surefoot.stats.text import NONE
from surefoot.text.json_values import spelled

REASONS = 3
"""Reasons for missing scores that a command shows, at most."""
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
_ENDS = str.maketrans(dict.fromkeys("\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", "\n") | {"\x1f": " "})
"""Other ends of lines than the usual one."""


def plain(text: str) -> str:
    """The text on one line, with what would steer a terminal, or could not be written to it, shown as \ufffd."""
    return " ".join(_STEERING.sub("\ufffd", text).split())


def tamed(text: str) -> str:
    """The text with its lines, as many characters long, what would steer a terminal shown as \ufffd."""
    return _STEERING.sub("\ufffd", text.replace("\r\n", " \n").translate(_ENDS))


def cut(text: str, most: int) -> str:
    """The text, or its beginning where it is longer than so many characters."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def tabled(left: Iterable[str], right: Iterable[str], rows: Iterable[Iterable[RenderableType]]) -> Table:
    """A table without lines: names, which may fold, then figures, which may not."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in left:
        table.add_column(heading, overflow="fold", min_width=8)  # in a narrow terminal too a row has its name
    for heading in right:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def print_json(value: Any) -> None:
    """Print what a command reports as JSON, on one line."""
    out.print(spelled(to_json(value)), soft_wrap=True)


def write_json(file: Path | None, value: Any) -> None:
    """Write what a command reports into the file that its user names, if one is named."""
    if file:
        write_value(file, value)


@contextmanager
def bar(*columns: ProgressColumn) -> Iterator[Progress]:
    """A progress bar with the time left, on standard error, gone when it is done; silent where there is no terminal."""
    layout = (TextColumn("{task.description}"), BarColumn(), *columns, TimeRemainingColumn())
    with Progress(*layout, console=err, transient=True, disable=not err.is_terminal) as progress:
        yield progress


@contextmanager
def counting(name: str) -> Iterator[Callable[[int, int], None]]:
    """A bar of what is done, of how many; the time left counts only what was done since it began."""
    with bar(MofNCompleteColumn()) as progress:
        task, begun = progress.add_task(name, total=None), False

        def report(done: int, total: int) -> None:
            nonlocal begun
            (progress.update if begun else progress.reset)(task, completed=done, total=total)
            begun = True

        yield report


@contextmanager
def pulling() -> Iterator[None]:
    """Show each model file that is fetched inside: its name, a bar, and a line when it is there."""
    with ExitStack() as shown:
        progress: Progress | None = None  # drawn only from the first file: it would wipe out what others draw
        tasks: dict[str, int] = {}

        def report(name: str, done: int, total: int) -> None:
            nonlocal progress
            progress = progress or shown.enter_context(bar(DownloadColumn()))
            if name not in tasks:
                err.print(f"Fetching {name} ({total / 1e6:.0f} MB), once; after that nothing goes out.")
                tasks[name] = progress.add_task(name, total=total)
            progress.update(tasks[name], completed=done, total=total)  # type: ignore[arg-type]

        with registry.reporting(report):
            yield


def share(number: float | None, places: int = 3) -> str:
    """To so many decimals: ".612", "1.000", "−.250"."""
    if number is None:
        return NONE
    size = f"{abs(number):.{places}f}".removeprefix("0")
    return f"−{size}" if number < 0 and float(size) else size


def signed(number: float | None) -> str:
    """The same with its sign, also where it is plus; what rounds to 0 has none."""
    written = share(number)
    return f"+{written}" if number and number > 0 and written != ".000" else written


def between(low: float | None, high: float | None, sign: bool = False) -> str:
    """An interval; empty where there is none."""
    written = signed if sign else share
    return "" if low is None or high is None else f"[{written(low)}, {written(high)}]"


def figure(one: Figure) -> str:
    """A value and its interval, if it has one."""
    return f"{share(one.value)} {between(one.low, one.high)}".strip()


def chance(p: float | None) -> str:
    """A p-value, to three decimals."""
    return NONE if p is None else "<.001" if p < 0.001 else share(p)


def number(count: int | None) -> str:
    """A count, with commas."""
    return NONE if count is None else f"{count:,}"
