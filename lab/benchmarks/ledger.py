"""What the papers publish, beside what our runs gave: python benchmarks/ledger.py [RUN=REPORT.json …] > ledger.md

    surefoot lab qa popqa_longtail_w_gs.jsonl --index wiki.db --method rag:1 --method crag --run runs/p --json p.json
    surefoot lab errors runs/p --json errors.json
    python benchmarks/ledger.py popqa=p.json popqa-errors=errors.json

RUN is one of those in ledger.toml, and each of its methods is found by name. A figure without a report is "not run",
with the reason where the ledger has one (`because`). Another generator and another corpus give other figures; whether
the published one lies within our interval says whether they are alike, not who is right. What counts is a gain, which
is measured with one generator, on the same questions.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.stats.figures import mcnemar, resampled

HERE = Path(__file__).resolve().parent
TIE = 0.05
"""Points that rounding alone may set a paper's figure off from what its others come to."""
SURE = 0.05

Reports = Mapping[str, Any]


def main(arguments: Sequence[str]) -> int:
    """Print the ledger with these reports; 2 for a name that it does not have, or a file that is no report."""
    ledger = tomllib.loads((HERE / "ledger.toml").read_text(encoding="utf-8"))
    try:
        reports = dict(named(argument, ledger) for argument in arguments)
        print("\n".join(page(ledger, reports)))
    except (OSError, ValueError, KeyError) as error:
        print(f"ledger: {error}", file=sys.stderr)
        return 2
    return 0


def named(argument: str, ledger: Mapping[str, Any]) -> tuple[str, Any]:
    """A run's name and its report, of `NAME=FILE`."""
    name, _, path = argument.partition("=")
    known = sorted(runs(ledger))
    if name not in known:
        raise ValueError(f"no run called '{name}'; there are: {', '.join(known)}")
    return name, json.loads(Path(path).read_bytes())


def runs(ledger: Mapping[str, Any]) -> set[str]:
    """The names of the runs that the ledger speaks of."""
    rows = ledger["figure"] + ledger["gain"]
    return {row[side].partition("/")[0] for row in rows for side in ("ours", "over") if side in row}


def of(run: str, reports: Reports) -> Any:
    """The report of RUN/METHOD; None: there is none."""
    name, _, method = run.partition("/")
    found = reports.get(name, [])
    every = found if isinstance(found, list) else [found, *found.get("others", [])]
    return next((report for report in every if report["method"] == method), None)


def page(ledger: Mapping[str, Any], reports: Reports) -> Iterator[str]:
    """The ledger as Markdown: figures, gains, and what the papers' own figures come to."""
    yield from ("# The papers' figures, and ours", "")
    for name, paper in ledger["papers"].items():
        yield f"- {name}: [{paper['title']}]({paper['url']})"
    for name, report in reports.items():
        if not isinstance(report, list):  # that of `surefoot lab errors` is of a run that has a report of its own
            yield f"- ours, {name}: {about(report)}"
    yield from ("", "## Figures", "", *header("published", "ours [95 % interval]", "published is"))
    for row in ledger["figure"]:
        yield line(row, published(row), *figure(row, reports))
    yield from ("", "## Gains, in points on the same questions", "")
    yield from header("published", "ours [95 % interval]", "verdict")
    for row in ledger["gain"]:
        yield line(row, f"{row['value']:+.1f}", *gain(row, reports))
    yield from ("", "## What the papers' figures come to", "", *header("said", "comes to", "agrees"))
    for row in ledger["check"]:
        found = implied(row)
        yield line(row, f"{row['says']:.1f}", f"{found:.1f}", "yes" if agrees(row) else "**no**")


def about(report: Mapping[str, Any]) -> str:
    """What a report is of."""
    parts = ", ".join(f"{role} {report['config'][role]['use']}" for role in ("evaluator", "generator"))
    return f"{report['questions']:,} questions of {Path(report['data']).name}, {parts}"


