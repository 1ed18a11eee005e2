"""The numbers and names that `[server]` sets."""

from __future__ import annotations

from dataclasses import dataclass, fields

from surefoot.types.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """`[server]` of a configuration; every number is at least 1."""

    host: str = "127.0.0.1"
    """The address that is listened on; any other than this machine's own needs a key."""
    port: int = 8710
    name: str = ""
    """The name by which browsers reach it, where that is not this machine's own; the Host header has to say it."""
    folder: str = ".surefoot/server"
    """Where keys, uploaded files, conversations and feedback are kept."""
    runs: str = "runs"
    """Where traces are kept, in `serve/`, and where evaluations are that the page shows."""
    keep_days: int = 30
    """Days after which traces, conversations and what is known of finished jobs are deleted."""
    workers: int = 2
    """Questions that are answered at a time."""
    waiting: int = 16
    """Questions, and uploads, that may wait; whoever comes after them is told to come again."""
    seconds: int = 120
    """Time for a question, the wait included."""
    body_bytes: int = 2_000_000
    """Size of a request, at most, but for uploads."""
    upload_bytes: int = 200_000_000
    """Size of the files of one upload together, at most."""
    upload_seconds: int = 600
    """Time for an upload to arrive; other requests have 30 seconds."""

    def __post_init__(self) -> None:
        low = [f.name for f in fields(self) if isinstance(value := getattr(self, f.name), int) and value < 1]
        if low:
            raise ConfigError(*(f"[server] {name} must be a whole number from 1 up" for name in low))
