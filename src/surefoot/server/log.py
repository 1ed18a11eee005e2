"""The server's log as lines of JSON, in which no question, answer or document is quoted.

Messages are constant sentences of ours and of uvicorn's; what an exception says may quote a text, so that of most only
the kind and the place in the code are written.
"""

import json
import logging
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from surefoot.server.problems import LOG
from surefoot.types.errors import ConfigError, IndexFault

_CONSTANT = ("surefoot", "uvicorn")
"""Loggers whose messages hold no values."""


class JsonLines(logging.Formatter):
    """A record as a line: `time` (UTC), `level`, `logger`, and what is known of the request or the fault."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {"time": time, "level": record.levelname.lower(), "logger": record.name}
        if record.name.partition(".")[0] in _CONSTANT:
            line["message"] = str(record.msg).strip()  # not the values that are put into it
        line |= vars(record).get("fields", {})
        if record.exc_info and (error := record.exc_info[1]):
            line["error"] = type(error).__name__
            if reason := error.strerror if isinstance(error, OSError) else _reason(error):
                line["reason"] = reason
            line["at"] = [f"{one.filename}:{one.lineno}" for one in traceback.extract_tb(error.__traceback__)]
        return json.dumps(line)


def _reason(error: BaseException) -> str:
    """What an error says, where that is of the index's file or the settings alone."""
    return str(error) if isinstance(error, ConfigError | IndexFault) else ""


def write_json_lines() -> None:
    """From now on this process logs lines of JSON to standard error, a line for each request too."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    LOG.setLevel(logging.INFO)


def log_request(scope: Mapping[str, Any], status: int, seconds: float, key: str | None) -> None:
    """Log that a request was answered. Its address is the route's, since ids, names and parameters say more."""
    if LOG.isEnabledFor(logging.INFO):
        route = getattr(scope.get("route"), "path", "")
        fields = {"method": scope["method"], "route": route, "status": status, "seconds": round(seconds, 3), "key": key}
        LOG.info("request", extra={"fields": fields})
