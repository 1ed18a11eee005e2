"""Passages that somebody brings along, in whatever form they have them."""

from collections.abc import Mapping, Sequence
from typing import Any

from surefoot.run.store import from_json
from surefoot.types import Passage
from surefoot.types.errors import TraceFault, UsageError

Text = str | Passage | Mapping[str, Any]
"""A bare text, a passage, or a mapping with `text` and any other fields of one."""


def passages(texts: Sequence[Text]) -> tuple[Passage, ...]:
    """One passage for each, in order; one without an id gets its number, from 1. Raises UsageError for what is none of
    the three, naming it."""
    if isinstance(texts, str | Mapping):
        raise UsageError("give the texts in a list, also where it is only one")
    return tuple(_passage(text, str(number)) for number, text in enumerate(texts, start=1))


def _passage(text: Text, number: str) -> Passage:
    if isinstance(text, Passage):
        return text
    try:
        return from_json(Passage, {"id": number, **({"text": text} if isinstance(text, str) else text)})
    except TraceFault as error:
        raise UsageError(
            f"text {number} is neither a text nor a passage nor a mapping that makes one: {error}"
        ) from None
    except TypeError as error:  # no mapping
        raise UsageError(f"text {number} must be a text, a passage or a mapping, not {type(text).__name__}") from error
