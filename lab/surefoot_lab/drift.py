"""Have the evaluator's scores moved? The best grade of each recent question, held against those of earlier ones.

Thresholds were fitted to scores as they were. Where questions or documents become others, the same thresholds accept
and refuse other shares, and nobody is told. Read are kept traces; nothing is graded again.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from scipy.stats import ks_2samp
from typer import Argument, Option

from surefoot.cli._console import out, print_json, tabled
from surefoot.run.store import from_json, keyed, read_trace, to_json
from surefoot.stats.figures import Floats
from surefoot.types import Action, Trace
from surefoot.types.errors import TraceFault, UsageError

FEW = 30
"""Questions that each window needs; with fewer, chance alone moves the index by tenths."""
BINS = 10
"""Equal parts of the earlier scores; with fewer than 100 earlier questions, a part for each ten."""
MOVED = 0.25
"""The usual limit of the index: below 0.1 nothing moved, up to 0.25 a little, above it much."""
CHANCE = 0.01
"""The largest p at which the windows count as different."""
DRAWS = 1000


@dataclass(frozen=True, slots=True)
class DriftPoint:
    """The best grade of one question, with its time."""

    time: datetime
    """UTC."""
    best: float
    """The best score among the passages of the corpus, on the evaluator's scale."""
    action: Action
    evaluator: str
    """Its section of the configuration, as JSON: scores of another one mean something else."""


Window = dict[str, Any]
"""`questions`; `begins` and `ends`, the dates of the first and the last, UTC; `median` of their scores; `actions`, the
share of each."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Two windows, and how far their scores lie apart."""

    earlier: Window
    recent: Window
    index: float
    """Population stability index over equal parts of the earlier scores, each count half a question more; 0: same."""
    low: float
    high: float
    """Its 95 % interval (bootstrap over the questions of both windows); chance alone lifts the index above 0."""
    apart: float
    """Kolmogorov–Smirnov: the greatest distance of the two distributions, in [0, 1]."""
    p: float
    """The chance of such a distance if nothing had moved."""
    left_out: int
    """Questions graded by another evaluator than the latest one."""

    @property
    def moved(self) -> bool:
        """True: the scores have left the earlier distribution; both the distance and its size say so."""
        return self.p < CHANCE and self.index >= MOVED


def traces(paths: Iterable[Path]) -> Iterator[Trace]:
    """The traces in these files and folders, at any depth: a run's `traces.jsonl`, and a server's file for each.

    Raises UsageError for a path that is not there, TraceFault for what is damaged.
    """
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path} is not there; give a trace, a run's folder, or a folder of these, such as runs")
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.name == "traces.jsonl":
                yield from (from_json(Trace, value, where) for where, _, value in keyed(file, "trace"))
            elif file == path:
                yield read_trace(file)
            elif file.suffix == ".json" and file.name != "run.json":
                with suppress(TraceFault):  # a folder may hold JSON that is no trace
                    yield read_trace(file)


def marked(found: Iterable[Trace]) -> Iterator[DriftPoint]:
    """The questions whose corpus was graded and whose time is known; the others say nothing of scores."""
    for trace in found:
        scores = [grade.score for grade in trace.grades[: len(trace.passages)] if grade.score is not None]
        if scores and trace.decision and trace.created:
            section = json.dumps(trace.config.get("evaluator", {}), sort_keys=True)
            try:
                time = datetime.fromisoformat(trace.created)
            except ValueError as error:
                raise TraceFault(f"trace {trace.id} was not made at a time: {error}; leave it out") from error
            utc = time if time.tzinfo else time.replace(tzinfo=UTC)
            yield DriftPoint(utc, max(scores), trace.decision.action, section)


