"""The risk–coverage curve as a picture: what is in it, and that any name may be."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from surefoot_lab.grading import decisions_of
from surefoot_lab.risk_coverage import BOTTOM, RIGHT, TOP, height, risk_coverage
from surefoot_lab.tuning import Aim, Choice, Data, Fit, Point, TuningReport

STRICT = Point(2.0, 0, 0, None, 0.0, 1.0)
CHOSEN = Point(1.25, 40, 1, 0.025, 0.001, 0.045)
ALL = Point(-1.0, 100, 20, 0.2, 0.15, 0.26)
FOUND, NOT_FOUND = Choice(0.05, 1.25, CHOSEN), Choice(0.05, None, CHOSEN, "too few")
MISSING = Choice(0.1, None, None, "none")


def drawn(upper: Choice = FOUND, evaluator: str = "lexical", file: str = "a/b.jsonl") -> TuningReport:
    data = Data(file, "0123", 125, 500, 0, decisions_of([]))
    fit = Fit(upper, MISSING, MISSING, 0.95, 25, 100)
    return TuningReport(evaluator, "2026-01-01", Aim(), fit, None, decisions_of([]), (STRICT, CHOSEN, ALL), (data,), {})


def parts(report: TuningReport) -> dict[str, list[ElementTree.Element]]:
    """The elements by class."""
    found: dict[str, list[ElementTree.Element]] = {}
    for element in ElementTree.fromstring(risk_coverage(report)).iter():
        found.setdefault(element.get("class", ""), []).append(element)
    return found


def said(report: TuningReport) -> str:
    return " | ".join(ElementTree.fromstring(risk_coverage(report)).itertext())


def test_the_picture_says_what_is_seen() -> None:
    """Axes with their units, whose curve on what, the band, the target, and the chosen threshold."""
    text = said(drawn())
    for part in (
        "Coverage: share of questions decided CORRECT",
        "Risk: share of these without evidence",
        "Risk and coverage of lexical",
        "100 test questions of b.jsonl; shaded: 95 % bounds, each for itself",
        "target 5 %",
        "τ+ 1.25: 40 % covered, 2.5 % risk, bound 4.5 %",
        "100 %",
    ):
        assert part in text


def test_the_curve_goes_through_its_points() -> None:
    """A strictest threshold that decides nothing has no place on it."""
    (line,) = parts(drawn())["risk"]
    (x1, y1), (x2, y2) = [tuple(map(float, place.split(","))) for place in line.get("points", "").split()]
    dot = parts(drawn())["chosen"][0]
    assert (x1, y1) == (float(dot.get("cx", 0)), float(dot.get("cy", 0)))
    assert x2 == RIGHT
    assert TOP <= y2 < y1 < BOTTOM


def test_a_threshold_that_was_not_found_is_not_shown_as_one() -> None:
    """The surest is, and says that it is not enough."""
    report = drawn(NOT_FOUND)
    assert "no τ+ keeps the target; surest: 40 % covered" in said(report)
    assert "chosen" not in parts(report)
    assert len(parts(report)["refused"]) == 2


def test_nothing_to_draw_is_drawn_as_nothing() -> None:
    """With a word about it."""
    empty = replace(drawn(MISSING), curve=())
    assert "There is no CORRECT decision to count." in said(empty)
    assert height(empty) == 0.1


@pytest.mark.parametrize(("target", "expected"), [(0.05, 0.23), (0.02, 0.12), (0.2, 0.4), (0.9, 1.0), (0.001, 0.02875)])
def test_what_matters_is_high_enough_to_be_seen(target: float, expected: float) -> None:
    """The target and the chosen point always; the curve as far as six targets."""
    assert height(replace(drawn(), aim=Aim(target))) == pytest.approx(expected)


def test_names_cannot_break_the_picture() -> None:
    """Markup, what steers a terminal, and halves of characters."""
    text = said(drawn(evaluator="<b>&\x1b[31m", file="\udcff.jsonl"))
    assert "of <b>&\ufffd[31m" in text
    assert "\ufffd.jsonl" in text


def test_it_is_fit_for_dark_pages_and_asks_for_nothing() -> None:
    """No font, script or image from elsewhere."""
    text = risk_coverage(drawn())
    assert "prefers-color-scheme: dark" in text
    assert text.count("http") == text.count('xmlns="http://www.w3.org/2000/svg"') == 1
