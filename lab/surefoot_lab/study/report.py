"""The report of a study: Markdown, and all values as JSON.

Beside the verdicts stand descriptions, which nothing tests: words by kind, changed forms, and the trust in the
explanations. Values are in standard deviations of the scores; intervals are from the bootstrap over questions that the
claims use.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata

from surefoot.evidence.policies import label
from surefoot.run.store import to_json, write_text, write_value
from surefoot.stats import figures
from surefoot.stats.figures import Figure, Floats
from surefoot.stats.text import NONE, number, percent
from surefoot.types import Action, Thresholds
from surefoot_lab.figures import counted
from surefoot_lab.report import (
    Form,
    Table,
    as_json,
    as_markdown,
    between,
    bullets,
    count,
    crossed,
    fenced,
    markdown,
    plain,
    share,
)
from surefoot_lab.robustness import flips
from surefoot_lab.study.examination import FRACTIONS, SUITE, Examined, change, over_as_rare, per_word
from surefoot_lab.study.hypotheses import Hypothesis
from surefoot_lab.study.kinds import KINDS
from surefoot_lab.study.verdicts import Questions

if TYPE_CHECKING:
    from surefoot_lab.study.run import Study

TEXT, DATA = "report.md", "report.json"
"""The files of a report, in the run's folder."""
_LIMITS = (
    "A value says what the evaluator does, not what is true; most texts with words missing are such as nobody writes.",
    "The subject of a question and the place of its answer are found by rules; a name in other words counts as another "
    "word.",
    "The sample has as many pairs of each action as were asked for, not as many as retrieval brings.",
    "A percentile bootstrap over few questions is too sure of itself, by a little.",
)
GROUPS = (*(action.value for action in Action), "all")
HOW = {
    "another seed": "another seed alone",
    "filler": "a word that says nothing where a word was",
    "pad": "a sign without letters where a word was",
    "hashed": "control: scores drawn by the text's hash",
    "shuffled": "control: weights in another order",
}
"""The ways in which pairs are explained again, in words."""


def write(study: Study, folder: Path, about: dict[str, Any]) -> None:
    """Write both files. `about`: the run's record."""
    write_text(folder / TEXT, "\n\n".join(blocks(study, about)) + "\n")
    write_value(folder / DATA, {**to_json(replace(study, tables=())), "tables": as_json(study.tables)})


def blocks(study: Study, about: dict[str, Any]) -> Iterator[str]:
    """The report's blocks of Markdown."""
    names = ", ".join(PurePath(file.path).name for file in study.files)
    yield f"# {plain(f'What {study.evaluator} goes by, on {names}')}"
    yield (
        f"{study.examined:,} real pairs of {study.questions:,} questions, taken apart word by word. Effects are in "
        f"standard deviations of the evaluator's scores ({study.sample.spread:.3g}), with 95 % intervals from a "
        "bootstrap over questions; p-values are one-sided, and after Holm's correction over all claims that could be "
        "tested."
    )
    for one in study.conclusions:
        yield plain(f"{one.conclusion.says} {one.verdict.capitalize()} ({one.because}).")
    yield markdown(_verdicts(study))
    yield bullets(
        f"{one.claim.id}: {one.claim.says} {one.verdict.capitalize()}: {one.because.rstrip('.')}. {_expects(one.claim)}"
        for one in study.findings
    )
    yield as_markdown([_sample(study), *(table for table in study.tables if table.rows)])
    if study.noted:
        yield plain(f"In {study.noted:,} pairs there was something to note, as: {study.note}.")
    yield "## What this does not show"
    yield bullets(_LIMITS)
    yield "## The hypotheses, as registered"
    yield f"SHA-256 {study.hypotheses.sha256}, on record before the evaluator was asked anything."
    yield fenced(study.hypotheses.text)
    yield "## What was run"
    yield fenced(json.dumps(about, indent=1, ensure_ascii=False))


def _verdicts(study: Study) -> Table:
    rows = [
        (o.claim.id, o.verdict, o.effect.of, o.questions, o.effect, o.delta, o.supports_holm, o.refutes_holm)
        for o in study.findings
    ]
    columns: dict[str, Form] = {"claim": str, "verdict": str, "pairs": count, "questions": count}
    columns |= {"effect": signed, "Cliff's δ": signed, "p for": _chance, "p against": _chance}
    return Table("verdicts", columns, rows)


def _chance(p: float | None) -> str:
    return number(p, ".4f")


def _expects(claim: Hypothesis) -> str:
    if claim.untestable:
        return "It is not tested."
    size = f"+{claim.smallest:g} or more" if claim.direction == "up" else f"−{claim.smallest:g} or less"
    some = "an" if claim.presence == "present" else "no"
    return f"It claims {some} effect of {size}. Refuted if: {claim.refuted_by}"


