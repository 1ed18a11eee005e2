"""`surefoot serve` as a process of its own."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

httpx = pytest.importorskip("httpx")

QUICK = """
searcher = "nowhere"
retriever = "bm25"
evaluator = "lexical"
generator = "extractive"
[network]
allow = []
cache = ""
[server]
waiting = 64
"""
"""Nothing is loaded or fetched."""


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def serving(folder: Path, config: str = QUICK) -> Iterator[tuple[subprocess.Popen[bytes], Any]]:
    """`surefoot serve` in a folder of its own, and a client of it."""
    (folder / "surefoot.toml").write_text(config)
    port = free_port()
    command = [sys.executable, "-m", "surefoot", "serve", "--no-browser", "--port", str(port)]
    log = (folder / "log").open("ab")
    process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env=os.environ)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            for _ in range(1200):
                with suppress(httpx.TransportError):
                    client.get("/health")
                    break
                assert process.poll() is None, (folder / "log").read_text()
                time.sleep(0.1)
            yield process, client
    finally:
        process.kill()
        process.wait()
        log.close()
