"""The metric diamond: question, context, answer and truth, and the judgements between them (metrics.toml)."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from surefoot import components
from surefoot.run.store import from_json
from surefoot.text import toml_values
from surefoot.types import Metric, Record
from surefoot.types.errors import TraceFault

HIGHEST = 5
"""The highest rating; the lowest is 1, and a score is a fifth of it, so 0 cannot occur."""


@cache
def metrics() -> Mapping[str, Metric]:
    """The diamond's metrics by name, in the order of reports."""
    return {name: one for name, one in built_in().items() if one.levels}


@cache
def built_in() -> Mapping[str, Metric]:
    """The same, and those beside them."""
    tables = toml_values.beside(__file__, "metrics.toml")
    return {name: from_json(Metric, {"name": name, **table}) for name, table in tables.items()}


def metric(judge: str) -> Metric | None:
    """The metric that a judge, built in or of others, declares; None: there is no such judge, or it declares none."""
    if ":" not in judge and judge not in components.names("judge"):
        return None
    about = getattr(components.find("judge", judge), "about", None)
    return about if isinstance(about, Metric) else None


def recorded(about: Mapping[str, Any]) -> Mapping[str, Metric]:
    """The built-in metrics, and those of others that `run.json` describes. Raises TraceFault where it is damaged."""
    described = about.get("metrics", {})
    if not isinstance(described, Mapping):
        raise TraceFault(f"run.json is damaged: its metrics must be a table, not {described!r}")
    others = [from_json(Metric, one) for name, one in described.items() if name not in metrics()]
    return {**metrics(), **{other.name: other for other in others}}


def title(name: str, known: Mapping[str, Metric] | None = None) -> str:
    """The name in a text of a metric that is `known` (None: is built in); of any other, its name as it is."""
    about = (metrics() if known is None else known).get(name)
    return about.title if about else name


def lacking(metric: Metric, record: Record) -> str:
    """The reason why the metric does not apply to this record; empty: it does. A missing note can be made."""
    reasons = {
        "answer": "the record has no answer" if record.answer is None else "",
        "contexts": "the record has no contexts" if record.contexts is None else "",
        "truths": "" if any(truth.strip() for truth in record.truths) else "the record has no reference answer",
    }
    return next((reason for name, reason in reasons.items() if reason and name in metric.sees), "")
