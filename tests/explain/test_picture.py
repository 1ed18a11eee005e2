"""Words as pictures: what is in them, whose words they are, and that any word may be."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

import pytest

from surefoot.explain import picture
from surefoot.types import Attribution, Passage, Unit


def graded(*words: str, values: Sequence[float] = (0.5, -0.25), question: str = "Who built it?") -> Attribution:
    units = tuple(Unit("text", n, n + 1, word) for n, word in enumerate(words))
    return Attribution(
        of="score of lexical",
        question=question,
        passage=Passage("p", " ".join(words), "A bridge"),
        units=units,
        values=tuple(values),
        errors=(0.05,) * len(values),
        base=0.1,
        full=0.1 + sum(values),
        gap=0.0,
        method="exact",
        baseline="delete",
        evaluations=4,
        seed=0,
        tolerance=0.1,
        reached=True,
    )


ONE = graded("Aldwin", "never")


def parts(svg: str) -> dict[str, list[ElementTree.Element]]:
    """The picture's elements by class."""
    found: dict[str, list[ElementTree.Element]] = {}
    for element in ElementTree.fromstring(svg).iter():
        found.setdefault(element.get("class", ""), []).append(element)
    return found


def said(svg: str) -> str:
    return " | ".join(ElementTree.fromstring(svg).itertext())


def test_a_bar_goes_where_its_word_moves_the_score() -> None:
    """To the right of the middle and twice as long, or to the left; each with its sign and its error."""
    found = parts(picture.of_one(ONE))
    (up,), (down,), (axis,) = found["up"], found["down"], found["axis"]
    assert float(up.get("x", 0)) == pytest.approx(float(axis.get("x1", 0)))
    assert float(down.get("x", 0)) + float(down.get("width", 0)) == pytest.approx(float(axis.get("x1", 0)), abs=0.11)
    assert float(up.get("width", 0)) == pytest.approx(2 * float(down.get("width", 0)), abs=0.2)
    assert len(found["whisker"]) == 2
    text = said(picture.of_one(ONE))
    assert "| Aldwin |" in text
    assert "| +0.5 |" in text
    assert "| −0.25 |" in text


def test_who_does_not_see_it_is_told() -> None:
    """A label, and each word with its value in sentences."""
    root = ElementTree.fromstring(picture.of_one(ONE))
    assert root.get("aria-label") == "What the score of lexical owes to its words"
    (described,) = root.findall("{*}desc")
    assert described.text == "“Who built it?” · score +0.35 of “A bridge”. Aldwin +0.5, never −0.25."


def test_it_is_fit_for_dark_pages_and_asks_for_nothing() -> None:
    """No font, script or image from elsewhere."""
    svg = picture.of_one(ONE)
    assert "prefers-color-scheme: dark" in svg
    assert svg.count("http") == svg.count('xmlns="http://www.w3.org/2000/svg"') == 1


def test_words_cannot_break_the_picture() -> None:
    """Markup, what steers a terminal or turns the line round, and over-long ones; nor can a grade without values."""
    found = graded("<script>\x1b", "abcdefghijklmnopqrstuvwxyz", question="</svg>\u202e" + "x" * 200)
    for svg in (picture.of_one(found),):
        text = said(svg)
        assert "<script>\ufffd" in text
        assert "“</svg>\ufffdxx" in text
        assert "abcdefghijklmnopqrstuvwxyz |" not in text
    still = graded("a", "b", values=(0.0, 0.0))
    assert "| a |" in said(picture.of_one(still))