def drift(recent: Sequence[DriftPoint], earlier: Sequence[DriftPoint] = (), days: int = 30) -> Drift:
    """Hold recent questions against earlier ones; without these, the last `days` days against all before.

    Only those count that the evaluator of the latest question graded. Raises UsageError where a window has fewer than
    `FEW` questions.
    """
    every = [*earlier, *recent]
    if not every:
        raise UsageError("no trace holds a decision and grades; keep some with `surefoot serve` or `surefoot lab qa`")
    latest = max(every, key=lambda one: one.time)
    new, old = ([one for one in part if one.evaluator == latest.evaluator] for part in (recent, earlier))
    if not earlier:
        since = latest.time - timedelta(days=days)
        new, old = [one for one in new if one.time > since], [one for one in new if one.time <= since]
    if min(len(new), len(old)) < FEW:
        raise UsageError(
            f"{len(new)} recent and {len(old)} earlier questions are too few: each window needs {FEW}; give more "
            "traces, another number of --days, or --before a folder of earlier ones"
        )
    before, now = (np.array([one.best for one in part]) for part in (old, new))
    ends = np.quantile(before, np.linspace(0, 1, min(BINS, len(before) // 10) + 1)[1:-1])
    draw = np.random.default_rng(1)
    drawn = [stability(draw.choice(before, len(before)), draw.choice(now, len(now)), ends) for _ in range(DRAWS)]
    low, high = np.quantile(drawn, (0.025, 0.975)).tolist()
    apart, p = map(float, ks_2samp(before, now))
    left_out = sum(one.evaluator != latest.evaluator for one in every)
    return Drift(_window(old), _window(new), stability(before, now, ends), low, high, apart, p, left_out)


def stability(before: Floats, now: Floats, ends: Floats) -> float:
    """The population stability index over the parts that these ends make."""
    counts = [np.bincount(np.searchsorted(ends, one, side="right"), minlength=len(ends) + 1) for one in (before, now)]
    old, new = ((count + 0.5) / (count + 0.5).sum() for count in counts)
    return float(((new - old) * np.log(new / old)).sum())


def _window(part: Sequence[DriftPoint]) -> Window:
    dates = [one.time.date().isoformat() for one in sorted(part, key=lambda one: one.time)]
    shares = {action.value: sum(one.action is action for one in part) / len(part) for action in Action}
    median = float(np.median([one.best for one in part]))
    return {"questions": len(part), "begins": dates[0], "ends": dates[-1], "median": median, "actions": shares}


def drifted(
    runs: Annotated[list[Path], Argument(metavar="TRACES...", help="Traces, folders of runs, or folders of these.")],
    before: Annotated[
        list[Path] | None,
        Option("--before", metavar="TRACES", help="Earlier ones to hold them against; again for one more."),
    ] = None,
    days: Annotated[int, Option("--days", min=1, help="Without --before: the last so many days are recent.")] = 30,
    as_json: Annotated[bool, Option("--json", help="Print the figures as JSON, and nothing else.")] = False,
) -> None:
    """Tell whether the grades of recent questions have left the distribution of earlier ones. Code 1: they have.

    Each question counts by the best score among its passages. Nothing is graded again.
    """
    found = drift([*marked(traces(runs))], [*marked(traces(before or []))], days)
    if as_json:
        print_json({**to_json(found), "moved": found.moved})
    else:
        _show(found)
    if found.moved:
        raise typer.Exit(1)


def _show(found: Drift) -> None:
    windows = found.earlier, found.recent
    rows = [
        ["first asked", *(one["begins"] for one in windows)],
        ["last asked", *(one["ends"] for one in windows)],
        ["questions", *(f"{one['questions']:,}" for one in windows)],
        ["median of the best scores", *(f"{one['median']:.3g}" for one in windows)],
        *([action.value, *(f"{one['actions'][action.value]:.0%}" for one in windows)] for action in Action),
    ]
    out.print(tabled([""], ["earlier", "recent"], rows))
    out.say(f"stability index {found.index:.3f} [{found.low:.3f}, {found.high:.3f}], an alarm from {MOVED} up")
    out.say(f"Kolmogorov–Smirnov {found.apart:.3f}, p = {found.p:.2g}, an alarm below {CHANCE}")
    if found.left_out:
        out.say(f"{found.left_out:,} questions were graded by another evaluator and do not count", "yellow")
    if found.moved:
        out.say(
            "The scores have moved. Look at what is asked and indexed now that was not before. Then label some recent "
            "questions, and fit thresholds to them: surefoot lab tune",
            "red",
        )
    else:
        out.say("The scores have not moved, as far as so many questions show.")
