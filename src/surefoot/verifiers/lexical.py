"""Support by shared words: for a sentence that repeats its evidence it can tell, for one in other words it cannot."""

from __future__ import annotations

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
        evidence = text_of(assertion)
        there = {*words(evidence), *words(assertion.context)}
        made_up = [name for name in names(assertion.text) if not there.issuperset(words(name))]
        if made_up:
            spans = tuple(_places(assertion.text, {word for name in made_up for word in words(name)} - there))
            said = ", ".join(f"“{name}”" for name in dict.fromkeys(made_up))
            return Support(None, False, spans, f"not in the evidence: {said}", self.name)
        if any(_repeats(assertion.text, evidence[a:b]) for a, b in sentences(evidence)):
            return Support(None, True, name=self.name)
        return Support(
            None, None, (), "it uses other words than its evidence, which shared words cannot judge", self.name
        )


def _repeats(said: str, sentence: str) -> bool:
    """Whether the sentence holds nearly all telling words of what is said, every number among them, negated alike."""
    mine, there = words(said), words(sentence)
    telling = {stem(word) for word in mine if word not in STOP_WORDS} or {*map(stem, mine)}
    held = telling & {*map(stem, there)}
    numbers = {word for word in mine if word[0].isdigit()}
    alike = _NEGATIONS.isdisjoint(mine) == _NEGATIONS.isdisjoint(there)
    return alike and numbers <= {*there} and len(held) >= HELD * len(telling)


def _places(text: str, missing: set[str]) -> list[tuple[int, int]]:
    return [match.span() for match in WORD.finditer(text) if missing.intersection(words(match[0]))]
