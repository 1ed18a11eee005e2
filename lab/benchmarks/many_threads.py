"""Whether many threads keep to what was promised to a wiki: the pause between requests, nothing fetched twice, no error
lost, and a cache that brings the same again.

    python benchmarks/many_threads.py popqa/crag_refs.jsonl miniwiki/pages.jsonl --wiki http://127.0.0.1:8099/api.php
    python benchmarks/many_threads.py …the same… --refuse 20

Between the pipeline and the wiki stands a server on loopback that notes when which address is asked for, and passes it
on. It refuses one address in `--refuse` for good, with HTTP 500. The questions are asked twice, the second time by a
new pipeline with the cache of the first.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from multiprocessing import Pipe, Process
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from wikipedia import rows

from surefoot.config.builder import load
from surefoot.types import Answer, Passage, Trace


class Nothing:
    """An empty corpus, and nothing said: what is looked at is what comes from outside."""

    name = "nothing"

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        return ()

    def generate(self, question: str, knowledge: Any, on_text: Any = None) -> Answer:
        return Answer("", refused=True)


@dataclass(frozen=True)
class Came:
    """One request that came to the wiki."""

    time: float
    target: str
    status: int
    """That it got."""


@contextmanager
def gate(wiki: str, refuse: int, log: Path) -> Iterator[str]:
    """The address of the server between, while the context is open: a process of its own, so that its clock does not
    wait for our threads."""
    ours, theirs = Pipe()
    server = Process(target=serve, args=(wiki, refuse, log, theirs))
    server.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}{urlsplit(wiki).path}"
    finally:
        server.terminate()
        server.join()


def serve(wiki: str, refuse: int, log: Path, ready: Connection) -> None:
    """Note each request in `log`, a line of JSON each, and pass it on."""
    writing = Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            came = time.monotonic()
            refused = bool(refuse) and zlib.crc32(self.path.encode()) % refuse == 0
            status, headers, body = (500, {}, b"refused") if refused else passed_on(urlsplit(wiki).netloc, self.path)
            with writing, log.open("a") as file:
                file.write(json.dumps([came, self.path, status]) + "\n")
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            with suppress(ConnectionError):  # who gave up waiting is not there any more
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Not a word."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 64

    with Server(("127.0.0.1", 0), Handler) as server:
        ready.send(server.server_port)
        server.serve_forever()


def passed_on(host: str, target: str) -> tuple[int, dict[str, str], bytes]:
    """What the wiki says."""
    connection = HTTPConnection(host, timeout=300)
    try:
        connection.request("GET", target)
        reply = connection.getresponse()
        kept = {name: value for name, value in reply.getheaders() if name.lower() in ("content-type", "retry-after")}
        kept |= {name: value for name, value in reply.getheaders() if name.lower() == "mediawiki-api-error"}
        return reply.status, kept, reply.read()
    finally:
        connection.close()


def said(trace: Trace) -> tuple[Any, ...]:
    """All of a trace but times, its own name and what came out of the cache."""
    return trace.question, trace.queries, trace.external, trace.grades, trace.strips, trace.answer, errors([trace])


def errors(traces: Sequence[Trace]) -> list[str]:
    """Of all steps, with those of the questions."""
    found = [error for trace in traces for error in (*(step.error for step in trace.steps), trace.error)]
    return [error for error in found if error]


def report(came: Sequence[Came], traces: Sequence[Trace], seconds: float, spacing: float) -> None:
    """One run, as the wiki and as the traces have it."""
    times = sorted(one.time for one in came)
    well = Counter(one.target for one in came if one.status == 200)
    refused = Counter(one.target for one in came if one.status != 200)
    print(f"  {seconds:.1f} s; {len(came)} requests, {len(well)} addresses answered well")
    print(f"  addresses answered well more than once: {sum(n > 1 for n in well.values())}")
    if len(times) > 1:
        gaps = sorted(b - a for a, b in pairwise(times))
        busiest = max(sum(start <= other < start + 1 for other in times) for start in times)
        print(f"  {(len(times) - 1) / (times[-1] - times[0]):.2f} requests a second; most within a second: {busiest}")
        print(
            f"  between two requests: least {gaps[0]:.4f} s, each hundredth {gaps[len(gaps) // 100]:.4f} s, "
            f"{sum(gap < spacing for gap in gaps)} of {len(gaps)} below {spacing:g} s"
        )
    print(f"  {refused.total()} requests refused, of {len(refused)} addresses; errors in traces: {len(errors(traces))}")
    for error, n in Counter(errors(traces)).most_common():
        print(f"    {n} × {error}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("data", type=Path, help="JSON lines with question and s_wiki_title")
    parser.add_argument("pages", type=Path, help="JSON lines with title: what the wiki holds")
    parser.add_argument("--wiki", required=True, help="address of its api.php")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--spacing", type=float, default=0.1, help="seconds between two requests (default: 0.1)")
    parser.add_argument("--refuse", type=int, default=0, metavar="N", help="one address of so many (default: none)")
    given = parser.parse_args()
    held = {row["title"] for row in rows(given.pages)}
    asked = [row["question"] for row in rows(given.data) if row["s_wiki_title"] in held][: given.questions]
    runs: list[tuple[list[Trace], float]] = []
    with tempfile.TemporaryDirectory() as folder, gate(given.wiki, given.refuse, log := Path(folder) / "log") as wiki:
        for name in ("first", "second"):
            log.write_text("")
            pipeline = load(
                retriever={"use": "__main__:Nothing"},
                evaluator={"use": "lexical"},
                searcher={"use": "wikipedia", "base_url": wiki},
                generator={"use": "__main__:Nothing"},
                network={"spacing": given.spacing, "seconds": 300.0, "cache": str(Path(folder) / "replies.db")},
            )
            began = time.perf_counter()
            runs.append((list(pipeline.run_many(asked, given.threads)), time.perf_counter() - began))
            print(f"{name} run: {len(asked)} questions, {given.threads} threads")
            report([Came(*json.loads(line)) for line in log.read_text().splitlines()], *runs[-1], given.spacing)
    (before, slow), (after, fast) = runs
    same = sum(said(a) == said(b) for a, b in zip(before, after, strict=True))
    print(f"the second run was {slow / fast:.1f} times as fast; {same} of {len(asked)} traces the same")


if __name__ == "__main__":
    main()
