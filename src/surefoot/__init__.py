"""Surefoot: corrective RAG that tests every hold before it puts weight on it.

import surefoot
trace = surefoot.load().run("Who built the bridge?")
print(trace.decision.action, trace.answer.text)
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

# Unless this is set when it loads, onnxruntime reports to Microsoft, under an id of the machine that it writes to disk.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

if TYPE_CHECKING:
    from surefoot import contracts
    from surefoot.config.builder import load
    from surefoot.config.correction import correct, grade
    from surefoot.evaluate.assertion import assert_rag
    from surefoot.evidence.policies import PRESETS, Count, Threshold
    from surefoot.pipeline import Pipeline
    from surefoot.run import cancel, meter
    from surefoot.run.store import read_trace, write_trace
    from surefoot.types import (
        Action,
        Answer,
        Citation,
        Completion,
        Decision,
        Event,
        Grade,
        Message,
        Passage,
        Step,
        Strip,
        Thresholds,
        Trace,
    )
    from surefoot.types.errors import Cancelled, SurefootError

__version__ = "0.2.0"

__all__ = [
    "PRESETS",
    "Action",
    "Answer",
    "Cancelled",
    "Citation",
    "Completion",
    "Count",
    "Decision",
    "Event",
    "Grade",
    "Message",
    "Passage",
    "Pipeline",
    "Step",
    "Strip",
    "SurefootError",
    "Threshold",
    "Thresholds",
    "Trace",
    "assert_rag",
    "cancel",
    "contracts",
    "correct",
    "grade",
    "load",
    "meter",
    "read_trace",
    "write_trace",
]

_MODULES = {"cancel": "surefoot.run.cancel", "contracts": "surefoot.contracts", "meter": "surefoot.run.meter"}
_HOMES = (
    *("types", "types.errors", "run.store", "evidence.policies", "pipeline"),
    *("config.builder", "config.correction", "evaluate.assertion"),
)
"""Modules that hold these names, the cheapest first."""


def __getattr__(name: str) -> Any:
    """Import what is first asked for: the command line starts without waiting for any of it."""
    if name in _MODULES:
        return import_module(_MODULES[name])
    for home in _HOMES if name in __all__ else ():
        module = import_module(f"surefoot.{home}")
        if hasattr(module, name):
            return globals().setdefault(name, getattr(module, name))
    raise AttributeError(f"module 'surefoot' has no attribute '{name}'")
