"""What the searchers of the web have in common: queries fit to be sent, replies read, refusals named, passages made."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from hashlib import blake2b
from typing import Any
from urllib.parse import urlsplit

from surefoot.errors import ComponentError, ConfigError, SearchError, Throttled
from surefoot.network import Reply
from surefoot.types import Passage, Standing

Found = tuple[str, str, str, str]
"""Address, title, text, and how it was come by: what a passage from outside is made of."""

_KEY_LIKE = re.compile(
    r"""(?i)(bearer\s+|tvly-|sk-|(?:key|token|secret|password)(?:\ provided)?["']?\s*[:=]\s*["']?)[^\s"',}]+"""
    r"|\b(?=[a-z_]*[0-9])(?=[0-9_]*[a-z])[a-z0-9_]{32,}"
)
"""What begins or is called as keys are, and what is as long and as mixed as they are; with dashes it is an id."""


def sendable(query: str, most: int = 400) -> str:
    """The query on one line, without what is no text, cut to `most` characters; empty: it has no letter or digit."""
    line = _line(query)
    if len(line) > most:
        line = line[: most + 1].rpartition(" ")[0] or line[:most]
    return line if any(map(str.isalnum, line)) else ""


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


def refused(  # nosec B107 # where there is no secret, none is left out
    who: str, reply: Reply, remedies: Mapping[int, str], quota: Collection[int] = (429,), secret: str = ""
) -> SearchError:
    """What a status other than 200 means, in words: Throttled where it is one of `quota`.

    `remedies` says what to do about a status; `secret` is left out of what the provider said.
    """
    remedy = remedies.get(reply.status, "try again later, or use another searcher")
    message = f"{who} answered HTTP {reply.status} ({_said(reply, secret) or 'and nothing else'}); {remedy}"
    return Throttled(message, reply.wait) if reply.status in quota else SearchError(message)


def answered(who: str, reply: Reply, rows: str) -> dict[str, Any]:
    """The JSON object of a reply; raises SearchError unless it has a list called `rows`, or leaves it out."""
    said = reply.json()
    if not isinstance(said, dict) or not isinstance(said.get(rows, []), list):
        raise SearchError(f"{who} sent JSON without a list of '{rows}'; has its interface changed?")
    return said


def finds(read: Callable[[Reply], Collection[Any]]) -> Callable[[Reply], bool]:
    """Which replies a cache may hold, for `Network`: those in which `read` finds something.

    What a provider refuses in a good reply, somebody mends; and where it found nothing it may have been in trouble.
    """

    def keep(reply: Reply) -> bool:
        try:
            return bool(read(reply))
        except ComponentError:
            return False

    return keep


def field(row: Any, name: str) -> str:
    """The text that a row has under this name; empty where it has none."""
    value = row.get(name) if isinstance(row, dict) else None
    return _valid(value) if isinstance(value, str) else ""


def passages(found: Iterable[Found], k: int, standing: Standing = "doubted") -> tuple[Passage, ...]:
    """The first `k` that have an address on the web, each once; one without a text has its title for a text.

    It is of little use by itself, but its page can be opened.
    """
    first: dict[str, Passage] = {}
    for url, title, text, via in found:
        if len(first) >= k:
            break
        if re.match(r"https?://[^/\s]", url) and (said := text.strip() or title.strip()):
            passage = external(url, title.strip() or url, said, via if text.strip() else "title", standing)
            first.setdefault(passage.id, passage)
    return tuple(first.values())


def external(url: str, title: str, text: str, via: str, standing: Standing) -> Passage:
    """A passage from outside, with an id that is the same as long as its address and its text are."""
    digest = blake2b(f"{url}\0{text}".encode(), digest_size=7).hexdigest()[:13]
    return Passage(f"x{digest}", text, title, "external", url, via=via, standing=standing)


def excerpt(text: str, secret: str = "") -> str:  # nosec B107 # as above
    """The beginning of what a provider says, on one line, without the secret, in any case, and what looks like one."""
    masked = re.sub(re.escape(secret), "***", text, flags=re.IGNORECASE) if secret else text
    return _KEY_LIKE.sub(lambda found: f"{found[1] or ''}***", _line(masked[:2000]))[:160]


def _said(reply: Reply, secret: str) -> str:
    return "a page" if "html" in reply.headers.get("content-type", "") else excerpt(reply.text(), secret)


def _line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in _valid(text)).split())


def _valid(text: str) -> str:
    """Without half characters, which JSON can spell and nothing can store."""
    return text.encode("utf-8", "replace").decode()
