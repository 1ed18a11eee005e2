"""`surefoot agree`: a judge against people."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from rich.table import Table
from typer import Argument, Option

from surefoot.cli._console import between, figure, number, out, plain, print_json, share, tabled
from surefoot.cli._questions import Scale, scale_of
from surefoot.evaluate.records.folder import opened
from surefoot.evaluate.score.agreement import Agreement, PeopleAgreement, agreed, missing, people_agreed
from surefoot.evaluate.score.correction import Correction, corrections
from surefoot.evaluate.score.labels import labelled
from surefoot.stats.groups import FEW
from surefoot.stats.text import percent
from surefoot.types.errors import UsageError

_MEASURES = {"tau_b": "Kendall tau-b", "nmae": "NMAE", "auc": "ROC-AUC"}


def agree(
    run: Annotated[Path, Argument(metavar="RUN", help="Folder of an evaluation.")],
    labels: Annotated[Path, Argument(metavar="LABELS", help="Labels of people: JSON lines, a JSON list or a table.")],
    metric: Annotated[str, Option("--metric", help="The metric of labels that name none.")] = "",
    label: Annotated[
        str, Option("--label", metavar="FIELD", help="Field of the label in a line; else label, rating or value.")
    ] = "",
    scale: Scale = "1:5",
    as_json: Annotated[bool, Option("--json", help="Print all figures as JSON, and nothing else.")] = False,
) -> None:
    """Hold a judge against people: rank correlation, error or AUC, and corrected means."""
    evaluation, people = opened(run), labelled(labels, metric, label, scale_of(scale))
    found = agreed(evaluation.scores, people, evaluation.groups)
    among = people_agreed(people, evaluation.groups)
    if not found and not among:
        raise UsageError(f"no label of {labels} is of a record and metric that {run} has a score for")
    means = corrections(evaluation.scores, people, evaluation.groups)
    lost = missing(evaluation.scores, people)
    if as_json:
        print_json({"agreements": found, "people": among, "means": means, "without_scores": lost})
        return
    for judge in dict.fromkeys(one.judge for one in found):
        out.say(f"judge: {judge or 'not named'}")
        out.print(_agreements([one for one in found if one.judge == judge]))
        out.print()
        if corrected := [one for one in means if one.judge == judge]:
            out.print(_means(corrected))
            out.print()
    if among:
        out.print(_people(among))
        out.print()
    for line in _legend(found, means):
        out.say(line, "dim")
    for note in _notes(found, lost):
        out.say(note, "yellow")


def _agreements(found: Sequence[Agreement]) -> Table:
    rows = []
    for one in found:
        first = plain(one.metric), number(one.of)
        for name, measured in one.figures.items():
            rows.append((*first, _MEASURES[name], share(measured.value), between(measured.low, measured.high)))
            first = "", ""
    return tabled(["metric"], ["n", "measure", "value", "95 % interval"], rows)


def _people(among: Sequence[PeopleAgreement]) -> Table:
    rows = [
        (
            plain(one.metric),
            number(one.of),
            percent(one.same, 0),
            share(one.alpha.value),
            between(one.alpha.low, one.alpha.high),
        )
        for one in among
    ]
    named = ", ".join(dict.fromkeys(plain(name or "unnamed") for one in among for name in one.people))
    return tabled([f"people ({named})"], ["n", "the same", "Krippendorff α", "95 % interval"], rows)


def _means(means: Sequence[Correction]) -> Table:
    rows = []
    for one in means:
        figures = share(one.judged), figure(one.people), figure(one.corrected), f"{one.weight:.2f}"
        rows.append((plain(one.metric), f"{one.labels:,}/{one.records:,}", *figures))
    return tabled(["mean of"], ["labels", "judge", "people alone", "with the judge", "λ"], rows)


def _legend(found: Sequence[Agreement], means: Sequence[Correction]) -> Iterator[str]:
    if any("nmae" in one.figures for one in found):
        yield "NMAE: mean absolute error of ratings from 1 to 5, over 4; 0 is best."
    unrated = sorted({one.judge or one.metric for one in found if not one.rated and "nmae" in one.figures})
    if unrated:
        yield plain(f"No ratings, so that a value v counts as 1 + 4·v: {', '.join(unrated)}.")
    if means:
        yield "λ: how far the judge is relied on. Labels have to be of records drawn by lot."


def _notes(found: Sequence[Agreement], lost: dict[str, int]) -> Iterator[str]:
    names = [" ".join(part for part in (one.metric, one.judge) if part) for one in found]
    for metric, count in lost.items():
        yield f"{metric}: {count:,} labels are of records without a score to hold them against"
    for name, one in zip(names, found, strict=True):
        if one.unscored:
            yield f"{name}: {one.unscored:,} that have a label were left unscored, and are in no figure"
        if lacking := [figure for figure in one.figures if one.figures[figure].undefined]:
            missing_ones = ", ".join(_MEASURES[figure] for figure in lacking)
            yield f"{name}: no {missing_ones}: {one.figures[lacking[0]].undefined}"
    if few := [f"{name} ({one.groups})" for name, one in zip(names, found, strict=True) if 0 < one.groups < FEW]:
        yield f"fewer than {FEW} independent records or groups, so that intervals are too narrow: {', '.join(few)}"
