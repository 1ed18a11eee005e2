"""Types and actions as a picture: what is in it, and that any name may be."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from surefoot.stats.figures import Share, counted
from surefoot_lab.error_analysis import ActionRow, Cell, ErrorReport, TypeRow
from surefoot_lab.heatmap import CELLS, LEFT, RIGHT, by_type_and_action

ALL = counted(12, 20)


def drawn(name: str = "author", right: Share = ALL, data: str = "a/popqa.jsonl") -> ErrorReport:
    actions = (ActionRow("correct", counted(15, 20), counted(12, 15)), ActionRow("no decision", counted(5, 20), right))
    cells = (Cell(name, "correct", counted(12, 15)), Cell(name, "no decision", counted(0, 0)))
    types = (TypeRow(name, counted(20, 20), counted(12, 20), "correct", counted(15, 20)),)
    return ErrorReport("runs/x", data, "crag", "match_lower", right, 0, 0, 0, 20, actions, types, cells)


def parts(report: ErrorReport) -> dict[str, list[ElementTree.Element]]:
    """The picture's elements by class."""
    found: dict[str, list[ElementTree.Element]] = {}
    for element in ElementTree.fromstring(by_type_and_action(report)).iter():
        found.setdefault(element.get("class", ""), []).append(element)
    return found


def said(report: ErrorReport) -> str:
    return " | ".join(ElementTree.fromstring(by_type_and_action(report)).itertext())


def test_the_picture_says_what_is_seen() -> None:
    """Each action by its name, each cell with its share and its n: colour is needed for nothing."""
    text = said(drawn())
    for part in (
        "Accuracy of crag by type of question and action",
        "20 questions of popqa.jsonl, right by the rule match_lower; whiskers: 95 % intervals (Wilson)",
        "| author |",
        "20 · 75 % CORRECT",
        "80 % of 15",
        "| none |",
        "20 · 60 % right",
        "| no decision |",
    ):
        assert part in text


def test_who_does_not_see_it_is_told() -> None:
    """A label, and the figures in sentences."""
    root = ElementTree.fromstring(by_type_and_action(drawn()))
    assert root.get("aria-label") == "Accuracy of crag by type of question and action"
    (described,) = root.findall("{*}desc")
    assert "author: 60 % of 20 right, mostly CORRECT. CORRECT: 80 % of 15 right." in (described.text or "")


def test_a_bar_is_as_long_as_its_share() -> None:
    """From the left edge; the whisker lies around its end."""
    picture = parts(drawn())
    (bar,) = picture["correct"]
    assert float(bar.get("width", 0)) == pytest.approx(0.6 * (RIGHT - LEFT))
    whisker = picture["whisker"][0]
    assert float(whisker.get("x1", 0)) < LEFT + 0.6 * (RIGHT - LEFT) < float(whisker.get("x2", 0)) < CELLS


def test_a_cell_is_the_darker_the_better_and_never_too_dark_to_read() -> None:
    """One without questions is the lightest."""
    shades = [float(cell.get("fill-opacity", 0)) for cell in parts(drawn(right=counted(20, 20)))["cell"]]
    assert shades == pytest.approx([0.408, 0.04, 0.408, 0.5])


def test_nothing_to_draw_is_drawn_as_nothing() -> None:
    """No bar, no line for the whole."""
    assert "all" not in parts(drawn(right=counted(0, 0)))


def test_names_cannot_break_the_picture() -> None:
    """Markup, what steers a terminal, and over-long ones."""
    text = said(drawn("<b>&\x1b[31m", data="\udcff.jsonl"))
    assert "| <b>&\ufffd[31m |" in text
    assert "\ufffd.jsonl" in text
    assert "| abcdefghijklmnopqr… |" in said(drawn("abcdefghijklmnopqrstuvwxyz"))


def test_it_is_fit_for_dark_pages_and_asks_for_nothing() -> None:
    """No font, script or image from elsewhere."""
    text = by_type_and_action(drawn())
    assert "prefers-color-scheme: dark" in text
    assert text.count("http") == text.count('xmlns="http://www.w3.org/2000/svg"') == 1
