"""Word overlap: what counts, and what is said about it."""

from hypothesis import given, strategies as st

from surefoot.evaluators.lexical import Lexical
from surefoot.types import Grade, Passage

QUESTION = "What is Henry Feilden's occupation?"


def grade(text: str, question: str = QUESTION, title: str = "") -> Grade:
    return Lexical().grade([(question, Passage("1", text, title))])[0]


def score(text: str, question: str = QUESTION, title: str = "") -> float:
    found = grade(text, question, title).score
    assert found is not None
    return found


def test_a_passage_with_every_word_scores_one_and_one_with_none_zero() -> None:
    """The ends of the scale; endings and possessives do not matter."""
    assert score("Henry Feilden had two occupations.") == 1.0
    assert score("Boil the dumplings.") == 0.0


def test_a_name_side_by_side_beats_the_same_words_scattered() -> None:
    """Henry Wemyss Feilden is somebody else."""
    side = score("Henry Feilden lived here; occupation: politician.")
    scattered = score("Henry Wemyss and William Feilden lived here; occupation: politician.")
    assert side > scattered > score("Henry lived here; occupation: politician.")


def test_a_word_of_a_name_weighs_more_than_another_word() -> None:
    """Who it is about matters more than what is said."""
    assert score("Henry Feilden") > score("occupation")


def test_a_question_without_words_cannot_be_graded() -> None:
    """It has no score, which is not a low one, and a reason."""
    for question in ("", "?!"):
        nothing = grade("Henry Feilden", question)
        assert nothing.score is None
        assert nothing.reason


@given(st.text("abc AB.'é", max_size=40), st.text("abc AB.'é", max_size=80))
def test_a_score_lies_between_zero_and_one(question: str, text: str) -> None:
    """For any texts; what cannot be graded says why."""
    found = grade(text, question)
    assert found.reason if found.score is None else 0.0 <= found.score <= 1.0
