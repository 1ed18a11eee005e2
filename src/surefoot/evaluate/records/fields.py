"""The names of a record's fields in other people's files."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from surefoot.errors import UsageError

NAMES: dict[str, tuple[str, ...]] = {
    "id": ("id", "record_id", "question_id", "query_id", "qid", "sample_id", "example_id", "uid"),
    "question": ("question", "user_input", "query", "input", "user_query", "user_question", "prompt", "instruction"),
    "contexts": (
        *("retrieved_contexts", "retrieved_context", "retrieval_context", "retrieval_contexts", "retrieved_documents"),
        *("retrieved_docs", "retrieved_passages", "retrieval_result", "source_documents", "contexts", "context"),
        *("passages", "documents", "docs", "ctxs", "chunks", "sources", "search_results"),
    ),
    "answer": (
        *("response", "candidate_answer", "generated_answer", "model_answer", "predicted_answer", "system_answer"),
        *("rag_answer", "llm_answer", "actual_output", "prediction", "pred", "generation", "completion", "output"),
        "answer",
    ),
    "truths": (
        *("truths", "truth", "ground_truths", "ground_truth", "references", "reference", "reference_answers"),
        *("reference_answer", "golden_answers", "golden_answer", "gold_answers", "gold_answer", "golds", "gold"),
        *("gt_answers", "gt_answer", "gt", "expected_output", "expected_answer", "expected", "correct_answers"),
        *("correct_answer", "ideal", "target", "targets", "possible_answers", "answers"),
    ),
    "note": ("note", "grading_note", "grading_notes"),
    "group": ("group", "group_id", "conversation_id", "session_id", "thread_id"),
}
"""By field of the record, the best name first. In any case, with any sign or none between the words."""

TAGS = ("domain", "system", "dataset", "split", "language", "category", "difficulty", "type", "topic")
"""Columns that results are told apart by."""


def field_of(column: str) -> str:
    """The field of a record that a column of this name is; empty: none that is known."""
    return next((field for field, names in NAMES.items() if plain(column) in names), "")


def assigned(columns: Collection[str], given: Mapping[str, str]) -> dict[str, str]:
    """The column for each field of a record that there is one for; `given` says so for fields by hand.

    One column a field, for the whole file: a second one of the same meaning is not read. Where nothing else can be
    the reference and there are two answers, "answer" is the reference, as in files of predictions beside gold answers.
    Raises UsageError for a field or a column that there is not.
    """
    for field, column in given.items():
        if field not in NAMES:
            raise UsageError(f"a record has no field '{field}'; there are: {', '.join(NAMES)}")
        if column not in columns:
            raise UsageError(f"there is no column '{column}'; there are: {', '.join(columns)}")
    known = {plain(column): column for column in reversed(list(columns)) if column not in given.values()}
    chosen = {field: next((known[name] for name in names if name in known), "") for field, names in NAMES.items()}
    second = known.get("answer", "")
    if not chosen["truths"] and second and chosen["answer"] != second:
        chosen["truths"] = second
    return {field: column for field, column in (chosen | dict(given)).items() if column}


def plain(column: str) -> str:
    """ "Ground Truth", "groundTruth" and "ground-truth" are "ground_truth"."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column.strip())
    return re.sub(r"[^a-z0-9]+", "_", apart.lower()).strip("_")
