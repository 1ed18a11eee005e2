"""`surefoot compare`: two evaluations on the records that both have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from surefoot.cli._console import headed, out, plain
from surefoot.cli._numbers import between, chance, number, share, signed
from surefoot.evaluate.records.folder import opened
from surefoot.evaluate.score.comparison import DIFFERENCE, Comparison, Moved, compared
from surefoot.stats.groups import FEW
from surefoot.store import to_json
from surefoot.text.json_values import spelled

SHOWN = 5
"""Of the scores that fell most, and that rose most."""


def compare(
    first: Annotated[Path, typer.Argument(metavar="A", help="Folder of an evaluation.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="Folder of another one, of the same questions.")],
    difference: Annotated[
        float, typer.Option("--difference", min=0.0001, help="Say how many records it takes to see this difference.")
    ] = DIFFERENCE,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON, and nothing else.")] = False,
) -> None:
    """Compare two evaluations on the records that both have: differences, with tests."""
    found = compared(opened(first), opened(second), difference)
    if as_json:
        out.print(spelled(to_json(found)), soft_wrap=True)
        return
    said = f"A is {first}, B is {second}. {found.records:,} records are in both; differences are of B less A."
    out.say(said)
    out.print()
    out.print(_differences(found))
    out.print()
    out.print(_sizes(found))
    for title, moved in (("fell most", found.fell), ("rose most", found.rose)):
        if moved:
            out.print()
            out.print(_moved(title, moved[:SHOWN]))
    out.print()
    out.print("p: by chance so far apart, or further; Holm: p corrected over all metrics.", style="dim")
    out.print("shows: the difference that so many records find four times in five.", style="dim")
    for note in _notes(found):
        out.say(note, "yellow")


def _differences(found: Comparison) -> Table:
    table = headed(["metric"], ["records", "A", "B", "B − A", "95 % interval", "p", "Holm"])
    for one in found.changes:
        sizes = number(one.of), share(one.before), share(one.after), signed(one.difference)
        table.add_row(plain(one.metric), *sizes, between(one.low, one.high, True), chance(one.p), chance(one.holm))
    return table


def _sizes(found: Comparison) -> Table:
    table = headed(["metric"], ["only A", "only B", "test", "shows", f"records to show {found.asked:g}"])
    for one in found.changes:
        alone = number(len(one.only_first)), number(len(one.only_second))
        table.add_row(plain(one.metric), *alone, one.test or "–", share(one.visible), number(one.needed))
    return table


def _moved(title: str, moved: tuple[Moved, ...]) -> Table:
    table = headed([title, "metric"], ["A", "B"])
    for one in moved:
        table.add_row(plain(one.record_id), plain(one.metric), share(one.before), share(one.after))
    return table


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
