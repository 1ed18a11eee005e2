"""The order in which passages are trusted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from surefoot.evidence.ranking import CONSTANT, best, order
from surefoot.types import Grade, Passage

SCORES = st.floats(-3, 3).map(lambda value: round(value, 1))
FOUND = st.lists(st.tuples(SCORES, SCORES | st.none()), max_size=8)


def passages(*scores: float | None) -> list[Passage]:
    return [Passage(str(n), "", score=score) for n, score in enumerate(scores)]


@given(FOUND)
def test_every_place_is_there_once(found: list[tuple[float, float | None]]) -> None:
    """None is lost, graded or not."""
    ranked = order(passages(*(score for score, _ in found)), [value for _, value in found])
    assert sorted(ranked) == list(range(len(found)))


@given(FOUND)
def test_what_is_better_by_both_comes_first(found: list[tuple[float, float | None]]) -> None:
    """By value and by score, or by one where the other is equal; and what is equal by both stays in its order."""
    ranked = order(passages(*(score for score, _ in found)), [value for _, value in found])
    place = {n: at for at, n in enumerate(ranked)}
    for n, (score, value) in enumerate(found):
        for m, (other, its) in enumerate(found):
            if value is None or its is None:
                assert (value is None) <= (its is None) or place[n] > place[m]
            elif score >= other and value >= its and (n < m or (score, value) != (other, its)):
                assert n == m or place[n] < place[m]


@given(FOUND, st.integers(0, 7), st.floats(0, 3))
def test_a_higher_value_costs_no_place(found: list[tuple[float, float | None]], which: int, more: float) -> None:
    """The order is monotone in each value."""
    values = [value for _, value in found]
    if which < len(found) and values[which] is not None:
        shelf = passages(*(score for score, _ in found))
        raised = [value + more if n == which and value is not None else value for n, value in enumerate(values)]
        assert order(shelf, raised).index(which) <= order(shelf, values).index(which)


@given(st.lists(SCORES | st.none(), max_size=8))
def test_without_scores_the_values_alone_decide(values: list[float | None]) -> None:
    """Also where only one of the passages has none; of equals the first comes first."""
    alone = sorted(range(len(values)), key=lambda n: (values[n] is None, -(values[n] or 0.0)))
    assert order(passages(*[None] * len(values)), values) == alone
    if len(values) > 1:
        assert order(passages(None, *map(float, range(1, len(values)))), values) == alone


def test_the_two_ranks_are_fused_by_their_reciprocals() -> None:
    """Second by both is worth more than first and last of four, and third by both less."""
    assert 2 / (CONSTANT + 2) > 1 / (CONSTANT + 1) + 1 / (CONSTANT + 4) > 2 / (CONSTANT + 3)
    assert order(passages(4.0, 3.0, 2.0, 1.0), [0.1, 0.8, 0.7, 0.9]) == [1, 0, 3, 2]


def test_equal_values_share_the_rank_of_the_first() -> None:
    """Else the first of the equals would win over what was found better."""
    assert order(passages(1.0, 2.0), [0.5, 0.5]) == [1, 0]
    assert order(passages(3.0, 2.0, 1.0), [0.5, 0.5, 0.9]) == [0, 2, 1]


def test_a_value_of_none_is_last_however_well_it_was_found() -> None:
    """What could not be graded is not trusted; among themselves such passages keep the retriever's order."""
    assert order(passages(1.0, 9.0, 2.0, 3.0), [-5.0, None, -6.0, None]) == [0, 2, 1, 3]


def test_the_best_are_given_with_their_grades() -> None:
    """As many as are asked for, and no more than there are."""
    shelf = passages(1.0, 2.0, 3.0, 4.0)
    grades = [Grade(str(n), value) for n, value in enumerate([0.9, None, 0.8, 0.1])]
    assert best(shelf, grades, 2) == ((shelf[3], grades[3]), (shelf[2], grades[2]))
    assert [passage.id for passage, _ in best(shelf, grades, 9)] == ["3", "2", "0", "1"]
    assert len(best(shelf, grades)) == 3
