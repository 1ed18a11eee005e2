"""The diagnosis of a run by rules alone: which stages failed the answers, why, and what to change first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot.evaluate.diagnose.evidence import Corpus
from surefoot.evaluate.diagnose.failures import STAGES, Failure, failures
from surefoot.evaluate.diagnose.record_context import STRONG, WEAK, quoted
from surefoot.evaluate.diagnose.remedies import REMEDIES, Remedy, patch_of
from surefoot.evaluate.diagnose.scored_run import ScoredRun
from surefoot.evaluate.diagnose.settings import SystemSettings, flat, written
from surefoot.evaluate.patch import Patch
from surefoot.evaluate.report.form import MOST_ITEMS
from surefoot.explain.explanation import printable
from surefoot.judges._diamond import metrics as diamond, title
from surefoot.stats.figures import wilson
from surefoot.stats.text import percent
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
LONGEST_QUESTION = 24
"""Words of a question that are quoted."""

FORM = "format"
"""The stage whose answers are right and badly put."""
RULES = "rules"
"""The author of a diagnosis without a model."""


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


def diagnose(
    records: Sequence[Record],
    scores: Sequence[Score],
    summaries: Sequence[Summary],
    config: Mapping[str, Mapping[str, Any]] | None = None,
    corpus: Corpus | None = None,
    metrics: Mapping[str, Metric] | None = None,
) -> Diagnosis:
    """The diagnosis by rules: deterministic, no model, a second or two for a thousand records.

    `config` None: that of the first trace, if any. `corpus` says whether the corpus holds a record's evidence
    (`evidence.held_by` asks an index); without it, a missing page can look like one that retrieval missed. `metrics`
    None: the built-in ones.
    """
    settings, known = configured(records, config), diamond() if metrics is None else metrics
    found = failures(records, scores, settings, corpus, known)
    by_stage = tallies(found, records)
    run = _Diagnosed(records, scores, summaries, settings, known)
    items = tuple(run.item(tally) for tally in _worth_telling(by_stage))
    insights = tuple(insight(run, summary) for summary in run.judged)
    return Diagnosis(
        run.summary(found, by_stage, items), run.gist(found, by_stage), insights, items, run.outlook(items), RULES
    )


def configured(records: Sequence[Record], config: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    """The configuration given, or that of the first trace."""
    traced = (record.trace.config for record in records if record.trace and record.trace.config)
    return config or next(traced, {})


def tallies(found: Sequence[Failure], records: Sequence[Record]) -> tuple[Tally, ...]:
    """The answers that each stage lost, the worst stage first; of equals, the first in `STAGES`. Form comes last,
    however many it lost: their answers are right."""
    groups = {record.id: record.group or f"\0{record.id}" for record in records}
    every = [_tally(stage, [f for f in found if f.stage == stage], groups) for stage in STAGES]
    hurt = [tally for tally in every if tally.lost]
    return tuple(sorted(hurt, key=lambda tally: (tally.stage == FORM, -len(tally.lost))))


def insight(run: ScoredRun, summary: Summary) -> Insight:
    """One metric in three to five sentences; it has to have a mean, and to be one of the run's."""
    return Insight(summary.metric, summary.level or "low", " ".join(_sentences(run, summary)), RULES)


def as_markdown(diagnosis: Diagnosis, summaries: Sequence[Summary], metrics: Mapping[str, Metric] | None = None) -> str:
    """The diagnosis as a page to read. It quotes records and models, of which nothing is HTML, a picture or a link."""
    return "\n".join(_page(diagnosis, summaries, metrics)) + "\n"


def predicted(lost: int, of: int, room: float) -> float:
    """The gain that a patch should bring: half of the lost records (`COMES_BACK`) gain `room` each, averaged over all
    records and `DOUBT` more."""
    return round(COMES_BACK * lost / (of + DOUBT) * room, 3)


def _tally(stage: str, lost: Sequence[Failure], groups: Mapping[str, str]) -> Tally:
    kinds = [failure.kind for failure in lost]
    kind = max(dict.fromkeys(kinds), key=kinds.count, default="")
    ordered = sorted(lost, key=lambda failure: failure.kind != kind)
    independent = len(set(groups.values()))
    low, high = wilson(len(lost) / max(1, len(groups)) * independent, independent) or (0.0, 1.0)  # type: ignore[arg-type]
    return Tally(stage, kind, tuple(ordered), len(groups), low, high)


def _worth_telling(found: Sequence[Tally]) -> Sequence[Tally]:
    """The stages that lost more than one record; where none did, the first of all."""
    return [tally for tally in found if len(tally.lost) > 1][:MOST_ITEMS] or found[:1]


