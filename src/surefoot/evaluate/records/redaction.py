"""What can be passed on: records with every figure and no text, configurations without their secrets."""

import hmac
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from math import isfinite
from pathlib import Path
from secrets import token_bytes
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit, urlunsplit

from surefoot.evaluate.records.paths import plain
from surefoot.text import toml_values
from surefoot.text.json_values import parsed
from surefoot.types import Record, Score
from surefoot.types.errors import UsageError
from surefoot.types.metadata import NO_META, Meta

T = TypeVar("T")

_TERMS = frozenset({"metric", "judge", "policy", "source", "via", "model", "evaluator", "name", "created"})
"""Fields whose words come from a program, not from a text."""
_TAGS = frozenset({"domain", "system"})
_CORNERS = frozenset({"question", "answer", "truth"})
"""Places of a quote other than a context."""


def share_safe(records: Iterable[Record], scores: Iterable[Score]) -> tuple[list[Record], list[Score]]:
    """Replace every text by "text:<hash>:<characters>", and keep every figure.

    Equal texts have equal hashes, ids included, so scores still find their records and citations their passages. The
    hash is keyed with a secret that is discarded, so that a guessed text cannot be checked. Settings of traces are
    dropped; tags are hashed but for `_TAGS`, by which figures are told apart.
    """
    key = token_bytes(32)

    def shared(value: Any, name: str) -> Any:
        if isinstance(value, Mapping):
            cells = value.items() if name == "tags" else ()
            return {each: cell if each in _TAGS else _hashed(str(cell), key) for each, cell in cells}
        known = name in _TERMS or (name == "where" and value in _CORNERS)
        return value if known else _hashed(value, key)

    return [_changed(record, shared) for record in records], [_changed(score, shared) for score in scores]


_SECRET = frozenset("apikey auth authorization cookie credential credentials key password secret token".split())
"""Words of a setting's name that mark its text as a secret, unless it names an environment variable."""
_KEYS = (*"sk- pk- ghp_ gho_ github_pat_ glpat- xox AKIA AIza hf_ gsk_ tvly- pcsk_ eyJ -----BEGIN Bearer".split(),)
"""The beginnings of keys that services hand out."""
HIDDEN = "(hidden)"


MOST = 64_000
"""Characters of a configuration: it stands whole in a prompt."""


def system(path: Path) -> dict[str, Any]:
    """The configuration of the system under test in a file of JSON or TOML, without its secrets. Raises UsageError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        value = parsed(text) if text.lstrip().startswith("{") else toml_values.parsed(text)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path} is neither a JSON object nor TOML: {error}") from error
    if len(text) > MOST:
        raise UsageError(f"{path} has {len(text):,} characters, and at most {MOST:,} are read; name the settings alone")
    return {name: without_secrets(cell, name) for name, cell in value.items()}


def without_secrets(value: Any, name: str = "") -> Any:
    """A configuration in which "(hidden)" stands for each text under a name like `api_key`, each text with a key as
    services hand them out, and user and query of an address."""
    if isinstance(value, Mapping):
        return {str(key): without_secrets(cell, str(key)) for key, cell in value.items()}
    if isinstance(value, list | tuple):
        return [without_secrets(cell, name) for cell in value]
    if value is None or isinstance(value, int) or (isinstance(value, float) and isfinite(value)):
        return value
    text, parts = str(value), {*plain(name).split("_")}
    if (parts & _SECRET and "env" not in parts) or any(word.strip("\"',=:").startswith(_KEYS) for word in text.split()):
        return HIDDEN
    return " ".join(_address(word) if "://" in word else word for word in text.split(" "))


def _address(text: str) -> str:
    try:
        where = urlsplit(text)
    except ValueError:
        return HIDDEN
    host = f"{HIDDEN}@{where.netloc.rpartition('@')[2]}" if "@" in where.netloc else where.netloc
    return urlunsplit(where._replace(netloc=host, query=where.query and HIDDEN))


def _changed(value: T, change: Callable[[Any, str], Any], name: str = "") -> T:
    """The value with each text and each dictionary in it changed; `change` is given the name of its field."""
    result: Any = value
    if isinstance(value, Meta):
        result = NO_META  # no figure goes by it, and its values are texts of the user's
    elif isinstance(value, tuple):
        result = tuple(_changed(each, change, name) for each in value)
    elif is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: _changed(getattr(value, field.name), change, field.name) for field in fields(value)}
        result = replace(value, **parts)
    elif isinstance(value, str | dict) and not isinstance(value, Enum):
        result = change(value, name)
    return cast(T, result)


def _hashed(text: str, key: bytes) -> str:
    if not text:
        return text
    digest = hmac.new(key, text.encode(errors="surrogatepass"), "sha256").hexdigest()
    return f"text:{digest[:16]}:{len(text)}"
