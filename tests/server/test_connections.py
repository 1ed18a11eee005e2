"""Connections that ask for nothing keep nobody out."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Thread

import pytest

from server.conftest import Slow, listening
from server.process import httpx
from surefoot.server import connections
from surefoot.server.service import Service


@contextmanager
def opened(url: str, count: int, data: bytes = b"") -> Iterator[list[socket.socket]]:
    """So many connections, over which nothing more is sent than these bytes."""
    address = httpx.URL(url)
    with ExitStack() as stack:
        found = [
            stack.enter_context(socket.create_connection((address.host, address.port), timeout=10))
            for _ in range(count)
        ]
        for one in found:
            one.sendall(data)
        yield found


def is_closed(one: socket.socket) -> bool:
    """Say whether the server has closed it, without waiting for that."""
    one.setblocking(False)
    try:
        return one.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


@pytest.mark.parametrize("data", [b"", b"GET /health HTTP/1.1\r\nHost: localhost\r\n"])
@pytest.mark.parametrize("limit", ["MOST", "MOST_OF_ADDRESS"])
def test_silent_connections_make_room(own: Service, limit: str, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest goes first, so that whoever comes next is answered; those that are left are no more than the limit."""
    monkeypatch.setattr(connections, limit, 5)
    with listening(own) as url, opened(url, 20, data) as silent:
        assert httpx.get(f"{url}/health", timeout=10).status_code == 200
        closed = [is_closed(one) for one in silent]
        assert sum(not one for one in closed) <= 5
        assert closed == sorted(closed, reverse=True)


def test_a_header_has_to_arrive_in_time(own: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """However slowly it comes."""
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.5)
    with listening(own) as url, opened(url, 1, b"GET /health HTTP/1.1\r\nX: ") as (one,):
        began = time.monotonic()
        while not is_closed(one):
            assert time.monotonic() - began < 10
            one.send(b"x")
            time.sleep(0.05)


def test_an_answer_may_take_longer_than_a_header(own: Service, slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor do others take its connection's place."""
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.2)
    monkeypatch.setattr(connections, "MOST", 3)
    with listening(own) as url:
        replies: list[int] = []
        ask = {"question": "Who built the Ruvel Bridge?"}
        asking = Thread(target=lambda: replies.append(httpx.post(f"{url}/ask", json=ask, timeout=60).status_code))
        asking.start()
        assert slow.running.wait(30)
        with opened(url, 10):
            time.sleep(0.5)
        slow.go.set()
        asking.join()
    assert replies == [200]
