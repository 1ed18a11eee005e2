"""Judges run over records, many at a time. Each judgement is kept as it is made, and none is made twice.

The run's folder holds `records.jsonl` (a `Record` each; a second line of one has its grading note, and counts),
`scores.jsonl` (a `Score` each under `<record id>\\t<metric>`; the last of a key counts), `passes.jsonl` (a `Pass` for
each time that it was run to the end), and `run.json`: what is judged, by what, in what environments.
"""

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

from surefoot.evaluate.score.summaries import SEED
from surefoot.judges._diamond import lacking, metrics
from surefoot.judges._scores import failed
from surefoot.llms._rate_limited import RateLimitedLLM
from surefoot.run import meter
from surefoot.run.store import Run, described, to_json, values
from surefoot.stats import figures
from surefoot.types import Metric, Record, Score
from surefoot.types.errors import ComponentError, UsageError
from surefoot.types.llms import Prices, Spent
from surefoot.types.protocols import Judge, MetricJudge, NoteWriter, PricedJudge

RECORDS = "records.jsonl"
SCORES = "scores.jsonl"
PASSES = "passes.jsonl"
ASSUMED = 2.0
"""Seconds that a call of a language model is assumed to take."""


@dataclass(frozen=True, slots=True)
class ScoringPlan:
    """The cost of a run, reckoned from its texts; replies that have to be asked for again are not in it."""

    records: int
    judgements: int
    reused: int
    """Judgements made before, which cost nothing."""
    not_applicable: int
    spent: Spent
    seconds: float
    """The time of calls alone: judges on this machine are not counted."""
    money: float | None
    """None: no prices are known."""


@dataclass(frozen=True, slots=True)
class ScoringProgress:
    """The progress of a run."""

    done: int
    total: int
    unscored: int
    calls: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Stage:
    """The calls, tokens and time of one metric in a pass, those of failed judgements too."""

    metric: str
    judged: int
    calls: int
    tokens: int
    seconds: float
    """The sum over its judgements, which are made side by side."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One time that a run was begun, or gone on with, and came to an end."""

    started: str
    """UTC, ISO 8601."""
    seconds: float
    money: float | None
    """None: no prices are known."""
    refused: int
    """Times that the endpoint asked to wait."""
    repeated: int
    """Calls made again after silence or a failure."""
    stages: tuple[Stage, ...]


OnProgress = Callable[[ScoringProgress], None]
Judging = Callable[[Judge, Record], Score]
"""Lets a judge judge a record, here or elsewhere; raises ComponentError."""


def key(record_id: str, metric: str) -> str:
    """The key of a score in `scores.jsonl`."""
    return f"{record_id}\t{metric}"


def plan(
    judges: Sequence[Judge],
    records: Sequence[Record],
    done: Mapping[str, Score] | None = None,
    *,
    in_flight: int = 1,
    seconds: float = ASSUMED,
    requests: float | None = None,
    prices: Prices | None = None,
) -> ScoringPlan:
    """The cost of these judgements; nothing is asked. `done` are the scores already there; a call is assumed to take
    `seconds`; `requests` is the most a minute."""
    known = done or {}
    missing = _missing(judges, records, known)
    spent = Spent()
    for judge, record in missing:
        if isinstance(judge, PricedJudge):
            spent = spent.plus(judge.estimate(record))
    calls = spent.calls * seconds / in_flight
    paced = 60 * spent.calls / requests if requests else 0.0
    return ScoringPlan(
        len(records),
        len(missing),
        len(judges) * len(records) - len(missing),
        sum(bool(lacking(about, record)) for judge, record in missing if (about := _about(judge))),
        spent,
        max(calls, paced),
        prices.of(spent.input_tokens, spent.output_tokens) if prices else None,
    )


def run(
    judges: Sequence[Judge],
    records: Sequence[Record],
    folder: Path,
    about: Mapping[str, Any] | None = None,
    *,
    in_flight: int = 1,
    model: RateLimitedLLM | None = None,
    on_progress: OnProgress = lambda _: None,
    judging: Judging = lambda judge, record: judge.judge(record),
) -> dict[str, Score]:
    """Judge what is not judged yet, `in_flight` at a time; returns all scores of the folder, by `key`.

    Scores are on disk as soon as they are made, so a killed run loses only what was in flight. The next run judges
    that, and whatever was unscored for a reason that may have passed. `about` is put on record and must be the same
    then. `model` is what the judges ask, if any; its spending is kept with the pass.

    Raises UsageError where records share an id, where the folder holds another run, or where another process runs it;
    ComponentError where `model` is refused whatever it asks, or has judged nothing of what the folder holds.
    """
    if twice := [id for id, times in Counter(record.id for record in records).items() if times > 1]:
        raise UsageError(f"{len(twice):,} records have an id that another has, such as {twice[0]!r}; give each its own")
    described = _described(judges, records, folder, about or {})
    known_records, known_scores, passes = (Run(folder, described, file) for file in (RECORDS, SCORES, PASSES))
    with known_records.held():
        known = known_records.values(Record)
        noted = [replace(record, note=known.get(record.id, record).note) for record in records]
        for record in noted:
            if record.id not in known or known[record.id].tags != record.tags:
                known_records.add(record.id, record)
        done = known_scores.values(Score)
        work = _Work(_missing(judges, noted, done), done, known_records, known_scores, on_progress, model, judging)
        work.run(in_flight)
        if work.progress.total:
            passes.add(work.started, work.summary())
    asking = {judge.metric for judge in judges if model and isinstance(judge, PricedJudge)}
    apply = [score for score in work.scores.values() if score.metric in asking and score.applies]
    if apply and all(score.value is None for score in apply):
        reason = Counter(score.unscored_because for score in apply).most_common(1)[0][0]
        raise ComponentError(f"{apply[0].judge} made none of {len(apply):,} judgements; most often because: {reason}")
    return work.scores


