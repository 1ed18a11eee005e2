"""No rewriting at all."""

from surefoot.rewriters.verbatim import Verbatim


def test_the_question_is_the_only_query() -> None:
    """Without the white space around it."""
    assert Verbatim().rewrite(" Who built it?\n", ()) == ("Who built it?",)
