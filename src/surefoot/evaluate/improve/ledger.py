"""The ledger of trials: the gain predicted for each change, the gain realised, and whether the change was kept."""

from dataclasses import dataclass
from typing import Literal

from surefoot.config.settings import Config
from surefoot.evaluate.patch import Patch
from surefoot.types import Gain

Kind = Literal["item", "combination", "placebo"]
PLACEBO: Kind = "placebo"


@dataclass(frozen=True, slots=True)
class Cost:
    """The expected cost of running one half once, at the baseline's pace."""

    questions: int
    seconds: float
    """One question at a time; grading time grows with the number of passages."""
    calls: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Trial:
    """One change that was tried: a line of the ledger."""

    name: str
    kind: Kind
    title: str
    patch: Patch
    predicted: float | None
    """The gain that the diagnosis predicted; None: it predicted none."""
    item: int = 0
    """The number of the item in the diagnosis; 0: of none, as the user's own patches."""
    on_cases: Gain | None = None
    """The gain on the item's own cases; None: it has none, or it was not tried there."""
    on_others: Gain | None = None
    """The gain on as many other questions."""
    development: Gain | None = None
    """The gain on the half that it was chosen on; None: it was not run there."""
    realised: Gain | None = None
    """The gain on the held-out half; None: it was not run there."""
    p: float | None = None
    """The p-value of `realised` after Holm's correction over all arms of the held-out half."""
    changed: int | None = None
    """Held-out answers that differ from the baseline's."""
    kept: bool = False
    because: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that can be tried, after its dry run."""

    trial: Trial
    """Without figures."""
    cases: tuple[str, ...] = ()
    """The item's cases, on which the patch is tried first; empty: it is run on all questions at once."""
    config: Config | None = None
    """The configuration with the patch; None: it may not be tried, or cannot be built."""
    refused: str = ""
    """The reason why not; empty: it can be tried."""
    cost: Cost | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a loop."""

    metric: str
    questions: dict[str, int]
    trials: tuple[Trial, ...]
    patch: Patch
    """The patch that was shown to help; empty: none was."""
    needed: int
    """The fewest questions that a change must turn right to be shown better among these arms."""


def points(gain: float | None) -> str:
    """A gain in points, as "+12.5"; "–" for None."""
    return "–" if gain is None else f"{gain * 100:+.1f}"


def interval(gain: Gain | None) -> str:
    """The 95 % interval of a gain, in points."""
    return "–" if gain is None else f"{gain.low * 100:+.1f} to {gain.high * 100:+.1f}"


def expected(cost: Cost | None) -> str:
    """The cost in words."""
    if cost is None:
        return "unknown"
    model = f", {cost.calls:,} calls and {cost.tokens:,} tokens of a language model" if cost.calls else ""
    time = f"{cost.seconds:.0f} s" if cost.seconds < 100 else f"{cost.seconds / 60:.0f} min"
    return f"about {time} for {cost.questions} questions{model}"
