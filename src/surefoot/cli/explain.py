"""`surefoot explain`: why a passage got its grade, and why a trace took its action; of an evaluation too."""

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

from rich.progress import MofNCompleteColumn
from typer import Argument, Option

from surefoot.cli import _explanation as explanation
from surefoot.cli._answer_view import factors
from surefoot.cli._configuration import ConfigFile, Settings, as_recorded, configured, owned, report_ignored
from surefoot.cli._console import bar, err, out, pulling, write_json
from surefoot.config.builder import Builder
from surefoot.evaluate.report.words import shown, worded
from surefoot.explain.action import explain_action
from surefoot.explain.answer import needs
from surefoot.explain.explanation import Explanation, number, strongest
from surefoot.explain.grade import as_graded, explain as explain_grade
from surefoot.run.store import read_trace, write_text
from surefoot.types import Passage
from surefoot.types.errors import ConfigError, UsageError

NAMED = 3
"""Words of a record that are listed with their values."""


def explain(
    question: Annotated[str | None, Argument(help="A question, in quotes.")] = None,
    passage: Annotated[str | None, Argument(help="A passage, in quotes, or a text file with it.")] = None,
    trace: Annotated[Path | None, Option("--trace", metavar="FILE", help="Explain this trace's action.")] = None,
    words: Annotated[
        str | None,
        Option("--words", metavar="ID", help="Also explain the words of this passage; best: of the best one."),
    ] = None,
    answer: Annotated[bool, Option("--answer", help="Also name the strips that the answer needed.")] = False,
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
    json: Annotated[Path | None, Option("--json", metavar="FILE", help="Write the values to this file.")] = None,
    html: Annotated[Path | None, Option("--html", metavar="FILE", help="Write all of it as one page.")] = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Explain a grade by its words, a trace's action, or grades of an evaluation."""
    if run:
        if any((question, passage, trace, words, answer, json, html, config)):
            raise ConfigError("--run goes with --record and --set, and nothing else")
        _of_run(run, records or shown(run), settings)
        return
    if records:
        raise ConfigError("--record is of an evaluation: --run FOLDER")
    if trace and (question or passage):
        raise ConfigError("give either a question and a passage, or --trace FILE")
    if trace:
        found = _of_trace(trace, words, answer, config, settings)
    elif question and passage:
        found = _of_words(Explanation(), question, _passage(passage), Builder(configured(config, settings, None)))
    else:
        raise ConfigError('give a question and a passage, or a trace: surefoot explain "Who built it?" passage.txt')
    write_json(json, found.as_json())
    if html:
        write_text(html, explanation.page(found))


def _passage(text_or_file: str) -> Passage:
    """A file's text, or the words themselves."""
    try:
        if os.path.isfile(text_or_file):  # False for a text that is too long for a name
            return Passage(text_or_file, Path(text_or_file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{text_or_file} cannot be read as UTF-8 text: {error}") from error
    return Passage("given", text_or_file)


def _of_words(before: Explanation, question: str, passage: Passage, builder: Builder) -> Explanation:
    with pulling():
        found = explain_grade(builder.evaluator, question, passage)
    out.print(explanation.words(found))
    return replace(before, grade=found)


def _of_trace(
    file: Path, words: str | None, answer: bool, config: str | None, settings: list[str] | None
) -> Explanation:
    trace = read_trace(file)
    action = explain_action(trace)
    found = Explanation(action, trace)
    out.print(explanation.action(action, trace))
    for line in factors(trace.answer) if trace.answer else ():
        out.print(line)
    if trace.config and config:
        err.say("This explains another configuration than the trace's.")
    own = not config and trace.config
    builder = Builder(as_recorded(trace.config, str(file), settings) if own else configured(config, settings, None))
    if words:
        with pulling():
            graded = as_graded(trace, builder.evaluator, words)
        found = _of_words(found, trace.standalone_question, graded, builder)
    if answer:
        needed = needs(trace, builder.generator)
        out.print(explanation.answer(needed))
        found = replace(found, answer=needed)
    return found


def _of_run(folder: Path, ids: Sequence[str], settings: list[str] | None) -> None:
    each = worded(folder, ids, owned(settings), partial(report_ignored, origin=str(folder)))
    with pulling(), bar(MofNCompleteColumn()) as progress:
        for id, one in progress.track(each, total=len(ids), description="explaining"):
            if isinstance(one, str):
                err.say(f"{id}: {one}", "yellow")
                continue
            values = (f"{one.units[n].words} {number(one.values[n])}" for n in strongest(one, NAMED))
            out.say(f"{id}, {one.full:.3g}: {', '.join(values)}")
    err.say(f"kept in {folder}; to look at it: surefoot view {folder}", "dim")
