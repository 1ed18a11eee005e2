"""`surefoot bench facts`: are the facts of a run's answers supported?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from surefoot import manifest, store
from surefoot.cli import _questions as asking
from surefoot.cli._console import REASONS, ConfigFile, Settings, configured, headed, out, plain, pulling
from surefoot.cli._questions import interval, percent
from surefoot.cli.errors import data_of, remarks
from surefoot.config.builder import Builder
from surefoot.datasets import questions
from surefoot.lab import factscore as bench_facts
from surefoot.lab.factscore import FactReport
from surefoot.store import recorded, to_json, write_text


def facts(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders that `surefoot bench qa` kept.")],
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="The questions, if they are no longer where they were."),
    ] = None,
    json_file: asking.JsonFile = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Let the language model judge, fact by fact, whether texts support a run's answers.

    The texts are those that came with the questions. It takes a call a sentence and one a fact; run again, it goes on
    where it stopped.
    """
    chosen = configured(config, settings, None)
    with pulling():
        llm = Builder(chosen).llm
    reports = []
    for folder in (inner for each in runs for inner in store.runs(each)):
        about, traces = recorded(folder)
        loaded = questions.load(data or data_of(folder, about))
        remarks(problem for problem in loaded.problems if not problem.what.startswith("no gold answer"))
        asked = [example for example in loaded.examples if example.id in traces]
        with asking.shown(folder.name) as on_done:
            found = bench_facts.run(llm, folder, asked, traces, on_done)
        reports.append(bench_facts.report(str(folder), llm.name, len(asked), found))
    if json_file:
        whole = {"config": chosen, "environment": manifest.environment(), "runs": to_json(reports)}
        write_text(json_file, json.dumps(whole, indent=1, allow_nan=False) + "\n")
    _show(reports)


def _show(reports: list[FactReport]) -> None:
    table = headed(["run"], ["answered", "FActScore", "95 % interval", "facts", "supported", "95 % interval"])
    for report in reports:
        score = "–" if report.score.value is None else f"{report.score.value * 100:.1f}"
        known = report.score.low is not None and report.score.high is not None
        reach = f"{(report.score.low or 0) * 100:.1f} to {(report.score.high or 0) * 100:.1f}" if known else "–"
        figures = f"{report.facts:,}", percent(report.supported), interval(report.supported)
        table.add_row(plain(report.run), f"{report.answered.count} of {report.answered.of}", score, reach, *figures)
    out.print(table)
    for report in reports:
        if report.unjudged:
            because = [f"{plain(reason)} ({n:,})" for reason, n in [*report.unjudged.items()][:REASONS]]
            words = f"{report.run}: {sum(report.unjudged.values()):,} could not be judged: {'; '.join(because)}"
            out.say(words, "yellow")
