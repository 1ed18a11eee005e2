"""`surefoot explain`: why a passage got its grade, and why a trace took its action; of an evaluation too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from rich.progress import MofNCompleteColumn
from typer import Argument, Option

from surefoot.cli import _explanation as explanation
from surefoot.cli._answer_view import factors
from surefoot.cli._configuration import ConfigFile, Settings, as_recorded, configured, drawing, owned, say
from surefoot.cli._console import bar, err, out, pulling, write_json
from surefoot.config.builder import Builder
from surefoot.draw.svg import write_picture
from surefoot.evaluate.report.words import shown, worded
from surefoot.explain.action import why
from surefoot.explain.answer import needs
from surefoot.explain.explanation import Explanation, flips_label, number, strongest
from surefoot.explain.flip import fewest_words
from surefoot.explain.grade import Baseline, as_graded
from surefoot.explain.grade import explain as explain_grade
from surefoot.explain.page import page
from surefoot.explain.picture import of_one
from surefoot.explain.shapley import Method
from surefoot.run.store import read_trace, write_text
from surefoot.types import Passage, Trace
from surefoot.types.errors import ConfigError, UsageError

NAMED = 3
"""Words of a record that are listed with their values."""


def explain(
    question: Annotated[str | None, Argument(help="A question, in quotes.")] = None,
    passage: Annotated[str | None, Argument(help="A passage, in quotes, or a text file with it.")] = None,
    title: Annotated[str, Option("--title", help="The passage's title.")] = "",
    trace: Annotated[Path | None, Option("--trace", metavar="FILE", help="Explain this trace's action.")] = None,
    words: Annotated[
        str | None,
        Option("--words", metavar="ID", help="Also explain the words of this passage; best: of the best one."),
    ] = None,
    run: Annotated[
        Path | None,
        Option("--run", metavar="FOLDER", help="Explain grades of this evaluation, and keep that for the viewer."),
    ] = None,
    records: Annotated[
        list[str] | None,
        Option(
            "--record",
            metavar="ID",
            help="A record of it; again for one more. Unnamed: those that show the first item of its diagnosis.",
        ),
    ] = None,
    answer: Annotated[bool, Option("--answer", help="Also say which strips the answer needed.")] = False,
    method: Annotated[Method | None, Option(help="exact up to 12 words, else regression.")] = None,
    baseline: Annotated[Baseline, Option(help="Replacement for words that are taken out.")] = "delete",
    entities: Annotated[bool, Option("--entities", help="Treat a name of several words as one word.")] = False,
    pairs: Annotated[bool, Option("--pairs", help="Also say what pairs of words are worth together.")] = False,
    flip: Annotated[bool, Option("--flip", help="Also find the fewest words whose loss flips the label.")] = False,
    tolerance: Annotated[float, Option(min=0.001, help="Standard error, as a share of the largest value.")] = 0.1,
    most: Annotated[int, Option(min=1, help="Texts graded, at most.")] = 4000,
    seed: Annotated[int, Option(min=0)] = 0,
    json: Annotated[Path | None, Option("--json", metavar="FILE", help="Keep the values in this file.")] = None,
    html: Annotated[Path | None, Option("--html", metavar="FILE", help="Write all of it as one page.")] = None,
    figure: Annotated[Path | None, drawing("the words of the grade")] = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Explain a grade by its words, a trace's action, or grades of an evaluation."""
    options: dict[str, Any] = {"method": method, "baseline": baseline, "entities": entities, "pairs": pairs}
    options |= {"tolerance": tolerance, "most": most, "seed": seed}
    if run:
        if any((question, passage, trace, words, answer, flip, json, html, figure, config)):
            raise ConfigError("--run goes with --record, --set and what says how words are explained, and nothing else")
        _of_run(run, records or shown(run), settings, options)
        return
    if records:
        raise ConfigError("--record is of an evaluation: --run FOLDER")
    if figure and trace and not words:
        raise ConfigError("--figure draws words; say of which passage: --words best")
    if trace:
        if question or passage:
            raise ConfigError("give either a question and a passage, or --trace FILE")
        told = _of_trace(trace, words, answer, flip, config, settings, options)
    elif question and passage:
        told = _of_words(Explanation(), question, _passage(passage, title), _builder(config, settings), flip, options)
    else:
        raise ConfigError('give a question and a passage, or a trace: surefoot explain "Who built it?" passage.txt')
    write_json(json, told.as_json())
    if html:
        write_text(html, page(told))
    if figure and told.grade:
        write_picture(figure, of_one(told.grade))


def _builder(config: str | None, settings: list[str] | None) -> Builder:
    return Builder(configured(config, settings, None))


def _passage(given: str, title: str) -> Passage:
    """A file's text, or the words themselves."""
    try:
        is_file = Path(given).is_file()
    except OSError:  # too long for a name
        is_file = False
    if not is_file:
        return Passage("given", given, title)
    try:
        return Passage(given, Path(given).read_text(encoding="utf-8"), title)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{given} cannot be read as UTF-8 text: {error}") from error


def _of_words(
    told: Explanation, question: str, passage: Passage, builder: Builder, flip: bool, options: dict[str, Any]
) -> Explanation:
    with pulling():
        evaluator = builder.evaluator
        found = explain_grade(evaluator, question, passage, **options)
    out.print(explanation.words(found))
    if not flip:
        return replace(told, grade=found)
    fewest = fewest_words(evaluator, found, builder.thresholds)
    out.say(flips_label(fewest))
    return replace(told, grade=found, flip=fewest, flipped=True)


def _of_trace(
    file: Path,
    words: str | None,
    answer: bool,
    flip: bool,
    config: str | None,
    settings: list[str] | None,
    options: dict[str, Any],
) -> Explanation:
    trace = read_trace(file)
    action = why(trace)
    told = Explanation(action, trace)
    out.print(explanation.action(action, trace))
    for why_sure in factors(trace.answer) if trace.answer else ():
        out.print(why_sure)
    builder = _as_recorded(trace, file, config, settings)
    if words:
        with pulling():
            graded = as_graded(trace, builder.evaluator, words)
        told = _of_words(told, trace.asked, graded, builder, flip, options)
    if answer:
        needed = needs(trace, builder.generator)
        out.print(explanation.answer(needed))
        told = replace(told, answer=needed)
    return told


def _of_run(folder: Path, ids: Sequence[str], settings: list[str] | None, options: dict[str, Any]) -> None:
    each = worded(folder, ids, owned(settings), partial(say, origin=str(folder)), **options)
    with pulling(), bar(MofNCompleteColumn()) as progress:
        for found in progress.track(each, total=len(ids), description="explaining"):
            if found.attribution is None:
                err.say(f"{found.record_id}: {found.reason}", "yellow")
                continue
            one = found.attribution
            said = (f"{one.units[n].words} {number(one.values[n])}" for n in strongest(one, NAMED))
            out.say(f"{found.record_id}, {one.full:.3g}: {', '.join(said)}")
    err.say(f"kept in {folder}; to look at it: surefoot view {folder}", "dim")


def _as_recorded(trace: Trace, file: Path, config: str | None, settings: list[str] | None) -> Builder:
    """The trace's configuration, as far as a trace may set it, and each --set; --config replaces it."""
    if trace.config and config:
        err.say("This explains another configuration than the trace's.")
    if config or not trace.config:
        return _builder(config, settings)
    return Builder(as_recorded(trace.config, str(file), settings))
