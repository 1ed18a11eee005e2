"""The ledger of trials: the gain predicted for each change, the gain realised, and whether the change was kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from surefoot.config.settings import Config
from surefoot.evaluate.patch import Patch, shown
from surefoot.types import Gain

Kind = Literal["item", "combination", "placebo", "random lever"]
CONTROLS: tuple[Kind, ...] = ("placebo", "random lever")

_RULE = """\
Gains are points of `{outcome.metric}`, in brackets their 95 % intervals (paired bootstrap); p after Holm's correction
over all arms of the held-out half. A change is kept if it is significantly better there (level {outcome.alpha:g}),
and no control does as well: none has as large a gain, and from none that is better too it cannot be told apart."""

_HARMLESS = str.maketrans("<>|`[]", "‹›¦'()")


@dataclass(frozen=True, slots=True)
class Cost:
    """The expected cost of running one half once, at the baseline's pace."""

    questions: int
    seconds: float
    """One question at a time; grading time grows with the number of passages."""
    calls: int
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
    patch: Patch
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
    kept: bool = False
    because: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a loop."""

    metric: str
    questions: dict[str, int]
    proposals: tuple[Proposal, ...]
    trials: tuple[Trial, ...]
    kept: Patch
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


def document(outcome: Outcome, about: Mapping[str, Any]) -> str:
    """The report in Markdown; `about` is the run's record."""
    return "\n".join(_page(outcome, about)).rstrip() + "\n"


def _page(outcome: Outcome, about: Mapping[str, Any]) -> Iterator[str]:
    split, known = outcome.questions, [key for key in ("data", "judges", "seed", "index") if key in about]
    yield from ("# What was tried, and what it brought", "", _conclusion(outcome), "")
    yield from (*_table(outcome.trials), "", _RULE.format(outcome=outcome), "")
    yield from ("## Why", "")
    yield from (f"- **{_plain(trial.name)}**: {_plain(trial.because)}" for trial in outcome.trials)
    yield from ("", "## How it was tested", "")
    halves = f"{split['development']} questions to diagnose and choose on, {split['held-out']} held out"
    yield f"- {halves}; by a hash of their words."
    if outcome.needed:
        yield f"- To be shown better among these arms, a change has to turn at least {outcome.needed} questions right."
    facts = {key: ", ".join(map(str, each)) if isinstance(each := about[key], list) else str(each) for key in known}
    yield from (f"- {key}: `{_plain(words)}`" for key, words in facts.items())
    yield from ("", "## The dry run", "")
    for one in outcome.proposals:
        found = _plain(one.refused) or expected(one.cost)
        yield f"- **{_plain(one.name)}**: `{_plain(shown(one.patch))}`: {found}"


def _conclusion(outcome: Outcome) -> str:
    for trial in outcome.trials:
        if trial.kept and (gain := trial.realised) and trial.patch == outcome.kept:  # not a part of it, kept with it
            text = f"{points(gain.difference)} points [{interval(gain)}], from {gain.before:.3f} to {gain.after:.3f}"
            text += f", on {gain.questions} held-out questions (p = {trial.p:.2g})."
            return f"**Kept**: `{_plain(shown(outcome.kept))}`. {text}"
    return "**Nothing is kept**: no change is shown to help on questions that it was not chosen on."


def _table(trials: Sequence[Trial]) -> Iterator[str]:
    yield "| arm | settings | predicted | development | held out | p | s a question | |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for trial in trials:
        cells = [_plain(f"{trial.name}: {trial.title}"), f"`{_plain(shown(trial.patch))}`", points(trial.predicted)]
        gains = trial.development, trial.realised
        cells += [f"{points(gain.difference)} [{interval(gain)}]" if gain else "–" for gain in gains]
        figures = ((trial.p, ".2g"), (trial.seconds, ".2f"))
        cells += ["–" if figure is None else format(figure, form) for figure, form in figures]
        yield f"| {' | '.join([*cells, 'kept' if trial.kept else ''])} |"


def expected(cost: Cost | None) -> str:
    """The cost in words."""
    if cost is None:
        return "unknown"
    model = f", {cost.calls:,} calls and {cost.tokens:,} tokens of a language model" if cost.calls else ""
    time = f"{cost.seconds:.0f} s" if cost.seconds < 100 else f"{cost.seconds / 60:.0f} min"
    return f"about {time} for {cost.questions} questions{model}"


def _plain(words: str) -> str:
    """The words without anything that Markdown would read as a cell, a tag, a link or code."""
    return "".join(filter(str.isprintable, " ".join(words.split()))).translate(_HARMLESS)
