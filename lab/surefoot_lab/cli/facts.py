"""`surefoot lab facts`: are the facts of a run's answers supported?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from surefoot.cli._configuration import ConfigFile, Settings, configured
from surefoot.cli._console import REASONS, counting, out, plain, pulling, write_json
from surefoot.cli._questions import remarks
from surefoot.config.builder import Builder
from surefoot.evaluate.ask import questions
from surefoot.run import manifest, store
from surefoot.run.store import recorded, to_json
from surefoot.stats.figures import Figure
from surefoot_lab import factscore as bench_facts
from surefoot_lab.cli._options import DataFile, JsonFile, data_of
from surefoot_lab.factscore import FactReport
from surefoot_lab.report import Form, Table, interval, percent, share, show


def facts(
    runs: Annotated[list[Path], Argument(metavar="RUN...", help="Folders that `surefoot lab qa` kept.")],
    data: DataFile = None,
    verifier: Annotated[
        bool,
        Option("--verifier", help="Let the configured verifier judge, sentence by sentence, without a model call."),
    ] = False,
    json_file: JsonFile = None,
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
    show([_table(reports)])
    for report in reports:
        if report.unjudged:
            because = [f"{plain(reason)} ({n:,})" for reason, n in [*report.unjudged.items()][:REASONS]]
            words = f"{report.run}: {sum(report.unjudged.values()):,} could not be judged: {'; '.join(because)}"
            out.say(words, "yellow")


def _table(reports: list[FactReport]) -> Table:
    columns: dict[str, Form] = {"run": str, "answered": share, "FActScore": _percent, "supported": share}
    return Table("facts", columns, [(one.run, one.answered, one.score, one.supported) for one in reports])


def _percent(score: Figure) -> str:
    return f"{percent(score.value)} ({interval(score)})"
