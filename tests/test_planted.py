"""Faults that were planted in a run: benchmarks/planted.py in small, and that what it plants is there."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from random import Random
from types import ModuleType

import pytest

FILE = Path(__file__).parents[1] / "lab" / "benchmarks" / "planted.py"
SPEC = importlib.util.spec_from_file_location("planted", FILE)
assert SPEC
assert SPEC.loader
planted: ModuleType = importlib.util.module_from_spec(SPEC)
sys.modules["planted"] = planted  # where its dataclasses look their annotations up
SPEC.loader.exec_module(planted)


@pytest.mark.parametrize("name", planted.FAULTS)
def test_a_planted_fault_is_diagnosed_to_its_stage(name: str) -> None:
    """By the first item, in every way that can show it."""
    fault = planted.FAULTS[name]
    found = planted.named(fault, 1, 14)
    assert {way: found[way] for way in fault.ways if found[way] not in fault.stages} == {}


def test_a_country_has_pages_that_hold_what_is_asked() -> None:
    """Inside or outside, as each fact says, and namesakes among them."""
    land = planted.country(Random(3), 12)
    for fact in land.facts:
        shelf = land.outside if fact.outside else land.inside
        assert any(title in fact.question and fact.answer in text for title, text in shelf.items())
    first = [title.split()[0] for title in (*land.inside, *land.outside)]
    assert len(set(first)) < len(first)
