"""The report's pages hold words as words, and its pictures are pictures."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from surefoot.stats.figures import Figure
from surefoot_lab.study.document import Bullets, Heading, Paragraph, Picture, Preformatted, Table, markdown, page
from surefoot_lab.study.pictures import ForestRow, curves, forest

HOSTILE = "</pre></style><script>alert(1)</script> | **x** [a](javascript:b) ![i](http://e) `c` \x1b[31m\n\n# H &amp;"
BLOCKS = [
    Heading(1, HOSTILE),
    Paragraph(HOSTILE),
    Bullets((HOSTILE,)),
    Table(1, (HOSTILE, "n"), ((HOSTILE, "1"),)),
    Picture("a.svg", forest(HOSTILE, HOSTILE, [HOSTILE], [ForestRow(HOSTILE, (Figure(1.0, 0.5, 1.5, 9),))]), HOSTILE),
    Preformatted(f"``` \n{HOSTILE}"),
]


class Tags(HTMLParser):
    """Collects what tags there are, with the attributes that could act."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.acting: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.acting += [(name, value) for name, value in attrs if name in ("href", "src") or name.startswith("on")]


def test_hostile_text_stays_text_on_the_page() -> None:
    """No tag, attribute or address of its own comes through, and nothing may be loaded or run."""
    found = page(BLOCKS)
    tags = Tags()
    tags.feed(found)
    assert not {"script", "a", "img"} & tags.tags
    assert tags.acting == []
    assert "default-src 'none'" in found
    assert "\x1b" not in found
    assert "&lt;script&gt;alert(1)" in found


def test_hostile_text_stays_text_in_markdown() -> None:
    """Rows keep their cells, marks are escaped, and no fence is closed from within."""
    text, _, fenced = markdown(BLOCKS).rpartition("\n\n````")
    assert "<script" not in text
    assert not re.search(r"(?<!\\)\[a(?<!\\)\]\(", text)
    (row,) = [line for line in text.splitlines() if line.endswith("| 1 |")]
    assert len(re.findall(r"(?<!\\)\|", row)) == 3
    assert fenced.count("\n````") == 1


def test_a_page_needs_no_other_file() -> None:
    """The pictures are inside, for light and dark."""
    found = page([Heading(1, "A"), Picture("a.svg", forest("T", "s", ["x"], []), "T")])
    assert "<svg" in found
    assert "a.svg" not in found
    assert "prefers-color-scheme: dark" in found
    assert markdown([Picture("a.svg", "", "T")]) == "![T](a.svg)\n"


def test_figures_are_drawn_where_they_are() -> None:
    """A mark a series, left of another one that is higher, with its interval in words for who does not see it."""
    rows = [
        ForestRow("name", (Figure(-1.0, -1.5, -0.5, 9), Figure(1.0, None, None, 9))),
        ForestRow("gone", (None, Figure(None, None, None, 0))),
    ]
    root = ElementTree.fromstring(forest("T", "s", ["one", "two"], rows))
    described = root.findtext("{*}desc") or ""
    assert "name: one −1.00 (−1.5 to −0.5), two +1.00." in described
    assert "gone: two none." in described
    marks = [e for e in root.iter() if e.get("class") in ("s0", "s1")]
    disc, square = marks[-2:]
    assert float(disc.get("cx", "nan")) < float((square.get("points") or "nan").split(",")[0])
    assert len([e for e in root.iter() if (e.get("class") or "").startswith("whisker")]) == 1


@pytest.mark.parametrize("value", [0.0, 1e-3, 250.0])
def test_curves_fit_whatever_the_scale(value: float) -> None:
    """All points lie within the picture."""
    lines = [
        ("a", [Figure(value, value / 2, value * 2, 5), Figure(None, None, None, 0), Figure(-value, None, None, 5)])
    ]
    root = ElementTree.fromstring(curves("T", "s", [0.01, 0.1, 0.5], [("p", lines), ("q", lines)]))
    (_, first), (_, _) = [(e, e.get("points", "")) for e in root.findall(".//{*}polyline")]
    high = float(root.get("height", "nan"))
    assert len(first.split()) == 2
    assert all(0 < float(point.split(",")[1]) < high for point in first.split())
