"""An evaluation summed up and diagnosed beside its scores: `summaries.json`, `slices.json`, `diagnosis.json`,
`outcomes.json` and `report.md`; with people's labels also `calibration.json`."""

from concurrent.futures import Executor
from pathlib import Path

from surefoot.evaluate.diagnose.diagnosis import ScoredRun, as_markdown, diagnose
from surefoot.evaluate.diagnose.outcomes import outcomes
from surefoot.evaluate.diagnose.verdicts import calibrated
from surefoot.evaluate.records.folder import opened
from surefoot.evaluate.report.narrative import report
from surefoot.run.store import write_text, write_value
from surefoot.types import Diagnosis, Summary
from surefoot.types.protocols import LLM

SUMMARIES, DIAGNOSIS, CALIBRATION = "summaries.json", "diagnosis.json", "calibration.json"
SLICES, OUTCOMES, REPORT = "slices.json", "outcomes.json", "report.md"


def concluded(
    folder: Path, llm: LLM | None = None, executor: Executor | None = None, max_tokens: int | None = None
) -> tuple[tuple[Summary, ...], Diagnosis]:
    """Sum up and diagnose what is in the folder: by the model, two calls and one for each metric, or, where there is
    none or it fails, by rules. `max_tokens` is the room of each reply, None: the usual one. Nothing is judged. Raises
    UsageError where the folder holds no evaluation."""
    run = opened(folder)
    scored = ScoredRun.of(run)
    made = report(llm, scored, executor, max_tokens) if llm else diagnose(scored)
    write(folder, scored, made)
    write_value(folder / SLICES, run.slices)
    if labelled := calibrated(run):
        write_value(folder / CALIBRATION, labelled)
    return run.summaries, made


def write(folder: Path, run: ScoredRun, made: Diagnosis) -> None:
    """Write the summaries, the diagnosis, the outcomes and the report."""
    for name, value in {SUMMARIES: run.summaries, DIAGNOSIS: made, OUTCOMES: outcomes(run.cases)}.items():
        write_value(folder / name, value)
    write_text(folder / REPORT, as_markdown(made, run.summaries, run.metrics))
