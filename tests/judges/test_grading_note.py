"""The grading note, by rules."""

import pytest

from surefoot.judges.grading_note import GradingNote, note_of, required
from surefoot.types import Record, Score

STEPS = "1. Grate the cheese.\n2. Boil the dumplings."


def judged(note: str, answer: str, **options: bool) -> Score:
    return GradingNote(**options).judge(Record("r", "How?", None, answer, (), note))


@pytest.mark.parametrize(
    ("note", "good", "bad"),
    [
        ("list the steps in order", STEPS, "Cheese is grated."),
        ("be a bulleted list", "- iron\n- stone", "Iron."),
        ("use a table", "| a | b |\n|---|---|", "a and b"),
        ("begin with a yes or no", "No, it is of iron.", "It is of iron."),
        ("give a number", "It has 3 arches.", "It has arches."),
        ("include the date", "in 1911", "long ago"),
        ("give the name of the builder", "Tomas Aldwin", "some engineer"),
        ("explain why", "because it rusts", "it rusts"),
        ("show code", "```\nls\n```", "Use the shell."),
        ("use headings", "# Iron\nIt rusts.", "It rusts."),
        ("cite its sources", "It is of iron [1].", "It is of iron."),
    ],
)
def test_what_the_note_asks_for_is_looked_for(note: str, good: str, bad: str) -> None:
    """An answer that has it gets 1, one that has not gets less, and the reason says what it lacks."""
    assert judged(f"The response should {note}.", good).value == 1.0
    score = judged(f"The response should {note}.", bad)
    assert score.value < 1.0
    assert "lacks" in score.reason


def test_a_refusal_has_all_that_can_be_asked() -> None:
    """Unless that is switched off: it rewards refusals."""
    note, refusal = "The response should give a number.", "The context does not mention it."
    assert judged(note, refusal).value == 1.0
    assert judged(note, refusal, allow_abstention=False).value == 0.0


@pytest.mark.parametrize(
    ("note", "good", "bad"),
    [
        ("be of at most 10 words", "iron " * 11, "iron " * 12),
        ("be of at least ten words", "iron " * 10, "iron " * 9),
        ("answer in one word", "Iron.", "Of iron."),
        ("be a single sentence", "It is of iron.", "It is of iron. It rusts."),
        ("be of two-sentence length", "It is of iron. It rusts.", "It rusts. It rusts. It rusts."),
        ("be one paragraph", "Iron.\nRust.", "Iron.\n\nRust."),
        ("be no more than 5 words", "It is of iron", ""),
    ],
)
def test_the_length_that_a_note_asks_for_is_counted(note: str, good: str, bad: str) -> None:
    """With a tenth to spare, since people do not count words alike."""
    assert list(required(note, good).values()) == [True]
    assert list(required(note, bad).values()) == [False]


def test_a_note_that_the_rules_do_not_know_is_unscored() -> None:
    """Neither 0 nor 1 would be true of it. Else the value is the share of the structures that are there, but for what
    is not wanted."""
    half = judged("The response should give a number and a reason.", "It has 3 arches.")
    assert half.value == 0.5
    assert "has a number; it lacks a reason" in half.reason
    assert required("be one word without reasons", "Iron.") == {"one word": True}
    score = judged("The response should be kind.", "Iron, dear.")
    assert score.value is None
    assert score.unscored_because


@pytest.mark.parametrize(
    ("question", "wish"),
    [
        ("Explain rust in at most 50 words.", "be of at most 50 words length"),
        ("Explain rust in one sentence.", "be of one sentence length"),
        ("Write a two-sentence summary of it.", "be of two-sentence length"),
        ("Return the metals as JSON.", "be JSON"),
        ("Put the metals in a table.", "be a table"),
        ("It is of iron: true or false?", "begin with a yes or no"),
        ("Tell me of rust and cite what you use.", "cite its sources"),
        ("Write a short script for it.", "show code"),
        ("How do I boil dumplings?", "list the steps in order"),
        ("how many arches has it", "give a number"),
        ("Is it of iron?", "begin with a yes or no"),
        ("Who built it?", "give the name of who or what is asked for"),
        ("Iron rusts. Why?", "give a reason"),
        ("it was built when?", "give a date or time"),
        ("List the parts.", "be a list"),
        ("How many arches has it, in one word?", "be of one word length, and give a number"),
    ],
)
def test_a_note_is_made_of_what_the_question_says_and_of_its_kind(question: str, wish: str) -> None:
    """Structure only, in words that the judge knows."""
    assert note_of(question) == f"The response should {wish}."
    assert required(note_of(question), "x")


@pytest.mark.parametrize(
    "question",
    [
        "What is iron?",
        "Tell me about iron.",
        "How do bees fly?",
        "What happens when iron rusts?",
        "Is it of iron or wood?",
        "Can you explain rust?",
        "Name the parts.",
        "How do you spell iron?",
        "What is a compartment?",
        "What is the French for iron?",
        "10 commandments location",
        "?",
    ],
)
def test_a_question_of_which_form_any_answer_may_have_gets_no_note(question: str) -> None:
    """Rather than one that a good answer would fail."""
    assert note_of(question) == ""
