"""What became of each answer: where on the way from question to answer it was lost."""

from typing import Any

import pytest

from evaluate.diagnose.test_failures import CUT_OFF, GOOD, POOR, bare, read_by, strip, traced, useful
from surefoot.evaluate.diagnose.failures import STAGES, contexts
from surefoot.evaluate.diagnose.outcomes import STEPS, outcomes
from surefoot.types import Answer, Record, Score, Step


def test_each_stage_loses_at_one_step() -> None:
    """None is missing, or in two of them."""
    assert sorted(stage for stages in STEPS.values() for stage in stages) == sorted(STAGES)


@pytest.mark.parametrize(
    ("record", "values", "verdict", "step"),
    [
        (read_by("It was Tomas Aldwin."), {}, "right", ""),
        (Record("r", "Who?", (GOOD,), "Tomas Aldwin."), {}, "undecided", ""),
        (useful(steps=(Step("generate", 0.1, error="down"),)), {}, "lost", "run"),
        (bare("Josef Keld", *POOR), {}, "lost", "retrieved"),
        (traced(GOOD, *POOR, scores={"good": 0.3}), {}, "lost", "kept"),
        (bare("Josef Keld of Atlantis.", GOOD), {"context_adherence": 0.1}, "lost", "grounded"),
        (useful(strips=(strip(GOOD),)), {}, "lost", "right"),
    ],
)
def test_an_answer_is_lost_at_the_first_step_that_failed_it(
    record: Record, values: dict[str, float], verdict: str, step: str
) -> None:
    """With its stage and reason; one that is right or undecided is lost nowhere, and has neither."""
    scores = [Score("r", metric, value) for metric, value in values.items()]
    (found,) = outcomes(contexts([record], scores, {}))
    assert (found.record_id, found.verdict, found.step) == ("r", verdict, step)
    assert bool(found.stage) == bool(found.reason) == (verdict == "lost")


@pytest.mark.parametrize(
    "record",
    [
        bare("Built in 1911, of iron.", *POOR, GOOD),
        useful(strips=(strip(GOOD),), said=Answer("It was built by"), steps=(CUT_OFF,)),
    ],
)
def test_evidence_that_was_there_to_be_read_passed_all_steps_but_the_last(record: Any) -> None:
    """Far down among what another system was given, or under an answer that breaks off."""
    assert outcomes(contexts([record], (), {}))[0].step == "right"
