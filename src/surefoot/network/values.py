"""Requests to other machines, and their replies."""

from __future__ import annotations

import codecs
import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from surefoot.text.json_values import parsed
from surefoot.types.errors import NetworkError

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.ASCII | re.IGNORECASE)
_WESTERN = ("iso8859-1", "ascii")
"""Names under which pages are in fact in Windows' cp1252, as browsers know."""
_NEVER = ("utf-7", "idna", "punycode", "unicode_escape", "unicode-escape", "raw_unicode_escape", "raw-unicode-escape")
"""Python's codecs that no page is in: they hide markup, or take quadratic time."""


Keep = bool | Callable[["Reply"], bool]
"""True: a reply may be cached; a function: the replies that may."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, ready to send."""

    method: str
    url: str
    """The address with the parameters."""
    headers: Mapping[str, str]
    secret: Mapping[str, str] = field(repr=False)
    """Headers that are never kept or shown."""
    content: bytes | None
    most: int
    """Most bytes of body that are read."""
    trusted: bool
    keep: Keep
    spacing: float
    """Seconds between two requests to the host, at least."""
    retries: int
    leave: Callable[[str], float | None] | None = None
    """Called with each address before it is asked."""

    @property
    def key(self) -> str:
        """A hash that equal requests share: of all but the secrets and the size."""
        request = json.dumps([self.method, self.url, self.trusted])
        return hashlib.sha256(request.encode() + b"\0" + (self.content or b"")).hexdigest()


@dataclass(frozen=True, slots=True)
class Reply:
    """A server's reply, whatever its status."""

    url: str
    """The address that replied, after redirects."""
    status: int
    headers: Mapping[str, str]
    """Keys in lower case; without cookies."""
    body: bytes = field(repr=False)
    """Unpacked."""
    cached: bool = field(default=False, compare=False)
    """True: it came from the cache."""
    age: float = field(default=0.0, compare=False)
    """Seconds since it came; 0 unless cached."""

    @property
    def wait(self) -> float | None:
        """Seconds that the server asks us to wait (Retry-After); None: it does not ask."""
        header = self.headers.get("retry-after", "").strip()
        if re.fullmatch(r"[0-9]{1,9}", header):
            return float(header)
        try:
            return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
        except (ValueError, OverflowError):
            return None

    def text(self) -> str:
        """The body, decoded by its mark, the header's charset, the page's own, UTF-8 or cp1252: the first that fits."""
        for encoding in self._encodings():
            try:
                return self.body.decode(encoding)
            except UnicodeError:
                continue
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """The body as JSON; raises NetworkError if it is not JSON."""
        try:
            return parsed(self.body)
        except ValueError as error:
            kind = one_line(self.headers.get("content-type", "of no type"), 60)
            where = urlsplit(self.url).hostname
            raise NetworkError(f"{where} answered no JSON (HTTP {self.status}, {kind})") from error

    def _encodings(self) -> Iterator[str]:
        yield from (encoding for mark, encoding in _BOMS if self.body.startswith(mark))
        head = self.body[:2048].decode("latin-1").lower()
        in_page = head[head.find("<meta") :] if "<meta" in head else ""
        for place in (self.headers.get("content-type", ""), in_page):
            if found := _CHARSET.search(place):
                yield from _codec(found[1])
        yield "utf-8"
        yield "cp1252"


def one_line(text: object, most: int) -> str:
    """Another machine's text, fit for a message: on one line, printable, cut."""
    return "".join(letter if letter.isprintable() else " " for letter in str(text)[:most])


def _codec(label: str) -> Iterator[str]:
    """The codec that a label names, if it is one for pages."""
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return
    if name not in _NEVER:
        yield "cp1252" if name in _WESTERN else name
