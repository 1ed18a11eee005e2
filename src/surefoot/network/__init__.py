"""The one door to other machines: what may be reached, how politely, for how long, and what is kept.

Everything of Surefoot's that connects goes through a `Network`, so that `[network] allow = []` in the configuration
closes all of it. Unix sockets are not network.
"""

from __future__ import annotations

import json as json_
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import metadata
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from surefoot import meter
from surefoot.errors import ConfigError, NetworkError
from surefoot.network.cache import Cache
from surefoot.network.guard import Guard
from surefoot.network.pace import Late, left, within
from surefoot.network.values import Ask, Reply

if TYPE_CHECKING:
    import ssl

    import httpx

    from surefoot.network.exchange import Exchanges

__all__ = ["Network", "Reply"]

Keep = bool | Callable[[Reply], bool]

_HURRY = 1.0  # seconds; with less it is not worth asking again for what another thread had no time to bring


class Network:
    """Requests to other machines, guarded, polite and bounded; one object serves all threads.

    `allow` lists hosts: "*" for every public one, names, "*.name" for those below a name, addresses, each with ":port"
    if only that is meant; an empty list refuses all. Private, loopback and otherwise inner addresses are refused,
    after the name was looked up and on each redirect, unless the host is listed as it is written or the call says
    `trusted`. `contact` (an address that reaches you) goes into the User-Agent, as Wikipedia asks. `cache` is a file
    that keeps replies for `expires` seconds; None keeps none. `seconds` is the most that a call takes, with waiting
    for its turn, retries, redirects and body. `spacing` is the least time in seconds between two requests to one host
    and port, over all threads. `retries` are made after a broken connection and HTTP 429, 500, 502, 503 and 504, with
    pauses that grow from half a second or are what Retry-After says, if the time allows. Proxies are not used, whatever
    the environment says: a proxy looks names up itself, beyond the guard. Raises ConfigError.
    """

    def __init__(
        self,
        allow: Sequence[str] = ("*",),
        contact: str = "",
        cache: str | None = None,
        expires: float = 7 * 86400,
        seconds: float = 10.0,
        spacing: float = 0.1,
        retries: int = 2,
    ) -> None:
        if min(expires, spacing, retries) < 0 or seconds <= 0:
            raise ConfigError("[network] seconds must be more than 0, and expires, spacing and retries not less")
        if not _sendable(contact):
            raise ConfigError(f"[network] contact must be plain ASCII, for a header carries it; it is {contact!r}")
        self._agent = _agent(contact)
        self._guard = Guard(allow)
        self._cache = Cache(Path(cache), expires) if cache else None
        self._seconds, self._spacing, self._retries = seconds, spacing, retries
        self._flights: dict[tuple[str, int], Future[Reply]] = {}
        self._lock = Lock()
        self._made: Exchanges | None = None

    def __repr__(self) -> str:
        return f"Network(allow={list(self._guard.allow)})"

    def get(
        self,
        url: str,
        params: Mapping[str, str | int] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        secret: Mapping[str, str] | None = None,
        most: int = 5_000_000,
        seconds: float | None = None,
        spacing: float | None = None,
        retries: int | None = None,
        keep: Keep = True,
        trusted: bool = False,
        leave: Callable[[str], float | None] | None = None,
    ) -> Reply:
        """What the server says, whatever the status: 429 and 503 too, where they outlast the retries.

        `secret` are headers that go to this host alone and are kept and told nowhere. `most` is the most bytes of body,
        unpacked. `keep` takes the reply from the cache and puts it there (200, 203, and 404 of strangers), and lets
        equal requests at the same time share one; what is shared so counts in the step's meter. A function says which
        replies the cache may hold: those that are answers. `trusted` is for an address that the user's own
        configuration holds: it may be private. `leave` is called with each address before it is asked, where redirects
        lead too: it raises NetworkError where that must not be, or says what spacing the host wants, if any.
        `seconds`, `spacing`, `retries` None: the Network's own. Raises NetworkError.
        """
        address = self._exchanges().checked(url, params)
        ask = Ask("GET", address, _headers(headers), _headers(secret), None, most, trusted, leave)
        return self._answered(ask, keep, seconds, spacing, retries)

    def post(
        self,
        url: str,
        json: Any,
        *,
        headers: Mapping[str, str] | None = None,
        secret: Mapping[str, str] | None = None,
        most: int = 5_000_000,
        seconds: float | None = None,
        spacing: float | None = None,
        retries: int | None = None,
        keep: Keep = True,
        trusted: bool = False,
    ) -> Reply:
        """What the server says to this JSON; all else as in `get`. It may be sent twice, so it must only ask."""
        address = self._exchanges().checked(url, None)
        typed = {"Content-Type": "application/json", **_headers(headers)}
        ask = Ask("POST", address, typed, _headers(secret), json_.dumps(json).encode(), most, trusted)
        return self._answered(ask, keep, seconds, spacing, retries)

    def require(self, host: str, port: int | None = None) -> None:
        """Raise NetworkError unless this host, which the user's configuration names, is allowed; connects to nothing.

        For libraries that connect by themselves.
        """
        self._guard.check(host, port)

    def transport(self, trusted: str | None = None, verify: ssl.SSLContext | bool = True) -> httpx.BaseTransport:
        """For code that streams with an `httpx.Client` of its own: connections to where the guard lets.

        `trusted` is an address from the user's configuration: its host may be private. Raises NetworkError for what the
        guard refuses, and httpx's errors for all else. The client's own timeouts hold; it must be closed.
        """
        return self._exchanges().transport(trusted, verify)

    def _exchanges(self) -> Exchanges:
        from surefoot.network.exchange import Exchanges  # httpx takes longer to import than most commands to run

        with self._lock:
            self._made = self._made or Exchanges(self._guard, self._agent)
            return self._made

    def _answered(
        self, ask: Ask, keep: Keep, seconds: float | None, spacing: float | None, retries: int | None
    ) -> Reply:
        with within(self._seconds if seconds is None else seconds):
            numbers = (self._spacing if spacing is None else spacing, self._retries if retries is None else retries)
            if not keep:
                return self._exchanges().asked(ask, *numbers)
            return self._shared(ask, keep, *numbers)

    def _shared(self, ask: Ask, keep: Keep, spacing: float, retries: int) -> Reply:
        """What is kept, or what this request brings, or an equal one that is under way."""
        while True:
            with self._flight(ask) as (flight, first):
                if first:
                    reply = self._kept(ask, keep) or self._brought(ask, keep, spacing, retries)
                    flight.set_result(reply)
                    return reply
                if brought := _awaited(flight, ask):
                    return brought

    def _kept(self, ask: Ask, keep: Keep) -> Reply | None:
        reply = self._cache.get(ask.key) if self._cache else None
        if not reply or len(reply.body) > ask.most or not _worth_keeping(reply, ask, keep):
            return None
        meter.count(cached=1)
        return reply

    def _brought(self, ask: Ask, keep: Keep, spacing: float, retries: int) -> Reply:
        reply = self._exchanges().asked(ask, spacing, retries)
        if self._cache and _worth_keeping(reply, ask, keep):
            self._cache.put(ask.key, reply)
        return reply

    @contextmanager
    def _flight(self, ask: Ask) -> Iterator[tuple[Future[Reply], bool]]:
        """What is under way for such a request, and whether it is ours to bring."""
        key = (ask.key, ask.most)
        with self._lock:
            first = key not in self._flights
            flight = self._flights.setdefault(key, Future())
        failed: NetworkError | None = None
        try:
            yield flight, first
        except NetworkError as error:
            failed = error
            raise
        finally:
            if first:
                with self._lock:
                    del self._flights[key]
                if failed:
                    flight.set_exception(failed)
                flight.cancel()  # whoever waits must not wait for ever; of no effect on one that has ended


