"""The fields that clients give to the files that they upload."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from surefoot.run.store import write_bytes
from surefoot.text.json_values import parsed
from surefoot.types.metadata import Meta


class Labels:
    """Fields by the name of the file, in `meta.json` beside each collection's uploads."""

    def __init__(self) -> None:
        self._lock = Lock()

    def of(self, uploads: Path) -> Mapping[str, Any]:
        """The fields of each file that has some. Raises ValueError where the file is damaged."""
        place = _place(uploads)
        return parsed(place.read_bytes()) if place.is_file() else {}

    def give(self, uploads: Path, names: Sequence[str], fields: Meta) -> None:
        """Label these files with the fields, and with no others."""
        with self._lock:
            before = self.of(uploads)
            rest = {name: labels for name, labels in before.items() if name not in names}
            after = rest | ({name: dict(fields) for name in names} if fields else {})
            if after != before:
                uploads.parent.mkdir(parents=True, exist_ok=True)
                write_bytes(_place(uploads), json.dumps(after, ensure_ascii=False).encode())


def _place(uploads: Path) -> Path:
    return uploads.with_name("meta.json")
