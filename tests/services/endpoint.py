"""An OpenAI-compatible endpoint on loopback that answers by rule, and fails as often as it is told to: for tests of
what asks many things at once, of Surefoot and of what is built on it.

    python tests/services/endpoint.py --latency 1 --refused 0.05 --garbled 0.02 --hanging 0.01

prints its address and runs until it is stopped. `GET /paid` says how often each request was answered, by its hash.
What becomes of a request follows from its text and from how often that was asked for, so that runs can be repeated.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

KEY = re.compile(r'"(\w+)": a rating')
"""Under which a judge's prompt asks for the rating."""
AGAIN = re.compile(r"Your last reply did not have the form that was asked for\. (?:Keep it short\.\n\n)?")
"""What a judge adds when it asks again: the rating is the same."""


def rated(prompt: str) -> str:
    """A judgement that follows from the prompt: the same today and tomorrow; or a grading note."""
    if (asked := KEY.search(prompt)) is None:
        return json.dumps({"note": "The response should be a name."})
    rating = str(1 + hashed(AGAIN.sub("", prompt)) % 5)
    return json.dumps({"explanation": "It says so.", asked[1]: rating, "quotes": []})


def hashed(text: str) -> int:
    """A number that is the same for the same text, in any process."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


@dataclass
class Endpoint:
    """What it does, and what it did."""

    latency: float = 0.0
    """Seconds before an answer."""
    refused: float = 0.0
    """Share of requests that get HTTP 429."""
    retry_after: str = "1"
    garbled: float = 0.0
    """Share of answers that are no JSON inside."""
    hanging: float = 0.0
    """Share of requests that get no answer at all."""
    most: int | None = None
    """In flight, beyond which it refuses; None: any number."""
    gathers: int = 0
    """Requests that must have been in flight at once before any is answered."""
    replies: Callable[[str], str] = rated
    url: str = ""
    paid: Counter[str] = field(default_factory=Counter)
    """Answers that were sent whole, by the request's hash."""
    asked: Counter[str] = field(default_factory=Counter)
    told: Counter[str] = field(default_factory=Counter)
    """How often it refused, garbled, hung and answered."""
    in_flight: int = 0
    peak: int = 0
    """Most requests in flight at once."""
    last: dict[str, Any] = field(default_factory=dict)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        try:
            while line := await reader.readline():
                await self._one(line.split()[1].decode(), reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the other side has gone, or this one closes
        finally:
            writer.transport.abort()

    async def _one(self, path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        size = 0
        while header := (await reader.readline()).strip().lower():
            if header.startswith(b"content-length:"):
                size = int(header.partition(b":")[2])
        body = await reader.readexactly(size)
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            await (self._tell(writer) if path == "/paid" else self._answer(body, writer))
        finally:
            self.in_flight -= 1

    async def _tell(self, writer: asyncio.StreamWriter) -> None:
        told = {"paid": self.paid, "told": self.told, "peak": self.peak}
        await self._send(writer, 200, json.dumps(told))

    async def _answer(self, body: bytes, writer: asyncio.StreamWriter) -> None:
        request = json.loads(body or b"{}")
        self.last = request
        prompt = "\n".join(message["content"] for message in request.get("messages", ()))
        name = f"{hashed(prompt):012x}"
        self.asked[name] += 1
        fate = hashed(f"{name} {self.asked[name]}") / 2**48
        if fate < self.refused or (self.most is not None and self.in_flight > self.most):
            self.told["refused"] += 1
            await self._send(writer, 429, "slow down", f"Retry-After: {self.retry_after}\r\n")
            return
        if fate < self.refused + self.hanging:
            self.told["hanging"] += 1
            await asyncio.sleep(3600)
        await asyncio.sleep(self.latency)
        while self.peak < self.gathers:
            await asyncio.sleep(0.01)
        garbled = fate < self.refused + self.hanging + self.garbled
        said = "I would say, rather good!" if garbled else self.replies(prompt)
        choice = {"message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(said) // 4}
        self.told["garbled" if garbled else "answered"] += 1
        self.paid[name] += 1
        await self._send(writer, 200, json.dumps({"choices": [choice], "usage": usage}))

    async def _send(self, writer: asyncio.StreamWriter, status: int, body: str, headers: str = "") -> None:
        head = f"HTTP/1.1 {status} Said\r\nContent-Length: {len(body.encode())}\r\n{headers}\r\n"
        writer.write(head.encode() + body.encode())
        await writer.drain()


@contextmanager
def endpoint(**does: Any) -> Iterator[Endpoint]:
    """The endpoint, in a thread, on a free port of 127.0.0.1, while the context is open."""
    made = Endpoint(**does)
    loop = asyncio.new_event_loop()
    started = threading.Event()

    def serving() -> None:
        asyncio.set_event_loop(loop)
        server = loop.run_until_complete(asyncio.start_server(made.serve, "127.0.0.1", 0, backlog=512))
        made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        started.set()
        loop.run_forever()
        server.close()
        rest = asyncio.all_tasks(loop)
        for task in rest:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*rest, return_exceptions=True))
        loop.run_until_complete(asyncio.sleep(0.01))  # until the connections are gone
        loop.close()

    thread = threading.Thread(target=serving, daemon=True)
    thread.start()
    started.wait()
    try:
        yield made
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)


def main() -> None:
    """Run it until it is stopped."""
    parser = argparse.ArgumentParser(description="A scripted OpenAI-compatible endpoint on loopback.")
    for name in ("latency", "refused", "garbled", "hanging"):
        parser.add_argument(f"--{name}", type=float, default=0.0)
    parser.add_argument("--retry-after", default="1")
    parser.add_argument("--most", type=int, default=None)
    with endpoint(**vars(parser.parse_args())) as made:
        print(made.url, flush=True)
        with suppress(KeyboardInterrupt):
            while sys.stdin.read(1):
                time.sleep(0)


if __name__ == "__main__":
    main()
