"""Records without words."""

from __future__ import annotations

import re
from dataclasses import replace

from surefoot.evaluate.records.redaction import share_safe
from surefoot.run.store import to_json
from surefoot.types import (
    Action,
    Answer,
    Citation,
    Conflict,
    Decision,
    Grade,
    Passage,
    Quote,
    Record,
    Score,
    Step,
    Strip,
    Trace,
)

TEXT = "Ask Anna at anna.tresk@example.org or +49 170 1234567. She was born in 1911."


def trace() -> Trace:
    passage = Passage("p1", TEXT, "Contact anna.tresk@example.org", url="https://a.b/c?token=abcdef")
    strips = (
        Strip("p1", 0, 37, TEXT[:37], 0.5, kept=True),
        Strip("p1", 37, len(TEXT), TEXT[37:], 0.5, kept=False, reason="says anna.tresk@example.org"),
    )
    half = TEXT[TEXT.index("+49") : TEXT.index("4567")]  # a quotation that ends within the number
    answer = Answer("Ask anna.tresk@example.org [1].", (Citation(1, strips[0], half, quoted=True),), model="m")
    return Trace(
        "t1",
        "Whom?",
        (passage,),
        grades=(Grade("p1", 0.9, label=Action.CORRECT, span=(12, 34)),),
        decision=Decision(Action.CORRECT, "threshold", 0.5, 0.1, "0.9 is above"),
        strips=strips,
        conflicts=(Conflict("p1", half, "gone", "call 0170 1234567"),),
        answer=answer,
        steps=(Step("generate", 0.5, tokens=7),),
        config={"llm": {"use": "local"}},
    )


RECORD = Record(
    "q1",
    "Is anna.tresk@example.org right?",
    (Passage("p1", TEXT),),
    "Yes, ANNA.TRESK@example.org",
    ("Otto", "otto@example.org"),
    group="g",
    tags={"domain": "huts", "user": "Anna"},
    trace=trace(),
)
SCORE = Score("q1", "factuality", 0.8, 4, "It says anna.tresk@example.org", (Quote("Ask Anna", "p1", verified=True),))


def test_share_safe_keeps_every_figure_and_no_text() -> None:
    """Hashes with lengths, and nothing else; tags that are named stay."""
    (record,), (score,) = share_safe([RECORD], [SCORE])
    told = str(to_json(record)) + str(to_json(score))
    assert not re.search("anna|otto|tresk|above|Whom", told, re.IGNORECASE)
    assert (score.value, score.rating, score.metric) == (0.8, 4, "factuality")
    assert re.fullmatch(r"text:[0-9a-f]{16}:32", record.question)
    assert record.tags["domain"] == "huts"
    assert record.trace
    assert (record.trace.grades[0].score, record.trace.grades[0].label) == (0.9, Action.CORRECT)
    assert record.trace.steps == trace().steps
    assert record.trace.config == {}
    assert (record.note, record.trace.error) == ("", None)


def test_share_safe_keeps_what_belongs_together() -> None:
    """Scores find their records, quotes their contexts, the same text the same hash. Each export has a secret of its
    own; with one that is given it can be made again."""
    assert share_safe([RECORD], [])[0] != share_safe([RECORD], [])[0]
    assert share_safe([RECORD], [], secret=b"k")[0] == share_safe([RECORD], [], secret=b"k")[0]
    other = replace(RECORD, id="q2")
    records, (score,) = share_safe([RECORD, other], [SCORE])
    assert score.record_id == records[0].id != records[1].id
    assert records[0].question == records[1].question
    assert score.quotes[0].where == (records[0].contexts or ())[0].id
    answer = replace(SCORE, quotes=(Quote("x", "answer", verified=True),))
    assert share_safe([], [answer])[1][0].quotes[0].where == "answer"
