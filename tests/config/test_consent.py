"""Code that a configuration file names: where it is found, and who agrees to it."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from surefoot import load
from surefoot.config import consent
from surefoot.config.consent import agree, code, require, texts
from surefoot.config.settings import read
from surefoot.types.errors import ConfigError, UnagreedCode, UnagreedEndpoint


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which nothing was agreed to, with a module that says when it is imported."""
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "mine.py").write_text("raise RuntimeError('imported')\n")
    monkeypatch.chdir(folder)
    monkeypatch.delenv(consent.ALLOWED, raising=False)
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


def test_a_file_that_names_code_is_not_read_without_consent(here: Path) -> None:
    """The error says what it names and how to agree; dictionaries and arguments are the program's own."""
    (here / "surefoot.toml").write_text('evaluator = "mine:X"\n[llm]\nuse = "mine:Y"\n')
    for source in (None, "surefoot.toml", here / "surefoot.toml"):
        with pytest.raises(
            UnagreedCode, match=r"surefoot\.toml names code: mine:X, mine:Y; .*--trust.*SUREFOOT_TRUST=1"
        ):
            read(source)
    with pytest.raises(UnagreedCode):
        load()
    assert read(None, trusted=True)["evaluator"] == {"use": "mine:X"}
    assert read({"evaluator": "mine:X"})["evaluator"] == {"use": "mine:X"}
    assert read(None, {"evaluator": {"use": "lexical"}, "llm": {"use": "local"}})["llm"] == {"use": "local"}


@pytest.mark.parametrize(("value", "agreed"), [("1", True), ("yes", True), ("0", False), ("false", False), ("", False)])
def test_the_environment_agrees(value: str, agreed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in CI."""
    monkeypatch.setenv(consent.ALLOWED, value)
    with nullcontext() if agreed else pytest.raises(UnagreedCode):
        require(["mine:X"], Path("x.toml"))


EVIL = 'evaluator = "llm"\n[llm]\nuse = "openai"\nmodel = "m"\nbase_url = "https://evil.example/v1"\n'


@pytest.mark.parametrize(
    "config", [EVIL, f'{EVIL}key_env = "AWS_SECRET"', '[embedder]\nuse = "openai"\nkey_env = "AWS_SECRET"']
)
def test_a_file_that_names_an_endpoint_is_not_read_without_consent(here: Path, config: str) -> None:
    """Nor one that names whose key the usual endpoint gets. Consent is to both together, once for all folders."""
    (here / "surefoot.toml").write_text(config)
    for source in (None, "surefoot.toml"):
        with pytest.raises(UnagreedEndpoint, match=r"never agreed to here; .*--trust.*SUREFOOT_TRUST=1") as error:
            read(source)
        with pytest.raises(UnagreedEndpoint):
            read(source, {"llm": {"model": "other", "key_env": "OTHER_KEY"}, "embedder": {"dimensions": 3}})
    assert read(None, trusted=True)
    agree(error.value.endpoints)
    assert read(None)
    (here / "surefoot.toml").write_text(f'{config}\n[judge.llm]\nbase_url = "https://other.example"')
    with pytest.raises(UnagreedEndpoint, match=r"other\.example"):
        read(None)


def test_each_endpoint_of_a_list_needs_consent(here: Path) -> None:
    """Of those that are not on this machine; one more than were agreed to is asked about alone."""
    addresses = ["http://127.0.0.1:8710/v1", "https://a.example/v1", "https://b.example/v1"]
    (here / "surefoot.toml").write_text(f'[evaluator]\nuse = "remote"\nbase_url = {addresses}\nkey_env = "MINE"\n')
    with pytest.raises(UnagreedEndpoint, match=r"https://a\.example/v1, .*; https://b\.example/v1, ") as error:
        read(None)
    assert error.value.endpoints == (("https://a.example/v1", "MINE"), ("https://b.example/v1", "MINE"))
    agree(error.value.endpoints[:1])
    with pytest.raises(UnagreedEndpoint) as error:
        read(None)
    assert error.value.endpoints == (("https://b.example/v1", "MINE"),)


def test_what_is_named_by_the_program_or_on_this_machine_needs_no_consent(here: Path) -> None:
    """A dictionary, an override, and a server of models beside us."""
    for host in ("localhost", "127.0.0.1", "[::1]"):
        (here / "surefoot.toml").write_text(f'[llm]\nuse = "openai"\nmodel = "m"\nbase_url = "http://{host}:8080/v1"')
        assert read(None)
    llm = {"use": "openai", "model": "m", "base_url": "https://mine.example", "key_env": "MINE"}
    assert read({"llm": llm})["llm"] == llm
    (here / "surefoot.toml").write_text(EVIL)
    assert read(None, {"llm": {"use": "local"}})["llm"] == {"use": "local"}


def test_the_question_for_consent_shows_no_secret(here: Path) -> None:
    """A key in place of a variable's name, or a login in an address."""
    (here / "surefoot.toml").write_text(EVIL.replace("evil.", "ann:s3cret@evil.") + 'key_env = "sk-s3cret"')
    with pytest.raises(UnagreedEndpoint) as error:
        read(None)
    assert "evil.example" in str(error.value)
    assert "s3cret" not in str(error.value)
