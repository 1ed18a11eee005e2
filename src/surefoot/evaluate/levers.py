"""What can be changed in a configuration: levers that answer a fault, and the two controls, one that changes nothing
and one that changes something at random."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any

from surefoot import components
from surefoot.bench import given
from surefoot.config import Builder, Config
from surefoot.errors import UsageError
from surefoot.evaluate.patched import Patch, shown, tried
from surefoot.pipeline import SIZES, Pipeline
from surefoot.types import Action, ActionItem, Diagnosis, Priority, Record, Score, Summary, Thresholds, Trace

ITEMS = 4
"""At most so many are proposed."""
SHOWN = 5
"""Records that an item names."""
DRAWS = 50
"""So often a random patch is drawn before there is said to be none."""

LONGER = (5, 10, 20)
"""Passages asked for: a longer list is one step longer. Each is graded, so that time grows with it."""

BUILT = ("retriever", "evaluator", "refiner", "rewriter", "searcher", "generator")
"""Sections of the components that every pipeline has."""

CHOICES: dict[tuple[str, str], tuple[Any, ...]] = {
    ("pipeline", "k"): (1, 2, 3, 5, 8, 10, 15, 20),
    ("retriever", "use"): ("bm25", "dense", "hybrid"),
    ("evaluator", "use"): ("minilm", "lexical"),
    ("policy", "use"): ("threshold", "count"),
    ("refiner", "mode"): ("sentences", "fixed_num", "excerption", "selection"),
    ("refiner", "size"): (1, 2, 3, 4, 6),
    ("refiner", "best"): (1, 2, 3, 5, 8),
    ("generator", "least"): (0.05, 0.1, 0.2, 0.3, 0.4, 0.6),
    ("generator", "whole"): (True, False),
}
"""Settings that a random lever draws from, and their values; those of components that are not configured do not build,
and are drawn again. What does nothing without a search is not among them: it would be another placebo."""
SEARCHED: dict[tuple[str, str], tuple[Any, ...]] = {
    ("pipeline", "external_k"): (5, 10, 30, 50),
    ("pipeline", "external_keep"): (1, 3, 5, 8),
    ("pipeline", "rounds"): (1, 2, 3),
    ("rewriter", "use"): ("templates", "verbatim"),
}
"""The same where a searcher is configured."""
SHIFTS = (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0)
"""Of the evaluator's own thresholds, in quarters of the distance between them."""


@dataclass(frozen=True, slots=True)
class Lever:
    """A change that answers a fault which traces show."""

    title: str
    stage: str
    patch: Callable[[Config, Thresholds], Patch]
    """Of this configuration, and of its evaluator's own thresholds; empty: there is nothing to change."""
    shows: Callable[[Trace, Thresholds], bool]
    """Whether a question had the fault."""
    fault: str
    """In words that stand behind "of n questions"."""
    why: str
    cost: str


def proposed(
    records: Sequence[Record], scores: Sequence[Score], summaries: Sequence[Summary], config: Config
) -> Diagnosis:
    """The levers that would change anything, those first from which most is to be expected.

    The gain that is predicted: that the questions which show the fault will fare as the others do. Simple rules, over
    traces only; an item without questions that show its fault is still one, from which nothing is expected.
    """
    own = Builder(config).evaluator.thresholds
    metric = scores[0].metric if scores else ""
    fared = {score.record_id: score.value for score in scores if score.metric == metric and score.value is not None}
    items = [_item(lever, lever.patch(config, own), records, fared, metric, own) for lever in LEVERS]
    there = sorted((item for item in items if item.patch), key=lambda item: -(item.predicted or 0.0))[:ITEMS]
    best = there[0].title if there else "nothing that the catalogue knows"
    said = f"{len(records)} questions were read; {len(there)} changes are worth trying."
    return Diagnosis(said, said, (), tuple(there), f"First to try: {best}.", "rules")


def drawn(config: Config, settings: int, seed: int, chosen: Patch, outside: bool = False) -> Patch:
    """A random patch that can be built, of other settings than the chosen one: another value of the same setting would
    be the same lever. Of so many settings, or of fewer where `DRAWS` draws find none; the same for a seed. Raises
    UsageError where not even one can be changed.
    """
    own, chance = Builder(config).evaluator.thresholds, random.Random(f"{seed}:{settings}")  # noqa: S311 - no secret
    searches = config["searcher"].get("use") != "nowhere"
    spread = {**CHOICES, **(SEARCHED if searches else {}), **_shifted(own)}
    free = {
        (section, key): kept
        for (section, key), every in spread.items()
        if key not in chosen.get(section, {}) and _has(config, section, key)
        if (kept := [value for value in every if value != effective(config, section, key)])
    }
    for many in range(min(settings, len(free)), 0, -1):
        for _ in range(DRAWS):
            patch: dict[str, dict[str, Any]] = {}
            for section, key in chance.sample(sorted(free), many):
                patch.setdefault(section, {})[key] = chance.choice(free[section, key])
            if _ordered(config, patch, own) and _builds(config, patch, outside):
                return patch
    raise UsageError(f"no random patch could be built in {DRAWS} draws; there is nothing to hold a change against")


