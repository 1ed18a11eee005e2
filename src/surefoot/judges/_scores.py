"""Scores of judges: a value with its reason, none with a reason, or that the metric does not apply."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.resources import files

from surefoot.run import meter
from surefoot.stats.calibration import Head
from surefoot.text.follow_up import standing_alone
from surefoot.types import Grade, Quote, Record, Score, Thresholds
from surefoot.types.errors import ComponentError
from surefoot.types.protocols import Judge


def standalone(record: Record) -> str:
    """The record's question, completed from those before it in the conversation where it goes on from them."""
    return standing_alone(record.question, [question for question, _ in record.history])


def scored(judge: Judge, record: Record, value: float, reason: str, *quotes: Quote) -> Score:
    """A value in [0, 1], and what it rests on."""
    return Score(record.id, judge.metric, value, reason=reason, quotes=quotes, judge=judge.name)


def unscored(judge: Judge, record: Record, because: str, applies: bool = True) -> Score:
    """No value, and why."""
    return Score(record.id, judge.metric, None, unscored_because=because, applies=applies, judge=judge.name)


def lacks(judge: Judge, record: Record, what: str) -> Score:
    """The metric does not apply to a record without this."""
    return unscored(judge, record, f"the record has no {what}", applies=False)


def failed(judge: Judge, record: Record, error: ComponentError) -> Score:
    """No value, for a reason that may have passed when the record is judged again."""
    return replace(unscored(judge, record, str(error)), passing=True)


def metered(judge: Judge, record: Record, judged: Callable[[], Score]) -> Score:
    """The score that a language model gave, with its calls and tokens; a failure of the model is its reason."""
    with meter.metered() as spent:
        try:
            score = judged()
        except ComponentError as error:
            score = failed(judge, record, error)
    meter.add(spent)
    return replace(score, calls=spent.calls, tokens=spent.tokens)


@cache
def equivalence() -> Head:
    """The package's own: the chance that people find an answer right, by the numbers of a `Likeness`."""
    return Head.of(json.loads(files("surefoot.judges").joinpath("head.json").read_text(encoding="utf-8")))


def chance(grade: Grade, own: Thresholds) -> float | None:
    """The evaluator's probability, or the score's place between its own thresholds. None: it could not grade."""
    if grade.score is None or not math.isfinite(grade.score):
        return None
    if grade.probability is not None:
        return grade.probability
    width = own.upper - own.lower
    return min(1.0, max(0.0, (grade.score - own.lower) / width)) if width else float(grade.score >= own.upper)
