"""The diagnosis of a run by rules alone: which stages failed the answers, why, and what to change first."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from statistics import fmean
from typing import Any, Self

from surefoot.evaluate.diagnose.evidence import Corpus
from surefoot.evaluate.diagnose.failures import STAGES, Failure, contexts, failures
from surefoot.evaluate.diagnose.patterns import Trait, missing, shared, traits
from surefoot.evaluate.diagnose.record_context import STRONG, WEAK, RecordContext, quoted
from surefoot.evaluate.diagnose.remedies import REMEDIES, Levers, Remedy, patches_of
from surefoot.evaluate.diagnose.settings import SystemSettings, named, written
from surefoot.evaluate.patch import Patch, toml_lines
from surefoot.evaluate.records.folder import Evaluated
from surefoot.evaluate.report.form import MOST_ITEMS
from surefoot.evaluate.score.calibration import Calibration
from surefoot.evaluate.score.summaries import average, sampled
from surefoot.explain.explanation import printable
from surefoot.judges._diamond import metrics as diamond, title
from surefoot.stats.figures import wilson
from surefoot.stats.text import NONE, percent
from surefoot.text import toml_values
from surefoot.types import ActionItem, Diagnosis, Insight, Metric, Priority, Record, Score, Summary

CRITICAL, HIGH = 0.25, 0.1
"""Shares of the records lost to a stage from which its item is critical, and high."""
CASES = 4
"""Records that an item quotes at most."""
COMES_BACK = 0.5
"""Share of the records within reach of a patch that is expected back. A prior, to be replaced by what ledgers show."""
DOUBT = 20
"""Records that a prediction is shrunk by, as if so many more had been judged and the stage had lost none of them."""
PROVE = "Keep the change only if held-out questions gain."
"""The last step of an item that was not tried."""
LONGEST_QUESTION = 24
"""Words of a question that are quoted."""

SENTENCES = 3
"""What low-scored records share is told in so many sentences at most."""

FORM = "format"
"""The stage whose answers are right and badly put."""
_WORDING = toml_values.beside(__file__, "wording.toml")
RULES = "rules"
"""The author of a diagnosis without a model."""


@dataclass(frozen=True)
class ScoredRun:
    """Answered questions, their scores with the summaries, and the configuration that answered them."""

    records: Sequence[Record]
    scores: Sequence[Score]
    summaries: Sequence[Summary]
    config: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Metric] = field(default_factory=diamond)
    """The metrics that texts tell of, by name."""
    circumstances: Mapping[str, Any] = field(default_factory=dict)
    """The commit of the system and the seeds, where they are known."""
    corpus: Corpus | None = None
    """Says whether the corpus holds a record's evidence; None: a page that is not there can look like one that
    retrieval missed."""
    levers: Levers | None = None
    """What can be changed of a system that is not ours; None: unknown."""
    calibrations: Sequence[Calibration] = ()
    """The cuts that people's labels moved."""

    @classmethod
    def of(cls, run: Evaluated) -> Self:
        """The evaluation of a folder; without settings of its own, those of its first trace."""
        traced = (record.trace.config for record in run.records if record.trace and record.trace.config)
        config = run.about.get("config") or next(traced, {})
        circumstances = {key: value for key in ("commit", "seeds") if (value := run.about.get(key))}
        made = cls(run.records, run.scores, run.summaries, config, run.metrics, circumstances)
        return replace(made, calibrations=run.calibrations)

    @cached_property
    def samples(self) -> dict[str, tuple[Score, ...]]:
        """Examples of each metric, the lowest first."""
        return sampled(self.scores)

    @cached_property
    def cases(self) -> tuple[RecordContext, ...]:
        """Each record with all that tells whether it is lost, and by which stage."""
        return contexts(self.records, self.scores, self.config, self.corpus, self.metrics, self.calibrations)

    @cached_property
    def by_id(self) -> dict[str, Record]:
        """The records by their ids."""
        return {record.id: record for record in self.records}

    @property
    def judged(self) -> list[Summary]:
        """The summaries of `metrics` that have a mean."""
        return [summary for summary in self.summaries if summary.metric in self.metrics and summary.mean is not None]

    @cached_property
    def traits(self) -> dict[str, frozenset[Trait]]:
        """What each record could share with others, by its id."""
        return {record.id: traits(record) for record in self.records}

    def average(self, metric: str) -> str:
        """The mean in words, as `summaries.average` gives it."""
        return next((average(summary) for summary in self.summaries if summary.metric == metric), "")

    def values_of(self, metric: str, ids: Collection[str]) -> list[float]:
        """The values of a metric, of those of these records that are scored."""
        return [s.value for s in self.scores if s.metric == metric and s.record_id in ids and s.value is not None]


