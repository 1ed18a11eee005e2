"""The server as a process: it starts, answers over a real socket, and survives being killed."""

import signal
import socket
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from server.process import httpx, serving
from surefoot.index.search import Index
from surefoot.index.storage import others
from surefoot.run.store import read_trace

pytest.importorskip("uvicorn", reason="needs the extra server")

pytestmark = pytest.mark.slow


def test_it_stops_gracefully_and_says_nothing_of_what_was_asked(tmp_path: Path) -> None:
    """On SIGTERM, with code 0 or the signal's; the log holds no question."""
    with serving(tmp_path) as (process, client):
        files = [("file", ("bridge.md", b"# Ruvel Bridge\n\nThe Ruvel Bridge was built in 1911 by Tomas Aldwin.\n"))]
        job = client.post("/documents", files=files).json()["job"]
        while client.get(f"/jobs/{job}").json()["state"] not in ("done", "failed"):
            time.sleep(0.1)
        began = time.monotonic()
        with client.stream("POST", "/ask", json={"question": "Who built the Ruvel Bridge?"}) as reply:
            assert reply.status_code == 200
            assert b"Aldwin" in reply.read()
        assert time.monotonic() - began < 30
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) in (0, -signal.SIGTERM)
    assert "Ruvel" not in (tmp_path / "log").read_text()


def test_2100_silent_connections_keep_nobody_out(tmp_path: Path) -> None:
    """While they come, as long as they stay, and once they are gone."""
    with serving(tmp_path) as (_, client), ExitStack() as silent:
        for number in range(2_100):
            silent.enter_context(socket.create_connection((client.base_url.host, client.base_url.port)))
            if number % 100 == 0:
                assert client.get("/health").status_code == 200
        assert client.get("/collections").status_code == 200
        silent.close()
        assert client.get("/collections").status_code == 200


def test_a_kill_leaves_no_half_document_and_no_torn_trace(tmp_path: Path) -> None:
    """During uploads and questions, some times in a row; each start finds everything whole and goes on."""
    for turn in range(3):
        with serving(tmp_path) as (process, client):
            for n in range(8):
                text = "".join(f"# Part {part}\n\nThe bridge {turn}-{n}-{part} was built.\n\n" for part in range(40))
                files = [("file", (f"bridge-{turn}-{n}.md", text.encode()))]
                assert client.post("/documents", files=files).status_code in (202, 429)
                with suppress(httpx.HTTPError):
                    client.post("/ask", json={"question": f"Who built the bridge {turn}-{n}?"}, timeout=5)
            time.sleep(0.1 * turn)
            process.kill()
            process.wait()
        for trace in (tmp_path / "runs").rglob("*.json"):
            assert read_trace(trace).answer
        index = tmp_path / ".surefoot" / "index.db"
        if others(index, ""):
            with Index.open(index) as opened:
                opened.verify()
                assert len({one.passages for one in opened.documents() if one.state == "ready"}) <= 1
    with serving(tmp_path) as (_, client):
        for _ in range(600):
            found = client.get("/documents", params={"limit": 200}).json()["documents"]
            files = list((tmp_path / ".surefoot/server/collections/default/uploads").iterdir())
            if len(found) == len(files) and all(one["state"] == "ready" for one in found):
                break
            time.sleep(0.1)
        assert sorted(one["file"] for one in found) == sorted(f"uploads/{file.name}" for file in files)
        assert {one["passages"] for one in found} == {found[0]["passages"]}
