"""The two controls."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.config.settings import read
from surefoot.evaluate.diagnose.settings import SystemSettings, settable
from surefoot.evaluate.improve.controls import inert, placebo, random_lever
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
    """Each of its settings has the value that is in effect; as many as are asked for; the same for a seed."""
    config = read(SIMPLE, {"pipeline": {"k": 3}, "refiner": {"mode": "selection"}})
    patch = placebo(config, settings, seed)
    assert size(patch) == settings
    assert inert(config, patch)
    assert patch == placebo(config, settings, seed)
    assert refused(patch, config) == ""


def test_a_placebo_changes_the_file_and_builds_the_same() -> None:
    """It writes defaults out; what the pipeline is made of is the same, and the pipeline can be built."""
    patch = placebo(CONFIG, 4, 0)
    config = tried(CONFIG, patch)
    assert config != CONFIG
    every = settable(CONFIG)
    assert [SystemSettings(config).now(key) for key in every] == [SystemSettings(CONFIG).now(key) for key in every]


def test_what_changes_something_is_not_inert() -> None:
    """So that the proof can fail."""
    assert not inert(CONFIG, {"pipeline": {"k": 3}})
    assert not inert(CONFIG, {"retriever": {"use": "bm25"}})


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


def test_seeds_draw_other_levers() -> None:
    """One of them might always be the same by mistake."""
    config = read(SIMPLE, {"thresholds": {"strip": 0.5}})
    assert len({str(random_lever(config, 2, seed, {})) for seed in range(6)}) > 3


def test_where_so_many_settings_cannot_be_drawn_it_is_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """And none at all is an error."""
    monkeypatch.setattr("surefoot.evaluate.improve.controls._shifted", lambda own: {})
    monkeypatch.setattr(
        "surefoot.evaluate.improve.controls.CHOICES", {("pipeline", "k"): (3,), ("index", "path"): ("x",)}
    )
    assert random_lever(CONFIG, 2, 0, {}) == {"pipeline": {"k": 3}}
    with pytest.raises(UsageError, match="no random patch"):
        random_lever(CONFIG, 2, 0, {"pipeline": {"k": 3}})
