"""`surefoot lab qa`: answer labelled questions in one way or several, and count."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rich.table import Table

from surefoot.cli import _questions as questions
from surefoot.cli._configuration import ConfigFile, IndexFile, Settings, configured
from surefoot.cli._console import err, out, plain, tabled, write_json
from surefoot.cli._numbers import between, figure, signed
from surefoot.cli._questions import Golds
from surefoot.stats.text import NONE
from surefoot_lab import methods
from surefoot_lab import qa as bench_qa
from surefoot_lab.cli import _options as options
from surefoot_lab.cli._numbers import interval, percent
from surefoot_lab.figures import counted
from surefoot_lab.qa import QAReport

SCORE = "1 right, −1 wrong, 0 declined, and 1 for that where nothing answers"


def qa(
    data: questions.Data,
    index: IndexFile = None,
    texts: questions.Texts = False,
    method: options.Methods = None,
    top: options.Top = methods.TOP,
    golds: Golds = None,
    limit: questions.Limit = None,
    workers: questions.Threads = 1,
    json_file: options.JsonFile = None,
    run: options.RunFolder = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Answer labelled questions and count: accuracy with its interval, actions, recall, seconds.

    Of several methods over the same questions it also says by how much they differ, and whether that may be chance. An
    answer that no source carries is marked and counted, whatever the method, unless answer.check says otherwise.
    """
    chosen = configured(config, settings, index)
    chosen["answer"] = {"check": "mark", **chosen["answer"]}
    queries = questions.question_run("qa", data, golds, limit, texts, run, chosen)
    arms = methods.arms(method or [], queries.searches, top)
    if queries.searches and any(arm.name in ("crag", "self-crag") for arm in arms):
        err.print("crag and self-crag search nowhere; crag+search and self-crag+search do", style="dim")
    reports = bench_qa.reports(
        queries.loaded.examples, queries.traces(arms, partial(questions.spread, workers=workers))
    )
    write_json(json_file, bench_qa.as_json(reports, {**queries.report, "top": top}))
    _show(reports)
    questions.kept_in(queries.folder)


def _show(reports: Sequence[QAReport]) -> None:
    if len(reports) == 1:
        _one(reports[0])
    else:
        rule = bench_qa.telling(reports)
        out.print(_several(reports, rule))
        out.print()
        out.print(_otherwise(reports, rule))
        out.print()
        out.print(options.compared([one for one in bench_qa.comparisons(reports) if one.rule == rule]))
        counted_by = f"right by {rule}; score: {SCORE}; p: McNemar's exact test, each for itself"
        timed = "seconds: medians, and what one method had graded the next has for nothing"
        out.print(f"{counted_by}; intervals: bootstrap over questions; {timed}")
    for report in reports:
        if report.failed:
            out.print(plain(f"{report.method}: failed, and counted as wrong: {report.failed}"), style="yellow")


def _several(reports: Sequence[QAReport], rule: str) -> Table:
    rows = []
    for report in reports:
        share = report.right(rule)
        of_these = counted(share.count, report.answered.count)  # what was refused is never right
        seconds = NONE if report.seconds is None else f"{report.seconds:.2f}"
        ends = percent(report.answered), percent(of_these), signed(report.score.value), seconds
        rows.append((plain(report.method), percent(share), interval(share), *ends))
    return tabled(["method"], ["right", "95 % interval", "answered", "right of these", "score", "s a question"], rows)


def _otherwise(reports: Sequence[QAReport], rule: str) -> Table:
    """By the other rules that fit."""
    others = [name for name in reports[0].rules if name != rule]
    rows = ((plain(report.method), *(percent(report.right(name)) for name in others)) for report in reports)
    return tabled(["right by"], others, rows)


def _one(report: QAReport) -> None:
    shares = [("match", report.match), ("match, lower case", report.match_lower)]
    shares += [(name, share) for name, share in report.rules.items() if not name.startswith("match")]
    shares += [("answered", report.answered), ("right when answered", report.right_when_answered)]
    shares += [(f"retrieval recall@{k}", share) for k, share in report.recall.items()]
    shares += [("unanswerable declined", report.declined)] if report.declined.of else []
    for row in report.actions:
        shares += [(row.action.upper(), row.questions), ("  match, lower case", row.match_lower)]
        shares += [("  answered", row.answered)]
    rows = ((name, percent(one), interval(one), f"{one.count} of {one.of}") for name, one in shares)
    out.print(tabled([plain(report.method)], ["share", "95 % interval", "count"], rows))
    score = f"{signed(report.score.value)} {between(report.score.low, report.score.high, sign=True)}".strip()
    out.say(f"score {score} ({SCORE})")
    for by, one in (("grade", report.risk_coverage), ("confidence", report.by_confidence)):
        if one:
            risks = " · ".join(f"{coverage} % {percent(share)}" for coverage, share in one.risks.items())
            out.say(f"wrong among the surest, by {by}: {risks}; area {figure(one.area)}")
    if (change := report.area_change).value is not None:
        ends = between(change.low, change.high, sign=True)
        out.say(f"area by confidence against that by grade: {signed(change.value)} of it {ends}".rstrip())
    stages = " · ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in report.stages.items())
    out.say(f"median {report.seconds or 0:.2f} s a question: {stages}")
