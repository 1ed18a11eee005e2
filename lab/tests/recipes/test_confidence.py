"""How the fit of the confidence comes about."""

from dataclasses import replace

import numpy as np
import pytest

from confidence import AnsweredSet, answered, fitted, held_out, reader, risks
from surefoot.evidence.confidence import QUOTED
from surefoot.types import Action, Answer, Citation, Decision, Grade, Passage, Strip, Trace
from surefoot.types.errors import UsageError
from surefoot_lab.heads import Labelled

RANDOM = np.random.default_rng(0)


def made(family: str, answers: int = 200, evaluator: str = "e") -> AnsweredSet:
    """Right by the first fact; the grade of the decision says nothing."""
    inputs = RANDOM.normal(size=(answers, len(QUOTED)))
    labels = (RANDOM.random(answers) < 1 / (1 + np.exp(-3 * inputs[:, 0]))).astype(float)
    own = Labelled(inputs, labels, ("",) * answers, answers**0.5)
    return AnsweredSet(family, frozenset({evaluator}), own, RANDOM.normal(size=answers))


def trace(model: str = "e", refused: bool = False, best: float | None = 1.0, score: float | None = 1.0) -> Trace:
    strip = Strip("a", 0, 6, "Aldwin", score, True)
    answer = Answer("Aldwin [1]", (Citation(1, strip, "Aldwin", True),), refused=refused, model=model)
    decision = Decision(Action.CORRECT, "threshold", 0.5, 0.0, "", best)
    return Trace("t", "Who?", (Passage("a", "Aldwin"),), (Grade("a", 1.0, 0.9),), decision, answer=answer)


def test_only_answers_teach() -> None:
    """Not refusals, nor what nobody graded; the set's weight is the root of the answers that are left."""
    traces = [trace(), trace(refused=True), trace(best=None), trace(score=None), trace("f")]
    found = answered("popqa", [(str(n), one, n == 0) for n, one in enumerate(traces)])
    assert (found.answers.groups, list(found.answers.labels)) == (("0", "4"), [1.0, 0.0])
    assert (found.family, found.models, found.answers.say) == ("popqa", {"e", "f"}, 2**0.5)
    assert found.answers.inputs.shape == (2, len(QUOTED))


def test_a_set_is_predicted_by_other_families() -> None:
    """So another label on one of its own family changes nothing."""
    sets = {"a/1": made("a"), "a/2": made("a"), "b": made("b"), "c": made("c")}
    before = held_out(sets, QUOTED)["a/1"]
    turned = replace(sets["a/2"].answers, labels=1 - sets["a/2"].answers.labels)
    assert np.array_equal(held_out({**sets, "a/2": replace(sets["a/2"], answers=turned)}, QUOTED)["a/1"], before)
    turned = replace(sets["b"].answers, labels=1 - sets["b"].answers.labels)
    assert not np.array_equal(held_out({**sets, "b": replace(sets["b"], answers=turned)}, QUOTED)["a/1"], before)


def test_a_fit_says_by_how_much_it_beats_the_grade() -> None:
    """With an interval, over sets that it had not seen; the same sets give the same file."""
    sets = {name: made(name) for name in "abc"}
    one = fitted(sets, QUOTED, reader(sets))
    assert one == fitted(sets, QUOTED, "e")
    change, low, high = one["held_out"]["area_change"]
    assert low < change < high < -0.4
    assert one["weights"][0] > 1
    assert (one["evaluator"], one["sets"]["a"]["answers"]) == ("e", 200)


def test_runs_of_two_evaluators_make_no_fit() -> None:
    """Their scores mean different things."""
    with pytest.raises(UsageError, match="several evaluators: e, f"):
        reader({"a": made("a"), "b": made("b", evaluator="f")})


def test_risks_never_fall_and_end_with_every_answer() -> None:
    """Each is a share of wrong ones among the surest, and any confidence keeps the last."""
    sure = np.linspace(1, 0, 40)
    wrong = np.array(([0.0] * 4 + [1.0] + [0.0] * 5) * 2 + [0.0, 1.0] * 10)
    table = risks(sure, wrong)
    assert len(table) == 20
    assert [share for _, share in table] == sorted(share for _, share in table)
    assert table[-1] == (0.0, 0.3)
    assert table[2] == (round(float(sure[5]), 4), round(1 / 14, 4))
