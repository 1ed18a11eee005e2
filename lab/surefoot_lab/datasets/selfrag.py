"""Self-RAG's eval_data: a JSON object a line, with the passages that Contriever found (`ctxs`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from surefoot.evaluate.problems import Problems, Row, lines
from surefoot.text.json_values import logged
from surefoot.types.errors import UsageError

HOME = "eval_data of Self-RAG, linked at https://github.com/AkariAsai/self-rag#inference"

TRUTH = {"supports": "true", "refutes": "false", "true": "true", "false": "false"}
"""PubHealth's labels, folded, with their truth."""


def recognised(path: Path) -> str | None:
    """The name of the set in this file, by the columns of its first line; None: none is known by them."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            row = logged(next((line for line in file if line.strip()), "null"))
    except (OSError, ValueError):
        return None
    if not isinstance(row, dict) or "passages" in row:
        return None
    return next((name for name, (needs, _) in SETS.items() if set(needs) <= row.keys()), None)


def rows(path: Path, name: str, problems: Problems) -> list[Row]:
    """The file's questions in the shared format. Raises UsageError for a line that is no JSON object."""
    needs, shape = SETS[name]
    found = []
    for place, row in _objects(path, problems):
        for column in needs:
            if column not in row:
                problems.add(f"questions without the column '{column}'", place)
        if row.get("id") is None:
            problems.add("questions without an id; the line's number stands for it", place)
        plain = {"id": str(row.get("id") or place), "passages": _passages(row.get("ctxs"), place, problems)}
        found.append(plain | shape(row))
    return found


def _objects(path: Path, problems: Problems) -> Iterator[tuple[str, Row]]:
    for number, line in enumerate(lines(path, problems), start=1):
        try:
            row = logged(line) if line.strip() else None
        except json.JSONDecodeError as error:
            raise UsageError(f"{path}, line {number} is not JSON: {error.msg}; is the download complete?") from error
        if row is not None and not isinstance(row, dict):
            raise UsageError(f"{path}, line {number} is no JSON object")
        if row is not None:
            yield f"line {number}", row


def _passages(ctxs: Any, place: str, problems: Problems) -> list[Row]:
    """In the order in which they were found; a passage without text says nothing, and is counted."""
    found = []
    for number, ctx in enumerate(ctxs if isinstance(ctxs, list) else [], start=1):
        text = ctx.get("text") if isinstance(ctx, dict) else None
        if not isinstance(text, str) or not text.strip():
            problems.add("retrieved passages without text; left out", f"{place}, passage {number}")
            continue
        id = ctx.get("id") or ctx.get("docid") or f"{place}-{number}"
        found.append({"id": str(id), "title": str(ctx.get("title") or ""), "text": text, "label": None})
    return found


def _open(row: Row) -> Row:
    answers = row.get("answers")
    if not isinstance(answers, list):
        answers = _listed(row.get("possible_answers"))
    return {"question": row.get("question"), "answers": answers, "prop": row.get("prop")}


def _listed(text: Any) -> list[Any]:
    """PopQA's own file holds its answers as a list written out in JSON."""
    try:
        answers = logged(text) if isinstance(text, str) else text
    except ValueError:
        return []
    return answers if isinstance(answers, list) else []


def _choice(row: Row) -> Row:
    choices, key = row.get("choices"), str(row.get("answerKey") or "")
    labels, texts = (choices.get("label"), choices.get("text")) if isinstance(choices, dict) else ([], [])
    if not (isinstance(labels, list) and isinstance(texts, list)):
        labels = texts = []
    lettered = {letter(str(label)): str(text) for label, text in zip(labels, texts, strict=False)}
    answers = [lettered[letter(key)]] if letter(key) in lettered else []
    return {"question": row.get("question"), "answers": answers, "choices": lettered, "answer_key": letter(key)}


def letter(label: str) -> str:
    """The letter of a choice that may be numbered: some of ARC's are."""
    return "ABCDE"[int(label) - 1] if label in {"1", "2", "3", "4", "5"} else label.upper()


def _claim(row: Row) -> Row:
    reply = row.get("answers") if isinstance(row.get("answers"), list) else [row.get("label")]
    truths = [TRUTH[str(one).strip().lower()] for one in reply or [] if str(one).strip().lower() in TRUTH]
    return {"question": row.get("claim") or row.get("question"), "answers": truths, "prop": "claim"}


def _biography(row: Row) -> Row:
    """`output` is a language model's text, not a gold answer."""
    question = str(row.get("question") or row.get("input") or "").removeprefix("Question:").strip()
    return {"question": question, "answers": [], "prop": "biography"}


SETS: dict[str, tuple[tuple[str, ...], Callable[[Row], Row]]] = {
    "ARC-Challenge": (("question", "choices", "answerKey"), _choice),
    "Biography": (("topic", "input"), _biography),
    "PubHealth": (("claim", "ctxs"), _claim),
    "PopQA": (("question", "possible_answers"), _open),
    "a set of questions": (("question", "ctxs"), _open),
}
"""Sets by name: the columns that mark one, and the reader of its rows. The first that fits counts."""