def header(*columns: str) -> tuple[str, str]:
    """The first two lines of a table."""
    every = ("paper", "where", "what", *columns, "note")
    return f"| {' | '.join(every)} |", f"|{' --- |' * len(every)}"


def line(row: Mapping[str, Any], *cells: str) -> str:
    """A line of a table."""
    return f"| {' | '.join((row['paper'], row['where'], row['what'], *cells, row.get('note', '')))} |"


def published(row: Mapping[str, Any]) -> str:
    """The published figure; of how many, where the paper says so."""
    return f"{row['value']:.1f} of {row['of']:,}" if "of" in row else f"{row['value']:.1f}"


def figure(row: Mapping[str, Any], reports: Reports) -> tuple[str, str]:
    """Our figure with its interval, and where the published one lies of it."""
    run, _, place = row.get("ours", "").partition(" ")
    report = of(run, reports)
    if report is None:
        return unrun(row), ""
    place = place or f"rules.{row.get('rule', 'match_lower')}"
    share = reduce(at, place.split("."), report)
    if share is None:
        raise ValueError(f"the report of {run} has no {place}")
    if share["share"] is None:
        return "none of 0", ""
    low, high = 100 * share["low"], 100 * share["high"]
    where = "above" if row["value"] > high else "below" if row["value"] < low else "within"
    return f"{100 * share['share']:.1f} [{low:.1f}, {high:.1f}] of {share['of']:,}", where


def unrun(row: Mapping[str, Any]) -> str:
    """That there is no figure of ours, and why."""
    return f"not run: {row['because']}" if "because" in row else "not run"


def at(found: Any, part: str) -> Any:
    """A field, or of a list the entry of this action or type; None: it is not there."""
    if isinstance(found, list):
        return next((entry for entry in found if part in (entry.get("type"), entry.get("action"))), None)
    return found.get(part) if isinstance(found, dict) else None


def gain(row: Mapping[str, Any], reports: Reports) -> tuple[str, str]:
    """Our gain over the questions of both runs, with its interval, and what it says of the published one."""
    mine, other = (of(row.get(side, ""), reports) for side in ("ours", "over"))
    if mine is None or other is None:
        return unrun(row), ""
    rule = row.get("rule", "match_lower")
    after, before = ({one["id"]: one[rule] for one in report["outcomes"]} for report in (mine, other))
    both = [id for id in after if id in before]
    if not both:
        raise ValueError(f"{row['ours']} and {row['over']} have no question in common")
    apart = np.array([float(after[id]) - float(before[id]) for id in both])
    drawn = resampled(len(both)).astype(float) @ apart / len(both)
    low, high = np.quantile(drawn, [0.025, 0.975])
    p = mcnemar([after[id] for id in both], [before[id] for id in both]).p
    shown = f"{100 * apart.mean():+.1f} [{100 * low:+.1f}, {100 * high:+.1f}] on {len(both):,}"
    return shown, verdict(row["value"], float(apart.mean()), p)


def verdict(published: float, found: float, p: float) -> str:
    """Whether our gain has the published sign, as far as McNemar's exact test is sure of any.

    It says nothing for or against a figure of another evaluator and generator.
    """
    if p >= SURE:
        return f"undetermined (p = {p:.2g})"
    return f"{'the same sign' if found * published > 0 else 'the other sign'} (p = {p:.2g})"


def implied(row: Mapping[str, Any]) -> float:
    """What a paper's other figures come to."""
    if "difference" in row:
        return float(row["difference"][0] - row["difference"][1])
    if "share" in row:
        return float(100 * row["share"][0] / row["share"][1])
    return float(sum(weight * value for weight, value in row["mean"]) / sum(weight for weight, _ in row["mean"]))


def agrees(row: Mapping[str, Any]) -> bool:
    """Whether rounding explains what is left between what is said and what it comes to."""
    return bool(abs(implied(row) - row["says"]) <= TIE + 1e-9)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
