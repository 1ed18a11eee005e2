"""Tables of figures: the screen, Markdown and JSON are written from the same rows."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from surefoot.cli._console import number, out, plain as one_line, tabled
from surefoot.explain.explanation import printable
from surefoot.run.store import to_json
from surefoot.stats import text
from surefoot.stats.figures import RESAMPLES, SEED, Figure, Paired
from surefoot.stats.text import NONE
from surefoot_lab.figures import Share

Form = Callable[[Any], str]
"""Writes a value of a column."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of values, and how those of each column are written."""

    name: str
    """Its heading in Markdown and its key in JSON."""
    columns: Mapping[str, Form]
    """By heading; `str` for words."""
    rows: Sequence[Sequence[Any]]
    note: str = ""
    """A sentence that explains it."""

    def texts(self) -> list[list[str]]:
        """The rows as they are written."""
        return [[form(value) for form, value in zip(self.columns.values(), row, strict=True)] for row in self.rows]


def short(file: str) -> str:
    """A file's name and that of its folder, as they are shown."""
    return one_line("/".join(PurePath(file).with_suffix("").parts[-2:]))


def show(tables: Iterable[Table]) -> None:
    """Print each table, with its note."""
    for table in tables:
        words = [heading for heading, form in table.columns.items() if form is str]
        figures = [heading for heading in table.columns if heading not in words]
        out.print(tabled(words, figures, [map(one_line, row) for row in table.texts()]))
        if table.note:
            out.say(table.note, "dim")
        out.print()


def as_json(tables: Iterable[Table]) -> dict[str, list[dict[str, Any]]]:
    """By name of each table its rows, values by heading: a Share as {count, of, share, low, high}, a Figure as {value,
    low, high, of, undefined}."""
    return {table.name: [dict(zip(table.columns, to_json(row), strict=True)) for row in table.rows] for table in tables}


def report_json(reports: Any, tables: Iterable[Table], about: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of `about`; `reports`; `tables`, by `as_json`; `seed` and `resamples` of the bootstrap."""
    return {**about, "reports": to_json(reports), "tables": as_json(tables), "seed": SEED, "resamples": RESAMPLES}


def as_markdown(tables: Iterable[Table]) -> str:
    """Each table under its name, followed by its note."""
    return "\n\n".join(
        part for one in tables for part in (f"## {plain(one.name)}", markdown(one), plain(one.note)) if part
    )


def markdown(table: Table) -> str:
    """The table alone; figures are set to the right."""
    head, *lines = [f"| {' | '.join(map(plain, row))} |" for row in (table.columns, *table.texts())]
    sides = [" --- " if form is str else " ---: " for form in table.columns.values()]
    return "\n".join([head, f"|{'|'.join(sides)}|", *lines])


def plain(text: str) -> str:
    """The text on one line, with nothing that Markdown, or HTML within it, would take for a mark."""
    escaped = re.sub(r"([\\`*_\[\]|#~!])", r"\\\1", printable(" ".join(text.split())))
    return escaped.replace("&", "&amp;").replace("<", "&lt;")


def bullets(items: Iterable[str]) -> str:
    """A list in Markdown."""
    return "\n".join(f"- {plain(item)}" for item in items)


def fenced(text: str) -> str:
    """The text as it is in a file; its fence is longer than any run of backticks inside."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}\n{printable(text.strip(), lines=True)}\n{fence}"


def percent(one: Share | float | None) -> str:
    """A share of 1: "69.2 %"."""
    return text.percent(one.share if isinstance(one, Share) else one, 1)


def interval(one: Share | Figure) -> str:
    """The interval of a share, in percent without the sign: "60.4 to 76.9"."""
    return NONE if one.low is None or one.high is None else f"{one.low * 100:.1f} to {one.high * 100:.1f}"


def share(one: Share) -> str:
    """A share, its interval and its counts: "69.2 % (60.4 to 76.9), 92 of 133"."""
    return NONE if one.share is None else f"{percent(one)} ({interval(one)}), {one.count:,} of {one.of:,}"


def of(one: Share) -> str:
    """A share in whole percent, with the number that it is of: "69 % of 133"."""
    return NONE if one.share is None else f"{text.percent(one.share, 0)} of {one.of:,}"


def points(gain: Figure) -> str:
    """A difference of shares in points, with its interval: "+3.2 (+1.1 to +5.0)"."""
    return between(gain, lambda value: text.number(value * 100, "+.1f"))


def between(one: Figure, form: Callable[[float], str]) -> str:
    """A figure and its interval, in this form."""
    if one.value is None:
        return NONE
    ends = "" if one.low is None or one.high is None else f" ({form(one.low)} to {form(one.high)})"
    return f"{form(one.value)}{ends}"


def crossed(one: Paired) -> str:
    """How many fell below a threshold, and how many rose to it."""
    return f"↓{one.first:,} ↑{one.second:,}"


count = number
"""A count, with commas."""


def seconds(one: float | None) -> str:
    """Seconds, to hundredths."""
    return text.number(one, ".2f")


def chance(p: float | None) -> str:
    """Two digits of a p-value, which may be tiny."""
    return text.number(p, ".2g")
