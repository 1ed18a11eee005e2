"""A question that goes on from others is completed, by rules or by a model, and what was asked stays on record."""

import pytest

from surefoot.llms.scripted import Scripted
from surefoot.pipeline import Pipeline
from surefoot.run.conversation import Conversation, prompt
from surefoot.run.meter import metered
from surefoot.text.follow_up import completed, standing_alone
from surefoot.text.questions import LONGEST_QUESTION

FIRST = "Who built the Ruvel Bridge?"
THEN = "and in 1911?"
WHOLE = "Who built the Ruvel Bridge in 1911?"
HISTORY = [(FIRST, "Tomas Aldwin built it.")]


def test_a_whole_question_stays_as_it_is_and_no_model_is_asked() -> None:
    """One without replies would fail."""
    assert Conversation(Scripted([])).whole(FIRST, HISTORY) == FIRST
    assert Conversation(Scripted([])).whole(THEN, []) == THEN


def test_a_model_completes_the_question_from_the_one_before() -> None:
    """Which it is shown whole, although it went on from another one itself."""
    seen = []

    def reply(messages: object) -> str:
        seen.append(messages)
        return WHOLE

    history = [*HISTORY, ("and the Hohrin Hut?", "Josef did.")]
    assert Conversation(Scripted(reply)).whole(THEN, history) == WHOLE
    assert seen == [prompt(THEN, "Who built the Hohrin Hut?")]


@pytest.mark.parametrize("reply", ["", "Who built it?", "In 1911?\nYes.", "1911 " * 100])
def test_rules_complete_it_where_the_model_drops_words_or_says_more(reply: str) -> None:
    """A question about another year would be answered without anybody's noticing; the step says so."""
    with metered() as spent:
        assert Conversation(Scripted([reply])).whole(THEN, HISTORY) == completed(THEN, FIRST)
    assert spent.degraded == ["scripted dropped words of the question, or said more: completed by rules"]


def test_the_prompt_is_one_turn() -> None:
    """The task, the question before, and the one that goes on, a line each."""
    assert [(m.role, m.content) for m in prompt(THEN, FIRST)] == [
        (
            "user",
            "Rewrite the second question so that it can be understood without the first. Keep its language and its "
            "words. Write the question, and nothing else.\n\n"
            "First question: Who built the Ruvel Bridge?\nSecond question: and in 1911?",
        )
    ]


def test_each_turn_may_go_on_from_the_one_before() -> None:
    """A client that keeps what was typed, and not how it was read, gets the same."""
    typed = ["and in 1911?", FIRST, "And the Hohrin Hut?"]
    assert standing_alone(THEN, typed) == completed(THEN, "Who built the Hohrin Hut?")
    assert standing_alone("Who is Josef?", typed) == "Who is Josef?"
    assert standing_alone(THEN, ["and the hut?"]) == THEN


# In a pipeline


def test_the_completed_question_is_searched_and_both_are_on_record(pipeline: Pipeline) -> None:
    """In a step of its own, before all others."""
    trace = pipeline.run(THEN, history=HISTORY)
    assert (trace.question, trace.standalone_question) == (THEN, completed(THEN, FIRST))
    assert [step.name for step in trace.steps][:2] == ["complete", "retrieve"]
    assert trace.answer
    assert not trace.answer.refused


def test_rules_complete_it_where_the_model_fails(pipeline: Pipeline) -> None:
    """It has no replies left; the step has the error, and says what was done instead."""
    trace = pipeline.but(conversation=Conversation(Scripted([]))).run(THEN, history=HISTORY)
    assert trace.standalone_question == completed(THEN, FIRST)
    assert trace.steps[0].degraded == "completed by rules"
    assert "used up" in (trace.steps[0].error or "")


def test_a_question_that_would_become_too_long_is_asked_as_it_is(pipeline: Pipeline) -> None:
    """It is nobody's fault that it cannot be completed."""
    long = f"Who built the bridge {'x' * LONGEST_QUESTION}?"
    assert pipeline.run(THEN, history=[(long, "")]).standalone_question == THEN
