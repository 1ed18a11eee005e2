"""Counts for operators, in the text format of Prometheus. No label says anything of a tenant."""

from collections import defaultdict
from threading import Lock

from surefoot.types import Trace

_HELP = {
    "surefoot_requests_total": ("counter", "Requests by status."),
    "surefoot_questions_total": ("counter", "Answered questions by action."),
    "surefoot_question_seconds_sum": ("counter", "Seconds that answered questions took."),
    "surefoot_question_seconds_count": ("counter", "Answered questions."),
    "surefoot_tokens_total": ("counter", "Tokens of language models."),
    "surefoot_refused_total": ("counter", "Requests that found no place."),
    "surefoot_places_taken": ("gauge", "Questions that run or wait."),
    "surefoot_places": ("gauge", "Questions that may run or wait."),
    "surefoot_jobs_waiting": ("gauge", "Uploads that wait to be read."),
}


class Metrics:
    """Counters of this process since it began."""

    def __init__(self) -> None:
        self._counts: defaultdict[tuple[str, str], float] = defaultdict(float)
        self._lock = Lock()

    def count(self, name: str, labels: str = "", by: float = 1) -> None:
        """Add to the counter of this name and these labels."""
        with self._lock:
            self._counts[name, labels] += by

    def count_question(self, trace: Trace) -> None:
        """Add an answered question."""
        action = trace.decision.action.value if trace.decision else "none"
        self.count("surefoot_questions_total", f'{{action="{action}"}}')
        self.count("surefoot_question_seconds_count")
        self.count("surefoot_question_seconds_sum", by=sum(step.seconds for step in trace.steps))
        self.count("surefoot_tokens_total", by=sum(step.tokens for step in trace.steps))

    def text(self, **gauges: float) -> str:
        """Every counter, and these gauges, as Prometheus reads them."""
        with self._lock:
            counts = dict(self._counts)
        every = counts | {(f"surefoot_{name}", ""): value for name, value in gauges.items()}
        lines = []
        for name, (kind, description) in _HELP.items():
            lines += [f"# HELP {name} {description}", f"# TYPE {name} {kind}"]
            lines += [f"{name}{labels} {value:g}" for (of, labels), value in sorted(every.items()) if of == name]
        return "\n".join([*lines, ""])
