"""The plan of an improvement: the configuration, the questions in two halves, and the judge of their answers."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from surefoot.config.builder import Builder
from surefoot.config.settings import Config
from surefoot.evaluate.ask.choices import RULES, rules
from surefoot.evaluate.ask.questions import Example, folded, hashed
from surefoot.evaluate.ask.runs import OnDone, Spread
from surefoot.evaluate.diagnose.diagnosis import ScoredRun, diagnose
from surefoot.evaluate.diagnose.evidence import declines, held_by
from surefoot.evaluate.diagnose.remedies import Levers
from surefoot.evaluate.diagnose.settings import SystemSettings
from surefoot.evaluate.improve.controls import Change
from surefoot.evaluate.patch import Patch, tried
from surefoot.evaluate.records import traces as traced
from surefoot.evaluate.score import scoring as scored
from surefoot.evaluate.score.lexical import wordings
from surefoot.index.search import Index
from surefoot.llms._rate_limited import RateLimitedLLM
from surefoot.retrievers import _given
from surefoot.types import Diagnosis, Record, Score, Trace
from surefoot.types.errors import UsageError
from surefoot.types.protocols import Judge

Half = Literal["development", "held-out"]
Scores = Callable[[Sequence[Record], Path], Sequence[Score]]
"""Scores records; may keep paid judgements in the folder. Called again when a run is resumed."""
Diagnose = Callable[[ScoredRun], Diagnosis]
Spreading = Callable[[Config], AbstractContextManager[Spread]]
"""Opens the pipeline of a configuration, for questions to be asked of it."""
Watching = Callable[[str], AbstractContextManager[OnDone]]
"""Shows the progress of the run of this name."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """The judge of answers, and the metric that decides."""

    metric: str
    judges: tuple[str, ...]
    """Names for the run's record."""
    scores: Scores


def by_rules(run: ScoredRun) -> Diagnosis:
    """The diagnosis by rules; the index, if it is searched, is asked whether it holds the evidence that was missed."""
    if searched_index(run.config) is None:
        return diagnose(run)
    with Index.open(**run.config["index"]) as index:
        return diagnose(replace(run, corpus=held_by(index)))


@dataclass(frozen=True, slots=True)
class ImprovementPlan:
    """A configuration to improve, the questions to do it on, and the judge of its answers."""

    examples: Sequence[Example]
    config: Config
    folder: Path
    scoring: Scoring
    spreading: Spreading
    watching: Watching
    diagnose: Diagnose = by_rules
    own: Mapping[str, Patch] = field(default_factory=dict)
    """The user's patches, by name, tried beside those of the diagnosis."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """The run's record of its data."""
    seed: int = 0
    outside: bool = False
    """True if a patch may name components that ask other machines."""
    levers: Levers | None = None
    """Settings that a placebo is drawn from; None: those of `controls`."""
    change: Change = tried
    """Makes the configuration with a patch."""

    def half(self, name: Half) -> list[Example]:
        """The questions of this half, in their order."""
        return [example for example in self.examples if side(example, self.seed) == name]


def side(example: Example, seed: int) -> Half:
    """The half of a question, by a hash of its words, so that other questions do not move it."""
    return "held-out" if hashed(f"{seed}\n{folded(example.question)}", 16)[0] & 1 else "development"


def scoring_by(metric: str | None, examples: Sequence[Example], config: Config) -> Scoring:
    """Scoring by a rule for gold answers, or by the judge that is configured for a metric; None: by the usual rule."""
    if metric is None or metric in RULES:
        return golds(examples, metric)
    builder = Builder(config)
    judge = next((one for one in wordings() if one.metric == metric), None) or builder.judges([metric])[0]
    return judged(judge, builder.in_flight, builder.judging_for([judge]))


def golds(examples: Sequence[Example], metric: str | None = None) -> Scoring:
    """Scoring by gold answers and a rule of `choices.RULES`: 1 for right, 0 for wrong or refused; of a question that is
    marked as one without an answer, 1 for a refusal. A question that failed has no score. `metric` None: "strict" where
    all others are choices or claims, else "match_lower". Raises UsageError where an answer is missing, or the rule is
    not for a question."""
    golden = [example for example in examples if any(answer.strip() for answer in example.answers)]
    if bare := [example.id for example in examples if example.answerable and example not in golden]:
        text = f"{len(bare)} questions have no gold answer, the first is {bare[0]}; give them, or --metric"
        raise UsageError(f'{text}, or say "answerable": false where a refusal is right')
    rule = metric or ("strict" if all("strict" in rules(example) for example in golden) else "match_lower")
    if unfit := [example.id for example in golden if rule not in rules(example)]:
        raise UsageError(f"the rule '{rule}' is not for {len(unfit)} of the questions, the first is {unfit[0]}")
    by_id = {example.id: example for example in golden}

    def scores(records: Sequence[Record], folder: Path) -> list[Score]:
        failed = {r.id: r.trace.error for r in records if r.trace and r.trace.error}
        texts = {r.id: answer_text(r) for r in records if r.id not in failed}
        right = {id: RULES[rule](text, by_id[id]) if id in by_id else not text for id, text in texts.items()}
        unscored = [Score(id, rule, None, unscored_because=why, judge=rule) for id, why in failed.items()]
        known = [Score(id, rule, float(one), reason=f"by the rule {rule}", judge=rule) for id, one in right.items()]
        return known + unscored

    return Scoring(rule, (rule,), scores)


def judged(judge: Judge, in_flight: int = 1, model: RateLimitedLLM | None = None) -> Scoring:
    """Scoring by a judge, each judgement kept beside the traces and paid once; `model` is the one it asks, if any."""

    def scores(records: Sequence[Record], folder: Path) -> list[Score]:
        return [*scored.run([judge], records, folder / "scores", in_flight=in_flight, model=model).values()]

    return Scoring(judge.metric, (judge.name,), scores)


def record(example: Example, trace: Trace) -> Record:
    """The answered question with its gold answers, as a judge sees it; of a system that is not ours, without a trace
    unless it failed."""
    made = replace(traced.record(trace, example.id), truths=example.answers, answerable=example.answerable)
    if SystemSettings(trace.config).ours or trace.error:
        return made
    return replace(
        made, contexts=trace.passages or None, answer=trace.answer.text if trace.answer else None, trace=None
    )


def searched_index(config: Mapping[str, Any]) -> Path | None:
    """The index's file; None: the texts come with the questions, or another engine holds them."""
    if not SystemSettings(config).ours:
        return None
    path = Path(config["index"]["path"])
    texts = config["retriever"]["use"] == _given.USE
    return None if texts or not path.exists() else path


def answer_text(record: Record) -> str:
    """The answer for a rule; empty: refused, or failed."""
    if record.trace is None:
        return "" if declines(record.answer or "") else record.answer or ""
    made = record.trace.answer
    return "" if made is None or made.refused else record.answer or ""
