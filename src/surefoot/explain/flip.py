"""The fewest words whose loss changes a passage's label; every loss is graded, none is inferred."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from surefoot.evidence.policies import label
from surefoot.explain.grade import ScoreFunction, Words
from surefoot.types import Action, Attribution, Thresholds, Unit
from surefoot.types.errors import ConfigError
from surefoot.types.protocols import Evaluator


@dataclass(frozen=True, slots=True)
class Flip:
    """Without these words the label is another; with any one of them back, it is not."""

    units: tuple[Unit, ...]
    """In the order of the text."""
    score: float
    """Without them."""
    before: Action
    after: Action
    evaluations: int


def fewest_words(
    evaluator: Evaluator, found: Attribution, thresholds: Thresholds, side: str = "text", most: int = 40
) -> Flip | None:
    """The words of one side (question, title or text) whose loss flips the label; None: no `most` of them do.

    Greedy: words go in the order in which the attribution says that they hold the label up (for INCORRECT, down); then
    each that was not needed comes back. So no word can be spared, though other words might be fewer. Words are taken
    out by the attribution's baseline; a text without a grade flips nothing. Cost: `most` graded pairs, and one for each
    word. Raises ConfigError for an attribution of passages.
    """
    if found.passage is None or not (baseline := found.baseline):
        raise ConfigError("this is an attribution of passages; words are flipped from one of words")
    words = Words(found.question, found.passage, found.units)
    score_of, before, every = (ScoreFunction(evaluator, words, baseline), label(found.full, thresholds), words.units)

    def flipping(losses: Sequence[Sequence[int]]) -> list[tuple[int, float]]:
        """Of the losses that flip the label, the number and the score after it."""
        pairs = [words.pair([n not in lost for n in range(len(every))], baseline) for lost in losses]
        scores = enumerate(score_of.graded(pairs))
        return [(n, score) for n, score in scores if score is not None and label(score, thresholds) is not before]

    sign = 1 if before is Action.INCORRECT else -1
    mine = [n for n, unit in enumerate(every) if unit.side == side]
    order = sorted(mine, key=lambda n: sign * found.values[n])[:most]
    tried = flipping([order[: n + 1] for n in range(len(order))])
    if not tried:
        return None
    first, score = tried[0]
    lost = order[: first + 1]
    for word in order[:first]:
        spared = [n for n in lost if n != word]
        if without := flipping([spared]):
            lost, score = spared, without[0][1]
    graded = 1 + len(order) + first
    return Flip(tuple(every[n] for n in sorted(lost)), score, before, label(score, thresholds), graded)
