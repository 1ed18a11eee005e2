"""The linear model over the cross-encoder's logit and what words say: what is measured, and that it is no more."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.contracts import verify
from surefoot.evaluators import features
from surefoot.evaluators.features import COMPARED, KINDS, NAMES, OF_PAIR, Features, card, row
from surefoot.evaluators.minilm import MiniLM
from surefoot.types import Passage
from surefoot.types.errors import ModelError

QUESTION = "Who built the Ruvel Bridge?"
BRIDGE = Passage("1", "The Ruvel Bridge is of iron. Tomas Aldwin built the Ruvel Bridge.", "Ruvel Bridge")
CHEESE = Passage("2", "Grate the cheese, add flour and eggs, and boil the dumplings.", "Dumplings")
CARD = Path(features.__file__).with_suffix(".json")


@pytest.fixture(scope="module")
def evaluator() -> Features:
    return Features(threads=1)


def measured(question: str, passage: Passage) -> dict[str, float]:
    return dict(zip(NAMES, row(0.5, question, passage), strict=True))


def test_it_keeps_the_contract(evaluator: Features) -> None:
    """The one that every evaluator has to keep."""
    verify("evaluator", evaluator)


def test_a_score_is_the_weighted_sum_of_the_features_and_the_probability_its_chance(evaluator: Features) -> None:
    """Of the cross-encoder's own logit, whose span, window and reason stay."""
    pairs = [(QUESTION, BRIDGE), (QUESTION, CHEESE)]
    own = card(CARD, evaluator.name)
    for plain, moved, (question, passage) in zip(
        MiniLM(threads=1).grade(pairs), evaluator.grade(pairs), pairs, strict=True
    ):
        assert plain.score is not None
        terms = [w * x for w, x in zip(own.weights, row(plain.score, question, passage), strict=True)]
        assert moved.score == pytest.approx(own.intercept + sum(terms))
        assert moved.probability == pytest.approx(1 / (1 + math.exp(-moved.score)))
        assert (moved.span, moved.window) == (plain.span, plain.window)
        assert moved.reason == f"{plain.reason}; without features {plain.score:.2f}"


def test_what_the_cross_encoder_cannot_grade_has_no_grade(evaluator: Features) -> None:
    """And its reason stands."""
    (grade,) = evaluator.grade([(QUESTION, Passage("1", "", "Ruvel Bridge"))])
    assert (grade.score, grade.probability, grade.reason) == (None, None, "the passage is empty")


def test_what_is_measured_of_a_pair() -> None:
    """Overlap, names, edit similarity of title and best sentence, and the kind of question."""
    near, far = measured(QUESTION, BRIDGE), measured(QUESTION, CHEESE)
    assert near["cross-encoder"] == 0.5
    assert (near["words"], near["names in text"], near["names in title"]) == (1.0, 1.0, 1.0)
    assert (far["words"], far["names in text"], far["names in title"]) == (0.0, 0.0, 0.0)
    assert near["edit title"] == pytest.approx(2 * 2 / (5 + 2))  # "ruvel bridge" of five words and of two
    assert near["edit sentence"] == pytest.approx(2 * 4 / (5 + 6))  # "built the ruvel bridge" stands in the second
    assert [kind for kind in KINDS if near[kind]] == ["who"]
    assert not any(measured("Name the bridge.", BRIDGE)[kind] for kind in KINDS)


@given(question=st.text(max_size=40), text=st.text(max_size=80), title=st.text(max_size=20))
def test_whatever_is_measured_lies_between_0_and_1(question: str, text: str, title: str) -> None:
    """Of any text at all."""
    passage = Passage("1", text, title)
    for name, measure in OF_PAIR.items():
        assert 0 <= measure(question, passage) <= 1, name


def test_the_end_of_a_long_sentence_is_not_compared() -> None:
    """The time would grow with the square of its length."""
    start = Passage("1", "who built the ruvel bridge " + "iron " * 10 * COMPARED)
    end = Passage("1", "iron " * 10 * COMPARED + "who built the ruvel bridge")
    assert measured(QUESTION, start)["edit sentence"] > measured(QUESTION, end)["edit sentence"] == 0.0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"thresholds": {"upper": 1.0, "lower": 0.0, "strip": 0.0, "evaluator": "features:minilm-0"}}, "minilm-0"),
        ({"weights": {}}, "cross-encoder"),
        ({"intercept": "much"}, "much"),
    ],
)
def test_weights_of_another_cross_encoder_or_a_damaged_card_are_refused(
    tmp_path: Path, evaluator: Features, change: dict[str, object], says: str
) -> None:
    """They would be wrong without a word."""
    file = tmp_path / "features.json"
    file.write_text(json.dumps({**json.loads(CARD.read_text(encoding="utf-8")), **change}), encoding="utf-8")
    with pytest.raises(ModelError, match=f"cannot be used: .*{says}.*; fit them with benchmarks/features.py"):
        card(file, evaluator.name)
