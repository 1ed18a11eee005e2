"""How long 500 records take to be judged by an endpoint that has its troubles, and whether anything is paid for twice.

    python benchmarks/judge_load.py --in-flight 128
    python benchmarks/judge_load.py --in-flight 128 --kills 20

The endpoint is `tests/services/endpoint.py`, in a process of its own: each answer takes a second, a twentieth of the
requests is refused with HTTP 429 and Retry-After, a fiftieth of the answers is no JSON, and a hundredth never comes. It
counts what it has answered. Judged are the six metrics and the grading note: seven calls a record.

With `--kills` a second run is ended by SIGKILL at so many random moments, and gone on with each time; the first one,
which nobody interrupts, is what it is held against. What was found stands in `judge_load.md`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from surefoot.config.builder import Builder
from surefoot.config.settings import read
from surefoot.evaluate.score import scoring
from surefoot.evaluate.score.scoring import ScoringProgress, run
from surefoot.judges._diamond import metrics
from surefoot.judges.llm import prompt
from surefoot.run import manifest
from surefoot.types import Passage, Record, Score
from surefoot.types.protocols import Judge

SERVICE = Path(__file__).parents[2] / "tests" / "services" / "endpoint.py"


def records(count: int) -> list[Record]:
    """Answered questions of an ordinary length, no two alike."""
    filler = "The valley was settled late, and its paths were kept by those who lived off them. " * 8
    return [
        Record(
            f"r{n}",
            f"Who built the bridge number {n} in the Larrow valley?",
            tuple(Passage(f"p{n}.{k}", f"Bridge {n} was built by Tomas Aldwin. {filler}") for k in range(5)),
            f"Bridge {n} was built by Tomas Aldwin.",
            ("Tomas Aldwin",),
        )
        for n in range(count)
    ]


@contextmanager
def serving(latency: float, refused: float, garbled: float, hanging: float) -> Iterator[str]:
    """The endpoint's address."""
    shares = {"latency": latency, "refused": refused, "garbled": garbled, "hanging": hanging}
    words = [word for name, value in shares.items() for word in (f"--{name}", str(value))]
    with subprocess.Popen(
        [sys.executable, str(SERVICE), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as work:
        assert work.stdout
        yield work.stdout.readline().strip()
        work.terminate()


class Timed:
    """A judge, and how long each of its judgements took."""

    def __init__(self, judge: Judge, took: list[float]) -> None:
        self._judge, self._took = judge, took

    def __getattr__(self, name: str) -> Any:
        return getattr(self._judge, name)

    def judge(self, record: Record) -> Score:
        begun = time.monotonic()
        try:
            return self._judge.judge(record)
        finally:
            self._took.append(time.monotonic() - begun)


def judged(url: str, folder: Path, chosen: argparse.Namespace) -> dict[str, Any]:
    """What is missing of a run, and what is to be said of it."""
    judge = {"use": "llm", "cache": str(folder / "kept.db"), "in_flight": chosen.in_flight, "timeout": chosen.timeout}
    builder = Builder(read({"llm": {"use": "openai", "model": "m", "base_url": url}, "judge": judge}))
    took: list[float] = []
    paces = [float(chosen.in_flight)]

    def told(now: ScoringProgress) -> None:
        if chosen.at and not now.done:
            print("begun", flush=True)  # for whoever means to kill it
        paces.append(builder.judging.pace.limit)

    begun = time.monotonic()
    found = run(
        [Timed(judge, took) for judge in builder.judges()],
        records(chosen.records),
        folder / "run",
        in_flight=chosen.in_flight,
        model=builder.judging,
        on_progress=told,
    )
    seconds = time.monotonic() - begun
    return {
        "seconds": round(seconds, 1),
        "records": chosen.records,
        **counted(found),
        "seconds a judgement, median": round(float(np.quantile(took, 0.5)), 2),
        "seconds a judgement, 95th percentile": round(float(np.quantile(took, 0.95)), 2),
        "refused, and waited for": builder.judging.told.refused,
        "made again after silence": builder.judging.told.repeated,
        "lowest pace": min(paces),
    }


def counted(found: Mapping[str, Score]) -> dict[str, Any]:
    """How many judgements have a score, and why the others have none."""
    reasons = Counter(one.unscored_because.partition(":")[0] for one in found.values() if one.value is None)
    return {"judgements": len(found), "scored": len(found) - reasons.total(), "unscored": dict(reasons)}


def whole(url: str, folder: Path, chosen: argparse.Namespace) -> dict[str, Any]:
    """A run that nobody interrupts, and what the endpoint says of it."""
    found = judged(url, folder, chosen)
    server = asked(url)
    return {
        **found,
        "answers": sum(server["paid"].values()),
        "answered twice": sum(times > 1 for times in server["paid"].values()),
        "endpoint": server["told"],
    }


def killed(url: str, folder: Path, chosen: argparse.Namespace) -> dict[str, Any]:
    """A run that is killed at random moments and gone on with; what had a score by then must not be paid again."""
    chance = random.Random(chosen.seed)
    names = ("records", "in_flight", "timeout")
    own = [word for name in names for word in (f"--{name.replace('_', '-')}", str(getattr(chosen, name)))]
    settled: dict[str, int] = {}
    kills = 0
    while True:
        words = [sys.executable, __file__, *own, "--at", url, "--into", str(folder)]
        work = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert work.stdout
        work.stdout.readline()
        with suppress(subprocess.TimeoutExpired):
            work.wait(None if kills == chosen.kills else chance.uniform(0, chosen.longest))
        if work.poll() is not None:
            break
        work.kill()
        work.wait()
        kills += 1
        paid = asked(url)["paid"]
        for name in requests(folder) - settled.keys():
            settled[name] = paid.get(name, 0)
    assert work.returncode == 0, work.returncode
    paid = asked(url)["paid"]
    found = scoring.scores(folder / "run")
    return {
        "kills": kills,
        **counted(found),
        "scored before the last kill": len(settled),
        "of these, asked for again": sum(paid.get(name, 0) > times for name, times in settled.items()),
        "answers": sum(paid.values()),
        "answered again, since they were in flight": sum(paid.values()) - len(paid),
    }


def requests(folder: Path) -> set[str]:
    """The requests whose answers have become a score, under the names that the endpoint gives them."""
    known = {one.id: one for one in scoring.records(folder / "run")}
    scores = [one for one in scoring.scores(folder / "run").values() if one.value is not None]
    texts = [
        "\n".join(message.content for message in prompt(metrics()[one.metric], known[one.record_id])) for one in scores
    ]
    return {hashlib.sha256(text.encode()).hexdigest()[:12] for text in texts}


def asked(url: str) -> Any:
    """What the endpoint has counted."""
    return httpx.get(url.removesuffix("/v1") + "/paid", timeout=60).json()


def differing(first: Mapping[str, Score], second: Mapping[str, Score]) -> dict[str, int]:
    """Of two runs, what does not agree."""
    pairs = [(one.value, second[name].value) for name, one in first.items()]
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    return {
        "judgements with a score in both": len(both),
        "of these, with another score": sum(a != b for a, b in both),
        "with a score in only one": sum((a is None) != (b is None) for a, b in pairs),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=500)
    parser.add_argument("--in-flight", type=int, default=100)
    parser.add_argument("--timeout", type=float, default=10.0)
    parser.add_argument("--latency", type=float, default=1.0)
    parser.add_argument("--refused", type=float, default=0.05)
    parser.add_argument("--garbled", type=float, default=0.02)
    parser.add_argument("--hanging", type=float, default=0.01)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--longest", type=float, default=6.0, help="seconds of judging before a kill, at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, default=None)
    parser.add_argument("--at", help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.at:
        judged(chosen.at, chosen.into, chosen)
        return
    faults = chosen.latency, chosen.refused, chosen.garbled, chosen.hanging
    with tempfile.TemporaryDirectory() as folder:
        calm, rough = Path(folder, "calm"), Path(folder, "rough")
        with serving(*faults) as url:
            found = whole(url, calm, chosen)
        if chosen.kills:
            with serving(*faults) as url:
                found["killed and gone on with"] = killed(url, rough, chosen)
            compared = differing(*(scoring.scores(one / "run") for one in (calm, rough)))
            found["killed and gone on with"] |= compared
    for name, value in found.items():
        print(f"{name:40} {value}")
    if chosen.json:
        settings = {name: str(value) for name, value in vars(chosen).items()}
        told = {"settings": settings, "environment": manifest.environment(), **found}
        chosen.json.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
