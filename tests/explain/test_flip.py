"""The words that flip a label do, and each of them is needed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from surefoot.explain.action import why
from surefoot.explain.flip import fewest_words
from surefoot.explain.grade import explain
from surefoot.types import Action, Grade, Passage, Thresholds, Trace
from surefoot.types.errors import ConfigError
from surefoot.types.protocols import Pair

OWN = Thresholds(1.0, 0.0, 0.0, "planted")


class Planted:
    """Scores a text by its words."""

    name, thresholds = "planted", OWN

    def __init__(self, **worth: float) -> None:
        self.worth = worth

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        return tuple(
            Grade(passage.id, sum(self.worth.get(word, 0.0) for word in passage.text.split())) for _, passage in pairs
        )


def test_the_fewest_words_are_found() -> None:
    """Nothing else is in them, and the score is that of the text without them."""
    planted = Planted(iron=0.6, bridge=0.5, old=-0.1)
    found = explain(planted, "Who", Passage("p", "an old iron bridge stands"))
    flip = fewest_words(planted, found, OWN)
    assert flip is not None
    assert [unit.words for unit in flip.units] == ["iron"]
    assert (flip.before, flip.after, flip.score) == (Action.CORRECT, Action.AMBIGUOUS, pytest.approx(0.4))


def test_a_word_that_is_not_needed_is_put_back() -> None:
    """Greed takes the strongest first; here the second alone is enough, as the evaluator wants either of two."""

    class Either(Planted):
        def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
            return tuple(
                Grade(
                    p.id,
                    0.8 * ("a" in p.text.split())
                    + 0.7 * ("b" in p.text.split())
                    + 0.3 * ("a" in p.text.split() or "c" in p.text.split()),
                )
                for _, p in pairs
            )

    either, passage = Either(), Passage("p", "a b c")
    found = explain(either, "Who", passage)
    flip = fewest_words(either, found, Thresholds(1.2, 1.05, 0.0, "planted"))
    assert flip is not None
    assert len(flip.units) == 1


def test_a_bad_passage_is_flipped_upwards() -> None:
    """For INCORRECT, what holds the score down goes first."""
    planted = Planted(iron=0.5, never=-2.0)
    found = explain(planted, "Who", Passage("p", "never an iron bridge"))
    flip = fewest_words(planted, found, OWN)
    assert flip is not None
    assert [unit.words for unit in flip.units] == ["never"]
    assert flip.after is Action.AMBIGUOUS


def test_where_no_words_flip_it_nothing_is_claimed() -> None:
    """Nothing is worth anything here."""
    found = explain(Planted(), "Who", Passage("p", "an iron bridge"))
    assert fewest_words(Planted(), found, OWN) is None


def test_passages_have_no_words_to_take() -> None:
    """An attribution of passages is refused."""
    grades = (Grade("p", 1.0, label=Action.CORRECT),)
    from surefoot.evidence.policies import Threshold

    trace = Trace("t", "Who?", (Passage("p", "text"),), grades, Threshold(OWN).decide(grades))
    carried = why(trace).carried
    assert carried is not None
    with pytest.raises(ConfigError, match="attribution of passages"):
        fewest_words(Planted(), carried, OWN)
