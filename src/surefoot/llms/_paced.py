"""A language model that is asked by many threads at once: no faster than it may be, no longer than it is worth, and for
no more than there is to spend."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Condition, Event, Lock
from typing import Any

from surefoot.cost import Budget, Prices, Purse, Spent, _length, tokens
from surefoot.errors import ComponentError, ConfigError, EndpointError
from surefoot.network.pace import Turns, backoff, within
from surefoot.protocols import LLM
from surefoot.types import Completion, Message

CROWDED = (429, 503, 529)
"""What an endpoint says that is asked too much."""
TOLERATED = 0.2
"""Share of the latest calls that may be refused before the pace is halved: a provider that refuses one in twenty
whatever the pace would else bring it down to one call at a time."""
_MEMORY = 32
"""Calls over which that share is taken, the latest weighing most; all in flight where those are more: a refusal comes
back before the answers to what was asked with it, and the first ten to end would all be refusals."""
_FASTER = 0.1
"""Calls in flight that one more is worth that was not refused."""
_LONGEST_PAUSE = 20.0
"""Seconds between two tries where the endpoint does not say."""


class Stopped(ComponentError):
    """Whoever asked has left."""


class CallPace:
    """How many calls may be in flight, and when the next may begin."""

    def __init__(self, in_flight: int, requests: float | None, tokens: float | None) -> None:
        self.limit = float(in_flight)
        """Calls in flight at present, at most."""
        self._most = in_flight
        self._turns = Turns()
        self._call = 60 / requests if requests else 0.0
        self._token = 60 / tokens if tokens else 0.0
        self._running = 0
        self._refused = 0.0
        self._since = 0.0
        self._changed = Condition()
        self.stopped = Event()
        """Once it is set nobody waits any longer, and nobody gets a turn."""

    def begin(self, tokens: int) -> float:
        """Wait for a turn; when it was got. Raises Stopped."""
        with self._changed:
            while self._running >= max(1, int(self.limit)):
                self._changed.wait()
            self._running += 1
        seconds = 0.0
        while not self.stopped.wait(seconds):
            seconds, _ = self._turns.take({"calls": self._call, "tokens": self._token * tokens})
            if not seconds:
                return time.monotonic()
        self._over()
        raise Stopped("the run was stopped; run it again to go on")

    def _over(self) -> None:
        with self._changed:
            self._running -= 1
            self._changed.notify_all()

    def end(self, begun: float, crowded: bool, wait: float = 0.0, beyond: int = 0) -> None:
        """A call that began then is over; it took `beyond` tokens more than was thought.

        Where too many are refused, the number in flight is halved and all wait for as long as the endpoint asks; calls
        that began before that tell nothing of the new pace.
        """
        self._turns.shift("tokens", self._token * beyond)
        with self._changed:
            if begun >= self._since:
                self._refused += (crowded - self._refused) / max(_MEMORY, self._running)
                if self._refused > TOLERATED:
                    self.limit = max(1.0, self.limit / 2)
                    self._since = time.monotonic() + wait
                    self._turns.hold("calls", wait, "it asked us to wait")
                    self._refused = 0.0
                elif not crowded:
                    self.limit = min(float(self._most), self.limit + _FASTER)
        self._over()


@dataclass(slots=True)
class CallTally:
    """What became of the calls, beside what they cost."""

    refused: int = 0
    """Times that the endpoint asked to wait."""
    repeated: int = 0
    """Calls made again after silence, a broken connection or an error of the server's."""


