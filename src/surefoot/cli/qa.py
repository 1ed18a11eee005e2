"""`surefoot bench qa`: answer labelled questions in one way or several, and count."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.table import Table

from surefoot.cli import _questions as questions
from surefoot.cli._console import ConfigFile, IndexFile, Settings, configured, err, headed, out, plain
from surefoot.cli._questions import interval, percent
from surefoot.cli.errors import Golds
from surefoot.evaluate.ask import methods
from surefoot.lab import qa as bench_qa
from surefoot.lab.qa import QAReport
from surefoot.stats.figures import Share, counted
from surefoot.store import write_text


def qa(
    data: questions.Data,
    index: IndexFile = None,
    texts: questions.Texts = False,
    method: questions.Methods = None,
    top: questions.Top = methods.TOP,
    golds: Golds = None,
    limit: questions.Limit = None,
    workers: questions.Threads = 1,
    ray: questions.Ray = None,
    json_file: questions.JsonFile = None,
    run: questions.RunFolder = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Answer labelled questions and count: accuracy with its interval, actions, recall, seconds.

    Of several methods over the same questions it also says by how much they differ, and whether that may be chance.
    """
    asked = questions.asked("qa", data, golds, limit, texts, run, configured(config, settings, index))
    arms = methods.arms(method or [], asked.searches, top)
    if asked.searches and any(arm.name in ("crag", "self-crag") for arm in arms):
        err.print("crag and self-crag search nowhere; crag+search and self-crag+search do", style="dim")
    about = {**asked.about, "config": asked.config}
    with questions.spread(asked.config, ray, workers) as spread, questions.shown("questions") as on_done:
        reports = bench_qa.run(arms, asked.loaded.examples, spread, asked.folder, about, on_done)
    if json_file:
        whole = bench_qa.as_json(reports, {**asked.report, "top": top})
        write_text(json_file, json.dumps(whole, indent=1, allow_nan=False) + "\n")
    _show(reports)
    questions.kept_in(asked.folder)


def _show(reports: Sequence[QAReport]) -> None:
    if len(reports) == 1:
        _one(reports[0])
    else:
        rule = bench_qa.telling(reports)
        out.print(_several(reports, rule))
        out.print()
        out.print(_otherwise(reports, rule))
        out.print()
        out.print(questions.compared([one for one in bench_qa.comparisons(reports) if one.rule == rule]))
        counted_by = f"right by {rule}; p: McNemar's exact test, each for itself; intervals: bootstrap over questions"
        out.print(f"{counted_by}; seconds: medians, and what one method had graded the next has for nothing")
    for report in reports:
        if report.failed:
            out.print(plain(f"{report.method}: failed, and counted as wrong: {report.failed}"), style="yellow")


def _several(reports: Sequence[QAReport], rule: str) -> Table:
    table = headed(["method"], ["right", "95 % interval", "answered", "right of these", "s a question"])
    for report in reports:
        share = report.right(rule)
        of_these = counted(share.count, report.answered.count)  # what was refused is never right
        seconds = "–" if report.seconds is None else f"{report.seconds:.2f}"
        ends = percent(report.answered), percent(of_these), seconds
        table.add_row(plain(report.method), percent(share), interval(share), *ends)
    return table


def _otherwise(reports: Sequence[QAReport], rule: str) -> Table:
    """By the other rules that fit."""
    others = [name for name in reports[0].fitting if name != rule]
    table = headed(["right by"], others)
    for report in reports:
        table.add_row(plain(report.method), *(percent(report.right(name)) for name in others))
    return table


def _one(report: QAReport) -> None:
    table = headed([plain(report.method)], ["share", "95 % interval", "count"])
    rows = [("match", report.match), ("match, lower case", report.match_lower)]
    rows += [(name, share) for name, share in report.rules.items() if not name.startswith("match")]
    rows += [("answered", report.answered)]
    rows += [("right when answered", report.right_when_answered)]
    rows += [(f"retrieval recall@{k}", share) for k, share in report.recall.items()]
    for row in report.actions:
        rows += [
            (row.action.upper(), row.questions),
            ("  match, lower case", row.match_lower),
            ("  answered", row.answered),
        ]
    for name, share in rows:
        table.add_row(name, percent(share), interval(share), _count(share))
    out.print(table)
    stages = " · ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in report.stages.items())
    out.say(f"median {report.seconds or 0:.2f} s a question: {stages}")


def _count(share: Share) -> str:
    return f"{share.count} of {share.of}"