def _sample(study: Study) -> Table:
    sample, numbers = study.sample, ("there are", "taken", "questions", "relations")
    rows = [
        (
            one.action.upper(),
            "yes" if one.holds_answer else "no",
            one.available,
            one.taken,
            one.questions,
            one.relations,
        )
        for one in sample.strata
    ]
    return Table(
        "Which pairs",
        {"action": str, "an answer stands in it": str, **dict.fromkeys(numbers, count)},
        rows,
        f"{sample.graded:,} pairs were graded and labelled by the thresholds τ+ {study.thresholds.upper:.4g} and τ− "
        f"{study.thresholds.lower:.4g}, each passage alone. Left out were {sample.too_long:,} with a passage of more "
        f"than {study.settings.longest} words and {sample.ungraded:,} that could not be graded. "
        f"{study.settings.per_action} of each action, or all there are, were drawn by seed {study.settings.seed}, "
        "dealt out evenly over passages with and without an answer, relations and questions. "
        f"{study.named:,} are of a question that names its subject.",
    )


def tables(pairs: Sequence[Examined], drawn: Questions, spread: float, thresholds: Thresholds) -> list[Table]:
    """The tables of these pairs. `spread`: the unit, above 0."""
    look = _Look(drawn, spread)
    groups = [(name, [one for one in pairs if name in ("all", one.action.value)]) for name in GROUPS]
    checked, shares = [one for one in pairs if one.again], [f"{part:.0%}" for part in FRACTIONS]
    orders = [*pairs[0].without] if pairs else []
    kinds: dict[str, Form] = {"kind": str, "pairs of": str, "words": count, "value of a word": signed}
    changes: dict[str, Form] = {"change": str, "pairs of": str, "pairs": count, "score": signed, "Cliff's δ": signed}
    return [
        Table(
            "Words by kind",
            {**kinds, "share of the whole": lambda one: percent(one.value, 0), "IDF": lambda idf: number(idf, ".1f")},
            [row for kind in KINDS for name, mine in groups if (row := look.kind(kind, name, mine))[2]],
            "The mean value of a word: the mean over pairs of its mean in each. Separators between question and "
            "passage are never taken out and have no row. The share is of the sizes of all values in a pair.",
        ),
        Table(
            "One thing changed",
            {**changes, "flips at τ+": crossed, "p": _p, "flips at τ−": crossed, "p at τ−": _p},
            [
                row
                for probe in SUITE
                for name, mine in groups
                if (row := look.change(probe.name, name, mine, thresholds))[2]
            ],
            "Each change was made to every pair that it applies to. Flips: pairs that fell below a threshold ↓ or rose "
            "to it ↑, with McNemar's exact p; a pair counts as one trial there, though pairs of one question are "
            "alike.",
        ),
        Table("Left out", {"change": str, "does not apply, or could not be graded": str}, list(_left_out(pairs))),
        Table(
            "Are these the right words?",
            {
                "order": str,
                **dict.fromkeys((f"without {part}" for part in shares), signed),
                "gain": signed,
                **dict.fromkeys((f"only {part}" for part in shares), signed),
                "gain of only": signed,
            },
            [look.faith(name, orders[0], pairs) for name in orders],
            "The score less that without units (comprehensiveness), or with them alone (sufficiency): taken out, the "
            "right ones cost much; left alone, little. From the highest value down, and for comparison from the rarest "
            "down and by chance. Gain: the attribution's order over this one, over all shares.",
        ),
        Table(
            "Explained again",
            {
                "explained with": str,
                "correlation": signed,
                "rank correlation": signed,
                "name over words as rare": signed,
                "pairs": count,
            },
            [look.again(how, checked) for how in (checked[0].again if checked else ())],
            "Each by another seed: how values (Pearson) and ranks (Spearman) correlate, as a mean over pairs. Controls "
            "must agree with nothing: an explanation that looks the same for them is not one of this evaluator.",
        ),
        Table(
            "Precision",
            {"of the values": str, "": str},
            list(_precision(pairs)),
            "Means over pairs are unbiased by the standard errors, single values are not.",
        ),
    ]


def signed(figure: Figure) -> str:
    """A figure with its interval."""
    return between(figure, _sign)


def correlation(first: Sequence[float], second: Sequence[float], ranks: bool = False) -> float | None:
    """Pearson's correlation, or with `ranks` Spearman's (ties have their mean rank); None where either is constant."""
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    one, other = (rankdata(first), rankdata(second)) if ranks else (first, second)
    return float(np.corrcoef(one, other)[0, 1])