@dataclass(frozen=True, slots=True)
class Tally:
    """The records that one stage lost."""

    stage: str
    kind: str
    """The commonest way."""
    lost: tuple[Failure, ...]
    """Those of the commonest way first."""
    of: int
    low: float
    """95 % interval of the share, as if each group of records were one."""
    high: float

    @property
    def share(self) -> float:
        """The share of all records."""
        return len(self.lost) / self.of

    @property
    def ids(self) -> frozenset[str]:
        """The records that it lost."""
        return frozenset(failure.record_id for failure in self.lost)


def diagnose(run: ScoredRun) -> Diagnosis:
    """The diagnosis by rules: deterministic, no model, a second or two for a thousand records."""
    records, cases = run.records, run.cases
    found = failures(cases)
    verdicts = {case.record.id: case.verdict for case in cases if case.scores or case.verdict != "undecided"}
    if not verdicts:
        texts = {name: text.format(of=len(records)) for name, text in _WORDING["unjudged"].items()}
        return Diagnosis(texts["summary"], texts["gist"], (), (), _WORDING["unknown"], RULES)
    judged = [record for record in records if record.id in verdicts]
    by_stage = tallies(found, judged)
    # A single case is no pattern, unless there are no others.
    listed = [tally for tally in by_stage if len(tally.lost) > 1][:MOST_ITEMS] or by_stage[:1]
    items = tuple(_item(run, tally) for tally in listed)
    insights = tuple(insight(run, summary) for summary in run.judged)
    worst = by_stage[0] if by_stage else None
    answers = f"{len(judged)} {'' if len(judged) == len(records) else 'judged '}answers"
    undecided = [*verdicts.values()].count("undecided")
    by = _WORDING["shown_by"][any(record.truths for record in judged)][any(record.trace for record in judged)]
    gist = _gist(answers, len(found), undecided, by_stage, by, len(judged))
    summary = _summary(run, answers, len(found), undecided, worst)
    return Diagnosis(summary, gist, insights, items, _outlook(items), RULES)


def tallies(found: Sequence[Failure], records: Sequence[Record]) -> tuple[Tally, ...]:
    """The answers that each stage lost, the worst stage first; of equals, the first in `STAGES`. Form comes last,
    however many it lost: their answers are right."""
    independent, every = len({record.group or f"\0{record.id}" for record in records}), []
    for stage in STAGES:
        if kinds := [failure.kind for failure in found if failure.stage == stage]:
            kind = max(dict.fromkeys(kinds), key=kinds.count)
            lost = sorted((f for f in found if f.stage == stage), key=lambda failure: failure.kind != kind)
            low, high = wilson(len(lost) / len(records) * independent, independent) or (0.0, 1.0)  # type: ignore[arg-type]
            every.append(Tally(stage, kind, tuple(lost), len(records), low, high))
    return tuple(sorted(every, key=lambda tally: (tally.stage == FORM, -len(tally.lost))))


def insight(run: ScoredRun, summary: Summary) -> Insight:
    """One metric in one to six sentences, of which each has a count of this run; the metric has to have a mean, and to
    be one of the run's."""
    return Insight(summary.metric, summary.level or "low", " ".join(_sentences(run, summary)), RULES)


def as_markdown(diagnosis: Diagnosis, summaries: Sequence[Summary], metrics: Mapping[str, Metric] | None = None) -> str:
    """The diagnosis as a page to read. It quotes records and models, of which nothing is HTML, a picture or a link."""
    return "\n".join(_page(diagnosis, summaries, metrics)) + "\n"


def predicted(lost: int, of: int, room: float) -> float:
    """The gain that a patch should bring, if half of the lost records gain `room` each (see `COMES_BACK`, `DOUBT`)."""
    return round(COMES_BACK * lost / (of + DOUBT) * room, 3)


def _item(run: ScoredRun, tally: Tally) -> ActionItem:
    remedy, lost = REMEDIES[tally.stage, tally.kind], len(tally.lost)
    patch, *alternatives = patches_of(tally.stage, tally.kind, run.config, run.records, run.levers) or ({},)
    metrics = tuple(filter(run.average, remedy.metrics)) or remedy.metrics
    count = f"{lost} of {tally.of} records"
    gain = _gain(run, metrics[0], tally) if patch else None
    interval = f"95 % interval {percent(tally.low, 0)} to {percent(tally.high, 0)}"
    levels = [f"{title(metric)} averages {run.average(metric)}" for metric in filter(run.average, remedy.metrics)]
    settings = SystemSettings(run.config).current(remedy.settings, remedy.like)
    cases = [f for f in tally.lost if run.by_id[f.record_id].question.strip()][:CASES]
    steps = [to_set(patch) or remedy.do, remedy.also]
    steps.append(PROVE)
    share = tally.share
    priority: Priority = "critical" if share >= CRITICAL else "high" if share >= HIGH else "medium"
    return ActionItem(
        title=remedy.title,
        priority="medium" if tally.stage == FORM else priority,
        problem_detection=f"{count} ({percent(share, 0)}, {interval}) fail because {remedy.what}."
        + (f" {', '.join(levels)}." if levels else ""),
        problem_detection_gist=f"In {count} {remedy.gist}",
        root_cause_analysis=remedy.cause + (f" As configured: {', '.join(settings)}." if settings else ""),
        root_cause_analysis_gist=remedy.cause_gist,
        evidence_trace=_evidence(run, tally, metrics, cases),
        evidence_trace_gist=f"{count} show it: {remedy.shown}",
        recommended_protocol=_protocol(run, remedy, patch, metrics[0], gain),
        recommended_protocol_gist="\n".join(f"- {step}" for step in steps),
        stage=tally.stage,
        metrics=metrics,
        cases=tuple(failure.record_id for failure in tally.lost),
        patch=patch,
        alternatives=tuple(alternatives),
        predicted=gain,
    )


