"""An evaluation of answered questions: what it would cost, the judgements, and what they come to."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot.config.builder import Builder
from surefoot.config.sections import LIMITS
from surefoot.evaluate.diagnose.diagnosis import ScoredRun, as_markdown, diagnose
from surefoot.evaluate.diagnose.outcomes import outcomes
from surefoot.evaluate.diagnose.verdicts import calibrated
from surefoot.evaluate.records.folder import LABELS, opened
from surefoot.evaluate.report.narrative import report
from surefoot.evaluate.score import scoring
from surefoot.evaluate.score.labels import Label
from surefoot.evaluate.score.scoring import OnProgress, ScoringPlan
from surefoot.llms._rate_limited import RateLimitedLLM
from surefoot.run.store import values, write_text, write_value
from surefoot.types import Diagnosis, Record, Score, Summary
from surefoot.types.protocols import Judge

SUMMARIES, DIAGNOSIS, CALIBRATION = "summaries.json", "diagnosis.json", "calibration.json"
SLICES, OUTCOMES, REPORT = "slices.json", "outcomes.json", "report.md"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Judges and the records that they judge, and the folder that gets all of it."""

    builder: Builder
    """Of the configuration that the judges come from."""
    judges: Sequence[Judge]
    records: Sequence[Record]
    folder: Path

    @property
    def model(self) -> RateLimitedLLM | None:
        """The language model that the judges ask; None: none of them asks one."""
        return self.builder.judging_for(self.judges)

    @property
    def reporting(self) -> RateLimitedLLM | None:
        """The language model that words insights and report; None: the rules do."""
        return self.builder.reporting if self.model or self.builder.config["report"] else None

    def plan(self) -> ScoringPlan:
        """The cost of the judgements that are still to be made; nothing is asked."""
        judging, model = self.builder.config["judge"], self.model
        return scoring.plan(
            self.judges,
            self.records,
            values(self.folder / scoring.SCORES, Score),
            in_flight=self.builder.in_flight,
            seconds=float(judging.get("seconds", scoring.ASSUMED)),
            requests=judging.get("requests_per_minute"),
            prices=model.prices if model else None,
        )

    def judge(
        self, about: Mapping[str, Any], on_progress: OnProgress = lambda _: None, **executor: Any
    ) -> dict[str, Score]:
        """Make the judgements that are not there yet, as `scoring.run` does; `about` is put on record, beside the
        settings on which scores depend. `executor`: its `judging` and `in_flight`, where other machines judge."""
        config = self.builder.config
        settings = {section: of for section, of in config.items() if section != "report"}
        settings["judge"] = {key: value for key, value in config["judge"].items() if key not in LIMITS}
        return scoring.run(
            self.judges,
            self.records,
            self.folder,
            {**about, "evaluation": settings},
            model=self.model,
            on_progress=on_progress,
            **{"in_flight": self.builder.in_flight, **executor},
        )

    def conclude(self, labels: Sequence[Label] = ()) -> tuple[tuple[Summary, ...], Diagnosis]:
        """Sum up and diagnose what was judged, as far as it has come, and write it into the folder; people's `labels`
        correct it, and stay there. Costs two calls and one for each metric where a model words it. Raises UsageError
        where the folder holds no evaluation."""
        if labels:
            write_value(self.folder / LABELS, labels)
        run = opened(self.folder)
        scored = ScoredRun.of(run)
        made = self._diagnosis(scored)
        write(self.folder, scored, made)
        write_value(self.folder / SLICES, run.slices)
        if labelled := calibrated(run):
            write_value(self.folder / CALIBRATION, labelled)
        return run.summaries, made

    def _diagnosis(self, scored: ScoredRun) -> Diagnosis:
        if not (model := self.reporting):
            return diagnose(scored)
        with ThreadPoolExecutor(self.builder.in_flight) as executor:
            try:
                return report(self.builder.reporting_llm, scored, executor, self.builder.report_tokens)
            finally:
                model.stop()  # or the executor would wait for as long as the endpoint asks to


def write(folder: Path, run: ScoredRun, made: Diagnosis) -> None:
    """Write the summaries, the diagnosis, the outcomes and the report."""
    for name, value in {SUMMARIES: run.summaries, DIAGNOSIS: made, OUTCOMES: outcomes(run.cases)}.items():
        write_value(folder / name, value)
    write_text(folder / REPORT, as_markdown(made, run.summaries, run.metrics))
