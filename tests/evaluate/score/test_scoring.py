"""Judges over records: what it would cost, what is kept, and that nothing is paid for twice, whatever happens."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from services.endpoint import Endpoint, endpoint, hashed, rated
from surefoot.config.builder import Builder
from surefoot.config.settings import read
from surefoot.evaluate.records.folder import records_of
from surefoot.evaluate.score import scoring
from surefoot.evaluate.score.scoring import SCORES, ScoringProgress, plan, run
from surefoot.judges._diamond import metrics
from surefoot.judges.llm import LLMJudge, prompt
from surefoot.llms.scripted import Scripted
from surefoot.run.store import values
from surefoot.stats import figures
from surefoot.types import Message, Passage, Record, Score, Trace
from surefoot.types.errors import EndpointError, TraceFault, UsageError
from surefoot.types.llms import Prices

METRIC = "answer_relevancy"


def scores(folder: Path) -> dict[str, Score]:
    return values(folder / SCORES, Score)


def record(number: int, **more: Any) -> Record:
    passage = Passage(f"p{number}", f"Bridge {number} was built by Tomas Aldwin.")
    whole = Record(f"r{number}", f"Who built bridge {number}?", (passage,), "Tomas Aldwin", ("Tomas Aldwin",))
    return replace(whole, **more)


def said(rating: int = 4, metric: str = METRIC) -> str:
    return json.dumps({"explanation": "so", metrics()[metric].key: str(rating), "quotes": []})


class Counting:
    """A judge that counts what it judges."""

    name = "counting"

    def __init__(self, metric: str = "charm", fails: Exception | None = None, value: float | None = 1.0) -> None:
        self.metric, self.fails, self.value = metric, fails, value
        self.judged: list[str] = []

    def judge(self, record: Record) -> Score:
        self.judged.append(record.id)
        if self.fails:
            raise self.fails
        return Score(record.id, self.metric, self.value, judge=self.name, calls=1, tokens=10)


def test_every_record_gets_a_score_of_every_metric_on_disk(tmp_path: Path) -> None:
    """Under its id and the metric's name, as soon as it is made; a second run finds all of it there."""
    seen: list[int] = []
    progress: list[ScoringProgress] = []

    def on_progress(now: ScoringProgress) -> None:
        seen.append(len(scores(tmp_path / "run")))
        progress.append(now)

    judges, records = [Counting("a"), Counting("b", value=None)], [record(1), record(2)]
    kept = run(judges, records, tmp_path / "run", on_progress=on_progress)
    assert [*kept] == ["r1\ta", "r1\tb", "r2\ta", "r2\tb"]
    assert kept == scores(tmp_path / "run")
    assert seen == [one.done for one in progress] == [0, 1, 2, 3, 4]
    assert (progress[-1].unscored, progress[-1].calls, progress[-1].tokens) == (2, 4, 40)
    assert run(judges, records, tmp_path / "run") == kept
    assert [len(judge.judged) for judge in judges] == [2, 2]


def test_a_judge_can_stay_on_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole diamond is judged where no connection can be made and no name looked up."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("somebody asks another machine")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    kept = run(Builder(read({"judge": {"use": "embedded"}})).judges(), [record(1)], tmp_path / "run")
    assert len(kept) == len(metrics())
    assert all(one.value is not None for one in kept.values()), kept


def test_what_failed_for_a_passing_reason_is_asked_again(tmp_path: Path) -> None:
    """The last line counts; what failed for good is left."""
    failed = run([Counting(fails=EndpointError("down"))], [record(1)], tmp_path / "run")["r1\tcharm"]
    assert (failed.value, failed.unscored_because, failed.passing) == (None, "down", True)
    assert run([Counting()], [record(1)], tmp_path / "run")["r1\tcharm"].value == 1.0
    assert scores(tmp_path / "run")["r1\tcharm"].value == 1.0
    for_good = LLMJudge(Scripted(["?"] * 2), METRIC)
    run([for_good], [record(1)], tmp_path / "other")
    assert run([for_good], [record(1)], tmp_path / "other")[f"r1\t{METRIC}"].passing is False


