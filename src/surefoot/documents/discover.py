"""Finds the files at or below a path that the user gave."""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from stat import S_ISLNK, S_ISREG

from surefoot.documents.loaders import (
    LOCK,
    MAX_BYTES,
    PACKED,
    STREAMED,
    head_of,
    kind_unread,
    loader_of,
    needs_head,
    remedy_of,
    suffix_of,
)
from surefoot.types.errors import IndexFault


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to read, as it was when it was found."""

    place: Path
    """Absolute, without symbolic links."""
    path: str
    """As the user knows it: never absolute, with forward slashes."""
    size: int
    changed_ns: int
    """When its content or its metadata last changed, in nanoseconds since 1970."""
    stamp: str
    """Differs as soon as the content may differ: size, both times, and number on the disk.

    A program can set the time of modification back, but not the time of the metadata's change, which Windows lacks.
    """


@dataclass(frozen=True, slots=True)
class Patterns:
    """The files of a folder that are wanted, by globs over their paths as indexed.

    `*` matches "/" too. A pattern without "/" is held against the file's name alone.
    """

    include: Sequence[str] = ()
    """Empty: all."""
    exclude: Sequence[str] = ()
    """Beats `include`."""

    def want(self, path: str) -> bool:
        """True if a file is wanted."""
        return (not self.include or _any(self.include, path)) and not _any(self.exclude, path)


ALL = Patterns()


def _any(patterns: Sequence[str], path: str) -> bool:
    return any(fnmatchcase(path if "/" in pattern else path.rpartition("/")[2], pattern) for pattern in patterns)


@dataclass(slots=True)
class Found:
    """The files at or below one path."""

    root: Path
    """Absolute, without symbolic links."""
    files: list[FoundFile] = field(default_factory=list)
    """In the order of their paths."""
    ignored: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Paths below a folder that are not read, by the reason: their suffix, "binary or empty", "hidden", "links", "no
    regular files", or "left out" by the patterns. A hidden folder is one path."""
    skipped: list[tuple[str, str]] = field(default_factory=list)
    """(path, reason) of each file that should be read but cannot."""
    closed: list[Path] = field(default_factory=list)
    """Folders that could not be opened."""


def find(path: Path, max_bytes: int = MAX_BYTES, patterns: Patterns = ALL) -> Found:
    """The readable files at or below a path. The path may be a symbolic link; links below it are not followed.

    `patterns` choose among the files below a folder. Raises IndexFault where nothing is there, or that cannot be told.
    """
    found = Found(_root(path))
    # An absolute path, or one through "..", would say something about the machine.
    name = Path(found.root.name) if path.is_absolute() or ".." in path.parts else path
    is_folder = found.root.is_dir()
    for place in _below(found, name) if is_folder else [found.root]:
        path = name / place.relative_to(found.root)
        if is_folder and not patterns.want(path.as_posix()):
            found.ignored["left out"].append(_label(path))
        elif not (kind := _unreadable(place)):
            _add(found, place, path, max_bytes)
        elif is_folder and not remedy_of(kind):
            found.ignored[kind].append(_label(path))
        else:
            found.skipped.append((_label(path), kind_unread(place.name)))
    return found


def _unreadable(place: Path) -> str:
    """The kind of a file that no loader reads; empty: one does, or opening it will say why not. Only a file whose
    name does not tell its format is opened."""
    head = b""
    if needs_head(place.name):
        if place.is_symlink() or not place.is_file():
            return ""
        try:
            with place.open("rb") as file:
                head = head_of(file, place.name)
        except OSError:
            return ""
    if loader_of(place.name, head):
        return ""
    packed = PurePath(place.name.lower()).suffix
    return suffix_of(place.name) + (packed if packed in PACKED else "") or "binary or empty"


def _label(path: Path) -> str:
    return os.fsencode(path.as_posix()).decode("utf-8", "replace")


def _root(path: Path) -> Path:
    try:
        # Not `Path.resolve`: what that raises for a loop of links depends on Python's version.
        return Path(os.path.realpath(path, strict=True))
    except (FileNotFoundError, NotADirectoryError):
        way_out = f"check the path; what was indexed from there leaves by: surefoot index --remove {path}"
        raise IndexFault(f"there is no file or folder {path}; {way_out}") from None
    except OSError as error:
        raise IndexFault(f"{path} leads nowhere: {error.strerror}; check the path") from error


def _below(found: Found, name: Path) -> Iterator[Path]:
    def closed(error: OSError) -> None:
        folder = Path(error.filename)
        found.closed.append(folder)
        path = (name / folder.relative_to(found.root)).as_posix()
        found.skipped.append((path, f"cannot be opened: {error.strerror}"))

    for folder, folders, files in os.walk(found.root, onerror=closed):
        hidden = [entry for entry in (*folders, *files) if entry.startswith((".", LOCK))]
        if hidden:
            found.ignored["hidden"] += (_label(name / Path(folder, entry).relative_to(found.root)) for entry in hidden)
        folders[:] = sorted(set(folders).difference(hidden))
        yield from (Path(folder, file) for file in sorted(set(files).difference(hidden)))


def _add(found: Found, place: Path, path: Path, max_bytes: int) -> None:
    label = _label(path)
    try:
        status = place.lstat()
    except OSError as error:
        found.skipped.append((label, f"cannot be read: {error.strerror}"))
        return
    if not S_ISREG(status.st_mode):
        found.ignored["links" if S_ISLNK(status.st_mode) else "no regular files"].append(label)
    elif status.st_size > max_bytes and place.suffix.lower() not in STREAMED:
        found.skipped.append((label, _too_large(status.st_size, max_bytes)))
    else:
        times = status.st_mtime_ns, status.st_ctime_ns
        stamp = " ".join(map(str, (status.st_size, *times, status.st_ino)))
        found.files.append(FoundFile(place, label, status.st_size, max(times), stamp))


def _too_large(size: int, max_bytes: int) -> str:
    kinds = " ".join(sorted(STREAMED))
    return (
        f"has {size / 1e6:.1f} MB, and only files of up to {max_bytes / 1e6:.1f} MB are read whole; "
        f"split it, raise the limit, or give its text as {kinds}"
    )
