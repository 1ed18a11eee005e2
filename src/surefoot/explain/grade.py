"""The contribution of each word of question and passage to the evaluator's score.

The evaluator that decides is asked about texts with some words missing, so nothing of its inside needs to be known. The
separators that it puts between question and passage are its own, and never taken out.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any, Literal

import numpy as np

from surefoot.evidence.exclusions import Evidence
from surefoot.evidence.policies import finite
from surefoot.explain.shapley import Counted, Masks, Method, Shares, Vector, shares
from surefoot.text.words import names, places_of
from surefoot.types import Attribution, Passage, Trace, Unit
from surefoot.types.errors import ComponentError, ConfigError, UsageError
from surefoot.types.protocols import Evaluator, Pair

Baseline = Literal["delete", "filler", "pad"]
Side = Literal["question", "title", "text"]

SIDES: tuple[Side, ...] = ("question", "title", "text")
NEUTRAL: dict[str, str] = {"question": "what", "title": "it", "text": "it"}
"""Words without content; those of question and passage differ, or they would match each other."""
PAD = "…"
"""A sign without letters, which keeps the other words in place."""


@dataclass(frozen=True, slots=True)
class Words:
    """A question and a passage, with their units."""

    question: str
    passage: Passage
    units: tuple[Unit, ...]

    def source(self, side: Side) -> str:
        """The whole text of a side."""
        return {"question": self.question, "title": self.passage.title, "text": self.passage.text}[side]

    def pair(self, present: Sequence[bool], baseline: Baseline) -> Pair:
        """The question and the passage with only these units; the baseline stands for the others."""
        if all(present):
            return self.question, self.passage
        question, title, text = (self._side(side, present, baseline) for side in SIDES)
        return question, replace(self.passage, title=title, text=text)

    def _side(self, side: Side, present: Sequence[bool], baseline: Baseline) -> str:
        whole, pieces, at = self.source(side), [], 0
        for unit, here in zip(self.units, present, strict=True):
            if unit.side == side:
                gone = "" if baseline == "delete" else instead(unit, baseline)
                # With the space before it, or two would be left.
                pieces += [whole[at : unit.end]] if here else [f" {gone}" if gone else ""]
                at = unit.end
        return "".join([*pieces, whole[at:]]).strip()


def instead(unit: Unit, baseline: Baseline) -> str:
    """The unit's replacement: as many fillers, or signs, as it has words."""
    one = NEUTRAL[unit.side] if baseline == "filler" else PAD
    return " ".join([one] * len(unit.words.split()))


def taken_apart(question: str, passage: Passage, *, entities: bool = False) -> Words:
    """The units of question, title and text: words with the punctuation at them; with `entities`, a name is one."""
    bare = Words(question, passage, ())
    return replace(bare, units=tuple(unit for side in SIDES for unit in _units(side, bare.source(side), entities)))


def _units(side: Side, text: str, entities: bool) -> Iterator[Unit]:
    found = places_of(names(text), text) if entities else []

    def name(span: tuple[int, int]) -> tuple[int, int]:
        """Of the name that it touches; of itself where it touches none."""
        return next((place for place in found if place[0] < span[1] and span[0] < place[1]), span)

    for _, same in groupby((match.span() for match in re.finditer(r"\S+", text)), key=name):
        spans = list(same)
        start, end = spans[0][0], spans[-1][1]
        yield Unit(side, start, end, text[start:end])


