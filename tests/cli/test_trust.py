"""What strangers' traces and runs can make the commands do: nothing that their user did not say. And one's own code."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from surefoot.config import consent
from surefoot.config.settings import DEFAULTS
from surefoot.run.store import Run, read_trace, write_trace
from surefoot.types import Record

QUESTION = "Who built the Ruvel Bridge?"
MINE = """
from pathlib import Path
from surefoot import Grade, Thresholds
Path("imported").touch()

class Mine:
    name = "mine"
    thresholds = Thresholds(0.5, 0.1, 0.1, "mine")
    def __init__(self, **options): Path("built").touch()
    def grade(self, pairs): return tuple(Grade(passage.id, float(len(passage.text) > 9)) for _, passage in pairs)
"""
_seen: list[tuple[str, str]] = []
_watching: list[bool] = []


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if _watching and event.startswith(("import", "open", "socket", "subprocess", "os.system", "os.exec")):
        _seen.append((event, str(arguments)))


sys.addaudithook(_watch)


@pytest.fixture(autouse=True)
def nothing_agreed(here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A module of this folder that leaves a mark, and nobody has agreed to it; the console script's own path."""
    (here / "mine.py").write_text(MINE)
    monkeypatch.delenv(consent.ALLOWED, raising=False)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path not in ("", str(here))])
    yield
    sys.modules.pop("mine", None)


@pytest.fixture
def watched() -> Iterator[list[tuple[str, str]]]:
    """What is imported, opened, connected to and started inside."""
    _seen.clear()
    _watching.append(True)
    yield _seen
    _watching.clear()


@pytest.fixture
def recorded(indexed: Callable[..., Any], here: Path) -> Callable[..., list[Any]]:
    """What the commands say that read a trace, a run and an evaluation, where these say that they were made with this
    configuration."""
    indexed("ask", QUESTION, "--trace", "trace.json")
    (here / "q.jsonl").write_text(json.dumps({"id": "1", "question": QUESTION, "answers": ["Aldwin"]}))

    def run(config: dict[str, Any], *first: str) -> list[Any]:
        trace = replace(read_trace("trace.json"), config=config)
        write_trace(trace, "theirs.json")
        Run(here / "run", {"config": config, "method": "crag", "data": "q.jsonl"}).append("1", trace)
        record = Record("1", QUESTION, trace.passages, "Tomas Aldwin.", trace=trace)
        Run(here / "scored", {"what": "evaluation"}, "records.jsonl").add("1", record)
        (here / "scored" / "scores.jsonl").touch()
        commands = [
            ["explain", "--trace", "theirs.json", "--words", "best"],
            ["explain", "--trace", "theirs.json", "--answer"],
            ["explain", "--run", "scored", "--record", "1"],
            ["lab", "words", "run", "--to", "drawn"],
            ["evaluate", "run", "--run", "judged", "--metric", "answer_relevancy"],
            ["trace", "theirs.json"],
            ["trace", "theirs.json", "--replay"],
        ]
        return [indexed(*first, *command) for command in commands]

    return run


CODE = [
    {role: {"use": "mine:Mine"} for role in DEFAULTS if "use" in DEFAULTS[role]},
    {"evaluator": {"use": "subprocess:Popen", "args": ["touch", "built"]}},
    {"judge": {"llm": {"use": "mine:Mine"}, "factuality": "mine:Mine"}},
]


@pytest.mark.parametrize("config", CODE, ids=str)
def test_a_stranger_has_nothing_imported_or_run(
    config: dict[str, Any], recorded: Callable[..., list[Any]], here: Path, watched: list[tuple[str, str]]
) -> None:
    """Whatever command reads it, and whichever section names code; what would have built it says the name."""
    sys.path.append(str(here))  # as for `python -m surefoot`
    trace, answer, run, words, *others = recorded(config)
    name = "subprocess:Popen" if "subprocess" in str(config) else "mine:Mine"
    for done in (trace, answer, words):
        assert (done.code, f"names {name}" in done.err) == (2, True)
    assert f"1: what is recorded names {name}" in run.err
    assert [done.code for done in others] == [0, 0, 0]
    assert not [args for event, args in watched if event == "import" and "'mine'" in args]
    assert not [args for event, args in watched if event.startswith(("socket", "os.")) or "touch" in args]
    assert not (here / "imported").exists()
    assert not (here / "built").exists()


PLACES: list[dict[str, Any]] = [
    {
        "index": {"path": "/evil/index.db"},
        "network": {"allow": ["*"], "cache": "/evil/replies.db"},
        "embedder": {"use": "hashing"},
        "retriever": {"use": "pgvector", "dsn_env": "AWS_SECRET_ACCESS_KEY"},
        "evaluator": {"use": "lexical"},
        "thresholds": {"file": "/evil/tuned.toml"},
        "searcher": {"use": "searxng", "base_url": "http://127.0.0.1:9/evil"},
        "llm": {"use": "scripted", "replies": {}},
        "judge": {"cache": "/evil/judgements.db"},
    },
    {
        "evaluator": {"use": "llm"},
        "generator": {"use": "llm"},
        "llm": {
            "use": "openai",
            "model": "evil",
            "base_url": "http://127.0.0.1:9/evil",
            "key_env": "AWS_SECRET_ACCESS_KEY",
        },
    },
    {"evaluator": {"use": "minilm", "model": "/evil/minilm"}},
    {"evaluator": {"use": "lexical"}, "generator": {"use": "llm"}, "llm": {"use": "local", "model": "/evil/x.gguf"}},
]


