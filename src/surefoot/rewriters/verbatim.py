"""The question as it is."""

from collections.abc import Sequence

from surefoot.types import Passage


class Verbatim:
    """No rewriting: the question is the query."""

    def rewrite(self, question: str, seen: Sequence[Passage]) -> tuple[str, ...]:
        """The question, stripped of surrounding white space."""
        return (question.strip(),)
