"""Addresses and keys, checked before they are used and hidden where text is shown."""

import os
import re
from urllib.parse import urlsplit

from surefoot.network.values import one_line
from surefoot.types.errors import ConfigError

_KEY_LIKE = re.compile(
    r"""(?i)(bearer\s+|tvly-|sk-|(?:key|token|secret|password|pwd)(?:\ provided)?["']?\s*[:=]\s*["']?)[^\s"',}]+"""
    r"|\b(?=[a-z_]*[0-9])(?=[0-9_]*[a-z])[a-z0-9_]{32,}"
    r"|(?<=://)[^\s/]+(?=@)"
)
"""Texts that begin as keys do or are named so, texts as long and as mixed as keys (with dashes they are ids), and the
login of an address."""


def s3_endpoint() -> tuple[str, str]:
    """The host of S3, and its address where the environment names one, as Amazon's own programs read it; else ""."""
    address = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    return (str(urlsplit(address).hostname) if address else "s3.amazonaws.com"), address


def key(who: str, key_env: str) -> str:
    """The provider's key from the environment variable; raises ConfigError where there is none."""
    if value := key_if_any(key_env):
        return value
    raise ConfigError(f"{who} needs a key; put it into the environment variable {key_env}")


def key_if_any(key_env: str) -> str:
    """The key in this environment variable, if any. Raises ConfigError, which shows neither, for a bad name or key."""
    if not re.fullmatch("[A-Z_][A-Z0-9_]*", key_env):  # in capitals only: small letters may be those of a key
        raise ConfigError("key_env is the name of an environment variable, in capitals, and not the key itself")
    value = os.environ.get(key_env, "").strip()
    if not (value.isascii() and value.isprintable()) or " " in value:
        raise ConfigError(f"the environment variable {key_env} holds no key, but other characters too")
    return value


def address(base_url: str) -> str:
    """The address, fit for messages and records; raises ConfigError for text that is none, or holds a secret."""
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
    """The start of a provider's text on one line, without the secret in any spelling and without likely keys."""
    masked = re.sub(re.escape(secret), "***", text, flags=re.IGNORECASE) if secret else text
    return _KEY_LIKE.sub(lambda found: f"{found[1] or ''}***", one_line(masked, 2000))[:160]
