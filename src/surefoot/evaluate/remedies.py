"""What to do about each way of losing a record: in words, and as settings of `surefoot.toml`."""

from __future__ import annotations

import inspect
import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from surefoot import components
from surefoot.config import DEFAULTS, VALUES, Config
from surefoot.errors import UsageError
from surefoot.evaluate.evidence import holds, locatable
from surefoot.evaluate.failures import graded
from surefoot.pipeline import SIZES, Pipeline
from surefoot.types import Record

Patch = dict[str, dict[str, Any]]
"""Settings by section and key."""

MOST_PASSAGES, MOST_OUTSIDE, MOST_STRIPS, MOST_TOKENS, MOST_CHARACTERS = 40, 60, 20, 800, 12000
"""A patch raises no size beyond these: what is read grows with them, and so do distractions, time and memory."""
SPARED = 0.05
"""Share of the passages with evidence that a fitted lower threshold may give up, and of those without that may pass."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The configuration of the system under test; of another system's, whatever it was told."""

    given: Mapping[str, Any]

    @property
    def ours(self) -> bool:
        """Whether a patch of `surefoot.toml` means anything to it."""
        return any(
            section in DEFAULTS and isinstance(of, Mapping) and "use" in of for section, of in self.given.items()
        )

    def use(self, role: str) -> str:
        """The component of a role."""
        return str(self.given.get(role, {}).get("use", DEFAULTS[role]["use"]))

    def now(self, key: str) -> Any:
        """The value of `section.key` that holds, be it a default; None: there is none, or nobody knows."""
        section, _, name = key.partition(".")
        of = self.given.get(section, {})
        if isinstance(of, Mapping) and name in of:
            return of[name]
        return _default(section, name, self) if self.ours else None

    def told(self, keys: Sequence[str], like: Sequence[str]) -> list[str]:
        """The settings that matter as `` `key` (now value) ``; of a system that is not ours, those named alike."""
        if self.ours:
            known = [(key, self.now(key)) for key in keys]
        else:
            known = [(key, value) for key, value in flat(self.given).items() if any(part in key for part in like)][:3]
        return [f"`{key}` (now {written(value)})" for key, value in known if value is not None]


@dataclass(frozen=True, slots=True)
class Remedy:
    """One way of losing records, in words whose lengths are those of a report (R-33); `remedies.toml` has them."""

    title: str
    what: str
    """Why they are lost, as it follows "because"."""
    gist: str
    """The same as it follows "In 3 of 20 records", in 10 to 25 words."""
    cause: str
    cause_gist: str
    """One sentence of 15 to 35 words."""
    shown: str
    """As it follows "3 of 20 records show it:", in 19 to 34 words."""
    where: str
    """The stage, in up to four words."""
    advice: str
    do: str
    """A bullet for where no setting does it; it starts with a verb."""
    complement: str
    also: str
    """The complement as a bullet."""
    trade: str
    metrics: tuple[str, ...]
    """Whose signature it is, the one that a repair moves most first."""
    settings: tuple[str, ...] = ()
    like: tuple[str, ...] = ()
    """Parts of names that other systems give such settings."""


