"""Files of strangers on their way into a collection's folder: names made harmless, whole or not at all."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from secrets import token_hex
from threading import Lock
from typing import IO, Any

from surefoot.run.store import write_bytes
from surefoot.text.json_values import parsed
from surefoot.types.metadata import Meta

LONGEST_NAME = 150
"""Bytes of a file's name, which 255 is the limit of on most disks; a longer one loses its middle."""
_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]')
_CHUNK = 1 << 20
_FIELDS = Lock()


def safe_name(name: str) -> str:
    """The name without folders, leading dots and characters that a disk or a reader trips over; "" for none."""
    last = re.split(r"[/\\]", name)[-1]
    clean = " ".join(_UNSAFE.sub(" ", last).split()).strip(". ")
    if len(clean.encode()) <= LONGEST_NAME:
        return clean
    stem, dot, suffix = clean.rpartition(".")
    end = f"{dot}{suffix}" if stem and len(suffix.encode()) < 20 else ""
    return (stem if end else clean).encode()[: LONGEST_NAME - len(end.encode())].decode("utf-8", "ignore") + end


def write_upload(file: IO[bytes], folder: Path, name: str) -> None:
    """Write a file into the folder, whole or not at all, in place of one of the same name."""
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".{token_hex(8)}"  # hidden, so that no index reads it; `sweep` removes what a kill leaves
    try:
        with temporary.open("xb") as out:
            file.seek(0)
            shutil.copyfileobj(file, out, _CHUNK)
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, folder / name)
    finally:
        temporary.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Remove what a kill in the middle of an upload left."""
    for place in folder.glob(".*"):
        place.unlink(missing_ok=True)


def upload_fields(folder: Path) -> Mapping[str, Any]:
    """The fields of each uploaded file that has some, by name. Raises ValueError where `meta.json` is damaged."""
    place = folder.with_name("meta.json")
    return parsed(place.read_bytes()) if place.is_file() else {}


def set_fields(folder: Path, names: Sequence[str], fields: Meta) -> None:
    """Give these files the fields, and no others."""
    with _FIELDS:
        before = upload_fields(folder)
        rest = {name: values for name, values in before.items() if name not in names}
        after = rest | ({name: dict(fields) for name in names} if fields else {})
        if after != before:
            folder.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(folder.with_name("meta.json"), json.dumps(after, ensure_ascii=False).encode())
