"""When recent scores have left the earlier ones, and which traces count for it."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from surefoot.run.store import Run, write_trace
from surefoot.types import Action, Decision, Grade, Passage, Trace
from surefoot.types.errors import TraceFault, UsageError
from surefoot_lab.drift import FEW, DriftPoint, drift, marked, stability, traces

NOW = datetime(2026, 6, 30, 12, tzinfo=UTC)
DECISION = Decision(Action.CORRECT, "threshold", 0.5, -0.5, "because")
TRACE = Trace(
    "1",
    "Who?",
    passages=(Passage("a", "x"), Passage("b", "y")),
    external=(Passage("c", "z", source="external"),),
    grades=(Grade("a", 0.2), Grade("b", 0.7), Grade("c", 9.0)),
    decision=DECISION,
    config={"evaluator": {"use": "minilm"}},
    created=NOW.isoformat(),
)


def queries(count: int, mean: float, days_ago: float, seed: int = 1, evaluator: str = "a") -> list[DriftPoint]:
    scores = np.random.default_rng(seed).normal(mean, 1, count)
    return [DriftPoint(NOW - timedelta(days=days_ago), float(score), Action.CORRECT, evaluator) for score in scores]


def test_scores_that_moved_raise_the_alarm() -> None:
    """By one standard deviation."""
    found = drift(queries(200, 0, 60) + queries(100, -1, 1, seed=2))
    assert (found.moved, found.earlier["questions"], found.recent["questions"]) == (True, 200, 100)
    assert found.low < found.index < found.high
    assert found.recent["median"] < found.earlier["median"]


def test_the_alarm_is_rarely_false() -> None:
    """Windows of one distribution raise none in twenty."""
    false = [drift(queries(100, 0, 60, seed=n) + queries(60, 0, 1, seed=n + 500)).moved for n in range(20)]
    assert not any(false)


def test_the_index_is_that_of_its_definition() -> None:
    """By hand: shares of 1/3 and 2/3 against 2/3 and 1/3, each count with half a question more."""
    found = stability(np.array([0.0, 1.0, 1.0]), np.array([0.0, 0.0, 1.0]), np.array([0.5]))
    one, two = 1.5 / 4, 2.5 / 4
    assert found == pytest.approx(2 * (two - one) * np.log(two / one))


def test_the_last_days_are_counted_from_the_latest_question() -> None:
    """Not from today: old runs can be looked at too."""
    every = queries(FEW, 0, 400) + queries(FEW, 0, 385)
    assert drift(every, days=10).recent["questions"] == FEW
    with pytest.raises(UsageError, match=f"{2 * FEW} recent and 0 earlier questions are too few"):
        drift(every, days=30)


def test_scores_of_another_evaluator_do_not_count() -> None:
    """They lie on another scale; how many there were is told."""
    found = drift(queries(40, 0, 60) + queries(40, 5, 50, evaluator="b") + queries(40, 0, 1))
    assert (found.earlier["questions"], found.left_out, found.moved) == (40, 40, False)


def test_a_question_counts_by_its_best_passage_of_the_corpus() -> None:
    """What came from outside has scores of another kind; what could not be graded, or decided, says nothing."""
    (one,) = marked([TRACE])
    assert (one.best, one.action, one.time) == (0.7, Action.CORRECT, NOW)
    assert json.loads(one.evaluator) == {"use": "minilm"}
    ungraded = replace(TRACE, grades=tuple(replace(grade, score=None) for grade in TRACE.grades))
    assert [*marked([ungraded, replace(TRACE, decision=None), replace(TRACE, created="")])] == []


def test_traces_are_found_in_runs_in_folders_and_by_name(tmp_path: Path) -> None:
    """At any depth; JSON that is no trace is passed over, unless it is named."""
    Run(tmp_path / "qa" / "crag", {"what": "qa"}).append("q1", TRACE)
    write_trace(replace(TRACE, id="2"), tmp_path / "serve" / "day" / "2.json")
    (tmp_path / "serve" / "other.json").write_text("{}")
    assert [trace.id for trace in traces([tmp_path])] == ["1", "2"]
    assert [trace.id for trace in traces([tmp_path / "serve" / "day" / "2.json"])] == ["2"]
    with pytest.raises(TraceFault):
        list(traces([tmp_path / "serve" / "other.json"]))
    with pytest.raises(UsageError, match="nowhere is not there; give a trace"):
        list(traces([Path("nowhere")]))


GRADED = Trace("1", "Who?", passages=(Passage("a", "x"),), decision=Decision(Action.CORRECT, "threshold", 1, 0, "best"))


def selected(folder: Path, shift: float, month: int) -> None:
    run = Run(folder, {"what": "qa"})
    for n in range(60):
        grades = (Grade("a", n / 60 + shift),)
        run.append(f"{month}-{n}", replace(GRADED, grades=grades, created=f"2026-{month:02}-01T12:00:00+00:00"))


def test_scores_that_stayed_are_code_0_and_those_that_moved_code_1(surefoot: Callable[..., Any], here: Path) -> None:
    """With the figures, and what to do."""
    for name, shift, month in (("old", 0.0, 1), ("same", 0.005, 6), ("moved", 0.5, 6)):
        selected(here / name, shift, month)
    same = surefoot("lab", "drift", "old", "same")
    assert (same.code, "have not moved" in same.out) == (0, True)
    moved = surefoot("lab", "drift", "moved", "--before", "old")
    assert (moved.code, "surefoot lab tune" in moved.out, "2026-01-01" in moved.out) == (1, True, True)
    figures = json.loads(surefoot("lab", "drift", "moved", "--before", "old", "--json").out)
    assert (figures["moved"], figures["recent"]["questions"]) == (True, 60)
    assert figures["index"] > 0.25
