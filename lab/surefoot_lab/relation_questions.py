"""Questions about single facts: those of PopQA's sixteen relations, and population."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RelationQuestion:
    """A question for a relation."""

    of: str
    """Of what it can be asked; relations of the same kind of thing take each other's place."""
    asks: str
    told_by: str = ""
    """A pattern without which no passage answers it; the empty one is in every passage."""


_KIN = r"\b(?:father|mother|parent|child|son|daughter|brother|sister|sibling|famil|born to|dad|mum|mom)"
_FAITH = r"relig|church|faith|cathol|christ|protest|muslim|islam|jew|buddh|hindu|sikh|bishop|priest|monk|saint|atheis"
_WRITTEN = r"author|writ|wrote|novel|script|screenplay|teleplay|book"
_BIRTH, _SEAT = r"\bborn|birth|native|raised|\bb\.", r"capital|seat\b|city|town"
_MUSICAL = r"compos|music|score|soundtrack|song|melod"
_PEOPLED = r"popul|inhabit|people|resid|cens"
_Q = RelationQuestion
QUESTIONS = (
    _Q("person", "What is {}'s occupation?"),
    _Q("person", "In what city was {} born?", _BIRTH),
    _Q("person", "What is the religion of {}?", _FAITH),
    _Q("person", "What sport does {} play?"),
    _Q("person", "Who is the father of {}?", _KIN),
    _Q("person", "Who is the mother of {}?", _KIN),
    _Q("work", "What genre is {}?"),
    _Q("work", "Who is the author of {}?", _WRITTEN),
    _Q("work", "Who was the director of {}?", r"direct|film-?mak|film by"),
    _Q("work", "Who was the producer of {}?", r"produc"),
    _Q("work", "Who was the screenwriter for {}?", _WRITTEN),
    _Q("work", "Who was the composer of {}?", _MUSICAL),
    _Q("place", "In what country is {}?"),
    _Q("place", "What is the capital of {}?", _SEAT),
    _Q("place", "What is {} the capital of?", r"capital|seat\b"),
    _Q("place", "What is the population of {}?", _PEOPLED),
    _Q("thing", "What color is {}?"),
)
"""PopQA's sixteen, and population."""
