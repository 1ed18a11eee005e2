"""Each question is asked once a way, whatever happens in between."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from surefoot.evaluate.ask.questions import Example
from surefoot.evaluate.ask.runs import Arm, place, run, threads
from surefoot.pipeline import Pipeline
from surefoot.retrievers._given import Given
from surefoot.run.store import Run, recorded
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


QUESTIONS = 300


@pytest.fixture
def bench(tmp_path: Path) -> Callable[..., subprocess.Popen[bytes]]:
    """`surefoot lab qa` over 300 questions with the texts that come with them, as a process of its own."""
    rows = [
        {
            "id": f"q{n}",
            "question": f"Who built hut number {n}?",
            "answers": [f"Aldwin {n % 7}"],
            "passages": [{"id": f"p{n}", "text": f"Hut number {n} was built in 1911 by Aldwin {n % 5}."}],
        }
        for n in range(QUESTIONS)
    ]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "waiting.py").write_text(
        "import itertools, os, time\nfrom surefoot.llms.scripted import Scripted\n"
        "calls, most = itertools.count(), int(os.environ['ANSWERS'])\n"
        "def said(messages):\n    time.sleep(600 * (next(calls) >= most))\n"
        "    return messages[-1].content.split('by ')[1].split('.')[0]\n"
        "class Waiting(Scripted):\n    def __init__(self):\n        super().__init__(said)\n"
    )
    words = "lab qa questions.jsonl --given --set evaluator.use=lexical --set generator.use=llm"
    words += " --set llm.use=waiting:Waiting --method crag --method rag:1"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}

    def start(name: str, answers: int = 2 * QUESTIONS) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "surefoot", *words.split(), "--run", name, "--json", f"{name}.json"]
        return subprocess.Popen(
            command, cwd=tmp_path, env={**environment, "ANSWERS": str(answers)}, stderr=subprocess.PIPE
        )

    return start


def outcomes(report: Path) -> list[Any]:
    """What the table is counted from, but for the time that it took."""
    data = json.loads(report.read_text())
    each = [data, *data["others"]]
    return [data["comparisons"], *([{**one, "seconds": 0} for one in report["outcomes"]] for report in each)]


@pytest.mark.slow
def test_a_killed_run_goes_on_and_comes_to_the_same(
    bench: Callable[[str], subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    """Killed in the middle without warning, twice; every question is there exactly once, in either method."""
    for lines, folder, answers in ((100, "crag", 150), (50, "rag-1", 300)):
        process, path = bench("killed", answers), tmp_path / "killed" / folder / "traces.jsonl"
        while process.poll() is None and (not path.exists() or path.read_bytes().count(b"\n") < lines):
            time.sleep(0.005)
        process.kill()
        process.communicate()
        assert lines <= path.read_bytes().count(b"\n") < QUESTIONS
    for name in ("killed", "whole"):
        process = bench(name)
        _, said = process.communicate()
        assert process.returncode == 0, said
    for folder in ("crag", "rag-1"):
        text = (tmp_path / "killed" / folder / "traces.jsonl").read_text()
        keys = [json.loads(line)["key"] for line in text.splitlines()]
        assert sorted(keys) == sorted(f"q{n}" for n in range(QUESTIONS))
        assert len(recorded(tmp_path / "killed" / folder)[1]) == QUESTIONS
    assert outcomes(tmp_path / "killed.json") == outcomes(tmp_path / "whole.json")
