"""Traces, grades and scores as columns, in each library of frames that is installed."""

import json
from pathlib import Path
from typing import Any

import pytest

from surefoot import frames
from surefoot.run.store import Run, to_json
from surefoot.types import (
    Action,
    Answer,
    Citation,
    Decision,
    Grade,
    Passage,
    Record,
    Score,
    Step,
    Strip,
    Trace,
)

BUILT = Passage("b", "Tomas Aldwin built it.", "Bridge", score=2.5)
CLOSED = Passage("c", "It is closed.", source="external", url="https://example.org/c")
STRIP = Strip("b", 0, 22, BUILT.text, 0.9, True)
ANSWERED = Trace(
    "t1",
    "Who built it?",
    (BUILT,),
    (Grade("b", 0.9, 0.8, Action.CORRECT), Grade("c", None)),
    Decision(Action.CORRECT, "threshold", 0.5, -0.5, "best is high", 0.9, 0.4),
    external=(CLOSED,),
    strips=(STRIP,),
    answer=Answer("It was Tomas Aldwin. [1]", (Citation(1, STRIP, "Tomas Aldwin", True),), confidence=0.7),
    steps=(Step("retrieve", 0.5, calls=1, graded=2, tokens=30), Step("grade", 0.25, graded=3)),
)
FAILED = Trace("t2", "Why?", (CLOSED,), error="no index")


def rows(table: frames.Table) -> list[dict[str, Any]]:
    return [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]


def test_a_trace_is_a_row_with_its_decision_its_answer_and_its_cost() -> None:
    """In plain values."""
    first, _ = rows(frames.traces([ANSWERED, FAILED]))
    assert (first["id"], first["action"], first["best"], first["confidence"]) == ("t1", "correct", 0.9, 0.7)
    assert (first["seconds"], first["graded"], first["calls"], first["tokens"]) == (0.75, 5, 1, 30)
    assert (first["passages"], first["external"], first["kept_strips"], first["citations"]) == (1, 1, 1, 1)
    assert type(first["action"]) is str


def test_a_failed_question_has_no_decision_and_no_answer_but_its_error() -> None:
    """None, never 0 or an empty text."""
    (row,) = rows(frames.traces([FAILED]))
    assert row["error"] == "no index"
    names = "action because best margin answer refused certainty confidence citations created".split()
    assert {row[name] for name in names} == {None}


def test_each_passage_is_a_row_with_its_own_grade() -> None:
    """Those from outside behind those of the corpus, as grades stand in the trace."""
    built, closed, ungraded = rows(frames.grades(iter([ANSWERED, FAILED])))
    assert (built["passage_id"], built["score"], built["probability"], built["label"]) == ("b", 0.9, 0.8, "correct")
    assert (built["retrieval_score"], built["kept"], built["cited"]) == (2.5, True, True)
    assert (closed["source"], closed["score"], closed["kept"], closed["cited"]) == ("external", None, False, False)
    assert (ungraded["trace_id"], ungraded["label"], ungraded["cited"]) == ("t2", None, None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "records.jsonl").write_text(json.dumps(to_json(Record("r", "Who built it?"))) + "\n")
    run = Run(tmp_path, {"what": "evaluation"}, file="scores.jsonl")
    run.add("r\ta", Score("r", "adherence", 0.8, 4, "all of it stands there"))
    run.add("r\tb", Score("r", "recall", None, unscored_because="no reply"))
    return tmp_path


def test_each_score_of_a_folder_is_a_row_and_an_unscored_one_says_why(folder: Path) -> None:
    """A record and metric each."""
    scored, unscored = rows(frames.scores(folder))
    assert (scored["question"], scored["metric"], scored["value"], scored["rating"]) == (
        "Who built it?",
        "adherence",
        0.8,
        4,
    )
    assert (unscored["value"], unscored["unscored_because"], unscored["reason"]) == (None, "no reply", None)


@pytest.mark.parametrize("table", [frames.traces([ANSWERED, FAILED]), frames.grades([ANSWERED, FAILED])])
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of_every_library_take_the_columns_and_null_stays_null(library: str, table: frames.Table) -> None:
    """Also a column that holds nothing else."""
    module = pytest.importorskip(library)
    frame: Any = module.table(table) if library == "pyarrow" else module.DataFrame(table)
    for name, values in table.items():
        nulls = {
            "pandas": lambda column: [bool(one) for one in column.isna()],
            "polars": lambda column: column.is_null().to_list(),
            "pyarrow": lambda column: column.is_null(nan_is_null=False).to_pylist(),
        }[library](frame[name])
        assert nulls == [value is None for value in values], name


def test_no_traces_are_columns_without_rows() -> None:
    """The same columns."""
    assert {*map(len, frames.traces([]).values())} == {0}
    assert [*frames.grades([])] == [*frames.grades([ANSWERED])]
