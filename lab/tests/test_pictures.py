"""Figures for papers: each says in words what it shows, and holds any name."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from surefoot.types import Action, Attribution, Passage, Unit
from surefoot.types.errors import MissingExtra, UsageError
from surefoot_lab import pictures
from surefoot_lab.grading import decisions_of
from surefoot_lab.qa import QAReport
from surefoot_lab.risk_control import Aim, Choice, Fit, Point
from surefoot_lab.tuning import TunedFile, TuningReport
from surefoot_lab.words import ActionSample

pytest.importorskip("matplotlib", reason="needs the extra pictures")
HOSTILE = "</svg><script>$\\frac$\x1b\u202e"


def outcomes(*counts: tuple[str, str | None, int, int]) -> tuple[dict[str, Any], ...]:
    """So many right and wrong ones of each type and action."""
    return tuple(
        {"type": kind, "action": action, "match_lower": right}
        for kind, action, good, bad in counts
        for right in [True] * good + [False] * bad
    )


def errors(name: str) -> QAReport:
    return QAReport("crag", "", outcomes((name, "correct", 12, 3), (name, None, 0, 5), ("else", "correct", 1, 0)))


def tuned(name: str) -> TuningReport:
    points = (
        Point(2.0, 0, 0, None, 0.0, 1.0),
        Point(1.25, 40, 1, 0.025, 0.001, 0.045),
        Point(-1, 100, 20, 0.2, 0.15, 0.26),
    )
    data, missing = TunedFile(name, "0123", 125, 500, 0, decisions_of([])), Choice(0.1, None, None, "none")
    fit = Fit(Choice(0.05, 1.25, points[1]), missing, missing, 0.95, 25, 100)
    return TuningReport("lexical", Aim(), fit, None, decisions_of([]), points, (data,), {})


def degraded(name: str) -> list[QAReport]:
    steps = {"": 9, "lost 0.5": 7, "lost 1": 5}
    return [QAReport(name, change, outcomes(("x", "correct", right, 9 - right))) for change, right in steps.items()]


def explained(name: str) -> pictures.Explained:
    units = tuple(Unit("text", n, n + 1, word) for n, word in enumerate((name, "never")))
    passage, spent = Passage("p", name, "A bridge"), {"gap": 0.0, "method": "exact", "baseline": "delete"}
    found = Attribution(
        of="score", question=f"Who? {name}", passage=passage, units=units, values=(0.5, -0.25), errors=(0.05, 0.0),
        base=0.1, full=0.35, evaluations=4, seed=0, tolerance=0.1, reached=True, **spent,
    )  # fmt: skip
    return [(ActionSample("q", found.question, passage, action), found) for action in Action]


DRAWN: dict[str, tuple[Callable[[str, Path], None], tuple[str, ...]]] = {
    "errors": (
        lambda name, to: pictures.types_and_actions(errors(name), name, to),
        ("author", "80 % of 15", "60 % of 20", "none"),
    ),
    "tuned": (
        lambda name, to: pictures.risk_coverage(tuned(name), to),
        ("author", "target 5 %", "τ+ 1.25: 40 % covered"),
    ),
    "robust": (
        lambda name, to: pictures.robustness(degraded(name), "d", to),
        ("author", "Passages with an answer taken"),
    ),
    "words": (lambda name, to: pictures.words(explained(name), to), ("author", "never", "CORRECT +0.35: Who? author")),
    "heatmap": (lambda name, to: pictures.heatmap(explained(name), to), ("author", "+0.5", "−0.25", "INCORRECT: Who?")),
}


@pytest.mark.parametrize(("draw", "texts"), DRAWN.values(), ids=DRAWN)
def test_a_picture_says_in_words_what_it_shows(
    draw: Callable[[str, Path], None], texts: tuple[str, ...], tmp_path: Path
) -> None:
    draw("author", tmp_path / "p.svg")
    text = " ".join(ElementTree.fromstring((tmp_path / "p.svg").read_text(encoding="utf-8")).itertext())
    assert [one for one in texts if one not in text] == []


@pytest.mark.parametrize("draw", [draw for draw, _ in DRAWN.values()], ids=DRAWN)
def test_no_name_breaks_a_picture(draw: Callable[[str, Path], None], tmp_path: Path) -> None:
    """Markup, mathematics, and signs that steer a terminal; as PNG too."""
    draw(HOSTILE, tmp_path / "p.svg")
    assert not [
        e for e in ElementTree.fromstring((tmp_path / "p.svg").read_text("utf-8")).iter() if e.tag.endswith("script")
    ]
    draw(HOSTILE, tmp_path / "p.png")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_that_cannot_be_is_refused_before_anything_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    check = pictures.drawing("x").callback
    with pytest.raises(UsageError, match=r"as \.svg, \.png or \.pdf"):
        check(Path("x.gif"))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"surefoot-lab\[pictures\]"):
        check(Path("x.svg"))
