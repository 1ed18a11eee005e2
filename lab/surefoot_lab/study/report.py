"""The report of a study: Markdown, and all values as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePath
from typing import Any, TypeVar

from surefoot.run.store import to_json, write_text
from surefoot.stats.figures import Figure
from surefoot.stats.text import NONE, number, percent
from surefoot_lab.figures import Share
from surefoot_lab.markdown import bullets, fenced, plain, table
from surefoot_lab.study.hypotheses import Hypothesis
from surefoot_lab.study.run import Study
from surefoot_lab.study.tables import ALL

TEXT, DATA = "report.md", "report.json"
"""The files of a report, in the run's folder."""
T = TypeVar("T")
_HOW = {
    "another seed": "another seed alone",
    "filler": "a word that says nothing where a word was",
    "pad": "a sign without letters where a word was",
    "hashed": "control: scores drawn by the text's hash",
    "shuffled": "control: weights in another order",
}
_LIMITS = (
    "A value says what the evaluator does, not what is true; most texts with words missing are such as nobody writes.",
    "The subject of a question and the place of its answer are found by rules; a name in other words counts as another "
    "word.",
    "The sample has as many pairs of each action as were asked for, not as many as retrieval brings.",
    "A percentile bootstrap over few questions is too sure of itself, by a little.",
)


def write(study: Study, folder: Path, about: dict[str, Any]) -> None:
    """Write both files. `about`: the run's record."""
    write_text(folder / TEXT, "\n\n".join(blocks(study, about)) + "\n")
    write_text(folder / DATA, json.dumps(to_json(study), indent=1, allow_nan=False) + "\n")


def blocks(study: Study, about: dict[str, Any]) -> Iterator[str]:
    """The report's blocks of Markdown."""
    names = ", ".join(PurePath(file.path).name for file in study.files)
    yield f"# {plain(f'What {study.evaluator} goes by, on {names}')}"
    yield from _verdicts(study)
    yield from _sample(study)
    yield from _kinds(study)
    yield from _changes(study)
    yield from _trust(study)
    yield "## What this does not show"
    yield bullets(_LIMITS)
    yield "## The hypotheses, as registered"
    yield f"SHA-256 {study.hypotheses.sha256}, on record before the evaluator was asked anything."
    yield fenced(study.hypotheses.text)
    yield "## What was run"
    yield fenced(json.dumps(about, indent=1, ensure_ascii=False))


def signed(figure: Figure) -> str:
    """A figure with its interval."""
    if figure.value is None:
        return NONE
    interval = "" if figure.low is None or figure.high is None else f" ({_sign(figure.low)} to {_sign(figure.high)})"
    return f"{_sign(figure.value)}{interval}"


def _verdicts(study: Study) -> Iterator[str]:
    yield (
        f"{study.examined:,} real pairs of {study.questions:,} questions, taken apart word by word. Effects are in "
        f"standard deviations of the evaluator's scores ({study.spread:.3g}), with 95 % intervals from a bootstrap "
        "over questions; p-values are one-sided, and after Holm's correction over all claims that could be tested."
    )
    for one in study.conclusions:
        yield plain(f"{one.conclusion.says} {one.verdict.capitalize()} ({one.because}).")
    yield _table(
        study.findings,
        2,
        ("claim", lambda one: one.claim.id),
        ("verdict", lambda one: one.verdict),
        ("pairs", lambda one: f"{one.effect.of:,}"),
        ("questions", lambda one: f"{one.questions:,}"),
        ("effect", lambda one: signed(one.effect)),
        ("Cliff's δ", lambda one: signed(one.delta)),
        ("p for", lambda one: _chance(one.supports_holm)),
        ("p against", lambda one: _chance(one.refutes_holm)),
    )
    yield bullets(
        f"{one.claim.id}: {one.claim.says} {one.verdict.capitalize()}: {one.because.rstrip('.')}. {_expects(one.claim)}"
        for one in study.findings
    )


def _expects(claim: Hypothesis) -> str:
    if claim.untestable:
        return "It is not tested."
    size = f"+{claim.smallest:g} or more" if claim.direction == "up" else f"−{claim.smallest:g} or less"
    some = "an" if claim.presence == "present" else "no"
    return f"It claims {some} effect of {size}. Refuted if: {claim.refuted_by}"


def _sample(study: Study) -> Iterator[str]:
    wanted = study.settings.per_action
    yield "## Which pairs"
    yield (
        f"{study.graded:,} pairs were graded and labelled by the thresholds τ+ {study.thresholds.upper:.4g} and τ− "
        f"{study.thresholds.lower:.4g}, each passage alone. Left out were {study.too_long:,} with a passage of more "
        f"than {study.settings.longest} words and {study.ungraded:,} that could not be graded. {wanted} of each "
        f"action, or all there are, were drawn by seed {study.settings.seed}, dealt out evenly over passages with and "
        f"without an answer, relations and questions. {study.named:,} of them are of a question that names its subject."
    )
    yield _table(
        study.strata,
        2,
        ("action", lambda row: row.action.upper()),
        ("an answer stands in it", lambda row: "yes" if row.holds_answer else "no"),
        ("there are", lambda row: f"{row.available:,}"),
        ("taken", lambda row: f"{row.taken:,}"),
        ("questions", lambda row: f"{row.questions:,}"),
        ("relations", lambda row: f"{row.relations:,}"),
    )


