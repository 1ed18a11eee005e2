"""The question as the user asked it, and its limits."""

from surefoot.types.errors import QuestionError

LONGEST_QUESTION = 4000
"""Characters; what is longer is a document, not a question."""


def checked(question: str) -> str:
    """The question without surrounding white space; raises QuestionError when it is empty or over-long."""
    question = question.strip()
    if not question:
        raise QuestionError('the question is empty; ask something, as in: surefoot ask "Who built it?"')
    if len(question) > LONGEST_QUESTION:
        raise QuestionError(
            f"the question has {len(question):,} characters and at most {LONGEST_QUESTION:,} fit; shorten it"
        )
    return question
