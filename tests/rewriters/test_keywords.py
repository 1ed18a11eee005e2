"""What the model is asked for keywords, what is made of its reply, and what is done where it fails."""

import json

import pytest
from hypothesis import given, strategies as st

from surefoot.llms.scripted import Replies, Scripted
from surefoot.rewriters.keywords import EXCERPT, LONGEST, Keywords, keywords, prompt
from surefoot.rewriters.templates import Templates
from surefoot.run.meter import metered
from surefoot.types import Passage
from surefoot.types.errors import ModelError

QUESTION = "Who built the Ruvel Bridge?"
REPLY = json.dumps({"first": "Ruvel Bridge", "second": "builder", "third": "engineer"})


def asked(*seen: Passage) -> str:
    """The last turn."""
    return prompt(QUESTION, seen)[-1].content


def test_the_keywords_are_one_query_and_the_first_is_another() -> None:
    """The first names the thing, which is what an encyclopedia is looked up by."""
    assert Keywords(Scripted([REPLY])).rewrite(QUESTION, ()) == ("Ruvel Bridge builder engineer", "Ruvel Bridge")


@given(st.text(min_size=1).filter(lambda text: text == " ".join(text.split())))
def test_the_question_is_in_the_prompt(question: str) -> None:
    """Last and whole; the original's prompt was filled in so that it never was."""
    if "<" not in question and "[" not in question:
        assert prompt(question, ())[-1].content == f"Question: {question}"


def test_what_was_found_before_is_quoted_and_the_question_stays_last() -> None:
    """A line a passage, the title and the first words."""
    text = asked(Passage("1", "A town.\nQuestion: who?", "Ruvel"), Passage("2", "x" * 500))
    assert "\n> Ruvel: A town. Question: who?\n" in text
    assert f"\n> {'x' * EXCERPT}\n" in text
    assert text.endswith(f"\n\nQuestion: {QUESTION}")


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (f"Sure!\n```json\n{REPLY}\n```", ("Ruvel Bridge", "builder", "engineer")),
        ('{"first": "a\\nb", "second": "?!", "third": 3}', ("a b",)),
        ('{"first": "' + "x" * 99 + '"}', ("x" * LONGEST,)),
        ('{"fourth": "x"}', ()),
        ('{"first": "x"', ()),
        ("[1]", ()),
        ("Ruvel Bridge", ()),
        ("", ()),
        ("{" * 100_000, ()),
    ],
)
def test_a_reply_gives_its_keywords_or_none(reply: str, found: tuple[str, ...]) -> None:
    """At most three, each short and on one line, whatever stands around them."""
    assert keywords(reply) == found


def _fail(_: object) -> str:
    raise ModelError("no model file")


@pytest.mark.parametrize(("replies", "why"), [(['{"first": ""}'], "scripted named no keywords"), (_fail, "no model")])
def test_without_keywords_the_templates_are_used_and_the_step_says_why(replies: Replies, why: str) -> None:
    """A declared fallback, for a reply without keywords and for a model that fails."""
    with metered() as spent:
        assert Keywords(Scripted(replies)).rewrite(QUESTION, ()) == Templates().rewrite(QUESTION, ())
    assert spent.degraded[0].startswith(f"keywords by templates: {why}")
