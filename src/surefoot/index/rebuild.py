"""An index made anew from the files that it names: after an upgrade that reads it no more, or for another embedder."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from surefoot.documents.discover import find
from surefoot.index.build import IndexReport, OnProgress, build_found
from surefoot.index.storage import NamedFile, faults, locked, making, named_files, replacement
from surefoot.types.errors import IndexFault
from surefoot.types.protocols import Embedder


def rebuild(path: Path, embedder: Embedder, on_progress: OnProgress = lambda progress: None) -> dict[str, IndexReport]:
    """Read all files of every collection of this index again, with the fields that were given to them; the report of
    each collection, by name. The new index takes the old one's place once it is complete, and a failure leaves that.

    Raises IndexFault, also where a file is gone, or a document was never a file: neither must leave unsaid.
    """
    home = path.parent.resolve()
    with faults(path), locked(path):
        named = named_files(path)
        _check(path, home, named)
        reports = {}
        with replacement(path) as new:
            for collection, files in named.items():
                found = []
                for file in files:
                    each = find(home / str(file.location))
                    each.files[:] = [replace(one, path=file.path) for one in each.files]
                    found.append(each)
                fields = {file.path: json.loads(file.meta) for file in files}
                meta = _fields(fields)
                reports[collection] = build_found(found, new, home, embedder, collection, meta, on_progress)
    return reports


def _fields(fields: Mapping[str, Any]) -> Any:
    return lambda path: fields.get(path, {})


def _check(path: Path, home: Path, named: Mapping[str, list[NamedFile]]) -> None:
    every = [file for files in named.values() for file in files]
    if not every:
        raise IndexFault(f"{path} names no files; {making(path)}")
    if added := [file.path for file in every if file.location is None]:
        what = f"{path} holds what was never a file, such as {added[0]!r}, and would lose it"
        raise IndexFault(f"{what}; make another index (--index FILE) and add it there again")
    if gone := [file.path for file in every if not (home / str(file.location)).exists()]:
        what = f"{len(gone):,} of {len(every):,} files of {path} are gone, such as {gone[0]}"
        raise IndexFault(f"{what}; put them back, or name what is to be in it: surefoot index --rebuild PATH…")
