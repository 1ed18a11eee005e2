"""An evaluation summed up and diagnosed beside its scores: `summaries.json`, `slices.json`, `diagnosis.json`,
`outcomes.json` and `report.md`; with people's labels also `calibration.json`."""

from concurrent.futures import Executor
from pathlib import Path

from surefoot.evaluate.diagnose.diagnosis import ScoredRun, as_markdown, configured, diagnose
from surefoot.evaluate.diagnose.failures import contexts
from surefoot.evaluate.diagnose.outcomes import outcomes
from surefoot.evaluate.diagnose.verdicts import calibrated
from surefoot.evaluate.records.folder import opened
from surefoot.evaluate.report.narrative import report
from surefoot.evaluate.score.summaries import sampled
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
    found, config = run.summaries, configured(run.records, run.about.get("config"))
    if llm:
        circumstances = {key: value for key in ("commit", "seeds") if (value := run.about.get(key))}
        samples = sampled(run.scores)
        scored = ScoredRun(
            run.records, run.scores, found, config, run.metrics, samples, circumstances, calibrations=run.calibrations
        )
        made = report(llm, scored, executor, max_tokens)
    else:
        made = diagnose(run.records, run.scores, found, config, metrics=run.metrics, calibrations=run.calibrations)
    cases = contexts(run.records, run.scores, config, metrics=run.metrics, calibrations=run.calibrations)
    written = {SUMMARIES: found, DIAGNOSIS: made, OUTCOMES: outcomes(cases), SLICES: run.slices}
    for name, value in {**written, CALIBRATION: calibrated(run)}.items():
        if value is not None:
            write_value(folder / name, value)
    write_text(folder / REPORT, as_markdown(made, found, run.metrics))
    return found, made
