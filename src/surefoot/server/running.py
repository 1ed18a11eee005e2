"""Running the server on a port, as `surefoot serve` does."""

from __future__ import annotations

import uvicorn

from surefoot.config.settings import Config
from surefoot.errors import ConfigError
from surefoot.server.app import assembled, create_app, keys_of
from surefoot.server.door import LOOPBACK
from surefoot.server.settings import ServerSettings

__all__ = ["ServerSettings", "check", "is_local", "keys_of", "run"]

_GRACE = 20
"""Seconds that requests have to end once the server is told to stop."""
_KEEP_ALIVE = 30
"""Seconds that an idle connection is kept."""
_OPEN = 2000
"""Connections at a time, at most; further ones get 503."""


def is_local(settings: ServerSettings) -> bool:
    """Whether this machine alone can reach it."""
    return settings.host in LOOPBACK


def check(settings: ServerSettings) -> None:
    """Raise ConfigError where others could reach it, and nobody needs a key."""
    if not is_local(settings) and not keys_of(settings).all():
        raise ConfigError(
            f"on {settings.host} others could reach it, and there is no key; make one first: "
            "surefoot serve keys add NAME --collection default"
        )


def run(settings: ServerSettings, config: Config) -> None:
    """Serve until the process is told to stop; questions that run then have a while to end."""
    check(settings)
    app = create_app(assembled(settings, config))
    uvicorn.run(
        app,
        host=settings.host,
        port=settings.port,
        log_level="warning",
        access_log=False,  # it would hold what was asked for, and by whom
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_GRACE,
        limit_concurrency=_OPEN,
    )
