"""The gate for recorded configurations: what is taken, what is the user's own, and what is refused."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from surefoot.config.builder import Builder
from surefoot.config.settings import DEFAULTS, Config, read
from surefoot.config.trust import Own, place, rebuilt
from surefoot.retrievers._given import USE
from surefoot.types.errors import ConfigError, UsageError


def taken(recorded: Any, own: Any = None) -> Config:
    return rebuilt(recorded, Own(read(own or {}))).config


def left(recorded: Any, own: Any = None) -> tuple[str, ...]:
    return rebuilt(recorded, Own(read(own or {}))).left


def test_what_the_defaults_recorded_comes_back_whole() -> None:
    """With nothing left out, so that nothing is said."""
    assert rebuilt(read({}), Own(read({}))) == rebuilt({}, Own(read({})))
    assert (taken(read({})), left(read({}))) == (read({}), ())


def test_numbers_truth_values_and_known_words_are_taken() -> None:
    """Whatever the user's own configuration says in their place."""
    recorded = {
        "evaluator": {"use": "cascade", "evaluators": ["lexical", {"use": "llm", "per_call": 5}], "band": [0.35, 0.8]},
        "embedder": "hashing",
        "retriever": {"use": "hybrid", "retrievers": ["bm25"], "weights": {"bm25": 0.5}, "depth": 9},
        "refiner": {"use": "strips", "mode": "selection", "best": 2},
        "thresholds": {"upper": 0.7, "evaluator": "cascade of two"},
        "policy": {"use": "count", "max_rewrites": 1},
        "generator": {"use": "extractive", "whole": False},
        "pipeline": {"k": 3},
    }
    own = {"evaluator": "lexical", "policy": "threshold", "pipeline": {"k": 9}, "thresholds": {"upper": 0.1}}
    assert taken(recorded, own) == read({**recorded, "index": DEFAULTS["index"]})
    assert left(recorded, own) == ()


@pytest.mark.parametrize(
    ("recorded", "said"),
    [
        ({"index": {"path": "/etc/passwd"}}, "index.path"),
        ({"network": {"allow": ["evil.example"]}}, "network.allow"),
        ({"judge": {"cache": "/home/you/.bashrc"}}, "judge.cache"),
        ({"evaluator": {"use": "minilm", "model": "/evil/model"}}, "evaluator.model"),
        ({"evaluator": {"use": "minilm", "threads": 100_000}}, "evaluator.threads"),
        ({"evaluator": {"use": "t5", "folder": "//evil/share", "task": "popqa"}}, "evaluator.folder"),
        (
            {"evaluator": {"use": "cascade", "evaluators": [{"use": "t5", "folder": "/x"}]}},
            "evaluator.evaluators.folder",
        ),
        ({"thresholds": {"file": "/dev/zero"}}, "thresholds.file"),
        ({"llm": {"use": "local", "model": "/evil/model.gguf"}}, "llm.model"),
        ({"llm": {"use": "local", "context": 10**9}}, "llm.context"),
        ({"llm": {"use": "openai", "base_url": "http://evil.example"}}, "llm.base_url"),
        ({"llm": {"use": "openai", "key_env": "AWS_SECRET_ACCESS_KEY"}}, "llm.key_env"),
        ({"llm": {"use": "openai", "model": "gpt"}}, "llm.model"),
        ({"llm": {"use": "openai", "extra_body": {"n": 1000}}}, "llm.extra_body"),
        ({"searcher": {"use": "folder", "path": "/etc"}}, "searcher.path"),
        ({"searcher": {"use": "wikipedia"}}, "searcher.use"),
        ({"searcher": {"use": "surefoot.searchers.ddgs:Ddgs"}}, "searcher.use"),
        ({"searcher": {"use": "pages", "of": {"use": "searxng", "base_url": "http://evil.example"}}}, "searcher.use"),
        ({"retriever": {"use": "pgvector", "dsn_env": "AWS_SECRET_ACCESS_KEY"}}, "retriever.use"),
        ({"refiner": {"use": "strips", "mode": "evil"}}, "refiner.mode"),
        ({"refiner": {"use": "strips", "size": 10**400}}, "refiner.size"),
        ({"refiner": {"use": "strips", "best": float("nan")}}, "refiner.best"),
        ({"evaluator": {"use": "cosine", "fitted": {"upper": 1, "file": "/x"}}}, "evaluator.fitted"),
        ({"without": {"stage": "search"}}, "without"),
    ],
)
def test_what_names_a_place_a_machine_or_a_key_is_left_out(recorded: Any, said: str) -> None:
    """It is nowhere in what is built, and said."""
    assert left(recorded) == (said,)
    section, _, key = said.partition(".")
    assert key not in taken(recorded).get(section, {}) or taken(recorded)[section] == DEFAULTS[section]
    assert "evil" not in str(taken(recorded))


def test_the_users_own_stands_in_for_what_was_left_out() -> None:
    """Of the same component; of an endpoint also what the record does not say."""
    own = {"llm": {"use": "openai", "model": "mine", "base_url": "http://127.0.0.1:1/v1", "retries": 5}}
    recorded = {"llm": {"use": "openai", "model": "theirs", "timeout": 1e9}}
    assert (taken(recorded, own)["llm"], left(recorded, own)) == (own["llm"], ("llm.model", "llm.timeout"))
    own = {"evaluator": {"use": "minilm", "model": "mine"}}
    assert taken({"evaluator": {"use": "minilm", "model": "theirs"}}, own)["evaluator"]["model"] == "mine"
    assert taken({"evaluator": {"use": "minilm"}}, own)["evaluator"] == {"use": "minilm"}
    assert taken({"evaluator": {"use": "lexical"}}, own)["evaluator"] == {"use": "lexical"}


