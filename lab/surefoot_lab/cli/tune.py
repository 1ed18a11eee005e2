"""`surefoot lab tune`: thresholds of an evaluator for a stated risk, in 100 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text
from typer import Argument, Option

from surefoot.cli._configuration import ConfigFile, Settings
from surefoot.cli._console import REASONS, counting, err, headed, out, plain, pulling, short, tabled, write_json
from surefoot.cli._numbers import number
from surefoot.config.builder import Builder
from surefoot.run.store import write_text
from surefoot.stats.text import NONE
from surefoot.stats.text import percent as digits
from surefoot_lab import pictures, tuning
from surefoot_lab.cli._options import JsonFile
from surefoot_lab.cli.evaluator import Limit, recorded, side_by_side
from surefoot_lab.datasets import pairs
from surefoot_lab.grading import Decisions
from surefoot_lab.report import percent
from surefoot_lab.risk_control import Aim, Point
from surefoot_lab.tuning import THIN, TuningReport

_DECIDED = ["CORRECT", "lack evidence", "AMBIGUOUS", "INCORRECT", "have evidence"]


def tune(
    data: Annotated[list[Path], Argument(help="Labelled pairs: lines of {id, question, passages}.")],
    name: Annotated[
        str | None,
        Option(
            "--evaluator", metavar="NAME", help="Instead of the configured one; with options as in 'minilm model=PATH'."
        ),
    ] = None,
    target: Annotated[
        float, Option("--target", help="Largest share of CORRECT decisions that may lack evidence.")
    ] = 0.05,
    discard_target: Annotated[
        float, Option("--discard-target", help="Largest share of INCORRECT decisions that may have evidence.")
    ] = 0.1,
    strip_target: Annotated[
        float, Option("--strip-target", help="Largest share of relevant passages that may lie below strip.")
    ] = 0.05,
    confidence: Annotated[float, Option("--confidence", help="Confidence with which each target is kept.")] = 0.95,
    thin: Annotated[
        bool, Option("--thin", help="Take the relevant passages of one question in four out first.")
    ] = False,
    limit: Limit = None,
    preset: Annotated[
        Path | None,
        Option("--out", metavar="FILE", help="Write the thresholds here; the setting thresholds.file reads them."),
    ] = None,
    picture: Annotated[Path | None, pictures.drawing("the risk–coverage curve")] = None,
    json_file: JsonFile = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Fit an evaluator's thresholds to a stated risk, with a bound. Code 1: there are none."""
    aim = Aim(target, discard_target, strip_target, confidence)
    files: Sequence[pairs.LabelledSet] = [pairs.read(path, limit) for path in data]
    if thin:
        files = tuning.thinned(files)
    (chosen,) = side_by_side(config, settings or [], [name] if name else [])
    with pulling():
        one = Builder(chosen).evaluator
    with counting(one.name) as on_progress:
        report = replace(tuning.run(one, files, on_progress, aim), config=chosen)
    write_json(json_file, tuning.as_json(report, recorded(limit)))
    if picture:
        pictures.risk_coverage(report, picture)
    _show(report)
    if report.thresholds is None:
        raise typer.Exit(1)
    if preset:
        write_text(preset, tuning.preset(report.thresholds))
        err.say(f"to decide by them: --set thresholds.file={preset}", "dim")


def _show(report: TuningReport) -> None:
    """The thresholds with their risk; the decisions, file by file; and what is missing and why."""
    rows = [(short(one.file), one.decisions) for one in report.files]
    rows += [("all files", report.decisions)] if len(rows) > 1 else []
    decided = tabled(["file"], ["tested", *_DECIDED], ((name, *_shares(made)) for name, made in rows))
    for table in (_thresholds(report), decided):
        out.print(table)
        out.print()
    out.print(_legend(report), style="dim", soft_wrap=True)
    for note in _notes(report):
        out.say(note, "yellow")


def _thresholds(report: TuningReport) -> Table:
    table = headed([plain(report.evaluator), ""], ["counted", "wrong", "risk", "bound", "target"])
    for name, rule, choice, wrong in (
        ("τ+", "CORRECT ≥", report.fit.upper, "lack evidence"),
        ("τ−", "INCORRECT <", report.fit.lower, "have evidence"),
        ("strip", "kept ≥", report.fit.strip, "lost"),
    ):
        found = choice.threshold
        text = Text("none found", style="yellow") if found is None else Text(f"{rule} {found:.4g}")
        table.add_row(name, text, *_figures(choice.shown, wrong), digits(choice.target))
    return table


def _figures(shown: Point | None, wrong: str) -> tuple[str, str, str, str]:
    if shown is None or shown.risk is None:
        return "0", NONE, NONE, NONE
    return number(shown.of), f"{shown.wrong:,} {wrong}", digits(shown.risk), digits(shown.high)


def _shares(made: Decisions) -> tuple[str, ...]:
    """The cells of `_DECIDED`, and before them the number of questions."""
    with_evidence, without = made.correct_with_evidence.share, made.incorrect_without_evidence.share
    return (
        number(made.correct.of),
        percent(made.correct),
        percent(None if with_evidence is None else 1 - with_evidence),
        percent(made.ambiguous),
        percent(made.incorrect),
        percent(None if without is None else 1 - without),
    )


def _legend(report: TuningReport) -> str:
    fit, sure = report.fit, digits(report.fit.confidence)
    thinned = f"One question in {THIN} was asked without its relevant passages.\n"
    return (thinned if any(file.thinned for file in report.files) else "") + (
        f"{fit.testing:,} questions test; {fit.proposing:,} others proposed what to test. Risk: share that is wrong.\n"
        f"With {sure} confidence each, the targets are kept for questions like these taken together.\n"
        "Bound: what holds of the one threshold by itself."
    )


def _notes(report: TuningReport) -> Iterator[str]:
    for name, choice in (("τ+", report.fit.upper), ("τ−", report.fit.lower), ("strip", report.fit.strip)):
        if choice.threshold is None:
            yield f"no {name}: {choice.reason}"
    if ungraded := sum(file.ungraded for file in report.files):
        because = [f"{reason} ({n:,})" for reason, n in [*report.ungraded_because.items()][:REASONS]]
        total = sum(file.pairs for file in report.files)
        yield f"{ungraded:,} of {total:,} pairs could not be graded: {'; '.join(because)}"
