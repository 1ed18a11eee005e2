"""`[network] allow = []` closes every way to another machine: each part that has one refuses before it looks up a name.

Whoever takes a `network` is found by its constructor, so a new part is tested without being named here; what it needs
beside a network stands in `OPTIONS`. Each by itself, and each searcher in a pipeline that is asked a question.
"""

import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from surefoot import components, load
from surefoot.documents.mirrors import mirrored
from surefoot.embedders.hashing import Hashing
from surefoot.index.build import build
from surefoot.models import fetch, registry
from surefoot.network import Network
from surefoot.run.meter import metered
from surefoot.types import Message, Passage
from surefoot.types.errors import MissingExtra, NetworkError

_EVENTS = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "subprocess.Popen")
"""What would reach another machine; a subprocess might, unseen."""

_seen: list[str] = []


_INSIDE = "surefoot.index.cutting_worker"
"""Argument of the process that reads pages, which reads what is here and no more."""


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _EVENTS and not ("Popen" in event and _INSIDE in arguments[1]):
        _seen.append(f"{event} {arguments[1:]}")


@pytest.fixture(scope="module")
def _hook() -> None:
    sys.addaudithook(_watch)  # for good: Python has no way to take one off


@pytest.fixture
def reached(_hook: None) -> Iterator[list[str]]:
    """What was reached for since the test began."""
    _seen.clear()
    yield _seen
    _seen.clear()


class Found:
    """A searcher that finds a page without looking."""

    name = "found"

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        return (Passage("1", "a snippet", url="https://example.org/page", source="external"),)


OPTIONS: dict[str, dict[str, Any]] = {
    "openai": {"model": "m", "base_url": "http://127.0.0.1:9/v1"},
    "cross_encoder": {"model": "nobody/nothing"},
    "nli": {"model": "nobody/nothing"},
    "transformers": {"model": "nobody/nothing"},
    "pgvector": {"embedder": Hashing()},
    "lance": {"embedder": Hashing(), "uri": "s3://bucket/store"},
    "remote": {"base_url": ["http://127.0.0.1:9/v1"]},
    "rerank": {"model": "m", "base_url": "http://127.0.0.1:9/v1"},
    "searxng": {"base_url": "http://127.0.0.1:9"},
    "pages": {"of": Found()},
}
USE: dict[str, Callable[[Any], object]] = {
    "searcher": lambda part: part.search("Who built the bridge?", 3),
    "llm": lambda part: part.complete([Message("user", "Hello")]),
    "retriever": lambda part: part.retrieve("Who built the bridge?", 3),
    "embedder": lambda part: part.embed(["text"]),
    "evaluator": lambda part: part.grade([("Who?", Passage("p", "text"))]),
}
"""Where building a part does not reach out yet; an evaluator's does."""


def connecting() -> Iterator[tuple[str, str]]:
    """Every built-in that takes a network."""
    for role, room in components.ROOMS.items():
        for name in components.names(role):
            text = (Path(components.__file__).parent / room / f"{name}.py").read_text(encoding="utf-8")
            if "network: Network" in text:
                yield role, name


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No model is here, and there is a key for everything."""
    monkeypatch.setenv("SUREFOOT_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    monkeypatch.setenv("SUREFOOT_PG_DSN", "postgresql://me:word@127.0.0.1:9/db")
    monkeypatch.delenv("SUREFOOT_OFFLINE", raising=False)
    for provider in ("TAVILY", "SERPER", "OPENAI"):
        monkeypatch.setenv(f"{provider}_API_KEY", "key-0123456789")


@pytest.mark.parametrize(("role", "name"), list(connecting()))
@pytest.mark.usefixtures("bare")
def test_every_part_that_connects_refuses_first(role: str, name: str, reached: list[str]) -> None:
    """With a NetworkError, or with its declared fallback in the step; and nothing has been reached for."""
    try:
        make = components.find(role, name)
    except MissingExtra as error:
        pytest.skip(str(error))
    assert "network" in inspect.signature(make).parameters
    with metered() as meter:
        try:
            part = make(**OPTIONS.get(name, {}), network=Network(allow=[]))
            USE.get(role, lambda _: None)(part)
        except NetworkError as error:
            meter.degraded.append(str(error))
    assert "[network] allow" in " ".join(meter.degraded)
    assert reached == []


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("name", list(registry.REGISTRY))
def test_a_model_is_not_fetched(name: str, reached: list[str]) -> None:
    with pytest.raises(NetworkError, match=r"\[network\] allow"):
        fetch.pull(name, network=Network(allow=[]))
    assert reached == []


SEARCHERS: list[dict[str, Any]] = [
    *({"use": name} for role, name in connecting() if role == "searcher" and name != "pages"),
    {"use": "pages", "of": "searxng"},
    {"use": "chain", "searchers": [{"use": "pages", "of": "tavily"}, "wikipedia", "ddgs"]},
]
"""Each as a configuration names it."""


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("searcher", SEARCHERS, ids=lambda searcher: searcher["use"])
def test_a_question_is_asked_without_reaching_out(
    searcher: dict[str, Any], tmp_path: Path, reached: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole method: it retrieves, grades, wants to search, is refused, says so in the step, and still ends."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bridge.txt").write_text("The Ruvel Bridge was built by Tomas Aldwin.")
    build([tmp_path / "bridge.txt"], tmp_path / "index.db", Hashing())
    parts = {
        "embedder": "hashing",
        "evaluator": "lexical",
        "generator": "llm",
        "llm": {"use": "scripted", "replies": {}},
    }
    pipeline = load({"index": {"path": "index.db"}, "network": {"allow": []}, "searcher": searcher, **parts})
    trace = pipeline.run("Who is the mayor of Larrow?")
    assert trace.answer
    assert trace.answer.refused
    searches = [step for step in trace.steps if step.name == "search"]
    assert searches
    assert all("[network] allow" in f"{step.error} {step.degraded}" for step in searches)
    assert reached == []


@pytest.mark.usefixtures("bare")
def test_the_plug_in_of_the_docs_goes_through_the_door(reached: list[str]) -> None:
    """Who copies it is bound by `[network]` as the built-in ones are."""
    page = (Path(__file__).parents[2] / "docs/roles/searcher.md").read_text(encoding="utf-8")
    code = page.partition("```python\n")[2].partition("```")[0]
    room: dict[str, Any] = {}
    exec(code, room)
    with pytest.raises(NetworkError, match=r"\[network\] allow"):
        room["Intranet"]("http://127.0.0.1:9/search", network=Network(allow=[])).search("Who built the bridge?", 3)
    assert reached == []


@pytest.mark.parametrize(
    "source", ["https://a", "git+https://a/x", "git+ssh://a/x", "imaps://ann@a/", "s3://a", "gs://a", "az://a"]
)
def test_no_address_is_mirrored(
    source: str, tmp_path: Path, reached: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is a program asked to."""
    monkeypatch.setenv("SUREFOOT_IMAP_PASSWORD", "x")
    with pytest.raises(NetworkError, match="may not be reached"):
        mirrored(source, tmp_path, Network(allow=[]), lambda *_: None)
    assert reached == []
