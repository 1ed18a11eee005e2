"""Questions about single facts, each asked in two ways: those of PopQA's sixteen relations, and population."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RelationQuestion:
    """How a relation is asked for, in two ways."""

    relation: str
    """One of its words."""
    of: str
    """Of what it can be asked; relations of the same kind of thing take each other's place."""
    asks: str
    otherwise: str
    """The same question in other words."""
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
    _Q("occupation", "person", "What is {}'s occupation?", "What does {} do for a living?"),
    _Q("born", "person", "In what city was {} born?", "What is the birthplace of {}?", _BIRTH),
    _Q("religion", "person", "What is the religion of {}?", "Which religion does {} follow?", _FAITH),
    _Q("sport", "person", "What sport does {} play?", "Which sport is {} known for?"),
    _Q("father", "person", "Who is the father of {}?", "Who is {}'s father?", _KIN),
    _Q("mother", "person", "Who is the mother of {}?", "Who is {}'s mother?", _KIN),
    _Q("genre", "work", "What genre is {}?", "Which genre does {} belong to?"),
    _Q("author", "work", "Who is the author of {}?", "Who wrote {}?", _WRITTEN),
    _Q("director", "work", "Who was the director of {}?", "Who directed {}?", r"direct|film-?mak|film by"),
    _Q("producer", "work", "Who was the producer of {}?", "Who produced {}?", r"produc"),
    _Q("screenwriter", "work", "Who was the screenwriter for {}?", "Who wrote the screenplay of {}?", _WRITTEN),
    _Q("composer", "work", "Who was the composer of {}?", "Who composed {}?", _MUSICAL),
    _Q("country", "place", "In what country is {}?", "Which country is {} located in?"),
    _Q("capital", "place", "What is the capital of {}?", "Which city is the capital of {}?", _SEAT),
    _Q("capital", "place", "What is {} the capital of?", "{} is the capital of what?", r"capital|seat\b"),
    _Q("population", "place", "What is the population of {}?", "How many people live in {}?", _PEOPLED),
    _Q("color", "thing", "What color is {}?", "Which color does {} have?"),
)
"""PopQA's sixteen, and population."""
