"""All that is wrong with a configuration, as far as it shows before anything is built."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from surefoot import components
from surefoot.config.options import component_faults, option_faults
from surefoot.config.sections import JudgeSection, section_faults
from surefoot.judges._diamond import metrics as diamond
from surefoot.network import Network


def faults(config: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    """Every fault of a complete configuration, a line each."""
    yield from section_faults(config)
    yield from option_faults("[network]", Network, config["network"], ())
    for role in (*components.ROOMS, "policy"):
        if role != "judge":
            yield from component_faults(role, config[role])
    yield from judge_faults(config["judge"])


def judge_faults(section: Mapping[str, Any], metrics: Sequence[str] = ()) -> Iterator[str]:
    """The keys of `[judge]` that are neither limits nor metrics."""
    named = section.get("metrics") if isinstance(section.get("metrics"), list) else []
    known = sorted({*JudgeSection.model_fields, *components.names("judge"), *diamond(), *(named or ()), *metrics})
    for key in sorted(section.keys() - {*known}):
        yield components.misnamed("[judge] has no key", key, known, "it has")
