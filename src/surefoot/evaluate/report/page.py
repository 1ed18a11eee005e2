"""A run's folder as one HTML file that needs nothing else: no server, no network, no other file.

The file's policy admits only its own script and style, and lets no script make markup of text. The run lies in it
compressed, its records in parts that are opened when one of them is looked at.
"""

import gzip
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from surefoot import web
from surefoot.evaluate.diagnose.outcomes import STEPS
from surefoot.evaluate.diagnose.verdicts import CalibrationReport
from surefoot.evaluate.patch import toml_lines
from surefoot.evaluate.records.redaction import share_safe
from surefoot.evaluate.score import lexical
from surefoot.evaluate.score.slices import Slice
from surefoot.judges._diamond import recorded
from surefoot.run.store import from_json, keyed, read_value, require_schema, to_json
from surefoot.types import Diagnosis, Metric, Record, RecordOutcome, Score, Summary
from surefoot.types.errors import UsageError

PART = 20
"""Records that are compressed together: more of them make a smaller file, fewer open faster."""
SLICES = 8
"""Slices that the page shows, at most."""
SEARCHED = 600
"""Characters of a question, an answer, the truths and a reason that the list of records knows, and so finds."""
BINS = 10
"""Bars of a histogram."""

_SHAREABLE = ("created", "surefoot", "judges", "temperature", "seeds")
"""The keys of `run.json` that hold no texts, paths or settings."""
_SCRIPTS = tuple(
    "language dom words blocks confidence charts evidence diamond slices overview item records claims labels record "
    "run viewer".split()
)
"""Scripts that are joined in this order."""

_ASIDES = {**dict.fromkeys(lexical.LABELS, "words"), "grading_note": "structure", "context_adherence": "faithfulness"}
"""A word behind the edge of a metric."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a run's folder, as plain JSON in the shape of the values that it was made from."""

    name: str
    about: Json
    """The contents of `run.json`; empty: there is none."""
    records: Mapping[str, Json]
    scores: Mapping[str, Sequence[Json]]
    """Scores by record; a record without any is left out."""
    attributions: Mapping[str, Json]
    summaries: Sequence[Json] | None
    """None: the scores are not summed up."""
    slices: Sequence[Json]
    """Means by tag; empty: no record has one."""
    calibration: Sequence[str]
    """In words; empty: people labelled nothing."""
    diagnosis: Json | None
    """None: there is none."""
    outcomes: Mapping[str, Json]
    """What became of each record; empty: it was not asked."""
    ledger: Sequence[Json]
    """Empty: no change was tried."""


def read(folder: Path) -> Contents:
    """The contents of a run's folder; a torn last line is not read. Raises UsageError where there are no records,
    TraceFault, naming the place, for what is damaged."""
    if not (folder / "records.jsonl").is_file():
        raise UsageError(f"{folder} is no folder of an evaluation: it has no records.jsonl; run: surefoot evaluate")
    scores: dict[str, list[Json]] = {}
    for score in _lines(folder / "scores.jsonl", Score).values():
        scores.setdefault(score["record_id"], []).append(score)
    return Contents(
        name=folder.resolve().name,
        about=_checked(folder / "run.json", dict) or {},
        records={record["id"]: record for record in _lines(folder / "records.jsonl", Record).values()},
        scores=scores,
        attributions=_lines(folder / "attributions.jsonl"),
        summaries=_checked(folder / "summaries.json", tuple[Summary, ...]),
        slices=_checked(folder / "slices.json", tuple[Slice, ...]) or (),
        calibration=read_value(file, CalibrationReport).lines if (file := folder / "calibration.json").exists() else (),
        diagnosis=_checked(folder / "diagnosis.json", Diagnosis),
        outcomes={one["record_id"]: one for one in _checked(folder / "outcomes.json", tuple[RecordOutcome, ...]) or ()},
        ledger=tuple(_lines(folder / "ledger.jsonl").values()),
    )


def shared(contents: Contents) -> Contents:
    """A copy to hand on: every figure of records, scores and summaries, and none of their texts
    (`redaction.share_safe`).

    Texts about the run quote it, and are left out, as are its settings. Raises TraceFault for a damaged record or
    trace.
    """
    known = [from_json(Record, one) for one in contents.records.values()]
    judged = [from_json(Score, one) for scores in contents.scores.values() for one in scores]
    records, safe = share_safe(known, judged)
    scores: dict[str, list[Json]] = {}
    for score in safe:
        scores.setdefault(score.record_id, []).append(to_json(score))
    ids = zip(contents.records, (record.id for record in records), strict=True)
    return Contents(
        name="An evaluation without its texts",
        about={name: contents.about[name] for name in _SHAREABLE if name in contents.about},
        records={record.id: to_json(record) for record in records},
        scores=scores,
        attributions={},
        summaries=contents.summaries and [{**one, "unscored_because": {}} for one in contents.summaries],
        slices=(),
        calibration=(),
        diagnosis=None,
        outcomes={new: {**contents.outcomes[old], "reason": ""} for old, new in ids if old in contents.outcomes},
        ledger=(),
    )


def page(contents: Contents) -> str:
    """The file's text. The same contents give the same text."""
    style, script = web.static("viewer.css"), web.joined(_SCRIPTS)
    blocks: list[tuple[str, Any]] = [("head", _head(contents)), ("index", _index(contents))]
    scores, attributions = contents.scores, contents.attributions
    whole = [
        {"record": record, "scores": scores.get(name, ()), "attribution": attributions.get(name)}
        for name, record in contents.records.items()
    ]
    blocks += [(f"part-{n // PART}", whole[n : n + PART]) for n in range(0, len(whole), PART)]
    compress = partial(gzip.compress, compresslevel=6, mtime=0)
    packed = ((name, web.packed(value, compress)) for name, value in blocks)
    data = "\n".join(f'<script type="text/plain" id="{name}">{value}</script>' for name, value in packed)
    head = {"LANGUAGE": "en", "POLICY": policy(), "TITLE": "Evaluation", "STYLE": style}
    return web.filled("viewer.html", **head, TEXTS=web.texts_of(script, "en"), SCRIPT=script, DATA=data)


