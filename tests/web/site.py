"""A server over the library of the demo, whose answers wait where a test wants them to."""

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from server.conftest import events
from surefoot.server.service import ServerSettings, Service
from surefoot.types import Trace


@dataclass
class Site:
    """A running server. Events of a question wait before those whose gate is there and shut."""

    service: Service
    url: str = ""
    gates: dict[str, threading.Event] = field(default_factory=dict)

    def answered(self, question: str) -> list[tuple[str, Any]]:
        """The events of a question, as the server tells them."""
        import httpx

        accept = {"Accept": "text/event-stream"}
        return events(httpx.post(f"{self.url}/ask", json={"question": question}, headers=accept, timeout=120).text)


class Gated:
    """A pipeline whose events wait for the gates of a site."""

    def __init__(self, inner: Any, site: Site) -> None:
        self._inner, self._site, self.policy = inner, site, inner.policy
        self.retriever, self.evaluator, self.config = inner.retriever, inner.evaluator, inner.config

    def run(self, question: str, on_event: Any, **more: Any) -> Trace:
        def hear(event: Any) -> None:
            if gate := self._site.gates.get(event.name):
                gate.wait(120)
            on_event(event)

        found: Trace = self._inner.run(question, hear, **more)
        return found


def settings(folder: Path) -> ServerSettings:
    return ServerSettings(folder=str(folder / "server"), runs=str(folder / "runs"), seconds=120)


def values(recorded: list[tuple[str, Any]]) -> dict[str, Any]:
    """The values of a question's events by name; of steps the last."""
    return {name: data["value"] for name, data in recorded}
