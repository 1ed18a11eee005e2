"""A benchmark counts every question, resumes where it stopped, and keeps each outcome."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from surefoot.evaluate.ask.questions import Example
from surefoot.evaluate.ask.runs import run, threads
from surefoot.pipeline import Pipeline
from surefoot.run.store import recorded
from surefoot.types import Action, Answer, Decision, Passage, Step, Trace
from surefoot_lab.figures import risk_area
from surefoot_lab.methods import arms
from surefoot_lab.qa import QAReport, Share, comparisons, report, reports


def share(count: int, of: int, low: float | None = None, high: float | None = None) -> Any:
    return pytest.approx((count, of, count / of, low, high), abs=5e-4) if of else (0, 0, None, None, None)


def plain(figure: Share) -> tuple[Any, ...]:
    return (figure.count, figure.of, figure.share, figure.low, figure.high)


def example(id: str, *answers: str, gold: str = "", question: str = "Who?") -> Example:
    return Example(id, question, answers, frozenset(gold.split()))


def trace(
    action: Action | None,
    text: str,
    refused: bool = False,
    found: str = "",
    seconds: float = 1.0,
    error: str | None = None,
) -> Trace:
    return Trace(
        "t",
        "Who?",
        passages=tuple(Passage(id, "text") for id in found.split()),
        decision=Decision(action, "threshold", 0.5, 0.0, "because") if action else None,
        answer=None if error else Answer(text, refused=refused),
        steps=(Step("retrieve", seconds / 4), Step("grade", seconds / 4), Step("retrieve", seconds / 2)),
        error=error,
    )


EXAMPLES = [
    example("right", "Aldwin", gold="b"),
    example("lower", "Aldwin", gold="h"),
    example("refused", "refuse"),
    example("wrong", "Aldwin", gold="z"),
    example("failed", "Aldwin"),
]
TRACES = [
    trace(Action.CORRECT, "Tomas Aldwin [1]", found="b x", seconds=1.0),
    trace(Action.CORRECT, "aldwin", found="x h#2", seconds=2.0),
    trace(Action.INCORRECT, "I refuse.", refused=True, found="x", seconds=3.0),
    trace(Action.AMBIGUOUS, "A troll", found="", seconds=4.0),
    trace(None, "", error="the index is gone", seconds=10.0),
]


@pytest.fixture(scope="module")
def figures() -> QAReport:
    """Five questions: one right, one right in lower case, one refused, one wrong, one failed."""
    return report("crag", EXAMPLES, TRACES)


def test_every_question_is_in_the_denominator(figures: QAReport) -> None:
    """Refused and failed ones count as wrong, though the words of a refusal hold the alias."""
    assert (figures.method, figures.questions, figures.failed) == ("crag", 5, 1)
    assert plain(figures.match) == share(1, 5, 0.0362, 0.6245)
    assert plain(figures.match_lower) == share(2, 5, 0.1176, 0.7693)
    assert plain(figures.answered) == share(3, 5, 0.2307, 0.8824)
    assert plain(figures.right_when_answered) == share(2, 3, 0.2077, 0.9385)


def test_each_action_has_a_row(figures: QAReport) -> None:
    """In the order of the actions, with its share of all questions and what became of its own."""
    assert [row.action for row in figures.actions] == ["correct", "ambiguous", "incorrect"]
    correct, ambiguous, incorrect = figures.actions
    assert [plain(s)[:2] for s in (correct.questions, correct.match_lower, correct.answered)] == [
        (2, 5),
        (2, 2),
        (2, 2),
    ]
    assert [plain(s)[:2] for s in (ambiguous.match_lower, ambiguous.answered)] == [(0, 1), (1, 1)]
    assert [plain(s)[:2] for s in (incorrect.match_lower, incorrect.answered)] == [(0, 1), (0, 1)]


def test_recall_counts_the_questions_whose_gold_is_known(figures: QAReport) -> None:
    """Also one for which nothing was retrieved; a part of a passage counts as the passage."""
    assert {rank: plain(figure)[:2] for rank, figure in figures.recall.items()} == {
        "1": (1, 3),
        "5": (2, 3),
        "10": (2, 3),
    }


def unanswerable(id: str) -> Example:
    return replace(example(id), answerable=False)


def test_a_wrong_answer_costs_more_than_silence() -> None:
    """1 for a right answer and for declining what nothing answers, 0 for declining the rest, −1 for a wrong one."""
    hedged = replace(TRACES[0], answer=Answer("Tomas Aldwin", hedged=True))
    cases = [(EXAMPLES[0], TRACES[0], 1), (EXAMPLES[2], TRACES[2], 0), (EXAMPLES[3], TRACES[3], -1)]
    cases += [(unanswerable("u"), TRACES[2], 1), (unanswerable("u"), TRACES[0], -1)]
    cases += [(EXAMPLES[0], hedged, 0), (unanswerable("u"), hedged, 1), (EXAMPLES[4], TRACES[4], 0)]
    for queries, results, points in cases:
        assert report("crag", [queries], [results]).score.value == points, (queries.id, results.answer)


def test_declining_what_nothing_answers_is_counted() -> None:
    """Refused or hedged, over the unanswerable questions alone."""
    queries = [EXAMPLES[2], unanswerable("a"), unanswerable("b")]
    assert plain(report("crag", queries, [TRACES[2], TRACES[2], TRACES[0]]).declined) == share(1, 2, 0.0945, 0.9055)


def test_a_confidence_is_held_against_the_grade() -> None:
    """Over the answers that have both: here the grade is turned and the confidence is right."""
    wrong = [n % 2 == 0 for n in range(40)]
    results = [
        replace(
            trace(Action.CORRECT, text := "a troll" if no else "Aldwin"),
            decision=Decision(Action.CORRECT, "threshold", 0.5, 0.0, "because", best=float(no)),
            answer=Answer(text, confidence=0.9 - no / 2),
        )
        for no in wrong
    ]
    unjudged = replace(results[0], answer=Answer("a troll"))
    found = report("crag", [EXAMPLES[0]] * 41, [*results, unjudged])
    assert found.by_confidence is not None
    assert [one.count for one in found.by_confidence.risks.values()] == [0, 0, 10, 20]
    assert found.area_change.of == 40
    before, after = risk_area(wrong, wrong).value, risk_area([not no for no in wrong], wrong).value
    assert found.area_change.value == pytest.approx(after / before - 1)  # type: ignore[operator]
    assert found.area_change.low < found.area_change.value < found.area_change.high < 0  # type: ignore[operator]


def test_methods_are_held_against_each_other_by_every_rule_that_fits() -> None:
    """Each pair once, the first named first, with McNemar's counts and a paired bootstrap."""
    queries = [example(str(n), "Aldwin") for n in range(40)]
    good = report("crag", queries, [trace(Action.CORRECT, "Aldwin")] * 40)
    half = report("rag:1", queries, [trace(None, "Aldwin" if n % 2 else "aldwin") for n in range(40)])
    bad = report("none", queries, [trace(None, "nobody")] * 40)
    found = comparisons([good, half, bad])
    assert [(one.first, one.second) for one in found[::2]] == [("crag", "rag:1"), ("crag", "none"), ("rag:1", "none")]
    assert [one.rule for one in found[:2]] == ["match", "match_lower"]
    assert (found[0].paired.first, found[0].paired.second, found[0].paired.of) == (20, 0, 40)
    assert (found[0].gain.value, found[1].gain.value) == (0.5, 0.0)
    assert found[0].gain.low is not None
    assert 0.3 < found[0].gain.low < 0.4
    assert found[0].paired.p < 1e-5


QUESTIONS = [
    example("bridge", "Aldwin", gold="b", question="Who built the Ruvel Bridge?"),
    example("empty", "Aldwin", question=" "),
    example("troll", "Aldwin", gold="b", question="Who closed the Ruvel Bridge?"),
]


def ask(pipeline: Pipeline, folder: Path, method: str = "crag", examples: list[Example] = QUESTIONS) -> QAReport:
    chosen = arms([method], searches=False, top=2)
    return reports(examples, run(chosen, examples, threads(pipeline), folder, {}, lambda done, total: None))[0]


def test_a_run_asks_every_question(pipeline: Pipeline, tmp_path: Path) -> None:
    """One that cannot be asked is a trace with its error, and counts."""
    figures = ask(pipeline, tmp_path)
    assert plain(figures.match_lower)[:2] == (1, 3)
    assert (plain(figures.answered)[:2], figures.failed) == ((1, 3), 1)
    _, done = recorded(tmp_path / "crag")
    assert list(done) == ["bridge", "empty", "troll"]
    assert (done["empty"].error or "").startswith("QuestionError: the question is empty")
