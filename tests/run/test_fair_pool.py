"""Threads that several callers share."""

from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from threading import Event, Thread

import pytest

from surefoot.run.cancel import heeding
from surefoot.run.fair_pool import FairPool
from surefoot.types.errors import Cancelled

PATIENCE = 20.0


def test_values_come_in_the_order_of_their_inputs() -> None:
    """Whichever thread is done first; of no inputs there are none."""
    pool = FairPool(4, "test")
    assert pool.each(pow, [(n, 2) for n in range(100)]) == [n * n for n in range(100)]
    assert pool.each(pow, []) == []
    assert pool.each(pow, [(3, 2)]) == [9]


def test_a_small_caller_does_not_wait_for_a_large_one() -> None:
    """One thread takes their pieces in turn."""
    pool, begun, gate, order = FairPool(1, "test"), Event(), Event(), list[str]()

    def work(name: str) -> None:
        begun.set()
        gate.wait(PATIENCE)
        order.append(name)

    large = Thread(target=pool.each, args=(work, [("large",)] * 50))
    large.start()
    assert begun.wait(PATIENCE)
    small = Thread(target=pool.each, args=(work, [("small",)] * 3))
    small.start()
    while len(pool._callers) < 2:
        gate.wait(0.001)
    gate.set()
    small.join(PATIENCE)
    large.join(PATIENCE)
    assert order[:6].count("small") >= 2
    assert order[:8].count("small") == 3
    assert len(order) == 53


def test_what_fails_is_raised_and_what_is_not_begun_is_dropped() -> None:
    """The threads then work for the next caller."""
    pool, ran = FairPool(1, "test"), list[int]()

    def work(n: int) -> None:
        ran.append(n)
        if n == 0:
            raise KeyError(n)
        Event().wait(0.005)

    with pytest.raises(KeyError):
        pool.each(work, [(n,) for n in range(1000)])
    assert pool.each(str, [(1,)]) == ["1"]
    assert len(ran) < 1000


def test_a_cancelled_caller_leaves_at_once() -> None:
    """Though a piece still runs."""
    pool, stop, gate = FairPool(1, "test"), Event(), Event()
    stop.set()
    with heeding(stop), pytest.raises(Cancelled):
        pool.each(gate.wait, [(PATIENCE,)] * 2)
    gate.set()


def test_each_piece_runs_with_what_its_caller_has() -> None:
    """Its meter and deadline go with the thread."""
    own = ContextVar("own", default="")
    pool = FairPool(2, "test")

    def called(name: str) -> list[str]:
        own.set(name)
        return pool.each(lambda: own.get(), [()] * 5)

    with ThreadPoolExecutor(2) as callers:
        assert [*callers.map(called, ["a", "b"])] == [["a"] * 5, ["b"] * 5]
