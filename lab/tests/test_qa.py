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
from surefoot_lab.figures import Share, risk_area
from surefoot_lab.methods import arms
from surefoot_lab.qa import QAReport, comparisons, kind, report, reports, tables


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


def rows(name: str, *reports: QAReport) -> list[Any]:
    return next((list(table.rows) for table in tables(reports) if table.name == name), [])


def test_every_question_is_in_the_denominator(figures: QAReport) -> None:
    """Refused and failed ones count as wrong, though the words of a refusal hold the alias."""
    assert plain(figures.share("match")) == share(1, 5, 0.0362, 0.6245)
    assert plain(figures.share("match_lower")) == share(2, 5, 0.1176, 0.7693)
    assert plain(figures.share("answered")) == share(3, 5, 0.2307, 0.8824)
    ((_, right, answered, _),) = rows("methods", figures)
    ((_, of_these, _, failed, _),) = rows("answers", figures)
    assert [plain(one)[:2] for one in (right, answered, of_these)] == [(2, 5), (3, 5), (2, 3)]
    assert failed == 1


def test_each_action_has_a_row(figures: QAReport) -> None:
    """In the order of the actions, with its share of all questions and what became of its own; then the undecided."""
    found = [(row[1], *(plain(one)[:2] for one in row[2:])) for row in rows("actions", figures)]
    assert found == [
        ("CORRECT", (2, 5), (2, 2), (2, 2)),
        ("AMBIGUOUS", (1, 5), (0, 1), (1, 1)),
        ("INCORRECT", (1, 5), (0, 1), (0, 1)),
        ("NO DECISION", (1, 5), (0, 1), (0, 1)),
    ]


def test_each_type_has_a_row_and_a_cell_for_each_action() -> None:
    """The commonest type first, with its commonest action."""
    queries = [
        replace(example(str(n), "Aldwin"), prop=prop) for n, prop in enumerate(["author", "author", "author", ""])
    ]
    done = [TRACES[0], TRACES[2], TRACES[0], TRACES[3]]
    author, other = rows("types", report("crag", queries, done))
    assert (author[1], plain(author[2])[:2], author[3], plain(author[4])[:2]) == ("author", (2, 3), "CORRECT", (2, 3))
    assert [plain(cell)[:2] for cell in author[5:]] == [(2, 2), (0, 0), (0, 1), (0, 0)]
    assert (other[1], other[3]) == ("other", "AMBIGUOUS")


@pytest.mark.parametrize(
    ("question", "type"),
    [
        ("What is Henry Feilden's occupation?", "occupation"),
        ("Who is the author of City of Glass?", "author"),
        ("Who was the COMPOSER of it?", "composer"),
        ("Who wrote Sportsman?", "other"),
    ],
)
def test_a_type_comes_from_the_first_key_word(question: str, type: str) -> None:
    """As a word of its own, unless the data name what is asked for."""
    assert kind(example("1", question=question)) == type
    assert kind(replace(example("1", question=question), prop="place of birth")) == "place of birth"


def test_recall_counts_the_questions_whose_gold_is_known(figures: QAReport) -> None:
    """Also one for which nothing was retrieved; a part of a passage counts as the passage."""
    ((_, *found),) = rows("recall", figures)
    assert [plain(one)[:2] for one in found] == [(1, 3), (2, 3), (2, 3)]


def unanswerable(id: str) -> Example:
    return replace(example(id), answerable=False)


def test_a_wrong_answer_costs_more_than_silence() -> None:
    """1 for a right answer and for declining what nothing answers, 0 for declining the rest, −1 for a wrong one."""
    hedged = replace(TRACES[0], answer=Answer("Tomas Aldwin", hedged=True))
    cases = [(EXAMPLES[0], TRACES[0], 1), (EXAMPLES[2], TRACES[2], 0), (EXAMPLES[3], TRACES[3], -1)]
    cases += [(unanswerable("u"), TRACES[2], 1), (unanswerable("u"), TRACES[0], -1)]
    cases += [(EXAMPLES[0], hedged, 0), (unanswerable("u"), hedged, 1), (EXAMPLES[4], TRACES[4], 0)]
    for queries, results, points in cases:
        ((*_, score),) = rows("methods", report("crag", [queries], [results]))
        assert score.value == points, (queries.id, results.answer)


def test_declining_what_nothing_answers_is_counted() -> None:
    """Refused or hedged, over the unanswerable questions alone."""
    queries = [EXAMPLES[2], unanswerable("a"), unanswerable("b")]
    ((_, _, declined, *_),) = rows("answers", report("crag", queries, [TRACES[2], TRACES[2], TRACES[0]]))
    assert plain(declined) == share(1, 2, 0.0945, 0.9055)


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
    _, by_confidence, change = (row[2:] for row in rows("risk", found))
    assert [one.count for one in by_confidence[:4]] == [0, 0, 10, 20]
    assert change[-1].of == 40
    before, after = risk_area(wrong, wrong).value, risk_area([not no for no in wrong], wrong).value
    assert change[-1].value == pytest.approx(after / before - 1)  # type: ignore[operator]
    assert change[-1].low < change[-1].value < change[-1].high < 0


def test_methods_are_held_against_each_other() -> None:
    """Each pair once, the first named first, with McNemar's counts and a paired bootstrap."""
    queries = [example(str(n), "Aldwin") for n in range(40)]
    good = report("crag", queries, [trace(Action.CORRECT, "Aldwin")] * 40)
    half = report("rag:1", queries, [trace(None, "Aldwin" if n % 2 else "aldwin") for n in range(40)])
    bad = report("none", queries, [trace(None, "nobody")] * 40)
    found = comparisons([good, half, bad], "match")
    assert [(one.first, one.second) for one in found] == [("crag", "rag:1"), ("crag", "none"), ("rag:1", "none")]
    assert (found[0].paired.first, found[0].paired.second, found[0].paired.of) == (20, 0, 40)
    assert (found[0].gain.value, comparisons([good, half], "match_lower")[0].gain.value) == (0.5, 0.0)
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
    assert [plain(figures.share(key))[:2] for key in ("match_lower", "answered", "failed")] == [(1, 3), (1, 3), (1, 3)]
    _, done = recorded(tmp_path / "crag")
    assert list(done) == ["bridge", "empty", "troll"]
    assert (done["empty"].error or "").startswith("QuestionError: the question is empty")
