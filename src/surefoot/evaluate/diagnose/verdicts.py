"""The verdicts of a diagnosis held against people's, before and after it was calibrated on them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from surefoot.evaluate.diagnose.diagnosis import ScoredRun
from surefoot.evaluate.diagnose.record_context import RecordContext
from surefoot.evaluate.records.folder import Evaluated
from surefoot.evaluate.score.agreement import merged, missing
from surefoot.evaluate.score.calibration import Calibration
from surefoot.evaluate.score.labels import ANSWER


@dataclass(frozen=True, slots=True)
class VerdictCheck:
    """The verdicts on the records that people labelled."""

    of: int
    bad: int
    """Those that people call bad, by any of the metrics that they judged."""
    lost: int
    """Those that the diagnosis calls lost."""
    rightly: int
    """Those of these that people call bad."""
    undecided: int


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """What people's labels changed in a run."""

    metrics: tuple[Calibration, ...]
    before: VerdictCheck
    """By the shipped cuts."""
    after: VerdictCheck
    """By the calibrated ones, each record's fitted without its own label."""
    unused: dict[str, int] = field(default_factory=dict)
    """The labels, by metric, of records or metrics that the run does not score."""

    @property
    def lines(self) -> list[str]:
        """The report in words, a line a metric and one of the verdicts."""
        before, after = self.before, self.after
        return [
            *(one.text for one in self.metrics),
            *(
                f"{metric}: {count} labels are of no score of this run, and unused."
                for metric, count in self.unused.items()
            ),
            f"People call {after.bad} of {after.of} labelled answers bad. As shipped, {before.lost} are called lost, "
            f"{before.rightly} of them rightly; by cuts fitted without the answer's own label {after.lost}, "
            f"{after.rightly} rightly, and {after.undecided} are undecided.",
        ]


def calibrated(run: Evaluated) -> CalibrationReport | None:
    """The calibration of a run, held against the labels that it was made from; None: it has no labels."""
    if not run.labels:
        return None
    bad: dict[str, bool] = {}
    for one in merged(run.labels):
        bad[one.record_id] = bad.get(one.record_id, False) or not one.good
    scored = ScoredRun.of(run)
    before, after = (checked(one.cases, bad) for one in (replace(scored, calibrations=()), scored))
    unused = missing(run.scores, (one for one in run.labels if one.metric != ANSWER))
    return CalibrationReport(run.calibrations, before, after, unused)


def checked(cases: Iterable[RecordContext], bad: Mapping[str, bool]) -> VerdictCheck:
    """The verdicts on the cases that people judged: `bad` says how, by record id."""
    judged = [(case.verdict, bad[case.record.id]) for case in cases if case.record.id in bad]
    lost = [wrong for verdict, wrong in judged if verdict == "lost"]
    undecided = sum(verdict == "undecided" for verdict, _ in judged)
    return VerdictCheck(len(judged), sum(wrong for _, wrong in judged), len(lost), sum(lost), undecided)
