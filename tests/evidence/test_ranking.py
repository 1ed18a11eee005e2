"""The order in which passages are trusted."""

from dataclasses import replace

from hypothesis import given, strategies as st

from surefoot.evidence.ranking import RETRIEVAL_WEIGHT, best, order
from surefoot.types import Action, Grade, Passage

SCORES = st.floats(-3, 3).map(lambda value: round(value, 1))
FOUND = st.lists(st.tuples(SCORES, SCORES | st.none()), max_size=8)


def passages(*scores: float | None) -> list[Passage]:
    return [Passage(str(n), "", score=score) for n, score in enumerate(scores)]


def graded(*logits: float | None) -> list[Grade]:
    return [Grade(str(n), logit, None if logit is None else 0.5) for n, logit in enumerate(logits)]


@given(FOUND)
def test_what_is_better_by_both_comes_first(found: list[tuple[float, float | None]]) -> None:
    """No passage is lost; by grade and by score, or by one where the other is equal, the better stands first."""
    ranked = order(passages(*(score for score, _ in found)), graded(*(value for _, value in found)))
    assert sorted(ranked) == list(range(len(found)))
    place = {n: at for at, n in enumerate(ranked)}
    for n, (score, value) in enumerate(found):
        for m, (other, its) in enumerate(found):
            if value is None or its is None:
                assert (value is None) <= (its is None) or place[n] > place[m]
            elif score >= other and value >= its and (score > other or value > its or n < m):
                assert n == m or place[n] < place[m] or (value == its and max(s for s, _ in found) <= 0)


@given(FOUND, st.integers(0, 7), st.floats(0, 3))
def test_a_higher_grade_costs_no_place(found: list[tuple[float, float | None]], which: int, more: float) -> None:
    """The order is monotone in each grade."""
    values = [value for _, value in found]
    if which < len(found) and values[which] is not None:
        shelf = passages(*(score for score, _ in found))
        raised = [value + more if n == which and value is not None else value for n, value in enumerate(values)]
        assert order(shelf, graded(*raised)).index(which) <= order(shelf, graded(*values)).index(which)


@given(st.lists(SCORES | st.none(), max_size=8))
def test_without_scores_or_without_logits_the_grades_alone_decide(values: list[float | None]) -> None:
    """Also where only one of the passages has no score; of equals the first comes first."""
    alone = sorted(range(len(values)), key=lambda n: (values[n] is None, -(values[n] or 0.0)))
    assert order(passages(*[None] * len(values)), graded(*values)) == alone
    scores = [float(n) for n in range(1, len(values) + 1)]
    assert order(passages(*scores), [Grade(str(n), value) for n, value in enumerate(values)]) == alone
    if len(values) > 1:
        assert order(passages(None, *scores[1:]), graded(*values)) == alone


def test_scores_of_the_corpus_and_of_a_search_are_not_compared() -> None:
    """Each source's best is worth the same; and a reader sees what is cited first, what is INCORRECT last."""
    near = passages(0.03, 0.02)
    far = [Passage("far", "sold here", score=1.0, source="external")]
    grades = [*graded(2.0, 1.0), Grade("far", -2.0, 0.1, label=Action.INCORRECT)]
    assert order([*near, *far], grades) == [0, 1, 2]
    texts = [replace(one, text=text) for one, text in zip(near, ("one", "two"), strict=True)]
    assert [one.id for one, _ in best([*far, *texts], [grades[2], *grades[:2]], cited={"1"})] == ["1", "0", "far"]


def test_the_best_retrieval_score_is_worth_its_weight_in_logits() -> None:
    """Another score is worth its share of that."""
    just = RETRIEVAL_WEIGHT / 2
    assert order(passages(10.0, 5.0), graded(0.0, just - 0.1)) == [0, 1]
    assert order(passages(10.0, 5.0), graded(0.0, just + 0.1)) == [1, 0]


def test_an_ungraded_passage_is_last_however_well_it_was_found() -> None:
    """Among themselves such passages keep the retriever's order."""
    assert order(passages(1.0, 9.0, 2.0, 3.0), graded(-5.0, None, -6.0, None)) == [0, 2, 1, 3]


def test_the_best_are_given_with_their_grades() -> None:
    """As many as are asked for, and no more than there are."""
    shelf = passages(1.0, 2.0, 3.0, 4.0)
    grades = graded(0.9, None, 0.8, 0.1)
    shelf = [Passage(p.id, f"text {p.id}", score=p.score) for p in shelf]
    assert best(shelf, grades, 2) == ((shelf[3], grades[3]), (shelf[2], grades[2]))
    assert [passage.id for passage, _ in best(shelf, grades, 9)] == ["3", "2", "0", "1"]
