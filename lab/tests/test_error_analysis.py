"""Where a run goes wrong: by action, by type, by both, from its traces."""

from __future__ import annotations

import pytest

from surefoot.evaluate.ask.questions import Example, LoadedQuestions
from surefoot.types import Action, Answer, Decision, Trace
from surefoot.types.errors import UsageError
from surefoot_lab.error_analysis import ErrorReport, kind, report
from surefoot_lab.figures import Share

ABOUT = {"data": "popqa.jsonl", "method": "crag", "questions": 6}


def example(id: str, prop: str = "", question: str = "Who?") -> Example:
    return Example(id, question, ("Aldwin",), frozenset(), prop=prop)


def trace(action: Action | None, text: str = "Tomas aldwin.", refused: bool = False) -> Trace:
    decision = Decision(action, "threshold", 0.5, 0.0, "because") if action else None
    return Trace("t", "Who?", decision=decision, answer=Answer(text, refused=refused))


EXAMPLES = (
    example("1", "author"),
    example("2", "author"),
    example("3", "author"),
    example("4", question="In what city was he born?"),
    example("5", question="Who?"),
    example("6", "author"),
)
TRACES = {
    "1": trace(Action.CORRECT),
    "2": trace(Action.INCORRECT, "Aldwin is not there.", refused=True),
    "3": trace(Action.CORRECT, "Nobody."),
    "4": trace(Action.INCORRECT),
    "5": Trace("t", "Who?", error="the index is gone"),
}


@pytest.fixture(scope="module")
def figures() -> ErrorReport:
    """Five of six questions: two right, one refused, one wrong, one failed."""
    return report("runs/x", ABOUT, LoadedQuestions("shared", EXAMPLES, 6, ()), TRACES, "match_lower")


def plain(share: Share) -> tuple[int, int]:
    return share.count, share.of


def test_every_question_is_in_a_row(figures: ErrorReport) -> None:
    """A refused one under its action; a failed one under none; what was not asked is told, and in no share."""
    assert plain(figures.right) == (2, 5)
    assert (figures.refused, figures.failed, figures.missing, figures.named) == (1, 1, 1, 3)
    assert [(row.action, plain(row.questions), plain(row.right)) for row in figures.actions] == [
        ("correct", (2, 5), (1, 2)),
        ("ambiguous", (0, 5), (0, 0)),
        ("incorrect", (2, 5), (1, 2)),
        ("no decision", (1, 5), (0, 1)),
    ]


def test_types_come_with_their_commonest_action(figures: ErrorReport) -> None:
    """The commonest type first."""
    rows = [(r.type, plain(r.questions), plain(r.right), r.dominant, plain(r.dominance)) for r in figures.types]
    assert rows == [
        ("author", (3, 5), (1, 3), "correct", (2, 3)),
        ("city", (1, 5), (1, 1), "incorrect", (1, 1)),
        ("other", (1, 5), (0, 1), "no decision", (1, 1)),
    ]


@pytest.mark.parametrize(
    ("question", "type"),
    [
        ("What is Henry Feilden's occupation?", "occupation"),
        ("In what country is Gora?", "country"),
        ("What sport does he play?", "sport"),
        ("Who is the author of City of Glass?", "author"),
        ("Who was the COMPOSER of it?", "composer"),
        ("Who wrote Sportsman?", "other"),
    ],
)
def test_a_type_comes_from_the_first_key_word(question: str, type: str) -> None:
    """As a word of its own, unless the data name what is asked for."""
    assert kind(example("1", question=question)) == type
    assert kind(example("1", "place of birth", question)) == "place of birth"


def test_a_stranger_among_the_traces_is_refused() -> None:
    """They would be of other data."""
    with pytest.raises(UsageError, match="1 questions that its data do not have, such as '9'"):
        report("r", {}, LoadedQuestions("shared", EXAMPLES, 6, ()), {"9": TRACES["1"]}, "match")
