"""The report of what was tried."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from surefoot.evaluate.improve.ledger import Cost, Outcome, Proposal, Trial, document, expected, interval, points
from surefoot.types import Gain


def gain(difference: float, p: float = 0.01) -> Gain:
    return Gain("match_lower", 0.3, 0.3 + difference, difference, difference - 0.1, difference + 0.1, p, 50)


def trial(name: str = "item 1", **fields: Any) -> Trial:
    given: dict[str, Any] = {
        "kind": "item",
        "title": "Find what a longer list holds",
        "patch": {"pipeline": {"k": 10}},
        "predicted": 0.25,
        "development": gain(0.3),
        "realised": gain(0.2),
        "p": 0.012,
        "seconds": 0.4,
        "changed": 12,
        "kept": True,
        "because": "better",
    }
    return Trial(name, **{**given, **fields})


def outcome(*trials: Trial) -> Outcome:
    kept = next((one.patch for one in trials if one.kept), {})
    offered = Proposal("item 2", "Other", {"pipeline": {"kk": 1}}, None, None, "no key 'kk'", None)
    halves = {"development": 48, "held-out": 52}
    return Outcome("match_lower", halves, (offered,), trials, kept, 0.1, 0.05, 8)


REJECTED = {"realised": None, "p": None, "kept": False, "because": "harmful"}


def test_the_page_says_what_is_kept_and_what_it_brings() -> None:
    """First; then a row an arm, with intervals, and why."""
    page = document(outcome(trial(), trial("planted", development=gain(-0.3), **REJECTED)), {"seed": 0})
    assert "**Kept**: `pipeline.k=10`. +20.0 points [+10.0 to +30.0], from 0.300 to 0.500" in page
    assert "| +25.0 | +30.0 [+20.0 to +40.0] | +20.0 [+10.0 to +30.0] | 0.012 | 0.40 | kept |" in page
    assert "| – | – | 0.40 |  |" in page
    assert "- **planted**: harmful" in page
    assert "48 questions to diagnose and choose on, 52 held out" in page
    assert "- seed: `0`" in page
    assert "at least 8 questions right" in page
    assert "- **item 2**: `pipeline.kk=1`: no key 'kk'" in page


def test_a_kept_combination_is_told_by_its_own_gain() -> None:
    """Its parts are kept with it, and may have gained nothing by themselves."""
    part = trial("item 1", realised=gain(0.0, p=1.0), p=1.0)
    both = {**part.patch, "refiner": {"mode": "sentences"}}
    whole = trial("item 1 + item 2", kind="combination", patch=both, realised=gain(0.1), p=0.031)
    page = document(replace(outcome(part, whole), kept=both), {})
    assert "+10.0 points [+0.0 to +20.0], from 0.300 to 0.400" in page
    assert "(p = 0.031)" in page


def test_a_title_cannot_break_the_page() -> None:
    """It may be a model's, which has read what strangers wrote. Without any trial the page is whole."""
    assert "**Nothing is kept**" in document(outcome(), {})
    page = document(outcome(trial(title="x | y <script> `a` [b](http://evil.example)\n# Head")), {})
    for mark in ("<script>", "x | y", "](http://evil", "\n# Head", "`a`"):
        assert mark not in page


@pytest.mark.parametrize(
    ("cost", "said"),
    [
        (Cost(50, 12.3, 0, 0), "about 12 s for 50 questions"),
        (
            Cost(50, 600.0, 100, 20_000),
            "about 10 min for 50 questions, 100 calls and 20,000 tokens of a language model",
        ),
        (None, "unknown"),
    ],
)
def test_the_cost_is_told_in_words(cost: Cost | None, said: str) -> None:
    """Time, questions, and what a model would be asked; gains in points, of which none is no zero."""
    assert expected(cost) == said
    assert (points(0.125), points(None), interval(None)) == ("+12.5", "–", "–")
