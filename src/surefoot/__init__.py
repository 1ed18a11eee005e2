"""Surefoot: corrective RAG that tests every hold before it puts weight on it.

import surefoot
trace = surefoot.load().run("Who built the bridge?")
print(trace.decision.action, trace.answer.text)
"""

from typing import TYPE_CHECKING, Any

from surefoot import meter
from surefoot.act import PRESETS, Count, Threshold
from surefoot.errors import SurefootError
from surefoot.pipeline import Pipeline
from surefoot.store import read_trace, write_trace
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

if TYPE_CHECKING:
    from surefoot.config.builder import load

__version__ = "0.1.0"

__all__ = [
    "PRESETS",
    "Action",
    "Answer",
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
    "load",
    "meter",
    "read_trace",
    "write_trace",
]


def __getattr__(name: str) -> Any:
    """`load` pulls in numpy and the index; it is imported when it is first asked for."""
    if name == "load":
        from surefoot.config.builder import load

        return load
    raise AttributeError(f"module 'surefoot' has no attribute '{name}'")
