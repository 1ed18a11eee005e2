"""Which of the ways to a query is taken, and when."""

import json

import pytest

from surefoot.llms.scripted import Scripted
from surefoot.rewriters.stepwise import Stepwise
from surefoot.rewriters.templates import Templates
from surefoot.run.meter import metered
from surefoot.types import Passage

REPLY = json.dumps({"first": "keystone", "second": "arch"})
MODEL = ("keystone arch", "keystone")
OWN = Passage("1", "A bridge.")
OUTSIDE = Passage("2", "Another bridge.", source="external")


def queries(question: str, *seen: Passage) -> tuple[int, tuple[str, ...]]:
    """How often the model was asked, and what came of it."""
    with metered() as spent:
        found = Stepwise(Scripted(lambda _: REPLY)).rewrite(question, seen)
    return spent.calls, found


@pytest.mark.parametrize("question", ["Who built the Ruvel Bridge?", "Does the Hohrin Hut open in June?"])
def test_a_form_or_a_name_needs_no_model(question: str) -> None:
    """The templates' queries, and then the question as it is."""
    assert queries(question) == queries(question, OWN) == (0, (*Templates().rewrite(question, ()), question))


def test_without_either_the_model_is_asked() -> None:
    """And the question as it is comes last."""
    question = "what keeps stones up over a river"
    assert queries(question) == (1, (*MODEL, question))


def test_once_a_search_has_not_helped_the_model_is_asked() -> None:
    """Whatever the question is like: the templates would only say the same again."""
    question = "Who built the Ruvel Bridge?"
    assert queries(question, OWN, OUTSIDE) == (1, (*MODEL, question))