class _Diagnosed(ScoredRun):
    """The run that the texts are about."""

    def item(self, tally: Tally) -> ActionItem:
        remedy = _remedy(tally)
        patch = patch_of(tally.stage, tally.kind, self.config, self.records)
        metrics = tuple(metric for metric in remedy.metrics if self.mean(metric) is not None) or remedy.metrics
        count = f"{len(tally.lost)} of {tally.of} records"
        gain = predicted(len(tally.lost), tally.of, self._room(metrics[0], tally)) if patch else None
        return ActionItem(
            title=remedy.title,
            priority=_priority(tally),
            problem_detection=self._problem(tally, remedy, count),
            problem_detection_gist=f"In {count} {remedy.gist}",
            root_cause_analysis=self._cause(remedy),
            root_cause_analysis_gist=remedy.cause_gist,
            evidence_trace=self._evidence(tally, metrics),
            evidence_trace_gist=f"{count} show it: {remedy.shown}",
            recommended_protocol=self._protocol(remedy, patch, metrics[0], gain),
            recommended_protocol_gist="\n".join(f"- {step}" for step in _steps(remedy, patch)),
            stage=tally.stage,
            metrics=metrics,
            cases=tuple(failure.record_id for failure in self._cases(tally)),
            patch=patch,
            predicted=gain,
        )

    def summary(self, found: Sequence[Failure], by_stage: Sequence[Tally], items: Sequence[ActionItem]) -> str:
        parts = [f"{len(found)} of {len(self.records)} answers need work: they are wrong, refused, or scored low."]
        ranked = [f"{title(one.metric, self.metrics)} with a mean of {one.mean:.2f}" for one in self._ranked()]
        if len(ranked) > 1:
            parts += [f"The top strength is {ranked[0]}.", f"The top weakness is {ranked[-1]}."]
        elif ranked:
            parts.append(f"The one metric that was scored is {ranked[0]}.")
        else:
            parts.append("No metric was scored, so only reference answers and traces can tell.")
        fault = f"For {len(by_stage[0].lost)} of these {_remedy(by_stage[0]).fault}." if items else ""
        return " ".join([*parts, fault or "No stage stands out as the one at fault."])

    def gist(self, found: Sequence[Failure], by_stage: Sequence[Tally]) -> str:
        """Two sentences of 40 to 50 words together, whatever the numbers: the wording is counted out."""
        of = len(self.records)
        if by_stage:
            fault = f"for {len(by_stage[0].lost)} of them {_remedy(by_stage[0]).fault}"
            return (
                f"{len(found)} of {of} answers need work; {fault}, {self._health('was')}. Make the first item's change "
                "alone, and keep it only if questions not yet seen gain."
            )
        return (
            f"None of the {of} answers needs work by any rule that applies here, {self._health('has been')}. Keep the "
            "configuration, and judge more or harder questions before you trust that there is nothing left to mend."
        )

    def outlook(self, items: Sequence[ActionItem]) -> str:
        first = next((item for item in items if item.predicted), None)
        if first:
            return (
                f"The first patch is expected to gain about {first.predicted:.2g} of {title(first.metrics[0])}, shrunk "
                "for the uncertainty. Try it on questions that this diagnosis has not seen, since it fits those that "
                "it was made from best. Then diagnose again: the faults behind a stage show only once the stage works."
            )
        if items:
            return (
                "None of these changes is a setting, so no gain is predicted. Measure again after each, on the same "
                "questions."
            )
        return "These records show nothing to mend. More of them, or harder ones, would say more."

    def _health(self, was: str) -> str:
        named = [(title(one.metric, self.metrics), f"{one.mean:.2f}") for one in self._ranked()]
        if not named:
            some = " on any of them" if was == "has been" else ""
            return f"by the words of the reference answers alone, since no metric {was} scored{some}"
        (best, mean), (worst, lowest) = named[0], named[-1]
        if len(named) == 1:
            return f"while {best}, the only metric that was scored, averages {mean} over all of them"
        return f"while {best} is the strongest metric at {mean} and {worst} the weakest at {lowest}"

    def _problem(self, tally: Tally, remedy: Remedy, count: str) -> str:
        interval = f"95 % interval {percent(tally.low, 0)} to {percent(tally.high, 0)}"
        levels = [f"{title(m)} averages {mean:.2f}" for m in remedy.metrics if (mean := self.mean(m)) is not None]
        level = f" {', '.join(levels)}." if levels else ""
        return f"{count} ({percent(tally.share, 0)}, {interval}) fail because {remedy.what}.{level}"

    def _cause(self, remedy: Remedy) -> str:
        settings = SystemSettings(self.config).current(remedy.settings, remedy.like)
        return remedy.cause + (f" As configured: {', '.join(settings)}." if settings else "")

    def _evidence(self, tally: Tally, metrics: Sequence[str]) -> str:
        pattern = [
            f"{title(metric)} averages {here:.2f} over these records and {mean:.2f} over all."
            for metric in metrics[:2]
            if (here := self.mean_of(metric, tally.ids)) is not None and (mean := self.mean(metric)) is not None
        ]
        lines = [f"- {quoted(self._question(f), LONGEST_QUESTION)}: {f.evidence}" for f in self._cases(tally)]
        return "\n".join([" ".join(pattern) or "No score tells of it; the records themselves do.", "", *lines])

    def _protocol(self, remedy: Remedy, patch: Patch, metric: str, gain: float | None) -> str:
        now = SystemSettings(self.config).now
        changes = [f"`{key}` from {written(now(key))} to {written(value)}" for key, value in flat(patch).items()]
        parts = [remedy.advice, *([f"Set {' and '.join(changes)}."] if changes else [])]
        parts += [f"Beyond the obvious: {remedy.complement}", f"The price: {remedy.trade}"]
        if gain is not None:
            parts.append(
                f"Expected: {title(metric)} up by about {gain:.2g}, if half of these records come back. That is shrunk "
                f"as if {DOUBT} more records had been judged and none of them lost."
            )
        return " ".join(parts)

    def _cases(self, tally: Tally) -> list[Failure]:
        return [failure for failure in tally.lost if self._question(failure).strip()][:CASES]

    def _question(self, failure: Failure) -> str:
        return self.by_id[failure.record_id].question

    def _ranked(self) -> list[Summary]:
        return sorted(self.judged, key=lambda summary: -(summary.mean or 0.0))

    def _room(self, metric: str, tally: Tally) -> float:
        """The gain of a record that comes back: the mean of the other records less that of the lost ones."""
        here = self.mean_of(metric, tally.ids)
        if here is None:
            return 1.0
        others = self.mean_of(metric, self.by_id.keys() - tally.ids)
        return max(0.0, (1.0 if others is None else others) - here)