def _awaited(flight: Future[Reply], ask: Ask) -> Reply | None:
    """What another thread's equal request brings; None: it had too little time, and this one has more."""
    host = urlsplit(ask.url).hostname
    try:
        reply = flight.result(timeout=max(0.0, left()))
    except NetworkError as error:
        if isinstance(error, Late) and left() > _HURRY:
            return None
        raise type(error)(str(error)) from error
    except TimeoutError as error:
        raise Late(f"{host} gave no whole answer in time") from error
    except CancelledError as error:
        raise NetworkError(f"{host} gave no answer: the request that was to bring it was broken off") from error
    meter.count(cached=1)
    return replace(reply, cached=True)


def _worth_keeping(reply: Reply, ask: Ask, keep: Keep) -> bool:
    """A good answer, or that a stranger has nothing there; never one that repeats a secret.

    Where the user's own configuration leads to nothing, that is for the user to mend.
    """
    if reply.status not in ((200, 203) if ask.trusted else (200, 203, 404)):
        return False
    said = b"\n".join([reply.url.encode(), *(value.encode() for value in reply.headers.values()), reply.body])
    secrets = [word.encode() for value in ask.secret.values() for word in value.split()[-1:]]
    return not any(secret in said for secret in secrets) and (keep is True or (callable(keep) and keep(reply)))


def _headers(given: Mapping[str, str] | None) -> dict[str, str]:
    """A copy; raises ConfigError, which names the header but not its value, for what cannot be sent."""
    headers = dict(given or {})
    for name, value in headers.items():
        if not _sendable(value):
            raise ConfigError(f"the header {name} cannot be sent: what it is to hold is not plain ASCII on one line")
    return headers


def _sendable(text: str) -> bool:
    return text.isascii() and (text.isprintable() or not text)


def _agent(contact: str) -> str:
    """What we call ourselves: with the contact, or else the project's address where the package names one."""
    about = metadata("surefoot")
    addresses = [line.partition(", ")[2] for line in about.get_all("Project-URL") or ()]
    whom = contact or next(iter(addresses), "")
    return f"surefoot/{about['Version']} ({whom})" if whom else f"surefoot/{about['Version']}"
