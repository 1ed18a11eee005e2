"""Parts that the evaluator's and the verifier's lessons share: sections of a file of sources, and long sentences, by
which one document is known in another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from surefoot.evaluate.ask.questions import hashed
from surefoot.text import toml_values
from surefoot.text.words import sentences, words
from surefoot.types.errors import ConfigError

T = TypeVar("T")
Row = dict[str, Any]
Spans = tuple[tuple[int, int], ...]

_LONG = 60
"""A sentence of more characters is no common phrase; it gives its document away."""


def sections(path: Path, kind: str, made: Callable[[str, Row], T]) -> list[T]:
    """The source that `made` makes of each section of a TOML file, by its name and its keys.

    Raises ConfigError, which calls the file a `kind`, for a file that cannot be read and for what `made` raises:
    ValueError, or TypeError for an unknown key.
    """
    try:
        return [made(name, keys) for name, keys in toml_values.parsed(path.read_text(encoding="utf-8")).items()]
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(f"the {kind} {path} cannot be read: {error}") from error


def long_sentences(text: str) -> Iterator[bytes]:
    """A hash of each long sentence, the same in any spelling."""
    return (hashed(normal(text[start:end]), 8) for start, end in sentences(text) if end - start > _LONG)


def percentile(text: str) -> int:
    """A number from 0 to 99 by a hash of the text: what divides documents into parts is the same everywhere."""
    return int.from_bytes(hashed(text, 8), "big") % 100


def normal(text: str) -> str:
    """The words of the text, folded, with a space between two."""
    return " ".join(words(text))
