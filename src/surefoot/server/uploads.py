"""Files of strangers in a collection's folder: their names decoded and made harmless, and their fields."""

import re
from collections.abc import Collection, Mapping, Sequence
from email.policy import HTTP
from itertools import chain, count
from pathlib import Path
from threading import Lock
from typing import Any
from unicodedata import normalize

from starlette.formparsers import MultiPartParser

from surefoot.run.store import read_value, write_value
from surefoot.types.metadata import Meta

LONGEST_NAME = 150
"""Bytes of a file's name, which 255 is the limit of on most disks; a longer one loses its middle."""
_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]')
_LONGEST_HEADER = 2_000
"""Bytes of a header that is decoded: Python takes quadratic time for a long one."""
_FIELDS = Lock()


class UploadForm(MultiPartParser):
    """A form whose files may be named by `filename*` (RFC 5987) or encoded words (RFC 2047). Starlette decodes neither,
    and takes a file that has only the former for a field."""

    def on_header_end(self) -> None:
        """Write an encoded name plainly before Starlette reads it."""
        name, value = self._current_partial_header_name.lower(), self._current_partial_header_value
        if name == b"content-disposition" and len(value) < _LONGEST_HEADER and (b"*" in value or b"=?" in value):
            text = value.decode("utf-8", "replace").replace("filename*", "extended*")
            named = {
                key: one.replace('"', " ")
                for key, one in HTTP.header_factory("Content-Disposition", text).params.items()
            }
            if file := named.get("extended") or named.get("filename"):
                plain = f'form-data; name="{named.get("name", "file")}"; filename="{file}"'
                self._current_partial_header_value = plain.encode()
        super().on_header_end()


def safe_name(name: str) -> str:
    """The name without folders, leading dots and characters that a disk or a reader trips over; "" for none."""
    last = re.split(r"[/\\]", normalize("NFC", name))[-1]
    clean = " ".join(_UNSAFE.sub(" ", last).split()).strip(". ")
    if len(clean.encode()) <= LONGEST_NAME:
        return clean
    stem, dot, suffix = clean.rpartition(".")
    end = f"{dot}{suffix}" if stem and len(suffix.encode()) < 20 else ""
    return (stem if end else clean).encode()[: LONGEST_NAME - len(end.encode())].decode("utf-8", "ignore") + end


def free_name(name: str, taken: Collection[str]) -> str:
    """The `safe_name`, else with its folders, else numbered, so that it is none of those taken."""
    plain = safe_name(name)
    wished = (plain, safe_name(re.sub(r"[/\\]+", "-", name)))
    numbered = (f"{n} {plain}" for n in count(2))  # in front: a name may end in two suffixes
    return next(one for one in chain(wished, numbered) if one not in taken) if plain else ""


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
