"""Surefoot in a program of DSPy: a retriever whose passages carry grades, for `dspy.configure(rm=…)` or as a tool.

Imports nothing of DSPy, which wants only a callable whose results have a `long_text`.
"""

from dataclasses import dataclass
from typing import Any

from surefoot.integrations._passages import as_json, retrieved
from surefoot.pipeline import Pipeline


@dataclass(frozen=True, slots=True)
class RetrievedText:
    """A passage as `dspy.Retrieve` reads it."""

    long_text: str
    id: str
    title: str
    source: str | None
    """Its address; None: it has none."""
    surefoot: dict[str, Any]
    """Its grade: label, probability, score and reason."""


@dataclass(frozen=True, slots=True)
class SurefootRM:
    """The `k` best passages of a pipeline's retriever, each with its grade, best first.

    Those that do not help are there too, so that a program can decide; `useful=True` leaves them out, and those that
    could not be graded. Raises what retriever and evaluator raise: never an empty list in place of an error.
    """

    pipeline: Pipeline
    k: int = 3
    useful: bool = False

    def __call__(self, query: str, k: int | None = None) -> list[RetrievedText]:
        """The passages for a query; `k` None: as many as the constructor says. Raises UsageError for a `k` below 1."""
        found = retrieved(self.pipeline, query, self.k if k is None else k, self.useful)
        return [RetrievedText(one.text, one.id, one.title, one.url, as_json(grade)) for one, grade in found]