def to_set(patch: Patch, now: Callable[[str], Any] | None = None) -> str:
    """The change as a sentence, with the values that hold where `now` knows them; empty: there is none."""
    before = {key: f" from {written(now(key))}" for key in named(patch)} if now else {}
    words = " and ".join(f"`{key}`{before.get(key, '')} to {written(value)}" for key, value in named(patch).items())
    return f"Set {words}." if words else ""


def _evidence(run: ScoredRun, tally: Tally, metrics: Sequence[str], cases: Sequence[Failure]) -> str:
    pattern = [
        f"{title(metric)} averages {percent(fmean(here))} over {len(here)} of these; in all {run.average(metric)}."
        for metric in filter(run.average, metrics[:2])
        if (here := run.values_of(metric, tally.ids))
    ]
    lines = [f"- {quoted(run.by_id[f.record_id].question, LONGEST_QUESTION)}: {f.evidence}" for f in cases]
    return "\n".join([" ".join(pattern) or "No score tells of it; the records themselves do.", "", *lines])


def _protocol(run: ScoredRun, remedy: Remedy, patch: Patch, metric: str, gain: float | None) -> str:
    settings = SystemSettings(run.config)
    changes = to_set(patch, settings.now if settings.ours else named(settings.values).get)
    parts = [remedy.advice, changes, f"Beyond the obvious: {remedy.complement}", f"The price: {remedy.trade}"]
    if gain is not None:
        parts.append(
            f"Expected: {title(metric)} up by about {100 * gain:.2g} points, if half of these records come back. That "
            f"is shrunk as if {DOUBT} more records had been judged and none of them lost."
        )
    return " ".join(filter(None, parts))


def _gain(run: ScoredRun, metric: str, tally: Tally) -> float | None:
    """The gain that is expected, by the lost records that have a score and by what the others' mean is above theirs;
    None: nothing can be counted, as where the others are no better."""
    here, others = run.values_of(metric, tally.ids), run.values_of(metric, run.by_id.keys() - tally.ids)
    if not (here and others) or (room := fmean(others) - fmean(here)) <= 0:
        return None
    return predicted(len(here), len(here) + len(others), room)


def _ranked(run: ScoredRun) -> list[tuple[str, str]]:
    """Title and mean of each metric, the strongest first."""
    ranked = sorted(run.judged, key=lambda summary: -(summary.mean or 0.0))
    return [(title(one.metric, run.metrics), run.average(one.metric)) for one in ranked]


def _summary(run: ScoredRun, answers: str, lost: int, undecided: int, worst: Tally | None) -> str:
    parts = [f"{lost} of {answers} need work: they are wrong, refused, or scored low."]
    if undecided:
        parts.append(f"{undecided} are undecided: without a reference answer no score tells if they are good.")
    ranked = [f"{name} with a mean of {mean}" for name, mean in _ranked(run)]
    if len(ranked) > 1:
        parts += [f"The top strength is {ranked[0]}.", f"The top weakness is {ranked[-1]}."]
    elif ranked:
        parts.append(f"The one metric that was scored is {ranked[0]}.")
    else:
        parts.append("No metric was scored, so only reference answers and traces can tell.")
    fault = worst and f"For {len(worst.lost)} of these {REMEDIES[worst.stage, worst.kind].fault}."
    return " ".join([*parts, fault or "No stage stands out as the one at fault."])


