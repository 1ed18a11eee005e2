"""How long 500 records take to be judged by an endpoint that has its troubles, and whether anything is paid for twice.

    python benchmarks/judge_load.py
    python benchmarks/judge_load.py --records 500 --in-flight 128 --json judge_load.json

The endpoint is `tests/services/endpoint.py`, in a process of its own: each answer takes a second, a twentieth of the
requests is refused with HTTP 429 and Retry-After, a fiftieth of the answers is no JSON, and a hundredth never comes. It
counts what it has answered. Judged are the six metrics and the grading note: seven calls a record.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from surefoot import manifest
from surefoot.config import Builder, read
from surefoot.evaluate.scored import Progress, run
from surefoot.types import Passage, Record

SERVICE = Path(__file__).parent.parent / "tests" / "services" / "endpoint.py"


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


def measured(url: str, folder: Path, count: int, in_flight: int, timeout: float) -> dict[str, Any]:
    """One run, and what the endpoint says of it."""
    judge = {"use": "llm", "cache": str(folder / "kept.db"), "in_flight": in_flight, "timeout": timeout}
    builder = Builder(read({"llm": {"use": "openai", "model": "m", "base_url": url}, "judge": judge}))
    judges = builder.judges()
    paces: list[float] = []

    def told(_: Progress) -> None:
        paces.append(builder.judging.pace.limit)

    begun = time.monotonic()
    found = run(
        judges,
        records(count),
        folder / "run",
        in_flight=in_flight,
        model=builder.judging,
        on_progress=told,
    )
    seconds = time.monotonic() - begun
    server = httpx.get(url.removesuffix("/v1") + "/paid").json()
    unscored = Counter(one.unscored_because.partition(":")[0] for one in found.values() if one.value is None)
    return {
        "records": count,
        "judgements": len(found),
        "scored": sum(one.value is not None for one in found.values()),
        "unscored": dict(unscored),
        "seconds": round(seconds, 1),
        "requests answered": sum(server["paid"].values()),
        "paid twice": sum(times > 1 for times in server["paid"].values()),
        "endpoint": server["told"],
        "most in flight": server["peak"],
        "lowest pace": min(paces),
        "calls waited for or made again": builder.judging.told.refused + builder.judging.told.repeated,
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
    parser.add_argument("--json", type=Path, default=None)
    chosen = parser.parse_args()
    with (
        serving(chosen.latency, chosen.refused, chosen.garbled, chosen.hanging) as url,
        tempfile.TemporaryDirectory() as folder,
    ):
        found = measured(url, Path(folder), chosen.records, chosen.in_flight, chosen.timeout)
    for name, value in found.items():
        print(f"{name:32} {value}")
    if chosen.json:
        whole = {
            "settings": {k: str(v) for k, v in vars(chosen).items()},
            "environment": manifest.environment(),
            **found,
        }
        chosen.json.write_text(json.dumps(whole, indent=1) + "\n")


if __name__ == "__main__":
    main()
