"""Questions answered by methods: how often is the answer right, which action was taken, what did it cost?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil
from statistics import median
from typing import Any, TypeVar

from surefoot.cli._console import figure as shown
from surefoot.evaluate.ask.choices import RULES, rules
from surefoot.evaluate.ask.questions import Example
from surefoot.stats.figures import Figure, Paired, figure, mcnemar, resampled
from surefoot.types import Action, Trace
from surefoot_lab.figures import Share, average, counted, difference, recall_at, relative, risk_area
from surefoot_lab.report import Form, Table, chance, count, of, percent, points, seconds, share

RANKS = (1, 5, 10)
COVERAGES = (25, 50, 75, 100)
"""Percent of the answers, the surest first, at which a report gives the risk."""
KEYWORDS = "occupation country sport genre religion author director composer city".split()
"""Types of the open reproduction: the first of these words in a question names its type. For PopQA they agree with
`prop`, except that the place of birth is "city" and seven rarer relations are "other"."""
UNDECIDED = "no decision"
"""Stands for the action where there is none: the method takes none, or the question failed."""
SCORE = "1 right, −1 wrong, 0 declined, and 1 for that where nothing answers"

_KEYWORD = re.compile(rf"\b({'|'.join(KEYWORDS)})\b")

T = TypeVar("T")
Outcome = dict[str, Any]


@dataclass(frozen=True, slots=True)
class QAReport:
    """The outcomes of one arm; all figures follow from them."""

    method: str
    """The method's name."""
    change: str
    """What was taken away from it, as "without grading" or "fewer 0.5"; empty: nothing."""
    outcomes: tuple[Outcome, ...]
    """One a question, by `outcome`."""

    @classmethod
    def of(
        cls, arm: str, questions: Sequence[T], traces: Sequence[Trace], outcome: Callable[[T, Trace], Outcome]
    ) -> QAReport:
        """What `outcome` makes of each question of an arm and its trace."""
        method, _, change = arm.partition(" ")
        outcomes = tuple(outcome(one, trace) for one, trace in zip(questions, traces, strict=True))
        return cls(method, change, outcomes)

    @property
    def name(self) -> str:
        """The arm's name."""
        return f"{self.method} {self.change}".strip()

    def share(self, key: str) -> Share:
        """The share of outcomes for which this is true, over those that have it."""
        return _share(self.outcomes, key)

    def among(self, key: str, value: Any) -> QAReport:
        """The report of the outcomes that have this value."""
        return replace(self, outcomes=tuple(one for one in self.outcomes if one[key] == value))


@dataclass(frozen=True, slots=True)
class MethodComparison:
    """Two methods on the same questions by one rule."""

    first: str
    second: str
    rule: str
    paired: Paired
    gain: Figure
    """Share that the first has right less the second's, with the 95 % interval of a bootstrap over the questions."""

    @property
    def row(self) -> tuple[Any, ...]:
        """Its row in a table of `DIFFERENCES`."""
        paired = self.paired
        return f"{self.first} − {self.second}", self.gain, paired.first, paired.second, paired.p


DIFFERENCES: dict[str, Form] = {
    "difference": str,
    "points": points,
    "only first": count,
    "only second": count,
    "p": chance,
}


def report(name: str, examples: Sequence[Example], traces: Sequence[Trace]) -> QAReport:
    """The outcomes of these traces; pure, so a run folder gives them again."""
    return QAReport.of(name, examples, traces, outcome)


def outcome(example: Example, trace: Trace) -> Outcome:
    """The outcome of a question. `recall`: by rank, whether a gold passage is among the first so many; None: none is
    known, or nothing was to be retrieved."""
    text = answer_text(trace)
    retrieves = example.gold and any(step.name == "retrieve" for step in trace.steps)
    found = [passage.id for passage in trace.passages]
    return {
        "id": example.id,
        "type": kind(example),
        "action": trace.decision.action.value if trace.decision else None,
        "answer": text,
        **{rule: RULES[rule](text, example) for rule in rules(example)},
        "answered": bool(text),
        "declined": not text or bool(trace.answer and trace.answer.hedged),
        "answerable": example.answerable,
        "failed": trace.error is not None,
        "best": trace.decision.best if trace.decision else None,
        "confidence": trace.answer.confidence if trace.answer else None,
        "recall": {str(k): recall_at(k, found, example.gold) for k in RANKS} if retrieves else None,
        "seconds": sum(step.seconds for step in trace.steps),
        "steps": {
            name: sum(step.seconds for step in trace.steps if step.name == name)
            for name in dict.fromkeys(step.name for step in trace.steps)
        },
    }


