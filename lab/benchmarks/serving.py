"""How soon `/health` is answered while clients misbehave: `python lab/benchmarks/serving.py [SECONDS]`, some minutes.

`surefoot serve` runs as a process of its own with its default settings, and a client asks for its health every 20 ms, a
connection each time. Beside that: nothing; 2,100 connections that send nothing, opened once, and each second; two
clients that send 1.9 MB, and then as much as is graded, to `/v1/rerank`, leave, and come again.
"""

import json
import selectors
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from multiprocessing import Event, Process
from multiprocessing.synchronize import Event as Flag
from pathlib import Path

import numpy as np

from server.process import serving  # of tests/, which has to be on the path

SILENT = 2_100
TEXT = "The bridge was built by the people of the valley, who crossed it every day. "
CONFIG = '[network]\nallow = []\ncache = ""\n'

Address = tuple[str, int]


def silent(again: float, address: Address, stop: Flag) -> None:
    """Open so many connections that ask for nothing; those that were closed are opened again after so many seconds."""
    with ExitStack() as stack, selectors.DefaultSelector() as closed:
        while not stop.is_set():
            for _ in range(SILENT - len(closed.get_map())):
                with suppress(OSError):
                    one = stack.enter_context(socket.create_connection(address, timeout=5))
                    closed.register(one, selectors.EVENT_READ)
            stop.wait(again)
            for key, _ in closed.select(0):
                closed.unregister(key.fileobj)
                key.fileobj.close()  # type: ignore[union-attr]


def leaving(characters: int, address: Address, stop: Flag) -> None:
    """Have texts of so many characters graded, and leave at once."""
    texts = [TEXT * (2_000 // len(TEXT))] * (characters // 2_000)
    body = json.dumps({"query": "Who built the bridge?", "documents": texts}).encode()
    head = "POST /v1/rerank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
    while not stop.is_set():
        with suppress(OSError), socket.create_connection(address, timeout=5) as one:
            one.sendall(f"{head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            stop.wait(0.3)


def probed(address: Address, seconds: float) -> list[float]:
    """Milliseconds until each answer; infinite: there was none, or it was no 200."""
    found, ends = list[float](), time.monotonic() + seconds
    while (begun := time.monotonic()) < ends:
        reply = b""
        with suppress(OSError), socket.create_connection(address, timeout=10) as one:
            one.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            reply = one.recv(15)
        found.append((time.monotonic() - begun) * 1000 if reply.startswith(b"HTTP/1.1 200") else np.inf)
        time.sleep(max(0.0, 0.02 - (time.monotonic() - begun)))
    return found


def main(seconds: float) -> None:
    """Print a line a load."""
    loads: dict[str, list[Callable[[Address, Flag], None]]] = {
        "nothing": [],
        "2,100 silent connections": [partial(silent, 3600.0)],
        "2,100 silent connections, opened again each second": [partial(silent, 1.0)],
        "two of 1.9 MB that leave": [partial(leaving, 1_900_000)] * 2,
        "two of 190,000 characters that leave": [partial(leaving, 190_000)] * 2,
    }
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), CONFIG) as (_, client):
        client.post("/v1/rerank", json={"query": "Who built it?", "documents": [TEXT]})  # the model is loaded
        address = (client.base_url.host, client.base_url.port)
        for name, load in loads.items():
            stop = Event()
            processes = [Process(target=each, args=(address, stop)) for each in load]
            for process in processes:
                process.start()
            time.sleep(1)
            found = probed(address, seconds)
            stop.set()
            for process in processes:
                process.join()
            begun = time.monotonic()
            status = client.post("/v1/rerank", json={"query": "Who built it?", "documents": [TEXT]}).status_code
            lost, (half, most) = sum(np.isinf(found)), np.quantile(found, [0.5, 0.99], method="higher")
            print(
                f"{name}: {len(found)} probes, {lost} without an answer, half within {half:.0f} ms, "
                f"99 % within {most:.0f} ms; then an answer ({status}) in {time.monotonic() - begun:.1f} s",
                flush=True,
            )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0)
