"""Places for work, and who gets one."""

from threading import Event

import pytest

from surefoot.run import cancel
from surefoot.server.problems import Problem
from surefoot.server.workers import Jobs, Workers


def test_one_owner_leaves_places_to_others() -> None:
    """Three of four are the most that one key may take; where nobody needs a key, all are free."""
    workers, go = Workers(1, 3, 60), Event()
    try:
        for _ in range(3):
            workers.start(lambda _: go.wait(60), "ann")
        with pytest.raises(Problem) as refused:
            workers.start(lambda _: go.wait(60), "ann")
        assert refused.value.status_code == 429
        workers.start(lambda _: go.wait(60), "bob")
        with pytest.raises(Problem):
            workers.start(lambda _: go.wait(60), "bob")
    finally:
        go.set()
        workers.close()


def test_a_free_thread_takes_the_work_of_whoever_has_the_least() -> None:
    """Of one owner, the first comer's."""
    workers, go, order = Workers(2, 8, 60), [Event(), Event()], list[str]()
    try:
        held = [workers.start(lambda _, one=one: one.wait(60), "ann") for one in go]
        rest = [workers.start(lambda _, name=name: order.append(name), name[:3]) for name in ("ann1", "ann2", "bob")]
        go[0].set()
        for one in (held[0], *rest):
            one.future.result(60)
        assert order == ["bob", "ann1", "ann2"]
    finally:
        go[1].set()
        workers.close()


def test_work_ends_between_two_of_its_pieces_once_nobody_waits() -> None:
    """Whatever it is, and not only a question; its place is free then."""
    workers, begun, ended = Workers(1, 1, 60), Event(), Event()

    def work(_: Event) -> None:
        begun.set()
        try:
            for _ in range(600):
                cancel.pause(0.1)
        finally:
            ended.set()

    ticket = workers.start(work)
    assert begun.wait(60)
    ticket.cancel()
    assert ended.wait(10)
    workers.close()
    assert workers.taken == 0


def test_what_waits_when_the_server_stops_is_not_begun() -> None:
    """And whoever waits for it is told so."""
    workers, begun = Workers(1, 1, 60), Event()
    workers.start(lambda stop: begun.set() or stop.wait(60))
    waiting = workers.start(lambda _: pytest.fail("it was begun"))
    assert begun.wait(60)
    workers.close()
    assert waiting.future.cancelled()
    assert waiting.stop.is_set()


def test_slow_uploads_of_one_owner_leave_places_to_others() -> None:
    """Those that arrive, and those of the owner's collections that wait to be read."""
    go = Event()
    jobs = Jobs(lambda collection, progress: go.wait(60) and (), 4)
    try:
        jobs.add("acme", ())
        while jobs.waiting:
            pass
        jobs.add("acme", ())
        with jobs.arriving("ann", ("acme",)), jobs.arriving("ann", ("acme",)):
            with pytest.raises(Problem), jobs.arriving("ann", ("acme",)):
                pass
            with jobs.arriving("bob", ("bolt",)):
                pass
    finally:
        go.set()
        jobs.close()