class Paced:
    """Another model, asked within limits by any number of threads.

    At most `in_flight` calls at a time, fewer while the endpoint refuses too many; `requests` and `tokens` are the most
    a minute, None: any number. A call has `timeout` seconds; where it is refused (HTTP 429, 503, 529) it waits as long
    as the endpoint asks and is made again, for `patience` seconds in all; what else may pass is tried `retries` times
    more. Once nobody has been answered for that long nothing is tried again: a quota that is spent looks like a crowd.
    Silence is taken for a refusal where the pace is concerned: a server that queues all it gets answers none in time.
    An endpoint that takes no JSON schema is asked without one from then on. The limits hold for what goes over the
    network; a model in this process keeps a thread as long as it likes.

    A call that reached the endpoint and brought nothing may have to be paid all the same: of the budget it takes the
    most that it can cost.

    Raises OverBudget where the purse has too little for the call, Stopped once it is stopped, else what the model
    raises.
    """

    def __init__(
        self,
        llm: LLM,
        in_flight: int = 64,
        requests: float | None = None,
        tokens: float | None = None,
        timeout: float = 60.0,
        retries: int = 2,
        patience: float = 300.0,
        budget: Budget | None = None,
        prices: Prices | None = None,
    ) -> None:
        if (
            min(in_flight, timeout) <= 0
            or retries < 0
            or any(most is not None and most <= 0 for most in (requests, tokens))
        ):
            raise ConfigError("in_flight, timeout and the limits a minute must be more than 0, and retries not less")
        if budget and budget.money is not None and prices is None:
            raise ConfigError("a budget of money needs prices; set judge.price_asked and judge.price_said")
        self.inner = llm
        self.purse = Purse(budget or Budget())
        self.pace = CallPace(in_flight, requests, tokens)
        self.told = CallTally()
        self._timeout, self._retries, self._patience = timeout, retries, patience
        self.prices = prices
        self._lock = Lock()
        self._plain = False
        self._failing = math.inf
        """Since when nobody has been answered; infinite: the last call was."""

    def stop(self) -> None:
        """Let no call begin, or wait any longer, for good; what is in flight ends."""
        self.pace.stopped.set()

    @property
    def name(self) -> str:
        """The inner one's."""
        return self.inner.name

    def complete(
        self,
        messages: Sequence[Message],
        schema: dict[str, Any] | None = None,
        *,
        max_tokens: int = 100,
        stop: Sequence[str] = (),
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """What the model says, after as many tries as it takes."""
        form = None if self._plain else schema
        try:
            return self._insisted(messages, form, max_tokens, stop, on_text)
        except EndpointError as error:
            if form is None or error.status not in (400, 422, 501):
                raise
            completion = self._insisted(messages, None, max_tokens, stop, on_text)
            self._plain = True
            return completion

    def _insisted(self, messages: Sequence[Message], schema: Any, max_tokens: int, *rest: Any) -> Completion:
        patient = math.inf
        refused = failed = 0
        while True:
            try:
                return self._once(messages, schema, max_tokens, *rest)
            except EndpointError as error:
                if not _passing(error):
                    raise
                crowded = error.status in CROWDED
                refused, failed = refused + crowded, failed + (not crowded)
                wait = backoff(refused + failed, _LONGEST_PAUSE) if error.wait is None else error.wait
                with self._lock:
                    now = time.monotonic()
                    self._failing = min(self._failing, now)
                    patient = min(patient, self._failing + self._patience)
                    if failed > self._retries or now + wait > patient:
                        raise
                    self.told.refused += crowded
                    self.told.repeated += not crowded
                if self.pace.stopped.wait(wait):
                    raise

    def _once(self, messages: Sequence[Message], schema: Any, max_tokens: int, stop: Any, on_text: Any) -> Completion:
        asked = tokens(messages)
        most = self._cost(asked, max_tokens)
        self.purse.reserve(most)
        spent, crowded, wait = Spent(), False, 0.0
        begun = None
        try:
            begun = self.pace.begin(asked + max_tokens)
            with within(self._timeout):
                said = self.inner.complete(messages, schema, max_tokens=max_tokens, stop=stop, on_text=on_text)
            spent = self._cost(
                _counted(said.prompt_tokens, asked), _counted(said.completion_tokens, _length(said.text))
            )
            with self._lock:
                self._failing = math.inf
            return said
        except EndpointError as error:
            lost = error.reached and error.status is None
            crowded, spent = lost or error.status in CROWDED, most if lost else spent
            if error.wait is not None and error.wait <= self._patience:
                wait = error.wait  # else the call gives up, and so may the others: nobody is held for a day
            raise
        finally:
            if begun is not None:
                self.pace.end(begun, crowded, wait, spent.tokens - most.tokens)
            self.purse.settle(most, spent)

    def _cost(self, asked: int, said: int) -> Spent:
        return Spent(1, asked, said, self.prices.of(asked, said) if self.prices else 0.0)


def _counted(tokens: int, about: int) -> int:
    """What was counted, if it can be: none, or fewer, would make the budget larger."""
    return tokens if tokens > 0 else about


def _passing(error: EndpointError) -> bool:
    """Whether the same may be answered in a moment."""
    return error.status is None or error.status in (408, 409, 425, 429) or (error.status >= 500 and error.status != 501)
