"""Grades of servers of our own, against some on loopback."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Event
from typing import Any

import pytest

from endpoint import WebAnswer, WebRequest, serving
from faults import PLANTED
from surefoot.contracts import PASSAGES, QUESTION, verify
from surefoot.evaluators.lexical import Lexical
from surefoot.evaluators.remote import Remote
from surefoot.network import Network
from surefoot.run import meter
from surefoot.run.store import to_json
from surefoot.types import Passage
from surefoot.types.errors import ConfigError

PAIRS = [(QUESTION, Passage(f"p{n}", f"The Ruvel Bridge has {n} arches and a keeper.")) for n in range(12)]
OWN = Lexical().grade(PAIRS)


class Node:
    """A server whose evaluator is lexical."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.answer: Callable[[dict[str, Any]], Any] = graded
        self.status = 200
        self.dead = Event()
        self.hung = False
        self.url = ""

    def __call__(self, request: WebRequest) -> WebAnswer:
        asked = json.loads(request.body)
        assert request.target == "/v1/grade"
        self.keys.append(request.headers.get("authorization"))
        self.requests.append(asked)
        if self.hung:
            self.dead.wait(20)
        return self.status, {}, json.dumps(self.answer(asked)).encode()


def graded(asked: dict[str, Any]) -> Any:
    """The answer of `surefoot serve`."""
    pairs = [(asked["question"], Passage(str(n), **one)) for n, one in enumerate(asked["passages"], 1)]
    return {"evaluator": Lexical.name, "grades": to_json(Lexical().grade(pairs))}


@contextmanager
def running(count: int) -> Iterator[list[Node]]:
    """So many of them."""
    with ExitStack() as stack:
        found = [Node() for _ in range(count)]
        for node in found:
            node.url = f"{stack.enter_context(serving(node))}/v1"
            stack.callback(node.dead.set)
        yield found


@pytest.fixture
def three() -> Iterator[list[Node]]:
    with running(3) as found:
        yield found


def remote(nodes: list[Node], **options: Any) -> Remote:
    """Their client."""
    return Remote([node.url for node in nodes], Lexical(), **options)


def test_it_keeps_the_contract(three: list[Node]) -> None:
    verify("evaluator", remote(three))


def test_grades_are_those_of_its_own_evaluator_in_order_and_each_node_has_its_share(three: list[Node]) -> None:
    """Whatever questions they are of; nothing fell back, and each is counted once."""
    pairs = [*PAIRS, ("keeper", PAIRS[3][1])]
    with meter.metered() as spent:
        grades = remote(three).grade(pairs)
    assert grades == Lexical().grade(pairs)
    assert (spent.graded, spent.degraded) == (13, [])
    assert sorted(len(one["passages"]) for node in three for one in node.requests) == [1, 4, 4, 4]
    assert all(node.requests for node in three)


def test_a_request_holds_no_more_passages_and_characters_than_a_server_takes(three: list[Node]) -> None:
    """A passage that is larger alone goes alone."""
    pairs = [(QUESTION, Passage(str(n), "bridge " * size)) for n, size in enumerate([9_000, 9_000, 20_000, 1, 1])]
    remote(three[:1], batch=2).grade(pairs)
    assert sorted(len(one["passages"]) for one in three[0].requests) == [1, 1, 1, 2]


