"""Shared by the searchers of the web: queries made fit to send, replies read, refusals worded, passages made."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from hashlib import blake2b
from typing import Any, TypeVar

from surefoot.network import Reply
from surefoot.network.credentials import excerpt
from surefoot.network.values import one_line
from surefoot.text.words import encodable
from surefoot.types import Passage, Trust
from surefoot.types.errors import ComponentError, SearchError, Throttled

T = TypeVar("T")
Found = tuple[str, str, str, str]  # address, title, text and `via` of a passage from outside


def sendable(query: str, most: int = 400) -> str:
    """The query on one line, without control characters, cut to `most` characters; empty without a letter or digit."""
    line = one_line(query)
    if len(line) > most:
        line = line[: most + 1].rpartition(" ")[0] or line[:most]
    return line if any(map(str.isalnum, line)) else ""


def refused(  # nosec B107 # where there is no secret, none is left out
    who: str, reply: Reply, remedies: Mapping[int, str], quota: Collection[int] = (429,), secret: str = ""
) -> SearchError:
    """The error for a status other than 200: Throttled for one of `quota`. `remedies` says what to do about a status;
    `secret` is removed from the provider's text."""
    remedy = remedies.get(reply.status, "try again later, or use another searcher")
    quoted = "a page" if "html" in reply.headers.get("content-type", "") else excerpt(reply.text(), secret)
    message = f"{who} answered HTTP {reply.status} ({quoted or 'and nothing else'}); {remedy}"
    return Throttled(message, reply.wait) if reply.status in quota else SearchError(message)


def answered(who: str, reply: Reply, name: str) -> dict[str, Any]:
    """The JSON object of a reply. Raises SearchError if it is none, or has something else than a list of this name."""
    found = reply.json()
    if not isinstance(found, dict) or not isinstance(found.get(name, []), list):
        raise SearchError(f"{who} sent JSON without a list of '{name}'; has its interface changed?")
    return found


def requested(
    send: Callable[..., Reply],
    read: Callable[[Reply], T],
    *request: Any,
    worth: Callable[[T], object] = bool,
    **options: Any,
) -> T:
    """What `read` makes of the reply to a request, which is cached where that is `worth` it. A refusal inside a good
    reply may be lifted, and a provider that found nothing may have been in trouble."""

    def keep(reply: Reply) -> bool:
        try:
            return bool(worth(read(reply)))
        except ComponentError:
            return False

    return read(send(*request, keep=keep, trusted=True, **options))


def field(row: Any, name: str) -> str:
    """The text under this name in a row; empty where there is none."""
    value = row.get(name) if isinstance(row, dict) else None
    return encodable(value) if isinstance(value, str) else ""


def rows(value: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects in the list of this name; none where there is no list."""
    found = value.get(name)
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def passages(found: Iterable[Found], k: int, trust: Trust = "web") -> tuple[Passage, ...]:
    """The first `k` with an address on the web, each once. One without a text gets its title as text: it says little,
    but its page can be opened."""
    first: dict[str, Passage] = {}
    for url, title, text, via in found:
        if len(first) >= k:
            break
        if re.match(r"https?://[^/\s]", url) and (shown := text.strip() or title.strip()):
            passage = external(url, title.strip() or url, shown, via if text.strip() else "title", trust)
            first.setdefault(passage.id, passage)
    return tuple(first.values())


def external(url: str, title: str, text: str, via: str, trust: Trust) -> Passage:
    """A passage from outside, with an id made of its address and text."""
    digest = blake2b(f"{url}\0{text}".encode(), digest_size=7).hexdigest()[:13]
    return Passage(f"x{digest}", text, title, "external", url, via=via, trust=trust)
