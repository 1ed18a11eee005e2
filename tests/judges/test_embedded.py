"""What the judges that need no language model have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from surefoot.config.options import build
from surefoot.embedders.hashing import Hashing
from surefoot.evaluators.lexical import Lexical
from surefoot.types import Passage, Record

METRICS = "context_relevancy context_recall context_adherence factuality answer_relevancy grading_note".split()
RECORD = Record(
    "r1",
    "Who built the Ruvel Bridge?",
    (Passage("b", "The Ruvel Bridge was built in 1911 by Tomas Aldwin. It is of iron.", "Ruvel Bridge"),),
    "Tomas Aldwin built the Ruvel Bridge in 1911 [1].",
    ("Tomas Aldwin", "Aldwin"),
    "The response should give the name of the builder.",
)
SEES = {
    "context_relevancy": {"contexts"},
    "context_recall": {"contexts", "truths"},
    "context_adherence": {"contexts", "answer"},
    "factuality": {"answer", "truths"},
    "answer_relevancy": {"answer"},
    "grading_note": {"answer", "note"},
}
NONE: dict[str, Any] = {"contexts": None, "answer": None, "truths": (), "note": ""}
HOSTILE = ["", "?", "a" * 4000, "ünïcödé 桥", "\x00\x01", "\ud800", "[1]", "**", "...\n\n- \n1."]


def judge(metric: str) -> Any:
    parts = {"evaluator": lambda: Lexical(), "embedder": lambda: Hashing()}
    return build("judge", metric, {}, parts)


@pytest.mark.parametrize("metric", METRICS)
def test_a_good_record_gets_a_value_and_a_reason(metric: str) -> None:
    """In [0, 1], without a rating, the same each time, and above the middle."""
    score = judge(metric).judge(RECORD)
    assert score == judge(metric).judge(RECORD)
    assert score.value is not None
    assert 0.5 < score.value <= 1
    assert (score.record_id, score.metric, score.judge, score.rating) == ("r1", metric, metric, None)
    assert score.reason
    assert score.applies


@pytest.mark.parametrize("missing", NONE)
@pytest.mark.parametrize("metric", METRICS)
def test_a_metric_applies_where_its_inputs_are(metric: str, missing: str) -> None:
    """What is missing makes it not applicable, with the reason and never a number; what it does not see changes
    nothing."""
    whole, lacking = judge(metric).judge(RECORD), judge(metric).judge(replace(RECORD, **{missing: NONE[missing]}))
    if missing in SEES[metric]:
        assert (lacking.applies, lacking.value) == (False, None)
        assert lacking.unscored_because.startswith("the record has no ")
    else:
        assert lacking == whole


@pytest.mark.parametrize("metric", METRICS)
def test_quotes_stand_where_they_are_said_to(metric: str) -> None:
    """Each, word for word."""
    texts = {"answer": RECORD.answer or "", "truth": "\n".join(RECORD.truths), "b": "Ruvel Bridge\n"}
    texts["b"] += (RECORD.contexts or ())[0].text
    for quote in judge(metric).judge(RECORD).quotes:
        assert quote.text in texts[quote.where]
        assert quote.verified


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_is_judged(metric: str, text: str) -> None:
    """Or unscored with why, or not applicable; never an exception."""
    score = judge(metric).judge(Record("r", text, (Passage("p", text, text),), text, (text,), text))
    assert (score.value is None) == (not score.applies or bool(score.unscored_because))
    assert score.value is None or 0 <= score.value <= 1
    assert score.reason or score.unscored_because
