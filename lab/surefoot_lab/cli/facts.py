"""`surefoot lab facts`: are the facts of a run's answers supported?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from surefoot.cli._configuration import ConfigFile, Settings, configured
from surefoot.cli._console import REASONS, counting, headed, out, plain, pulling, write_json
from surefoot.cli._numbers import number
from surefoot.cli._questions import remarks
from surefoot.config.builder import Builder
from surefoot.evaluate.ask import questions
from surefoot.run import manifest, store
from surefoot.run.store import recorded, to_json
from surefoot.stats.text import NONE
from surefoot_lab import factscore as bench_facts
from surefoot_lab.cli import _options as options
from surefoot_lab.cli._numbers import interval, percent
from surefoot_lab.cli.errors import DataFile, data_of
from surefoot_lab.factscore import FactReport


def facts(
    runs: Annotated[list[Path], Argument(metavar="RUN...", help="Folders that `surefoot lab qa` kept.")],
    data: DataFile = None,
    verifier: Annotated[
        bool,
        Option("--verifier", help="Let the configured verifier judge, sentence by sentence, without a model call."),
    ] = False,
    json_file: options.JsonFile = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Let the language model judge, fact by fact, whether texts support a run's answers.

    The texts are those that came with the questions. It takes a call a sentence and one a fact, or, with --verifier,
    none; run again, it goes on where it stopped.
    """
    chosen = configured(config, settings, None)
    with pulling():
        judge = getattr(Builder(chosen), "verifier" if verifier else "llm")
    reports = []
    for folder in (inner for each in runs for inner in store.runs(each)):
        about, traces = recorded(folder)
        loaded = questions.load(data or data_of(folder, about))
        remarks(problem for problem in loaded.problems if not problem.what.startswith("no gold answer"))
        queries = [example for example in loaded.examples if example.id in traces]
        with counting(folder.name) as on_done:
            found = bench_facts.run(judge, folder, queries, traces, on_done)
        reports.append(bench_facts.report(str(folder), judge.name, len(queries), found))
    write_json(json_file, {"config": chosen, "environment": manifest.environment(), "runs": to_json(reports)})
    _show(reports)


def _show(reports: list[FactReport]) -> None:
    table = headed(["run"], ["answered", "FActScore", "95 % interval", "facts", "supported", "95 % interval"])
    for report in reports:
        answered = f"{report.answered.count} of {report.answered.of}"
        score = NONE if report.score.value is None else f"{report.score.value * 100:.1f}"
        figures = number(report.facts), percent(report.supported), interval(report.supported)
        table.add_row(plain(report.run), answered, score, interval(report.score), *figures)
    out.print(table)
    for report in reports:
        if report.unjudged:
            because = [f"{plain(reason)} ({n:,})" for reason, n in [*report.unjudged.items()][:REASONS]]
            words = f"{report.run}: {sum(report.unjudged.values()):,} could not be judged: {'; '.join(because)}"
            out.say(words, "yellow")