def placebo(config: Config, settings: int, seed: int) -> Patch:
    """A patch of so many settings, each to the value that is in effect already: a change that does nothing.

    It is made of defaults that the configuration does not write out, as far as there are so many, so that the file
    changes and the pipeline does not. `inert` proves that.
    """
    chance = random.Random(f"{seed}:placebo")  # noqa: S311 - no secret
    known = [(role, key) for role in config for key in _defaults(config, role)]
    silent = [place for place in known if place[1] not in config[place[0]]]
    said = [(role, key) for role in config for key in config[role] if key in _defaults(config, role)]
    chosen = chance.sample(silent, min(settings, len(silent)))
    chosen += chance.sample(said, min(settings - len(chosen), len(said)))
    patch: dict[str, dict[str, Any]] = {}
    for section, key in chosen:
        patch.setdefault(section, {})[key] = effective(config, section, key)
    return patch


def inert(config: Config, patch: Patch) -> bool:
    """Whether each setting of the patch has the value that is in effect without it."""
    return all(effective(config, s, key) == value for s, values in patch.items() for key, value in values.items())


def effective(config: Config, section: str, key: str) -> Any:
    """The value in effect: what is configured, else the default of the component; None: neither says one."""
    return config[section].get(key, _defaults(config, section).get(key))


def _defaults(config: Config, section: str) -> dict[str, Any]:
    """The defaults, other than None, of a section's numbers, truth values and names."""
    if section == "pipeline":
        return {f.name: f.default for f in fields(Pipeline) if f.name in SIZES and f.default is not MISSING}
    if section not in BUILT or config[section].get("use") == given.USE:
        return {}
    found = {name: one.default for name, one in _parameters(config, section).items()}
    return {name: value for name, value in found.items() if isinstance(value, bool | int | float | str)}


def _parameters(config: Config, section: str) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(components.find(section, config[section]["use"])).parameters


def _has(config: Config, section: str, key: str) -> bool:
    """Whether the configured component has this option."""
    return key == "use" or section not in BUILT or key in _parameters(config, section)


def _ordered(config: Config, patch: Patch, own: Thresholds) -> bool:
    """Before a model is loaded to find that out."""
    there = {"upper": own.upper, "lower": own.lower, **config["thresholds"], **patch.get("thresholds", {})}
    return bool(there["lower"] <= there["upper"])


def _builds(config: Config, patch: Patch, outside: bool) -> bool:
    try:
        tried(config, patch, outside)
    except UsageError:
        return False
    return True


def _shifted(own: Thresholds) -> dict[tuple[str, str], tuple[Any, ...]]:
    quarter = (own.upper - own.lower) / 4
    every = {"upper": own.upper, "lower": own.lower, "strip": own.strip}
    return {("thresholds", k): tuple(round(v + shift * quarter, 3) for shift in SHIFTS) for k, v in every.items()}


def _item(
    lever: Lever, patch: Patch, records: Sequence[Record], fared: Mapping[str, float], metric: str, own: Thresholds
) -> ActionItem:
    cases = [r.id for r in records if r.id in fared and r.trace and not r.trace.error and lever.shows(r.trace, own)]
    worst = tuple(sorted(cases, key=lambda id: fared[id]))[:SHOWN]
    predicted = _expected([fared[id] for id in cases], [v for id, v in fared.items() if id not in set(cases)])
    share = f"{len(cases)} of {len(fared)} questions {lever.fault}."
    change = f"Set {shown(patch)}." if patch else ""
    level: Priority = "critical" if (predicted or 0) >= 0.2 else "high" if (predicted or 0) >= 0.05 else "medium"
    return ActionItem(
        lever.title, level, share, share, lever.why, lever.why, share, share, f"{change} {lever.cost}", f"- {change}",
        lever.stage, (metric,) if metric else (), worst, {s: dict(values) for s, values in patch.items()}, predicted,
    )  # fmt: skip


def _expected(cases: Sequence[float], others: Sequence[float]) -> float | None:
    """What the mean would gain if the cases fared as the others do; None: nothing, or nobody can tell."""
    if not cases or not others:
        return None
    gap = sum(others) / len(others) - sum(cases) / len(cases)
    return gap * len(cases) / (len(cases) + len(others)) if gap > 0 else None


def _only(section: str, values: dict[str, Any], config: Config) -> Patch:
    """What of this is not in effect."""
    new = {key: value for key, value in values.items() if effective(config, section, key) != value}
    return {section: new} if new else {}


