"""Questions that need the one before them."""

import pytest
from hypothesis import assume, example, given, strategies as st

from surefoot.text.follow_up import completed, follows
from surefoot.text.words import words

EARLIER = "How do I list the tables of a database?"


@pytest.mark.parametrize(
    "question",
    [
        "And in version 14?",
        " or, with psql?",
        "what about views",
        "Und in Version 14?",
        "Et sous Windows ?",
        "y en Windows?",
        "e su Windows?",
        "那版本14呢？",
        "那么版本14呢？",
        "Does it work?",
        "How do I turn it off and on?",
        "What does that mean?",
        "Show me an example of this",
    ],
)
def test_what_goes_on_from_another_question_is_recognised(question: str) -> None:
    """It begins as one goes on, or refers to something and names next to nothing itself."""
    assert follows(question)


@pytest.mark.parametrize(
    "question",
    [
        "Who built the Ruvel Bridge?",
        "How do I back up a database?",
        "Does it work with PostgreSQL 14?",
        "android version 14",
        "Order of operators",
        "e-mail address of a commit",
        "AND-OR trees",
        "eñe on a keyboard",
        "And?",
        "What about?",
        "What is a view?",
        "",
    ],
)
def test_what_stands_alone_is_left_alone(question: str) -> None:
    """It names what it asks about, or there is nothing in it; a longer word may begin as "and" does."""
    assert not follows(question)
    assert completed(question, EARLIER) == question


@given(st.lists(st.sampled_from("And or it that do I turn off the tables in version 14 command".split())).map(" ".join))
@example("Where is the command for it?")
@example("How do I turn it off and on?")
def test_a_completed_question_has_the_words_of_both(question: str) -> None:
    """The earlier one's first, and all of its own but those by which it goes on; what is no follow-up stays. Only a new
    subject takes the place of words of the earlier one."""
    assume(follows(question))
    whole = words(completed(question, EARLIER))
    own = words(question)[words(question)[0] in ("and", "or") :]
    assert " – " not in completed(question, EARLIER) or whole == words(EARLIER) + own
    assert set(own) <= {*whole, "the"}


def test_a_completed_question_reads_as_one() -> None:
    """Without the mark in its midst."""
    assert completed("And in version 14?", EARLIER) == "How do I list the tables of a database – in version 14?"
    assert not follows(completed("And in version 14?", EARLIER))


@pytest.mark.parametrize(
    ("earlier", "question", "whole"),
    [
        ("Who built the Ruvel Bridge?", "and the Sorvay Lighthouse?", "Who built the Sorvay Lighthouse?"),
        ("Where was Ilse Vanmoor born?", "What about Anna Tresk?", "Where was Anna Tresk born?"),
        ("What does the mark_old variable do?", "and beep_new?", "What does the beep_new variable do?"),
        ("What does $sort do?", "how about $sort_aux?", "What does $sort_aux do?"),
        ("When was the north bridge rebuilt?", "and the south bridge?", "When was the south bridge rebuilt?"),
        ("Wann wurde die Nordbrücke gebaut?", "und die Südbrücke?", "Wann wurde die Südbrücke gebaut?"),
    ],
)
def test_a_new_subject_takes_the_place_of_the_old_one(earlier: str, question: str, whole: str) -> None:
    """Both subjects side by side would find passages about the old one."""
    assert completed(question, earlier) == whole


@pytest.mark.parametrize(
    ("earlier", "question", "whole"),
    [
        ("Who built the Ruvel Bridge?", "and in 1911?", "Who built the Ruvel Bridge – in 1911?"),
        ("How do I create a branch?", "and delete a branch?", "How do I create a branch – delete a branch?"),
        ("How do I create a branch?", "and delete branch?", "How do I create a branch – delete branch?"),
        ("How do I install Surefoot?", "and uninstall?", "How do I install Surefoot – uninstall?"),
        ("Who built it?", "and the Hohrin Hut?", "Who built it – the Hohrin Hut?"),
        (
            "Who built the Ruvel Bridge?",
            "and when was it rebuilt?",
            "Who built the Ruvel Bridge – when was it rebuilt?",
        ),
    ],
)
def test_what_is_no_new_subject_stands_behind_the_earlier_question(earlier: str, question: str, whole: str) -> None:
    """Nothing is taken out of a question unless it is known what it was about."""
    assert completed(question, earlier) == whole


def test_what_went_on_before_does_not_pile_up() -> None:
    """The third question goes on from the first, not from the second as well."""
    second = completed("and in 1911?", "Who built the Ruvel Bridge?")
    assert completed("and in 1930?", second) == "Who built the Ruvel Bridge – in 1930?"
    assert completed("and the Hohrin Hut?", second) == "Who built the Hohrin Hut?"