def _remedy(tally: Tally) -> Remedy:
    return REMEDIES[tally.stage, tally.kind]


def _priority(tally: Tally) -> Priority:
    """The priority by the share that was lost; form, which loses right answers, is never more than medium."""
    if tally.stage == FORM:
        return "medium"
    return "critical" if tally.share >= CRITICAL else "high" if tally.share >= HIGH else "medium"


def _steps(remedy: Remedy, patch: Patch) -> Iterator[str]:
    settings = [f"`{key}` to {written(value)}" for key, value in flat(patch).items()]
    yield f"Set {' and '.join(settings)}." if settings else remedy.do
    yield remedy.also
    yield "Keep the change only if held-out questions gain."


def _sentences(run: ScoredRun, summary: Summary) -> Iterator[str]:
    about, fed = run.metrics[summary.metric], (run.mean("context_relevancy") or 0.0) >= STRONG
    values = [s.value for s in run.scores if s.metric == summary.metric and s.value is not None]
    interval = "" if summary.low is None else f" (95 % interval {summary.low:.2f} to {summary.high:.2f})"
    yield f"{about.title} averages {summary.mean:.2f}{interval} over {summary.scored} records: {summary.level}."
    yield f"{sum(value <= WEAK for value in values)} of {len(values)} score {WEAK} or less."
    stage = "retrieval" if about.remedy[0] == "retrieval" else "generation"
    if summary.level == "high":
        yield f"This is {stage} doing its work; leave it as it is."
    elif summary.metric == "context_adherence" and fed:
        yield "This is generation, not retrieval: the contexts are relevant, and the answers are not faithful to them."
        yield REMEDIES[about.remedy].advice
    else:
        yield f"This is about {stage}."
        yield REMEDIES[about.remedy].advice
    if summary.unscored:
        bounds = f"between {summary.least:.2f} and {summary.most:.2f}"
        yield f"{summary.unscored} more could not be scored, so that the mean of all lies {bounds}."


def _page(diagnosis: Diagnosis, summaries: Sequence[Summary], metrics: Mapping[str, Metric] | None) -> Iterator[str]:
    yield from ("# Diagnosis", "", _shown(diagnosis.executive_summary), "")
    if any(summary.mean is not None for summary in summaries):
        yield "| metric | mean | 95 % interval | scored | unscored | level |"
        yield "| --- | --- | --- | --- | --- | --- |"
        yield from (_row(summary, title(summary.metric, metrics)) for summary in summaries)
        yield ""
    for number, item in enumerate(diagnosis.items, start=1):
        yield from (f"## {number}. {_shown(item.title)} ({item.priority})", "", _shown(item.problem_detection), "")
        yield from (f"**Why.** {_shown(item.root_cause_analysis)}", "")
        yield from (f"**Evidence.** {_shown(item.evidence_trace)}", "")
        yield from (f"**What to do.** {_shown(item.recommended_protocol)}", "")
        yield from (_shown(item.recommended_protocol_gist), "")
        yield from _patch(item)
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


def _row(summary: Summary, name: str) -> str:
    if summary.mean is None:
        return f"| {name} | | | {summary.scored} | {summary.unscored} | |"
    interval = "" if summary.low is None else f"{summary.low:.2f} to {summary.high:.2f}"
    return f"| {name} | {summary.mean:.2f} | {interval} | {summary.scored} | {summary.unscored} | {summary.level} |"


def _patch(item: ActionItem) -> Iterator[str]:
    if item.patch:
        yield "```toml"
        for section, of in item.patch.items():
            yield from (f"[{section}]", *(f"{key} = {toml_values.spelled(value)}" for key, value in of.items()))
        yield from ("```", "")
