"""What the tests of integrations share."""

import asyncio
from collections.abc import Sequence

import pytest

from surefoot.pipeline import Pipeline
from surefoot.types import Passage


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
