"""The ledger of trials: the gain predicted for each change, the gain realised, and whether the change was kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any, Literal

from surefoot.config.settings import Config
from surefoot.evaluate.patch import Patch, shown
from surefoot.explain.svg import Scale, cut, dot, line, mark, sheet, style, text, whisker
from surefoot.types import Gain

Kind = Literal["item", "combination", "placebo", "random lever"]
CONTROLS: tuple[Kind, ...] = ("placebo", "random lever")

LEFT, RIGHT, TOP, ROW = 300, 800, 118, 46
"""The ends of the axis, the top of the first row, and the height of a row."""
WIDTH = 930
LONGEST = 38
"""Most letters of a title."""
DIAMOND = ((0, -7), (7, 0), (0, 7), (-7, 0))
STEPS = (1, 2, 5, 10, 20, 50, 100)
"""Possible distances between two lines of the grid, in points."""

_RULE = """\
Gains are points of `{outcome.metric}`, in brackets their 95 % intervals (paired bootstrap); p after Holm's correction
over all arms of the held-out half. A change is kept if it is significantly better there (level {outcome.alpha:g}),
and no control does as well: none has as large a gain, and from none that is better too it cannot be told apart."""

_HARMLESS = str.maketrans("<>|`[]", "‹›¦'()")
_STYLE = style(
    14,
    """ .axis { stroke-width: 1.4 }
  .seen { stroke: #59636e; stroke-width: 1.6 } .seen-at { fill: #ffffff; stroke: #59636e; stroke-width: 1.6 }
  .held { stroke: #0072b2; stroke-width: 3 } .held-at { fill: #0072b2 }
  .expected { fill: none; stroke: #b35900; stroke-width: 2 } .kept { font-weight: 600 }""",
    """ .seen { stroke: #9198a1 } .seen-at { fill: #0d1117; stroke: #9198a1 }
    .held { stroke: #4ba3d9 } .held-at { fill: #4ba3d9 } .expected { stroke: #f0883e }""",
)


@dataclass(frozen=True, slots=True)
class Cost:
    """The expected cost of running one half once, at the baseline's pace."""

    questions: int
    seconds: float
    """One question at a time; grading time grows with the number of passages."""
    calls: int
    """Calls of a language model."""
    tokens: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """A patch after its dry run."""

    name: str
    title: str
    patch: Patch
    predicted: float | None
    config: Config | None
    """The configuration with the patch; None: it may not be tried, or cannot be built."""
    refused: str
    """The reason why not; empty: it can be tried."""
    cost: Cost | None


@dataclass(frozen=True, slots=True)
class Trial:
    """One change that was tried: a line of the ledger."""

    name: str
    kind: Kind
    title: str
    patch: dict[str, dict[str, Any]]
    predicted: float | None
    """The gain that the diagnosis predicted; None: it predicted none."""
    development: Gain | None = None
    """The gain on the half that it was chosen on; None: it was not run there."""
    realised: Gain | None = None
    """The gain on the held-out half; None: it was not run there."""
    p: float | None = None
    """The p-value of `realised` after Holm's correction over all arms of the held-out half."""
    seconds: float | None = None
    """Median per question, in the run that counts most; for the baseline see `Outcome.seconds`."""
    changed: int | None = None
    """Held-out questions with another answer than the baseline's."""
    kept: bool = False
    because: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a loop."""

    metric: str
    questions: dict[str, int]
    """The number of questions in each half."""
    proposals: tuple[Proposal, ...]
    trials: tuple[Trial, ...]
    kept: dict[str, dict[str, Any]]
    """The patch that was shown to help; empty: none was."""
    seconds: float
    """Median per question of the baseline, on the held-out half or, where that was not run, on the other."""
    alpha: float
    needed: int
    """The fewest questions that a change must turn right to be shown better among these arms."""


def points(gain: float | None) -> str:
    """A gain in points, as "+12.5"; "–" for None."""
    return "–" if gain is None else f"{gain * 100:+.1f}"


def interval(gain: Gain | None) -> str:
    """The 95 % interval of a gain, in points."""
    return "–" if gain is None else f"{gain.low * 100:+.1f} to {gain.high * 100:+.1f}"


def document(outcome: Outcome, about: Mapping[str, Any], figure: str) -> str:
    """The report in Markdown; `about` is the run's record, `figure` the name of the picture's file beside it."""
    return "\n".join(_page(outcome, about, figure)).rstrip() + "\n"


def drawn(outcome: Outcome) -> str:
    """An SVG file's text: the gains of each arm, predicted and on both halves, with intervals."""
    rows = [trial for trial in outcome.trials if trial.development or trial.realised]
    height = TOP + ROW * max(1, len(rows)) + 28
    low, high, step = _range(rows)
    at = Scale(low, high, LEFT, RIGHT)
    asked = f"{outcome.questions['development']} questions to choose on, {outcome.questions['held-out']} held out"
    title = "Predicted and realised gain of what was tried"
    subtitle = f"Points of {outcome.metric}, with 95 % intervals; {asked}"
    body = [*_legend(), *_grid(at, step, height)]
    for number, trial in enumerate(rows):
        body += _row(trial, TOP + ROW * number, at)
    return sheet(WIDTH, height, _STYLE, title, subtitle, _alt(outcome), body)


def _page(outcome: Outcome, about: Mapping[str, Any], figure: str) -> Iterator[str]:
    split, known = outcome.questions, [key for key in ("data", "judges", "seed", "index") if key in about]
    yield from ("# What was tried, and what it brought", "", _conclusion(outcome), "")
    yield from (*_table(outcome.trials), "", f"![{_alt(outcome)}]({figure})", "", _RULE.format(outcome=outcome), "")
    yield from ("## Why", "")
    yield from (f"- **{_plain(trial.name)}**: {_plain(trial.because)}" for trial in outcome.trials)
    yield from ("", "## How it was tested", "")
    halves = f"{split['development']} questions to diagnose and choose on, {split['held-out']} held out"
    yield f"- {halves}; by a hash of their words."
    if outcome.needed:
        yield f"- To be shown better among these arms, a change has to turn at least {outcome.needed} questions right."
    told = {key: ", ".join(map(str, each)) if isinstance(each := about[key], list) else str(each) for key in known}
    yield from (f"- {key}: `{_plain(words)}`" for key, words in told.items())
    yield from ("", "## The dry run", "", *map(_dry, outcome.proposals))


def _conclusion(outcome: Outcome) -> str:
    every = (trial for trial in outcome.trials if trial.kept and trial.realised)
    kept = next((trial for trial in every if trial.patch == outcome.kept), None)  # not a part of it, which is kept too
    if kept is None or kept.realised is None:
        return "**Nothing is kept**: no change is shown to help on questions that it was not chosen on."
    gain = kept.realised
    said = f"{points(gain.difference)} points [{interval(gain)}], from {gain.before:.3f} to {gain.after:.3f}"
    return (
        f"**Kept**: `{_plain(shown(outcome.kept))}`. {said}, on {gain.questions} held-out questions (p = {kept.p:.2g})."
    )


def _table(trials: Sequence[Trial]) -> Iterator[str]:
    yield "| arm | settings | predicted | development | held out | p | s a question | |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for trial in trials:
        cells = [_plain(f"{trial.name}: {trial.title}"), f"`{_plain(shown(trial.patch))}`", points(trial.predicted)]
        cells += [_with_interval(trial.development), _with_interval(trial.realised)]
        figures = ((trial.p, ".2g"), (trial.seconds, ".2f"))
        cells += ["–" if figure is None else format(figure, form) for figure, form in figures]
        yield f"| {' | '.join([*cells, 'kept' if trial.kept else ''])} |"


def _with_interval(gain: Gain | None) -> str:
    return "–" if gain is None else f"{points(gain.difference)} [{interval(gain)}]"


def _dry(one: Proposal) -> str:
    return f"- **{_plain(one.name)}**: `{_plain(shown(one.patch))}`: {_plain(one.refused) or expected(one.cost)}"


def expected(cost: Cost | None) -> str:
    """The cost in words."""
    if cost is None:
        return "unknown"
    model = f", {cost.calls:,} calls and {cost.tokens:,} tokens of a language model" if cost.calls else ""
    time = f"{cost.seconds:.0f} s" if cost.seconds < 100 else f"{cost.seconds / 60:.0f} min"
    return f"about {time} for {cost.questions} questions{model}"


def _plain(words: str) -> str:
    """The words without anything that Markdown would read as a cell, a tag, a link or code: a model may have written
    them."""
    return "".join(filter(str.isprintable, " ".join(words.split()))).translate(_HARMLESS)


def _alt(outcome: Outcome) -> str:
    """The figures in words, one sentence per arm."""
    said = []
    for trial in outcome.trials:
        parts = [f"predicted {points(trial.predicted)}"] if trial.predicted is not None else []
        for name, gain in (("development", trial.development), ("held out", trial.realised)):
            parts += [f"{name} {points(gain.difference)} ({interval(gain)})"] if gain else []
        said += [f"{_plain(trial.name)}: {', '.join(parts) or 'not run'}{', kept' if trial.kept else ''}."]
    return " ".join(said)


def _range(rows: Sequence[Trial]) -> tuple[float, float, float]:
    """The ends of the axis in points, and the step of its grid."""
    gains = [gain for trial in rows for gain in (trial.development, trial.realised) if gain]
    ends = [0.0, 0.01, *(end for gain in gains for end in (gain.low, gain.high, gain.difference))]
    ends += [trial.predicted for trial in rows if trial.predicted is not None]
    low, high = min(ends) * 100, max(ends) * 100
    step = next((step for step in STEPS if (high - low) / step <= 8), STEPS[-1])
    return floor(low / step) * step, ceil(high / step) * step, step


def _grid(at: Scale, step: float, height: float) -> Iterator[str]:
    for number in range(round((at.high - at.low) / step) + 1):
        value = at.low + number * step
        yield line(at(value), TOP - 8, at(value), height - 22, "grid" if value else "axis")
        yield text(at(value), TOP - 14, f"{value:+g}" if value else "0", "dim small", "middle")


def _legend() -> Iterator[str]:
    yield mark(32, 74, "expected", DIAMOND)
    yield text(44, 78, "predicted", "small")
    for start, kind, words in ((122, "seen", "development half"), (280, "held", "held-out half")):
        yield from (*whisker(start, start + 28, 74, kind), dot(start + 14, 74, f"{kind}-at"))
        yield text(start + 36, 78, words, "small")


def _row(trial: Trial, y: float, at: Scale) -> Iterator[str]:
    yield text(24, y + 16, trial.name, "kept" if trial.kept else "")
    yield text(24, y + 32, cut(trial.title, LONGEST), "dim small")
    for gain, kind, middle in ((trial.development, "seen", y + 14), (trial.realised, "held", y + 27)):
        if gain:
            yield from whisker(at(gain.low * 100), at(gain.high * 100), middle, kind)
            yield dot(at(gain.difference * 100), middle, f"{kind}-at")
    if trial.predicted is not None:
        yield mark(at(trial.predicted * 100), y + 20, "expected", DIAMOND)
    gain = trial.realised or trial.development
    said = f"{points(gain.difference)}{' kept' if trial.kept else ''}" if gain else ""
    yield text(RIGHT + 16, y + 25, said, "kept small" if trial.kept else "small")
