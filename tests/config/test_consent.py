"""Code that a configuration file names: what it is, where it would come from, and what was agreed to."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from surefoot import load
from surefoot.config import consent
from surefoot.config.consent import code, origin, remember, require, texts
from surefoot.config.settings import read
from surefoot.types.errors import ConfigError, UnagreedCode


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which nothing was agreed to, with a module that says when it is imported."""
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "mine.py").write_text("raise RuntimeError('imported')\n")
    monkeypatch.chdir(folder)
    monkeypatch.delenv(consent.ALLOWED, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return folder


@pytest.mark.parametrize(
    "config",
    [
        {"evaluator": "mine:X"},
        {"policy": {"use": "mine:X"}},
        {"judge": {"surefoot.judges.factuality:Factuality": "mine:X"}},
        {"judge": {"factuality": {"use": "llm", "metric": "mine:X"}}},
        {"llm": {"use": "mine:X"}},
        {"retriever": {"use": "hybrid", "retrievers": ["bm25", "mine:X"]}},
        {"evaluator": {"use": "cascade", "evaluators": ["lexical", {"use": "mine:X"}]}},
        {"searcher": {"use": "pages", "of": "mine:X"}},
        {"searcher": {"use": "chain", "searchers": ["nowhere", {"use": "pages", "of": {"use": "mine:X"}}]}},
        {"judge": {"factuality": "mine:X"}},
        {"judge": {"metrics": ["factuality", "mine:X"]}},
        {"judge": {"context_recall": {"use": "mine:X"}}},
        {"judge": {"llm": {"use": "mine:X"}}},
    ],
)
def test_code_is_found_wherever_it_is_named(config: Any) -> None:
    """At every depth; what names a model, an address, or a class of Surefoot's is none."""
    assert code(config) == ["mine:X"]
    assert code({"searcher": "surefoot.searchers.nowhere:Nowhere"}) == []
    assert code({"llm": {"use": "openai", "model": "qwen3:8b", "base_url": "http://[::1]:80"}}) == []


@pytest.mark.parametrize("nested", [{"of": None}, [None]])
def test_tables_without_end_are_a_mistake(nested: Any) -> None:
    """And no traceback."""
    inner: Any = "x"
    for _ in range(500):
        inner = {"of": inner} if isinstance(nested, dict) else [inner]
    with pytest.raises(ConfigError, match="nests tables more than 16 deep"):
        list(texts(inner))


def test_its_place_is_found_without_importing_it(here: Path) -> None:
    """In the folder, or among the packages; or nowhere."""
    assert origin("mine:X") == str(here / "mine.py")
    assert origin("pytest:X") == pytest.__file__
    assert origin("no_such_module.inner:X").startswith("nowhere")
    assert "mine" not in sys.modules


def test_a_file_that_names_code_is_not_read_unasked(here: Path) -> None:
    """The error says what it names and how to agree; dictionaries and arguments are the program's own."""
    (here / "surefoot.toml").write_text('evaluator = "mine:X"\n[llm]\nuse = "mine:Y"\n')
    for source in (None, "surefoot.toml", here / "surefoot.toml"):
        with pytest.raises(
            UnagreedCode, match=r"surefoot\.toml names code .* mine:X, mine:Y; .*--trust.*SUREFOOT_TRUST=1"
        ):
            read(source)
    with pytest.raises(UnagreedCode):
        load()
    assert read(None, trusted=True)["evaluator"] == {"use": "mine:X"}
    assert read({"evaluator": "mine:X"})["evaluator"] == {"use": "mine:X"}
    assert read(None, {"evaluator": {"use": "lexical"}, "llm": {"use": "local"}})["llm"] == {"use": "local"}


def test_what_was_agreed_to_is_asked_about_no_more(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this folder, under whatever name one comes to it; another name, or another folder, is asked about anew."""
    remember(["mine:X"])
    remember(["mine:Y"])
    require(["mine:X"], Path("surefoot.toml"))
    with pytest.raises(UnagreedCode) as refused:
        require(["mine:X", "mine:Z"], Path("surefoot.toml"))
    assert refused.value.names == ("mine:Z",)
    (tmp_path / "link").symlink_to(here)
    monkeypatch.chdir(tmp_path / "link")
    require(["mine:X", "mine:Y"], Path("surefoot.toml"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnagreedCode):
        require(["mine:X"], Path("surefoot.toml"))


def test_it_is_kept_where_only_its_user_writes() -> None:
    """And can be read by a person."""
    remember(["mine:X"])
    assert json.loads(consent.memory().read_text()) == {os.getcwd(): ["mine:X"]}
    if os.name == "posix":
        assert stat.S_IMODE(consent.memory().stat().st_mode) == 0o600
    assert list(consent.memory().parent.iterdir()) == [consent.memory()]


def test_a_memory_that_could_not_be_written_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """With nothing beside it."""
    remember(["mine:X"])

    def fails(*places: object) -> None:
        raise OSError("full")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="full"):
        remember(["mine:Y"])
    require(["mine:X"], Path("x.toml"))
    assert list(consent.memory().parent.iterdir()) == [consent.memory()]


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 3}', '{"a": [[]]}', "[" * 9000, "\xff"])
def test_a_damaged_memory_agrees_to_nothing(text: str) -> None:
    """It says which file to delete."""
    consent.memory().parent.mkdir(parents=True)
    consent.memory().write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError, match=r"trusted\.json .*delete it to be asked anew"):
        require(["mine:X"], Path("x.toml"))


@pytest.mark.parametrize(("value", "agreed"), [("1", True), ("yes", True), ("0", False), ("false", False), ("", False)])
def test_the_environment_agrees_where_nobody_can_be_asked(
    value: str, agreed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in CI."""
    monkeypatch.setenv(consent.ALLOWED, value)
    if agreed:
        require(["mine:X"], Path("x.toml"))
    else:
        with pytest.raises(UnagreedCode):
            require(["mine:X"], Path("x.toml"))
