"""From a file, a dictionary and single settings to a configuration; and what a wrong one says."""

from pathlib import Path
from typing import Any

import pytest

from surefoot.config.settings import DEFAULTS, read, setting, settings, worded_by
from surefoot.models import registry
from surefoot.types.errors import ConfigError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory: no surefoot.toml but the test's own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_nothing_said_is_the_defaults() -> None:
    """And what is read is a copy of them; without a language model the quoting reader quotes."""
    config = read()
    assert config == {**DEFAULTS, "generator": {"use": "extractive"}}
    config["searcher"]["use"] = "changed"
    assert DEFAULTS["searcher"]["use"] == "nowhere"


def test_a_language_model_that_is_configured_or_was_pulled_words_the_answers(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless the generator is named."""
    monkeypatch.setenv("SUREFOOT_MODELS", str(here))
    endpoint = {"llm": {"use": "openai", "model": "m"}}
    assert read(endpoint)["generator"] == {"use": "llm"}
    assert read({**endpoint, "generator": "extractive"})["generator"] == {"use": "extractive"}
    model = registry.REGISTRY[registry.RECOMMENDED]
    with (here / model.file).open("wb") as file:
        file.truncate(model.size)
    config = read()
    assert (config["generator"], config["llm"]) == ({"use": "llm"}, {"use": "local", "model": registry.RECOMMENDED})
    assert read({}, worded_by("none"))["generator"] == {"use": "extractive"}


def test_a_model_is_named_in_a_word() -> None:
    """The recommended one, a file, or what an endpoint calls it; a section's name alone is its component."""
    local = {"use": "local", "model": registry.RECOMMENDED}
    assert worded_by("local") == {"generator": {"use": "llm"}, "llm": local}
    assert worded_by("mine.gguf")["llm"] == {"use": "local", "model": "mine.gguf"}
    assert worded_by("gpt-5")["llm"] == {"use": "openai", "model": "gpt-5"}
    assert settings(["generator=llm"]) == [{"generator": {"use": "llm"}}]


def test_a_file_in_the_working_directory_is_read_unasked(here: Path) -> None:
    """A named file takes its place."""
    (here / "surefoot.toml").write_text("[pipeline]\nk = 3\n")
    (here / "other.toml").write_text("[pipeline]\nk = 4\n")
    assert read()["pipeline"] == {"k": 3}
    assert read("other.toml")["pipeline"] == {"k": 4}
    assert read({})["pipeline"] == {}


def test_later_layers_win_key_by_key() -> None:
    """What they do not name stays; settings apply in their order."""
    config = read({"pipeline": {"k": 3, "external_k": 2}}, *settings(["pipeline.k=1", "pipeline.k=2"]))
    assert config["pipeline"] == {"k": 2, "external_k": 2}


def test_another_component_drops_the_options_of_the_old_one(here: Path) -> None:
    """A folder's path is no option of another searcher; the same component keeps what is not named. A name alone is
    short for `use`."""
    old = {"searcher": {"use": "folder", "path": "a.db"}}
    assert read(old, {"searcher": "nowhere"})["searcher"] == {"use": "nowhere"}
    assert read(old, {"searcher": {"use": "folder"}})["searcher"] == {"use": "folder", "path": "a.db"}


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        ({"umpire": {}}, "no section called 'umpire'; there are: index, embedder, "),
        ({"pipeline": 3}, "'pipeline' must be a section of keys, not 3"),
        ({"evaluator": {"use": 3}}, r"\[evaluator\] use must be the name of a component, not 3"),
    ],
)
def test_a_layer_that_is_none_is_refused(layer: dict[str, Any], message: str) -> None:
    """With what it should be."""
    with pytest.raises(ConfigError, match=message):
        read(layer)


UNREADABLE = [
    ("absent.toml", None),
    ("bad.toml", b"[x"),
    ("bytes.toml", b"\xff"),
    ("nested.toml", b"x = " + b"[" * 50_000),
    ("dotted.toml", b"llm" + b".a" * 3_000 + b" = 1"),
    ("long.toml", b"x = " + b"1" * 10_000),
]


@pytest.mark.parametrize(("name", "content"), UNREADABLE)
def test_a_file_that_cannot_be_read_is_named(here: Path, name: str, content: bytes | None) -> None:
    """Whether it is not there, not TOML, not text, or more of it than can be used."""
    if content is not None:
        (here / name).write_bytes(content)
    with pytest.raises(ConfigError, match=f"^{name} "):
        read(name)


# Settings of the command line


@pytest.mark.parametrize(
    ("text", "section", "key", "value"),
    [
        ("pipeline.k=5", "pipeline", "k", 5),
        ("evaluator.use=cosine", "evaluator", "use", "cosine"),
        ('evaluator.use="cosine"', "evaluator", "use", "cosine"),
        ("thresholds.upper = 0.5", "thresholds", "upper", 0.5),
        ("thresholds.upper=.5", "thresholds", "upper", 0.5),
        ("thresholds.lower=-.5", "thresholds", "lower", -0.5),
        ("retriever.retrievers=['bm25']", "retriever", "retrievers", ["bm25"]),
        ('llm.replies={Who="me"}', "llm", "replies", {"Who": "me"}),
        ("index.path=a=b.db", "index", "path", "a=b.db"),
        ("llm.model=", "llm", "model", ""),
        ("llm.model=" + "[" * 5_000, "llm", "model", "[" * 5_000),
    ],
)
def test_a_setting_is_read_as_toml_and_as_text_where_it_is_none(text: str, section: str, key: str, value: Any) -> None:
    """Names need no quotes in a shell."""
    assert setting(text) == {section: {key: value}}


@pytest.mark.parametrize("text", ["", "k=5", "pipeline.k", ".k=5", "pipeline.=5"])
def test_a_setting_without_section_key_or_value_shows_the_form(text: str) -> None:
    """With an example."""
    with pytest.raises(ConfigError, match=r"write section\.key=value"):
        setting(text)
