"""Errors of a run: accuracy by action, by type of question, and by both, from a run folder's traces alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from surefoot.evaluate.ask import choices
from surefoot.evaluate.ask.questions import Example, LoadedQuestions
from surefoot.evaluate.problems import DataProblem
from surefoot.types import Action, Trace
from surefoot.types.errors import UsageError
from surefoot_lab.figures import Share, counted
from surefoot_lab.qa import answer_text

KEYWORDS = "occupation country sport genre religion author director composer city".split()
"""Types of the open reproduction: the first of these words in a question names its type. For PopQA they agree with
`prop`, except that the place of birth is "city" and seven rarer relations are "other"."""

OTHER = "other"
UNDECIDED = "no decision"
"""Stands for the action where there is none: the method takes none, or the question failed."""

_KEYWORD = re.compile(rf"\b({'|'.join(KEYWORDS)})\b")


@dataclass(frozen=True, slots=True)
class ActionRow:
    """Accuracy over the questions with one action."""

    action: str
    questions: Share
    """Its share of all questions."""
    right: Share


@dataclass(frozen=True, slots=True)
class TypeRow:
    """Accuracy over the questions of one type."""

    type: str
    questions: Share
    right: Share
    dominant: str
    """Their commonest action; of equally common ones the first in the order of the actions."""
    dominance: Share
    """Its share of them."""


@dataclass(frozen=True, slots=True)
class TypeCell:
    """Accuracy over the questions of one type with one action; `right.of` counts them."""

    type: str
    action: str
    right: Share


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """The figures of a run. The JSON form is stable: fields are added, never changed."""

    run: str
    data: str
    method: str
    rule: str
    """By which answers are right, a name of `choices.RULES`. Refused and failed questions are wrong."""
    right: Share
    refused: int
    failed: int
    missing: int
    """Questions not asked yet; no share counts them."""
    named: int
    """Questions whose type the data name; the others get theirs from their words."""
    actions: tuple[ActionRow, ...]
    types: tuple[TypeRow, ...]
    """The commonest first."""
    cells: tuple[TypeCell, ...]
    """Type by type; one without questions is there too."""
    problems: tuple[DataProblem, ...] = ()
    """Of the data."""
    about: dict[str, Any] = field(default_factory=dict)
    """The run folder's own record: settings, hash of the data, environments."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    type: str
    action: str
    right: bool


def kind(example: Example) -> str:
    """The question's type: as the data name it, else by a word of the question."""
    if example.prop:
        return example.prop
    found = _KEYWORD.search(example.question.lower())
    return found[1] if found else OTHER


def report(
    run: str, about: dict[str, Any], loaded: LoadedQuestions, traces: dict[str, Trace], rule: str
) -> ErrorReport:
    """The figures of a run whose questions are among those of `loaded`; pure.

    Raises UsageError where a trace belongs to no question, or where the rule does not fit the questions.
    """
    known = {example.id: example for example in loaded.examples}
    if strangers := [key for key in traces if key not in known]:
        raise UsageError(
            f"{run} has {len(strangers):,} questions that its data do not have, such as '{strangers[0]}'; name the "
            "file that it was run on with --data, and its --golds"
        )
    if not isinstance(put := about.get("questions", 0), int):
        raise UsageError(f"{run}/run.json is damaged: its number of questions is {str(put)[:40]!r}")
    queries = [(known[key], trace) for key, trace in traces.items()]
    outcomes = [_outcome(example, trace, rule) for example, trace in queries]
    types = [name for name, _ in Counter(outcome.type for outcome in outcomes).most_common()]
    present = {outcome.action for outcome in outcomes}
    actions = [action.value for action in Action] + [UNDECIDED] * (UNDECIDED in present)
    return ErrorReport(
        run,
        str(about.get("data", "")),
        str(about.get("method", "")),
        rule,
        _right(outcomes),
        sum(trace.answer is not None and trace.answer.refused for _, trace in queries),
        sum(trace.error is not None for _, trace in queries),
        max(0, put - len(queries)),
        sum(bool(example.prop) for example, _ in queries),
        tuple(_action(action, outcomes) for action in actions),
        tuple(_type(name, outcomes, actions) for name in types),
        tuple(
            TypeCell(name, action, _right([one for one in outcomes if (one.type, one.action) == (name, action)]))
            for name in types
            for action in actions
        ),
        loaded.problems,
        about,
    )


def _outcome(example: Example, trace: Trace, rule: str) -> _Outcome:
    action = trace.decision.action.value if trace.decision else UNDECIDED
    return _Outcome(kind(example), action, choices.RULES[rule](answer_text(trace), example))


def _action(action: str, outcomes: Sequence[_Outcome]) -> ActionRow:
    mine = [outcome for outcome in outcomes if outcome.action == action]
    return ActionRow(action, counted(len(mine), len(outcomes)), _right(mine))


def _type(name: str, outcomes: Sequence[_Outcome], actions: Sequence[str]) -> TypeRow:
    mine = [outcome for outcome in outcomes if outcome.type == name]
    taken = Counter(outcome.action for outcome in mine)
    dominant = max(actions, key=lambda action: taken[action])
    shares = counted(len(mine), len(outcomes)), _right(mine)
    return TypeRow(name, *shares, dominant, counted(taken[dominant], len(mine)))


def _right(outcomes: Sequence[_Outcome]) -> Share:
    return counted(sum(outcome.right for outcome in outcomes), len(outcomes))
