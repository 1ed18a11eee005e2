"""Many machines answer the same questions in the same words as one."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs the extra ray"),
]

QUESTIONS = 24
CLUSTER = """
import sys
from ray.cluster_utils import Cluster

own = {"num_cpus": 1, "object_store_memory": 80_000_000}
cluster = Cluster(initialize_head=True, head_node_args={**own, "include_dashboard": False})
cluster.add_node(**own)
cluster.wait_for_nodes()
print(cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""
MODEL = """
import sys
from pathlib import Path
from surefoot.llms.scripted import Scripted

def said(messages):
    if "ray" in sys.modules:
        import ray
        (Path(__file__).parent / f"{ray.get_runtime_context().get_node_id()}.node").touch()
    return messages[-1].content.split("by ")[1].split(".")[0]

class Model(Scripted):
    def __init__(self):
        super().__init__(said)
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Of every process: the package as it is tested, a model that says where it was asked, and no word to anybody."""
    (tmp_path / "model.py").write_text(MODEL)
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
    path = os.pathsep.join([str(tmp_path), *sys.path])
    return {**os.environ, "PYTHONPATH": path, "RAY_USAGE_STATS_ENABLED": "0"}


@pytest.fixture
def address(environment: dict[str, str]) -> Iterator[str]:
    """Of a cluster of two nodes on this machine, which ends with the test."""
    streams: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    cluster = subprocess.Popen([sys.executable, "-c", CLUSTER], env=environment, text=True, **streams)
    assert cluster.stdout is not None
    try:
        yield cluster.stdout.readline().strip()
    finally:
        try:
            cluster.communicate("", timeout=60)
        except subprocess.TimeoutExpired:
            cluster.kill()


@pytest.fixture
def bench(tmp_path: Path, environment: dict[str, str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`surefoot lab qa` over the questions, as a process of its own."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        parts = "--given --set evaluator.use=lexical --set generator.use=llm --set llm.use=model:Model"
        command = [sys.executable, "-m", "surefoot", "lab", "qa", "questions.jsonl", *parts.split(), *words]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)

    return run


def counted(report: Path) -> list[Any]:
    """What the table is counted from, but for the time that it took."""
    data = json.loads(report.read_text())
    each = [data, *data["others"]]
    return [data["comparisons"], *([{**one, "seconds": 0} for one in report["outcomes"]] for report in each)]


def test_two_machines_come_to_what_one_comes_to(bench: Callable[..., Any], address: str, tmp_path: Path) -> None:
    """Each question once, on either of them, on disk here."""
    methods = ("--method", "crag", "--method", "rag:1", "--run")
    for words in (("one", "--json", "one.json"), ("two", "--json", "two.json", "--ray", address)):
        done = bench(*methods, *words)
        assert done.returncode == 0, done.stderr
    assert counted(tmp_path / "one.json") == counted(tmp_path / "two.json")
    lines = (tmp_path / "two" / "crag" / "traces.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["key"] for line in lines) == sorted(f"q{n}" for n in range(QUESTIONS))
    assert len(list(tmp_path.glob("*.node"))) == 2


def test_no_cluster_is_one_line(bench: Callable[..., Any]) -> None:
    """With how to start one."""
    done = bench("--ray", "127.0.0.1:1")
    assert done.returncode == 2
    assert "no Ray cluster at 127.0.0.1:1" in done.stderr
    assert "ray start --head" in done.stderr


def test_every_way_of_asking_can_travel() -> None:
    """Methods, degraded retrieval and ablations are the same after a journey to another process."""
    code = """
from ray import cloudpickle
from surefoot_lab import methods
from surefoot_lab import ablation, degradation
from surefoot.evaluate.ask.questions import Example
from surefoot.types import Passage
example = Example("q", "Who built the Ruvel Bridge?", ("Aldwin",), frozenset(), passages=(Passage("p", "Aldwin."),))
named = methods.arms(list(methods.METHODS), searches=True)
arms = [*degradation.arms(named, [example]), *ablation.arms(list(ablation.STAGES), True)]
back = cloudpickle.loads(cloudpickle.dumps((arms, [example])))
assert [arm.name for arm in back[0]] == [arm.name for arm in arms]
assert back[1] == [example]
"""
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.returncode == 0
