"""Traces, grades and scores as columns: `pandas.DataFrame`, `polars.DataFrame` and `pyarrow.table` each take them as
they are.

A table is a dictionary of columns, each a list with one value a row: text, number, truth value, or None for what is
unknown, which stays null in all three. They are foreign texts: a spreadsheet would run one that begins with "=".
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar

from surefoot.evaluate.records.folder import Evaluated, opened
from surefoot.types import Grade, Passage, Score, Trace

Table = dict[str, list[Any]]

T = TypeVar("T")


def traces(found: Iterable[Trace]) -> Table:
    """A row a trace: question, decision, answer, and what it cost."""
    return _table(
        found,
        {
            "id": lambda one: one.id,
            "created": lambda one: one.created or None,
            "question": lambda one: one.question,
            "action": lambda one: one.decision and one.decision.action.value,
            "because": lambda one: one.decision and one.decision.because,
            "best": lambda one: one.decision and one.decision.best,
            "margin": lambda one: one.decision and one.decision.margin,
            "answer": lambda one: one.answer and one.answer.text,
            "refused": lambda one: one.answer and one.answer.refused,
            "certainty": lambda one: one.answer and one.answer.certainty,
            "confidence": lambda one: one.answer and one.answer.confidence,
            "citations": lambda one: one.answer and len(one.answer.citations),
            "passages": lambda one: len(one.passages),
            "external": lambda one: len(one.external),
            "kept_strips": lambda one: len(one.kept_strips),
            "seconds": lambda one: sum(step.seconds for step in one.steps),
            "graded": lambda one: sum(step.graded for step in one.steps),
            "calls": lambda one: sum(step.calls for step in one.steps),
            "tokens": lambda one: sum(step.tokens for step in one.steps),
            "error": lambda one: one.error,
        },
    )


def grades(found: Iterable[Trace]) -> Table:
    """A row a passage of each trace, with its grade, all None where it was not graded; `kept`: a strip of it was kept;
    `cited`: the answer cites it."""
    rows: list[tuple[Trace, Passage, Grade | None]] = [
        (trace, passage, grade)
        for trace in found
        for passage, grade in zip_longest((*trace.passages, *trace.external), trace.grades)
    ]
    return _table(
        rows,
        {
            "trace_id": lambda row: row[0].id,
            "question": lambda row: row[0].question,
            "passage_id": lambda row: row[1].id,
            "title": lambda row: row[1].title,
            "text": lambda row: row[1].text,
            "source": lambda row: row[1].source,
            "url": lambda row: row[1].url,
            "retrieval_score": lambda row: row[1].score,
            "score": lambda row: row[2] and row[2].score,
            "probability": lambda row: row[2] and row[2].probability,
            "label": lambda row: row[2] and row[2].label and row[2].label.value,
            "reason": lambda row: row[2] and (row[2].reason or None),
            "kept": lambda row: any(strip.passage_id == row[1].id for strip in row[0].kept_strips),
            "cited": lambda row: row[0].answer and _cites(row[0], row[1]),
        },
    )


def scores(run: Evaluated | str | Path) -> Table:
    """A row a record and metric of an evaluation, or of the one in a folder. Raises UsageError where there is none,
    TraceFault where it is damaged."""
    evaluated = run if isinstance(run, Evaluated) else opened(run)
    questions = {record.id: record.question for record in evaluated.records}
    columns: dict[str, Callable[[Score], Any]] = {
        "record_id": lambda one: one.record_id,
        "question": lambda one: questions.get(one.record_id),
        "metric": lambda one: one.metric,
        "value": lambda one: one.value,
        "rating": lambda one: one.rating,
        "reason": lambda one: one.reason or None,
        "unscored_because": lambda one: one.unscored_because or None,
        "applies": lambda one: one.applies,
        "judge": lambda one: one.judge or None,
        "calls": lambda one: one.calls,
        "tokens": lambda one: one.tokens,
    }
    return _table(evaluated.scores, columns)


def _cites(trace: Trace, passage: Passage) -> bool:
    cited = trace.answer.citations if trace.answer else ()
    return any(one.strip.passage_id == passage.id for one in cited if one.strip)


def _table(rows: Iterable[T], columns: Mapping[str, Callable[[T], Any]]) -> Table:
    every = [*rows]
    return {name: [value(row) for row in every] for name, value in columns.items()}
