"""Components report cost and fallbacks here, so that their signatures need not. The pipeline opens a meter around each
step; `count` and `degrade` add to the innermost open one, and do nothing outside."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields


@dataclass(slots=True)
class Meter:
    """The cost of a step so far; the fields mean what they mean in `Step`."""

    calls: int = 0
    graded: int = 0
    escalated: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached: int = 0
    degraded: list[str] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        """Of prompts and completions."""
        return self.prompt_tokens + self.completion_tokens


_current: ContextVar[Meter | None] = ContextVar("surefoot_meter", default=None)


@contextmanager
def metered() -> Iterator[Meter]:
    """A fresh meter for the code inside, in this thread."""
    meter = Meter()
    token = _current.set(meter)
    try:
        yield meter
    finally:
        _current.reset(token)


def add(inner: Meter) -> None:
    """Add what a meter within this step has counted."""
    count(**{one.name: amount for one in fields(inner) if isinstance(amount := getattr(inner, one.name), int)})
    for what in inner.degraded:
        degrade(what)


def count(**spent: int) -> None:
    """Add to what the current step has spent, by the fields of `Meter`."""
    if meter := _current.get():
        for name, amount in spent.items():
            setattr(meter, name, getattr(meter, name) + amount)


def degrade(what: str) -> None:
    """Report a declared fallback; the step shows it once."""
    if (meter := _current.get()) and what not in meter.degraded:
        meter.degraded.append(what)
