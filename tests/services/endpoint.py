"""An OpenAI-compatible endpoint on loopback that answers by rule, and fails as often as it is told to: for tests of
what asks many things at once.

What becomes of a request follows from its text and from how often that was asked for, so that runs can be repeated.
"""

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any

from endpoint import WebAnswer, WebRequest, serving

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
    """Share of requests that get HTTP 429, or another `status`."""
    status: int = 429
    retry_after: str = "1"
    garbled: float = 0.0
    """Share of answers that are no JSON inside."""
    hanging: float = 0.0
    """Share of requests that get no answer at all."""
    most: int | None = None
    """In flight, beyond which it refuses; None: any number."""
    gathers: int = 0
    """Requests that must have been in flight at once before any but the first is answered."""
    replies: Callable[[str], str] = rated
    url: str = ""
    paid: Counter[str] = field(default_factory=Counter)
    """Answers that were given, by the request's hash."""
    bodies: list[Any] = field(default_factory=list)
    """The requests, in the order of their arrival."""
    asked: Counter[str] = field(default_factory=Counter)
    told: Counter[str] = field(default_factory=Counter)
    """How often it refused, garbled, hung and answered."""
    in_flight: int = 0
    peak: int = 0
    """Most requests in flight at once."""
    ended: Event = field(default_factory=Event)
    _lock: Lock = field(default_factory=Lock)

    def serve(self, request: WebRequest) -> WebAnswer:
        """One request, in a thread of its own."""
        self.bodies.append(body := json.loads(request.body))
        prompt = "\n".join(message["content"] for message in body.get("messages", ()))
        name = f"{hashed(prompt):012x}"
        with self._lock:
            self.asked[name] += 1
            fate = hashed(f"{name} {self.asked[name]}") / 2**48
            self.in_flight += 1
            self.peak = max(self.peak, self.in_flight)
            crowded = self.most is not None and self.in_flight > self.most
        try:
            return self._answer(prompt, name, fate, crowded)
        finally:
            with self._lock:
                self.in_flight -= 1

    def _answer(self, prompt: str, name: str, fate: float, crowded: bool) -> WebAnswer:
        if fate < self.refused or crowded:
            self._count("refused")
            return self.status, {"Retry-After": self.retry_after}, b"slow down"
        if fate < self.refused + self.hanging:
            self._count("hanging")
            self.ended.wait()
        time.sleep(self.latency)
        while self.told["answered"] and self.peak < self.gathers:
            time.sleep(0.01)
        garbled = fate < self.refused + self.hanging + self.garbled
        text = "I would say, rather good!" if garbled else self.replies(prompt)
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(text) // 4}
        self._count("garbled" if garbled else "answered", name)
        return 200, {}, json.dumps({"choices": [choice], "usage": usage}).encode()

    def _count(self, outcome: str, *paid: str) -> None:
        with self._lock:
            self.told[outcome] += 1
            self.paid.update(paid)


@contextmanager
def endpoint(**does: Any) -> Iterator[Endpoint]:
    """The endpoint, on a free port of 127.0.0.1, while the context is open."""
    made = Endpoint(**does)
    with serving(made.serve) as url:
        made.url = f"{url}/v1"
        yield made
        made.ended.set()
