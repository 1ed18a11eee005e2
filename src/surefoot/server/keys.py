"""The keys of a server: each opens the collections that it names. Only their hashes are kept."""

import hmac
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_urlsafe

from filelock import FileLock

from surefoot.index.storage import now
from surefoot.run.store import from_json, to_json, write_bytes
from surefoot.text.json_values import parsed
from surefoot.types.errors import TraceFault, UsageError

PREFIX = "sf-"
COLLECTION = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
"""The name of a collection; it names a folder too."""
SESSIONS = 1000
"""Sessions of the page at a time; the oldest ends when there is one more."""
DEFAULT = "default"
"""The collection of the configured index."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key as it is kept."""

    name: str
    collections: tuple[str, ...]
    """The first is meant where a request names none."""
    hash: str
    """SHA-256 of the key, which is 32 random bytes: nothing that could be guessed, so no slow hash is needed."""
    created: str
    """UTC, ISO 8601."""

    @property
    def owner(self) -> str:
        """The folder of what belongs to whoever holds it: the same for a key made anew under its name."""
        return _hash(self.name)[:16]


class Keys:
    """The file of the keys. A running server sees changes at once; a file that cannot be read opens nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._sessions: dict[str, str] = {}
        """By the hash of a session's id, that of its key, the oldest first; gone when the server stops."""

    def add(self, name: str, collections: Sequence[str]) -> str:
        """Make a key, and give it: it is kept nowhere. Raises UsageError for a name that is taken or a wrong one."""
        chosen = tuple(dict.fromkeys(collections)) or (DEFAULT,)
        for collection in chosen:
            if not COLLECTION.fullmatch(collection):
                raise UsageError(
                    f"'{collection}' cannot be a collection; use lower-case letters, digits, - and _, 63 at most"
                )
        secret = PREFIX + token_urlsafe(32)
        with self._writing():
            if any(key.name == name for key in self.all()):
                raise UsageError(f"there is a key '{name}'; remove it first: surefoot serve keys {name} --remove")
            self._write((*self.all(), Key(name, chosen, _hash(secret), now())))
        return secret

    def remove(self, name: str) -> None:
        """Forget a key. Raises UsageError where there is none of that name."""
        with self._writing():
            rest = tuple(key for key in self.all() if key.name != name)
            if len(rest) == len(self.all()):
                raise UsageError(f"there is no key '{name}'; surefoot serve keys names them")
            self._write(rest)

    def all(self) -> tuple[Key, ...]:
        """Every key, the oldest first. Raises TraceFault where the file is damaged."""
        try:
            rows = parsed(self.path.read_bytes())
        except FileNotFoundError:
            return ()
        except ValueError as error:
            raise TraceFault(f"{self.path} is damaged: {error}; take it away, and make the keys again") from error
        return tuple(from_json(Key, row, str(self.path)) for row in rows)

    def holder(self, secret: str) -> Key | None:
        """The key that this is; None: it is none. Every hash is compared, in constant time."""
        return self._with_hash(_hash(secret))

    def begin_session(self, secret: str) -> str | None:
        """The id of a new session of this key's holder, which is of no use to anybody after `end_session`, or without
        the key; None: it is no key."""
        if (key := self.holder(secret)) is None:
            return None
        for oldest in [*self._sessions][: 1 - SESSIONS]:
            self._sessions.pop(oldest, None)
        self._sessions[_hash(id := token_urlsafe(32))] = key.hash
        return id

    def session_holder(self, id: str) -> Key | None:
        """The key of a session; None: there is no such session, or no such key any more."""
        return self._with_hash(self._sessions.get(_hash(id), ""))

    def end_session(self, id: str) -> None:
        """Forget a session, if there is one."""
        self._sessions.pop(_hash(id), None)

    def _with_hash(self, hashed: str) -> Key | None:
        found = None
        for key in self.all():
            if hmac.compare_digest(key.hash, hashed):
                found = key
        return found

    def _writing(self) -> FileLock:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(self.path.with_name(self.path.name + ".lock"))

    def _write(self, keys: tuple[Key, ...]) -> None:
        write_bytes(self.path, (json.dumps(to_json(keys), indent=1) + "\n").encode(), mode=0o600)


def _hash(secret: str) -> str:
    return sha256(secret.encode("utf-8", "replace")).hexdigest()
