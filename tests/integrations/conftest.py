"""What the tests of integrations share."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from surefoot.evaluators.lexical import Lexical
from surefoot.pipeline import Pipeline
from surefoot.types import Grade, Passage
from surefoot.types.errors import ComponentError


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """LangChain's own suites have coroutines that no mark names."""
    for item in items:
        if isinstance(item, pytest.Function) and asyncio.iscoroutinefunction(item.function):
            item.add_marker(pytest.mark.anyio)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Outside:
    """Knows who lit the lighthouse, and remembers what it was asked."""

    name = "outside"

    def __init__(self) -> None:
        self.queries: list[str] = []

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        self.queries.append(query)
        text = "The Sorvay Lighthouse was built in 1874 by Edmund Tarle."
        return (
            Passage("1", text, "Sorvay Lighthouse", "external", "https://example.org/s"),
            Passage("2", "Boil the dumplings until they float.", "Dumplings", "external"),
        )[:k]


@pytest.fixture
def outside() -> Outside:
    return Outside()


@pytest.fixture
def seeing(pipeline: Pipeline, outside: Outside) -> Pipeline:
    """Corrective RAG over a shelf, with a world outside."""
    return pipeline.but(searcher=outside)


class Broken:
    """Fails where it should grade."""

    name = "lexical"
    thresholds = Lexical.thresholds

    def grade(self, pairs: Any) -> tuple[Grade, ...]:
        raise ComponentError("out of memory")


@pytest.fixture
def failing(pipeline: Pipeline) -> Pipeline:
    """Corrective RAG whose evaluator fails."""
    return replace(pipeline, evaluator=Broken())


class NotHere:
    """Finds the bridge, but fails in the thread that made it."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        assert threading.get_ident() != self.thread
        return (Passage("b", "The Ruvel Bridge was built in 1911 by Tomas Aldwin.", "Ruvel Bridge", score=1.0),)


@pytest.fixture
def elsewhere(pipeline: Pipeline) -> Pipeline:
    """Corrective RAG that does not run in the test's own thread, where its event loop runs."""
    return pipeline.but(retriever=NotHere())


@pytest.fixture
def beside_a_broken_toml(tmp_path: Path) -> Callable[[str], str]:
    """Runs a program where a `surefoot.toml` lies that would fail, and gives what it prints."""

    def run(code: str) -> str:
        (tmp_path / "surefoot.toml").write_text("[evaluator\n")
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    return run
