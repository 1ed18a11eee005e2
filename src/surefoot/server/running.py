"""Running the server on a port, as `surefoot serve` does."""

from __future__ import annotations

import gc
import sys
from contextlib import suppress

import uvicorn

from surefoot.config.settings import Config
from surefoot.server.access import LOOPBACK
from surefoot.server.app import create_app, keys_of
from surefoot.server.service import assembled
from surefoot.server.settings import ServerSettings
from surefoot.types.errors import ConfigError

__all__ = ["ServerSettings", "check", "is_local", "keys_of", "run"]

_GRACE = 20
"""Seconds that requests have to end once the server is told to stop."""
_KEEP_ALIVE = 30
"""Seconds that an idle connection stays open."""
_CONNECTIONS = 500
"""Connections at a time, at most: half of the files that a process may open on most systems. Others get a 503."""
_SWITCH = 0.0001
"""Seconds after which a thread hands the interpreter over to one that waits for it. A request is a dozen calls to the
system, behind each of which its thread waits once more; with Python's own 5 ms it waited longer than it worked."""


def is_local(settings: ServerSettings) -> bool:
    """Say whether this machine alone can reach it."""
    return settings.host in LOOPBACK


def check(settings: ServerSettings) -> None:
    """Raise ConfigError where others could reach it, and nobody needs a key."""
    if not is_local(settings) and not keys_of(settings).all():
        raise ConfigError(
            f"on {settings.host} others could reach it, and there is no key; make one first: "
            "surefoot serve keys NAME --collection default"
        )


def run(settings: ServerSettings, config: Config) -> None:
    """Serve until the process is told to stop; questions that run then have a while to end."""
    check(settings)
    sys.setswitchinterval(_SWITCH)
    app = create_app(assembled(settings, config))
    # No module and no model becomes garbage, and a full pass over all of them stops every thread for 60 ms and more.
    app.state.warmed = gc.freeze
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            host=settings.host,
            port=settings.port,
            log_level="warning",
            access_log=False,  # it would hold every question, and who asked it
            server_header=False,
            proxy_headers=False,
            limit_concurrency=_CONNECTIONS,
            timeout_keep_alive=_KEEP_ALIVE,
            timeout_graceful_shutdown=_GRACE,
        )
    )
    with suppress(KeyboardInterrupt):
        server.run()
    if not server.started:
        sys.exit(1)
