"""How the weights of the judges' heads come about."""

from __future__ import annotations

import json
from pathlib import Path

from judge_heads import (
    correctness,
    judged_support,
    learned_from,
    planted,
    question_key,
    supported,
)
from surefoot.embedders.hashing import Hashing


def test_a_lie_is_planted_by_number_and_by_negation() -> None:
    """Where there is room for it."""
    assert list(planted("It was built in 1911.")) == ["It was built in 1918.", "It was not built in 1911."]
    assert list(planted("It never was.")) == []


def test_every_fourth_question_is_learned_from() -> None:
    """By its words, whoever answered it."""
    records = [{"question": f"Question {n // 2}?"} for n in range(16)]
    assert learned_from(records) == {"question 0", "question 4"}
    assert question_key("Who  is José?") == question_key("who is jose")


def test_a_record_without_a_reference_teaches_nothing() -> None:
    """Nor does one of another question."""
    record = {"question": "Who?", "answer": "Tomas", "answers": ["Tomas"], "human": {"correct": True}}
    others = [{**record, "answers": []}, {**record, "question": "When?"}]
    found = correctness([record, *others], {"who"}, Hashing())
    assert (found.inputs.shape, list(found.labels), found.groups) == ((1, 5), [1.0], ("who",))


def test_what_nobody_could_judge_is_left_out() -> None:
    """Claims of ExpertQA without a verdict, or with a bare address for evidence."""
    human = {"support": "Complete"}
    results = {
        "answer": "It is of iron.",
        "passages": [{"text": "[1] https://example.org/a\n\nIron it is."}],
        "human": human,
    }
    found = judged_support("expertqa", results)
    assert found is not None
    assert found[0]
    assert [passage.text for passage in found[2]] == ["Iron it is."]
    assert judged_support("expertqa", {**results, "human": {"support": "N/A"}}) is None
    assert judged_support("expertqa", {**results, "passages": [{"text": "[1] https://example.org/a"}]}) is None


def test_supported_claims_are_taken_beside_their_lies(tmp_path: Path) -> None:
    """Each lie beside the claim that it was made from; none from a claim that was not supported."""
    context = "The bridge was built in 1911."
    each = [
        {"context": context, "answer": context, "human": {"faithful": True}},
        {"context": context, "answer": "It is old, by 9 years.", "human": {"faithful": False}},
    ]
    for file in ("begin_attribution.jsonl", "qags_faithfulness.jsonl"):
        (tmp_path / file).write_text("\n".join(map(json.dumps, each)), encoding="utf-8")
    claim = {"question": "?", "answer": context, "passages": [{"text": context}], "human": {"support": "Complete"}}
    (tmp_path / "expertqa_claims.jsonl").write_text(json.dumps(claim), encoding="utf-8")
    sets = supported(tmp_path, Hashing())
    assert list(sets["planted"].labels) == [1.0, 0.0, 1.0, 0.0] * 2
    assert {name: len(one.labels) for name, one in sets.items()} == {"begin": 2, "qags": 2, "expertqa": 1, "planted": 8}
