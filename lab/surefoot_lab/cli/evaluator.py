"""`surefoot lab evaluator`: grade labelled pairs and count, or probe the grades; evaluators side by side."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Option

from surefoot import __version__
from surefoot.cli._configuration import ConfigFile, Settings, agreed
from surefoot.cli._console import counting, figure, out, plain, pulling, share, signed, write_json
from surefoot.config.builder import Builder
from surefoot.config.settings import Config, settings as overrides
from surefoot.run import manifest
from surefoot.stats.text import NONE
from surefoot.types import Thresholds
from surefoot.types.errors import UsageError
from surefoot_lab import grading, robustness
from surefoot_lab.cli._options import JsonFile, Limit
from surefoot_lab.datasets import pairs
from surefoot_lab.grading import ALL, GradingReport
from surefoot_lab.report import Form, Table, as_json, count, crossed, of, percent, short, show
from surefoot_lab.robustness import ProbeReport

SCHEMA = 2
"""Version of the JSON form: `schema`, `date`, the keys of `recorded`, `config` by evaluator, and the tables by name."""

_LEGEND = (
    "CORRECT: the share that has a relevant passage; INCORRECT: the share that has none. [95 % interval]\n"
    "all files: the mean over those where it is defined; actions and pairs/s of all together"
)
_PROBE_LEGEND = (
    "change: mean of score after less score before [95 % interval]; prob.: the same of the probability\n"
    "τ+, τ−: how many fell below it ↓ and rose to it ↑\n"
    "as expected, falls: of those at or above τ+, the share that fell below it; holds: the share with\n"
    "the same label as before; low: of irrelevant ones below τ+, the share that still is"
)


def evaluator(
    data: Annotated[list[Path], Argument(help="Labelled pairs: lines of {id, question, passages}.")],
    names: Annotated[
        list[str] | None,
        Option(
            "--evaluator",
            metavar="NAME",
            help="Instead of the configured one, with options as in 'minilm model=PATH'; again for one beside it.",
        ),
    ] = None,
    limit: Limit = None,
    blank: Annotated[
        Literal["question", "passage"] | None, Option("--blank", help="Control: hide this from the evaluator.")
    ] = None,
    probe: Annotated[
        bool, Option("--probe", help="Instead: how grades move when one thing about a pair is changed.")
    ] = False,
    json_file: JsonFile = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Grade labelled pairs and count: AUC, accuracy, calibration, actions, speed.

    Settings of evaluator and thresholds are for the first --evaluator; those beside it have the options that are named
    with them. Figures that take thresholds stay empty for one that has none yet.
    """
    if probe and blank:
        raise UsageError("--probe changes one thing about a pair and --blank hides one; use either")
    files = [pairs.read(path, limit) for path in data]
    if blank:
        files = [pairs.blanked(file, blank) for file in files]
    with pulling():
        builders = [Builder(chosen) for chosen in side_by_side(config, settings or [], names or [])]
        thresholds = [one.thresholds if probe else _thresholds(one) for one in builders]
    shown = _names(builders)
    each = list(zip(builders, thresholds, shown, strict=True))
    reports: list[Any] = []
    for builder, used, name in each:
        with counting(name) as on_progress:
            measure: Any = robustness.run if probe else grading.run
            reports.append(measure(builder.evaluator, files, on_progress, used, name))
    if probe:
        tables, legend, notes = _probe_tables(reports), _PROBE_LEGEND, _probe_notes(reports)
    else:
        tables, legend, notes = _tables(reports), _LEGEND, _notes(reports)
    configs = {name: one.config for one, _, name in each}
    write_json(json_file, {**recorded(limit), "blank": blank, "config": configs, **as_json(tables)})
    show(tables)
    out.print(legend, style="dim", soft_wrap=True)
    for _, used, name in each:
        at = f"τ+ {used.upper:.3g}, τ− {used.lower:.3g}" if used else "no thresholds, which surefoot lab tune would fit"
        out.say(f"{name}: {at}", "dim")
    for note in notes:
        out.say(note, "yellow")


def side_by_side(config: str | None, sets: list[str], names: list[str]) -> Iterator[Config]:
    """The configuration of each evaluator; options and thresholds of one mean nothing to another."""
    written = agreed(config)
    shared = [text for text in sets if not text.lstrip().startswith(("evaluator.", "thresholds."))]
    if not names:
        yield agreed(written, *overrides(sets))
    for place, text in enumerate(names):
        named = _named(text)
        own = named == {"use": written["evaluator"]["use"]}
        chosen = written if own else {**written, "evaluator": named, "thresholds": {}}
        yield agreed(chosen, *overrides(shared if place else sets))


def _named(text: str) -> dict[str, Any]:
    """The section that `NAME key=value …` stands for."""
    try:
        name, *options = shlex.split(text) or [""]
        if odd := [option for option in options if "=" not in option]:
            raise ValueError(f"'{odd[0]}' is no key=value")
    except ValueError as error:
        raise UsageError(f"--evaluator '{text}' is no NAME key=value …: {error}") from error
    section = {"use": name}
    for override in overrides(f"evaluator.{option}" for option in options):
        section |= override["evaluator"]
    return section


def recorded(limit: int | None) -> dict[str, Any]:
    """The part of a report that says how it was made."""
    date = datetime.now(UTC).isoformat(timespec="seconds")
    about = {"surefoot": __version__, "limit": limit, "environment": manifest.environment()}
    return {"schema": SCHEMA, "date": date, **about}


def _thresholds(builder: Builder) -> Thresholds | None:
    """None: the configuration has none, nor has the evaluator so far."""
    known = builder.config["thresholds"] or grading.own(builder.evaluator)
    return builder.thresholds if known else None


