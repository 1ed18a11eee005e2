"""An evaluation of answered questions: what it would cost, the judgements, and what they come to."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot.config.builder import Builder
from surefoot.config.sections import LIMITS
from surefoot.evaluate.records.folder import LABELS
from surefoot.evaluate.report import conclusion
from surefoot.evaluate.score import scoring
from surefoot.evaluate.score.labels import Label
from surefoot.evaluate.score.scoring import OnProgress, ScoringPlan
from surefoot.llms._rate_limited import RateLimitedLLM
from surefoot.run.store import values, write_value
from surefoot.types import Diagnosis, Record, Score, Summary
from surefoot.types.protocols import Judge


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

    def judge(self, about: Mapping[str, Any], on_progress: OnProgress = lambda _: None) -> dict[str, Score]:
        """Make the judgements that are not there yet, as `scoring.run` does; `about` is put on record, beside the
        settings on which scores depend."""
        config = self.builder.config
        limits = {key: value for key, value in config["judge"].items() if key in LIMITS}
        settings = {section: of for section, of in config.items() if section != "report"}
        settings["judge"] = {key: value for key, value in config["judge"].items() if key not in LIMITS}
        return scoring.run(
            self.judges,
            self.records,
            self.folder,
            {**about, "evaluation": settings},
            in_flight=self.builder.in_flight,
            model=self.model,
            limits=limits | ({"report": config["report"]} if config["report"] else {}),
            on_progress=on_progress,
        )

    def conclude(self, labels: Sequence[Label] = ()) -> tuple[tuple[Summary, ...], Diagnosis]:
        """Sum up and diagnose the judgements, as `conclusion.concluded` does; people's `labels` correct them, and stay
        in the folder."""
        if labels:
            write_value(self.folder / LABELS, labels)
        reporting = self.reporting
        with ThreadPoolExecutor(self.builder.in_flight) as executor:
            try:
                llm = self.builder.reporting_llm if reporting else None
                return conclusion.concluded(self.folder, llm, executor, self.builder.report_tokens)
            finally:
                if reporting:
                    reporting.stop()  # or the executor would wait for as long as the endpoint asks to
