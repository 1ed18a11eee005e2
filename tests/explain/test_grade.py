"""Words get what they are worth to the evaluator, and nothing else is taken apart."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from surefoot.explain.grade import ScoreFunction, explain, instead, taken_apart, ties
from surefoot.types import Grade, Passage, Thresholds
from surefoot.types.errors import ComponentError, ConfigError
from surefoot.types.protocols import Pair

QUESTION = "Who built the Ruvel Bridge?"
PASSAGE = Passage("p", "The Ruvel Bridge was built in 1911.  It is iron.", title="Ruvel Bridge")


class Planted:
    """An evaluator with known worth: of words alone, and of a question word with a passage word."""

    name = "planted"
    thresholds = Thresholds(1.0, 0.0, 0.0, "planted")

    def __init__(self, alone: dict[str, float], together: dict[tuple[str, str], float] | None = None) -> None:
        self.alone, self.together = alone, together or {}
        self.calls: list[int] = []

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        self.calls.append(len(pairs))
        return tuple(self._grade(question.split(), passage) for question, passage in pairs)

    def _grade(self, asked: list[str], passage: Passage) -> Grade:
        said = passage.text.split()
        if not said or not asked:
            return Grade(passage.id, None, reason="the passage is empty")
        score = sum(worth for word, worth in self.alone.items() if word in said)
        score += sum(worth for (one, other), worth in self.together.items() if one in asked and other in said)
        return Grade(passage.id, score)


def values(found) -> dict[tuple[str, str], float]:  # type: ignore[no-untyped-def]
    return {(unit.side, unit.words): value for unit, value in zip(found.units, found.values, strict=True)}


def test_planted_values_are_recovered() -> None:
    """What a word is worth alone is its own; what two are worth together, half of it each."""
    planted = Planted({"iron": 2.0, "old": -1.0}, {("built", "iron"): 1.0})
    found = explain(planted, "Who built", Passage("p", "an old iron hut"))
    assert found.method == "exact"
    assert values(found) == pytest.approx(
        {
            ("question", "Who"): 0.0 + found.values[0],
            ("question", "built"): 0.5 + found.values[0],
            ("text", "an"): found.values[2],
            ("text", "old"): values(found)["text", "old"],
            ("text", "iron"): values(found)["text", "iron"],
            ("text", "hut"): found.values[2],
        }
    )
    assert values(found)["text", "iron"] > 1.5
    assert abs(found.gap) < 1e-9


def test_planted_values_are_recovered_from_samples() -> None:
    """Of forty words, with the sampled method; fillers keep a text there, so that nothing is without a grade."""
    random = np.random.default_rng(0)
    worth = {f"w{n}": float(random.normal()) for n in range(40)}
    planted = Planted(worth, {("built", "w3"): 1.0})
    found = explain(planted, "Who built", Passage("p", " ".join(worth)), baseline="filler", tolerance=0.001)
    truth = [0.0, 0.5] + [value + (0.5 if word == "w3" else 0.0) for word, value in worth.items()]
    assert found.method == "regression"
    assert found.values == pytest.approx(truth, abs=1e-6)
    assert found.reached
    assert found.notes == ()


def test_units_are_words_where_they_stand() -> None:
    """With their punctuation; question, title and text each by their own offsets."""
    words = taken_apart(QUESTION, PASSAGE)
    assert [unit.words for unit in words.units if unit.side == "question"] == QUESTION.split()
    assert [unit.words for unit in words.units if unit.side == "text"] == PASSAGE.text.split()
    assert all(words.source(unit.side)[unit.start : unit.end] == unit.words for unit in words.units)  # type: ignore[arg-type]


def test_a_name_may_be_one_unit() -> None:
    """Wherever it stands; other words stay on their own."""
    units = taken_apart(QUESTION, PASSAGE, entities=True).units
    assert [unit.words for unit in units if unit.side == "question"] == ["Who", "built", "the", "Ruvel Bridge?"]
    assert [unit.words for unit in units][4:6] == ["Ruvel Bridge", "The"]


def test_with_every_word_the_pair_is_as_it_was_given() -> None:
    """To the last space; and what is taken out leaves no two spaces."""
    words = taken_apart(QUESTION, PASSAGE)
    everything = [True] * len(words.units)
    assert words.pair(everything, "delete") == (QUESTION, PASSAGE)
    without = [unit.words not in ("built", "was", "iron.") for unit in words.units]
    question, passage = words.pair(without, "delete")
    assert question == "Who the Ruvel Bridge?"
    assert passage == replace(PASSAGE, text="The Ruvel Bridge in 1911.  It is")


@pytest.mark.parametrize(
    ("baseline", "question", "text"), [("filler", "Who what", "an it it hut"), ("pad", "Who …", "an … … hut")]
)
def test_something_may_stand_where_words_were(baseline, question, text) -> None:  # type: ignore[no-untyped-def]
    """One for each word, so that the places of the others stay."""
    words = taken_apart("Who built", Passage("p", "an old iron hut"))
    asked, passage = words.pair([True, False, True, False, False, True], baseline)
    assert (asked, passage.text) == (question, text)
    name = taken_apart(QUESTION, PASSAGE, entities=True).units[3]
    assert len(instead(name, baseline).split()) == 2


def test_what_cannot_be_graded_counts_as_is_declared() -> None:
    """As the score of a pair that says nothing; the result says it too."""
    planted, passage = Planted({"iron": 2.0, "it": -3.0}), Passage("p", "iron")
    found = explain(planted, "Who", passage)
    assert found.base == -3.0
    assert found.notes == ("3 of the texts could not be graded (the passage is empty); each counts as -3",)


def test_nothing_is_made_up_for_a_pair_without_a_score() -> None:
    """Neither for the passage itself, nor where even words that say nothing are not graded."""

    class Picky(Planted):
        def _grade(self, asked: list[str], passage: Passage) -> Grade:
            return super()._grade(asked, replace(passage, text=passage.text.replace("it", "")))

    with pytest.raises(ComponentError, match="cannot grade this passage: the passage is empty"):
        explain(Planted({}), "Who", Passage("p", " "))
    with pytest.raises(ComponentError, match="no score to start from"):
        explain(Picky({}), "Who", Passage("p", "iron"))
    with pytest.raises(ConfigError, match="has a word to explain"):
        explain(Always(), "", Passage("p", ""))


class Always(Planted):
    """Grades even nothing."""

    def __init__(self) -> None:
        super().__init__({})

    def _grade(self, asked: list[str], passage: Passage) -> Grade:
        return Grade(passage.id, 1.0)


def test_ties_are_marked() -> None:
    """The paper's budget left runs of tied values, and it ranked them."""
    assert ties([0.5, 1.0, 0.5, -0.0, 0.0, 2.0]) == ((0, 2), (3, 4))


@pytest.mark.slow
def test_the_shipped_evaluator_is_explained() -> None:
    """The whole is the score that it gives, and the words that answer raise it."""
    minilm = pytest.importorskip("surefoot.evaluators.minilm").MiniLM()
    score = minilm.grade([(QUESTION, PASSAGE)])[0].score
    found = explain(minilm, QUESTION, PASSAGE, most=300)
    assert found.full == score
    assert abs(found.gap) < 1e-3
    assert ScoreFunction(minilm, taken_apart(QUESTION, PASSAGE), "delete").notes == ()
