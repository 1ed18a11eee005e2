"""Another RAG system, behind a command or an address."""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from surefoot.evaluate.ask.questions import Example
from surefoot.evaluate.ask.runs import Arm
from surefoot.evaluate.diagnose.remedies import patches_of
from surefoot.evaluate.improve import system
from surefoot.evaluate.improve.plan import golds, record
from surefoot.evaluate.improve.system import ForeignSystem, levers_of, opened
from surefoot.types import Record, Trace
from surefoot.types.errors import UsageError

GOOD = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    answer = "Aldwin" if request["config"]["k"] > 2 else "I do not know."
    reply = {"response": answer, "retrieved_contexts": [request["question"]] * request["config"]["k"]}
    print(json.dumps(reply), flush=True)
"""
LEVERS = {("system", "k"): (2, 5), ("system", "prompt"): ("short", "long")}
EXAMPLES = [Example(str(n), f"Who built bridge {n}?", ("Aldwin",), frozenset()) for n in range(3)]


def command(folder: Path, text: str) -> str:
    (folder / "rag.py").write_text(text)
    return f"{sys.executable} {folder / 'rag.py'}"


def answered(target: str, patch: Any = None) -> list[Trace]:
    with opened(target, LEVERS) as there:
        config = there.changed(there.config, patch) if patch else there.config
        with there.spreading(config) as spread:
            return [trace for _, trace in spread(Arm("x", lambda *_: Trace("", "")), EXAMPLES)]


def test_a_command_answers_under_a_configuration(tmp_path: Path) -> None:
    """One process for all; a record has its answer and contexts, and no trace, for it is none of ours."""
    target = command(tmp_path, GOOD)
    before, after = answered(target), answered(target, {"system": {"k": 5}})
    made = record(EXAMPLES[0], after[0])
    assert (made.answer, len(made.contexts or ()), made.trace) == ("Aldwin", 5, None)
    texts = [score.value for score in golds(EXAMPLES).scores([made, record(EXAMPLES[1], before[1])], tmp_path)]
    assert texts == [1.0, 0.0]


def test_a_command_may_end_after_each_answer(tmp_path: Path) -> None:
    """It is started again for the next question."""
    once = GOOD.replace("for line in sys.stdin:", "for line in [sys.stdin.readline()]:")
    assert [trace.error for trace in answered(command(tmp_path, once))] == [None] * 3


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import sys; sys.stdin.readline(); sys.exit('no key')", "without an answer (status 1): no key"),
        ("print('hello', flush=True); input()", "Expecting value"),
        ('input(); print(\'{"error": "busy"}\', flush=True); input()', "busy"),
        ("input(); print('[]', flush=True); input()", "no object"),
        ('input(); print(\'{"contexts": ["x"]}\', flush=True); input()', "no answer under a known name"),
    ],
)
def test_a_failure_is_a_record_with_its_reason_and_has_no_score(tmp_path: Path, text: str, reason: str) -> None:
    """Not a wrong answer."""
    trace = answered(command(tmp_path, text))[0]
    assert reason in str(trace.error)
    [score] = golds(EXAMPLES).scores([record(EXAMPLES[0], trace)], tmp_path)
    assert (score.value, score.unscored_because) == (None, trace.error)


def test_a_command_that_never_answers_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the seconds that it has for an answer."""
    monkeypatch.setattr(system, "PATIENCE", 0.3)
    assert "status -9" in str(answered(command(tmp_path, "import time; time.sleep(60)"))[0].error)
    assert "cannot be started" in str(answered("/no/such/program")[0].error)


class Answering(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(500 if request["question"].endswith("2?") else 200)
        self.end_headers()
        self.wfile.write(json.dumps({"answer": str(request["config"]), "contexts": []}).encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_an_address_is_asked_by_post() -> None:
    """One that does not answer well is a failure."""
    with HTTPServer(("127.0.0.1", 0), Answering) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        first, _, last = answered(f"http://127.0.0.1:{server.server_port}/ask")
        server.shutdown()
    assert first.answer
    assert "'k': 2" in first.answer.text
    assert "HTTP 500" in str(last.error)


def test_only_values_of_the_levers_are_set() -> None:
    """And something must change; a run records a hash of the command, which may hold a key."""
    there = ForeignSystem("rag --key=secret", LEVERS, lambda _: None)
    assert there.config == {"system": {"k": 2, "prompt": "short"}}
    assert "secret" not in json.dumps(there.about)
    for patch, reason in (({"k": 3}, "no k = 3"), ({"top": 1}, "no top"), ({"k": 2}, "changes nothing")):
        with pytest.raises(UsageError, match=reason):
            there.changed(there.config, {"system": patch})


def test_a_fault_is_met_by_the_levers_named_alike_and_by_those_whose_names_tell_nothing() -> None:
    """In the order of what mends it; the value in effect is none of them."""
    switch = {("system", "rerank"): (False, True), ("system", "score_threshold"): (0.7, 0.0)}
    levers = {**LEVERS, **switch, ("system", "zeal"): (1, 9)}
    config = ForeignSystem("", levers, lambda _: None).config
    none: list[Record] = []
    missed = patches_of("retrieval", "miss", config, none, levers)
    wanted = {"k": 5}, {"score_threshold": 0.0}, {"rerank": True}, {"zeal": 9}
    assert missed == tuple({"system": one} for one in wanted)
    invented = patches_of("grounding", "invented", config, none, levers)
    assert invented[:2] == ({"system": {"prompt": "long"}}, {"system": {"score_threshold": 0.0}})
    assert patches_of("retrieval", "miss", config, none) == ()
    refuses = [*patches_of("grounding", "unanswerable", config, none, levers)]
    assert refuses == [{"system": one} for one in ({"score_threshold": 0.0}, {"prompt": "long"}, {"zeal": 9})]


def test_levers_are_lists_of_values(tmp_path: Path) -> None:
    """Of two or more; anything else is named."""
    file = tmp_path / "levers.toml"
    file.write_text("k = [1, 2]\n")
    assert levers_of(file) == {("system", "k"): (1, 2)}
    for text, reason in (("k = 3\n", "k must be a list"), ("k = [1]\n", "two values"), ("k =", "is not TOML")):
        file.write_text(text)
        with pytest.raises(UsageError, match=reason):
            levers_of(file)
