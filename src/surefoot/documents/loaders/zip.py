"""ZIP archives: the files in them."""

from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import PurePosixPath
from typing import BinaryIO
from zipfile import ZipFile, ZipInfo

from surefoot.documents.loaders import MAX_BYTES, Document, DocumentProblem, Unreadable, head_of, loader_of, read
from surefoot.documents.loaders._archives import DAMAGE

_MOST = 2_000
"""Files in an archive, at most."""
_HIDDEN = (".", "~$", "__MACOSX")


class ZipLoader:
    """Reads the files in a ZIP archive, with their names as places; no archive within an archive."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The documents of each file of a kind that is read; hidden ones are left out, others named in one problem."""
        try:
            archive = ZipFile(stream)
        except DAMAGE as error:
            raise Unreadable(f"is a damaged archive ({type(error).__name__}); pack it again") from error
        with archive:
            parts = [part for part in archive.infolist() if not part.is_dir() and not _is_hidden(part)]
            if len(parts) > _MOST or sum(part.file_size for part in parts) > MAX_BYTES:
                raise Unreadable(f"holds more than {_MOST:,} files or {MAX_BYTES / 1e6:.0f} MB; unpack it")
            others: list[str] = []
            for part in parts:
                try:
                    yield from _documents(archive.read(part), part.filename, others)
                except Unreadable as error:
                    yield DocumentProblem(f"{part.filename[:200]} {error.why}")
                except DAMAGE as error:
                    yield DocumentProblem(f"{part.filename[:200]} is damaged or locked ({type(error).__name__})")
        if others:
            yield DocumentProblem(f"{len(others)} of its files are of no kind that is read, such as {others[0][:200]}")


def _is_hidden(part: ZipInfo) -> bool:
    return any(name.startswith(_HIDDEN) for name in PurePosixPath(part.filename).parts)


def _documents(content: bytes, path: str, others: list[str]) -> Iterator[Document | DocumentProblem]:
    name = PurePosixPath(path).name
    if loader_of(name, head_of(BytesIO(content), name)) in (None, "zip"):
        others.append(path)
        return
    for item in read(BytesIO(content), name):
        if isinstance(item, DocumentProblem):
            yield replace(item, reason=f"{path[:200]}: {item.reason}")
        else:
            placed = tuple(replace(block, place=path) for block in item.blocks)
            yield replace(item, key=f"{path}\n{item.id or item.key}", id=None, blocks=placed)