def test_where_data_lie_and_whom_the_machine_asks_is_the_users_own() -> None:
    """Whether or not the record has such a section."""
    own = {"index": {"path": "mine.db"}, "network": {"allow": []}, "judge": {"cache": ""}}
    for recorded in (
        {},
        {"index": {"path": "theirs.db"}, "network": {"allow": ["*"]}, "judge": {"cache": "theirs.db"}},
    ):
        config = taken(recorded, own)
        assert {name: config[name] for name in own} == {name: read(own)[name] for name in own}


def test_a_searcher_that_goes_out_is_the_users_own_with_all_that_it_is_made_of() -> None:
    """A record adds no provider to it."""
    own = {"searcher": {"use": "chain", "searchers": ["wikipedia"]}}
    recorded = {"searcher": {"use": "chain", "searchers": [{"use": "ddgs"}], "failures": 2}}
    assert taken(recorded, own)["searcher"] == {"use": "chain", "searchers": ["wikipedia"], "failures": 2}
    assert left(recorded, own) == ("searcher.searchers",)
    assert taken({"searcher": {"use": "wikipedia"}}, {"searcher": "wikipedia"})["searcher"] == {"use": "wikipedia"}


def test_settings_that_the_user_gives_come_last() -> None:
    """So a component whose place was left out can be built."""
    own = Own(read({}), [{"evaluator": {"folder": "mine"}}])
    found = rebuilt({"evaluator": {"use": "t5", "folder": "theirs", "device": "theirs"}}, own)
    assert (found.config["evaluator"], found.left) == ({"use": "t5", "folder": "mine"}, ("evaluator.device",))


CODE = [
    *({role: {"use": "evil_module:Evil"}} for role in DEFAULTS if "use" in DEFAULTS[role]),
    {"evaluator": "subprocess:Popen"},
    {"evaluator": {"use": "cascade", "evaluators": ["lexical", {"use": "evil_module:Evil"}]}},
    {"retriever": {"use": "hybrid", "retrievers": ["evil_module:Evil"]}},
    {"searcher": {"use": "pages", "of": {"use": "evil_module:Evil"}}},
    {"searcher": {"use": "chain", "searchers": ["evil_module:Evil"]}},
    {"judge": {"llm": {"use": "evil_module:Evil"}}},
    {"judge": {"factuality": "evil_module:Evil"}},
    {"judge": {"metrics": ["evil_module:Evil"]}},
    {"evaluator": {"use": "surefoot.evil:Evil"}},
    {"evaluator": {"use": "surefoot.__main__:main"}},
    {"evaluator": {"use": "plugged_in"}},
]


@pytest.mark.parametrize("recorded", CODE)
def test_what_is_not_surefoots_is_refused_by_its_name(recorded: Any) -> None:
    """At every depth, and nothing of it is imported."""
    name = next(
        name for name in ("evil_module:Evil", "subprocess:Popen", "surefoot.", "plugged_in") if name in str(recorded)
    )
    with pytest.raises(ConfigError, match=rf"names {name}.*in a surefoot.toml of your own"):
        taken(recorded)
    assert "evil_module" not in sys.modules


def test_what_the_user_names_too_may_be_named() -> None:
    """It was agreed to there."""
    own = {"evaluator": {"use": "mine:X", "model": "a"}}
    assert taken({"evaluator": {"use": "mine:X", "model": "b"}}, own)["evaluator"] == own["evaluator"]


@pytest.mark.parametrize(("role", "use"), [("retriever", USE), ("searcher", "surefoot.searchers.nowhere:Nowhere")])
def test_classes_that_surefoot_itself_records_are_its_own(role: str, use: str) -> None:
    """Of texts that came with the questions, and of an ablation."""
    recorded = {role: {"use": use}}
    assert (taken(recorded)[role], left(recorded)) == (recorded[role], ())
    assert Builder(taken(recorded)).built(role)


@pytest.mark.parametrize(
    "recorded", [[1], 3, {"evaluator": 3}, {"llm": [3]}, {"evaluator": {"use": [3]}}, {"index": 1}]
)
def test_what_is_no_configuration_is_a_mistake(recorded: Any) -> None:
    """And no traceback."""
    with pytest.raises(ConfigError, match="no configuration"):
        taken(recorded)


@pytest.mark.skipif(os.name != "posix", reason="has no pipes and devices among its files")
def test_a_file_that_a_record_names_lies_below_this_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not elsewhere, not behind a link, and not a device; the error says how the user names one."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for name in ("data.jsonl", "../outside.jsonl"):
        Path(name).touch()
    os.mkfifo("pipe")
    Path("link.jsonl").symlink_to("../outside.jsonl")
    Path("folder").mkdir()
    assert [place(name, "--data") for name in ("data.jsonl", "folder")] == [Path("data.jsonl"), Path("folder")]
    for said in ("../outside.jsonl", "link.jsonl", "/dev/zero", "//evil/share/x", "missing.jsonl", "pipe", "", "\0"):
        with pytest.raises(UsageError, match="which is not below this folder; name it by --data"):
            place(said, "--data")


def test_where_traces_are_sent_is_the_users_own() -> None:
    """A stranger's record sends nobody's questions anywhere."""
    recorded = {"telemetry": {"base_url": "http://localhost:4318", "texts": True}}
    assert (taken(recorded)["telemetry"], left(recorded)) == ({}, ("telemetry.base_url", "telemetry.texts"))
    own = {"telemetry": {"base_url": "http://localhost:6006"}}
    assert taken(recorded, own)["telemetry"] == own["telemetry"]