@pytest.mark.parametrize("config", PLACES, ids=str)
def test_a_stranger_has_no_file_opened_and_no_machine_asked(
    config: dict[str, Any],
    recorded: Callable[..., list[Any]],
    monkeypatch: pytest.MonkeyPatch,
    watched: list[tuple[str, str]],
) -> None:
    """Nor is a key of the user's read; what was left out is said, with how to give it."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI")
    trace, _, run, words, *_ = recorded(config)
    for done in (trace, run, words):
        assert "files, machines and keys are yours to name: --set" in done.err
    assert not [args for event, args in watched if event == "open" and "evil" in args]
    assert not [seen for seen in watched if seen[0].startswith("socket")]


def test_what_a_trace_may_not_say_is_given_with_set(recorded: Callable[..., list[Any]], surefoot: Any) -> None:
    """On top of what it may."""
    theirs = {"use": "openai", "model": "theirs", "base_url": "http://evil.example"}
    recorded({"evaluator": {"use": "lexical"}, "generator": {"use": "llm"}, "llm": theirs})
    again = ["explain", "--trace", "theirs.json", "--answer"]
    assert "llm 'openai' needs the option 'model'" in surefoot(*again).err
    done = surefoot(*again, "--set", "llm.model=mine", "--set", "llm.base_url=ftp://mine")
    assert "base_url is not an http or https address" in done.err
    assert "not taken" not in done.err


def test_modules_are_not_looked_for_here_untold(recorded: Callable[..., list[Any]], here: Path) -> None:
    """Or a library that is not installed would be taken from a stranger's folder."""
    recorded({"evaluator": {"use": "lexical"}, "searcher": {"use": "surefoot.searchers.nowhere:Nowhere"}})
    assert str(here) not in sys.path


# Code that the user's own configuration names


def test_a_configuration_that_names_code_needs_consent(surefoot: Any, here: Path) -> None:
    """The error says how to give it; nothing was imported."""
    (here / "surefoot.toml").write_text('evaluator = "mine:Mine"\n')
    for command in (["explain", QUESTION, "x"], ["lab", "evaluator", "missing.jsonl"], ["ask", QUESTION]):
        done = surefoot(*command)
        assert (done.code, (here / "imported").exists()) == (2, False)
    assert "mine:Mine; look at it, then agree with surefoot --trust" in done.err
    done = surefoot("--trust", "explain", QUESTION, "The Ruvel Bridge.")
    assert (done.code, "score of mine" in done.out, (here / "imported").exists()) == (0, True, True)
    assert surefoot("explain", QUESTION, "x").code == 2


def test_what_is_named_on_the_command_line_is_agreed_to(surefoot: Any, here: Path) -> None:
    """Its user has just written it."""
    assert surefoot("explain", QUESTION, "The Bridge.", "--set", "evaluator.use=mine:Mine").code == 0
    (here / "pairs.jsonl").write_text(
        json.dumps({"id": "1", "question": "Who?", "passages": [{"id": "a", "text": "x", "label": 1}]})
    )
    assert "mine:Mine" not in (done := surefoot("lab", "evaluator", "pairs.jsonl", "--evaluator", "mine:Mine")).err
    assert done.code == 0


def test_an_endpoint_that_a_strangers_file_names_gets_nothing(
    surefoot: Any, here: Path, watched: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No question and no key, from whichever command; the error says how to allow it. A terminal asks once."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI")
    llm = 'use = "openai"\nmodel = "m"\nbase_url = "http://192.0.2.1:9/v1"\nkey_env = "AWS_SECRET_ACCESS_KEY"'
    (here / "surefoot.toml").write_text(
        f'generator = "llm"\nevaluator = "lexical"\n[network]\nallow = []\n[llm]\n{llm}'
    )
    for command in (["ask", QUESTION], ["doctor"], ["chat"]):
        done = surefoot(*command)
        assert done.code == 2
        assert "sent to http://192.0.2.1:9/v1, with the key in AWS_SECRET_ACCESS_KEY" in done.err
        assert "surefoot --trust in front of the command, or SUREFOOT_TRUST=1" in done.err
    assert not [args for event, args in watched if event.startswith("socket")]
    answers = iter([False, True])
    monkeypatch.setattr("surefoot.cli._configuration._may_ask", lambda: True)
    monkeypatch.setattr("typer.confirm", lambda question, **_: next(answers))
    assert "never agreed to" in surefoot("doctor").err
    assert "never agreed to" not in surefoot("doctor").err
    assert "never agreed to" not in surefoot("doctor").err
