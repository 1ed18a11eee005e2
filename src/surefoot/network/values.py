"""Requests to other machines, and their replies."""

import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from surefoot.text.json_values import parsed
from surefoot.types.errors import NetworkError

_CHARSET = re.compile(
    r"charset\s*=\s*[\"']?((?:utf-(?:8|16)|us-ascii|iso-8859-|windows-|koi8-|shift_jis|euc-|gb|big5)[\w-]{0,20})", re.I
)
"""The encodings of texts: others of Python's hide markup, or take quadratic time."""
_ALIASES = {"utf-8": "utf-8-sig", "us-ascii": "cp1252", "iso-8859-1": "cp1252"}
"""What pages are in fact in under these names, as browsers know."""

Keep = bool | Callable[["Reply"], bool]  # True: a reply may be cached; a function: the replies that may


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, ready to send."""

    method: str
    url: str
    """The address with the parameters."""
    secret: Mapping[str, str] = field(repr=False)
    """Headers that are never kept or shown."""
    content: bytes | None
    """JSON."""
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
        """Seconds that the server asks us to wait; None: it does not ask."""
        return retry_after(self.headers)

    def text(self) -> str:
        """The body, decoded by the header's charset, as UTF-8 or as cp1252: the first that fits."""
        for encoding in (self.charset, "utf-8-sig", "cp1252"):
            try:
                if encoding:
                    return self.body.decode(encoding)
            except (UnicodeError, LookupError):
                continue
        return self.body.decode("utf-8", "replace")

    @property
    def charset(self) -> str:
        """The encoding that the header names; empty: none, or one that no text is in."""
        named = _CHARSET.search(self.headers.get("content-type", ""))
        charset = named[1].lower() if named else ""
        return _ALIASES.get(charset, charset)

    def json(self) -> Any:
        """The body as JSON; raises NetworkError if it is not JSON."""
        try:
            return parsed(self.body)
        except ValueError as error:
            kind = one_line(self.headers.get("content-type", "of no type"), 60)
            where = urlsplit(self.url).hostname
            raise NetworkError(f"{where} answered no JSON (HTTP {self.status}, {kind})") from error


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks us to wait (Retry-After); None: it does not ask."""
    header = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", header):
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def one_line(text: object, most: int | None = None) -> str:
    """Another machine's text, or a user's, fit for a message: on one line, printable, cut."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in str(text)[:most]).split())
