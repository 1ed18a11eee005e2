"""Question answering: how often is the answer right, which action was taken, what did it cost?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from math import ceil
from statistics import median
from typing import Any

from surefoot.evaluate.ask.choices import RULES, rules
from surefoot.evaluate.ask.questions import Example
from surefoot.evaluate.ask.runs import Arm
from surefoot.run.store import to_json
from surefoot.stats.figures import RESAMPLES, SEED, Figure, Paired, figure, mcnemar, mean, resampled
from surefoot.types import Action, Trace
from surefoot_lab.figures import Share, counted, difference, recall_at, relative, risk_area

RANKS = (1, 5, 10)
COVERAGES = (25, 50, 75, 100)
"""Percent of the answers, the surest first, at which a report gives the risk."""


@dataclass(frozen=True, slots=True)
class QARow:
    """Figures over the questions with one action."""

    action: str
    questions: Share
    match_lower: Share
    answered: Share
    match: Share


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """Shares of wrong answers among the surest ones, by one measure of how sure they are."""

    risks: dict[str, Share]
    """By coverage in percent: the wrong ones among so many of the answers, the surest first."""
    area: Figure
    """The mean risk over all coverages, by `stats.figures.risk_area`."""


@dataclass(frozen=True, slots=True)
class QAReport:
    """The figures of one method on one file. The JSON form is stable: fields are added, never changed."""

    method: str
    questions: int
    match: Share
    """A gold alias is in the answer, case and all. Refused and failed questions count as wrong."""
    match_lower: Share
    """The same in lower case."""
    answered: Share
    """Not refused, and not failed."""
    right_when_answered: Share
    """`match_lower` among the answered."""
    failed: int
    actions: tuple[QARow, ...]
    """Empty for methods that decide nothing."""
    recall: dict[str, Share]
    """By rank k: how often a gold passage is among the first k, over questions with known gold passages."""
    seconds: float | None
    """Median a question."""
    stages: dict[str, float]
    """Median seconds of each step, over the questions that took it, summed within a question."""
    outcomes: tuple[dict[str, Any], ...]
    """One a question: id, action, answer, each rule of `choices.rules` that fits it, refused, seconds."""
    rules: dict[str, Share] = field(default_factory=dict)
    """By each rule that fits any of the questions: how often the answer is right, over those that it fits."""
    declined: Share = field(default_factory=partial(counted, 0, 0))
    """Of the questions that the data call unanswerable: refused, or answered with a reservation."""
    score: Figure = field(default_factory=partial(Figure, None, None, None, 0))
    """The mean over all questions, in [−1, 1]: 1 for a right answer (by "strict" where it fits, else by "match_lower")
    and for declining what nothing answers, 0 for declining what has an answer, and −1 for a wrong answer."""
    risk_coverage: RiskCoverage | None = None
    """Over the answered questions, by the grade that the decision hangs on; None for methods that decide nothing."""
    by_confidence: RiskCoverage | None = None
    """Over the answers that have a confidence, by that; None: none has one."""
    area_change: Figure = field(default_factory=partial(Figure, None, None, None, 0))
    """Over the answers with both: the area by confidence less that by grade, as a share of the latter; below 0 the
    confidence tells wrong answers better. The interval is of a paired bootstrap over questions."""

    def right(self, rule: str) -> Share:
        """The share of answers that are right by this rule."""
        return self.rules.get(rule) or counted(0, 0)


@dataclass(frozen=True, slots=True)
class MethodComparison:
    """Two methods on the same questions by one rule."""

    first: str
    second: str
    rule: str
    paired: Paired
    gain: Figure
    """Share that the first has right less the second's, with the 95 % interval of a bootstrap over the questions."""


def reports(examples: Sequence[Example], queries: Iterable[tuple[Arm, Sequence[Trace]]]) -> list[QAReport]:
    """A report an arm, from what `runs.run` yields for these questions."""
    return [report(arm.name, examples, traces) for arm, traces in queries]


def report(method: str, examples: Sequence[Example], traces: Sequence[Trace]) -> QAReport:
    """The figures of these traces; pure, so a run folder gives them again."""
    outcomes = tuple(_outcome(example, trace) for example, trace in zip(examples, traces, strict=True))
    answered = [outcome for outcome in outcomes if not outcome["refused"]]
    sure = _known(answered, "confidence")
    return QAReport(
        method,
        len(examples),
        _share(outcomes, "match"),
        _share(outcomes, "match_lower"),
        counted(len(answered), len(outcomes)),
        _share(answered, "match_lower"),
        sum(trace.error is not None for trace in traces),
        tuple(_row(action, outcomes) for action in Action if any(o["action"] for o in outcomes)),
        {str(k): _recall(k, examples, traces) for k in RANKS},
        median(outcome["seconds"] for outcome in outcomes) if outcomes else None,
        _stages(traces),
        outcomes,
        {name: _share(fitting, name) for name in RULES if (fitting := [one for one in outcomes if name in one])},
        _share([outcome for outcome in outcomes if not outcome["answerable"]], "declined"),
        _mean([_points(outcome) for outcome in outcomes]),
        _risk_coverage(answered, "best") if answered and all(one["best"] is not None for one in answered) else None,
        _risk_coverage(sure, "confidence") if sure else None,
        _area_change(_known(sure, "best")),
    )