def answer_text(trace: Trace) -> str:
    """The words of the answer; empty where it was refused or the question failed."""
    return trace.answer.body if trace.answer and not trace.answer.refused else ""


def kind(example: Example) -> str:
    """The question's type: as the data name it, else by a word of the question."""
    if example.prop:
        return example.prop
    found = _KEYWORD.search(example.question.lower())
    return found[1] if found else "other"


def right(outcome: Mapping[str, Any]) -> bool:
    """True if the answer of an outcome is right, by "strict" where that fits, else by "match_lower"."""
    return bool(outcome["answerable"] and outcome.get("strict", outcome["match_lower"]))


def telling(reports: Sequence[QAReport]) -> str:
    """The rule to report: "strict" where it fits all questions, else "match_lower"."""
    outcomes = [one for report in reports for one in report.outcomes]
    return "strict" if outcomes and all("strict" in one for one in outcomes) else "match_lower"


def compared(one: QAReport, other: QAReport, rule: str) -> MethodComparison:
    """Two runs on the questions that both were asked and that the rule fits, and whether they differ by chance."""
    theirs = {outcome["id"]: outcome[rule] for outcome in other.outcomes if rule in outcome}
    both = [outcome for outcome in one.outcomes if outcome["id"] in theirs and rule in outcome]
    first, second = [outcome[rule] for outcome in both], [theirs[outcome["id"]] for outcome in both]
    return MethodComparison(one.name, other.name, rule, mcnemar(first, second), difference(first, second))


def comparisons(reports: Sequence[QAReport], rule: str) -> list[MethodComparison]:
    """Each method against each later one with the same taken away, and each whole one against itself with something
    taken away."""
    return [
        compared(one, other, rule)
        for one, other in combinations(reports, 2)
        if one.change == other.change or (one.method == other.method and not one.change)
    ]


def tables(reports: Sequence[QAReport]) -> list[Table]:
    """All figures of these reports; a table that would be empty is left out."""
    rule = telling(reports)
    others = [name for name in RULES if name != rule and any(name in one for r in reports for one in r.outcomes)]
    about = f"{len(reports[0].outcomes):,} questions, right by {rule}"
    made = [
        Table(
            "methods",
            {"method": str, "right": share, "answered": percent, "score": shown},
            [_method(one, rule) for one in reports],
            f"{about}; refused and failed ones are wrong; score: {SCORE}",
        ),
        Table(
            "answers",
            {
                "method": str,
                "right when answered": of,
                "unanswerable declined": of,
                "failed": count,
                "seconds": seconds,
            },
            [_answers(one, rule) for one in reports],
            "seconds: medians, and what one method had graded the next has for nothing",
        ),
        Table(
            "differences",
            DIFFERENCES,
            [one.row for one in comparisons(reports, rule)],
            "points: bootstrap over questions; p: McNemar's exact test, each for itself",
        ),
        Table(
            "rules",
            {"right by": str, **dict.fromkeys(others, share)},
            [(one.name, *(one.share(name) for name in others)) for one in reports if others],
        ),
        Table(
            "recall",
            {"recall of gold passages": str, **{f"@{k}": of for k in RANKS}},
            [(one.name, *row) for one in reports if (row := _recall(one))],
        ),
        Table(
            "actions",
            {"method": str, "action": str, "share": percent, "right": share, "answered": percent},
            [row for one in reports for row in _actions(one, rule)],
        ),
        Table(
            "types",
            {
                "method": str,
                "type": str,
                "right": share,
                "commonest action": str,
                "of them": percent,
                **dict.fromkeys(map(str.upper, _names()), of),
            },
            [row for one in reports for row in _types(one, rule)],
            "right, over the questions of each type with each action; types that the data do not name are named by a "
            "word of the question",
        ),
        Table(
            "risk",
            {"wrong among the surest": str, "by": str, **{f"{n} %": of for n in COVERAGES}, "area": shown},
            [row for one in reports for row in _risks(one)],
            "area: under the risk–coverage curve; confidence against grade: its change, as a share",
        ),
        Table(
            "steps",
            {"method": str, "step": str, "median seconds": seconds},
            [(one.name, *row) for one in reports for row in _steps(one)],
        ),
    ]
    return [table for table in made if table.rows]


