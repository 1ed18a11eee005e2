"""Levers: what they propose, and the two controls."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.bench.given import USE
from surefoot.config import Config, read
from surefoot.errors import UsageError
from surefoot.evaluate.levers import ITEMS, drawn, effective, inert, placebo, proposed
from surefoot.evaluate.patched import refused, size, tried
from surefoot.types import Action, Answer, Decision, Grade, Passage, Record, Score, Strip, Trace

SIMPLE: dict[str, Any] = {
    "embedder": {"use": "hashing"},
    "evaluator": {"use": "lexical"},
    "retriever": {"use": USE},
    "llm": {"use": "scripted", "replies": {}},
    "generator": {"use": "llm"},
}
CONFIG = read(SIMPLE)
LONG = "Larrow lies high. " * 60


def answered(id: str, right: float, score: float = 0.9, text: str = "Aldwin built it.") -> tuple[Record, Score]:
    label = Action.CORRECT if score >= 0.75 else Action.INCORRECT
    trace = Trace(
        id,
        "Who?",
        (Passage("p", text),),
        (Grade("p", score, label=label),),
        Decision(label, "threshold", 0.75, 0.4, "so"),
        strips=(Strip("p", 0, len(text.strip()), text.strip(), score, kept=True),),
        answer=Answer("", refused=not right),
    )
    return Record(id, "Who?", answer="x", trace=trace), Score(id, "match_lower", right)


def diagnosed(config: Config, *found: tuple[Record, Score]) -> Any:
    return proposed([record for record, _ in found], [score for _, score in found], [], config)


def test_a_lever_answers_the_fault_that_traces_show() -> None:
    """Two of four questions have no passage that is likely to answer, and would gain what the others have."""
    config = read(SIMPLE, {"pipeline": {"k": 1}, "thresholds": {"upper": 0.75}})
    found = [answered("1", 1.0), answered("2", 1.0), answered("3", 0.0, 0.1), answered("4", 0.0, 0.1)]
    first = diagnosed(config, *found).items[0]
    assert (first.patch, first.stage, first.cases) == ({"pipeline": {"k": 5}}, "retrieval", ("3", "4"))
    assert first.predicted == 0.5
    assert "2 of 4 questions have no passage" in first.problem_detection
    assert "pipeline.k=5" in first.recommended_protocol


def test_what_nobody_can_tell_is_not_predicted() -> None:
    """Where all questions show the fault, and where those that do fare better than the others."""
    config = read(SIMPLE, {"pipeline": {"k": 1}})
    assert diagnosed(config, answered("1", 0.0, 0.1)).items[0].predicted is None
    assert diagnosed(config, answered("1", 1.0, 0.1), answered("2", 0.0)).items[0].predicted is None


@pytest.mark.parametrize(
    ("setting", "patch"),
    [
        ({"pipeline": {"k": 3}}, {"pipeline": {"k": 5}}),
        ({"retriever": {"use": "bm25"}}, {"retriever": {"use": "hybrid"}}),
        ({"refiner": {"mode": "selection"}}, {"refiner": {"mode": "sentences"}}),
        ({"refiner": {"use": "surefoot.bench.ablate:Whole"}}, {"refiner": {"use": "strips"}}),
        ({"thresholds": {"upper": 0.1, "lower": 0.1}}, {"thresholds": {"upper": 0.75, "lower": 0.4}}),
        ({"evaluator": {"use": "lexical"}}, {"evaluator": {"use": "minilm"}}),
        ({"generator": {"use": "extractive"}}, {"generator": {"least": 0.1}}),
    ],
)
def test_each_weakness_has_its_lever(setting: dict[str, Any], patch: dict[str, Any]) -> None:
    """And a patch that sets what is weak, and nothing else."""
    assert patch in [item.patch for item in diagnosed(read(SIMPLE, setting), answered("1", 1.0, text=LONG)).items]


def test_what_is_set_so_already_is_not_proposed() -> None:
    """Of a configuration without a weakness that it knows, nothing; at most four items in any case."""
    config = read(
        SIMPLE, {"thresholds": {"upper": 0.75}, "searcher": {"use": "folder", "path": "x"}, "pipeline": {"k": 20}}
    )
    assert diagnosed(config, answered("1", 1.0)).items == ()
    weak = read(SIMPLE, {"pipeline": {"k": 1}, "retriever": {"use": "bm25"}, "refiner": {"mode": "selection"}})
    assert len(diagnosed(weak, answered("1", 1.0)).items) == ITEMS


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
    places = [(section, key) for section in CONFIG for key in ("k", "rounds", "size", "mode", "use", "max_tokens")]
    assert [effective(config, *place) for place in places] == [effective(CONFIG, *place) for place in places]


def test_what_changes_something_is_not_inert() -> None:
    """So that the proof can fail."""
    assert not inert(CONFIG, {"pipeline": {"k": 3}})
    assert not inert(CONFIG, {"retriever": {"use": "bm25"}})


@pytest.mark.parametrize("seed", range(4))
def test_a_random_lever_can_be_built_and_changes_as_many_settings(seed: int) -> None:
    """None that the chosen patch sets, and none to the value that is in effect; the same for a seed."""
    config = read(SIMPLE, {"thresholds": {"strip": 0.5}})
    chosen = {"pipeline": {"k": 5}, "refiner": {"size": 2}}
    patch = drawn(config, 2, seed, chosen)
    assert size(patch) == 2
    assert tried(config, patch)
    for section, values in patch.items():
        for key, value in values.items():
            assert value != effective(config, section, key)
            assert key not in chosen.get(section, {})
    assert patch == drawn(config, 2, seed, chosen)


def test_seeds_draw_other_levers() -> None:
    """One of them might always be the same by mistake."""
    config = read(SIMPLE, {"thresholds": {"strip": 0.5}})
    assert len({str(drawn(config, 2, seed, {})) for seed in range(6)}) > 3


def test_where_so_many_settings_cannot_be_drawn_it_is_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """And none at all is an error."""
    monkeypatch.setattr("surefoot.evaluate.levers._shifted", lambda own: {})
    monkeypatch.setattr("surefoot.evaluate.levers.CHOICES", {("pipeline", "k"): (3,), ("index", "path"): ("x",)})
    assert drawn(CONFIG, 2, 0, {}) == {"pipeline": {"k": 3}}
    with pytest.raises(UsageError, match="no random patch"):
        drawn(CONFIG, 2, 0, {"pipeline": {"k": 3}})
