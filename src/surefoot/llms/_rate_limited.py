"""A language model for many threads at once, with limits to its pace, its retries and its cost."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Event, Lock, Semaphore

from surefoot.llms._base import Call, WrappedLLM
from surefoot.network.pace import Turns, backoff, within
from surefoot.run.cost import NO_BUDGET, Budget, Spending, counted, tokens
from surefoot.types import Completion
from surefoot.types.errors import ComponentError, ConfigError, EndpointError
from surefoot.types.llms import Prices, Spent
from surefoot.types.protocols import LLM

CROWDED = (429, 503, 529)  # HTTP statuses of an endpoint that is asked too much
REFUSALS = 3
"""Requests in a row that an endpoint refuses for a lasting reason before nothing more is asked."""
_LONGEST_PAUSE = 20.0  # seconds between two tries where the endpoint does not say


class Stopped(ComponentError):
    """The run was stopped."""


class CallRate:
    """Limits to the calls in flight, and turns for the next to begin. Calls go one by one until one is answered."""

    def __init__(self, in_flight: int, requests: float | None) -> None:
        self._places, self._closed = Semaphore(1), in_flight - 1
        self._turns = Turns()
        self._spacing = 60 / requests if requests else 0.0
        self.stopped = Event()
        """Once set, no thread waits any longer or gets a turn."""
        self.why = ""

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a place and a turn, and hold the place. Raises Stopped."""
        seconds = 0.0
        with self._places:
            while not self.stopped.wait(seconds):
                seconds, _ = self._turns.take({"calls": self._spacing})
                if not seconds:
                    yield
                    return
        raise Stopped(self.why)

    def open(self) -> None:
        """Open all places, since the endpoint answers."""
        if self._closed:
            self._places.release(self._closed)
            self._closed = 0


class RateLimitedLLM(WrappedLLM):
    """Another model, asked within limits by any number of threads.

    At most `in_flight` calls run at a time. A budget of money needs `prices`. A call over the network has `timeout`
    seconds. A refused call (HTTP 429, 503, 529) waits as long as
    the endpoint asks and is repeated until no call has been answered for `patience` seconds; after other passing
    failures it is repeated `retries` times. An endpoint that takes no JSON schema is asked without one from then on. A
    call that reached the endpoint and brought nothing costs the budget the most that it can cost. After three refusals
    in a row for a lasting reason, such as a wrong key, the run is stopped (`refusal`). Raises OverBudget, Stopped after
    `stop`, else what the model raises.
    """

    def __init__(
        self,
        llm: LLM,
        in_flight: int = 64,
        requests_per_minute: float | None = None,
        timeout: float = 60.0,
        retries: int = 2,
        patience: float = 300.0,
        prices: Prices | None = None,
        budget: Budget = NO_BUDGET,
    ) -> None:
        if budget.money is not None and prices is None:
            raise ConfigError(
                "a budget of money needs prices; set input_price and output_price under [judge] or [report]"
            )
        super().__init__(llm)
        self.prices, self.spending = prices, Spending(budget)
        self.pace = CallRate(in_flight, requests_per_minute)
        self.refused = 0
        """Calls that the endpoint refused for now."""
        self.repeated = 0
        """Calls repeated after silence, a broken connection or an error of the server."""
        self.refusal: EndpointError | None = None
        """The reason why nothing more is asked."""
        self._timeout, self._retries, self._patience = timeout, retries, patience
        self._lock = Lock()
        self._plain = False
        self._refusals = 0
        self._failing = math.inf
        """The time at which answers stopped coming; infinite: the last call was answered."""

    def stop(self, why: str = "the run was stopped; run it again to go on") -> None:
        """Let no call begin, or wait any longer, for good; calls in flight end by themselves."""
        self.pace.why = why
        self.pace.stopped.set()

    def answer(self, call: Call) -> Completion:
        """The model's completion, after as many tries as it takes."""
        try:
            return self._with_or_without_schema(call)
        except EndpointError as error:
            with self._lock:
                self._refusals += error.lasting
                if self._refusals == REFUSALS:
                    ending = f"and run it again; nothing more is asked after {REFUSALS} refusals in a row"
                    self.refusal = EndpointError(f"{error}, {ending}", error.status)
                    self.stop(str(self.refusal))
            raise

    def _with_or_without_schema(self, call: Call) -> Completion:
        first = replace(call, schema=None) if self._plain else call
        try:
            return self._insisted(first)
        except EndpointError as error:
            if first.schema is None or error.status not in (400, 422, 501):
                raise
            completion = self._insisted(replace(call, schema=None))
            self._plain = True
            return completion

    def _insisted(self, call: Call) -> Completion:
        patient = math.inf
        refused = failed = 0
        while True:
            try:
                return self._once(call)
            except EndpointError as error:
                if not _passing(error):
                    raise
                crowded = error.status in CROWDED
                refused, failed = refused + crowded, failed + (not crowded)
                wait = error.wait or backoff(refused + failed, _LONGEST_PAUSE)
                with self._lock:
                    now = time.monotonic()
                    self._failing = min(self._failing, now)
                    patient = min(patient, self._failing + self._patience)
                    if failed > self._retries or now + wait > patient:
                        raise
                    self.refused += crowded
                    self.repeated += not crowded
                if self.pace.stopped.wait(wait):
                    raise

    def _once(self, call: Call) -> Completion:
        inputs = tokens(call.messages)
        most = Spent.of(inputs, call.max_tokens + self.thoughts, self.prices)
        self.spending.reserve(most)
        spent = Spent()
        try:
            with self.pace.turn(), within(self._timeout):
                completion = self.ask(call)
            spent = Spent.of(*counted(completion, inputs), self.prices)
            with self._lock:
                self._failing, self._refusals = math.inf, 0
                self.pace.open()
            return completion
        except EndpointError as error:
            if error.reached and error.status is None:  # it may have been answered, and be paid
                spent = most
            raise
        finally:
            self.spending.settle(most, spent)


def _passing(error: EndpointError) -> bool:
    return error.status is None or error.status in (408, 409, 425, 429) or (error.status >= 500 and error.status != 501)
