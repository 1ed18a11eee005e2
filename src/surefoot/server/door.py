"""Who may come in: the middleware that every request passes first.

A browser that shows somebody else's page may reach this machine's loopback addresses: by a name of its own that leads
there (rebinding, which the Host header gives away) or by a form or a script (which Origin and Sec-Fetch-Site give
away). A request whose header has a key is no such thing, for a browser adds none by itself.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from surefoot.server.keys import Key, Keys
from surefoot.server.metrics import Metrics
from surefoot.server.problems import LOG, Problem
from surefoot.types.errors import TraceFault
from surefoot.web import served_policy

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
COOKIE = "surefoot"
"""The cookie in which the page has its key, where no script can read it: pictures and frames send no headers."""
PROBES = ("/health", "/ready", "/metrics")
"""Addresses that answer whether the server is well, also where it is full."""
OPEN = ("/", "/health", "/ready", "/session")
"""Addresses that need no key, beside the page's own files."""
_HEADERS = {
    "Content-Security-Policy": served_policy(),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Door:
    """Checks host, origin and key of each request; puts the key, or None where none is needed, into its state. Where it
    is `crowded`, only probes come in."""

    def __init__(
        self, app: ASGIApp, keys: Keys, metrics: Metrics, host: str, name: str, crowded: Callable[[], bool]
    ) -> None:
        self._app, self._keys, self._metrics, self._crowded = app, keys, metrics, crowded
        self._local = host in LOOPBACK
        self._hosts = LOOPBACK | {name.casefold()} if name else LOOPBACK if self._local else None
        self._unlocked = self._local
        """Whether nobody needs a key; once there was one it stays needed, whatever becomes of the file."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request in, or answer it with its problem."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._metrics.count("surefoot_requests_total", f'status="{message["status"]}"')
                headers = MutableHeaders(scope=message)
                for header, value in _HEADERS.items():
                    headers.setdefault(header, value)
            await send(message)

        try:
            scope.setdefault("state", {})["key"] = self._admitted(scope)
        except Problem as problem:
            await problem.response()(scope, receive, told)
        else:
            await self._app(scope, receive, told)

    def _admitted(self, scope: MutableMapping[str, Any]) -> Key | None:
        headers, path = Headers(scope=scope), scope["path"]
        if self._crowded() and path not in PROBES:
            raise _full()
        _check_host(headers.get("host", ""), self._hosts)
        if key := self._key(headers.get("authorization", "")):
            return key
        _check_origin(headers, path)
        key = self._holder(cookie_parser(headers.get("cookie", "")).get(COOKIE, ""))
        if key is None and not (path in OPEN or path.startswith("/static/") or self._is_unlocked()):
            raise unknown()
        return key

    def _key(self, authorization: str) -> Key | None:
        kind, _, secret = authorization.partition(" ")
        if not authorization:
            return None
        found = self._holder(secret.strip()) if kind.lower() == "bearer" else None
        if found is None and not self._is_unlocked():  # clients send a dummy where none is needed
            raise unknown()
        return found

    def _holder(self, secret: str) -> Key | None:
        try:
            found = self._keys.holder(secret) if secret else None
        except (OSError, TraceFault) as error:
            raise _damaged(error) from error
        self._unlocked = self._unlocked and found is None
        return found

    def _is_unlocked(self) -> bool:
        try:
            self._unlocked = self._unlocked and not self._keys.all()
        except (OSError, TraceFault) as error:
            raise _damaged(error) from error
        return self._unlocked


def _full() -> Problem:
    headers = {"Retry-After": "5", "Connection": "close"}
    return Problem(503, "busy", "too many connections are open; come again in 5 s", headers)


def _check_host(said: str, hosts: frozenset[str] | None) -> None:
    if hosts is not None and _name(f"//{said}") not in hosts:
        message = "the server does not go by this name; use http://localhost, or set [server] name to its own"
        raise Problem(421, "host", message)


def _check_origin(headers: Headers, path: str) -> None:
    """Refuse what another site's page sends without a key."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
    foreign = origin is not None and origin.partition("://")[2].casefold() != headers.get("host", "").casefold()
    if foreign or (site not in ("same-origin", "none") and path != "/"):
        raise Problem(403, "origin", "a page of another site may not ask here; use a key, or the page of this server")


def _name(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").rstrip(".")
    except ValueError:
        return ""


def unknown() -> Problem:
    """The problem of a request without a key, or with one that nobody has."""
    message = "this needs a key that the server knows; send it as Authorization: Bearer sf-…"
    return Problem(401, "key", message, {"WWW-Authenticate": "Bearer"})


def _damaged(error: Exception) -> Problem:
    LOG.error("the keys cannot be read", exc_info=error)
    return Problem(503, "unavailable", "nobody can be let in at present; ask whoever runs the server")
