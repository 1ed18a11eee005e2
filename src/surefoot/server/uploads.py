"""Files of strangers in a collection's folder: their names made harmless, and their fields."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from surefoot.run.store import read_value, write_value
from surefoot.types.metadata import Meta

LONGEST_NAME = 150
"""Bytes of a file's name, which 255 is the limit of on most disks; a longer one loses its middle."""
_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]')
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


def sweep(folder: Path) -> None:
    """Remove what a kill in the middle of an upload left."""
    for place in folder.glob(".*"):
        place.unlink(missing_ok=True)


def upload_fields(folder: Path) -> Mapping[str, Any]:
    """The fields of each uploaded file that has some, by name. Raises TraceFault where `meta.json` is damaged."""
    place = folder.with_name("meta.json")
    return read_value(place, dict) if place.is_file() else {}


def set_fields(folder: Path, names: Sequence[str], fields: Meta) -> None:
    """Give these files the fields, and no others."""
    with _FIELDS:
        before = upload_fields(folder)
        rest = {name: values for name, values in before.items() if name not in names}
        after = rest | ({name: dict(fields) for name in names} if fields else {})
        if after != before:
            write_value(folder.with_name("meta.json"), after)
