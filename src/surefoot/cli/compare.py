"""`surefoot compare`: two evaluations on the records that both have."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from rich.table import Table
from typer import Argument, Option

from surefoot.cli._console import between, chance, number, out, plain, print_json, share, signed, tabled
from surefoot.evaluate.records.folder import opened
from surefoot.evaluate.score.comparison import Comparison, compared
from surefoot.stats.groups import FEW
from surefoot.stats.text import NONE

SHOWN = 5
"""Scores that are listed of those that fell most, and of those that rose most."""


def compare(
    first: Annotated[Path, Argument(metavar="A", help="Folder of an evaluation.")],
    second: Annotated[Path, Argument(metavar="B", help="Folder of another one, of the same questions.")],
    as_json: Annotated[bool, Option("--json", help="Print the comparison as JSON, and nothing else.")] = False,
) -> None:
    """Compare two evaluations on the records that both have: differences, with tests."""
    found = compared(opened(first), opened(second))
    if as_json:
        print_json(found)
        return
    out.say(f"A is {first}, B is {second}. {found.records:,} records are in both; differences are of B less A.")
    tables = [_differences(found), _sizes(found)]
    for title, moved in (("fell most", found.fell[:SHOWN]), ("rose most", found.rose[:SHOWN])):
        rows = [(plain(one.record_id), plain(one.metric), share(one.before), share(one.after)) for one in moved]
        tables += [tabled([title, "metric"], ["A", "B"], rows)] if rows else []
    for table in tables:
        out.print()
        out.print(table)
    out.print()
    out.print("p: by chance so far apart, or further; Holm: p corrected over all metrics.", style="dim")
    out.print("shows: the difference that so many records find four times in five.", style="dim")
    for note in _notes(found):
        out.say(note, "yellow")


def _differences(found: Comparison) -> Table:
    rows = []
    for one in found.changes:
        sizes = number(one.of), share(one.before), share(one.after), signed(one.difference)
        rows.append((plain(one.metric), *sizes, between(one.low, one.high, True), chance(one.p), chance(one.holm)))
    return tabled(["metric"], ["records", "A", "B", "B − A", "95 % interval", "p", "Holm"], rows)


def _sizes(found: Comparison) -> Table:
    rows = []
    for one in found.changes:
        alone = number(len(one.only_first)), number(len(one.only_second))
        rows.append((plain(one.metric), *alone, one.test or NONE, share(one.visible)))
    return tabled(["metric"], ["only A", "only B", "test", "shows"], rows)


def _notes(found: Comparison) -> Iterator[str]:
    for judges in dict.fromkeys(one.judges for one in found.changes if one.judges):
        names = ", ".join(one.metric for one in found.changes if one.judges == judges)
        yield f"judged by {judges[0]} in A and by {judges[1]} in B, which may be what differs: {names}"
    if few := [f"{one.metric} ({one.groups})" for one in found.changes if 0 < one.groups < FEW]:
        yield f"fewer than {FEW} independent records or groups, so that the interval is too narrow: {', '.join(few)}"
    if found.unlike:
        yield f"{len(found.unlike):,} ids name another question in B, and were left out: {', '.join(found.unlike[:3])}"
    if found.only_first or found.only_second:
        yield f"records that only one has: {len(found.only_first):,} in A, {len(found.only_second):,} in B"
