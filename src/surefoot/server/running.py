"""Running the server on a port, as `surefoot serve` does."""

from __future__ import annotations

import gc
import sys
from contextlib import suppress

import uvicorn

try:
    import resource
except ImportError:  # Windows, which bounds no process's files in this way
    resource = None  # type: ignore[assignment]

from surefoot.config.settings import Config
from surefoot.server.app import assembled, create_app, keys_of
from surefoot.server.door import LOOPBACK
from surefoot.server.settings import ServerSettings
from surefoot.types.errors import ConfigError

__all__ = ["ServerSettings", "check", "is_local", "keys_of", "run"]

_GRACE = 20
"""Seconds that requests have to end once the server is told to stop."""
_KEEP_ALIVE = 30
"""Seconds that an idle connection is kept."""
_OPEN = 2000
"""Connections at a time, at most; whoever comes on a further one is told to come again."""
_TURN = 0.0001
"""Seconds after which a thread hands the interpreter over to one that waits for it. A request is a dozen calls to the
system, behind each of which its thread waits once more; with Python's own 5 ms it waited longer than it worked."""


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
    sys.setswitchinterval(_TURN)
    app = create_app(assembled(settings, config))
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            host=settings.host,
            port=settings.port,
            log_level="warning",
            access_log=False,  # it would hold what was asked for, and by whom
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=_KEEP_ALIVE,
            timeout_graceful_shutdown=_GRACE,
        )
    )
    most, connections = _most_connections(), server.server_state.connections
    app.state.crowded = lambda: len(connections) > most  # uvicorn's own limit answers without a word, and for all
    # No module and no model becomes garbage, and a full pass over all of them stops every thread for 60 ms and more.
    app.state.warmed = gc.freeze
    with suppress(KeyboardInterrupt):
        server.run()
    if not server.started:
        sys.exit(1)


def _most_connections() -> int:
    """`_OPEN`, or half of the files that this process may open, which are made enough where the system lets it."""
    if resource is None:
        return _OPEN
    usual, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * _OPEN if most == resource.RLIM_INFINITY else min(2 * _OPEN, most)
    if usual != resource.RLIM_INFINITY and usual < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    return wanted // 2
