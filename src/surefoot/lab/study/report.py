"""The report of a study, in words, tables and pictures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any

from surefoot.lab.study import document, pictures
from surefoot.lab.study.document import Block, Bullets, Heading, Paragraph, Picture, Preformatted, Table
from surefoot.lab.study.examination import SUITE
from surefoot.lab.study.hypotheses import Hypothesis
from surefoot.lab.study.kinds import KINDS
from surefoot.lab.study.run import Study
from surefoot.lab.study.tables import ALL, FaithRow
from surefoot.lab.study.verdicts import Finding
from surefoot.stats.figures import Figure, Paired, Share
from surefoot.store import to_json, write_text
from surefoot.types import Action

PAGE, TEXT, DATA = "report.html", "report.md", "report.json"
"""What is written into the folder of a run, beside the pictures that the Markdown file shows."""
_ACTIONS = [action.value for action in Action]
_HOW = {
    "another seed": "another seed alone",
    "filler": "a word that says nothing where a word was",
    "pad": "a sign without letters where a word was",
    "hashed": "control: scores drawn by the text's hash",
    "shuffled": "control: weights in another order",
}


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
    yield from _trust(study)
    yield from _limits(study)
    yield Heading(2, "The hypotheses, as registered")
    yield Paragraph(f"SHA-256 {study.hypotheses.sha256}, on record before the evaluator was asked anything.")
    yield Preformatted(study.hypotheses.text)
    yield Heading(2, "What was run")
    yield Preformatted(json.dumps(about, indent=1, ensure_ascii=False))


def signed(figure: Figure) -> str:
    """A figure with its interval."""
    if figure.value is None:
        return "–"
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
    yield Table(
        ("claim", "verdict", "pairs", "questions", "effect", "Cliff's δ", "p for", "p against"),
        tuple(_verdict(finding) for finding in study.findings),
        frozenset({2, 3, 4, 5, 6, 7}),
    )
    tested = [finding for finding in study.findings if finding.effect.value is not None]
    if tested:
        rows = [pictures.ForestRow(finding.claim.id, (finding.effect,)) for finding in tested]
        title, subtitle = "Effects of the claims", "standard deviations of the score; whiskers: 95 % intervals"
        yield Picture("claims.svg", pictures.forest(title, subtitle, ["effect"], rows), title)
    yield Bullets(
        tuple(f"{one.claim.id}: {one.claim.says} {_because(one)} {_expects(one.claim)}" for one in study.findings)
    )


def _verdict(finding: Finding) -> tuple[str, ...]:
    return (
        finding.claim.id,
        finding.verdict,
        f"{finding.effect.of:,}",
        f"{finding.questions:,}",
        signed(finding.effect),
        signed(finding.delta),
        _chance(finding.supports_holm),
        _chance(finding.refutes_holm),
    )


def _because(one: Finding) -> str:
    reason = one.because.rstrip(".")
    return f"{one.verdict.capitalize()}: {reason}."


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
    yield Table(
        ("action", "an answer stands in it", "there are", "taken", "questions", "relations"),
        tuple(
            (
                row.action.upper(),
                "yes" if row.holds_answer else "no",
                *(f"{count:,}" for count in (row.available, row.taken, row.questions, row.relations)),
            )
            for row in study.strata
        ),
        frozenset({2, 3, 4, 5}),
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
    rows = [pictures.ForestRow(kind, tuple(figures[kind, action] for action in _ACTIONS)) for kind in kinds]
    title, subtitle = "What a word is worth", "standard deviations of the score; whiskers: 95 % intervals"
    yield Picture("words.svg", pictures.forest(title, subtitle, [a.upper() for a in _ACTIONS], rows), title)
    yield Table(
        ("kind", "pairs of", "words", "value of a word", "share of the whole", "IDF", "letters"),
        tuple(
            (
                r.kind,
                r.action.upper(),
                f"{r.words:,}",
                signed(r.value),
                _percent(r.share),
                _plain(r.idf),
                _plain(r.length),
            )
            for r in study.tables.kinds
            if r.words
        ),
        frozenset({2, 3, 4, 5, 6}),
    )
    yield Paragraph(
        "Rarity and length being equal: what a word is worth beyond an ordinary one of the same pair, from a "
        "regression of values on kind, IDF and the logarithm of length."
    )
    yield Table(
        ("kind", *[f"{action.upper()}" for action in (*_ACTIONS, ALL)]),
        tuple(
            (kind, *[_adjusted(study, kind, action) for action in (*_ACTIONS, ALL)])
            for kind in kinds
            if kind != "other"
        ),
        frozenset({1, 2, 3, 4}),
    )


def _adjusted(study: Study, kind: str, action: str) -> str:
    found = [row.value for row in study.tables.adjusted if (row.kind, row.action) == (kind, action)]
    return signed(found[0]) if found else "–"


def _changes(study: Study) -> Iterator[Block]:
    yield Heading(2, "One thing changed")
    yield Paragraph(
        "Each change was made to every pair that it applies to. Flips: pairs that fell below a threshold ↓ or rose "
        "to it ↑, with McNemar's exact p; a pair counts as one trial there, though pairs of one question are alike."
    )
    figures = {(row.probe, row.action): row.change for row in study.tables.changes}
    rows = [
        pictures.ForestRow(probe.name, tuple(figures[probe.name, action] for action in _ACTIONS)) for probe in SUITE
    ]
    title, subtitle = "What a change does to the score", "standard deviations of the score; whiskers: 95 % intervals"
    yield Picture("changes.svg", pictures.forest(title, subtitle, [a.upper() for a in _ACTIONS], rows), title)
    yield Table(
        ("change", "pairs of", "pairs", "score", "Cliff's δ", "flips at τ+", "p", "flips at τ−", "p"),
        tuple(
            (
                row.probe,
                row.action.upper(),
                f"{row.change.of:,}",
                signed(row.change),
                signed(row.delta),
                *_flips(row.upper),
                *_flips(row.lower),
            )
            for row in study.tables.changes
            if row.change.of
        ),
        frozenset(range(2, 9)),
    )
    left = {row.probe: row.left_out for row in study.tables.changes if row.action == ALL and row.left_out}
    yield Bullets(
        tuple(
            f"{probe} does not apply to {sum(reasons.values()):,}: "
            + "; ".join(f"{reason} ({count:,})" for reason, count in reasons.items())
            for probe, reasons in left.items()
        )
    )


def _trust(study: Study) -> Iterator[Block]:
    yield Heading(2, "Are these the right words?")
    yield from _faithful(study)
    yield from _alike(study)
    yield Bullets(tuple(_precise(study)))


def _faithful(study: Study) -> Iterator[Block]:
    yield Paragraph(
        "Units are taken out, or left alone, from the one with the highest value down, and for comparison from the "
        "rarest down and by chance. Taken out (comprehensiveness), the right ones cost much; left alone "
        "(sufficiency), they cost little. The gain is that of the attribution's order over the other, as a mean "
        "over all shares."
    )
    panels = [
        ("taken out: the score lost", [(row.order, row.without) for row in study.tables.faith]),
        ("left alone: the score lost", [(row.order, row.alone) for row in study.tables.faith]),
    ]
    title, subtitle = (
        "What the first words of an order carry",
        "standard deviations of the score; bands: 95 % intervals",
    )
    yield Picture("order.svg", pictures.curves(title, subtitle, study.fractions, panels), title)
    yield Table(
        (
            "order",
            *[f"without {share:.0%}" for share in study.fractions],
            "gain",
            *[f"only {share:.0%}" for share in study.fractions],
            "gain",
        ),
        tuple(_faith(row) for row in study.tables.faith),
        frozenset(range(1, 13)),
    )


def _alike(study: Study) -> Iterator[Block]:
    yield Paragraph(
        "The same pairs explained in another way, each by another seed, so that no error is shared: how the units' "
        "values (Pearson) and their ranks (Spearman) correlate, as a mean over pairs, and what a word of the name "
        "is worth over a word as rare. Ranks agree little where most words are worth next to nothing. Controls must "
        "agree with nothing: an explanation that looks the same for them is not one of this evaluator. That it "
        "looks different does not show that it is right."
    )
    yield Table(
        ("explained with", "correlation", "rank correlation", "name over words as rare", "pairs"),
        tuple(
            (
                _HOW.get(row.how, row.how),
                signed(row.correlation),
                signed(row.rank_correlation),
                signed(row.entity_over_as_rare),
                f"{row.rank_correlation.of:,}",
            )
            for row in study.tables.again
        ),
        frozenset({1, 2, 3, 4}),
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


def _faith(row: FaithRow) -> tuple[str, ...]:
    best = row.order == "attribution"
    return (
        row.order,
        *[_sign(one.value) for one in row.without],
        "" if best else signed(row.without_gain),
        *[_sign(one.value) for one in row.alone],
        "" if best else signed(row.alone_gain),
    )


def _limits(study: Study) -> Iterator[Block]:
    yield Heading(2, "What this does not show")
    yield Bullets(
        (
            "A value says what the evaluator does, not what is true; most texts with words missing are such as nobody "
            "writes.",
            "What a question is about, and where its answer stands, is found by rules; a name in other words counts as "
            "another word.",
            "The sample has as many pairs of each action as were asked for, and not as many as retrieval brings: "
            "means over all pairs are means over this sample.",
            "A percentile bootstrap over few questions is too sure of itself, by a little.",
        )
    )


def _flips(paired: Paired) -> tuple[str, str]:
    return f"↓{paired.first:,} ↑{paired.second:,}", _chance(paired.p)


def _percent(figure: Figure) -> str:
    return "–" if figure.value is None else f"{figure.value * 100:.0f} %"


def _share(share: Share) -> str:
    return f"{share.count:,} of {share.of:,} pairs"


def _plain(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _chance(p: float | None) -> str:
    return "–" if p is None else f"{p:.4f}" if p >= 0.0001 else "< .0001"


def _sign(value: float | None) -> str:
    if value is None:
        return "–"
    shown = f"{abs(value):.3f}" if abs(value) < 10 else f"{abs(value):.1f}"
    return shown if float(shown) == 0 else f"{'−' if value < 0 else '+'}{shown}"