def _kinds(study: Study) -> Iterator[str]:
    yield "## Words by kind"
    yield (
        "The mean value of a word: the mean over pairs of its mean in each. Separators between question and passage "
        "are never taken out and have no row. The share is of the sizes of all values in a pair."
    )
    yield _table(
        [row for row in study.tables.kinds if row.words],
        2,
        ("kind", lambda row: row.kind),
        ("pairs of", lambda row: row.action.upper()),
        ("words", lambda row: f"{row.words:,}"),
        ("value of a word", lambda row: signed(row.value)),
        ("share of the whole", lambda row: percent(row.share.value, 0)),
        ("IDF", lambda row: number(row.idf, ".1f")),
    )


def _changes(study: Study) -> Iterator[str]:
    yield "## One thing changed"
    yield (
        "Each change was made to every pair that it applies to. Flips: pairs that fell below a threshold ↓ or rose "
        "to it ↑, with McNemar's exact p; a pair counts as one trial there, though pairs of one question are alike."
    )
    yield _table(
        [row for row in study.tables.changes if row.change.of],
        2,
        ("change", lambda row: row.probe),
        ("pairs of", lambda row: row.action.upper()),
        ("pairs", lambda row: f"{row.change.of:,}"),
        ("score", lambda row: signed(row.change)),
        ("Cliff's δ", lambda row: signed(row.delta)),
        ("flips at τ+", lambda row: f"↓{row.upper.first:,} ↑{row.upper.second:,}"),
        ("p", lambda row: _chance(row.upper.p)),
        ("flips at τ−", lambda row: f"↓{row.lower.first:,} ↑{row.lower.second:,}"),
        ("p", lambda row: _chance(row.lower.p)),
    )
    left = {row.probe: row.left_out for row in study.tables.changes if row.action == ALL and row.left_out}
    yield bullets(
        f"{probe} does not apply to {sum(reasons.values()):,}: "
        + "; ".join(f"{reason} ({count:,})" for reason, count in reasons.items())
        for probe, reasons in left.items()
    )


def _trust(study: Study) -> Iterator[str]:
    known, shares = study.tables.precision, [f"{share:.0%}" for share in study.fractions]
    yield "## Are these the right words?"
    yield (
        "Units are taken out, or left alone, from the highest value down, and for comparison from the rarest down and "
        "by chance. Taken out (comprehensiveness), the right ones cost much; left alone (sufficiency), they cost "
        "little. The gain is that of the attribution's order over the other, as a mean over all shares."
    )
    headings = "order", *[f"without {n}" for n in shares], "gain", *[f"only {n}" for n in shares], "gain"
    rows = [
        [row.order, *_cells(row.without), signed(row.without_gain), *_cells(row.alone), signed(row.alone_gain)]
        for row in study.tables.faith
    ]
    yield table(1, headings, rows)
    yield (
        "The same pairs explained in another way, each by another seed: how values (Pearson) and ranks (Spearman) "
        "correlate, as a mean over pairs. Controls must agree with nothing: an explanation that looks the same for "
        "them is not one of this evaluator."
    )
    yield _table(
        study.tables.again,
        1,
        ("explained with", lambda row: _HOW.get(row.how, row.how)),
        ("correlation", lambda row: signed(row.correlation)),
        ("rank correlation", lambda row: signed(row.rank_correlation)),
        ("name over words as rare", lambda row: signed(row.entity_over_as_rare)),
        ("pairs", lambda row: f"{row.rank_correlation.of:,}"),
    )
    notes = [
        f"{known.evaluations:,} evaluations, {known.units:g} units in the median pair; {_share(known.reached)} reached "
        f"the tolerance of {study.settings.tolerance:g}; the largest standard error is {known.error:.0%} of the "
        "largest value in the median pair. Means over pairs are unbiased by that, single values are not.",
        f"Values and the score of no words sum up to the score within {known.gap:.1e}.",
    ]
    if study.noted:
        notes.append(f"In {study.noted:,} pairs there was something to note, as: {study.note}.")
    yield bullets(notes)


def _share(share: Share) -> str:
    return f"{share.count:,} of {share.of:,} pairs"


def _cells(figures: Iterable[Figure]) -> list[str]:
    return [_sign(one.value) for one in figures]


def _table(rows: Iterable[T], texts: int, *columns: tuple[str, Callable[[T], str]]) -> str:
    return table(texts, [heading for heading, _ in columns], ([cell(row) for _, cell in columns] for row in rows))


def _chance(p: float | None) -> str:
    return NONE if p is None else f"{p:.4f}" if p >= 0.0001 else "< .0001"


def _sign(value: float | None) -> str:
    if value is None:
        return NONE
    shown = f"{abs(value):.3f}" if abs(value) < 10 else f"{abs(value):.1f}"
    return shown if float(shown) == 0 else f"{'−' if value < 0 else '+'}{shown}"
