"""How the weights of the judges' heads come about."""

from judge_heads import correctness, learned_from, question_key
from judges import judged_support
from surefoot.embedders.hashing import Hashing


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