def _more(config: Config, own: Thresholds) -> Patch:
    k = effective(config, "pipeline", "k")
    return {"pipeline": {"k": next(step for step in LONGER if step > k)}} if k < LONGER[-1] else {}


def _fused(config: Config, own: Thresholds) -> Patch:
    return _only("retriever", {"use": "hybrid"}, config) if config["retriever"]["use"] in ("bm25", "dense") else {}


def _sentences(config: Config, own: Thresholds) -> Patch:
    if config["refiner"]["use"] != "strips":
        return {"refiner": {"use": "strips"}}
    return _only("refiner", {"mode": "sentences"}, config)


def _fitted(config: Config, own: Thresholds) -> Patch:
    """The evaluator's own, written out where others are: a patch can set a value, and not take one away."""
    given = config["thresholds"]
    fitted = {"upper": own.upper, "lower": own.lower, "strip": own.strip}
    new = {key: value for key, value in fitted.items() if given.get(key, value) != value}
    return {"thresholds": new} if new else {}


def _trained(config: Config, own: Thresholds) -> Patch:
    by_hand = config["thresholds"]
    return {"evaluator": {"use": "minilm"}} if config["evaluator"]["use"] == "lexical" and not by_hand else {}


def _bolder(config: Config, own: Thresholds) -> Patch:
    if config["generator"]["use"] != "extractive":
        return {}
    least = effective(config, "generator", "least")
    return {"generator": {"least": round(least / 2, 3)}} if least > 0.01 else {}


def _searching(config: Config, own: Thresholds) -> Patch:
    return {"searcher": {"use": "wikipedia"}} if config["searcher"]["use"] == "nowhere" else {}


def _missing(trace: Trace, own: Thresholds) -> bool:
    """Nothing that was retrieved looks as if it held the answer."""
    likely = [g.probability >= 0.5 if g.probability is not None else g.label is Action.CORRECT for g in trace.grades]
    return not any(likely)


def _long(trace: Trace, own: Thresholds) -> bool:
    texts = {passage.id: passage.text for passage in trace.passages + trace.external}
    return any(s.kept and len(s.text) > 600 and s.text == texts.get(s.passage_id, "").strip() for s in trace.strips)


def _otherwise(trace: Trace, own: Thresholds) -> bool:
    """The evaluator's own thresholds would have read another passage, or kept another strip."""
    was = trace.decision
    passages = [g.score for g in trace.grades if g.score is not None]
    moved = was is not None and any((s >= was.lower) != (s >= own.lower) for s in passages)
    return moved or any(s.kept and s.score is not None and s.score < own.strip for s in trace.strips)


def _refused(trace: Trace, own: Thresholds) -> bool:
    """With evidence in hand."""
    return bool(trace.answer and trace.answer.refused and any(strip.kept for strip in trace.strips))


def _empty_handed(trace: Trace, own: Thresholds) -> bool:
    return trace.decision is not None and trace.decision.action is not Action.CORRECT


LEVERS = (
    Lever(
        "Find what a longer list holds",
        "retrieval",
        _more,
        _missing,
        "have no passage that is likely to hold the answer",
        "The list of passages ends before the one that answers.",
        "Each further passage is one more to grade.",
    ),
    Lever(
        "Find what is said in other words",
        "ranking",
        _fused,
        _missing,
        "have no passage that is likely to hold the answer",
        "One way of looking misses what the other finds.",
        "It takes one embedding and one more search a question.",
    ),
    Lever(
        "Read sentences, not whole passages",
        "refinement",
        _sentences,
        _long,
        "are answered from long passages that were kept whole",
        "The reader has to find the answer among much that has nothing to do with it.",
        "Each strip is one more to grade.",
    ),
    Lever(
        "Let go of what does not help",
        "grading",
        _fitted,
        _otherwise,
        "are answered from what the evaluator's own thresholds would have dropped",
        "The thresholds are not those that were fitted for the evaluator.",
        "It may refuse more.",
    ),
    Lever(
        "Grade by meaning",
        "grading",
        _trained,
        _missing,
        "have no passage that is graded as holding the answer",
        "An evaluator that counts words misses what is said in others.",
        "A graded pair takes some ten milliseconds instead of none.",
    ),
    Lever(
        "Answer where there is evidence",
        "refusal",
        _bolder,
        _refused,
        "were refused although evidence was kept",
        "The reader keeps silent where it is unsure.",
        "More of what is answered may be wrong.",
    ),
    Lever(
        "Look elsewhere where the corpus has nothing",
        "search",
        _searching,
        _empty_handed,
        "were not answered from a passage graded CORRECT",
        "What the corpus lacks is not looked for anywhere else.",
        "Questions leave the machine; it has to be allowed with --outside.",
    ),
)
"""In the order in which they are proposed where the same is expected of them."""