def _gist(answers: str, lost: int, undecided: int, by_stage: Sequence[Tally], by: str, of: int) -> str:
    values = {"answers": answers, "lost": lost, "undecided": undecided, "by": by}
    values["aside"] = f" ({undecided} undecided)" if undecided else ""
    values["most"] = percent((wilson(0, of) or (0.0, 1.0))[1], 0)
    if by_stage:
        worst, *others = by_stage
        values |= {"worst": len(worst.lost), "stage": worst.stage, "fault": REMEDIES[worst.stage, worst.kind].fault}
        behind = (f"the next stage, {one.stage}, lost {len(one.lost)}" for one in others)
        values["behind"] = next(behind, "no other stage lost any")
    kind = "lost" if by_stage else "undecided" if undecided else "fine"
    return str(_WORDING["gist"][kind].format(**values))


def _outlook(items: Sequence[ActionItem]) -> str:
    texts: dict[str, str] = _WORDING["outlook"]
    if first := next((item for item in items if item.predicted), None):
        return texts["predicted"].format(gain=100 * (first.predicted or 0), metric=title(first.metrics[0]))
    return texts["unpredicted" if items else "nothing"]


def _sentences(run: ScoredRun, summary: Summary) -> Iterator[str]:
    about, mine = run.metrics[summary.metric], (s for s in run.scores if s.metric == summary.metric)
    values = {s.record_id: s.value for s in mine if s.value is not None and s.record_id in run.by_id}
    low = sorted((id for id, value in values.items() if value <= WEAK), key=lambda id: (values[id], id))
    yield f"{about.title} averages {average(summary)}: {summary.level}."
    if low:
        lowest = quoted(run.by_id[low[0]].question, LONGEST_QUESTION)
        worst = percent(values[low[0]], 0)
        yield f"{len(low)} of {len(values)} score {percent(WEAK)} or less; the lowest, {worst}, is {lowest}."
        every = {id: run.traits[id] for id in values}
        found = (_blamed(run, about, low), missing(about, [run.by_id[id] for id in low]), shared(low, every))
        yield from islice(chain(*found), SENTENCES)
    if summary.unscored:
        bounds = f"between {percent(summary.least, 0)} and {percent(summary.most, 0)}"
        yield f"{summary.unscored} more could not be scored, so that the mean of all lies {bounds}."


def _blamed(run: ScoredRun, about: Metric, low: Collection[str]) -> Iterator[str]:
    """Retrieval told from generation, by the contexts of low-scored answers; nothing where no metric tells of them."""
    judge = next(filter(run.average, ("context_recall", "context_relevancy")), "")
    if "answer" not in about.edge or not (values := run.values_of(judge, low)):
        return
    fed, unfed = sum(value >= STRONG for value in values), sum(value <= WEAK for value in values)
    yield (
        f"Of these {len(low)}, {fed} had contexts with a {title(judge)} of {percent(STRONG)} or more, which points to "
        f"generation, and {unfed} of {percent(WEAK)} or less, which points to retrieval."
    )


def _page(diagnosis: Diagnosis, summaries: Sequence[Summary], metrics: Mapping[str, Metric] | None) -> Iterator[str]:
    yield from ("# Diagnosis", "", _shown(diagnosis.executive_summary), "")
    if any(summary.mean is not None for summary in summaries):
        yield "| metric | mean | 95 % interval | scored | unscored | level |"
        yield "| --- | --- | --- | --- | --- | --- |"
        for one in summaries:
            mean, low, high = (percent(value) for value in (one.mean, one.low, one.high))
            cells = [title(one.metric, metrics), mean, f"{low} to {high}", one.scored, one.unscored, one.level or NONE]
            yield "|" + "".join(f" {cell} |" for cell in cells)
        yield ""
    for number, item in enumerate(diagnosis.items, start=1):
        yield from (f"## {number}. {_shown(item.title)} ({item.priority})", "", _shown(item.problem_detection), "")
        yield from (f"**Why.** {_shown(item.root_cause_analysis)}", "")
        yield from (f"**Evidence.** {_shown(item.evidence_trace)}", "")
        yield from (f"**What to do.** {_shown(item.recommended_protocol)}", "")
        yield from (_shown(item.recommended_protocol_gist), "")
        if item.patch:
            yield from ("```toml", *(line for _, line in toml_lines(item.patch, {})), "```", "")
    if diagnosis.insights:
        yield from ("## By metric", "")
    for insight in diagnosis.insights:
        yield from (f"**{title(insight.metric, metrics)}.** {_shown(insight.text)}", "")
    yield from ("## Outlook", "", _shown(diagnosis.strategic_conclusion), "")
    fallback = f": {_shown(diagnosis.fallback)}" if diagnosis.fallback else ""
    yield f"By {_shown(diagnosis.by)}{fallback}."


def _shown(text: str) -> str:
    """A text with its lists and code, in which nothing is HTML, leads anywhere, opens a block or steers a terminal."""
    plain = printable("".join(" " if letter.isspace() and letter != "\n" else letter for letter in text), lines=True)
    return re.sub(r"([\[\]]|```|~~~)", r"\\\1", plain.replace("&", "&amp;").replace("<", "&lt;"))
