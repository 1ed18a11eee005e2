"""All that is wrong with a configuration, as far as it shows before anything is built."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, get_args

from surefoot import components
from surefoot.evidence.answer_policy import AnswerPolicy
from surefoot.evidence.ranking import Decompose
from surefoot.evidence.sources import Sources
from surefoot.index.search import Index
from surefoot.judges._diamond import metrics as diamond
from surefoot.network import Network
from surefoot.pipeline import SIZES
from surefoot.run.cost import Budget
from surefoot.types.errors import ConfigError, MissingExtra

VALUES = ("upper", "lower", "strip")
"""Thresholds that `[thresholds]` can replace one by one."""

LIMITS = (
    *"in_flight requests_per_minute tokens_per_minute timeout retries patience seconds".split(),
    *"input_price output_price budget cache".split(),
)
"""Keys of `[judge]` that say how fast and for how much is judged, and change no score."""

_MAY_BE_NONE = ("retries", "patience", "input_price", "output_price")
"""Keys of `LIMITS` that may be 0."""

JUDGING = ("repeats", "excuses", "max_tokens")
"""Keys of `[judge]` that are options of each language model's judge."""

PRICES = ("input_price", "output_price")
"""Keys of a language model's section that are no option of the component: what a million tokens cost."""

_BUDGET = tuple(field.name for field in fields(Budget))

BY_SOURCE = "external"
"""The key of `[thresholds]` whose table is for passages from outside."""

SHARED = (*"network index embedder llm evaluator verifier reader retrievers evaluators thresholds".split(),)
"""Constructor parameters that are given a part of the pipeline and are no option."""

OBJECT = "object"
"""The key, which is true, of a section whose component was given as an object; `use` is its class."""

LISTS = {"retrievers", "evaluators"}
"""Shared parts that are options too: the option names the parts to build."""


def options_of(section: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a component's section: all keys but `use`, and the prices of a language model."""
    return {key: value for key, value in section.items() if key not in ("use", *PRICES)}


def taken(role: str, options: Mapping[str, Any]) -> Iterator[str]:
    """Each option that names a shared part."""
    for key in sorted(options.keys() & {*SHARED} - LISTS):
        yield f"[{role}] has no key '{key}'; what is shared has a section of its own: [{key}]"


def pipeline_faults(options: Mapping[str, Any]) -> Iterator[str]:
    """The faults of `[pipeline]`, whose keys are sizes, and what is decomposed."""
    for key, value in options.items():
        if key == "decompose":
            if value not in (known := get_args(Decompose)):
                yield f"[pipeline] decompose must be one of {', '.join(known)}, not {value!r}"
        elif key not in SIZES:
            yield components.misnamed("[pipeline] has no key", key, (*SIZES, "decompose"), "it has")
        elif not isinstance(value, int) or value < 1:
            yield f"[pipeline] {key} must be a whole number from 1 up, not {value!r}"


def budget_faults(config: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The faults of `[budget]`, and of the prices by which it counts money."""
    for key, value in config["budget"].items():
        whole = key in ("calls", "tokens")
        if key in _BUDGET and not (_limits(value, False) and (isinstance(value, int) or not whole)):
            yield f"[budget] {key} must be a {'whole ' if whole else ''}number above 0, not {value!r}"
    told = [key for key in PRICES if key in config["llm"]]
    for key in told:
        if not _limits(config["llm"][key], True):
            yield f"[llm] {key}, of a million tokens, must be a number from 0 up, not {config['llm'][key]!r}"
    if len(told) == 1:
        yield "[llm] input_price and output_price, of a million tokens each, come together"
    if "money" in config["budget"] and not told:
        yield (
            "[budget] money needs prices, and [llm] has none; set input_price and output_price there, of a million "
            "tokens, or set [budget] tokens instead"
        )


def by_hand_faults(values: Mapping[str, Any]) -> Iterator[str]:
    """The faults of thresholds that are set one by one."""
    for key, value in values.items():
        if key not in VALUES:
            yield components.misnamed(
                "[thresholds] has no key", key, (*VALUES, "evaluator", "preset", "file", BY_SOURCE), "it has"
            )
        elif not _finite(value):
            yield f"[thresholds] {key} must be a finite number, not {value!r}"


def outside_faults(values: Any) -> Iterator[str]:
    """The faults of the thresholds for passages from outside."""
    where, known = f"[thresholds.{BY_SOURCE}]", VALUES[:2]
    if not isinstance(values, Mapping):
        yield f"{where} must be a table of {' and '.join(known)}, not {values!r}"
        return
    for key, value in values.items():
        if key not in known:
            yield components.misnamed(f"{where} has no key", key, known, "strips have one threshold for all; it has")
        elif not _finite(value):
            yield f"{where} {key} must be a finite number on the evaluator's scale, not {value!r}"


def judge_faults(section: Mapping[str, Any]) -> Iterator[str]:
    """The faults of `[judge]`: unknown keys, and limits that are no numbers."""
    metrics = {*diamond(), *listed(section.get("metrics"))}
    known = sorted({"use", "metrics", "llm", *LIMITS, *JUDGING, *components.names("judge"), *metrics})
    for key in sorted(section.keys() - {*known}):
        yield components.misnamed("[judge] has no key", key, known, "it has")
    for key in LIMITS[1:-2]:  # also where nothing is asked that they would limit
        if (value := section.get(key)) is not None and not _limits(value, key in _MAY_BE_NONE):
            yield f"[judge] {key} must be a number above 0, not {value!r}"


def listed(value: Any) -> Sequence[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def _limits(value: Any, none: bool) -> bool:
    return _finite(value) and (value > 0 or (none and value == 0))


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def faults(config: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    """Every fault of a complete configuration, a line each."""
    for what, make, options in (
        ("[network]", Network, config["network"]),
        ("[index]", Index.open, config["index"]),
        ("[sources]", Sources, config["sources"]),
        ("[answer]", AnswerPolicy, config["answer"]),
        ("[budget]", Budget, config["budget"]),
    ):
        yield from components.faults(what, make, options, SHARED)
    for role in (*components.ROOMS, "policy"):
        yield from _section_faults(role, config[role]) if role != "judge" else judge_faults(config["judge"])
    if not {"preset", "file"} & {*config["thresholds"]}:
        own = {k: v for k, v in config["thresholds"].items() if k not in ("evaluator", BY_SOURCE)}
        yield from by_hand_faults(own)
    yield from outside_faults(config["thresholds"].get(BY_SOURCE, {}))
    yield from pipeline_faults(config["pipeline"])
    yield from budget_faults(config)


def _section_faults(role: str, section: Any) -> Iterator[str]:
    """The faults of a component's section, and of the sections within it."""
    if isinstance(section, str):
        section = {"use": section}
    if not isinstance(section, Mapping) or not isinstance(section.get("use"), str):
        return  # told where it is built
    if OBJECT in section:
        return
    options = options_of(section)
    yield from taken(role, options)
    try:
        if make := components.known(role, section["use"]):
            own = {key: value for key, value in options.items() if key in LISTS or key not in SHARED}
            yield from components.faults(f"{role} '{section['use']}'", make, own, SHARED)
    except ConfigError as error:
        yield from error.args
    except MissingExtra as error:
        yield str(error)
    for key in ("retrievers", "evaluators", "searchers"):
        for part in listed(options.get(key)):
            yield from _section_faults(role, part)
    yield from _section_faults(role, options.get("of"))
    yield from _section_faults("evaluator", options.get("reranker"))
