"""Who may come in: the middleware that every request passes first.

A browser that shows somebody else's page may reach this machine's loopback addresses: by a name of its own that leads
there (rebinding, which the Host header gives away) or by a form or a script (which Origin and Sec-Fetch-Site give
away). A request whose header has a key is no such thing, for a browser adds none by itself.
"""

from collections.abc import MutableMapping
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from surefoot.server.keys import Key, Keys
from surefoot.server.log import log_request
from surefoot.server.metrics import Metrics
from surefoot.server.problems import LOG, Problem
from surefoot.server.service import LOOPBACK, ServerSettings
from surefoot.types.errors import TraceFault
from surefoot.web import served_policy

COOKIE = "surefoot"
"""The cookie with the id of the page's session, where no script can read it: pictures and frames send no headers."""
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


class AccessMiddleware:
    """Checks host, origin and key of each request; puts the key, or None where none is needed, into its state."""

    def __init__(self, app: ASGIApp, keys: Keys, metrics: Metrics, settings: ServerSettings) -> None:
        self._app, self._keys, self._metrics = app, keys, metrics
        named = LOOPBACK | {settings.name.casefold()} if settings.name else None
        self._hosts = named or (LOOPBACK if settings.is_local else None)
        self._unlocked = settings.is_local
        """True: nobody needs a key; once there was one it stays needed, whatever becomes of the file."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request in, or answer it with its problem."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        begun, status = monotonic(), 0
        inner = {**scope, "method": "GET" if scope["method"] == "HEAD" else scope["method"]}  # the server cuts the body

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._metrics.count("surefoot_requests_total", f'{{status="{message["status"]}"}}')
                headers = MutableHeaders(scope=message)
                for header, value in _HEADERS.items():
                    headers.setdefault(header, value)
            await send(message)

        try:
            scope.setdefault("state", {})["key"] = self._admitted(scope)
        except Problem as problem:
            await problem.response()(scope, receive, answer)
        except (OSError, TraceFault) as error:
            LOG.error("the keys cannot be read", exc_info=error)
            closed = Problem(503, "unavailable", "nobody can be let in at present; ask whoever runs the server")
            await closed.response()(scope, receive, answer)
        else:
            await self._app(inner, receive, answer)
        finally:
            key = scope["state"].get("key")
            log_request(inner, status, monotonic() - begun, key.name if key else None)

    def _admitted(self, scope: MutableMapping[str, Any]) -> Key | None:
        headers, path = Headers(scope=scope), scope["path"]
        if self._hosts is not None and _host_name(headers.get("host", "")) not in self._hosts:
            message = "the server does not go by this name; use http://localhost, or set [server] name to its own"
            raise Problem(421, "host", message)
        if key := self._header_key(headers.get("authorization", "")):
            return key
        _check_origin(headers, path)
        session = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        key = self._seen(self._keys.session_holder(session) if session else None)
        if key is None and not (path in OPEN or path.startswith("/static/") or self._is_unlocked()):
            raise unknown_key()
        return key

    def _header_key(self, authorization: str) -> Key | None:
        kind, _, secret = authorization.partition(" ")
        if not authorization:
            return None
        key = self._seen(self._keys.holder(secret.strip()) if kind.lower() == "bearer" else None)
        if key is None and not self._is_unlocked():  # clients send a dummy where none is needed
            raise unknown_key()
        return key

    def _seen(self, key: Key | None) -> Key | None:
        self._unlocked = self._unlocked and key is None
        return key

    def _is_unlocked(self) -> bool:
        self._unlocked = self._unlocked and not self._keys.all()
        return self._unlocked


def _check_origin(headers: Headers, path: str) -> None:
    """Refuse a request that another site's page sends without a key."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
    foreign = origin is not None and origin.partition("://")[2].casefold() != headers.get("host", "").casefold()
    if foreign or (site not in ("same-origin", "none") and path != "/"):
        raise Problem(403, "origin", "a page of another site may not ask here; use a key, or the page of this server")


def _host_name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def unknown_key() -> Problem:
    """The problem of a request without a key, or with one that nobody has."""
    message = "this needs a key that the server knows; send it as Authorization: Bearer sf-…"
    return Problem(401, "key", message, {"WWW-Authenticate": "Bearer"})
