"""The diagnosis of a run by rules alone: which stages failed the answers, why, and what to change first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from surefoot.evaluate.diagnose.evidence import Corpus
from surefoot.evaluate.diagnose.failures import STAGES, Failure, failures
from surefoot.evaluate.diagnose.record_context import STRONG, WEAK, by_record, quoted
from surefoot.evaluate.diagnose.remedies import REMEDIES, Patch, Remedy, patch_of
from surefoot.evaluate.diagnose.scored_run import ScoredRun
from surefoot.evaluate.diagnose.settings import SystemSettings, flat, written
from surefoot.evaluate.report.form import MOST_ITEMS
from surefoot.explain.explanation import printable
from surefoot.judges._diamond import metrics as diamond
from surefoot.judges._diamond import title
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
    """Records in all."""
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
    insights = tuple(insight(summary, scores, summaries, known) for summary in run.judged)
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
    names = [record.group or f"\0{record.id}" for record in records]
    groups = dict(zip((record.id for record in records), names, strict=True))
    every = [_tally(stage, [f for f in found if f.stage == stage], groups) for stage in STAGES]
    hurt = [tally for tally in every if tally.lost]
    return tuple(sorted(hurt, key=lambda tally: (tally.stage == FORM, -len(tally.lost))))


def insight(
    summary: Summary,
    scores: Sequence[Score],
    summaries: Sequence[Summary],
    metrics: Mapping[str, Metric] | None = None,
) -> Insight:
    """One metric in three to five sentences; it has to have a mean, and to be one of `metrics`."""
    level, about = summary.level or "low", (diamond() if metrics is None else metrics)[summary.metric]
    return Insight(summary.metric, level, " ".join(_sentences(about, summary, scores, summaries)), RULES)


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


@dataclass(frozen=True)
class _Diagnosed(ScoredRun):
    """The run that the texts are about."""

    def item(self, tally: Tally) -> ActionItem:
        remedy = REMEDIES[tally.stage, tally.kind]
        patch = patch_of(tally.stage, tally.kind, self.config, self.records)
        scored = tuple(metric for metric in remedy.metrics if self.mean(metric) is not None)
        metrics = scored or remedy.metrics
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
        ranked = self._ranked()
        if len(ranked) > 1:
            best, worst = ranked[0], ranked[-1]
            parts += [f"The top strength is {self._at(best)}.", f"The top weakness is {self._at(worst)}."]
        elif ranked:
            parts.append(f"The one metric that was scored is {self._at(ranked[0])}.")
        else:
            parts.append("No metric was scored, so only reference answers and traces can tell.")
        if items:
            first = by_stage[0]
            parts.append(f"For {len(first.lost)} of these {REMEDIES[first.stage, first.kind].fault}.")
        else:
            parts.append("No stage stands out as the one at fault.")
        return " ".join(parts)

    def gist(self, found: Sequence[Failure], by_stage: Sequence[Tally]) -> str:
        """Two sentences of 40 to 50 words together, whatever the numbers: the wording is counted out."""
        if by_stage:
            worst = by_stage[0]
            fault = f"for {len(worst.lost)} of them {REMEDIES[worst.stage, worst.kind].fault}"
            first = f"{len(found)} of {len(self.records)} answers need work; {fault}, "
            second = "Make the first item's change alone, and keep it only if questions not yet seen gain."
        else:
            first = f"None of the {len(self.records)} answers needs work by any rule that applies here, "
            second = (
                "Keep the configuration, and judge more or harder questions before you trust that there is nothing "
                "left to mend."
            )
        return f"{first}{self._health(bool(by_stage))}. {second}"

    def outlook(self, items: Sequence[ActionItem]) -> str:
        gains = [item for item in items if item.predicted]
        if not items:
            return "These records show nothing to mend. More of them, or harder ones, would say more."
        if not gains:
            return (
                "None of these changes is a setting, so no gain is predicted. Measure again after each, on the same "
                "questions."
            )
        return (
            f"The first patch is expected to gain about {gains[0].predicted:.2g} of "
            f"{title(gains[0].metrics[0])}, shrunk for the uncertainty. Try it on questions that this diagnosis has "
            "not seen, since it fits those that it was made from best. Then diagnose again: the faults behind a stage "
            "show only once the stage works."
        )

    def _health(self, some_lost: bool) -> str:
        ranked = self._ranked()
        if not ranked:
            why = "was scored" if not some_lost else "has been scored on any of them"
            return f"by the words of the reference answers alone, since no metric {why}"
        best, worst = ranked[0], ranked[-1]
        if best is worst:
            only = f"while {title(best.metric, self.metrics)}, the only metric that was scored,"
            return f"{only} averages {best.mean:.2f} over all of them"
        strongest = f"while {title(best.metric, self.metrics)} is the strongest metric at {best.mean:.2f}"
        return f"{strongest} and {title(worst.metric, self.metrics)} the weakest at {worst.mean:.2f}"

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
        settings = SystemSettings(self.config)
        changes = [
            f"`{key}` from {written(settings.now(key))} to {written(value)}" for key, value in flat(patch).items()
        ]
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

    def _at(self, summary: Summary) -> str:
        return f"{title(summary.metric, self.metrics)} with a mean of {summary.mean:.2f}"

    def _room(self, metric: str, tally: Tally) -> float:
        """The gain of a record that comes back: the mean of the other records less that of the lost ones."""
        here = self.mean_of(metric, tally.ids)
        if here is None:
            return 1.0
        values = [of[metric].value for id, of in by_record(self.scores).items() if metric in of and id not in tally.ids]
        others = [value for value in values if value is not None]
        return max(0.0, (fmean(others) if others else 1.0) - here)


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


def _sentences(about: Metric, summary: Summary, scores: Sequence[Score], summaries: Sequence[Summary]) -> Iterator[str]:
    fed = any(s.metric == "context_relevancy" and (s.mean or 0.0) >= STRONG for s in summaries)
    values = [s.value for s in scores if s.metric == summary.metric and s.value is not None]
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
