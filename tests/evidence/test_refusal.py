"""What a refusal says: what was missing, where it was looked for, and whose fault it is."""

import pytest

from surefoot.evidence.citations import refusal
from surefoot.types import Answer, Passage, Strip

BRIDGE = Passage("b", "The Ruvel Bridge was built in 1911 by Tomas Aldwin.", "Ruvel Bridge")
KNOWLEDGE = [(Strip("b", 0, len(BRIDGE.text), BRIDGE.text, 1.0, kept=True), BRIDGE)]
WHO = "Who built the Ruvel Bridge?"


def refuse(question: str, draft: Answer | None, knowledge: bool = True, queries: tuple[str, ...] = ()) -> Answer:
    return refusal(question, draft, 10, KNOWLEDGE if knowledge else [], queries)


@pytest.mark.parametrize(
    ("question", "evidence", "missing"),
    [
        ("When is the flood of the Oslava?", "It floods in March.", "“Oslava”"),
        ("Which universities teach sailing?", "The university was founded in May.", "“teach”, “sailing”"),
        ("Which Flüsse fluten Bern?", "Der Fluss flutet im März.", "“Bern”"),
        ("Is the limit 20190?", "The limit was 2019.", "“20190”"),
    ],
)
def test_a_refusal_calls_no_word_missing_that_stands_there_in_another_form(
    question: str, evidence: str, missing: str
) -> None:
    """A number has no other form."""
    there = [(Strip("p", 0, len(evidence), evidence, 1.0, kept=True), Passage("p", evidence))]
    text = refusal(question, Answer("", refused=True), 1, there, ()).text
    assert f"does not mention {missing}. Looked at" in text


def test_a_refusal_names_what_was_missing_and_where_it_was_looked_for() -> None:
    """Names whole, then other words; what stands in the evidence is not missing."""
    withheld = Answer("", refused=True, model="m", withheld="Not found.")
    answer = refuse("Who painted the Ruvel Bridge for Anna Tresk?", withheld, queries=("Ruvel Bridge", "Tresk"))
    assert answer == Answer(
        "I cannot answer this from the evidence. What was found does not hold the answer; the evidence that was kept "
        "does not mention “Anna Tresk”, “painted”. Looked at: 10 passages graded; searched for "
        "“Ruvel Bridge”, “Tresk”.",
        refused=True,
        model="m",
        withheld="Not found.",
    )


def test_a_refusal_without_evidence_says_so() -> None:
    """Which words of the question no passage answers, nobody knows."""
    for graded, why in ((0, "No passage was found"), (1, "None of the passages that were found answers it")):
        count = "1 passage" if graded else "0 passages"
        text = refusal(WHO, None, graded, (), ()).text
        assert text == f"I cannot answer this from the evidence. {why}. Looked at: {count} graded."


@pytest.mark.parametrize(
    ("draft", "why"),
    [
        (None, "Evidence was found, but the model that reads it failed"),
        (Answer("", refused=True, withheld="A troll."), "What the model wrote does not stand in what was found"),
        (Answer("", refused=True, withheld="Not found."), "What was found does not hold the answer"),
    ],
)
def test_a_refusal_says_whose_fault_it_is(draft: Answer | None, why: str) -> None:
    """The model's, or the evidence's."""
    answer = refuse(WHO, draft)
    assert answer.text.startswith(f"I cannot answer this from the evidence. {why}. Looked at: ")
    assert (answer.refused, answer.citations) == (True, ())
