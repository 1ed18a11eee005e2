"""Addresses and keys: what may be sent where, and what must not be shown."""

from __future__ import annotations

import os
import re
from urllib.parse import urlsplit

from surefoot.errors import ConfigError

_KEY_LIKE = re.compile(
    r"""(?i)(bearer\s+|tvly-|sk-|(?:key|token|secret|password)(?:\ provided)?["']?\s*[:=]\s*["']?)[^\s"',}]+"""
    r"|\b(?=[a-z_]*[0-9])(?=[0-9_]*[a-z])[a-z0-9_]{32,}"
)
"""What begins or is called as keys are, and what is as long and as mixed as they are; with dashes it is an id."""


def key(who: str, key_env: str) -> str:
    """The provider's key, from the environment variable; raises ConfigError where that holds none."""
    if said := key_if_any(key_env):
        return said
    raise ConfigError(f"{who} needs a key; put it into the environment variable {key_env}")


def key_if_any(key_env: str) -> str:
    """The key in this environment variable; empty where it is not set.

    Raises ConfigError, which shows neither, for what is no variable's name and for what is no key.
    """
    if not re.fullmatch("[A-Z_][A-Z0-9_]*", key_env):  # in capitals only: small letters may be those of a key
        raise ConfigError("key_env is the name of an environment variable, in capitals, and not the key itself")
    said = os.environ.get(key_env, "").strip()
    if not (said.isascii() and said.isprintable()) or " " in said:
        raise ConfigError(f"the environment variable {key_env} holds no key, but other characters too")
    return said


def address(base_url: str) -> str:
    """The address without a last slash; raises ConfigError for none, and for one that holds a secret.

    It goes into messages and into the record of a run.
    """
    try:
        base_url.encode()  # raises for half characters, as `port` does for what is none
        parts = urlsplit(base_url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fine = False
    if not fine:
        raise ConfigError("base_url is not an http or https address; write it like http://127.0.0.1:8888")
    if parts.username is not None or parts.query:
        raise ConfigError(f"base_url has a login or a query beside {parts.hostname}; leave it out")
    return base_url.rstrip("/")


def excerpt(text: str, secret: str = "") -> str:  # nosec B107 # as above
    """The beginning of what a provider says, on one line, without the secret, in any case, and what looks like one."""
    masked = re.sub(re.escape(secret), "***", text, flags=re.IGNORECASE) if secret else text
    return _KEY_LIKE.sub(lambda found: f"{found[1] or ''}***", _line(masked[:2000]))[:160]


def _line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in _valid(text)).split())


def _valid(text: str) -> str:
    """Without half characters, which JSON can spell and nothing can store."""
    return text.encode("utf-8", "replace").decode()
