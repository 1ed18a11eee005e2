"""`surefoot agree`: a judge against people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from surefoot.cli._console import headed, out, plain
from surefoot.cli._numbers import between, number, share
from surefoot.errors import UsageError
from surefoot.evaluate.records.folder import opened, scores_of
from surefoot.evaluate.score.agreement import Agreement, agreed, missing
from surefoot.evaluate.score.correction import WITHIN, Correction, Estimate, corrections
from surefoot.evaluate.score.labels import Label, labelled
from surefoot.stats.groups import FEW
from surefoot.store import to_json
from surefoot.text.json_values import spelled

NAMED = 3
"""Of what has too few groups, so much is named."""

_MEASURES = {
    "tau_b": "Kendall τ-b",
    "spearman": "Spearman ρ",
    "nmae": "NMAE",
    "kappa": "weighted κ",
    "auc": "ROC-AUC",
    "pairwise": "pairwise",
}


def agree(
    scores: Annotated[Path, typer.Argument(metavar="SCORES", help="Folder of an evaluation, or a file of scores.")],
    labels: Annotated[Path, typer.Argument(metavar="LABELS", help="What people said: JSON lines, or .csv.")],
    metric: Annotated[str, typer.Option("--metric", help="What labels are about that do not say it.")] = "",
    label: Annotated[
        str, typer.Option("--label", metavar="A.B", help="Where the label stands in a line; else label, rating, value.")
    ] = "",
    group: Annotated[
        str, typer.Option("--group", metavar="A.B", help="Where a line says which records hang together.")
    ] = "group",
    scale: Annotated[
        str, typer.Option("--scale", metavar="LOW:HIGH", help="Of labels that are numbers; 0 and 1 are no and yes.")
    ] = "1:5",
    by: Annotated[
        list[str] | None, typer.Option("--by", metavar="TAG", help="Also by domain, system, …; may be given again.")
    ] = None,
    within: Annotated[
        float, typer.Option("--within", min=0.0001, help="Say how many labels would put a mean within so much.")
    ] = WITHIN,
    as_json: Annotated[bool, typer.Option("--json", help="Print all figures as JSON, and nothing else.")] = False,
) -> None:
    """Hold a judge against people: rank correlation, error, κ or AUC, and corrected means."""
    run = opened(scores) if scores.is_dir() else None
    given = run.scores if run else scores_of(scores)
    told = labelled(labels, metric, label, _scale(scale), group)
    groups, tags = run.groups if run else {}, {one.id: one.tags for one in run.records} if run else {}
    found = agreed(given, told, groups, tags, by or [])
    if not found:
        raise UsageError(f"no label of {labels} is of a record and metric that {scores} has a score for")
    means = corrections(given, [one for one in told if isinstance(one, Label)], groups, within)
    lost = missing(given, told)
    if as_json:
        report = {"agreements": to_json(found), "means": to_json(means), "without_scores": lost}
        out.print(spelled(report), soft_wrap=True)
        return
    for judge in dict.fromkeys(one.judge for one in found):
        _show([one for one in found if one.judge == judge], [one for one in means if one.judge == judge])
    for line in _legend(found, means):
        out.say(line, "dim")
    for note in _notes(found, lost):
        out.say(note, "yellow")


def _scale(text: str) -> tuple[float, float]:
    low, _, high = text.partition(":")
    try:
        ends = float(low), float(high)
    except ValueError:
        ends = 0.0, 0.0
    if not ends[0] < ends[1]:
        raise UsageError(f"'{text}' is no scale; write LOW:HIGH, such as 1:5")
    return ends


def _show(found: Sequence[Agreement], means: Sequence[Correction]) -> None:
    """What there is of one judge."""
    out.say(f"judge: {found[0].judge or 'not named'}")
    tables = [_agreements(found), *([_means(means), _needed(means)] if means else [])]
    for table in tables:
        out.print(table)
        out.print()


def _agreements(found: Sequence[Agreement]) -> Table:
    table = headed(["metric"], ["n", "measure", "value", "95 % interval"])
    for one in found:
        first = [f"  {plain(one.tag)}" if one.tag else plain(one.metric), number(one.of)]
        for place, (name, figure) in enumerate(one.figures.items()):
            cells = first if place == 0 else ["", ""]
            table.add_row(*cells, _MEASURES[name], share(figure.value), between(figure.low, figure.high))
    return table


def _means(means: Sequence[Correction]) -> Table:
    table = headed(["mean of"], ["labels", "judge", "people alone", "with the judge", "λ"])
    for one in means:
        figures = share(one.judged), _estimate(one.people), _estimate(one.corrected), f"{one.weight:.2f}"
        table.add_row(plain(one.metric), f"{one.labels:,}/{one.records:,}", *figures)
    return table


def _needed(means: Sequence[Correction]) -> Table:
    within = means[0].within
    table = headed(["labels needed"], [f"mean ±{within:g} alone", "with the judge", f"bias of {within:g} shown"])
    for one in means:
        table.add_row(plain(one.metric), *map(number, (one.labels_alone, one.labels_needed, one.bias_needed)))
    return table


def _estimate(one: Estimate) -> str:
    return f"{share(one.value)} {between(one.low, one.high)}".strip()


def _legend(found: Sequence[Agreement], means: Sequence[Correction]) -> Iterator[str]:
    if any("nmae" in one.figures for one in found):
        yield "NMAE: mean absolute error of ratings from 1 to 5, over 4; 0 is best."
    unrated = sorted({one.judge or one.metric for one in found if not one.rated and "nmae" in one.figures})
    if unrated:
        yield plain(f"No ratings, so that a value v counts as 1 + 4·v: {', '.join(unrated)}.")
    if any(one.labels == "preferences" for one in found):
        yield "pairwise: how often the better one has the higher score; equal scores count half."
    if means:
        yield "λ: how far the judge is relied on. Labels have to be of records drawn by lot."
    if any(one.labels_needed is None for one in means):
        yield "–: it takes more records than were judged, or the labels do not tell."


def _notes(found: Sequence[Agreement], lost: dict[str, int]) -> Iterator[str]:
    names = [" ".join(part for part in (one.metric, one.judge, one.tag) if part) for one in found]
    for metric, count in lost.items():
        yield f"{metric}: {count:,} labels are of records without a score to hold them against"
    for name, one in zip(names, found, strict=True):
        if one.unscored and not one.tag:
            yield f"{name}: {one.unscored:,} that have a label were left unscored, and are in no figure"
        if lacking := [figure for figure in one.figures if one.figures[figure].undefined]:
            missing_ones = ", ".join(_MEASURES[figure] for figure in lacking)
            yield f"{name}: no {missing_ones}: {one.figures[lacking[0]].undefined}"
    few = [f"{name} ({one.groups})" for name, one in zip(names, found, strict=True) if 0 < one.groups < FEW]
    if few:
        more = f", and {len(few) - NAMED} more" if len(few) > NAMED else ""
        said = f"fewer than {FEW} independent records or groups, so that intervals are too narrow"
        yield f"{said}: {', '.join(few[:NAMED])}{more}"
