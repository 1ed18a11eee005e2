"""How explanations look in a terminal: red for what raises the number, blue for what lowers it, and a sign for each."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from surefoot.cli.console import headed, plain
from surefoot.explain.action import Why
from surefoot.explain.answer import Needs
from surefoot.explain.flip import Flip
from surefoot.types import Attribution, Trace

STRONGEST = 8
"""Units, and pairs of them, that are listed with their values."""
DEGREES = (0.15, 0.4, 0.7)
"""Shares of the largest value from which a word has one, two and three signs."""
RAISES, LOWERS = "red", "blue"


def words(found: Attribution) -> RenderableType:
    """Question, title and text with their words marked, the strongest listed, and how far it all can be trusted."""
    sides: list[RenderableType] = [
        _side(found, side) for side in ("question", "title", "text") if any(u.side == side for u in found.units)
    ]
    parts: list[RenderableType] = [Text(plain(f"{found.of}: {found.full:.3g}"), style="bold"), *sides]
    parts += [Text(), _strongest(found)]
    if found.interactions:
        parts += [Text(), _together(found)]
    return Group(*parts, Text(), *(Text(plain(line), style="dim") for line in _trust(found)))


def flip(found: Flip | None) -> RenderableType:
    """The words, or that there are none."""
    if found is None:
        return Text("No few words of the passage flip its label.")
    lost = ", ".join(f"“{unit.words}”" for unit in found.units)
    return Text(plain(f"Without {lost} it would be {found.after.value}, not {found.before.value} ({found.score:.3g})."))


def action(found: Why, trace: Trace) -> RenderableType:
    """The margins, what would have flipped the action, and what each passage did for it."""
    lines = [f"{found.action.value.upper()}: {found.because}"]
    if found.above_upper is not None and found.above_lower is not None:
        lines.append(f"best score less τ+: {found.above_upper:+.3g}; less τ−: {found.above_lower:+.3g}")
    lines += [*_flips(found)] or ["Nothing that was tried flips it: no passage dropped, and no threshold moved alone."]
    parts: list[RenderableType] = [Text(plain(lines[0]), style="bold"), *(Text(plain(line)) for line in lines[1:])]
    if found.without:
        parts += [Text(), _passages(found, trace)]
    return Group(*parts)


def answer(found: Needs) -> RenderableType:
    """Each strip, and what is answered without it."""
    lines = [Text(plain(f"Answer: {found.text or 'a refusal'}"), style="bold")]
    if not found.as_recorded:
        lines.append(Text("! It is not what the trace recorded.", style="yellow"))
    table = headed(["[n]", "needed", "without it", "strip"], [])
    for number, one in enumerate(found.strips, start=1):
        said = "a refusal" if one.refused else one.text if one.changed else "the same"
        table.add_row(str(number), "yes" if one.changed else "no", plain(said), plain(one.strip.text))
    return Group(*lines, table)


def _side(found: Attribution, side: str) -> Text:
    most = max(map(abs, found.values))
    text = Text(f"{side:<9}", style="")
    for unit, value in zip(found.units, found.values, strict=True):
        if unit.side == side:
            text.append(" ")
            _append(text, plain(unit.words), value / most if most else 0.0)
    return text


def _append(text: Text, word: str, share: float) -> None:
    """The word; with signs after it, as many as it is strong, so that it reads without colour too."""
    degree = sum(abs(share) >= least for least in DEGREES)
    colour = RAISES if share > 0 else LOWERS
    style = ("", colour, f"bold {colour}", f"bold reverse {colour}")[degree]
    text.append(word + ("+" if share > 0 else "−") * degree, style=style)


def _strongest(found: Attribution) -> Table:
    table = headed(["word", "of"], ["value", "± standard error"])
    order = sorted(range(len(found.units)), key=lambda n: -abs(found.values[n]))
    for n in order[:STRONGEST]:
        unit, value = found.units[n], found.values[n]
        colour = RAISES if value > 0 else LOWERS
        table.add_row(plain(unit.words), unit.side, Text(f"{value:+.3g}", style=colour), f"{found.errors[n]:.2g}")
    return table


def _together(found: Attribution) -> Table:
    table = headed(["together", "with"], ["value", "± standard error"])
    for one in sorted(found.interactions, key=lambda one: -abs(one.value))[:STRONGEST]:
        first, second = (plain(found.units[n].words) for n in (one.first, one.second))
        table.add_row(first, second, f"{one.value:+.3g}", f"{one.error:.2g}")
    return table


def _trust(found: Attribution) -> Iterator[str]:
    yield (
        f"from {found.base:.3g} without words to {found.full:.3g}; {found.method}, baseline {found.baseline}, "
        f"{found.evaluations:,} texts graded, seed {found.seed}, gap {found.gap:.1g}"
    )
    if not found.reached:
        yield f"! not known to the tolerance of {found.tolerance:.0%} that was asked for; allow more with --most"
    tied = sum(map(len, found.ties))
    if tied:
        yield f"{tied} words share their value with others; their order says nothing"
    yield from found.notes


def _flips(found: Why) -> Iterator[str]:
    for drop in found.drops:
        yield f"Without {', '.join(drop.passage_ids)} it would be {drop.action.value}."
    for move in found.moves:
        name = {"upper": "τ+", "lower": "τ−"}[move.threshold]
        yield f"With {name} at {move.to:.4g} ({move.by:+.3g}) it would be {move.action.value}."


def _passages(found: Why, trace: Trace) -> Table:
    table = headed(["passage", "title", "without it"], ["score", "carried"])
    values = found.carried.values if found.carried else [None] * len(found.without)
    for alone, value, passage in zip(found.without, values, trace.passages, strict=True):
        score = "–" if alone.score is None else f"{alone.score:.3g}"
        carried = "–" if value is None else f"{value:+.3g}"
        after = Text(alone.action.value, style="" if alone.action is found.action else "bold")
        table.add_row(plain(passage.id), plain(passage.title), after, score, carried)
    return table
