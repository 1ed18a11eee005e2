"""`surefoot compare`: evaluations beside the first, on the records that both have."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Annotated

from rich.table import Table
from typer import Argument, Option

from surefoot.cli._console import between, chance, number, out, plain, print_json, share, signed, tabled
from surefoot.evaluate.records.folder import opened
from surefoot.evaluate.score.comparison import Comparison, compared
from surefoot.evaluate.score.costs import StageCost, costs
from surefoot.stats.groups import FEW
from surefoot.stats.text import NONE
from surefoot.types import Summary
from surefoot.types.errors import UsageError

SHOWN = 5
"""Scores that are listed of those that fell most, and of those that rose most."""


def compare(
    runs: Annotated[list[Path], Argument(metavar="A B …", help="Folders of evaluations of the same questions.")],
    as_json: Annotated[bool, Option("--json", help="Print the comparison as JSON, and nothing else.")] = False,
) -> None:
    """Compare evaluations with the first, on the records that both have: differences, with tests."""
    if len(runs) < 2:
        raise UsageError("it takes two evaluations or more: surefoot compare A B")
    opened_runs = [opened(run) for run in runs]
    found = compared(*opened_runs)
    means = [run.summaries for run in opened_runs]
    spent = [costs(folder, run.records) for folder, run in zip(runs, opened_runs, strict=True)]
    if as_json:
        print_json({"runs": [*map(str, runs)], "comparisons": found, "means": means, "costs": spent})
        return
    names = [_named(n) for n in range(len(runs))]
    for name, folder in zip(names, runs, strict=True):
        out.say(f"{name} is {folder}.")
    labels = max((one.corrected for run in means for one in run), default=0)
    if len(runs) > 2 or labels:
        out.print()
        out.print(_beside(names, means))
    if labels:
        out.say(f"* as people would judge, by {labels} labels; all other figures are of the judge's scores", "dim")
    if any(spent):
        out.print()
        out.print(_costs(names, spent))
    for name, one in zip(names[1:], found, strict=True):
        _pair(name, one)
    out.print()
    out.print("p: by chance so far apart, or further; Holm: p corrected over all metrics and runs.", style="dim")
    out.print("shows: the difference that so many records find four times in five.", style="dim")


def _named(n: int) -> str:
    """A, B, … and behind Z the number."""
    return ascii_uppercase[n] if n < len(ascii_uppercase) else str(n + 1)


def _beside(names: Sequence[str], means: Sequence[Sequence[Summary]]) -> Table:
    known = [{one.metric: one for one in run} for run in means]
    rows = [
        (
            plain(metric),
            *(f"{share(one.mean)}{'*' * bool(one.corrected)}" if (one := run.get(metric)) else NONE for run in known),
        )
        for metric in sorted({metric for run in known for metric in run})
    ]
    return tabled(["mean of all records"], names, rows)


def _costs(names: Sequence[str], spent: Sequence[Sequence[StageCost]]) -> Table:
    known = [{one.stage: one for one in run} for run in spent]
    stages = dict.fromkeys(stage for run in known for stage in run)
    rows = [(plain(stage), *(_cost(run.get(stage)) for run in known)) for stage in stages]
    return tabled(["time a record"], names, rows)


def _cost(one: StageCost | None) -> str:
    if one is None:
        return NONE
    return f"{1000 * one.seconds:,.0f} ms" + (f", {one.tokens:,.0f} tokens" if one.tokens else "")


def _pair(name: str, found: Comparison) -> None:
    out.print()
    out.say(f"A and {name}: {found.records:,} records are in both; differences are of {name} less A.")
    tables = [_differences(found, name), _sizes(found, name)]
    for title, moved in (("fell most", found.fell[:SHOWN]), ("rose most", found.rose[:SHOWN])):
        rows = [(plain(one.record_id), plain(one.metric), share(one.before), share(one.after)) for one in moved]
        tables += [tabled([title, "metric"], ["A", name], rows)] if rows else []
    for table in tables:
        out.print()
        out.print(table)
    for note in _notes(found, name):
        out.say(note, "yellow")


def _differences(found: Comparison, name: str) -> Table:
    rows = []
    for one in found.changes:
        sizes = number(one.of), share(one.before), share(one.after), signed(one.difference)
        rows.append((plain(one.metric), *sizes, between(one.low, one.high, True), chance(one.p), chance(one.holm)))
    return tabled(["metric"], ["records", "A", name, f"{name} − A", "95 % interval", "p", "Holm"], rows)


def _sizes(found: Comparison, name: str) -> Table:
    rows = []
    for one in found.changes:
        alone = number(len(one.only_first)), number(len(one.only_second))
        rows.append((plain(one.metric), *alone, one.test or NONE, share(one.visible)))
    return tabled(["metric"], ["only A", f"only {name}", "test", "shows"], rows)


def _notes(found: Comparison, name: str) -> Iterator[str]:
    for judges in dict.fromkeys(one.judges for one in found.changes if one.judges):
        names = ", ".join(one.metric for one in found.changes if one.judges == judges)
        yield f"judged by {judges[0]} in A and by {judges[1]} in {name}, which may be what differs: {names}"
    if few := [f"{one.metric} ({one.groups})" for one in found.changes if 0 < one.groups < FEW]:
        yield f"fewer than {FEW} independent records or groups, so that the interval is too narrow: {', '.join(few)}"
    if found.unlike:
        left_out = ", ".join(found.unlike[:3])
        yield f"{len(found.unlike):,} ids name another question in {name}, and were left out: {left_out}"
    if found.only_first or found.only_second:
        yield f"records that only one has: {len(found.only_first):,} in A, {len(found.only_second):,} in {name}"
