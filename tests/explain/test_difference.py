"""Where two traces part."""

from __future__ import annotations

from dataclasses import replace

import pytest

from surefoot.explain.difference import Difference, differences
from surefoot.types import Action, Answer, Citation, Decision, Grade, Passage, Step, Strip, Trace

PASSAGES = (Passage("a", "Tomas Aldwin built it.", "Ruvel Bridge"), Passage("b", "It is of iron.", "Iron"))
STRIP = Strip("a", 0, 22, "Tomas Aldwin built it.", 1.0, kept=True)
TRACE = Trace(
    "t",
    "Who built it?",
    PASSAGES,
    (Grade("a", 2.0, label=Action.CORRECT), Grade("b", None, reason="the text is empty")),
    Decision(Action.CORRECT, "threshold", 1.0, 0.0, "best score 2 ≥ τ+ 1"),
    queries=("bridge",),
    strips=(STRIP,),
    answer=Answer("Tomas Aldwin [1]", (Citation(1, STRIP, "Tomas Aldwin", quoted=True, supported=True),)),
    steps=(Step("retrieve", 0.1),),
    config={"pipeline": {"k": 3}},
    created="2026-11-23T00:00:00",
)


def parts(other: Trace) -> list[Difference]:
    return [*differences(TRACE, other)]


def test_a_trace_does_not_differ_from_itself() -> None:
    """Nor from the same question asked at another time, faster."""
    assert parts(replace(TRACE, id="u", created="2027-01-01T00:00:00", steps=(Step("retrieve", 9.0),))) == []


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (replace(TRACE, config={"pipeline": {"k": 5}}), Difference("setting pipeline.k", "3", "5")),
        (replace(TRACE, read_as="Who built the bridge?"), Difference("read as", "", "Who built the bridge?")),
        (replace(TRACE, queries=()), Difference("query 1", "bridge", "")),
        (
            replace(TRACE, grades=(Grade("a", 0.5, label=Action.AMBIGUOUS), TRACE.grades[1])),
            Difference("grade of a", "2 correct", "0.5 ambiguous"),
        ),
        (replace(TRACE, decision=None), Difference("decision", "correct: best score 2 ≥ τ+ 1", "")),
        (
            replace(TRACE, earlier=(Decision(Action.INCORRECT, "count", 1.0, 0.0, "0 of 2; rewrite 1"),)),
            Difference("decision 1", "", "incorrect: 0 of 2; rewrite 1"),
        ),
        (replace(TRACE, strips=()), Difference("strip a 0–22", "kept: Tomas Aldwin built it.", "")),
        (
            replace(TRACE, answer=replace(TRACE.answer, hedged=True) if TRACE.answer else None),
            Difference("answer", "Tomas Aldwin [1]", "hedged: Tomas Aldwin [1]"),
        ),
        (replace(TRACE, steps=(Step("retrieve", 1, degraded="cut"),)), Difference("step retrieve", "", "cut")),
        (replace(TRACE, error="it broke"), Difference("error", "", "it broke")),
        (replace(TRACE, filter={"year": 2024}), Difference("filter", "", '{"year": 2024}')),
    ],
)
def test_each_thing_that_differs_is_told_once(other: Trace, told: Difference) -> None:
    """With what either trace says of it."""
    assert parts(other) == [told]


def test_passages_that_only_one_has_and_other_ranks_are_told() -> None:
    """By title; the same passage elsewhere in the order is another rank."""
    swapped = replace(TRACE, passages=PASSAGES[::-1], grades=TRACE.grades[::-1])
    assert parts(swapped) == [
        Difference("passage a", "1. Ruvel Bridge", "2. Ruvel Bridge"),
        Difference("passage b", "2. Iron", "1. Iron"),
    ]
    lacking = replace(TRACE, passages=PASSAGES[:1], grades=TRACE.grades[:1])
    assert [one.of for one in parts(lacking)] == ["passage b", "grade of b"]


def test_marks_of_a_citation_are_told() -> None:
    """What was quoted, and whether it is supported."""
    assert TRACE.answer
    cited = replace(TRACE.answer, citations=(replace(TRACE.answer.citations[0], supported=False),))
    (told,) = parts(replace(TRACE, answer=cited))
    assert told == Difference("citation 1", "quoted, supported: Tomas Aldwin", "quoted, not supported: Tomas Aldwin")
