"""The report of a study: Markdown, and all values as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from surefoot.run.store import to_json, write_text
from surefoot.stats.text import number
from surefoot_lab.report import Form, Table, as_json, as_markdown, bullets, count, fenced, markdown, plain
from surefoot_lab.study.hypotheses import Hypothesis
from surefoot_lab.study.run import Study
from surefoot_lab.study.tables import signed

TEXT, DATA = "report.md", "report.json"
"""The files of a report, in the run's folder."""
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
    values = {**to_json(replace(study, tables=())), "tables": as_json(study.tables)}
    write_text(folder / DATA, json.dumps(values, indent=1, allow_nan=False) + "\n")


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
