"""Servers that do the same work: which gets a request, and what becomes of one that is late or fails."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from surefoot.network import nodes
from surefoot.network.nodes import FEWEST, Nodes
from surefoot.run import meter
from surefoot.run.cancel import heeding
from surefoot.types.errors import Cancelled, EndpointError, NetworkError

PATIENCE = 20.0


@pytest.fixture
def gate() -> Iterator[Event]:
    """What a hung node waits for."""
    gate = Event()
    yield gate
    gate.set()


def hung(name: str, gate: Event) -> Callable[[str], str]:
    """Work at which the node of this name hangs."""

    def work(node: str) -> str:
        if node == name:
            gate.wait(PATIENCE)
        return node

    return work


def failing(*names: str, **about: object) -> Callable[[str], str]:
    """Work at which the nodes of these names fail."""

    def work(node: str) -> str:
        if node in names:
            raise EndpointError(f"{node} is down", **about)  # type: ignore[arg-type]
        return node

    return work


def test_one_after_the_other_goes_to_each_node_in_turn() -> None:
    equal = Nodes(["a", "b", "c"])
    assert Counter(equal.first(str, 1) for _ in range(6)) == {"a": 2, "b": 2, "c": 2}


def test_at_once_they_go_to_those_with_the_fewest_running() -> None:
    """Six requests on three nodes are two on each."""
    equal, together, seen = Nodes(["a", "b", "c"]), Barrier(6, timeout=PATIENCE), list[str]()

    def work(node: str) -> str:
        seen.append(node)
        together.wait()
        return node

    with ThreadPoolExecutor(6) as threads:
        [*threads.map(lambda _: equal.first(work, 1), range(6))]
    assert Counter(seen[:6]) == {"a": 2, "b": 2, "c": 2}


def test_a_late_request_goes_to_a_second_node_and_the_first_answer_counts(gate: Event) -> None:
    """Nothing failed, so nothing is named."""
    equal = Nodes(["a", "b"])
    for _ in range(FEWEST):
        equal.first(str, 1)
    with meter.metered() as spent:
        assert equal.first(hung("a", gate), 1) == "b"
    assert spent.degraded == []
    assert [equal.first(hung("a", gate), 1) for _ in range(5)] == ["b"] * 5  # "a" still has one running


def test_a_slow_node_does_not_make_slowness_usual() -> None:
    """One of three that takes as long as it likes is late each time, from the first answers on."""
    equal = Nodes(["a", "b", "c"])
    equal._pace.extend([0.001, 0.001, 5.0] * 10)
    assert equal._patience(10) == nodes.SOONEST
    assert equal._patience(100) == pytest.approx(0.3)


def test_before_the_usual_time_is_known_a_second_is_late(gate: Event) -> None:
    assert Nodes(["a"])._patience(1000) == 1.0


def test_a_node_that_fails_is_named_and_left_out_and_then_tried_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """While its pause lasts nobody goes there; the trial's answer takes it in again."""
    equal, now = Nodes(["a", "b"]), [100.0]
    monkeypatch.setattr(nodes, "monotonic", lambda: now[0])
    with meter.metered() as spent:
        assert equal.first(failing("a"), 1) == "b"
    assert spent.degraded == ["a is down"]
    assert [equal.first(str, 1) for _ in range(3)] == ["b"] * 3
    now[0] += 0.6
    assert equal.first(lambda node: node + equal.first(str, 1), 1) == "ab"  # during the trial the other is taken
    assert {equal.first(str, 1) for _ in range(4)} == {"a", "b"}


@pytest.mark.parametrize(
    ("about", "pause"), [({"wait": 5.0}, 5.0), ({"status": 401}, 60.0), ({"status": 409}, 60.0), ({"wait": 9e9}, 60.0)]
)
def test_the_pause_is_what_the_node_asks_for_or_a_minute(
    about: dict[str, float], pause: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A minute for one that refuses every request, and at most."""
    equal, now = Nodes(["a", "b"]), [100.0]
    monkeypatch.setattr(nodes, "monotonic", lambda: now[0])
    equal.first(failing("a", **about), 1)
    now[0] += pause - 0.1
    assert {equal.first(str, 1) for _ in range(4)} == {"b"}
    now[0] += 0.2
    assert {equal.first(str, 1) for _ in range(4)} == {"a", "b"}


def test_where_all_fail_the_error_has_the_last_reason_and_the_next_one_comes_at_once() -> None:
    """All are left out then: nobody is asked."""
    equal = Nodes(["a", "b"])
    with pytest.raises(EndpointError, match=r"none of 2 nodes answers \(b is down\)"):
        equal.first(failing("a", "b"), 1)
    with pytest.raises(EndpointError, match="all failed a moment ago"):
        equal.first(str, 1)


def test_what_the_network_forbids_is_a_failure_of_the_node() -> None:
    def work(node: str) -> str:
        raise NetworkError("not allowed")

    with pytest.raises(EndpointError, match="not allowed"):
        Nodes(["a"]).first(work, 1)


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_request_at_fault_is_sent_nowhere_else_and_no_node_is_left_out(status: int) -> None:
    equal = Nodes(["a", "b"])
    with pytest.raises(EndpointError, match="a is down"):
        equal.first(failing("a", "b", status=status), 1)
    assert {equal.first(str, 1) for _ in range(2)} == {"a", "b"}


def test_a_bug_passes_through() -> None:
    with pytest.raises(KeyError):
        Nodes(["a", "b"]).first(lambda node: {}[node], 1)


def test_a_cancelled_question_waits_for_no_node(gate: Event) -> None:
    stop = Event()

    def work(node: str) -> bool:
        stop.set()
        return gate.wait(PATIENCE)

    with heeding(stop), pytest.raises(Cancelled):
        Nodes(["a"]).first(work, 1)