def test_a_torn_last_line_is_judged_again(tmp_path: Path) -> None:
    """And another damaged one is named."""
    run([Counting()], [record(1), record(2)], tmp_path / "run")
    path = tmp_path / "run" / "scores.jsonl"
    path.write_bytes(path.read_bytes()[:-5])
    assert [*scores(tmp_path / "run")] == ["r1\tcharm"]
    again = Counting()
    run([again], [record(1), record(2)], tmp_path / "run")
    assert again.judged == ["r2"]
    path.write_text("{\n" + path.read_text())
    with pytest.raises(TraceFault, match="line 1 is damaged"):
        scores(tmp_path / "run")


def test_another_run_is_not_mixed_in(tmp_path: Path) -> None:
    """Other records, other judges, or other settings need another folder, and other records another id."""
    with pytest.raises(UsageError, match="'r1'"):
        run([Counting()], [record(1), record(1)], tmp_path / "run")
    run([Counting()], [record(1)], tmp_path / "run", {"evaluation": {"repeats": 1}})
    for judges, records, about in (
        ([Counting("b")], [record(1)], {"evaluation": {"repeats": 1}}),
        ([Counting()], [record(1, answer="Nobody")], {"evaluation": {"repeats": 1}}),
        ([Counting()], [record(1)], {"evaluation": {"repeats": 2}}),
    ):
        with pytest.raises(TraceFault, match="holds another run"):
            run(judges, records, tmp_path / "run", about)


def test_the_run_says_what_it_was_made_of(tmp_path: Path) -> None:
    """Name, time, versions, machine, judges, the records' hash, both configurations, seeds; also when gone on with."""
    traced = record(1, trace=Trace("t", "Who?", config={"retriever": {"use": "bm25"}}))
    for _ in range(2):
        run([Counting()], [traced], tmp_path / "first-try", {"evaluation": {"repeats": 1}})
    about = json.loads((tmp_path / "first-try" / "run.json").read_text())
    assert (about["experiment"], about["judges"]) == ("first-try", {"charm": "counting"})
    assert about["created"].startswith("20")
    assert about["evaluation"] == {"repeats": 1}
    assert about["systems"] == [{"retriever": {"use": "bm25"}}]
    assert (about["temperature"], about["seeds"]) == (0, {"examples": 42, "intervals": figures.SEED})
    assert (about["records"]["count"], len(about["records"]["sha256"])) == (1, 64)
    (environment,) = about["environments"]
    assert environment.keys() >= {"python", "libraries", "revision", "cpu", "memory"}


def test_a_note_is_kept_with_its_record_and_paid_once(tmp_path: Path) -> None:
    """Also where the judgement that it is for fails, and is made on another day."""

    def model(messages: Sequence[Message]) -> str:
        asked.append(messages[0].content)
        if "Write a grading note" in messages[0].content:
            return '{"note": "The response should be a name."}'
        if len(asked) == 2:
            raise EndpointError("down")
        return said(metric="grading_note")

    asked: list[str] = []
    for expected in (None, 0.8):
        kept = run([LLMJudge(Scripted(model), "grading_note")], [record(1)], tmp_path / "run")
        assert kept["r1\tgrading_note"].value == expected
    assert len(asked) == 3
    assert [one.note for one in records_of(tmp_path / "run" / "records.jsonl")] == ["The response should be a name."]


def test_the_cost_is_known_before(tmp_path: Path) -> None:
    """Calls, tokens, money and time, from the texts; what is there already costs nothing."""
    judges = [LLMJudge(Scripted([]), METRIC)]
    records = [record(n) for n in range(10)]
    planned = plan(judges, records, in_flight=5, seconds=2.0, prices=Prices(1.0, 4.0))
    assert (planned.records, planned.judgements, planned.reused) == (10, 10, 0)
    assert planned.spent.calls == 10
    assert planned.seconds == 4.0
    assert planned.money == pytest.approx((planned.spent.input_tokens + 4 * planned.spent.output_tokens) / 1e6)
    assert plan(judges, records, requests=6).seconds == 100
    done = {f"r0\t{METRIC}": Score("r0", METRIC, 0.8)}
    rest = plan(judges, records, done)
    assert (rest.judgements, rest.reused, rest.spent.calls, rest.money) == (9, 1, 9, None)
    assert plan([Counting()], records).spent.calls == 0


