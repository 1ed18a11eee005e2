"""`surefoot evaluate`: judges over the records of any RAG system."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from rich.progress import MofNCompleteColumn
from typer import Argument, Option

from surefoot import __version__
from surefoot.cli._configuration import ConfigFile, Settings, configured
from surefoot.cli._console import REASONS, bar, between, chance, err, out, plain, pulling, share, tabled
from surefoot.cli._questions import Golds, Ray, Scale, executor, remarks, scale_of
from surefoot.config.builder import Builder
from surefoot.evaluate.diagnose.verdicts import CalibrationReport
from surefoot.evaluate.evaluation import CALIBRATION, REPORT, SLICES, Evaluation
from surefoot.evaluate.patch import shown
from surefoot.evaluate.records import redaction
from surefoot.evaluate.records.files import read
from surefoot.evaluate.records.paths import parsed
from surefoot.evaluate.score.labels import ANSWER, labelled
from surefoot.evaluate.score.lexical import METRICS, wordings
from surefoot.evaluate.score.scoring import OnProgress, ScoringProgress
from surefoot.evaluate.score.slices import Slice
from surefoot.run.store import read_value
from surefoot.stats import text as figures
from surefoot.types import Diagnosis, Summary
from surefoot.types.errors import UsageError

FIGURES = ("mean", "95 % interval", "scored", "unscored", "not applicable")
WORST = 5
"""Slices that the terminal shows, at most."""


def evaluate(
    records: Annotated[Path, Argument(help="Answered questions: a file of records, or a run's folder.")],
    folder: Annotated[Path, Option("--run", metavar="FOLDER", help="Keep everything here; resumes.")],
    metrics: Annotated[
        list[str] | None,
        Option(
            "--metric",
            metavar="NAME",
            help="Judge this; again for one more. Unnamed: the six of the diamond (context adherence is faithfulness, "
            "or groundedness) and the four of wording.",
        ),
    ] = None,
    golds: Golds = None,
    mapping: Annotated[
        list[str] | None,
        Option(
            "--map",
            metavar="FIELD=PATH",
            help="Where the file keeps a field under a name of its own: 'question=input.query'; again for one more.",
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        Option("--by", metavar="FIELD", help="Show means by this field of the file too, beside those by its tags."),
    ] = None,
    judge: Annotated[
        str | None,
        Option("--judge", metavar="HOW", help="llm, or embedded: on this machine and without a language model."),
    ] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Say what it would cost, and ask nothing.")] = False,
    budget: Annotated[
        str | None,
        Option("--budget", metavar="MOST", help="End when so much is spent: '300 calls', '2M tokens', or money."),
    ] = None,
    system: Annotated[
        Path | None,
        Option(
            "--system",
            metavar="FILE",
            help="Settings of the system that answered, as TOML or JSON: kept with the run without secrets, shown, and "
            "told to the model that writes the report.",
        ),
    ] = None,
    commit: Annotated[str | None, Option("--commit", metavar="ID", help="The system's revision, to keep.")] = None,
    calibrate: Annotated[
        Path | None,
        Option(
            "--calibrate",
            metavar="LABELS",
            help="Correct means, cuts and verdicts with people's labels of about 50 records drawn by lot, in the form "
            "that `surefoot agree` takes; a label that names no metric is of the whole answer. Kept with the run.",
        ),
    ] = None,
    scale: Scale = "1:5",
    ray: Ray = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Score answered questions by several metrics, each score with its reason.

    Finished judgements are reused, so you never pay for one twice: run it again to go on where it stopped.
    """
    labels = labelled(calibrate, ANSWER, scale=scale_of(scale)) if calibrate else ()
    chosen = configured(config, settings, None)
    chosen["judge"] |= {key: value for key, value in (("use", judge), ("budget", budget)) if value}
    builder = Builder(chosen)
    judges = (*builder.judges(metrics), *(() if metrics else wordings()))
    loaded = read(records, golds, parsed(mapping or ()) | {field: [field] for field in by or ()})
    remarks(loaded.problems)
    if system and any(record.trace and record.trace.config for record in loaded.records):
        raise UsageError("these are traces of Surefoot, which hold their settings; leave --system out")
    evaluation = Evaluation(builder, judges, loaded.records, folder)
    if dry_run:
        _planned(evaluation)
        return
    named = {"map": mapping, "config": redaction.system(system) if system else None, "commit": commit}
    about = {"surefoot": __version__, "source": str(records), **{name: value for name, value in named.items() if value}}
    with executor(builder, judges, ray) as where, pulling(), _progress() as show:
        found = evaluation.judge(about, show, **where)
    summaries, diagnosis = evaluation.conclude(labels)
    _show(summaries)
    if (folder / CALIBRATION).exists():
        for line in read_value(folder / CALIBRATION, CalibrationReport).lines:
            out.say(line, "dim")
        out.print()
    _sliced(read_value(folder / SLICES, tuple[Slice, ...]))
    _diagnosed(diagnosis)
    if any(item.patch for item in diagnosis.items):
        out.print()
        out.print("None of these changes was tried: surefoot improve QUESTIONS tries each on its own cases first.")
    more = "; run it again to ask for what is unscored" if any(score.passing for score in found.values()) else ""
    err.print(plain(f"all of it in {folder / REPORT}{more}; to look at it: surefoot view {folder}"), style="dim")


