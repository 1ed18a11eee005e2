"""The recorder times and meters each step, tells the listener, and takes the declared fallback."""

from datetime import UTC, datetime, timedelta

import pytest

from surefoot.run import meter
from surefoot.run.recorder import Recorder
from surefoot.types import Answer, Step, Trace
from surefoot.types.errors import EndpointError, SearchError, UsageError


def test_a_step_gives_its_result_and_its_cost() -> None:
    """What the work counted stands in the step, under its name."""

    def work(a: int, b: int) -> int:
        meter.count(calls=1, graded=2, escalated=1, prompt_tokens=2, completion_tokens=1, cached=4)
        meter.degrade("cut short")
        return a + b

    run = Recorder("Q?", {})
    assert run.step("add", work, 1, 2, fallback=0, instead="nothing") == 3
    (step,) = run.finish().steps
    assert step == Step("add", step.seconds, 1, 2, 1, 3, 4, "cut short", None, 1, step.started)
    assert (step.tokens, step.completion_tokens) == (3, 1)
    assert 0 <= step.seconds < 5


def test_a_step_says_when_it_began() -> None:
    """In UTC, to the millisecond, and before its work."""
    run = Recorder("Q?", {})
    before = datetime.now(UTC)
    ended = run.step("look", lambda: datetime.now(UTC), fallback=before, instead="nothing")
    started = datetime.fromisoformat(run.finish().steps[0].started)
    assert before - timedelta(milliseconds=1) <= started <= ended


@pytest.mark.parametrize("kind", [SearchError, EndpointError])
def test_a_part_that_fails_is_replaced_by_its_fallback(kind: type[Exception]) -> None:
    """The step names the error and what was done instead, and still what was spent."""

    def work() -> str:
        meter.count(calls=1)
        raise kind("the server is down")

    run = Recorder("Q?", {})
    assert run.step("search", work, fallback="none", instead="went without") == "none"
    (step,) = run.finish().steps
    assert (step.error, step.degraded, step.calls) == ("the server is down", "went without", 1)


@pytest.mark.parametrize("error", [UsageError("no index"), KeyError("a bug")])
def test_only_a_part_that_failed_at_work_has_a_fallback(error: Exception) -> None:
    """What the user can mend, and bugs, come out as they are."""

    def work() -> None:
        raise error

    with pytest.raises(type(error)):
        Recorder("Q?", {}).step("x", work, fallback=None, instead="hid it")


def test_the_trace_holds_what_was_set() -> None:
    """And the configuration, the time in UTC, and why there is no answer."""
    run = Recorder("Q?", {"k": {"v": 1}})
    answer = run.set("answer", Answer("Tom [1]"))
    trace = run.finish(error="broke off")
    assert trace == Trace(
        trace.id, "Q?", answer=answer, config={"k": {"v": 1}}, error="broke off", created=trace.created
    )
    age = datetime.now(UTC) - datetime.fromisoformat(trace.created)
    assert abs(age.total_seconds()) < 60