def test_what_it_took_is_kept_by_metric(tmp_path: Path) -> None:
    """Calls, tokens, time and money, each time that it was run."""
    config = {"judge": {"use": "llm", "cache": "", "input_price": 1.0, "output_price": 1.0}}
    replies = [said(), said(metric="context_relevancy")]
    builder = Builder(read({**config, "llm": {"use": "scripted", "replies": replies}}))
    judges = builder.judges([METRIC, "context_relevancy"])
    run(judges, [record(1)], tmp_path / "run", model=builder.judging)
    (once,) = values(tmp_path / "run" / scoring.PASSES, scoring.Pass).values()
    found = [(stage.metric, stage.judged, stage.calls) for stage in once.stages]
    assert found == [(METRIC, 1, 1), ("context_relevancy", 1, 1)]
    tokens = sum(stage.tokens for stage in once.stages)
    assert tokens > 100
    assert once.money == pytest.approx(tokens / 1e6)


def asking(server: Endpoint, folder: Path, *metrics: str, **judge: Any) -> Any:
    """Judges that ask the server, in their configuration."""
    settings = {"use": "llm", "cache": str(folder / "kept.db"), "in_flight": 8, "timeout": 1.0, **judge}
    builder = Builder(read({"llm": {"use": "openai", "model": "m", "base_url": server.url}, "judge": settings}))
    return builder, builder.judges([*metrics] or [METRIC])


def test_many_are_in_flight(tmp_path: Path) -> None:
    """And each is made once."""
    with endpoint(gathers=8) as server:
        _, judges = asking(server, tmp_path)
        kept = run(judges, [record(n) for n in range(40)], tmp_path / "run", in_flight=8)
        assert server.peak == 8
        assert len(kept) == server.paid.total() == 40


@pytest.mark.slow
def test_faults_cost_no_score_and_nothing_is_paid_twice(tmp_path: Path) -> None:
    """A twentieth is refused, some replies are no JSON, some never come: the rest is asked again, and all is scored."""
    with endpoint(latency=0.01, refused=0.1, garbled=0.05, hanging=0.02, retry_after="0") as server:
        _, judges = asking(server, tmp_path, METRIC, "factuality", in_flight=16, timeout=4.0)
        kept = run(judges, [record(n) for n in range(60)], tmp_path / "run", in_flight=16)
        assert min(server.told[fault] for fault in ("refused", "garbled", "hanging")) > 0
        assert set(server.paid.values()) == {1}
        assert len(kept) == 120
    lost = [one for one in kept.values() if one.value is None]
    assert all("asked twice" in one.unscored_because for one in lost)
    assert len(lost) <= 2


def test_a_budget_ends_the_run_and_the_next_goes_on(tmp_path: Path) -> None:
    """What is left is unscored because of it; no more is paid than it allows, and nothing twice."""
    with endpoint() as server:
        for paid, missing in ((15, 25), (30, 10), (40, 0)):
            builder, judges = asking(server, tmp_path, budget="15 calls")
            kept = run(judges, [record(n) for n in range(40)], tmp_path / "run", in_flight=8, model=builder.judging)
            assert server.paid.total() == paid
            left = [one for one in kept.values() if one.value is None]
            assert len(left) == missing
            assert {one.unscored_because for one in left} <= {"the budget of 15 calls is spent; run it again to go on"}


