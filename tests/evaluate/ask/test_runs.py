"""Each question is asked once a way, whatever happens in between."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from surefoot.evaluate.ask.questions import Example
from surefoot.evaluate.ask.runs import Arm, place, run, threads
from surefoot.pipeline import Pipeline
from surefoot.retrievers._given import Given
from surefoot.run.store import Run
from surefoot.types import Passage, Trace
from surefoot.types.errors import UsageError
from surefoot_lab.methods import arms

EXAMPLES = [Example(str(n), f"Who built hut {n}?", ("Aldwin",), frozenset()) for n in range(6)]
ARMS = arms(["rag:1", "none"], searches=False)


def nothing(done: int, total: int) -> None:
    pass


def asked(pipeline: Pipeline, folder: Path, workers: int = 1, **others: Any) -> dict[str, list[Trace]]:
    found = run(ARMS, EXAMPLES, threads(pipeline, workers), folder, {}, others.get("on_done", nothing))
    return {arm.name: traces for arm, traces in found}


@pytest.mark.parametrize("workers", [1, 4])
def test_every_arm_is_asked_every_question_once(pipeline: Pipeline, tmp_path: Path, workers: int) -> None:
    """In the order of the questions, however many are asked at a time; on disk a line each."""
    found = asked(pipeline, tmp_path, workers)
    assert list(found) == ["rag:1", "none"]
    for name, traces in found.items():
        assert [trace.question for trace in traces] == [example.question for example in EXAMPLES]
        lines = (tmp_path / place(name) / "traces.jsonl").read_text().splitlines()
        assert sorted(json.loads(line)["key"] for line in lines) == [example.id for example in EXAMPLES]


def test_what_is_there_is_not_asked_again(pipeline: Pipeline, tmp_path: Path) -> None:
    """Another run over it comes to the same."""
    first = asked(pipeline, tmp_path)
    assert asked(pipeline.but(generator=None), tmp_path) == first


def test_a_trace_is_on_disk_before_the_next_is_waited_for(pipeline: Pipeline, tmp_path: Path) -> None:
    """So that nothing that was answered is lost. Progress counts questions times arms, and what was there at once."""
    seen: list[int] = []
    progress: list[tuple[int, int]] = []

    def counted(done: int, total: int) -> None:
        path = tmp_path / "rag-1" / "traces.jsonl"
        seen.append(len(path.read_text().splitlines()) if path.exists() else 0)
        progress.append((done, total))

    asked(pipeline, tmp_path, on_done=counted)
    assert seen[:7] == list(range(7))
    assert progress == [(n, 12) for n in (*range(7), *range(6, 13))]
    asked(pipeline, tmp_path, on_done=counted)
    assert progress[14:] == [(6, 12), (12, 12)]


def test_a_run_that_another_process_holds_is_refused(pipeline: Pipeline, tmp_path: Path) -> None:
    """Two would ask each question twice."""
    with Run(tmp_path / "rag-1", {"method": "rag:1"}).held(), pytest.raises(UsageError, match="another process"):
        asked(pipeline, tmp_path)


@pytest.mark.parametrize(
    ("error", "told"), [(UsageError("mend it"), "UsageError: mend it"), (KeyError("x"), "KeyError: 'x'")]
)
def test_a_question_that_fails_does_not_take_the_others_with_it(
    pipeline: Pipeline, tmp_path: Path, error: Exception, told: str
) -> None:
    """It is a trace with its error, also where the error is a bug."""

    def ask(_: Pipeline, example: Example) -> Trace:
        if example.id == "1":
            raise error
        return Trace("t", example.question)

    ((_, traces),) = run([Arm("odd", ask)], EXAMPLES, threads(pipeline), tmp_path, {}, nothing)
    assert [trace.error for trace in traces[:3]] == [None, told, None]


def test_what_is_interrupted_is_not_begun_again(pipeline: Pipeline, tmp_path: Path) -> None:
    """Questions that wait are left for the next time."""
    begun: list[str] = []

    def ask(_: Pipeline, example: Example) -> Trace:
        begun.append(example.id)
        if example.id == "1":
            raise KeyboardInterrupt
        time.sleep(0.01)
        return Trace("t", example.question)

    many = [Example(str(n), "Who?", (), frozenset()) for n in range(200)]
    with pytest.raises(KeyboardInterrupt):
        list(run([Arm("stopped", ask)], many, threads(pipeline, 2), tmp_path, {}, nothing))
    assert len(begun) < 100


def test_each_question_has_its_own_texts(pipeline: Pipeline, tmp_path: Path) -> None:
    """Where the texts that came with the questions are read."""
    own = [Example(n, "Who built it?", (), frozenset(), passages=(Passage(n, f"text {n}"),)) for n in "ab"]
    ((_, traces),) = run(ARMS[:1], own, threads(pipeline.but(retriever=Given())), tmp_path, {}, nothing)
    assert [trace.passages[0].id for trace in traces] == ["a", "b"]
