"""All that a server keeps as one file, while it runs: the index, keys, uploads, conversations, feedback and traces.

The file is a tar. The index comes first, as one state of it; files that were uploaded later are read in at the next
start, and those that were deleted later leave the index then. What a trace or a conversation holds is written whole or
appended to, so that a copy at any moment is one that a start after a kill could find.
"""

import hashlib
import io
import json
import os
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from surefoot.index.storage import copied, locked, now, replacement
from surefoot.run import store
from surefoot.text.json_values import parsed
from surefoot.types.errors import UsageError

FORMAT = 1
"""Of the file; another one cannot be restored."""
INDEX, FOLDER, TRACES, SETTINGS, CONTENTS = "index.db", "server", "traces", "surefoot.toml", "contents.json"
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Stores:
    """The places where a server keeps what it keeps."""

    index: Path
    folder: Path
    """Keys, uploads, conversations and feedback."""
    traces: Path
    settings: Path
    """`surefoot.toml`, or the file that was named in its place."""


class _Hashed:
    """A file that is hashed as it is read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._hash = file, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        data = self._file.read(size)
        self._hash.update(data)
        return data

    def digest(self) -> str:
        """SHA-256 of what was read."""
        return self._hash.hexdigest()


def back_up(stores: Stores, target: Path) -> int:
    """Write everything to `target`, whole or not at all; its bytes. Raises UsageError where that is there, or another
    backup is being made; IndexFault; OSError."""
    if target.exists():
        raise UsageError(f"{target} is there already; name another file, such as one with the date")
    part = target.with_name(f".{target.name}.part")
    stores.folder.mkdir(parents=True, exist_ok=True)
    busy = UsageError("another backup is being made; wait until it has finished")
    with store.locked(stores.folder / "backup.lock", busy):
        shutil.rmtree(part, ignore_errors=True)  # of a backup that was killed
        part.mkdir(mode=0o700)
        try:
            _write(stores, part)
            os.replace(part / "tar", target)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return target.stat().st_size


def _write(stores: Stores, part: Path) -> None:
    hashes: dict[str, str] = {}

    def add(name: str, file: IO[bytes]) -> None:
        status, hashed = os.fstat(file.fileno()), _Hashed(file)
        member = tarfile.TarInfo(name)
        member.size, member.mtime, member.mode = status.st_size, status.st_mtime, status.st_mode & 0o777
        tar.addfile(member, hashed)
        hashes[name] = hashed.digest()

    opener = lambda name, flags: os.open(name, flags, 0o600)  # noqa: E731 - it holds conversations
    with open(part / "tar", "xb", opener=opener) as out:
        with tarfile.open(fileobj=out, mode="w") as tar:
            if stores.index.is_file():
                copied(stores.index, part / INDEX)
                with (part / INDEX).open("rb") as file:
                    add(INDEX, file)
            for name, place in _files(stores, part):
                try:
                    file = place.open("rb")
                except FileNotFoundError:  # it was just deleted
                    continue
                with file:
                    add(name, file)
            about = {"format": FORMAT, "created": now(), "files": hashes}
            member = tarfile.TarInfo(CONTENTS)
            member.size = len(data := json.dumps(about).encode())
            tar.addfile(member, io.BytesIO(data))
        out.flush()
        os.fsync(out.fileno())


def _files(stores: Stores, part: Path) -> Iterator[tuple[str, Path]]:
    """The name in the backup of each file, and its place. Names with a dot are of files that are not complete yet."""
    if stores.settings.is_file():
        yield SETTINGS, stores.settings
    own = part.with_name(part.name[1:].removesuffix(".part"))
    # Conversations come before the traces that they name.
    for root, folder in ((FOLDER, stores.folder), (TRACES, stores.traces)):
        for place in sorted(folder.rglob("*")):
            within = place.relative_to(folder)
            half = place.suffix == ".lock" or any(name.startswith(".") for name in within.parts)
            if not half and place.is_file() and place != own and not str(place).startswith(str(stores.index)):
                yield f"{root}/{within.as_posix()}", place


def settings_of(source: Path) -> str | None:
    """The `surefoot.toml` of a backup; None: it has none. Raises UsageError where it is no backup."""
    with _opened(source) as tar:
        file = tar.extractfile(SETTINGS) if SETTINGS in tar.getnames() else None
        return file.read().decode("utf-8", "replace") if file else None


@contextmanager
def serving(folder: Path) -> Iterator[None]:
    """While this lasts, nothing is restored there. Of several servers over one folder, the first holds it."""
    with ExitStack() as held:
        with suppress(UsageError):
            held.enter_context(_alone(folder))
        yield


def _alone(folder: Path) -> AbstractContextManager[None]:
    folder.parent.mkdir(parents=True, exist_ok=True)
    busy = UsageError(f"a server keeps {folder}; stop it, then restore")
    return store.locked(folder.with_name(folder.name + ".lock"), busy)


def restore(stores: Stores, source: Path, overwrite: bool = False) -> int:
    """Put everything of a backup into place, all of it or nothing; the number of files. A `surefoot.toml` that is there
    stays. Raises UsageError where a server runs there, another thing is there and not to be overwritten, or the backup
    is damaged; IndexFault."""
    places = {INDEX: stores.index, FOLDER: stores.folder, TRACES: stores.traces}
    if not overwrite and (taken := [str(place) for place in places.values() if place.exists()]):
        raise UsageError(
            f"{' and '.join(taken)} {'are' if taken[1:] else 'is'} there already; restore elsewhere, or add --overwrite"
        )
    with _opened(source) as tar, ExitStack() as replacing:
        replacing.enter_context(_alone(stores.folder))
        staged: dict[str, Path] = {}
        for root in dict.fromkeys(PurePosixPath(name).parts[0] for name in tar.getnames()):
            if root == INDEX:
                replacing.enter_context(locked(stores.index))
                staged[root] = replacing.enter_context(replacement(stores.index))
            elif root in places:
                staged[root] = replacing.enter_context(_replaced(places[root]))
        hashes: dict[str, str] = {}
        about: Any = {}
        for member in tar:
            root, *within = PurePosixPath(member.name).parts
            file = tar.extractfile(member) if member.isreg() else None
            if file is None or ".." in within or root not in {*places, SETTINGS, CONTENTS}:
                raise UsageError(f"{source} is no backup of a server: it holds {member.name[:80]!r}")
            if root == CONTENTS:
                about = parsed(file.read())
                continue
            hashed = _Hashed(file)
            if root == SETTINGS:
                settings = hashed.read()
            else:
                place = staged[root].joinpath(*within)
                place.parent.mkdir(parents=True, exist_ok=True)
                with open(place, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as out:
                    shutil.copyfileobj(hashed, out, _CHUNK)
                os.utime(place, (member.mtime, member.mtime))  # lists are in this order, and days end by it
            hashes[member.name] = hashed.digest()
        if about.get("format") != FORMAT or about.get("files") != hashes:
            raise UsageError(f"{source} is damaged, or of another version; nothing was restored, use another backup")
        if SETTINGS in hashes and not stores.settings.exists():
            store.write_bytes(stores.settings, settings)
    return len(hashes)


@contextmanager
def _opened(source: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(source, "r:") as tar:
            yield tar
    except (tarfile.TarError, ValueError) as error:
        raise UsageError(f"{source} is no whole backup of a server: {error}") from error


@contextmanager
def _replaced(folder: Path) -> Iterator[Path]:
    """A new folder that takes the place of this one, unless something fails."""
    new, old = (folder.with_name(f".{folder.name}.{age}") for age in ("new", "old"))
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True, mode=0o700)
    try:
        yield new
        if folder.exists():
            shutil.rmtree(old, ignore_errors=True)
            os.rename(folder, old)
        os.rename(new, folder)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(new, ignore_errors=True)
