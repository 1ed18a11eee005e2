"""The one door to other machines; `[network] allow = []` in the configuration closes all of it."""

from __future__ import annotations

import json as json_
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from surefoot.network.cache import Cache
from surefoot.network.guard import Guard
from surefoot.network.pace import within
from surefoot.network.values import Ask, Keep, Reply
from surefoot.run import meter
from surefoot.types.errors import ConfigError

if TYPE_CHECKING:
    import httpx

    from surefoot.network.exchange import Exchanges

__all__ = ["Network", "Reply"]

_MOST = 5_000_000  # bytes of a body that are read, unless a call says otherwise


class Network:
    """Requests to other machines, guarded, polite and bounded; one object serves all threads.

    `allow` lists hosts as `Guard` takes them; inner addresses are refused, after the name was looked up and on each
    redirect, unless the host is listed as written or the call says `trusted`. `contact` (an address that reaches you)
    goes into the User-Agent, as Wikipedia asks. `cache` is a file that keeps replies for `expires` seconds. A call has
    `seconds`, with its wait for a turn, retries, redirects and body. `spacing` seconds lie between two requests
    to one host and port, over all threads. `retries` follow a broken connection and HTTP 429, 500, 502, 503 and 504,
    with pauses that grow from half a second or are what Retry-After says. Proxies are never used: they look names up
    themselves, beyond the guard. Raises ConfigError.
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
        if not (contact.isascii() and contact.isprintable()):
            raise ConfigError(f"[network] contact must be plain ASCII, for a header carries it; it is {contact!r}")
        self._agent = f"surefoot/{version('surefoot')}" + (f" ({contact})" if contact else "")
        self._guard = Guard(allow)
        self._cache = Cache(Path(cache), expires) if cache else None
        self._seconds, self._spacing, self._retries = seconds, spacing, retries
        self._lock = Lock()
        self._made: Exchanges | None = None

    def __repr__(self) -> str:
        return f"Network(allow={list(self._guard.allow)})"

    def get(
        self,
        url: str,
        params: Mapping[str, str | int] | None = None,
        *,
        secret: Mapping[str, str] | None = None,
        most: int = _MOST,
        seconds: float | None = None,
        spacing: float | None = None,
        retries: int | None = None,
        keep: Keep = True,
        trusted: bool = False,
        leave: Callable[[str], float | None] | None = None,
    ) -> Reply:
        """The server's reply, whatever its status.

        `secret` headers go to this host alone and are neither cached nor shown. `most`: bytes of unpacked body. `keep`
        says whether, or which, replies come from the cache and go there (200, 203, and 404 of strangers). `trusted` is
        for an address in the user's own configuration, which may be private. `leave` is called with each address before
        a request goes there, on redirects too; it raises NetworkError to forbid it, or returns the spacing that the
        host wants. `seconds`, `spacing`, `retries` None: the Network's own. Raises NetworkError.
        """
        address = self._exchanges().checked(url, params)
        spacing = self._spacing if spacing is None else spacing
        retries = self._retries if retries is None else retries
        ask = Ask("GET", address, _headers(secret), None, most, trusted, keep, spacing, retries, leave)
        return self._answered(ask, self._seconds if seconds is None else seconds)

    def post(
        self, url: str, json: Any, *, secret: Mapping[str, str] | None = None, keep: Keep = True, trusted: bool = False
    ) -> Reply:
        """The server's reply to this JSON; all else as in `get`. It may be sent twice, so it must change nothing."""
        address = self._exchanges().checked(url, None)
        manners = _MOST, trusted, keep, self._spacing, self._retries
        return self._answered(
            Ask("POST", address, _headers(secret), json_.dumps(json).encode(), *manners), self._seconds
        )

    def require(self, host: str, port: int | None = None) -> None:
        """Raise NetworkError unless this host, which the user's configuration names, is allowed; for libraries that
        connect by themselves. Connects to nothing."""
        self._guard.check(host, port)

    def transport(self, trusted: str) -> httpx.BaseTransport:
        """Guarded connections for an `httpx.Client` of one's own, which needs timeouts. `trusted` is an address from
        the user's configuration, whose host may be private. Raises NetworkError for what the guard refuses."""
        return self._exchanges().transport(trusted)

    def _exchanges(self) -> Exchanges:
        from surefoot.network.exchange import Exchanges  # httpx takes longer to import than most commands to run

        with self._lock:
            self._made = self._made or Exchanges(self._guard, self._agent)
            return self._made

    def _answered(self, ask: Ask, seconds: float) -> Reply:
        """The reply of this request; the cached one where there is one, or an equal request under way brings it."""
        with within(seconds):
            if not (ask.keep and self._cache):
                return self._exchanges().send(ask)
            with self._cache.turn(ask.key, str(urlsplit(ask.url).hostname)):
                cached = self._cache.get(ask.key)
                if cached and len(cached.body) <= ask.most and _worth_keeping(cached, ask):
                    meter.count(cached=1)
                    return cached
                reply = self._exchanges().send(ask)
                if _worth_keeping(reply, ask):
                    self._cache.put(ask.key, reply)
                return reply


def _worth_keeping(reply: Reply, ask: Ask) -> bool:
    """True for a good answer that repeats no secret; a 404 at an address of the user's own is for the user to mend."""
    if reply.status not in ((200, 203) if ask.trusted else (200, 203, 404)):
        return False
    content = b"\n".join([reply.url.encode(), *(value.encode() for value in reply.headers.values()), reply.body])
    secrets = [word.encode() for value in ask.secret.values() for word in value.split()[-1:]]
    return not any(secret in content for secret in secrets) and (
        ask.keep is True or (callable(ask.keep) and ask.keep(reply))
    )


def _headers(named: Mapping[str, str] | None) -> dict[str, str]:
    headers = dict(named or {})
    if unfit := [
        name for name, value in headers.items() if not (value.isascii() and value.isprintable())
    ]:  # the value is not shown
        raise ConfigError(f"the header {unfit[0]} cannot be sent: what it is to hold is not plain ASCII on one line")
    return headers
