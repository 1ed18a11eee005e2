"""`surefoot lab`: measure on labelled questions."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer
from typer import Argument, Option

from surefoot import __version__
from surefoot.cli._configuration import ConfigFile, Settings, agreed
from surefoot.cli._console import counting, err, pulling, write_json
from surefoot.config.builder import Builder
from surefoot.config.settings import Config
from surefoot.config.settings import settings as overrides
from surefoot.run import manifest
from surefoot.run.store import write_text
from surefoot.types import Thresholds
from surefoot.types.errors import UsageError
from surefoot.types.protocols import Evaluator
from surefoot_lab import grading as bench_evaluator
from surefoot_lab import risk_coverage, robustness
from surefoot_lab import tuning as bench_tune
from surefoot_lab.cli import _evaluators as evaluators
from surefoot_lab.cli import _probes as probes
from surefoot_lab.cli import _thresholds as tuning
from surefoot_lab.datasets import pairs
from surefoot_lab.svg import drawing, write_picture

Built = tuple[Config, Evaluator, Thresholds | None]
R = TypeVar("R", bench_evaluator.GradingReport, robustness.RobustnessReport)


def evaluator(
    data: Annotated[list[Path], Argument(help="Labelled pairs: lines of {id, question, passages}.")],
    names: Annotated[
        list[str] | None,
        Option(
            "--evaluator",
            metavar="NAME",
            help="Instead of the configured one, with options as in 'minilm model=PATH'; again for one beside it.",
        ),
    ] = None,
    limit: Annotated[int | None, Option("--limit", min=1, help="Only a sample of so many questions a file.")] = None,
    blank: Annotated[
        Literal["question", "passage"] | None, Option("--blank", help="Control: hide this from the evaluator.")
    ] = None,
    probe: Annotated[
        bool, Option("--probe", help="Instead: how grades move when one thing about a pair is changed.")
    ] = False,
    json_file: Annotated[Path | None, Option("--json", metavar="FILE", help="Write the report here.")] = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Grade labelled pairs and count: AUC, accuracy, calibration, actions, speed.

    Settings of evaluator and thresholds are for the first --evaluator; those beside it have the options that are named
    with them. Figures that take thresholds stay empty for one that has none yet.
    """
    if probe and blank:
        raise UsageError("--probe changes one thing about a pair and --blank hides one; use either")
    files = [pairs.read(path, limit) for path in data]
    if blank:
        files = [pairs.blanked(file, blank) for file in files]
    with pulling():
        builders = [Builder(chosen) for chosen in _side_by_side(config, settings or [], names or [])]
        built = [(one.config, one.evaluator, one.thresholds if probe else _thresholds(one)) for one in builders]
    about = {**_about(limit), "blank": blank}
    if probe:
        probed = _measured(built, files, robustness.run)
        write_json(json_file, robustness.as_json(probed, about))
        probes.show(probed)
    else:
        reports = _measured(built, files, bench_evaluator.run)
        write_json(json_file, bench_evaluator.as_json(reports, about))
        evaluators.show(reports)


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
    limit: Annotated[int | None, Option("--limit", min=1, help="Only a sample of so many questions a file.")] = None,
    folds: Annotated[int, Option("--folds", help="Cross-validate over so many parts of the questions; 0: do not.")] = 0,
    preset: Annotated[
        Path | None,
        Option("--out", metavar="FILE", help="Write the thresholds here; the setting thresholds.file reads them."),
    ] = None,
    picture: Annotated[Path | None, drawing("the risk–coverage curve")] = None,
    json_file: Annotated[Path | None, Option("--json", metavar="FILE", help="Write the report here.")] = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Fit an evaluator's thresholds to a stated risk, with a bound. Code 1: there are none."""
    if folds < 0 or folds == 1:
        raise UsageError(f"--folds takes two or more, not {folds}: one part is fitted on the others")
    aim = bench_tune.Aim(target, discard_target, strip_target, confidence)
    files: Sequence[pairs.LabelledSet] = [pairs.read(path, limit) for path in data]
    if thin:
        files = bench_tune.thinned(files)
    (chosen,) = _side_by_side(config, settings or [], [name] if name else [])
    with pulling():
        one = Builder(chosen).evaluator
    with counting(one.name) as on_progress:
        fitted = bench_tune.run(one, files, on_progress, aim, folds)
    report = replace(fitted, config=chosen)
    write_json(json_file, bench_tune.as_json(report, {**_about(limit), "folds": folds}))
    if picture:
        write_picture(picture, risk_coverage.risk_coverage(report))
    tuning.show(report)
    if report.thresholds is None:
        raise typer.Exit(1)
    if preset:
        write_text(preset, bench_tune.preset(report.thresholds))
        err.say(f"to decide by them: --set thresholds.file={preset}", "dim")


def _measured(built: Sequence[Built], files: Sequence[pairs.LabelledSet], run: Callable[..., R]) -> list[R]:
    """One report an evaluator, with what it was built from."""
    reports: list[R] = []
    for chosen, one, thresholds in built:
        with counting(one.name) as on_progress:
            reports.append(replace(run(one, files, on_progress, thresholds), config=chosen))
    return reports


def _about(limit: int | None) -> dict[str, Any]:
    return {"surefoot": __version__, "limit": limit, "environment": manifest.environment()}


def _side_by_side(config: str | None, sets: list[str], names: list[str]) -> Iterator[Config]:
    """The configuration of each evaluator; options and thresholds of one mean nothing to another."""
    written = agreed(config)
    shared = [text for text in sets if not text.lstrip().startswith(("evaluator.", "thresholds."))]
    if not names:
        yield agreed(written, *overrides(sets))
    for number, text in enumerate(names):
        named = _named(text)
        own = named == {"use": written["evaluator"]["use"]}
        chosen = written if own else {**written, "evaluator": named, "thresholds": {}}
        yield agreed(chosen, *overrides(shared if number else sets))


def _named(text: str) -> dict[str, Any]:
    """The section that `NAME key=value …` stands for."""
    try:
        name, *options = shlex.split(text) or [""]
        if odd := [option for option in options if "=" not in option]:
            raise ValueError(f"'{odd[0]}' is no key=value")
    except ValueError as error:
        raise UsageError(f"--evaluator '{text}' is no NAME key=value …: {error}") from error
    section = {"use": name}
    for override in overrides(f"evaluator.{option}" for option in options):
        section |= override["evaluator"]
    return section


def _thresholds(builder: Builder) -> Thresholds | None:
    """None: none are given, and the evaluator has none of its own so far."""
    known = builder.config["thresholds"] or bench_evaluator.own(builder.evaluator)
    return builder.thresholds if known else None
