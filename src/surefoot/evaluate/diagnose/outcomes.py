"""What became of each answer: right, undecided, or lost at a step of the funnel from question to answer."""

from collections.abc import Sequence

from surefoot.evaluate.diagnose.failures import Failure, failures
from surefoot.evaluate.diagnose.record_context import RecordContext
from surefoot.types import RecordOutcome

STEPS = {
    "run": {"error"},
    "retrieved": {"retrieval", "chunking", "search"},
    "kept": {"ranking", "grading", "thresholds", "refinement"},
    "read": {"truncation"},
    "grounded": {"grounding"},
    "right": {"refusal", "reading", "format"},
}
"""The steps in their order, each with the stages that lose an answer there."""


def outcomes(cases: Sequence[RecordContext]) -> tuple[RecordOutcome, ...]:
    """The outcome of each record, in their order. No model is called."""
    lost = {failure.record_id: failure for failure in failures(cases)}
    return tuple(_outcome(case, lost.get(case.record.id)) for case in cases)


def _outcome(case: RecordContext, failure: Failure | None) -> RecordOutcome:
    if failure is None:
        return RecordOutcome(case.record.id, case.verdict)
    step = next(name for name, stages in STEPS.items() if failure.stage in stages)
    if failure.kind == "answer" or (step == "kept" and not case.record.trace):  # the evidence was there to be read
        step = "right"
    return RecordOutcome(case.record.id, case.verdict, step, failure.stage, failure.evidence)
