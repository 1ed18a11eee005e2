"""`surefoot lab ablate`: what each stage of the pipeline earns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from rich.table import Table
from typer import Option

from surefoot.cli import _questions as questions
from surefoot.cli._configuration import ConfigFile, IndexFile, Settings, configured
from surefoot.cli._console import out, tabled, write_json
from surefoot.cli._numbers import number
from surefoot.cli._questions import Golds
from surefoot.stats.text import NONE
from surefoot_lab import ablation as bench_ablate
from surefoot_lab import qa
from surefoot_lab.ablation import StageGain
from surefoot_lab.cli import _options as options
from surefoot_lab.cli._numbers import brief, percent, points
from surefoot_lab.qa import QAReport


def ablate(
    data: questions.Data,
    index: IndexFile = None,
    texts: questions.Texts = False,
    without: Annotated[
        list[str] | None,
        Option(
            "--without",
            metavar="STAGE",
            help=f"Of {', '.join(bench_ablate.STAGES)}; again for one more, each by itself. Unnamed: all that do "
            "anything.",
        ),
    ] = None,
    golds: Golds = None,
    limit: questions.Limit = None,
    workers: questions.Threads = 1,
    json_file: options.JsonFile = None,
    run: options.RunFolder = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Take out one stage of the pipeline after the other, and count what it earned."""
    queries = questions.question_run("ablate", data, golds, limit, texts, run, configured(config, settings, index))
    names = bench_ablate.stages(without or [], queries.searches)
    arms = bench_ablate.arms(names, queries.searches)
    reports = qa.reports(queries.loaded.examples, queries.traces(arms, partial(questions.spread, workers=workers)))
    found = bench_ablate.earned(names, reports)
    write_json(json_file, bench_ablate.as_json(reports, found, queries.report))
    _show(reports, found)
    questions.kept_in(queries.folder)


def _show(reports: Sequence[QAReport], found: Sequence[StageGain]) -> None:
    rule = qa.telling(reports)
    out.print(_table(reports, found, rule))
    for one in found:
        out.say(f"without {one.stage}: {one.instead}", "dim")
    counted = f"{reports[0].questions:,} questions, right by {rule}; p: McNemar's exact test, each for itself"
    out.say(f"{counted}; earned: the whole less without, bootstrap over questions", "dim")


def _table(reports: Sequence[QAReport], found: Sequence[StageGain], rule: str) -> Table:
    rows = [[bench_ablate.WHOLE, *_figures(reports[0], rule)]]
    for report, one in zip(reports[1:], found, strict=True):
        earned = next((each for each in one.earned if each.rule == rule), None)
        figures = (*points(earned.gain), brief(earned.paired.p)) if earned else (NONE, NONE, NONE)
        rows.append([report.method, *_figures(report, rule), *figures, number(one.changed)])
    return tabled(["pipeline"], ["right", "answered", "earned", "95 % interval", "p", "changed"], rows)


def _figures(report: QAReport, rule: str) -> tuple[str, str]:
    return percent(report.right(rule)), percent(report.answered)
