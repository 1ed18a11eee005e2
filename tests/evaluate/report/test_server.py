"""The server: one page, for whoever has its address on this machine."""

from __future__ import annotations

import http.client
import ipaddress
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

import sample_run
from surefoot.evaluate.report.page import page, read
from surefoot.evaluate.report.server import Server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """At work, on a folder of three records."""
    with Server(sample_run.write(tmp_path, 3)) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def asked(server: Server, path: str, host: str | None = None) -> tuple[http.client.HTTPResponse, str]:
    line = http.client.HTTPConnection(server.host, timeout=30)
    line.request("GET", path, headers={"Host": host or server.host})
    reply = line.getresponse()
    text = reply.read().decode()
    line.close()
    return reply, text


def path(server: Server) -> str:
    return server.url.removeprefix(f"http://{server.host}")


def test_the_address_gives_the_page(server: Server) -> None:
    """The same as in a file, kept by nobody, and framed by nobody."""
    reply, text = asked(server, path(server))
    assert reply.status == 200
    assert text == page(read(server.folder))
    assert reply.headers["Cache-Control"] == "no-store"
    assert reply.headers["Content-Security-Policy"].endswith("frame-ancestors 'none'")
    assert reply.headers["Server"].strip() == "surefoot"


def test_only_this_machine_is_listened_to(server: Server) -> None:
    """On loopback, at a port that the system chose."""
    address, port = server.server_address[:2]
    assert ipaddress.ip_address(str(address)).is_loopback
    assert port > 0


def test_another_path_or_name_finds_nothing(server: Server) -> None:
    """Neither the root, nor a part of the secret, nor a stranger's name that was made to point here."""
    for other in ("/", "/run.json", path(server)[:-2] + "/", path(server) + "../"):
        assert asked(server, other)[0].status == 404
    assert asked(server, path(server), f"evil.example:{server.server_address[1]}")[0].status == 404


def test_each_server_has_an_address_of_its_own(tmp_path: Path) -> None:
    """With a secret of at least 24 bytes."""
    with Server(tmp_path) as one, Server(tmp_path) as other:
        assert one.url.split("/")[3] != other.url.split("/")[3]
        assert len(one.url.split("/")[3]) >= 32


def test_a_reload_shows_what_has_come_since(server: Server) -> None:
    """The folder is read for each request; while it is damaged, the reply says so in plain text."""
    _, before = asked(server, path(server))
    sample_run.write(server.folder, 4)
    _, after = asked(server, path(server))
    assert len(after) > len(before)
    (server.folder / "diagnosis.json").write_text("{")
    reply, text = asked(server, path(server))
    assert (reply.status, reply.headers.get_content_type()) == (500, "text/plain")
    assert "diagnosis.json is damaged" in text
    (server.folder / "diagnosis.json").unlink()
    (server.folder / "diagnosis.json").mkdir()
    reply, text = asked(server, path(server))
    assert (reply.status, "diagnosis.json" in text) == (500, True)
