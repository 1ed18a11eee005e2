"""The circumstances of a measurement: versions, revision of the source, machine, and hashes of the data."""

import hashlib
import os
import platform
import subprocess
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from surefoot.types.errors import UsageError

LIBRARIES = ("surefoot", "numpy", "onnxruntime", "tokenizers", "xllamacpp", "torch", "transformers")
"""Libraries whose version may change a figure."""

_PATIENCE = 10.0
"""Seconds allowed to git."""


@cache
def environment() -> dict[str, Any]:
    """Versions, the source's revision and the machine, as plain values; nothing in it names a person or a path.

    `revision` ends in "+" where the source has changed since, and is null where it is not under git; `cores` are those
    that this process may use; `memory` is in bytes, or null where it is unknown.
    """
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "libraries": dict(_versions()),
        "revision": _revision(Path(__file__).parent),
        "cpu": _processor(),
        "cores": cores(),
        "memory": _memory(),
    }


def cores() -> int:
    """The cores that this process may use; in a container fewer than the machine's."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def fingerprint(path: str | Path) -> str:
    """SHA-256 of a file; of a folder, of the names and hashes of all files in it. Raises UsageError."""
    place = Path(path)
    if place.is_dir():
        files = sorted(file for file in place.rglob("*") if file.is_file())
        listed = (f"{file.relative_to(place).as_posix()}\0{fingerprint(file)}\n" for file in files)
        return hashlib.sha256("".join(listed).encode(errors="surrogatepass")).hexdigest()
    try:
        with place.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def _versions() -> Iterable[tuple[str, str]]:
    for name in LIBRARIES:
        try:
            yield name, metadata.version(name)
        except metadata.PackageNotFoundError:
            continue


def _revision(folder: Path) -> str | None:
    """The last commit that touched the folder; None for a package that was merely installed within a checkout."""
    commit = _git(folder, "log", "-1", "--format=%H", "--", ".")
    if not commit:
        return None
    return commit + ("+" if _git(folder, "status", "--porcelain", "--", ".") else "")


def _git(folder: Path, *words: str) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, timeout=_PATIENCE)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
