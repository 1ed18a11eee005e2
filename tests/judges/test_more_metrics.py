"""Metrics beside the diamond: claims, citations, ids, noise and likeness, each against what its paper counts."""

from dataclasses import replace
from typing import Any

import pytest

from surefoot.config.options import build
from surefoot.embedders.hashing import Hashing
from surefoot.types import Assertion, Passage, Record, Score, Support

IRON = Passage("d1", "It is of iron.")
HUT = Passage("d2", "The hut has 24 beds.")


class Words:
    """A verifier by yes or no: every word of the sentence stands in the evidence, read together."""

    name = "words"

    def support(self, assertions: Any) -> tuple[Support, ...]:
        return tuple(Support(None, self._stands(one)) for one in assertions)

    def _stands(self, one: Assertion) -> bool:
        there = " ".join(passage.text for passage in one.evidence).lower().replace(".", "").split()
        return {*one.text.lower().replace(".", "").split()} <= {*there}


class Open(Words):
    """One that can tell nothing."""

    def support(self, assertions: Any) -> tuple[Support, ...]:
        return tuple(Support(None, None, reason="too long") for _ in assertions)


def judged(metric: str, answer: str | None = None, verifier: Any = None, **fields: Any) -> Score:
    parts = {"embedder": Hashing, "verifier": lambda: verifier or Words()}
    found: Score = build("judge", metric, {}, parts).judge(Record("r", "What is it?", answer=answer, **fields))
    return found


def value(metric: str, answer: str | None = None, **fields: Any) -> float:
    found = judged(metric, answer, **fields).value
    assert found is not None
    return found


def test_faithfulness_is_the_share_of_claims_that_the_contexts_carry() -> None:
    """Each counts 1 or 0."""
    answer = "It is of iron. The hut has 24 beds. It is of gold."
    assert value("faithfulness", answer, contexts=(IRON, HUT)) == pytest.approx(2 / 3)
    assert "2 of 3 claims" in judged("faithfulness", answer, contexts=(IRON, HUT)).reason


@pytest.mark.parametrize(
    ("answer", "recall", "precision"),
    [
        ("It is of iron [1]. The hut has 24 beds [2].", 1, 1),
        ("It is of iron [2]. The hut has 24 beds [2].", 0.5, 0.5),
        ("It is of iron [1]. The hut has 24 beds.", 0.5, 1),
        ("It is of iron [1][2].", 1, 0.5),
        ("It is of iron [1, 9].", 1, 0.5),
        ("It is of iron. [1] The hut has 24 beds. [2]", 1, 1),
        ("Iron has 24 beds [1][2].", 1, 1),
    ],
)
def test_citations_are_counted_as_alce_does(answer: str, recall: float, precision: float) -> None:
    """Recall: what a statement cites carries it; one without a citation is not carried. Precision: a citation is needed
    if it carries the statement alone, or the others do not; a number without a context never is."""
    assert value("citation_recall", answer, contexts=(IRON, HUT)) == recall
    assert value("citation_precision", answer, contexts=(IRON, HUT)) == precision


def test_a_wrong_claim_from_the_contexts_is_noise() -> None:
    """One that no context has is invented, and no noise; one that a reference has is right."""
    answer = "It is of iron. The hut has 24 beds. It is of gold. It is old."
    fields = {"contexts": (IRON, HUT), "truths": ("It is of iron.", "It is old.")}
    assert value("noise_robustness", answer, **fields) == 0.75
    assert "1 of 4 claims" in judged("noise_robustness", answer, **fields).reason
    assert judged("noise_robustness", answer, **fields).quotes[0].text == "The hut has 24 beds."


def test_ids_are_compared_as_ragas_does() -> None:
    """As sets: two of three retrieved hold the answer, of four that do two were retrieved."""
    fields: dict[str, Any] = {"context_ids": ("a", "b", "b", "c"), "reference_ids": ("a", "b", "x", "y")}
    assert value("id_based_context_precision", **fields) == pytest.approx(2 / 3)
    assert value("id_based_context_recall", **fields) == 0.5


def test_ids_of_the_contexts_count_where_the_data_name_no_others() -> None:
    """One for all parts of a passage; a mere place is no id."""
    parts = (IRON, replace(IRON, id="d1#2"), HUT)
    assert value("id_based_context_precision", contexts=parts, reference_ids=("d1",)) == 0.5
    places = (replace(IRON, id="c1"), HUT)
    assert judged("id_based_context_precision", contexts=places, reference_ids=("d1",)).value is None


def test_similarity_is_the_cosine_with_the_nearest_reference() -> None:
    """1 for the same words; never below 0."""
    assert value("semantic_similarity", "of iron", truths=("of gold", "of iron")) == pytest.approx(1)
    assert 0 <= value("semantic_similarity", "of iron", truths=("24 beds",)) < 0.9


@pytest.mark.parametrize(
    ("metric", "fields", "why"),
    [
        ("faithfulness", {"answer": "It is of iron."}, "contexts"),
        ("citation_recall", {"answer": "It is of iron.", "contexts": (IRON,)}, "cites nothing"),
        ("citation_precision", {"answer": "It is [1]."}, "contexts"),
        ("noise_robustness", {"answer": "It is.", "contexts": (IRON,)}, "reference answer"),
        ("noise_robustness", {"answer": "I do not know.", "contexts": (IRON,), "truths": ("x",)}, "claims nothing"),
        ("id_based_context_recall", {"context_ids": ("a",)}, "which passages hold the answer"),
        ("id_based_context_precision", {"reference_ids": ("a",)}, "no ids of what was retrieved"),
        ("semantic_similarity", {"answer": "It is."}, "reference answer"),
    ],
)
def test_a_record_without_the_inputs_has_no_value_and_the_reason(metric: str, fields: Any, why: str) -> None:
    """The metric does not apply to it."""
    found = judged(metric, **fields)
    assert (found.value, found.applies) == (None, False)
    assert why in found.unscored_because


@pytest.mark.parametrize("metric", ["faithfulness", "citation_recall", "citation_precision", "noise_robustness"])
def test_a_claim_that_the_verifier_leaves_open_gives_no_value(metric: str) -> None:
    """With the verifier's reason."""
    found = judged(metric, "It is of iron [1].", Open(), contexts=(IRON,), truths=("It is of iron.",))
    assert (found.value, found.applies) == (None, True)
    assert "left open: too long" in found.unscored_because
