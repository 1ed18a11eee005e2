"""What a server costs the grader, and whether small requests wait for large ones: `python lab/benchmarks/grading.py`.

In each round the same pairs are graded three times: by the evaluator in this process, a question at a time on all
cores; and by `surefoot serve`, a process of its own, of which eight clients ask for 30 passages each, at `/v1/grade`,
and at `/v1/rerank`, which also screens them. Passages are 80 words of Python's manual, as `help()` shows it; no pair
comes twice to an address, so no grade is a cached one. Then a client sends requests of 30 passages to `/v1/grade`,
alone and beside a request of 1,000. Some 80 seconds of two cores.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from pydoc_data.topics import topics
from statistics import median
from typing import Any

import httpx

from server.process import serving  # of tests/, which has to be on the path
from surefoot.evaluators.minilm import MiniLM
from surefoot.types import Passage

ROUNDS, QUESTIONS, CLIENTS, PASSAGES, LARGE = 5, 8, 8, 30, 1000
CONFIG = '[network]\nallow = []\ncache = ""\n'
BARE = MiniLM()

Request = tuple[str, list[str]]
"""A question and its passages."""


def requests(page: str) -> Iterator[Request]:
    """Endless; each question, which names the page, stands beside the next passages."""
    names = sorted(topics)
    words = " ".join(topics[name] for name in names).split()
    texts = [" ".join(words[start : start + 80]) for start in range(0, len(words) - 80, 80)]
    for n in range(1_000_000):
        begin = n * PASSAGES
        question = f"What does the {page} say of {names[n % len(names)]}?"
        yield question, [texts[(begin + i) % len(texts)] for i in range(PASSAGES)]


def bare(one: Request) -> None:
    """Grade here."""
    BARE.grade([(one[0], Passage("", text)) for text in one[1]])


def post(client: httpx.Client, path: str, one: Request) -> None:
    """Have them graded at this address."""
    passages = [{"text": text} for text in one[1]]
    bodies: dict[str, Any] = {
        "grade": {"evaluator": BARE.name, "question": one[0], "passages": passages},
        "rerank": {"query": one[0], "documents": one[1]},
    }
    client.post(f"/v1/{path}", json=bodies[path]).raise_for_status()


def timed(work: Any, *arguments: Any) -> float:
    """Seconds that it takes."""
    begun = time.monotonic()
    work(*arguments)
    return time.monotonic() - begun


def processor(process: int | str) -> float:
    """Seconds of processor time that a process has used, which other programs of the machine hardly change; Linux."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print a line a round, and one a measurement."""
    endless = {path: requests(path) for path in ("grade", "rerank", "large")}
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), CONFIG) as (server, client):
        post(client, "grade", ("Is it warm?", ["It is warm."]))
        bare(("Is it warm?", ["It is warm."]))
        rates = list[tuple[float, ...]]()
        with ThreadPoolExecutor(CLIENTS) as clients:
            for _ in range(ROUNDS):
                graded, reranked = ([*islice(endless[path], QUESTIONS)] for path in ("grade", "rerank"))
                seconds, used = list[float](), list[float]()
                for grade, some, process in (
                    (lambda some: [*map(bare, some)], graded, "self"),
                    (lambda some: [*clients.map(partial(post, client, "grade"), some)], graded, server.pid),
                    (lambda some: [*clients.map(partial(post, client, "rerank"), some)], reranked, server.pid),
                ):
                    before = processor(process)
                    seconds.append(timed(grade, some))
                    used.append((processor(process) - before) / (QUESTIONS * PASSAGES) * 1000)
                rates.append(tuple(QUESTIONS * PASSAGES / one for one in seconds))
                print("bare, /v1/grade, /v1/rerank: pairs/s", *(f"{rate:.1f}" for rate in rates[-1]), end="; ")
                print("ms of a core for a pair", *(f"{one:.1f}" for one in used), flush=True)
            for path, column in (("grade", 1), ("rerank", 2)):
                shares = [rate[column] / rate[0] for rate in rates]
                print(f"share of /v1/{path}: {median(shares):.2f} ({min(shares):.2f} to {max(shares):.2f})")
            alone = [timed(post, client, "grade", next(endless["grade"])) for _ in range(8)]
            documents = [text[:90] for _, texts in islice(endless["large"], LARGE // PASSAGES + 1) for text in texts]
            large = clients.submit(timed, post, client, "grade", ("Where is it?", documents[:LARGE]))
            time.sleep(0.2)
            beside = list[float]()
            while not large.done():
                beside.append(timed(post, client, "grade", next(endless["grade"])))
        print(f"{PASSAGES} passages alone: median {median(alone):.2f} s, longest {max(alone):.2f}")
        print(f"beside {LARGE:,}: median {median(beside):.2f} s, longest {max(beside):.2f} of {len(beside)}")
        print(f"the {LARGE:,}: {large.result():.1f} s")


if __name__ == "__main__":
    main()
