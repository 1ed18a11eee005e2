"""What holds of the trigger and of the other routings for all grades whatsoever."""

from hypothesis import given, settings, strategies as st

from surefoot.evidence.policies import POLICIES, Count, NoneRelevant, Threshold, labelled, redecide
from surefoot.types import Action, Grade, Passage, Thresholds, Trace

ORDER = [Action.INCORRECT, Action.AMBIGUOUS, Action.CORRECT]
scores = st.floats(-3, 3, width=32).map(lambda score: score + 0.0)
pairs = st.tuples(scores, scores).map(sorted)
thresholds = pairs.map(lambda pair: Thresholds(pair[1], pair[0], strip=0.0, evaluator="test"))
gradings = st.lists(st.none() | scores, max_size=12)


def graded(values: list[float | None], own: Thresholds) -> tuple[Grade, ...]:
    return labelled([Grade(str(n), value) for n, value in enumerate(values)], own)


@settings(deadline=None)
@given(thresholds, gradings, st.data())
def test_a_higher_score_never_makes_the_action_worse(
    own: Thresholds, values: list[float | None], data: st.DataObject
) -> None:
    """Raising any one score moves the action towards CORRECT or not at all."""
    if not (known := [n for n, value in enumerate(values) if value is not None]):
        return
    raised = list(values)
    place = data.draw(st.sampled_from(known))
    raised[place] = (values[place] or 0.0) + data.draw(st.floats(0, 6))
    before = Threshold(own).decide(graded(values, own)).action
    assert ORDER.index(Threshold(own).decide(graded(raised, own)).action) >= ORDER.index(before)


@settings(deadline=None)
@given(thresholds, gradings, st.randoms(use_true_random=False), st.sampled_from(sorted(POLICIES)))
def test_the_order_of_the_passages_plays_no_part(own, values, random, policy) -> None:  # type: ignore[no-untyped-def]
    """Every policy decides the same, and says the same, over the same grades in any order."""
    mixed = random.sample(values, len(values))
    decide = POLICIES[policy](own).decide
    assert decide(graded(values, own)) == decide(graded(mixed, own))


@settings(deadline=None)
@given(thresholds, st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12))
def test_scores_are_taken_as_they_are(own: Thresholds, values: list[float]) -> None:
    """No score is clamped to a range, and the action is that of the best one against τ+ and τ−."""
    decision = Threshold(own).decide(graded(list(values), own))
    best = max(values)
    assert decision.best == best
    assert (decision.action is Action.CORRECT) == (best >= own.upper)
    assert (decision.action is Action.INCORRECT) == (best < own.lower)


@settings(deadline=None)
@given(thresholds, st.integers(0, 6), st.lists(st.lists(st.none() | scores, max_size=3), min_size=10, max_size=10))
def test_a_routing_that_rewrites_always_ends(own: Thresholds, limit: int, rounds: list[list[float | None]]) -> None:
    """Whatever each retrieval brings, no more than `max_rewrites` rewrites are asked for."""
    for policy in (Count(own, max_rewrites=limit), NoneRelevant(own, max_rewrites=limit)):
        rewrites = 0
        while policy.decide(graded(rounds[rewrites], own), rewrites).again:
            rewrites += 1
        assert rewrites <= limit


@settings(deadline=None)
@given(thresholds, gradings, st.integers(0, 4), st.integers(0, 4), st.sampled_from(sorted(POLICIES)))
def test_a_decision_is_taken_again_from_its_trace(own, values, rewrites, limit, policy) -> None:  # type: ignore[no-untyped-def]
    """The very same one, from what the trace holds, under every policy."""
    grades = graded(values, own)
    options = {"max_rewrites": limit} if policy in ("count", "none_relevant") else {}
    decision = POLICIES[policy](own, **options).decide(grades, rewrites)
    passages = tuple(Passage(grade.passage_id, "text") for grade in grades)
    assert redecide(Trace("t", "Q?", passages, grades, decision)) == decision
