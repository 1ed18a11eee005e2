"""A stage or passages can be taken away from a method, and what that costs is counted on the same questions."""

from pathlib import Path

import pytest

from surefoot.evaluate.ask.questions import Example
from surefoot.evaluate.ask.runs import run, threads
from surefoot.pipeline import Pipeline
from surefoot.retrievers._given import Given
from surefoot.types import Action, Passage, Trace
from surefoot.types.errors import UsageError
from surefoot_lab import qa
from surefoot_lab.changes import STAGES, changed, remaining, stages
from surefoot_lab.methods import arms

WHO = "Who built the Ruvel Bridge?"
CLOSED = "Who closed the Ruvel Bridge?"
FAR = "What is the mass of Jupiter?"
FORTY = tuple(Passage(f"p{n}", f"text {n}" if n % 2 else f"Tomas Aldwin {n}") for n in range(40))
BRIDGE = Example("q", WHO, ("Tomas Aldwin",), frozenset())


class Outside:
    """Finds passages outside, whatever is asked."""

    name = "outside"

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        return tuple(Passage(f"w{n}", f"Iron Hut number {n} was built by Josef {n}.", "", "external") for n in range(9))


class Guess:
    """Rewrites everything the same way."""

    def rewrite(self, question: str, seen: object) -> tuple[str, ...]:
        return ("a guess",)


@pytest.fixture
def searching(pipeline: Pipeline) -> Pipeline:
    return pipeline.but(searcher=Outside(), rewriter=Guess(), external_keep=2, rounds=1)


def without(stage: str, pipeline: Pipeline, question: str) -> Trace:
    (method,) = arms(["crag+search"], searches=True)
    _, changed_arm = changed([method], [stage], [])
    return changed_arm.ask(pipeline, Example("q", question, (), frozenset()))


def test_without_grading_all_passages_are_correct(pipeline: Pipeline) -> None:
    """In the order in which they were retrieved; also of a question that none of them answers. The trace says so."""
    trace = without("grading", pipeline, FAR)
    assert trace.decision is not None
    assert trace.decision.action is Action.CORRECT
    assert [grade.score for grade in trace.grades] == [1.0, 1.0]
    assert trace.config["without"] == {"stage": "grading"}
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
    decisions = [pipeline.run(question).decision, without(stage, pipeline, question).decision]
    assert [decision.action for decision in decisions if decision] == [before, after]


def test_without_refinement_passages_are_read_whole(pipeline: Pipeline) -> None:
    """Each is one kept strip."""
    trace = without("refinement", pipeline, WHO)
    text = {passage.id: passage.text for passage in trace.passages}
    assert trace.strips
    assert all(strip.kept and strip.text == text[strip.passage_id] for strip in trace.strips)


def test_each_part_of_the_search_can_be_taken_out(searching: Pipeline) -> None:
    """All of it, the rewriting of the question, and the choice among what was found."""
    whole = searching.run(FAR)
    assert whole.queries == ("a guess",)
    assert without("search", searching, FAR).external == () != whole.external
    assert without("rewriting", searching, FAR).queries == (FAR,)
    assert STAGES["selection"].removed(searching).external_keep > searching.external_keep


def test_without_checking_what_was_withheld_is_passed_on(pipeline: Pipeline) -> None:
    """A made-up troll; what was not refused is the same."""
    answer = without("checking", pipeline, CLOSED).answer
    assert answer is not None
    assert (answer.text, answer.refused) == ("A troll.", False)
    assert without("checking", pipeline, WHO).answer == pipeline.run(WHO).answer


def test_stages_that_do_nothing_are_left_out() -> None:
    """Unless they are named, which is an error with a way out."""
    assert set(STAGES) - set(stages(["all"], "crag")) == {"correct", "search", "rewriting", "selection"}
    assert stages(["all"], "crag+search") == tuple(STAGES)
    assert stages(["checking", "grading", "checking"], "crag") == ("checking", "grading")
    with pytest.raises(UsageError, match=r"'search' does nothing in crag.*try crag\+search"):
        stages(["search"], "crag")
    with pytest.raises(UsageError, match="no stage called 'magic'; there are: grading, correct"):
        stages(["magic"], "crag+search")


@pytest.mark.parametrize("kind", ["fewer", "lost"])
def test_what_a_smaller_step_takes_away_a_larger_one_takes_too(kind: str) -> None:
    """So that a curve shows one retrieval getting worse, and not several."""
    left = [set(remaining(FORTY, BRIDGE, kind, share)) for share in (0.0, 0.25, 0.5, 1.0)]
    assert left[0] == set(FORTY)
    assert left[0] > left[1] > left[2] > left[3]


@pytest.mark.parametrize(
    ("worse", "says"),
    [
        ("burnt:0.5", "nothing called 'burnt'.*fewer, lost"),
        ("fewer:0", "'fewer:0' needs"),
        ("lost:half", "'lost:half'"),
    ],
)
def test_what_cannot_be_taken_away_is_refused(worse: str, says: str) -> None:
    """Before anything is asked."""
    with pytest.raises(UsageError, match=says):
        changed(arms(["rag"], searches=False), [], [worse])


def test_losses_are_counted_on_the_same_questions(pipeline: Pipeline, tmp_path: Path) -> None:
    """Each method against itself with something taken away, and methods against each other with the same taken away."""
    passages = [
        (
            Passage(f"{n}a", f"The Ruvel Bridge {n} was built in 1911 by Tomas Aldwin.", "Ruvel Bridge"),
            Passage(f"{n}b", "A hut was built by Josef Ruhm.", "Hut"),
        )
        for n in range(40)
    ]
    queries = [
        Example(str(n), f"Who built the Ruvel Bridge {n}?", ("Tomas Aldwin",), frozenset({f"{n}a"}), passages=two)
        for n, two in enumerate(passages)
    ]
    compared = changed(arms(["crag", "none"], searches=False), ["checking"], ["fewer:0.5", "fewer:1"])
    ask = threads(pipeline.but(retriever=Given()))
    traces = run(compared, queries, ask, tmp_path, {}, lambda done, total: None)
    found = [qa.report(arm.name, queries, one) for arm, one in traces]
    right = {one.name: one.share("match_lower").count for one in found}
    assert (right["crag"], right["crag without checking"], right["crag fewer 1"], right["none"]) == (40, 40, 0, 0)
    assert 0 < right["crag fewer 0.5"] < 40
    gains = {(one.first, one.second): one.gain for one in qa.comparisons(found, "match_lower")}
    assert gains["crag", "crag fewer 1"].value == 1.0
    half = gains["crag", "crag fewer 0.5"]
    assert half.low is not None
    assert half.low < 1 - right["crag fewer 0.5"] / 40 < (half.high or 0)
    assert gains["crag fewer 1", "none fewer 1"].value == 0.0
    assert ("crag fewer 0.5", "crag fewer 1") not in gains