def test_titles_and_texts_are_sent_and_the_key_of_the_environment(
    three: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither ids, nor addresses, nor fields."""
    monkeypatch.setenv("SUREFOOT_KEY", f"a-very-{PLANTED}-secret-key")
    remote(three[:1]).grade([(QUESTION, PASSAGES[1])])
    passages = [{"title": PASSAGES[1].title, "text": PASSAGES[1].text}]
    assert three[0].requests == [{"evaluator": Lexical.name, "question": QUESTION, "passages": passages}]
    assert three[0].keys == [f"Bearer a-very-{PLANTED}-secret-key"]


def test_a_node_that_dies_in_the_middle_is_named_and_the_others_grade_its_share(three: list[Node]) -> None:
    three[1].status = 503
    with meter.metered() as spent:
        assert remote(three, batch=2).grade(PAIRS) == OWN
    assert spent.graded == 12
    assert {f"{three[1].url} answered HTTP 503" in why for why in spent.degraded} == {True}


def test_a_node_that_hangs_is_overtaken(three: list[Node]) -> None:
    """Once the usual time is known, nobody waits for it."""
    client = remote(three)
    for _ in range(4):
        client.grade(PAIRS)
    three[0].hung = True
    with meter.metered() as spent:
        assert client.grade(PAIRS) == OWN
    assert (spent.graded, spent.degraded) == (12, [])


@pytest.mark.parametrize("count", [1, 3])
def test_where_all_are_down_this_machine_grades_and_says_so(count: int) -> None:
    """The same grades, with the reason."""
    with running(count) as nodes:
        client = remote(nodes)
    with meter.metered() as spent:
        assert client.grade(PAIRS) == OWN
    assert spent.degraded[-1].startswith(
        f"12 of 12 passages were graded on this machine: none of {count} nodes answers"
    )
    assert spent.graded == 12


def test_a_closed_network_is_no_way_out(three: list[Node]) -> None:
    with meter.metered() as spent:
        assert remote(three, network=Network(allow=[])).grade(PAIRS) == OWN
    assert "graded on this machine" in spent.degraded[-1]
    assert not any(node.requests for node in three)


def test_a_node_with_another_evaluator_is_refused_in_its_words(three: list[Node]) -> None:
    """And it is not asked again for a minute."""
    three[0].status, three[0].answer = 409, lambda _: {"error": {"message": "this server grades with minilm-0"}}
    client = remote(three)
    with meter.metered() as spent:
        assert client.grade(PAIRS) == client.grade(PAIRS) == OWN
    assert any("this server grades with minilm-0" in why for why in spent.degraded)
    assert len(three[0].requests) == 1


def changed(**fields: Any) -> Callable[[dict[str, Any]], Any]:
    """An answer whose last grade has these fields."""

    def answer(asked: dict[str, Any]) -> Any:
        sent = graded(asked)
        sent["grades"][-1] |= fields
        return sent

    return answer


@pytest.mark.parametrize(
    "answer",
    [
        lambda _: None,
        lambda _: [],
        lambda _: {},
        lambda _: {"grades": None},
        lambda _: {"grades": []},
        lambda asked: {"grades": graded(asked)["grades"] * 2},
        lambda asked: {"grades": [{"passage_id": "1"} for _ in asked["passages"]]},
        changed(score=float("nan")),
        changed(score="0.5"),
        changed(score=True),
        changed(score=None, reason=""),
        changed(probability=1.5),
        changed(probability=-0.1),
        changed(span=[5, 4]),
        changed(span=[-1, 4]),
        changed(window=[0, 10_000]),
        changed(span=[1]),
        changed(label="PERFECT"),
        changed(reason="x" * 1_000_000),
        changed(password="x"),
    ],
)
def test_what_is_no_grade_for_each_passage_is_refused(
    three: list[Node], answer: Callable[[dict[str, Any]], Any]
) -> None:
    """The node counts as one that failed; a missing grade is not 0."""
    three[0].answer = answer
    with meter.metered() as spent:
        assert remote(three[:1]).grade(PAIRS) == OWN
    assert "graded on this machine" in spent.degraded[-1]
    assert three[0].url in spent.degraded[0]


def test_passages_too_large_for_a_server_are_graded_here_and_the_node_stays_in(three: list[Node]) -> None:
    three[0].status = 413
    client = remote(three[:1])
    with meter.metered() as spent:
        client.grade(PAIRS)
    assert "answered HTTP 413" in spent.degraded[-1]
    three[0].status = 200
    with meter.metered() as spent:
        client.grade(PAIRS)
    assert spent.degraded == []


def test_it_needs_an_address() -> None:
    with pytest.raises(ConfigError, match="base_url lists no server"):
        Remote([])
