"""Which messages are chores, and which are questions after all."""

from __future__ import annotations

import pytest

from surefoot.server.chores import done, unwrapped


@pytest.mark.parametrize(
    "question",
    [
        "How is the title of a conversation made?",
        "Available Tools: which are there?",
        '[{"role": "user", "mainText": ',
        '[{"name": "mainText"}] is what kind of JSON?',
        "What does ### Task: mean?",
        "",
    ],
)
def test_a_question_about_chores_is_a_question(question: str) -> None:
    """Only the words and the shape in which clients give them make a chore."""
    assert done([("user", question)]) is None


def test_the_last_user_message_alone_makes_a_chore() -> None:
    """A title that was wanted before does not answer what is asked now."""
    wanted = ("user", "Provide a concise, 5-word-or-less title for the conversation.\n\nConversation:\nUser: Who?")
    assert done([wanted]) == "Who"
    assert done([wanted, ("assistant", "Who"), ("user", "Who built it?")]) is None


def test_a_conversation_without_a_question_still_has_a_title() -> None:
    """Cherry Studio tells even an empty one."""
    assert done([("user", '[{"role":"assistant","mainText":"Hello."}]')]) == "Conversation"


def test_a_question_is_taken_out_of_the_documents_before_it() -> None:
    """And left as it is where there are none."""
    wrapped = "### Task:\nRespond to the user query using the provided context.\n<context>\nx\n</context>\n\nWho?\n"
    assert unwrapped(wrapped) == "Who?"
    assert unwrapped("Who wrote </context>?") == "Who wrote </context>?"
