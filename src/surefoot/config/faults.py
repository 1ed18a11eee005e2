"""All that is wrong with a configuration, as far as it shows before anything is built."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from surefoot import components
from surefoot.config.options import component_faults, option_faults
from surefoot.config.sections import (
    ExternalThresholds,
    JudgeSection,
    MetricSection,
    PricesSection,
    ReportSection,
    Section,
    TelemetrySection,
    ThresholdsSection,
)
from surefoot.evidence.answer_policy import AnswerPolicy
from surefoot.evidence.sources import Sources
from surefoot.judges._diamond import metrics as diamond
from surefoot.network import Network
from surefoot.pipeline import SIZES, Pipeline
from surefoot.run.cost import Budget
from surefoot.types.errors import ConfigError

PARTS = {field.name for field in fields(Pipeline)} - {*SIZES}
"""Arguments of a pipeline that `[pipeline]` does not hold."""

_VALUES: dict[str, Callable[..., Any]] = {
    "network": Network,
    "pipeline": Pipeline,
    "answer": AnswerPolicy,
    "budget": Budget,
    "sources": Sources,
}
"""Sections of plain values, and what their keys are arguments of."""


def faults(config: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    """Every fault of a complete configuration, a line each."""
    yield from section_faults(config)
    for role in (*components.ROOMS, "policy"):
        if role != "judge":
            yield from component_faults(role, config[role])
    yield from judge_faults(config["judge"])


def section_faults(config: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    """Every fault of the sections that are no components."""
    for name, make in _VALUES.items():
        yield from option_faults(f"[{name}]", make, config[name], PARTS)
    prices = {key: value for key, value in config["llm"].items() if key in PricesSection.model_fields}
    models: list[tuple[str, type[Section], Any]] = [
        ("thresholds", ThresholdsSection, config["thresholds"]),
        ("thresholds.external", ExternalThresholds, config["thresholds"].get("external", {})),
        ("judge", JudgeSection, config["judge"]),
        ("report", ReportSection, config["report"]),
        ("telemetry", TelemetrySection, config["telemetry"]),
        ("llm", PricesSection, prices),
        *((f"metric.{name}", MetricSection, values) for name, values in config["metric"].items()),
    ]
    for name, model, values in models:
        try:
            model.parsed(f"[{name}]", values)
        except ConfigError as error:
            yield from error.args
    if "money" in config["budget"] and not prices:
        yield (
            "[budget] money needs prices, and [llm] has none; set input_price and output_price there, of a million "
            "tokens each, or set [budget] tokens instead"
        )


def judge_faults(section: Mapping[str, Any], metrics: Sequence[str] = ()) -> Iterator[str]:
    """The keys of `[judge]` that are neither limits nor metrics."""
    named = section.get("metrics") if isinstance(section.get("metrics"), list) else []
    known = sorted({*JudgeSection.model_fields, *components.names("judge"), *diamond(), *(named or ()), *metrics})
    for key in sorted(section.keys() - {*known}):
        yield components.misnamed("[judge] has no option", key, known, "it has")
