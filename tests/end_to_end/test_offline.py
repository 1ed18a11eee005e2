"""Once the models are there, a question is answered without a network."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import surefoot
from surefoot.models import registry

DEMO = Path(surefoot.__file__).parent / "demo"

GUARD = """
import os, sys
def guard(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        os.write(2, f"NETWORK: {event} {arguments[1:]}".encode())
        os._exit(97)
sys.addaudithook(guard)
from surefoot.cli import main
sys.argv[0] = "surefoot"
main()
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        registry.status()[0].state != "ready", reason="the language model is not here: surefoot models pull"
    ),
]


def surefoot(folder: Path, *arguments: str, wrap: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SUREFOOT_OFFLINE": "1"}
    line = [*wrap, sys.executable, "-c", GUARD, *arguments]
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("offline")
    done = surefoot(folder, "index", str(DEMO / "library"))
    assert done.returncode == 0, done.stderr
    return folder


def test_the_guard_bites() -> None:
    """The guard that the other tests rely on ends a process that opens a connection."""
    code = GUARD.replace("from surefoot.cli import main", "import socket; socket.create_connection(('127.0.0.1', 9))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 97


def test_a_question_is_answered_without_opening_a_connection(indexed: Path) -> None:
    """`ask` runs end to end, real model and all, and no code of Python's connects, sends or looks up a name."""
    done = surefoot(indexed, "ask", "Who built the Ruvel Bridge?", "--json")
    assert done.returncode == 0, done.stderr
    assert "Tomas Aldwin" in json.loads(done.stdout)["answer"]["text"]


def test_a_question_is_answered_where_there_is_no_network_at_all(indexed: Path) -> None:
    """The same in a network namespace without any interface, which binds C++ code too, loopback included."""
    if not shutil.which("unshare") or subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode:
        pytest.skip("this system does not let us make a network namespace")
    done = surefoot(indexed, "ask", "Who built the Ruvel Bridge?", "--json", wrap=("unshare", "-rn"))
    assert done.returncode == 0, done.stderr
    assert "Tomas Aldwin" in json.loads(done.stdout)["answer"]["text"]
