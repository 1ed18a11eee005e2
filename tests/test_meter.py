"""Components report what they spend to the innermost open meter, and to nobody where none is open."""

from concurrent.futures import ThreadPoolExecutor

from surefoot.run.meter import Meter, count, degrade, metered


def test_a_meter_adds_up_what_is_counted() -> None:
    """Each kind for itself."""
    with metered() as spent:
        count(calls=1, prompt_tokens=18, completion_tokens=2)
        count(calls=1, graded=5, escalated=2, prompt_tokens=1, completion_tokens=1, cached=3)
    assert spent == Meter(calls=2, graded=5, escalated=2, prompt_tokens=19, completion_tokens=3, cached=3)
    assert spent.tokens == 22


def test_the_innermost_meter_counts() -> None:
    """And the outer one goes on when it is closed."""
    with metered() as outer:
        with metered() as inner:
            count(calls=1)
        count(calls=10)
    assert (outer.calls, inner.calls) == (10, 1)


def test_a_fallback_is_told_once() -> None:
    """However often it was taken, in the order of the first time."""
    with metered() as spent:
        for what in ("no search", "blanked out", "no search"):
            degrade(what)
    assert spent.degraded == ["no search", "blanked out"]


def test_outside_a_meter_nothing_happens() -> None:
    """A component can be called by itself, and a closed meter counts no more."""
    with metered() as spent:
        pass
    count(calls=1)
    degrade("alone")
    assert spent == Meter()


def test_a_meter_belongs_to_its_thread() -> None:
    """Questions that run side by side do not pay for each other."""
    with metered() as spent, ThreadPoolExecutor(1) as pool:
        pool.submit(count, calls=1).result()
    assert spent.calls == 0