@contextmanager
def _progress() -> Iterator[OnProgress]:
    with bar(MofNCompleteColumn()) as progress:
        task = progress.add_task("judging", total=None)

        def show(now: ScoringProgress) -> None:
            aside = f", {now.unscored:,} unscored" if now.unscored else ""
            spent = f"judging ({now.calls:,} calls, {now.tokens:,} tokens{aside})"
            progress.update(task, completed=now.done, total=now.total, description=spent)

        yield show


def _planned(evaluation: Evaluation) -> None:
    planned, judges = evaluation.plan(), evaluation.judges
    spent, money = planned.spent, planned.money
    out.say(f"{planned.records:,} records, {len(judges)} metrics by {', '.join(dict.fromkeys(j.name for j in judges))}")
    rest = f"{planned.reused:,} are there already, {planned.not_applicable:,} do not apply"
    out.say(f"{planned.judgements:,} judgements to make; {rest}")
    out.say(
        f"about {spent.calls:,} calls, {spent.input_tokens:,} input and {spent.output_tokens:,} output tokens; "
        "re-asks come on top"
    )
    if reporting := evaluation.reporting:
        insights = len({judge.metric for judge in judges} - {*METRICS})
        out.say(f"the diagnosis takes {insights + 1} calls of {reporting.name} more, or up to twice as many")
    price = "no prices are set: judge.input_price, judge.output_price" if money is None else f"{money:.2f}"
    out.say(f"about {planned.seconds / 60:.1f} minutes of calls; money: {price}")


def summary_row(one: Summary) -> tuple[str, ...]:
    """The metric and its `FIGURES`."""
    counts = (f"{n:,}" for n in (one.scored, one.unscored, one.not_applicable))
    mark = "*" if one.corrected else ""
    return one.metric, figures.number(one.mean, ".3f") + mark, figures.interval(one.low, one.high, ".3f"), *counts


def _show(summaries: Sequence[Summary]) -> None:
    rows, reasons = [], Counter[str]()
    for one in summaries:
        rows.append(summary_row(one))
        reasons.update(one.unscored_because)
    out.print(tabled(["metric"], FIGURES, rows))
    if labels := max((one.corrected for one in summaries), default=0):
        out.say(f"* the mean that people would give, corrected with {labels} labels", "dim")
    for reason, times in reasons.most_common(REASONS):
        out.say(f"{times:,} unscored: {reason}", "yellow")
    out.print()


def _sliced(slices: Sequence[Slice]) -> None:
    if not slices:
        return
    rows = [
        (
            plain(f"{one.tag} {one.value}"),
            one.metric,
            f"{one.of:,}",
            share(one.mean),
            between(one.low, one.high),
            share(one.rest),
            chance(one.holm),
        )
        for one in slices[:WORST]
        if one.mean < one.rest
    ]
    out.print(tabled(["worst slices", "metric"], ["records", "mean", "95 % interval", "rest", "Holm"], rows))
    worse = sum(one.worse for one in slices)
    out.say(f"slices worse than the rest, beyond chance among so many: {worse} of {len(slices)}", "dim")
    out.print()


def _diagnosed(diagnosis: Diagnosis) -> None:
    if diagnosis.fallback:
        err.say(f"{diagnosis.fallback}; what follows is by rules", "yellow")
    out.print(plain(diagnosis.executive_summary_gist))
    for number, item in enumerate(diagnosis.items, start=1):
        out.print()
        out.print(plain(f"{number}. {item.title} ({item.priority})"), style="bold")
        out.print(plain(item.problem_detection_gist))
        for step in item.recommended_protocol_gist.splitlines():
            out.print(plain(step))
        if item.patch:
            out.print(plain(f"   {shown(item.patch)}"))
