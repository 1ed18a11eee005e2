"""The settings of a system under test: the values that hold, and those that there could be."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot import components
from surefoot.config.sections import ThresholdsSection
from surefoot.config.settings import DEFAULTS
from surefoot.evaluate.diagnose.record_context import quoted
from surefoot.pipeline import SIZES, Pipeline
from surefoot.types.errors import UsageError

SYSTEM = "system"
"""The section that holds the levers of a system that is not ours; no text shows it."""


@dataclass(frozen=True, slots=True)
class SystemSettings:
    """The configuration of the system under test; of another system's, whatever it was told."""

    values: Mapping[str, Any]

    @property
    def ours(self) -> bool:
        """True if a patch of `surefoot.toml` means anything to it."""
        return any(
            section in DEFAULTS and isinstance(of, Mapping) and "use" in of for section, of in self.values.items()
        )

    def use(self, role: str) -> str:
        """The component of a role."""
        return str(self.values.get(role, {}).get("use", DEFAULTS[role]["use"]))

    def now(self, key: str) -> Any:
        """The value of `section.key` that holds, be it a default; None: there is none, or it is unknown."""
        section, _, name = key.partition(".")
        of, default = self.values.get(section, {}), DEFAULTS.get(section, {})
        if isinstance(of, Mapping) and name in of:
            return of[name]
        if not self.ours:
            return None
        if section == "pipeline":
            return Pipeline.__dataclass_fields__[name].default if name in SIZES else None
        known = parameters(section, self.use(section)) if "use" in default and name != "use" else {}
        found = known[name].default if name in known else default.get("use") if name == "use" else None
        return None if found is inspect.Parameter.empty else found

    def current(self, keys: Sequence[str], like: Sequence[str]) -> list[str]:
        """The settings that matter as `` `key` (now value) ``; of a system that is not ours, those named alike."""
        if self.ours:
            known = [(key, self.now(key)) for key in keys]
        else:
            there = named(self.values)
            found = dict.fromkeys(key for part in like for key in there if alike(key, [part]))
            known = [(key, there[key]) for key in found][:3]
        return [f"`{key}` (now {written(value)})" for key, value in known if value is not None]


def flat(config: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """The configuration's values by dotted key."""
    found: dict[str, Any] = {}
    for key, value in config.items():
        found |= flat(value, f"{before}{key}.") if isinstance(value, Mapping) else {f"{before}{key}": value}
    return found


def named(patch: Mapping[str, Any]) -> dict[str, Any]:
    """The patch's values by the names that its user gave the settings."""
    return {key.removeprefix(f"{SYSTEM}."): value for key, value in flat(patch).items()}


def alike(key: str, parts: Sequence[str]) -> bool:
    """True if one of these parts stands in the name of a setting."""
    return any(part in f".{key}".lower() for part in parts)


def written(value: Any) -> str:
    """A value as a sentence shows it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and len(value.split()) > 1:
        return quoted(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def settable(config: Mapping[str, Any]) -> frozenset[str]:
    """Every `section.key` that can be set with the components that the configuration names."""
    fixed = [f"pipeline.{key}" for key in SIZES] + [f"answer.{key}" for key in ("check", "fallback", "risk")]
    fixed += [f"thresholds.{key}" for key in ThresholdsSection.model_fields if key != "external"]
    roles = [role for role in DEFAULTS if "use" in DEFAULTS[role]]
    options = [f"{role}.{name}" for role in roles for name in parameters(role, SystemSettings(config).use(role))]
    return frozenset([*flat(DEFAULTS), *fixed, *options])


def parameters(role: str, use: str) -> Mapping[str, inspect.Parameter]:
    """The options of a component, by name; empty where it is unknown or not imported, as in a recorded run."""
    try:
        made = components.known(role, use)
        return inspect.signature(made).parameters if made else {}
    except (UsageError, ValueError):
        return {}