def compared(one: QAReport, other: QAReport, rule: str) -> MethodComparison:
    """Two runs on the questions that both were asked and that the rule fits, and whether they differ by chance."""
    right = {outcome["id"]: outcome[rule] for outcome in other.outcomes if rule in outcome}
    both = [outcome for outcome in one.outcomes if outcome["id"] in right]
    first, second = [outcome[rule] for outcome in both], [right[outcome["id"]] for outcome in both]
    return MethodComparison(one.method, other.method, rule, mcnemar(first, second), difference(first, second))


def comparisons(reports: Sequence[QAReport]) -> list[MethodComparison]:
    """Each report against each later one, by each rule that fits questions of theirs."""
    return [compared(one, other, rule) for one, other in combinations(reports, 2) for rule in one.rules]


def telling(reports: Sequence[QAReport]) -> str:
    """The rule to report: "strict" where it fits all questions, else "match_lower"."""
    fits = all(report.right("strict").of == report.questions > 0 for report in reports)
    return "strict" if fits else "match_lower"


def as_json(reports: Sequence[QAReport], about: dict[str, Any]) -> dict[str, Any]:
    """The reports as plain data. The form is stable: fields are added, never changed.

    The keys of `about`; the fields of the first `QAReport`; `others`: the reports behind it; `comparisons`: each pair
    of them, by each rule, with `seed` and `resamples` of the bootstrap.
    """
    first, *others = to_json(reports)
    drawn = {"seed": SEED, "resamples": RESAMPLES, "comparisons": to_json(comparisons(reports))}
    return {**about, **first, "others": others, **drawn}


def answer_text(trace: Trace) -> str:
    """The words of the answer; empty where it was refused or the question failed."""
    return trace.answer.text if trace.answer and not trace.answer.refused else ""


def _outcome(example: Example, trace: Trace) -> dict[str, Any]:
    text = answer_text(trace)
    return {
        "id": example.id,
        "action": trace.decision.action.value if trace.decision else None,
        "answer": text,
        **{rule: RULES[rule](text, example) for rule in rules(example)},
        "refused": not text,
        "declined": not text or bool(trace.answer and trace.answer.hedged),
        "answerable": example.answerable,
        "best": trace.decision.best if trace.decision else None,
        "confidence": trace.answer.confidence if trace.answer else None,
        "seconds": sum(step.seconds for step in trace.steps),
    }


def right(outcome: Mapping[str, Any]) -> bool:
    """True if the answer of an outcome is right, by "strict" where that fits, else by "match_lower"."""
    return bool(outcome["answerable"] and outcome.get("strict", outcome["match_lower"]))


def _points(outcome: dict[str, Any]) -> int:
    if outcome["declined"]:
        return 0 if outcome["answerable"] else 1
    return 1 if right(outcome) else -1


def _mean(values: Sequence[float]) -> Figure:
    return figure(mean(values), resampled(len(values)))[0]


def _known(outcomes: Sequence[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    return [outcome for outcome in outcomes if outcome[key] is not None]


def _area_change(answered: Sequence[dict[str, Any]]) -> Figure:
    if not answered:
        return Figure(None, None, None, 0, "no answer has a grade and a confidence")
    counts = resampled(len(answered))
    wrong = [not right(outcome) for outcome in answered]
    by_grade, by_confidence = (
        figure(risk_area([outcome[key] for outcome in answered], wrong), counts) for key in ("best", "confidence")
    )
    return relative(by_grade, by_confidence)


def _risk_coverage(answered: Sequence[dict[str, Any]], key: str) -> RiskCoverage:
    sure, wrong = [outcome[key] for outcome in answered], [not right(outcome) for outcome in answered]
    surest = sorted(range(len(sure)), key=lambda n: -sure[n])
    first = {percent: ceil(len(sure) * percent / 100) for percent in COVERAGES}
    risks = {str(percent): counted(sum(wrong[n] for n in surest[:size]), size) for percent, size in first.items()}
    return RiskCoverage(risks, figure(risk_area(sure, wrong), resampled(len(sure)))[0])


def _row(action: Action, outcomes: Sequence[dict[str, Any]]) -> QARow:
    mine = [outcome for outcome in outcomes if outcome["action"] == action.value]
    answered = sum(not outcome["refused"] for outcome in mine)
    shares = counted(len(mine), len(outcomes)), _share(mine, "match_lower"), counted(answered, len(mine))
    return QARow(action.value, *shares, _share(mine, "match"))


def _recall(k: int, examples: Sequence[Example], traces: Sequence[Trace]) -> Share:
    retrieves = any(step.name == "retrieve" for trace in traces for step in trace.steps)
    known = [
        (e.gold, [p.id for p in t.passages]) for e, t in zip(examples, traces, strict=True) if e.gold and retrieves
    ]
    return counted(sum(recall_at(k, retrieved, gold) for gold, retrieved in known), len(known))


def _share(outcomes: Sequence[dict[str, Any]], key: str) -> Share:
    return counted(sum(outcome[key] for outcome in outcomes), len(outcomes))


def _stages(traces: Sequence[Trace]) -> dict[str, float]:
    spent: dict[str, list[float]] = {}
    for trace in traces:
        for name in dict.fromkeys(step.name for step in trace.steps):
            spent.setdefault(name, []).append(sum(step.seconds for step in trace.steps if step.name == name))
    return {name: median(seconds) for name, seconds in spent.items()}