@dataclass(frozen=True, slots=True)
class _Look:
    """Rows of the tables."""

    drawn: Questions
    spread: float

    def mean(self, pairs: Sequence[Examined], of: Callable[[Examined], float | None], scale: float = 1.0) -> Figure:
        """Over the pairs that have it, with its interval."""
        each = [(pair, value / scale) for pair in pairs if (value := of(pair)) is not None]
        values, numbers = [value for _, value in each], self.drawn.of([pair for pair, _ in each])
        return figures.figure(figures.mean(values, numbers), self.drawn.draws)[0]

    def kind(self, kind: str, action: str, pairs: Sequence[Examined]) -> tuple[Any, ...]:
        units = [
            (one.attribution.units[n].words, one.idf[n])
            for one in pairs
            for n, name in enumerate(one.kinds)
            if name == kind
        ]
        return (
            kind,
            action.upper(),
            sum(len(text.split()) for text, _ in units),
            self.mean(pairs, lambda one: per_word(one, (kind,)), self.spread),
            self.mean(pairs, lambda one: _share(one, kind)),
            sum(idf for _, idf in units) / len(units) if units else None,
        )

    def change(self, probe: str, action: str, pairs: Sequence[Examined], thresholds: Thresholds) -> tuple[Any, ...]:
        moved = [(one, found + one.score) for one in pairs if (found := change(one, probe)) is not None]
        moves = [(one.action, label(score, thresholds)) for one, score in moved]
        above, below = flips(moves, Action.CORRECT.__eq__), flips(moves, Action.INCORRECT.__ne__)
        return (
            probe,
            action.upper(),
            len(moved),
            self.mean(pairs, lambda one: change(one, probe), self.spread),
            self.mean(pairs, lambda one: _direction(change(one, probe))),
            *(above, above.p, below, below.p),
        )

    def faith(self, order: str, first: str, pairs: Sequence[Examined]) -> tuple[Any, ...]:
        def lost(one: Examined, side: str, name: str) -> Floats:
            return one.attribution.full - np.array(getattr(one, side)[name])

        def row(side: str, more: str, less: str) -> Iterator[Figure]:
            for n in range(len(FRACTIONS)):
                yield self.mean(pairs, lambda one: lost(one, side, order)[n], self.spread)  # noqa: B023
            yield self.mean(pairs, lambda one: (lost(one, side, more) - lost(one, side, less)).mean(), self.spread)

        return order, *row("without", first, order), *row("alone", order, first)

    def again(self, how: str, pairs: Sequence[Examined]) -> tuple[Any, ...]:
        linear = self.mean(pairs, lambda one: correlation(one.attribution.values, one.again[how]))
        ranked = self.mean(pairs, lambda one: correlation(one.attribution.values, one.again[how], ranks=True))
        over = self.mean(pairs, lambda one: over_as_rare(one, one.again[how]), self.spread)
        return HOW.get(how, how), linear, ranked, over, ranked.of


def _left_out(pairs: Sequence[Examined]) -> Iterator[tuple[str, str]]:
    for probe in SUITE:
        reasons = Counter(one.left_out[probe.name] for one in pairs if probe.name in one.left_out)
        if reasons:
            yield probe.name, "; ".join(f"{reason} ({number:,})" for reason, number in reasons.most_common())


def _direction(value: float | None) -> float | None:
    return None if value is None else float(np.sign(value))


def _share(one: Examined, kind: str) -> float | None:
    total = sum(map(abs, one.attribution.values))
    mine = sum(abs(value) for value, name in zip(one.attribution.values, one.kinds, strict=True) if name == kind)
    return mine / total if total else None


def _precision(pairs: Sequence[Examined]) -> Iterator[tuple[str, str]]:
    found = [one.attribution for one in pairs]
    largest = [max(map(abs, one.values)) for one in found]
    errors = [max(one.errors) / most if most else 0.0 for one, most in zip(found, largest, strict=True)]
    yield "pairs that reached the tolerance", share(counted(sum(one.reached for one in found), len(found)))
    yield "largest standard error, of the largest value, in the median pair", f"{median(errors):.0%}"
    yield "largest gap between the score and the sum of the values", f"{max(abs(one.gap) for one in found):.1e}"
    yield "units of the median pair", f"{median(len(one.units) for one in found):g}"
    yield "evaluations, without those of the checks", f"{sum(one.evaluations for one in found):,}"


def _sign(value: float) -> str:
    shown = f"{abs(value):.3f}" if abs(value) < 10 else f"{abs(value):.1f}"
    return shown if float(shown) == 0 else f"{'−' if value < 0 else '+'}{shown}"


def _p(p: float | None) -> str:
    return NONE if p is None else f"{p:.4f}" if p >= 0.0001 else "< .0001"
