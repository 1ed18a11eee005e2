"""The two controls."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from surefoot.config.settings import read
from surefoot.evaluate.diagnose.settings import SystemSettings
from surefoot.evaluate.improve.controls import Levers, inert, placebo, random_lever
from surefoot.evaluate.patch import refused, size, tried
from surefoot.retrievers._given import USE
from surefoot.types.errors import UsageError

SIMPLE: dict[str, Any] = {
    "embedder": {"use": "hashing"},
    "evaluator": {"use": "lexical"},
    "retriever": {"use": USE},
    "llm": {"use": "scripted", "replies": {}},
    "generator": {"use": "llm"},
}
CONFIG = read(SIMPLE)


@pytest.mark.slow
@given(st.integers(1, 8), st.integers(0, 3))
def test_the_placebo_does_nothing(settings: int, seed: int) -> None:
    """Each of its settings has the value that is in effect, not of any patch; so many, and the same for a seed."""
    assert not inert(CONFIG, {"pipeline": {"k": 3}})
    config = read(SIMPLE, {"pipeline": {"k": 3}, "refiner": {"mode": "selection"}})
    patch = placebo(config, settings, seed)
    assert size(patch) == settings
    assert inert(config, patch)
    assert tried(config, patch) != config, "its defaults are written out, and the pipeline can be built"
    assert patch == placebo(config, settings, seed)
    assert refused(patch, config) == ""


@pytest.mark.parametrize("seed", range(4))
def test_a_random_lever_can_be_built_and_changes_as_many_settings(seed: int) -> None:
    """None that the chosen patch sets, and none to the value that is in effect; the same for a seed."""
    config = read(SIMPLE, {"thresholds": {"strip": 0.5}})
    chosen = {"pipeline": {"k": 5}, "refiner": {"size": 2}}
    patch = random_lever(config, 2, seed, chosen)
    assert size(patch) == 2
    assert tried(config, patch)
    for section, values in patch.items():
        for key, value in values.items():
            assert value != SystemSettings(config).now(f"{section}.{key}")
            assert key not in chosen.get(section, {})
    assert patch == random_lever(config, 2, seed, chosen)


def test_levers_differ_by_seed_and_are_fewer_where_so_many_cannot_be_drawn() -> None:
    """None at all is an error."""
    config = read(SIMPLE, {"thresholds": {"strip": 0.5}})
    assert len({str(random_lever(config, 2, seed, {})) for seed in range(6)}) > 3
    levers: Levers = {("pipeline", "k"): (3,), ("index", "path"): ("x",)}
    assert random_lever(CONFIG, 2, 0, {}, levers=levers) == {"pipeline": {"k": 3}}
    with pytest.raises(UsageError, match="no random patch"):
        random_lever(CONFIG, 2, 0, {"pipeline": {"k": 3}}, levers=levers)
