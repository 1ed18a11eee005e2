"""`surefoot lab tune`: thresholds of an evaluator for a stated risk, in 100 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from surefoot.cli._configuration import ConfigFile, Settings
from surefoot.cli._console import counting, err, out, pulling, write_json
from surefoot.config.builder import Builder
from surefoot.run.store import to_json, write_text
from surefoot.stats.text import NONE, percent as digits
from surefoot_lab import pictures, tuning
from surefoot_lab.cli._options import JsonFile
from surefoot_lab.cli.evaluator import Limit, recorded, side_by_side
from surefoot_lab.datasets import pairs
from surefoot_lab.grading import Decisions, because
from surefoot_lab.report import Form, Table, count, percent, short, show
from surefoot_lab.risk_control import FOLDS, Aim, Choice
from surefoot_lab.tuning import THIN, TuningReport

_DECIDED: dict[str, Form] = {
    "file": str,
    "tested": count,
    "CORRECT": percent,
    "lack evidence": percent,
    "AMBIGUOUS": percent,
    "INCORRECT": percent,
    "have evidence": percent,
}


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
        report = tuning.run(one, files, on_progress, aim)
    split = {"by": "hash of the question's text", "proposing": FOLDS}
    write_json(json_file, {**recorded(limit), "config": chosen, "split": split, **to_json(report)})
    if picture:
        pictures.risk_coverage(report, picture)
    show(_tables(report))
    out.print(_legend(report), style="dim", soft_wrap=True)
    for note in _notes(report):
        out.say(note, "yellow")
    if report.thresholds is None:
        raise typer.Exit(1)
    if preset:
        write_text(preset, tuning.preset(report.thresholds))
        err.say(f"to decide by them: --set thresholds.file={preset}", "dim")


def _choices(report: TuningReport) -> Iterator[tuple[str, str, Choice, str]]:
    """Name, rule, threshold, and the word for what goes wrong."""
    yield "τ+", "CORRECT ≥", report.fit.upper, "lack evidence"
    yield "τ−", "INCORRECT <", report.fit.lower, "have evidence"
    yield "strip", "kept ≥", report.fit.strip, "lost"


def _tables(report: TuningReport) -> list[Table]:
    """The thresholds with their risk; the decisions, file by file."""
    figures: dict[str, Form] = dict.fromkeys(["counted", "wrong", "risk", "bound", "target"], lambda cell: cell)
    thresholds = [(name, *_threshold(rule, choice, wrong)) for name, rule, choice, wrong in _choices(report)]
    rows = [(short(one.file), *_shares(one.decisions)) for one in report.files]
    rows += [("all files", *_shares(report.decisions))] if len(rows) > 1 else []
    return [
        Table("thresholds", {report.evaluator: str, "": str, **figures}, thresholds),
        Table("decisions", _DECIDED, rows),
    ]


def _threshold(rule: str, choice: Choice, wrong: str) -> tuple[str, ...]:
    text = "none found" if choice.threshold is None else f"{rule} {choice.threshold:.4g}"
    shown, target = choice.shown, digits(choice.target)
    if shown is None or shown.risk is None:
        return text, "0", NONE, NONE, NONE, target
    return text, f"{shown.of:,}", f"{shown.wrong:,} {wrong}", digits(shown.risk), digits(shown.high), target


def _shares(made: Decisions) -> tuple[Any, ...]:
    """The cells of `_DECIDED` but for the file."""
    (correct, with_evidence), (incorrect, without) = made["CORRECT"], made["INCORRECT"]
    lacking, having = (None if right.share is None else 1 - right.share for right in (with_evidence, without))
    return correct.of, correct, lacking, made["AMBIGUOUS"][0], incorrect, having


def _legend(report: TuningReport) -> str:
    fit, sure = report.fit, digits(report.fit.confidence)
    thinned = f"One question in {THIN} was asked without its relevant passages.\n"
    return (thinned if any(file.thinned for file in report.files) else "") + (
        f"{fit.testing:,} questions test; {fit.proposing:,} others proposed what to test. Risk: share that is wrong.\n"
        f"With {sure} confidence each, the targets are kept for questions like these taken together.\n"
        "Bound: what holds of the one threshold by itself."
    )


def _notes(report: TuningReport) -> Iterator[str]:
    yield from (f"no {name}: {one.reason}" for name, _, one, _ in _choices(report) if one.threshold is None)
    if ungraded := sum(file.ungraded for file in report.files):
        total = sum(file.pairs for file in report.files)
        yield f"{ungraded:,} of {total:,} pairs could not be graded: {because(report.ungraded_because)}"