def flat(config: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """The configuration's values by dotted key."""
    found: dict[str, Any] = {}
    for key, value in config.items():
        found |= flat(value, f"{before}{key}.") if isinstance(value, Mapping) else {f"{before}{key}": value}
    return found


def written(value: Any) -> str:
    """A value as a sentence shows it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def known_keys(config: Mapping[str, Any]) -> frozenset[str]:
    """Every `section.key` that the configuration has, or could have with the components that it names."""
    return frozenset([*flat(config), *flat(DEFAULTS), *_options_of(config)])


def _options_of(config: Mapping[str, Any]) -> list[str]:
    fixed = [f"pipeline.{size}" for size in SIZES] + [f"thresholds.{value}" for value in VALUES]
    roles = [role for role in DEFAULTS if "use" in DEFAULTS[role]]
    return fixed + [f"{role}.{name}" for role in roles for name in _options(role, Settings(config).use(role))]


def applies(patch: Any, config: Mapping[str, Any]) -> bool:
    """Whether a patch holds only settings that exist, by section and key, of components that there are."""
    if not isinstance(patch, Mapping) or not all(isinstance(of, Mapping) for of in patch.values()):
        return False
    chosen = {role: of["use"] for role, of in patch.items() if "use" in of}
    if not all(role in components.ROOMS and use in components.names(role) for role, use in chosen.items()):
        return False
    changed = {section: {**config.get(section, {}), **of} for section, of in patch.items() if section in DEFAULTS}
    keys = {f"{section}.{key}" for section, of in patch.items() for key in of}
    return keys <= {*flat(DEFAULTS), *_options_of({**config, **changed})}


# Patches


def _retrieve_more(settings: Settings, _: Sequence[Record]) -> Patch:
    k = settings.now("pipeline.k")
    patch: Patch = {"pipeline": {"k": min(MOST_PASSAGES, max(10, 2 * k))}} if k < MOST_PASSAGES else {}
    if settings.use("retriever") not in ("hybrid", "pgvector"):
        patch["retriever"] = {"use": "hybrid"}
    return patch


def _retrieve_neighbours(settings: Settings, _: Sequence[Record]) -> Patch:
    k = settings.now("pipeline.k")
    return {"pipeline": {"k": min(MOST_PASSAGES, 2 * k)}} if k < MOST_PASSAGES else {}


def _read_more(settings: Settings, _: Sequence[Record]) -> Patch:
    patch: Patch = {}
    if settings.use("refiner") == "strips" and (best := settings.now("refiner.best") or 5) < MOST_STRIPS:
        patch["refiner"] = {"best": min(MOST_STRIPS, 2 * best)}
    if settings.use("searcher") != "nowhere":
        patch["pipeline"] = {"external_keep": min(MOST_STRIPS, 2 * settings.now("pipeline.external_keep"))}
    return patch


def _grade_better(settings: Settings, _: Sequence[Record]) -> Patch:
    # Thresholds set by hand are in the scores of the evaluator that goes, and a patch cannot take them out.
    return {} if settings.given.get("thresholds") or settings.use("evaluator") == "minilm" else _MINILM


_MINILM: Patch = {"evaluator": {"use": "minilm"}}


def _fit_thresholds(settings: Settings, records: Sequence[Record]) -> Patch:
    """τ− below nearly all passages with evidence, τ+ above nearly all without, where that leaves room for evidence."""
    if not _by_hand(settings):
        return {}
    pairs = graded(records)
    good, bad = ([score for score, is_good in pairs if is_good is side] for side in (True, False))
    if not good:
        return {}
    lower = _down(float(np.quantile(good, SPARED)))
    upper = min(_up(float(np.quantile(bad, 1 - SPARED))), _down(float(np.median(good)))) if bad else lower
    return {"thresholds": {"upper": upper, "lower": min(lower, upper)}}


def _search_outside(settings: Settings, _: Sequence[Record]) -> Patch:
    return {"searcher": {"use": "wikipedia"}} if settings.use("searcher") == "nowhere" else {}


def _search_wider(settings: Settings, _: Sequence[Record]) -> Patch:
    patch: Patch = {"rewriter": {"use": "templates"}} if settings.use("rewriter") == "verbatim" else {}
    outside = settings.now("pipeline.external_k")
    return patch | ({"pipeline": {"external_k": min(MOST_OUTSIDE, 2 * outside)}} if outside < MOST_OUTSIDE else {})


def _keep_strips(settings: Settings, records: Sequence[Record]) -> Patch:
    """The strip threshold just below nearly all strips with evidence; whole passages where it is not set by hand."""
    scores = [
        strip.score
        for record in records
        if record.trace and locatable(record.truths)
        for strip in record.trace.strips
        if strip.score is not None and holds(strip.text, record.truths)
    ]
    if scores and _by_hand(settings):
        return {"thresholds": {"strip": _down(float(np.quantile(scores, SPARED)))}}
    return {"refiner": {"mode": "selection"}}


def _longer_strips(settings: Settings, _: Sequence[Record]) -> Patch:
    if settings.use("refiner") != "strips" or settings.now("refiner.mode") == "selection":
        return {}
    if settings.now("refiner.mode") == "sentences":
        return {"refiner": {"size": 2 * settings.now("refiner.size")}}
    return {"refiner": {"mode": "selection"}}


def _more_tokens(settings: Settings, _: Sequence[Record]) -> Patch:
    allowed = settings.now("generator.max_tokens")
    enough = isinstance(allowed, int) and allowed < MOST_TOKENS
    return {"generator": {"max_tokens": min(MOST_TOKENS, max(100, 2 * allowed))}} if enough else {}


def _more_room(settings: Settings, _: Sequence[Record]) -> Patch:
    room = settings.now("generator.max_characters")
    enough = isinstance(room, int) and room < MOST_CHARACTERS
    return {"generator": {"max_characters": min(MOST_CHARACTERS, 2 * room)}} if enough else {}


def _extract(settings: Settings, _: Sequence[Record]) -> Patch:
    return {} if settings.use("generator") == "extractive" else {"generator": {"use": "extractive"}}


def _dare(settings: Settings, _: Sequence[Record]) -> Patch:
    if settings.use("generator") != "extractive":
        return {"generator": {"use": "extractive"}}
    least = settings.now("generator.least")
    return {"generator": {"least": min(least / 2, 0.2)}} if least > 0.05 else {}


def _fewer_distractions(settings: Settings, _: Sequence[Record]) -> Patch:
    if settings.use("generator") != "extractive":
        return {"generator": {"use": "extractive"}}
    best = settings.now("refiner.best") or 5 if settings.use("refiner") == "strips" else 1
    return {"refiner": {"best": max(2, best // 2)}} if best > 2 else {}


def _whole_sentences(settings: Settings, _: Sequence[Record]) -> Patch:
    bare = settings.use("generator") == "extractive" and settings.now("generator.whole") is False
    return {"generator": {"whole": True}} if bare else {}


def _by_hand(settings: Settings) -> bool:
    """Whether thresholds can be set one by one: not those of a preset, a file or a cascade."""
    given = settings.given.get("thresholds", {})
    return not {"preset", "file"} & set(given) and settings.use("evaluator") != "cascade"


def _down(value: float) -> float:
    """To two digits, and never up: scores are often tied, and all that lie at a threshold would fall."""
    return math.floor(100 * value) / 100


def _up(value: float) -> float:
    return math.floor(100 * value + 1) / 100


def _options(role: str, use: str) -> list[str]:
    try:
        return list(inspect.signature(components.find(role, use)).parameters)
    except (UsageError, ValueError):
        return []


def _default(section: str, name: str, settings: Settings) -> Any:
    if section == "pipeline":
        return Pipeline.__dataclass_fields__[name].default if name in SIZES else None
    if name == "use":
        return DEFAULTS.get(section, {}).get("use")
    if section not in DEFAULTS or "use" not in DEFAULTS[section]:
        return None
    try:
        parameters = inspect.signature(components.find(section, settings.use(section))).parameters
    except (UsageError, ValueError):
        return None
    found = parameters[name].default if name in parameters else None
    return None if found is inspect.Parameter.empty else found


_PATCHES: dict[tuple[str, str], Callable[[Settings, Sequence[Record]], Patch]] = {
    ("retrieval", "miss"): _retrieve_more,
    ("chunking", "split"): _retrieve_neighbours,
    ("ranking", "late"): _read_more,
    ("grading", "strict"): _grade_better,
    ("grading", "lax"): _grade_better,
    ("grading", "ungraded"): _grade_better,
    ("thresholds", "strict"): _fit_thresholds,
    ("thresholds", "lax"): _fit_thresholds,
    ("search", "off"): _search_outside,
    ("search", "nothing"): _search_wider,
    ("refinement", "dropped"): _keep_strips,
    ("refinement", "cut"): _longer_strips,
    ("truncation", "answer"): _more_tokens,
    ("truncation", "sources"): _more_room,
    ("grounding", "invented"): _extract,
    ("refusal", "silent"): _dare,
    ("reading", "wrong"): _fewer_distractions,
    ("format", "form"): _whole_sentences,
}
"""What no setting mends has none."""


def _read() -> dict[tuple[str, str], Remedy]:
    text = (files("surefoot.evaluate") / "remedies.toml").read_text(encoding="utf-8")
    every = ((stage, kind, of) for stage, kinds in tomllib.loads(text).items() for kind, of in kinds.items())
    return {(stage, kind): Remedy(**dict(map(_value, of, of.values()))) for stage, kind, of in every}


def _value(key: str, value: Any) -> tuple[str, Any]:
    return key, tuple(value) if isinstance(value, list) else value


REMEDIES = _read()
"""By stage and kind of a `failures.Failure`."""


def patch_of(stage: str, kind: str, config: Config | Mapping[str, Any], records: Sequence[Record]) -> Patch:
    """The settings that mend it in this configuration; empty: none would, or it is not one of ours."""
    settings, fitting = Settings(config), _PATCHES.get((stage, kind))
    if fitting is None or not settings.ours:
        return {}
    return {section: dict(of) for section, of in fitting(settings, records).items()}
