"""Retrieval is made worse by steps, the same way each time, and what is lost is counted on the same questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from surefoot.evaluate.ask.questions import Example
from surefoot.evaluate.ask.runs import run, threads
from surefoot.pipeline import Pipeline
from surefoot.retrievers._given import Given
from surefoot.types import Passage
from surefoot.types.errors import UsageError
from surefoot_lab import degradation, methods
from surefoot_lab.degradation import DegradationReport, arms, fewer, lost

FORTY = tuple(Passage(f"p{n}", f"text {n}" if n % 2 else f"Tomas Aldwin {n}") for n in range(40))
WHO = Example("q", "Who built the Ruvel Bridge?", ("Tomas Aldwin",), frozenset())


@pytest.mark.parametrize("change", [fewer, lost])
def test_what_a_smaller_step_takes_away_a_larger_one_takes_too(change: Any) -> None:
    """So that a curve shows one retrieval getting worse, and not several."""
    left = [set(change(FORTY, WHO, share)) for share in (0.0, 0.25, 0.5, 1.0)]
    assert left[0] == set(FORTY)
    assert left[0] > left[1] > left[2] > left[3]


@pytest.mark.parametrize(
    ("kinds", "steps", "says"),
    [(["burnt"], [0.5], "nothing called 'burnt'.*fewer, lost"), (["fewer"], [0.0], "not 0")],
)
def test_what_cannot_be_done_is_refused(kinds: list[str], steps: list[float], says: str) -> None:
    """Before anything is asked; nothing at all is what every method is compared with."""
    with pytest.raises(UsageError, match=says):
        arms(methods.arms(["rag"], searches=False), kinds, steps)


@pytest.fixture(scope="module")
def questions() -> list[Example]:
    """Forty questions, each with the passage that answers it and one that misleads."""
    return [
        Example(
            str(n),
            f"Who built the Ruvel Bridge {n}?",
            ("Tomas Aldwin",),
            frozenset({f"{n}a"}),
            passages=(
                Passage(f"{n}a", f"The Ruvel Bridge {n} was built in 1911 by Tomas Aldwin.", "Ruvel Bridge"),
                Passage(f"{n}b", "A hut was built by Josef Ruhm.", "Hut"),
            ),
        )
        for n in range(40)
    ]


@pytest.fixture
def report(pipeline: Pipeline, questions: list[Example], tmp_path: Path) -> DegradationReport:
    """Two methods on passages that are taken away by halves."""
    compared = methods.arms(["crag", "none"], searches=False)
    arguments = pipeline.but(retriever=Given())
    queries = arms(compared, ["fewer"], [0.5, 1.0])
    traces = run(queries, questions, threads(arguments), tmp_path, {}, lambda done, total: None)
    return degradation.report(compared, questions, traces, ["fewer"], [0.5, 1.0])


def test_accuracy_is_counted_at_each_step(report: DegradationReport) -> None:
    """With what was lost since none was taken away, over all questions."""
    mine = [step for step in report.steps if step.method == "crag"]
    assert [step.share for step in mine] == [0.0, 0.5, 1.0]
    assert [(step.right.of, step.right.count) for step in (mine[0], mine[2])] == [(40, 40), (40, 0)]
    assert [step.lost.value for step in (mine[0], mine[2])] == [0.0, 1.0]
    assert 0 < mine[1].right.count < 40
    assert mine[1].lost.low is not None
    assert mine[1].lost.low < 1 - mine[1].right.count / 40 < (mine[1].lost.high or 0)


def test_methods_are_compared_at_each_step(report: DegradationReport) -> None:
    """By how far one is ahead there, and by how much less it has lost."""
    assert [(gap.share, gap.ahead.value, gap.spared.value) for gap in report.gaps][::2] == [
        (0.0, 1.0, 0.0),
        (1.0, 0.0, -1.0),
    ]
