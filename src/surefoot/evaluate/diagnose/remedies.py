"""A remedy for each way in which an answer fails: in words, and as settings of `surefoot.toml`."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from surefoot.config.settings import Config
from surefoot.evaluate.diagnose.evidence import holds, locatable
from surefoot.evaluate.diagnose.failures import graded
from surefoot.evaluate.diagnose.settings import SystemSettings, alike
from surefoot.evaluate.patch import Patch, refused
from surefoot.text import toml_values
from surefoot.types import Record

MOST_PASSAGES, MOST_OUTSIDE, MOST_STRIPS, MOST_TOKENS, MOST_CHARACTERS = 40, 60, 20, 800, 12000
"""A patch raises no size beyond these: what is read grows with them, and so do distractions, time and memory."""
MOST_TRIED = 6
"""Patches of an item, the alternatives with it."""
SPARED = 0.05
"""Share of the passages with evidence that a fitted lower threshold may give up, and of those without that may pass."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """One way to fail, in words whose lengths are those of a report; `remedies.toml` has them."""

    title: str
    what: str
    """The reason why the answer failed, in words that follow "because"."""
    gist: str
    """The same in words that follow "In 3 of 20 records", 10 to 25 of them."""
    cause: str
    cause_gist: str
    """One sentence of 15 to 35 words."""
    shown: str
    """Words that follow "3 of 20 records show it:", 19 to 34 of them."""
    fault: str
    """Three to five words that follow "46 of 52 answers need work; for 21 of them"."""
    advice: str
    do: str
    """A bullet for where no setting does it; it starts with a verb."""
    complement: str
    also: str
    trade: str
    metrics: tuple[str, ...]
    """Whose signature it is, the one that a repair moves most first."""
    settings: tuple[str, ...] = ()
    like: tuple[str, ...] = ()
    """Parts of names that other systems give such settings."""


Levers = Mapping[tuple[str, str], tuple[Any, ...]]
"""Values by section and key."""
_Fitting = Callable[[SystemSettings, Sequence[Record]], Patch]

_GRADE_BETTER: Patch = {"evaluator": {"use": "minilm"}}
_RERANK: Patch = {"retriever": {"use": "reranked", "of": "hybrid", "reranker": "minilm"}}
_REWRITE: Patch = {"policy": {"use": "none_relevant"}}
_SECOND_PLACE: Patch = {"generator": {"sure": 0.95}}
"""Quotes the next passage too unless the reader is all but sure of the first."""
_EXTRACT: Patch = {"generator": {"use": "extractive"}}
_WHOLE: Patch = {"refiner": {"mode": "selection"}}


def _raised(key: str, most: int, least: int = 0, times: int = 2) -> _Fitting:
    """A size set so many times as large, from `least` to `most`; empty: it is as large already, or not set."""
    section, _, name = key.partition(".")

    def fitting(settings: SystemSettings, _: Sequence[Record]) -> Patch:
        now = settings.now(key)
        return {section: {name: min(most, max(least, times * now))}} if isinstance(now, int) and now < most else {}

    return fitting


def _both(*parts: Patch | _Fitting) -> _Fitting:
    """Several patches of different sections in one."""
    return lambda *system: {k: v for part in parts for k, v in (part(*system) if callable(part) else part).items()}


def _read_more(settings: SystemSettings, _: Sequence[Record]) -> Patch:
    patch: Patch = {}
    if settings.use("refiner") == "strips" and (best := settings.now("refiner.best") or 5) < MOST_STRIPS:
        patch["refiner"] = {"best": min(MOST_STRIPS, 2 * best)}
    if settings.use("searcher") != "nowhere":
        patch["pipeline"] = {"external_keep": min(MOST_STRIPS, 2 * settings.now("pipeline.external_keep"))}
    return patch


def _down(value: float) -> float:
    """To two digits, and never up: scores are often tied, and all that lie at a threshold would fall."""
    return math.floor(100 * value) / 100


def _fit_thresholds(settings: SystemSettings, records: Sequence[Record]) -> Patch:
    """τ− below nearly all passages with evidence, τ+ above nearly all without, where that leaves room for evidence."""
    pairs = graded(records)
    good, bad = ([score for score, is_good in pairs if is_good is side] for side in (True, False))
    if not good:
        return {}
    lower = _down(float(np.quantile(good, SPARED)))
    upper = lower
    if bad:  # the first to two digits that lies above them
        upper = min(math.floor(100 * float(np.quantile(bad, 1 - SPARED)) + 1) / 100, _down(float(np.median(good))))
    return {"thresholds": {"upper": upper, "lower": min(lower, upper)}}


def _rewrite_queries(settings: SystemSettings, _: Sequence[Record]) -> Patch:
    return {"rewriter": {"use": "templates"}} if settings.use("rewriter") == "verbatim" else {}


def _keep_strips(settings: SystemSettings, records: Sequence[Record]) -> Patch:
    """The strip threshold just below nearly all strips with evidence; whole passages where it is not set by hand."""
    scores = [
        strip.score
        for record in records
        if record.trace and locatable(record.truths)
        for strip in record.trace.strips
        if strip.score is not None and holds(strip.text, record.truths)
    ]
    fitted = {"thresholds": {"strip": _down(float(np.quantile(scores, SPARED)))}} if scores else {}
    return _WHOLE if not fitted or refused(fitted, settings.values) else fitted


def _longer_strips(settings: SystemSettings, _: Sequence[Record]) -> Patch:
    if settings.use("refiner") != "strips" or settings.now("refiner.mode") == "selection":
        return {}
    if settings.now("refiner.mode") == "sentences":
        return {"refiner": {"size": 2 * settings.now("refiner.size")}}
    return _WHOLE


def _dare(settings: SystemSettings, _: Sequence[Record]) -> Patch:
    if settings.use("generator") != "extractive":
        return _EXTRACT
    least = settings.now("generator.least")
    return {"generator": {"least": min(least / 2, 0.2)}} if least > 0.05 else {}


def _fewer_distractions(settings: SystemSettings, _: Sequence[Record]) -> Patch:
    best = settings.now("refiner.best") or 5
    if settings.use("generator") != "extractive":
        return _EXTRACT
    if settings.use("refiner") != "strips":
        return {"refiner": {"use": "strips"}}
    if settings.now("refiner.mode") == "selection":
        return {"refiner": {"mode": "sentences"}}
    return {"refiner": {"best": max(2, best // 2)}} if best > 2 else {}


_PATCHES: dict[tuple[str, str], tuple[Patch | _Fitting, ...]] = {
    ("retrieval", "miss"): (
        _both(_raised("pipeline.k", MOST_PASSAGES, 10), {"retriever": {"use": "hybrid"}}),
        _raised("pipeline.k", MOST_PASSAGES, 20, times=4),
        _RERANK,
        _REWRITE,
    ),
    ("chunking", "split"): (_raised("pipeline.k", MOST_PASSAGES), _raised("pipeline.k", MOST_PASSAGES, times=4)),
    ("ranking", "late"): (_read_more, _RERANK),
    ("grading", "strict"): (_GRADE_BETTER, _fit_thresholds),
    ("grading", "lax"): (_GRADE_BETTER,),
    ("grading", "ungraded"): (_GRADE_BETTER,),
    ("thresholds", "strict"): (_fit_thresholds, _GRADE_BETTER),
    ("thresholds", "lax"): (_fit_thresholds, _GRADE_BETTER),
    ("search", "off"): ({"searcher": {"use": "wikipedia"}},),
    ("search", "nothing"): (_both(_rewrite_queries, _raised("pipeline.external_k", MOST_OUTSIDE)),),
    ("refinement", "dropped"): (_keep_strips, _WHOLE),
    ("refinement", "cut"): (_longer_strips, _WHOLE),
    ("truncation", "answer"): (_raised("generator.max_tokens", MOST_TOKENS, 100),),
    ("truncation", "sources"): (_raised("generator.max_characters", MOST_CHARACTERS),),
    ("grounding", "invented"): (_EXTRACT, {"verifier": {"use": "minilm"}}, _RERANK),
    ("grounding", "unanswerable"): (_fit_thresholds, {"verifier": {"use": "minilm"}}, _EXTRACT),
    ("refusal", "silent"): (_dare, _SECOND_PLACE, _RERANK),
    ("reading", "wrong"): (_fewer_distractions, _SECOND_PLACE, _RERANK, _read_more),
    ("format", "form"): (
        lambda settings, _: (
            {"generator": {"whole": True}}
            if settings.use("generator") == "extractive" and settings.now("generator.whole") is False
            else {}
        ),
    ),
}
"""Patches, or what makes one of the system's settings and records, the likeliest first; a fault that no setting mends
has none."""


_TABLES = TypeAdapter(dict[str, dict[str, Remedy]]).validate_python(toml_values.beside(__file__, "remedies.toml"))
REMEDIES = {(stage, kind): remedy for stage, kinds in _TABLES.items() for kind, remedy in kinds.items()}
"""The remedies by the stage and kind of a `failures.Failure`."""


def patches_of(
    stage: str,
    kind: str,
    config: Config | Mapping[str, Any],
    records: Sequence[Record],
    levers: Levers | None = None,
) -> tuple[Patch, ...]:
    """The changes that may mend the fault, the likeliest first: settings that are allowed and not in effect already; of
    a system that is not ours, the other values of its levers, by their names. Empty: none would, or none is known."""
    settings = SystemSettings(config)
    if not settings.ours:
        return _of_levers(REMEDIES[stage, kind].like, settings, levers or {})
    found = []
    for fitting in _PATCHES.get((stage, kind), ()):
        patch = fitting(settings, records) if callable(fitting) else fitting
        meant = {s: of for s, of in patch.items() if not refused({s: of}, config, outside=True)}
        new = {s: {key: v for key, v in of.items() if settings.now(f"{s}.{key}") != v} for s, of in meant.items()}
        found.append({section: of for section, of in new.items() if of})
    return tuple(patch for n, patch in enumerate(found) if patch and patch not in found[:n])[:MOST_TRIED]


def _of_levers(like: Sequence[str], settings: SystemSettings, levers: Levers) -> tuple[Patch, ...]:
    """The levers named like what mends the fault, in its order; then those whose names tell of no fault at all."""
    every = {part for remedy in REMEDIES.values() for part in remedy.like}
    rank = {lever: next((n for n, part in enumerate(like) if alike(lever[1], [part])), None) for lever in levers}
    rank |= {lever: len(like) for lever in levers if not alike(lever[1], [*every])}
    fitting = sorted((n, lever) for lever, n in rank.items() if n is not None)
    others = [
        {section: {key: value}}
        for _, (section, key) in fitting
        for value in levers[section, key]
        if value != settings.now(f"{section}.{key}")
    ]
    return tuple(others[:MOST_TRIED])
