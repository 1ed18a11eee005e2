"""Each stage can be taken out by itself, and what it earned is counted on the same questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from surefoot.evaluate.ask.questions import Example
from surefoot.evaluate.ask.runs import run, threads
from surefoot.pipeline import Pipeline
from surefoot.types import Action, Passage
from surefoot.types.errors import UsageError
from surefoot_lab import qa
from surefoot_lab.ablation import STAGES, arms, as_json, earned, stages

WHO = "Who built the Ruvel Bridge?"
CLOSED = "Who closed the Ruvel Bridge?"
FAR = "What is the mass of Jupiter?"


class Outside:
    """Finds passages outside, whatever is asked, and remembers what."""

    name = "outside"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        self.asked.append(query)
        return tuple(Passage(f"w{n}", f"Iron Hut number {n} was built by Josef {n}.", "", "external") for n in range(9))


class Guess:
    """Rewrites everything the same way."""

    def rewrite(self, question: str, seen: object) -> tuple[str, ...]:
        return ("a guess",)


@pytest.fixture
def searching(pipeline: Pipeline) -> Pipeline:
    return pipeline.but(searcher=Outside(), rewriter=Guess(), external_keep=2, rounds=1)


def test_without_grading_all_passages_are_correct(pipeline: Pipeline) -> None:
    """In the order in which they were retrieved; also of a question that none of them answers."""
    trace = STAGES["grading"].run(pipeline, FAR)
    assert trace.decision is not None
    assert trace.decision.action is Action.CORRECT
    assert [grade.score for grade in trace.grades] == [1.0, 1.0]
    assert pipeline.run(FAR).decision != trace.decision


@pytest.mark.parametrize(
    ("stage", "question", "before", "after"),
    [
        ("correct", WHO, Action.CORRECT, Action.AMBIGUOUS),
        ("incorrect", FAR, Action.INCORRECT, Action.AMBIGUOUS),
        ("ambiguous", WHO, Action.CORRECT, Action.CORRECT),
        ("ambiguous", FAR, Action.INCORRECT, Action.INCORRECT),
    ],
)
def test_an_action_is_never_taken(pipeline: Pipeline, stage: str, question: str, before: Action, after: Action) -> None:
    """What would be decided so is decided otherwise, and all else as before."""
    decisions = [pipeline.run(question).decision, STAGES[stage].run(pipeline, question).decision]
    assert [decision.action for decision in decisions if decision] == [before, after]


def test_without_refinement_passages_are_read_whole(pipeline: Pipeline) -> None:
    """Each is one kept strip."""
    trace = STAGES["refinement"].run(pipeline, WHO)
    text = {passage.id: passage.text for passage in trace.passages}
    assert all(strip.kept and strip.text == text[strip.passage_id] for strip in trace.strips)
    assert len(trace.strips) > 0


def test_without_search_nothing_comes_from_outside(searching: Pipeline) -> None:
    """Where it would."""
    assert searching.run(FAR).external != ()
    assert STAGES["search"].run(searching, FAR).external == ()


def test_without_checking_what_was_withheld_is_said(pipeline: Pipeline) -> None:
    """A made-up troll; what was not refused is the same."""
    answer = STAGES["checking"].run(pipeline, CLOSED).answer
    assert answer is not None
    assert (answer.text, answer.refused) == ("A troll.", False)
    assert STAGES["checking"].run(pipeline, WHO).answer == pipeline.run(WHO).answer


def test_stages_that_do_nothing_are_left_out() -> None:
    """Unless they are named, which is an error with a way out."""
    assert set(STAGES) - set(stages([], searches=False)) == {"correct", "search", "rewriting", "selection"}
    assert stages([], searches=True) == tuple(STAGES)
    assert stages(["checking", "grading", "checking"], searches=False) == ("checking", "grading")
    with pytest.raises(UsageError, match="'search' does nothing without a searcher"):
        stages(["search"], searches=False)
    with pytest.raises(UsageError, match="no stage called 'magic'; there are: grading, correct"):
        stages(["magic"], searches=True)


def test_what_a_stage_earned_is_a_paired_difference(pipeline: Pipeline, tmp_path: Path) -> None:
    """The whole less without it, by every rule; and how many answers it changed."""
    queries = [Example(str(n), CLOSED if n % 2 else WHO, ("Tomas Aldwin", "tomas"), frozenset()) for n in range(8)]
    names = ["checking", "screening"]
    traces = run(arms(names, False), queries, threads(pipeline), tmp_path, {}, lambda done, total: None)
    reports = qa.reports(queries, traces)
    found = earned(names, reports)
    assert [report.method for report in reports] == ["whole", "without checking", "without screening"]
    assert [(one.stage, one.changed) for one in found] == [("checking", 4), ("screening", 0)]
    by_rule = {one.rule: one for one in found[0].earned}
    assert (by_rule["match_lower"].gain.value, by_rule["match_lower"].paired.of) == (0.0, 8)
    data = as_json(reports, found, {"data": "q"})
    assert (data["method"], len(data["without"]), data["stages"][0]["stage"]) == ("whole", 2, "checking")