class ScoreFunction:
    """The game of the words: the value of a coalition is the evaluator's score of its words.

    A text that cannot be graded, such as an empty one, counts as a question and a passage that say nothing ("what",
    "it"); `notes` has their number. Raises ComponentError where the pair itself has no score.
    """

    def __init__(self, evaluator: Evaluator, words: Words, baseline: Baseline) -> None:
        self._evaluator, self._words, self._baseline = evaluator, words, baseline
        self._without = Counter[str]()
        if self.graded([(words.question, words.passage)])[0] is None:
            raise ComponentError(f"{evaluator.name} cannot grade this passage: {next(iter(self._without))}")

    def __call__(self, masks: Masks) -> Vector:
        """The score of each coalition."""
        found = self.graded([self._words.pair(mask.tolist(), self._baseline) for mask in masks])
        return np.array([self.nothing if score is None else score for score in found])

    def graded(self, pairs: Sequence[Pair]) -> list[float | None]:
        """The score of each pair, in order; None where it cannot be graded, for a reason that `notes` tells."""
        grades = [finite(grade) for grade in self._evaluator.grade(pairs)]
        if len(grades) != len(pairs):
            raise ComponentError(f"{self._evaluator.name} gave {len(grades)} grades for {len(pairs)} passages")
        self._without.update(grade.reason or "it gave no reason" for grade in grades if grade.score is None)
        return [grade.score for grade in grades]

    @cached_property
    def nothing(self) -> float:
        """The score of a text that cannot be graded."""
        blank = replace(self._words.passage, title="", text=NEUTRAL["text"])
        grade = finite(self._evaluator.grade([(NEUTRAL["question"], blank)])[0])
        if grade.score is None:
            raise ComponentError(
                f"{self._evaluator.name} grades neither an empty passage nor one that says nothing "
                f"({grade.reason}), so there is no score to start from"
            )
        return grade.score

    @property
    def notes(self) -> tuple[str, ...]:
        """The number of texts that could not be graded, why, and which score they got."""
        return tuple(
            f"{times:,} of the texts could not be graded ({why}); each counts as {self.nothing:.4g}"
            for why, times in self._without.items()
        )


def explain(
    evaluator: Evaluator,
    question: str,
    passage: Passage,
    *,
    baseline: Baseline = "delete",
    entities: bool = False,
    method: Method | None = None,
    tolerance: float = 0.1,
    most: int = 4000,
    seed: int = 0,
) -> Attribution:
    """The Shapley values of the words of question, title and text in the evaluator's raw score.

    `tolerance`, `most` and `method` are those of `shapley.shares`. Cost: one graded pair an evaluation. Raises
    ComponentError where the pair has no score, ConfigError where there is no word.
    """
    words = taken_apart(question, passage, entities=entities)
    if not words.units:
        raise ConfigError("neither the question nor the passage has a word to explain")
    score = ScoreFunction(evaluator, words, baseline)
    game, count = Counted(score), len(words.units)
    found = shares(game, count, method=method, tolerance=tolerance, most=most, seed=seed)
    return attribution(
        found,
        game,
        of=f"score of {evaluator.name}",
        question=question,
        passage=passage,
        units=words.units,
        baseline=baseline,
        seed=seed,
        tolerance=tolerance,
        notes=score.notes,
    )


def as_graded(trace: Trace, evaluator: Evaluator, passage_id: str = "best") -> Passage:
    """A passage of the trace as this evaluator was given it, with what is no evidence blanked out. "best": the best
    graded one. Raises UsageError where there is none."""
    every = {passage.id: passage for passage in trace.passages + trace.external}
    scores = {grade.passage_id: grade.score for grade in trace.grades if grade.score is not None}
    chosen = max(scores, key=scores.__getitem__, default="") if passage_id == "best" else passage_id
    if chosen not in every:
        raise UsageError(f"the trace has no passage '{passage_id}'; there are: {', '.join(every) or 'none'}")
    return Evidence.for_question(evaluator, trace.standalone_question).masked(every[chosen])


def attribution(found: Shares, game: Counted, **fields: Any) -> Attribution:
    """The shares with the other `fields` of an attribution."""
    values = tuple(found.values.tolist())
    same = {name: getattr(found, name) for name in ("base", "full", "gap", "method", "reached")}
    return Attribution(
        values=values,
        errors=tuple(found.errors.tolist()),
        ties=ties(values),
        evaluations=game.evaluations,
        **same,
        **fields,
    )


def ties(values: Sequence[float]) -> tuple[tuple[int, ...], ...]:
    """Groups of the numbers of equal values, to nine places behind the point; unique values are in none."""
    same: dict[float, list[int]] = {}
    for number, value in enumerate(values):
        same.setdefault(round(value, 9) + 0.0, []).append(number)
    return tuple(tuple(group) for group in same.values() if len(group) > 1)
