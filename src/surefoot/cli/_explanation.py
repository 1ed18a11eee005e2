"""Explanations in a terminal: red raises the number, blue lowers it, and each has a sign."""

from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from surefoot.cli._console import plain, tabled
from surefoot.explain.action import ActionExplanation
from surefoot.explain.answer import Needs
from surefoot.explain.explanation import Explanation, degree, flips_action, margins, number, signs, strongest, trust
from surefoot.types import Attribution, Trace
from surefoot.web import hashed, static

STRONGEST = 8
"""Units that are listed with their values in a terminal."""
_COLUMNS = 120
"""Width of the page."""
RAISES, LOWERS = "red", "blue"


def page(found: Explanation) -> str:
    """The explanations as they stand in a terminal, with every value, as an HTML file that may load nothing and run
    nothing."""
    console = Console(record=True, file=StringIO(), width=_COLUMNS, highlight=False, markup=False, emoji=False)
    if found.action and found.trace:
        console.print(plain(found.action.question), Text(), action(found.action, found.trace), Text(), sep="\n")
    if found.grade:
        console.print(words(found.grade, len(found.grade.units)), Text(), sep="\n")
    if found.answer:
        console.print(answer(found.answer))
    html = console.export_html(code_format=static("why.html"))
    style = html.partition("<style>")[2].partition("</style>")[0]
    policy = f"default-src 'none'; style-src '{hashed(style)}'; base-uri 'none'; form-action 'none'"
    return html.replace("POLICY", policy, 1)


def words(found: Attribution, listed: int = STRONGEST) -> RenderableType:
    """Question, title and text with their words marked, the strongest listed, and how far it all can be trusted."""
    head = Text(plain(f"{found.of}: {found.full:.3g}"), style="bold")
    there = {unit.side for unit in found.units}
    sides = (_side(found, side) for side in ("question", "title", "text") if side in there)
    doubts = (Text(plain(line), style="dim") for line in trust(found))
    return Group(head, *sides, Text(), _strongest(found, listed), Text(), *doubts)


def action(found: ActionExplanation, trace: Trace) -> RenderableType:
    """The margins, what would have flipped the action, and what each passage did for it."""
    head = Text(plain(f"{found.decision.action.value.upper()}: {found.decision.because}"), style="bold")
    lines = (Text(plain(line)) for line in (*margins(found), *flips_action(found)))
    return Group(head, *lines, Text(), _passages(found, trace)) if found.without else Group(head, *lines)


def answer(found: Needs) -> RenderableType:
    """Each strip, and what is answered without it."""
    lines = [Text(plain(f"Answer: {found.text or 'a refusal'}"), style="bold")]
    if not found.as_recorded:
        lines.append(Text("! It is not what the trace recorded.", style="yellow"))
    rows = []
    for place, one in enumerate(found.strips, start=1):
        outcome = "a refusal" if one.refused else one.text if one.changed else "the same"
        rows.append((str(place), "yes" if one.changed else "no", plain(outcome), plain(one.strip.text)))
    return Group(*lines, tabled(["[n]", "needed", "without it", "strip"], [], rows))


def _side(found: Attribution, side: str) -> Text:
    most = max(map(abs, found.values))
    text = Text(f"{side:<9}", style="")
    for unit, value in zip(found.units, found.values, strict=True):
        if unit.side == side:
            text.append(" ")
            colour = RAISES if value > 0 else LOWERS
            style = ("", colour, f"bold {colour}", f"bold white on {colour}")[degree(value, most)]
            text.append(plain(unit.words) + signs(value, most), style=style)
    return text


def _strongest(found: Attribution, count: int) -> Table:
    rows = []
    for n in strongest(found, count):
        unit, value = found.units[n], found.values[n]
        colour = RAISES if value > 0 else LOWERS
        rows.append((plain(unit.words), unit.side, Text(number(value), style=colour), f"{found.errors[n]:.2g}"))
    return tabled(["word", "of"], ["value", "± standard error"], rows)


def _passages(found: ActionExplanation, trace: Trace) -> Table:
    rows = []
    values = found.carried.values if found.carried else [None] * len(found.without)
    for alone, value, passage in zip(found.without, values, trace.passages, strict=True):
        score = "–" if alone.score is None else f"{alone.score:.3g}"
        carried = "–" if value is None else number(value)
        after = Text(alone.action.value, style="" if alone.action is found.decision.action else "bold")
        rows.append((plain(passage.id), plain(passage.title), after, score, carried))
    return tabled(["passage", "title", "without it"], ["score", "carried"], rows)
