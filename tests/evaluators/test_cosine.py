"""Likeness of meaning as a grade."""

from collections.abc import Sequence

import pytest

from surefoot.config.builder import Builder
from surefoot.config.settings import read
from surefoot.contracts import verify
from surefoot.embedders.hashing import Hashing
from surefoot.evaluators.cosine import Cosine
from surefoot.run.meter import metered
from surefoot.types import Passage, Thresholds
from surefoot.types.errors import ConfigError
from surefoot.types.protocols import Matrix

FITTED = Thresholds(upper=0.5, lower=0.2, strip=0.2, evaluator="cosine:hashing-256")


@pytest.fixture
def cosine() -> Cosine:
    """Over the hashing embedder."""
    return Cosine(Hashing(), FITTED)


def test_over_another_embedder_pairs_are_graded_and_no_thresholds_made_up() -> None:
    """Cosines of one model mean nothing under another's thresholds; without a grade none could be fitted."""
    unfitted = Cosine(Hashing())
    assert unfitted.grade([("bridge", Passage("1", "bridge"))])[0].score == pytest.approx(1.0)
    with pytest.raises(ConfigError, match="cosine:hashing-256 has no thresholds; fit them"):
        _ = unfitted.thresholds
    fitted = {"use": "cosine", "fitted": {"upper": 0.6, "lower": 0.3, "strip": 0.3}}
    assert Builder(read({"embedder": "hashing", "evaluator": fitted})).thresholds.upper == 0.6


def test_the_score_is_the_cosine(cosine: Cosine) -> None:
    """The same words are 1, no shared word is about 0, and half of them lies between."""
    pairs = [("red iron bridge", Passage(str(n), text)) for n, text in enumerate(("bridge iron red", "iron", "goat"))]
    same, half, other = (grade.score or 0.0 for grade in cosine.grade(pairs))
    assert same == pytest.approx(1.0)
    assert half == pytest.approx(3**-0.5)
    assert other == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize(("question", "text"), [("", "bridge"), ("bridge", ""), ("?", "bridge")])
def test_a_text_without_a_word_cannot_be_graded(cosine: Cosine, question: str, text: str) -> None:
    """It has no direction; the grade says so."""
    (grade,) = cosine.grade([(question, Passage("1", text))])
    assert grade.score is None
    assert grade.reason


def test_each_text_is_embedded_once(cosine: Cosine) -> None:
    """Ten passages for one question are eleven embeddings, not twenty."""
    seen: list[str] = []

    class Counting(Hashing):
        def embed(self, texts: Sequence[str]) -> Matrix:
            seen.extend(texts)
            return super().embed(texts)

    with metered() as spent:
        Cosine(Counting(), FITTED).grade([("Who?", Passage(str(n), f"text {n}")) for n in range(10)])
    assert (len(seen), spent.graded) == (11, 10)


def test_the_embedder_in_the_package_has_thresholds() -> None:
    """New weights have a new name, and want new thresholds."""
    from surefoot.embedders.static import Static

    verify("evaluator", Cosine(Static()))
