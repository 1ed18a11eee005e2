"""Numbers and quotations of a narrative against what the model was shown."""

from __future__ import annotations

import pytest

from surefoot.evaluate.report.grounding import unsupported

SHOWN = {"avg_score": 0.312, "records": 40, "lost": 12, "question": "Who “built” the Ruvel Bridge in 1911?", "k": 2500}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("It averages 0.31, or 31 %, or 31.2%, of 40 records; 12 are lost.", ()),
        ("It is below 0.5, in two of 3 stages (95 % interval).", ()),
        ("1. First.\n12. Then.", ()),
        ("The T-34 and 2,500 passages.", ()),
        ("“who BUILT   … Ruvel Bridge” was asked in 1911.", ()),
        ("It averages 0.35, and 0.313.", ("0.35", "0.313")),
        ("45 % are lost; 13 of them twice.", ("45 %", "13")),
        ("“Who built the Torvath Bridge?” was asked.", ("“Who built the Torvath Bridge?”",)),
    ],
)
def test_what_was_not_shown_is_named(text: str, wrong: tuple[str, ...]) -> None:
    """To the digits written; small numbers and the bands are a way of speaking."""
    assert unsupported(text, SHOWN) == wrong
