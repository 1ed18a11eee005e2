"""The reflection tokens of Self-RAG (Asai et al. 2024, table 1), and the critique that a model gives in them."""

import re
from collections.abc import Mapping, Sequence
from math import exp
from statistics import fmean

from surefoot.types import Completion, Critique, Token

RETRIEVE, NO_RETRIEVAL = "[Retrieval]", "[No Retrieval]"
OPENS, CLOSES = "<paragraph>", "</paragraph>"

RETRIEVES = {RETRIEVE: 1.0, NO_RETRIEVAL: 0.0}
RELEVANCE = {"[Relevant]": 1.0, "[Irrelevant]": 0.0}
SUPPORT = {"[Fully supported]": 1.0, "[Partially supported]": 0.5, "[No support / Contradictory]": 0.0}
UTILITY = {f"[Utility:{stars}]": (stars - 3) / 2 for stars in range(1, 6)}
"""The tokens of each kind, with what each is worth (sections 3.3 and A.3)."""

_OTHERS = ("[Continue to Use Evidence]", OPENS, CLOSES, "<s>", "</s>")
REFLECTION = re.compile("|".join(map(re.escape, (*RETRIEVES, *RELEVANCE, *SUPPORT, *UTILITY, *_OTHERS))))
"""All that a model says to itself."""


def critique(completion: Completion, weighed: bool = True) -> Critique:
    """The critique in a completion: from log-probabilities, or where it is not `weighed` from the tokens as written.

    Of each kind the first place counts, relevance at the very first, as in Self-RAG's script; the chances of a kind's
    tokens are taken against each other.
    """
    tokens = completion.tokens if weighed else written(completion.text)
    return Critique(
        worth(tokens[:1], RELEVANCE),
        worth([token for token in tokens if token.text.strip() in SUPPORT], SUPPORT),
        worth([token for token in tokens if token.text.strip() in UTILITY], UTILITY),
        exp(fmean(token.logprob for token in tokens)) if weighed and tokens else None,
    )


def reflected(one: Critique) -> bool:
    """True if any reflection token was found."""
    return {one.relevance, one.support, one.utility} != {None}


def worth(tokens: Sequence[Token], kind: Mapping[str, float]) -> float | None:
    """The expected worth of the kind's tokens at the first place; None: there is none, or none was weighed there."""
    chances: dict[str, float] = {}
    for first in tokens[:1]:
        every = ((first.text, first.logprob), *first.weighed)
        chances = {text.strip(): exp(log) for text, log in every if text.strip() in kind}
    total = sum(chances.values())
    return sum(kind[text] * chance for text, chance in chances.items()) / total if total else None


def written(text: str) -> tuple[Token, ...]:
    """The reflection tokens in a text, as if the model had been sure of each."""
    return tuple(Token(token, 0.0) for token in REFLECTION.findall(text))


def plain(text: str) -> str:
    """The text that is for the user."""
    return REFLECTION.sub("", text).strip()


def unmarked(text: str) -> str:
    """The text with "…" for each reflection token, of which none can be made by taking another out."""
    return REFLECTION.sub("…", text)