def policy() -> str:
    """The page's Content-Security-Policy: its own script and style, and nothing else."""
    return web.policy(web.joined(_SCRIPTS), web.static("viewer.css"))


def _head(contents: Contents) -> Json:
    """All that the overview needs."""
    settings = _settings(contents)
    items = (contents.diagnosis or {}).get("items", ())
    return {
        "name": contents.name,
        "about": contents.about,
        "settings": settings,
        "records": len(contents.records),
        "summaries": contents.summaries,
        "slices": [one for one in contents.slices if one["mean"] < one["rest"]][:SLICES],
        "sliced": len(contents.slices),
        "calibration": contents.calibration,
        "diagnosis": contents.diagnosis,
        "metrics": [_words(one) for one in (*recorded(contents.about).values(), *lexical.METRICS.values())],
        "patches": [list(toml_lines(item.get("patch", {}), settings)) for item in items],
        "traced": any(record.get("trace") for record in contents.records.values()),
        "funnel": _funnel(contents),
        "histograms": _histograms(contents),
        "ledger": contents.ledger,
    }


def _funnel(contents: Contents) -> Json | None:
    """How many answers are undecided, and what each step lost, by stage; None: it was not asked. A step that no record
    can show is left out."""
    if not contents.outcomes:
        return None
    records, ends = contents.records.values(), contents.outcomes.values()
    traced = any(record.get("trace") for record in records)
    sourced = traced or any(record.get("contexts") is not None for record in records)
    shown = {"retrieved": sourced, "kept": traced, "read": traced, "grounded": sourced, "right": True}
    lost = {step: Counter(one["stage"] for one in ends if one["step"] == step) for step in STEPS}
    steps = [{"name": step, "lost": stages} for step, stages in lost.items() if stages or shown.get(step)]
    return {"undecided": sum(one["verdict"] == "undecided" for one in ends), "steps": steps}


def _histograms(contents: Contents) -> Json:
    """Of each metric, the number of values in each of `BINS` equal parts of [0, 1], from the lowest."""
    found: dict[str, list[int]] = {}
    for score in (score for scores in contents.scores.values() for score in scores):
        counts = found.setdefault(score["metric"], [0] * BINS)
        if score.get("value") is not None:
            counts[min(int(score["value"] * BINS), BINS - 1)] += 1
    return found


def _words(metric: Metric) -> Json:
    """A metric's words on the page, and its corners where it has a place in the diamond."""
    ends = " → ".join("ground truth" if corner == "truth" else corner for corner in dict.fromkeys(metric.edge))
    return {
        "name": metric.name,
        "label": lexical.LABELS.get(metric.name) or metric.name.replace("_", " ").capitalize(),
        "edge": f"{ends} ({_ASIDES[metric.name]})" if metric.name in _ASIDES else ends,
        "corners": metric.edge if metric.levels else None,
    }


def _settings(contents: Contents) -> Json:
    """The configuration that all traces share; else what the run says it is; empty: neither tells."""
    found = [config for one in contents.records.values() if (config := (one.get("trace") or {}).get("config"))]
    if found:
        return found[0] if all(config == found[0] for config in found) else {}
    texts = contents.about.get("config")
    return texts if isinstance(texts, dict) else {}


def _index(contents: Contents) -> Json:
    """A row of the list for each record: id, question, answer and truths, tags, action; its outcome as verdict, step,
    stage and reason; then what each metric scores: a number, "unscored", "n/a", or nothing."""
    metrics = list(dict.fromkeys(score["metric"] for scores in contents.scores.values() for score in scores))
    rows = []
    for record in contents.records.values():
        values: dict[str, float | str] = dict.fromkeys(metrics, "")
        for score in contents.scores.get(record["id"], ()):
            number, missing = score.get("value"), "unscored" if score.get("applies", True) else "n/a"
            values[score["metric"]] = missing if number is None else number
        texts = [str(record.get("answer") or "")[:SEARCHED], " / ".join(record.get("truths", ()))[:SEARCHED]]
        action = ((record.get("trace") or {}).get("decision") or {}).get("action", "")
        question, tags = record["question"][:SEARCHED], record.get("tags", {})
        end = contents.outcomes.get(record["id"], {})
        outcome = [str(end.get(name, ""))[:SEARCHED] for name in ("verdict", "step", "stage", "reason")]
        rows.append([record["id"], question, texts, tags, action, outcome, [*values.values()]])
    return {"metrics": metrics, "part": PART, "rows": rows}


def _lines(path: Path, kind: type[Any] | None = None) -> dict[str, Json]:
    """The values of a file by key, the last of each. `kind` checks them, and brings their trace to today's schema."""
    found: dict[str, Json] = {}
    for where, key, value in keyed(path) if path.exists() else ():
        trace = value.get("trace") if kind and isinstance(value, dict) else None
        if kind:
            from_json(kind, {**value, "trace": None} if trace else value, where)
        found[key] = {**value, "trace": require_schema(trace, where)} if trace else value
    return found


def _checked(path: Path, kind: Any) -> Any:
    """The contents of a JSON file, which have to be of this kind; None: there is no such file."""
    return to_json(read_value(path, kind)) if path.exists() else None
