"""Questions that compare two things."""

from functools import partial

import pytest

from effort import effort
from surefoot.text.comparison import about, questions


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        ("What is the difference between a hut and a shelter?", "What is a hut?", "What is a shelter?"),
        ("rope vs chain", "What is rope?", "What is chain?"),
        ("rope versus chain in winter?", "What is rope in winter?", "What is chain in winter?"),
        ("How does the north face differ from the south face?", "What is the north face?", "What is the south face?"),
        ("Compare tent with bivouac", "What is tent?", "What is bivouac?"),
        ("When should I take an axe instead of poles?", "What is take an axe?", "What is poles?"),
    ],
)
def test_each_of_the_things_compared_is_asked_for(question: str, one: str, other: str) -> None:
    """What they belong to is said of both."""
    assert questions(question) == (question, one, other)


@pytest.mark.parametrize(
    "question", ["Who built the hut?", "What differs?", "vs", "difference between and", f"a vs {'b ' * 20}"]
)
def test_other_questions_are_asked_as_they_are(question: str) -> None:
    """Also where a thing has no name, or one of a whole story."""
    assert (questions(question), about(question)) == ((question,), ())


def test_a_thing_is_told_by_the_words_that_the_other_lacks() -> None:
    """A sentence on one of them often names both."""
    assert about("git reset vs git revert") == ({"reset"}, {"revert"})
    assert about("forward vs forward only") == ({"forward"}, {"only"})


def test_a_long_question_is_read_in_little_time() -> None:
    """Whoever asks cannot make it wait."""
    for words in ("between a and ", "compare a and ", "a vs ", "when do I use ", "how is a "):
        assert effort(partial(questions, (words * 4000)[:4000]), 1) < 1
