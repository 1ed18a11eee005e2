"""SHA-256 of large files, remembered while a file stays as it is, so that a check on each use costs nothing.

Hashes are remembered in the user's own cache and not beside the files: else anybody who may write into a shared folder
of models could declare their own file checked.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path

from surefoot.text.json_values import parsed

FILE = user_cache_path("surefoot") / "hashes.json"
"""One line of JSON: by path, the file's identity, size and times, and its hash."""
_MOST = 50
"""Most files that are remembered, the latest read."""
_SETTLED = 2.0
"""Age in seconds from which a file is remembered. Clocks of file systems are coarse: a file changed while it is read,
or just after, may keep its time."""


def sha256(path: Path) -> str:
    """The file's hash in hexadecimal. The file is read only if its place, inode, size or one of its times is new, or
    the memory cannot be read; raises OSError."""
    key = str(path.resolve())
    with path.open("rb") as file:
        state = os.fstat(file.fileno())
        mark = [state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns]
        match _remembered().get(key):
            case [*known, str(digest)] if known == mark:
                return digest
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if time.time() - max(state.st_mtime, state.st_ctime) > _SETTLED:
        _remember(key, [*mark, digest])
    return digest


def _remembered() -> dict[str, object]:
    try:
        known = parsed(FILE.read_bytes())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _remember(key: str, entry: list[int | str]) -> None:
    known = [(path, of) for path, of in _remembered().items() if path != key][1 - _MOST :]
    with suppress(OSError):  # where nothing can be kept, the file is read each time
        FILE.parent.mkdir(parents=True, exist_ok=True)
        FILE.write_text(json.dumps({**dict(known), key: entry}), encoding="utf-8")
