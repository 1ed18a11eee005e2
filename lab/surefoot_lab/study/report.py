"""The report of a study, in words, tables and pictures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any, TypeVar

from surefoot.run.store import to_json, write_text
from surefoot.stats.figures import Figure, Share
from surefoot.stats.text import NONE, number, percent
from surefoot.types import Action
from surefoot_lab.study import document, pictures
from surefoot_lab.study.document import Block, Bullets, Heading, Paragraph, Picture, Preformatted, Table
from surefoot_lab.study.examination import SUITE
from surefoot_lab.study.hypotheses import Hypothesis
from surefoot_lab.study.kinds import KINDS
from surefoot_lab.study.pictures import ForestRow, Line
from surefoot_lab.study.run import Study
from surefoot_lab.study.tables import ALL, FaithRow

PAGE, TEXT, DATA = "report.html", "report.md", "report.json"
"""The files of a report in the run's folder, beside the pictures that the Markdown file shows."""
T = TypeVar("T")
_ACTIONS = [action.value for action in Action]
_SCALE = "standard deviations of the score"
_HOW = {
    "another seed": "another seed alone",
    "filler": "a word that says nothing where a word was",
    "pad": "a sign without letters where a word was",
    "hashed": "control: scores drawn by the text's hash",
    "shuffled": "control: weights in another order",
}
_LIMITS = (
    "A value says what the evaluator does, not what is true; most texts with words missing are such as nobody writes.",
    "What a question is about, and where its answer stands, is found by rules; a name in other words counts as "
    "another word.",
    "The sample has as many pairs of each action as were asked for, and not as many as retrieval brings: means over "
    "all pairs are means over this sample.",
    "A percentile bootstrap over few questions is too sure of itself, by a little.",
)


def write(study: Study, folder: Path, about: dict[str, Any]) -> None:
    """The report as Markdown with its pictures, as one HTML page, and as values. `about`: what is on record of it."""
    blocks = list(told(study, about))
    for block in blocks:
        if isinstance(block, Picture):
            write_text(folder / block.file, block.svg)
    write_text(folder / TEXT, document.markdown(blocks))
    write_text(folder / PAGE, document.page(blocks))
    write_text(folder / DATA, json.dumps(to_json(study), indent=1, allow_nan=False) + "\n")


def told(study: Study, about: dict[str, Any]) -> Iterator[Block]:
    """The report, block by block."""
    names = ", ".join(PurePath(file.path).name for file in study.files)
    yield Heading(1, f"What {study.evaluator} goes by, on {names}")
    yield from _verdicts(study)
    yield from _sample(study)
    yield from _kinds(study)
    yield from _changes(study)
    yield Heading(2, "Are these the right words?")
    yield from _faithful(study)
    yield from _alike(study)
    yield Bullets(tuple(_precise(study)))
    yield Heading(2, "What this does not show")
    yield Bullets(_LIMITS)
    yield Heading(2, "The hypotheses, as registered")
    yield Paragraph(f"SHA-256 {study.hypotheses.sha256}, on record before the evaluator was asked anything.")
    yield Preformatted(study.hypotheses.text)
    yield Heading(2, "What was run")
    yield Preformatted(json.dumps(about, indent=1, ensure_ascii=False))


def signed(figure: Figure) -> str:
    """A figure with its interval."""
    if figure.value is None:
        return NONE
    interval = "" if figure.low is None or figure.high is None else f" ({_sign(figure.low)} to {_sign(figure.high)})"
    return f"{_sign(figure.value)}{interval}"


def _verdicts(study: Study) -> Iterator[Block]:
    yield Paragraph(
        f"{study.examined:,} real pairs of {study.questions:,} questions, taken apart word by word. Effects are in "
        f"standard deviations of the evaluator's scores ({study.spread:.3g}), with 95 % intervals from a bootstrap "
        "over questions; p-values are one-sided, and after Holm's correction over all claims that could be tested."
    )
    for one in study.conclusions:
        yield Paragraph(f"{one.conclusion.says} {one.verdict.capitalize()} ({one.because}).")
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
    if rows := [ForestRow(one.claim.id, (one.effect,)) for one in study.findings if one.effect.value is not None]:
        yield _forest("claims.svg", "Effects of the claims", ["effect"], rows)
    yield Bullets(
        tuple(
            f"{one.claim.id}: {one.claim.says} {one.verdict.capitalize()}: {one.because.rstrip('.')}. "
            f"{_expects(one.claim)}"
            for one in study.findings
        )
    )