@dataclass
class _Work:
    """The judgements of one pass, taken one by one by several threads."""

    missing: Sequence[tuple[Judge, Record]]
    scores: dict[str, Score]
    records: Run
    score_file: Run
    on_progress: OnProgress
    model: RateLimitedLLM | None
    judging: Judging

    def __post_init__(self) -> None:
        self.progress = ScoringProgress(0, len(self.missing), 0, 0, 0)
        self.started, self._begun = datetime.now(UTC).isoformat(), time.monotonic()
        self._made: list[tuple[Score, float]] = []
        self._lock = Lock()

    def run(self, in_flight: int) -> None:
        """Make them all; what one thread raises ends the others, and is raised."""
        self.on_progress(self.progress)
        with ThreadPoolExecutor(max(1, min(in_flight, len(self.missing)))) as pool:
            try:
                for job in as_completed([pool.submit(self._make, *one) for one in self.missing]):
                    job.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                if self.model:
                    self.model.stop()  # or an endpoint that asks to wait would hold a user who wants to leave
                raise

    def summary(self) -> Pass:
        """The calls, tokens, time and money that they took."""
        model, stages = self.model, []
        for metric in dict.fromkeys(score.metric for score, _ in self._made):
            made = [(score, seconds) for score, seconds in self._made if score.metric == metric]
            calls, tokens = sum(score.calls for score, _ in made), sum(score.tokens for score, _ in made)
            stages.append(Stage(metric, len(made), calls, tokens, sum(seconds for _, seconds in made)))
        return Pass(
            self.started,
            time.monotonic() - self._begun,
            model.spending.spent.money if model and model.prices else None,
            model.refused if model else 0,
            model.repeated if model else 0,
            tuple(stages),
        )

    def _make(self, judge: Judge, record: Record) -> None:
        """Judge, and keep the score; a grading note is kept first, so that none is paid for twice."""
        begun = time.monotonic()
        try:
            with meter.metered() as spent:
                whole = judge.with_note(record) if isinstance(judge, NoteWriter) else record
            if whole is not record:
                with self._lock:
                    self.records.add(record.id, whole)
            score = self.judging(judge, whole)
        except ComponentError as error:
            score = failed(judge, record, error)
        if self.model and self.model.refusal:
            raise self.model.refusal
        score = replace(score, calls=score.calls + spent.calls, tokens=score.tokens + spent.tokens)
        with self._lock:
            if self.scores.get(name := key(score.record_id, score.metric)) != score:
                self.score_file.add(name, score)
            self.scores[name] = score
            self._made.append((score, time.monotonic() - begun))
            now, missed = self.progress, score.value is None and score.applies
            sums = now.unscored + missed, now.calls + score.calls, now.tokens + score.tokens
            self.progress = ScoringProgress(now.done + 1, now.total, *sums)
            self.on_progress(self.progress)


def _missing(
    judges: Sequence[Judge], records: Sequence[Record], done: Mapping[str, Score]
) -> list[tuple[Judge, Record]]:
    """The judgements to make, record by record: a budget that ends leaves whole records behind."""

    final = {name for name, score in done.items() if score.value is not None or not score.passing}
    return [(judge, one) for one in records for judge in judges if key(one.id, judge.metric) not in final]


def _about(judge: Judge) -> Metric | None:
    return judge.about if isinstance(judge, MetricJudge) else metrics().get(judge.metric)


def _described(
    judges: Sequence[Judge], records: Sequence[Record], folder: Path, about: Mapping[str, Any]
) -> dict[str, Any]:
    """The run's record. Time and hash are of its beginning: another version may write records with other fields."""
    hashed = hashlib.sha256()
    for record in records:
        # No judge sees the tags, so that a finished run can be sliced by another field.
        hashed.update(json.dumps(to_json(replace(record, tags={})), sort_keys=True).encode())
    counted = {"count": len(records), "sha256": hashed.hexdigest()}
    known = described(folder) if (folder / "run.json").exists() else {}
    written = values(folder / RECORDS, Record)  # which may have got grading notes there
    if [*written] == [one.id for one in records] and all(
        one == replace(written[one.id], tags=one.tags, note=one.note and written[one.id].note) for one in records
    ):
        counted = known.get("records", counted)
    others = [judge.about for judge in judges if isinstance(judge, MetricJudge) and judge.metric not in metrics()]
    systems = {json.dumps(one.trace.config, sort_keys=True): one.trace.config for one in records if one.trace}
    return {
        "experiment": folder.name,
        "created": known.get("created") or datetime.now(UTC).isoformat(),
        **about,
        "judges": {judge.metric: judge.name for judge in judges},
        **({"metrics": {other.name: to_json(other) for other in others}} if others else {}),
        "records": counted,
        "systems": [*systems.values()],
        "temperature": 0,
        "seeds": {"examples": SEED, "intervals": figures.SEED},
    }