def _names(builders: Sequence[Builder]) -> list[str]:
    """The name of each evaluator: its short name, or the full one where several share it."""
    uses = [str(one.config["evaluator"]["use"]) for one in builders]
    return [plain(use if uses.count(use) == 1 else one.evaluator.name) for use, one in zip(uses, builders, strict=True)]


def rate(one: float | None) -> str:
    """A speed, a second."""
    return NONE if one is None else f"{one:,.{0 if one >= 10 else 1}f}"


_FIGURES: dict[str, dict[str, Form]] = {
    "pairs": {"ROC-AUC": figure, "average precision": figure, "ungraded": count, "pairs/s": rate},
    "labels": {
        **dict.fromkeys(("accuracy at τ+", "at probability .5"), figure),
        **dict.fromkeys(("ECE", "pooled ECE", "Brier", "evidence F1"), lambda one: share(one.value)),
    },
    "questions": {
        "question AUC": figure,
        "CORRECT": of,
        "AMBIGUOUS": lambda one: f"{one.count:,}" if one.of else NONE,
        "INCORRECT": of,
    },
    "titles": {"ranks 1–10, pairs": count, "majority": share, "accuracy at τ+": figure, "at probability .5": figure},
}
"""The headings of each table, and how their values are written."""


def _tables(each: Sequence[Sequence[GradingReport]]) -> list[Table]:
    """The figures of several evaluators on the same files, one below the other."""
    lines = [one for same in zip(*each, strict=True) for one in same]
    first = [one for one in each[0] if one.file != ALL]
    files = [(short(one.file), one.questions, one.pairs, one.relevant, one.unlabelled) for one in first]
    headings = {"questions": count, "pairs": count, "relevant": percent, "without a label, left out": count}
    tables = [Table("files", {"file": str, **headings}, files)]
    names: dict[str, Form] = {"file": str, "evaluator": str} if len(each) > 1 else {"file": str}
    for name, forms in _FIGURES.items():
        found = [(one, cells) for one in lines if (cells := _cells(one, name, forms))]
        rows = [((short(one.file), one.evaluator)[: len(names)] + cells) for one, cells in found]
        tables += [Table(name, {**names, **forms}, rows)] if rows else []
    return tables


def _cells(one: GradingReport, name: str, forms: Mapping[str, Form]) -> tuple[Any, ...] | None:
    if name == "titles":
        return one.titles
    right = {action: right for action, (_, right) in one.decisions.items()}
    right["AMBIGUOUS"] = one.decisions["AMBIGUOUS"][0]
    known = {**one.figures, **right, "ungraded": one.ungraded, "pairs/s": one.per_second}
    return tuple(known[heading] for heading in forms)


def _notes(each: Sequence[Sequence[GradingReport]]) -> Iterator[str]:
    """Each reason why a figure is undefined, with the files; and what could not be graded."""
    lines = [one for reports in each for one in reports if one.file != ALL]
    files: dict[str, dict[str, None]] = {}
    for one in lines:
        for found in one.figures.values():
            if found.undefined:
                files.setdefault(found.undefined, {})[short(one.file)] = None
    yield from (f"– {reason}: {', '.join(where)}" for reason, where in files.items())
    yield from (f"{short(one.file)}, {one.evaluator}: {note}" for one in lines for note in one.notes)


_PROBES: dict[str, Form] = {
    "probe": str,
    "expected": str,
    "pairs": count,
    "change": lambda one: f"{_sign(one.value)}{'' if one.low is None else f' [{_sign(one.low)}, {_sign(one.high)}]'}",
    "prob.": lambda one: _sign(one.value),
    **dict.fromkeys(("τ+", "τ−"), crossed),
    "as expected": lambda one: "" if one is None else of(one),
}


def _sign(value: float | None) -> str:
    """A score may be a logit: three decimals below 1, fewer above."""
    if value is None or abs(value) < 0.9995:
        return signed(value)
    return f"{value:+.{2 if abs(value) < 10 else 1}f}".replace("-", "−")


def _probe_tables(each: Sequence[Sequence[ProbeReport]]) -> list[Table]:
    """A table for each file and evaluator, so that the evaluators stand below one another."""
    tables = []
    for one in (one for same in zip(*each, strict=True) for one in same):
        rows = [
            (f.probe, f.expects, f.pairs, f.score_change, f.probability_change, f.upper, f.lower, f.as_expected)
            for f in one.findings
        ]
        name = f"{short(one.file)} · {one.evaluator}"
        pairs = f"{one.relevant:,} relevant and {one.irrelevant:,} irrelevant pairs"
        tables.append(Table(name, _PROBES, rows, f"{name} · {pairs}"))
    return tables


def _probe_notes(each: Sequence[Sequence[ProbeReport]]) -> Iterator[str]:
    """A line for pairs that could not be graded or were left out, with the reason."""
    for one in (one for reports in each for one in reports):
        about = f"{short(one.file)}, {one.evaluator}"
        for finding in one.findings:
            for reason, number in finding.ungraded.items():
                yield f"{about}: {finding.probe}: {number:,} could not be graded: {reason}"
        yield from (f"{about}: {note}" for note in one.notes)
    for one in each[0]:
        reasons: dict[str, list[str]] = {}
        for finding in one.findings:
            for reason, number in finding.left_out.items():
                reasons.setdefault(reason, []).append(f"{finding.probe} {number:,}")
        yield from (f"{short(one.file)}: left out, {reason}: {', '.join(some)}" for reason, some in reasons.items())
