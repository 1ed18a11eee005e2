"""The paper's table of gains, as its page has it: what is said of it follows from it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parent.parent / "lab" / "benchmarks" / "ragxplain.md").read_text("utf-8")
OVERLAP = ("F1", "BLEU", "ROUGE-1")


def table() -> dict[str, list[tuple[float, float]]]:
    """By metric, baseline and improved on each of the five sets."""
    rows = (line.split(" | ") for line in PAGE.splitlines() if "→" in line)
    return {row[0].strip("| "): [tuple(map(float, cell.split(" → "))) for cell in row[1:6]] for row in rows}  # type: ignore[misc]


def test_the_table_is_whole() -> None:
    """Nine metrics on five sets, each a mean in (0, 1]."""
    known = table()
    assert len(known) == 9
    assert {len(row) for row in known.values()} == {5}
    assert all(0 < value <= 1 for row in known.values() for pair in row for value in pair)
    assert known["context recall"][2] == (0.60, 0.92)
    assert known["F1"][0] == (0.45, 0.33)


@pytest.mark.parametrize("metric", table())
def test_the_mean_change_is_that_of_its_row(metric: str) -> None:
    """To three places."""
    said = re.search(rf"^\| {metric} .*\| ([+-]\.\d+) \|$", PAGE, re.MULTILINE)
    assert said
    changes = [after - before for before, after in table()[metric]]
    assert float(said[1]) == pytest.approx(sum(changes) / 5, abs=0.0006)


def test_judged_figures_rise_and_word_overlap_falls_where_references_are_short() -> None:
    """The counts that the page gives."""
    known = table()
    judged = [round(after - before, 2) for name, row in known.items() if name not in OVERLAP for before, after in row]
    rise, stay, fall = (sum(map(told, judged)) for told in (lambda d: d > 0, lambda d: d == 0, lambda d: d < 0))
    assert f"Of {len(judged)} judged figures {rise} rise, {stay} stays and {fall} falls." in PAGE
    short = [known[name][place] for name in OVERLAP for place in (0, 1)]
    assert all(after < before for before, after in short)
    assert f"all {len(short)} figures of word overlap fall" in PAGE
    assert all(after > before for before, after in known["factuality"])
