"""Words as pictures: what is in them, whose words they are, and that any word may be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from xml.etree import ElementTree

import pytest

from surefoot.types import Action, Attribution, Passage, Unit
from surefoot_lab import word_pictures
from surefoot_lab.samples import ActionSample


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


SEVERAL = [
    (ActionSample(f"q{n}", found.question, found.passage, action), found)  # type: ignore[arg-type]
    for n, (action, found) in enumerate(
        (action, graded(f"{action.value[:3]}{i}", "hut", question=f"Who {i}?")) for action in Action for i in range(3)
    )
]
DRAWN = {
    "several": lambda: word_pictures.of_several(SEVERAL),
    "heatmap": lambda: word_pictures.heatmap(SEVERAL),
}


def parts(svg: str) -> dict[str, list[ElementTree.Element]]:
    """The picture's elements by class."""
    found: dict[str, list[ElementTree.Element]] = {}
    for element in ElementTree.fromstring(svg).iter():
        found.setdefault(element.get("class", ""), []).append(element)
    return found


def said(svg: str) -> str:
    return " | ".join(ElementTree.fromstring(svg).itertext())


def test_three_samples_of_each_action_make_nine_panels() -> None:
    """A row an action, in the order of trust; each panel with its own question and words."""
    text = said(DRAWN["several"]())
    assert [text.count(f"| “Who {i}?” |") for i in range(3)] == [3, 3, 3]
    assert all(f"| {action.value[:3]}{i} |" in text for action in Action for i in range(3))
    assert text.index("| CORRECT |") < text.index("| AMBIGUOUS |") < text.index("| INCORRECT |")
    assert len(parts(DRAWN["several"]())["up"]) == 9


def test_a_row_of_the_heatmap_has_words_of_its_own() -> None:
    """In the order of the text, a stronger colour for a larger value, and never too dark to read."""
    found = graded("never", "Aldwin", values=(-0.25, 0.5))
    drawn = word_pictures.heatmap([(SEVERAL[0][0], found), SEVERAL[1]])
    text = said(drawn)
    assert text.index("| never |") < text.index("| Aldwin |") < text.index("| cor1 |")
    shades = [float(cell.get("fill-opacity", 0)) for cell in parts(drawn)["up"] + parts(drawn)["down"]]
    assert shades == pytest.approx([0.5, 0.5, 0.27, 0.27])


def test_fewer_samples_are_drawn_as_fewer() -> None:
    """An action that no question took has no row."""
    text = said(word_pictures.of_several(SEVERAL[:4]))
    assert "AMBIGUOUS" in text
    assert "INCORRECT" not in text


@pytest.mark.parametrize("drawn", DRAWN.values())
def test_it_is_fit_for_dark_pages_and_asks_for_nothing(drawn: Callable[[], str]) -> None:
    """No font, script or image from elsewhere."""
    svg = drawn()
    assert "prefers-color-scheme: dark" in svg
    assert svg.count("http") == svg.count('xmlns="http://www.w3.org/2000/svg"') == 1


def test_words_cannot_break_the_picture() -> None:
    """Markup, what steers a terminal or turns the line round, and over-long ones; nor can a grade without values."""
    found = graded("<script>\x1b", "abcdefghijklmnopqrstuvwxyz", question="</svg>\u202e" + "x" * 200)
    for svg in (word_pictures.of_several([(SEVERAL[0][0], found)]), word_pictures.heatmap([(SEVERAL[0][0], found)])):
        text = said(svg)
        assert "<script>\ufffd" in text
        assert "“</svg>\ufffdxx" in text
        assert "abcdefghijklmnopqrstuvwxyz |" not in text
    still = graded("a", "b", values=(0.0, 0.0))
    assert "| a |" in said(word_pictures.heatmap([(SEVERAL[0][0], still)]))