def _expects(claim: Hypothesis) -> str:
    if claim.untestable:
        return "It is not tested."
    size = f"+{claim.smallest:g} or more" if claim.direction == "up" else f"−{claim.smallest:g} or less"
    some = "an" if claim.presence == "present" else "no"
    return f"It claims {some} effect of {size}. Refuted if: {claim.refuted_by}"


def _sample(study: Study) -> Iterator[Block]:
    wanted = study.settings.per_action
    yield Heading(2, "Which pairs")
    yield Paragraph(
        f"{study.graded:,} pairs were graded and labelled by the thresholds τ+ {study.thresholds.upper:.4g} and τ− "
        f"{study.thresholds.lower:.4g}, each passage alone. Left out were {study.too_long:,} with a passage of more "
        f"than {study.settings.longest} words and {study.ungraded:,} that could not be graded. {wanted} of each "
        f"action were drawn by seed {study.settings.seed}, dealt out evenly over passages with and without an "
        f"answer, over what is asked for, and over questions. {study.named:,} of them are of a question that names "
        "what it is about."
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
    taken = {action: sum(s.taken for s in study.strata if s.action == action) for action in Action}
    if few := [f"{action.upper()} {count}" for action, count in taken.items() if count < wanted]:
        yield Paragraph(f"Fewer than the {wanted} that were asked for, as there are no more: {', '.join(few)}.")


def _kinds(study: Study) -> Iterator[Block]:
    yield Heading(2, "Words by kind")
    yield Paragraph(
        "The mean value of a word: the mean over pairs of its mean in each. What stands between question and "
        "passage is the evaluator's own and is never taken out, so separators have no row. The share is of the "
        "sizes of all values in a pair."
    )
    there = {row.kind for row in study.tables.kinds if row.words}
    kinds = [kind for kind in KINDS if kind in there]
    figures = {(row.kind, row.action): row.value for row in study.tables.kinds}
    yield _by_action("words.svg", "What a word is worth", kinds, figures)
    yield _table(
        [row for row in study.tables.kinds if row.words],
        2,
        ("kind", lambda row: row.kind),
        ("pairs of", lambda row: row.action.upper()),
        ("words", lambda row: f"{row.words:,}"),
        ("value of a word", lambda row: signed(row.value)),
        ("share of the whole", lambda row: percent(row.share.value, 0)),
        ("IDF", lambda row: number(row.idf, ".1f")),
        ("letters", lambda row: number(row.length, ".1f")),
    )
    yield Paragraph(
        "Rarity and length being equal: what a word is worth beyond an ordinary one of the same pair, from a "
        "regression of values on kind, IDF and the logarithm of length."
    )
    adjusted = {(row.kind, row.action): signed(row.value) for row in study.tables.adjusted}
    groups = (*_ACTIONS, ALL)
    rest = [(kind, *[adjusted.get((kind, action), NONE) for action in groups]) for kind in kinds if kind != "other"]
    yield Table(1, ("kind", *map(str.upper, groups)), tuple(rest))


def _changes(study: Study) -> Iterator[Block]:
    yield Heading(2, "One thing changed")
    yield Paragraph(
        "Each change was made to every pair that it applies to. Flips: pairs that fell below a threshold ↓ or rose "
        "to it ↑, with McNemar's exact p; a pair counts as one trial there, though pairs of one question are alike."
    )
    figures = {(row.probe, row.action): row.change for row in study.tables.changes}
    yield _by_action("changes.svg", "What a change does to the score", [probe.name for probe in SUITE], figures)
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
    yield Bullets(
        tuple(
            f"{probe} does not apply to {sum(reasons.values()):,}: "
            + "; ".join(f"{reason} ({count:,})" for reason, count in reasons.items())
            for probe, reasons in left.items()
        )
    )


def _faithful(study: Study) -> Iterator[Block]:
    yield Paragraph(
        "Units are taken out, or left alone, from the one with the highest value down, and for comparison from the "
        "rarest down and by chance. Taken out (comprehensiveness), the right ones cost much; left alone "
        "(sufficiency), they cost little. The gain is that of the attribution's order over the other, as a mean "
        "over all shares."
    )
    faith = study.tables.faith
    panels: list[tuple[str, list[Line]]] = [
        ("taken out: the score lost", [(row.order, row.without) for row in faith]),
        ("left alone: the score lost", [(row.order, row.alone) for row in faith]),
    ]
    title = "What the first words of an order carry"
    drawn = pictures.curves(title, f"{_SCALE}; bands: 95 % intervals", study.fractions, panels)
    yield Picture("order.svg", drawn, title)
    shares = [f"{share:.0%}" for share in study.fractions]
    headings = "order", *[f"without {n}" for n in shares], "gain", *[f"only {n}" for n in shares], "gain"

    def cells(row: FaithRow, side: Iterable[Figure], gain: Figure) -> list[str]:
        return [*(_sign(one.value) for one in side), "" if row.order == "attribution" else signed(gain)]

    rows = [
        (row.order, *cells(row, row.without, row.without_gain), *cells(row, row.alone, row.alone_gain)) for row in faith
    ]
    yield Table(1, headings, tuple(rows))


def _alike(study: Study) -> Iterator[Block]:
    yield Paragraph(
        "The same pairs explained in another way, each by another seed, so that no error is shared: how the units' "
        "values (Pearson) and their ranks (Spearman) correlate, as a mean over pairs, and what a word of the name "
        "is worth over a word as rare. Ranks agree little where most words are worth next to nothing. Controls must "
        "agree with nothing: an explanation that looks the same for them is not one of this evaluator. That it "
        "looks different does not show that it is right."
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


def _precise(study: Study) -> Iterator[str]:
    known = study.tables.precision
    yield (
        f"{known.evaluations:,} evaluations, {known.units:g} units in the median pair; {_share(known.reached)} reached "
        f"the tolerance of {study.settings.tolerance:g}; the largest standard error is {known.error:.0%} of the "
        "largest value in the median pair. Means over pairs are unbiased by that, single values are not to be read "
        "one by one."
    )
    yield f"Values and the score of no words sum up to the score within {known.gap:.1e}."
    yield f"In {_share(known.tied)} some units have the same value, other than 0."
    if study.noted:
        yield f"In {study.noted:,} pairs there was something to note, as: {study.note}."


def _share(share: Share) -> str:
    return f"{share.count:,} of {share.of:,} pairs"


def _table(rows: Iterable[T], words: int, *columns: tuple[str, Callable[[T], str]]) -> Table:
    """A row each; the first `words` columns hold words, the others figures."""
    cells = tuple(tuple(written(row) for _, written in columns) for row in rows)
    return Table(words, tuple(heading for heading, _ in columns), cells)


def _by_action(file: str, title: str, names: Iterable[str], figures: Mapping[tuple[str, str], Figure]) -> Picture:
    """A forest with a row a name, and a series an action."""
    rows = [ForestRow(name, tuple(figures[name, action] for action in _ACTIONS)) for name in names]
    return _forest(file, title, [action.upper() for action in _ACTIONS], rows)


def _forest(file: str, title: str, series: list[str], rows: list[ForestRow]) -> Picture:
    return Picture(file, pictures.forest(title, f"{_SCALE}; whiskers: 95 % intervals", series, rows), title)


def _chance(p: float | None) -> str:
    return NONE if p is None else f"{p:.4f}" if p >= 0.0001 else "< .0001"


def _sign(value: float | None) -> str:
    if value is None:
        return NONE
    shown = f"{abs(value):.3f}" if abs(value) < 10 else f"{abs(value):.1f}"
    return shown if float(shown) == 0 else f"{'−' if value < 0 else '+'}{shown}"