def by_type(one: QAReport, rule: str) -> dict[str, dict[str, Share]]:
    """By type, the commonest first, and by action: how often the answer is right."""
    names = [name for name, _ in Counter(each["type"] for each in one.outcomes).most_common()]
    return {
        name: {
            action: _share([each for each in one.outcomes if each["type"] == name and _action(each) == action], rule)
            for action in _names()
        }
        for name in names
    }


def _method(one: QAReport, rule: str) -> tuple[Any, ...]:
    return one.name, one.share(rule), one.share("answered"), average([_points(each) for each in one.outcomes])


def _answers(one: QAReport, rule: str) -> tuple[Any, ...]:
    answered = counted(one.share(rule).count, one.share("answered").count)  # what was refused is never right
    declined = _share([each for each in one.outcomes if not each["answerable"]], "declined")
    spent = median(each["seconds"] for each in one.outcomes) if one.outcomes else None
    return one.name, answered, declined, one.share("failed").count, spent


def _recall(one: QAReport) -> list[Share]:
    known = [each["recall"] for each in one.outcomes if each["recall"]]
    return [_share(known, str(k)) for k in RANKS] if known else []


def _actions(one: QAReport, rule: str) -> Iterator[tuple[Any, ...]]:
    for action in _names():
        mine = [each for each in one.outcomes if _action(each) == action]
        if mine and len({each["action"] for each in one.outcomes}) > 1:
            whole = counted(len(mine), len(one.outcomes))
            yield one.name, action.upper(), whole, _share(mine, rule), _share(mine, "answered")


def _types(one: QAReport, rule: str) -> Iterator[tuple[Any, ...]]:
    for name, cells in by_type(one, rule).items():
        mine = [each for each in one.outcomes if each["type"] == name]
        action, count = Counter(map(_action, mine)).most_common(1)[0]
        yield one.name, name, _share(mine, rule), action.upper(), counted(count, len(mine)), *cells.values()


def _risks(one: QAReport) -> Iterator[tuple[Any, ...]]:
    """By the grade that the decision hangs on, if every answer has one; and over the answers that have a confidence, by
    that, held against the grade of the same answers by a paired bootstrap."""
    answered = [each for each in one.outcomes if each["answered"]]
    sure = [each for each in answered if each["confidence"] is not None]
    both = [each for each in sure if each["best"] is not None]
    if answered and all(each["best"] is not None for each in answered):
        yield one.name, "grade", *_at_coverages(answered, "best"), _area(answered, "best")[0]
    if sure:
        yield one.name, "confidence", *_at_coverages(sure, "confidence"), _area(sure, "confidence")[0]
    if both:
        change = relative(_area(both, "best"), _area(both, "confidence"))
        yield one.name, "confidence against grade", *[counted(0, 0)] * len(COVERAGES), change


def _at_coverages(answered: Sequence[Outcome], key: str) -> list[Share]:
    surest = sorted(answered, key=lambda each: -each[key])
    sizes = [ceil(len(surest) * coverage / 100) for coverage in COVERAGES]
    return [counted(sum(not right(each) for each in surest[:size]), size) for size in sizes]


def _area(answered: Sequence[Outcome], key: str) -> Any:
    sure, wrong = [each[key] for each in answered], [not right(each) for each in answered]
    return figure(risk_area(sure, wrong), resampled(len(sure)))


def _steps(one: QAReport) -> list[tuple[str, float]]:
    """Median seconds of each step, over the questions that took it, summed within a question."""
    names = dict.fromkeys(name for each in one.outcomes for name in each["steps"])
    return [(name, median(each["steps"][name] for each in one.outcomes if name in each["steps"])) for name in names]


def _points(outcome: Outcome) -> int:
    if outcome["declined"]:
        return 0 if outcome["answerable"] else 1
    return 1 if right(outcome) else -1


def _names() -> list[str]:
    return [*(action.value for action in Action), UNDECIDED]


def _action(outcome: Outcome) -> str:
    return outcome["action"] or UNDECIDED


def _share(outcomes: Sequence[Mapping[str, Any]], key: str) -> Share:
    known = [found for outcome in outcomes if (found := outcome.get(key)) is not None]
    return counted(sum(known), len(known))