def test_a_run_that_is_interrupted_starts_nothing_more(tmp_path: Path) -> None:
    """As Ctrl-C does it: what is in flight ends, what was judged is kept."""
    script = (
        "import signal, sys, threading, time; from pathlib import Path\n"
        "interrupted = threading.Event()\n"
        "def interrupt(*_):\n"
        "    interrupted.set(); raise KeyboardInterrupt\n"
        "signal.signal(signal.SIGINT, interrupt)\n"
        "from surefoot.evaluate.score.scoring import run; from surefoot.types import Record, Score\n"
        "class Slow:\n"
        "    name, metric = 'slow', 'charm'\n"
        "    def judge(self, record):\n"
        "        print(record.id, flush=True); interrupted.wait(); time.sleep(.3)\n"
        "        return Score(record.id, 'charm', 1.0)\n"
        "run([Slow()], [Record(str(n), '?') for n in range(50)], Path(sys.argv[1]), in_flight=2)\n"
    )
    work = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "run")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    work.stdout.readline()
    work.send_signal(signal.SIGINT)
    work.communicate(timeout=120)
    assert work.returncode != 0
    assert 0 < len(scores(tmp_path / "run")) <= 4


KILLED = """
import json, os, sys
from pathlib import Path
from surefoot.config.builder import Builder
from surefoot.config.settings import read
from surefoot.evaluate.score.scoring import run
from surefoot.run.store import from_json
from surefoot.types import Record

folder, config, records = Path(sys.argv[1]), json.loads(sys.argv[2]), json.loads(sys.argv[3])
import surefoot.llms.openai, surefoot.judges.llm
for line in sys.stdin:
    if (pid := os.fork()) == 0:
        builder = Builder(read(config))
        run(builder.judges(), [from_json(Record, one) for one in records], folder, in_flight=4, model=builder.judging)
        os._exit(0)
    print(pid, flush=True)
    print(os.waitpid(pid, 0)[1], flush=True)
"""
"""Runs the same run in a child each time it gets a line: starting Python anew twenty times would take a minute."""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_killed_twenty_times_at_random_it_pays_nothing_twice_and_finds_the_same(tmp_path: Path) -> None:
    """kill -9, and on it goes: every judgement that had ended keeps its score, and is never asked for again."""
    metrics = (METRIC, "grading_note")
    records = [record(n) for n in range(40)]
    chance, life, left = random.Random(7), Queue[int](), 0

    def fatal(prompt: str) -> str:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(life.get(), signal.SIGKILL)
        return rated(prompt)

    with endpoint(latency=0.01, replies=fatal) as server:
        settings = {"use": "llm", "metrics": [*metrics], "cache": str(tmp_path / "kept.db"), "in_flight": 4}
        config = {"llm": {"use": "openai", "model": "m", "base_url": server.url}, "judge": settings}
        told = [json.dumps(config), json.dumps([scoring.to_json(one) for one in records])]
        with subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path / "run"), *told],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as work:
            frozen: dict[str, int] = {}
            for killed_at in [*(chance.randrange(1, 6) for _ in range(20)), 0]:
                left = killed_at
                work.stdin.write("go\n")
                work.stdin.flush()
                life.put(int(work.stdout.readline()))
                assert int(work.stdout.readline()) == (signal.SIGKILL if killed_at else 0)
                for name in scores(tmp_path / "run"):
                    frozen.setdefault(name, server.paid[judged_as(name, records, tmp_path / "run")])
            work.stdin.close()
        kept = scores(tmp_path / "run")
        assert len(kept) == 80
        for name, paid in frozen.items():
            assert server.paid[judged_as(name, records, tmp_path / "run")] == paid, name
        again = server.paid.total() - len(server.paid)
        assert again <= 4 * 20  # what was in flight
    with endpoint() as calm:
        _, judges = asking(calm, tmp_path / "calm", *metrics)
        unbroken = run(judges, records, tmp_path / "calm" / "run", in_flight=4)
    assert {name: one.value for name, one in kept.items()} == {name: one.value for name, one in unbroken.items()}


def judged_as(name: str, records: Sequence[Record], folder: Path) -> str:
    """What the server calls the request of this judgement."""
    id, metric = name.split("\t")
    known = {one.id: one for one in records_of(folder / "records.jsonl")}
    messages = prompt(metrics()[metric], known[id])
    return f"{hashed(chr(10).join(message.content for message in messages)):012x}"
