"""The files that sum up and diagnose an evaluation, beside its scores."""

from pathlib import Path

from surefoot.evaluate.diagnose.diagnosis import ScoredRun, as_markdown
from surefoot.evaluate.diagnose.outcomes import outcomes
from surefoot.run.store import write_text, write_value
from surefoot.types import Diagnosis

SUMMARIES, DIAGNOSIS, CALIBRATION = "summaries.json", "diagnosis.json", "calibration.json"
SLICES, OUTCOMES, REPORT = "slices.json", "outcomes.json", "report.md"


def write(folder: Path, run: ScoredRun, made: Diagnosis) -> None:
    """Write the summaries, the diagnosis, the outcomes and the report."""
    for name, value in {SUMMARIES: run.summaries, DIAGNOSIS: made, OUTCOMES: outcomes(run.cases)}.items():
        write_value(folder / name, value)
    write_text(folder / REPORT, as_markdown(made, run.summaries, run.metrics))
