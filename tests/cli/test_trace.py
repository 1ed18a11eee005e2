"""`surefoot trace` and `surefoot trace --replay`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

QUESTION = "Who built the Ruvel Bridge?"


@pytest.fixture
def traced(indexed: Callable[..., Any]) -> Callable[..., Any]:
    """`surefoot`, after a question whose trace is in trace.json."""
    indexed("ask", QUESTION, "--trace", "trace.json")
    return indexed


def tamper(path: Path, **decision: object) -> None:
    data = json.loads(path.read_text())
    data["decision"] |= decision
    path.write_text(json.dumps(data))


def test_a_trace_is_drawn_like_the_run_with_what_each_step_cost(traced: Callable[..., Any]) -> None:
    """Everything that `ask` shows, the question and the steps."""
    done = traced("trace", "trace.json")
    assert (done.code, done.err) == (0, "")
    for part in (QUESTION, "Decision   CORRECT", "Tomas Aldwin built it. [1]", "Step", "retrieve", "generate"):
        assert part in done.out


def test_knowledge_from_outside_is_drawn_with_its_grades_and_labelled(indexed: Callable[..., Any], here: Path) -> None:
    """At the beginning of the line, where a narrow terminal does not cut it off; while it runs, and afterwards."""
    (here / "world").mkdir()
    (here / "world" / "tower.md").write_text(f"# Ivel Tower\n\n{'The Ivel Tower was built by Ola. ' * 9}\n")
    indexed("index", "world", "--index", "world.db")
    sets = ("--set", "searcher.use=folder", "--set", "searcher.path=world.db", "--set", "llm.replies={Ivel='Ola [1].'}")
    asked = indexed("ask", "Who built the Ivel Tower?", "--trace", "trace.json", *sets)
    again = indexed("trace", "trace.json")
    assert again.code == 0
    for shown in (asked.out, again.out):
        assert "1 passage from outside" in shown
        assert "outside: Ivel Tower · world/tower.md" in shown
    assert "outside: The Ivel Tower was built" in again.out


def test_the_same_grades_give_the_same_decision(traced: Callable[..., Any]) -> None:
    done = traced("trace", "trace.json", "--replay")
    assert (done.code, done.out.count("\n")) == (0, 1)
    assert done.out.startswith("same decision: correct (")


@pytest.mark.parametrize("changed", [{"action": "incorrect"}, {"best": 0.1}, {"because": "I say so"}, {"upper": 7.0}])
def test_a_decision_that_was_tampered_with_comes_out_differently(
    traced: Callable[..., Any], here: Path, changed: dict[str, object]
) -> None:
    """Both are shown, and the exit code is 1."""
    tamper(here / "trace.json", **changed)
    done = traced("trace", "trace.json", "--replay")
    assert done.code == 1
    assert done.out.startswith("DIFFERENT: ")
    assert "\nrecorded: " in done.out
