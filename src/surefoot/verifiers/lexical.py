"""Support by shared words: for a sentence that repeats its evidence it can tell, for one in other words it cannot."""

from collections.abc import Sequence

from surefoot.text.words import STOP_WORDS, WORD, names, sentences, stem, words
from surefoot.types import Assertion, Support
from surefoot.verifiers._evidence import text_of, unjudged

HELD = 0.9
"""Share of a sentence's telling words that one sentence of the evidence holds, from which it repeats that."""
_NEGATIONS = frozenset("not no never none nor neither cannot without nobody nothing t".split())
"""Words that negate, with the "t" of a "did n't" that was cut apart."""


class LexicalVerifier:
    """A sentence is supported where one sentence of the evidence holds nearly all its words, negated alike.

    It is not supported where a name or a number of it stands neither in the evidence nor in the context; `unsupported`
    points at these. Of all else words say nothing: `supported` is None. No probability, no model.
    """

    name = "lexical"

    def support(self, assertions: Sequence[Assertion]) -> tuple[Support, ...]:
        """One verdict for each."""
        return tuple(unjudged(one, self.name) or self._read(one) for one in assertions)

    def _read(self, assertion: Assertion) -> Support:
        there = _there(assertion)
        if made_up := _made_up(assertion, there):
            spans = tuple(_places(assertion.text, {word for name in made_up for word in words(name)} - there))
            missing = ", ".join(f"“{name}”" for name in dict.fromkeys(made_up))
            return Support(None, False, spans, f"not in the evidence: {missing}", self.name)
        if repeated(assertion):
            return Support(None, True, name=self.name)
        return Support(
            None, None, (), "it uses other words than its evidence, which shared words cannot judge", self.name
        )


def repeated(assertion: Assertion) -> bool:
    """True if for each sentence of the assertion one of the evidence holds nearly all its words, and all names."""
    evidence, text = text_of(assertion), assertion.text
    if _made_up(assertion, _there(assertion)):
        return False
    mine, there = ([one[a:b] for a, b in sentences(one)] for one in (text, evidence))
    return bool(mine) and all(any(_repeats(own, one) for one in there) for own in mine)


def _there(assertion: Assertion) -> set[str]:
    return {*words(text_of(assertion)), *words(assertion.context)}


def _made_up(assertion: Assertion, there: set[str]) -> list[str]:
    return [name for name in names(assertion.text) if not there.issuperset(words(name))]


def _repeats(claim: str, sentence: str) -> bool:
    """True if the sentence holds nearly all telling words of the claim, every number among them, negated alike."""
    mine, there = words(claim), words(sentence)
    telling = {stem(word) for word in mine if word not in STOP_WORDS} or {*map(stem, mine)}
    held = telling & {*map(stem, there)}
    numbers = {word for word in mine if word[0].isdigit()}
    same_sign = _NEGATIONS.isdisjoint(mine) == _NEGATIONS.isdisjoint(there)
    return same_sign and numbers <= {*there} and len(held) >= HELD * len(telling)


def _places(text: str, missing: set[str]) -> list[tuple[int, int]]:
    return [match.span() for match in WORD.finditer(text) if missing.intersection(words(match[0]))]
