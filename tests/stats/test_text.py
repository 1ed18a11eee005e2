"""Figures are written in one way."""

from __future__ import annotations

from surefoot.stats.text import interval, number, percent


def test_a_share_is_written_in_per_cent() -> None:
    """To three digits, or to the places that are asked for."""
    assert [percent(share) for share in (None, 0.05, 0.125, 1 / 3)] == ["–", "5 %", "12.5 %", "33.3 %"]
    assert [percent(share, 0) for share in (0.0, 0.126, 1.0)] == ["0 %", "13 %", "100 %"]
    assert percent(1, 1) == "100.0 %"


def test_a_number_has_a_minus_that_is_one() -> None:
    """And a dash stands for none."""
    assert [number(value, "+.2f") for value in (-0.5, 0.25, None)] == ["−0.50", "+0.25", "–"]


def test_an_interval_has_both_ends() -> None:
    """Or is not known."""
    assert interval(-1.5, 2.0, ".3g") == "−1.5 to 2"
    assert (interval(None, 1.0, ".1f"), interval(None, None, ".1f", "")) == ("–", "")
