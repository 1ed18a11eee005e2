"""The frame of the built-in judges: a value with its reason, none with a reason, or that the metric does not apply."""

import json
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from surefoot.judges._diamond import lacking
from surefoot.run import meter
from surefoot.stats.calibration import Head
from surefoot.text.follow_up import standing_alone
from surefoot.types import Claim, Grade, Metric, Quote, Record, Score, Thresholds
from surefoot.types.errors import ComponentError
from surefoot.types.protocols import Judge


class Unscored(Exception):
    """Raised with the reason why a record gets no value."""

    def __init__(self, because: str, applies: bool = True) -> None:
        super().__init__(because)
        self.applies = applies


def lacks(what: str) -> Unscored:
    """The metric does not apply to a record without this."""
    return Unscored(f"the record has no {what}", applies=False)


@dataclass(frozen=True, slots=True)
class Finding:
    """A value, and what it rests on; the fields mean what they mean in `Score`."""

    value: float
    reason: str
    quotes: tuple[Quote, ...] = ()
    claims: tuple[Claim, ...] = ()
    rating: int | None = None
    repeats: tuple[float, ...] = ()


class BaseJudge(ABC):
    """A judge that declares its metric as `about`, from which it has its name, and finds a value."""

    about: Metric
    name: str
    metric: str

    def __init_subclass__(cls) -> None:
        if about := vars(cls).get("about"):
            cls.name = cls.metric = about.name

    @abstractmethod
    def find(self, record: Record) -> Finding:
        """The finding on a record that has all that the metric sees. Raises Unscored, and ComponentError for what may
        have passed when the record is judged again."""

    def judge(self, record: Record) -> Score:
        """The record's score, with the calls and tokens that a language model took; a failure of a part is its
        reason."""
        with meter.metered() as spent:
            score = self._score(record)
        meter.add(spent)
        return replace(score, calls=spent.calls, tokens=spent.tokens)

    def _score(self, record: Record) -> Score:
        try:
            if missing := lacking(self.about, record):
                raise Unscored(missing, applies=False)
            found = self.find(record)
        except Unscored as why:
            return Score(record.id, self.metric, None, unscored_because=str(why), applies=why.applies, judge=self.name)
        except ComponentError as error:
            return failed(self, record, error)
        return Score(
            record.id,
            self.metric,
            found.value,
            found.rating,
            found.reason,
            found.quotes,
            judge=self.name,
            repeats=found.repeats,
            claims=found.claims,
        )


def failed(judge: Judge, record: Record, error: ComponentError) -> Score:
    """No value, for a reason that may have passed when the record is judged again."""
    return Score(record.id, judge.metric, None, unscored_because=str(error), passing=True, judge=judge.name)


def standalone(record: Record) -> str:
    """The record's question, completed from those before it in the conversation where it goes on from them."""
    return standing_alone(record.question, [question for question, _ in record.history])


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
