"""A server on loopback that does what servers should not, and remembers what it was asked.

What it does is in the path, so that a test reads as what it meets: `faults.url + "/status/429?after=1"`.
"""

from __future__ import annotations

import base64
import gzip
import socket
import socketserver
import ssl
import struct
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

PLANTED = "planted-7c1f"
"""What is in every key of every test; `conftest.py` looks for it in all that the tests have written."""
BOMB = gzip.compress(bytes(50_000_000), 9)
"""50 kB that unpack to 50 MB."""


def spelled(text: str) -> list[bytes]:
    """A text as it is, and as it is within something in Base64: at each of three offsets, without the ends."""
    plain = text.encode()
    coded = [base64.b64encode(bytes(n) + plain)[-(-n * 8 // 6) : (n + len(plain)) * 8 // 6] for n in range(3)]
    return [plain, *coded]


@dataclass
class Asked:
    """One request that came, and when."""

    method: str
    target: str
    headers: dict[str, str]
    """Keys in lower case."""
    body: bytes
    time: float


@dataclass
class Faults:
    """The server's address and its log."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)
    """How often each target was asked for."""
    closing: threading.Event = field(default_factory=threading.Event)
    answers: Mapping[str, Callable[[Faults], Answer]] = field(default_factory=dict)
    """Answers of a test's own, by the first part of the path."""

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])


@contextmanager
def faults(
    tls: ssl.SSLContext | None = None, answers: Mapping[str, Callable[[Faults], Answer]] | None = None
) -> Iterator[Faults]:
    """The server, on a free port of 127.0.0.1, while the context is open."""
    told = Faults(answers=answers or {})

    class Handler(socketserver.StreamRequestHandler):
        def setup(self) -> None:
            if tls:
                self.request = tls.wrap_socket(self.request, server_side=True)
            super().setup()

        def finish(self) -> None:
            super().finish()
            self.request.close()

        def handle(self) -> None:
            with suppress(OSError):
                while asked := _read(self):
                    told.asked.append(asked)
                    told.seen[asked.target] += 1
                    answer = _answer(asked, told)
                    if not answer(self):
                        return

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, *_: object) -> None:
            """A client that does not take the certificate is what the test is about."""

    with Server(("127.0.0.1", 0), Handler) as server:
        told.url = f"http{'s' * bool(tls)}://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield told
        told.closing.set()
        server.shutdown()
        thread.join()


Answer = Callable[[socketserver.StreamRequestHandler], bool]
"""Writes an answer; whether the connection may be used again."""


def _read(handler: socketserver.StreamRequestHandler) -> Asked | None:
    first = handler.rfile.readline().decode("latin-1").split()
    if len(first) != 3:
        return None
    headers: dict[str, str] = {}
    while line := handler.rfile.readline().decode("latin-1").strip():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = handler.rfile.read(int(headers.get("content-length", "0")))
    return Asked(first[0], first[1], headers, body, time.monotonic())


def _answer(asked: Asked, told: Faults) -> Answer:
    parts = urlsplit(asked.target)
    options = dict(parse_qsl(parts.query))
    name, *rest = parts.path.strip("/").split("/")
    if name in told.answers:
        return told.answers[name](told)
    if name == "status":  # /status/CODE, /status/CODE/after/SECONDS
        after = rest[2] if rest[1:2] == ["after"] else options.get("after")
        headers = {"Retry-After": after} if after else {}
        return whole(rest[0].encode(), int(rest[0]), headers)
    if name == "flaky":  # /flaky/TIMES/STATUS: so often, then well
        failed = told.seen[asked.target] <= int(rest[0])
        headers = {"Retry-After": options.get("after", "0"), "MediaWiki-API-Error": options.get("error", "")}
        return whole(b"sorry", int(rest[1]), headers) if failed else whole(b"well")
    if name == "broken":  # /broken/TIMES: closed without a word so often, then well
        return gone if told.seen[asked.target] <= int(rest[0]) else whole(b"well")
    if name == "to":
        return whole(b"elsewhere", int(options.get("status", "302")), {"Location": options["url"]})
    if name == "round":
        return whole(b"", 302, {"Location": f"/round/{told.seen.total()}"})
    if name == "echo":
        return whole("\n".join(f"{key}: {value}" for key, value in asked.headers.items()).encode() + asked.body)
    if name == "type":  # /type/KIND/SUBKIND?charset=…&text=…&coding=…
        charset = f"; charset={options['charset']}" if "charset" in options else ""
        text = options.get("text", "").encode(options.get("coding", "utf-8"))
        return whole(text, headers={"Content-Type": f"{'/'.join(rest)}{charset}"})
    if name == "slow":
        return lambda handler: not told.closing.wait(float(rest[0])) and whole(b"at last")(handler)
    if name == "drip":
        return lambda handler: drip(handler, told.closing, rest[0])
    return {
        "reset": reset,
        "cut": cut,
        "bomb": whole(BOMB, headers={"Content-Encoding": "gzip"}),
        "torn": whole(gzip.compress(b"x" * 1000)[:-9], headers={"Content-Encoding": "gzip"}),
        "brotli": whole(b"\x0b\x02\x80hi\x03", headers={"Content-Encoding": "br"}),
        "padded": whole(gzip.compress(b"packed") + bytes(512), headers={"Content-Encoding": "gzip"}),
        "packed": whole(gzip.compress(b"packed"), headers={"Content-Encoding": "gzip"}),
        "gigabyte": gigabyte,
        "endless": endless,
        "garbage": garbage,
        "cookie": whole(b"have one", headers={"Set-Cookie": "session=s3cret"}),
        "json": whole(b'{"a": [1]}', headers={"Content-Type": "application/json"}),
        "deep": whole(b"[" * 100_000),
        "pdf": whole(b"<html><body>no PDF</body></html>", headers={"Content-Type": "application/pdf"}),
    }.get(name, whole(b"well"))


def whole(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    """A sound answer, whatever it says."""
    lines = {"Content-Length": str(len(body)), **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())

    def answer(handler: socketserver.StreamRequestHandler) -> bool:
        handler.wfile.write(f"HTTP/1.1 {status} Said\r\n{head}\r\n".encode("latin-1") + body)
        return True

    return answer


def gone(_: socketserver.StreamRequestHandler) -> bool:
    """Nothing at all."""
    return False


def reset(handler: socketserver.StreamRequestHandler) -> bool:
    """The connection torn down in the middle of the body."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nsome of it")
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    return False


def cut(handler: socketserver.StreamRequestHandler) -> bool:
    """A body shorter than it says."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nsome of it")
    return False


def gigabyte(handler: socketserver.StreamRequestHandler) -> bool:
    """A body of 1 GB, as it says itself."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
    return pour(handler, bytes(1 << 16))


def endless(handler: socketserver.StreamRequestHandler) -> bool:
    """A body that never ends, and does not say so."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    return pour(handler, b"10000\r\n" + bytes(1 << 16) + b"\r\n")


def pour(handler: socketserver.StreamRequestHandler, piece: bytes) -> bool:
    """1 GB, or as much as is taken."""
    for _ in range(1_000_000_000 // len(piece)):
        handler.wfile.write(piece)
    return False


def garbage(handler: socketserver.StreamRequestHandler) -> bool:
    """No HTTP."""
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")
    return False


def drip(handler: socketserver.StreamRequestHandler, closing: threading.Event, where: str) -> bool:
    """Slow loris: a byte each 20 ms, of the head or of the body."""
    head = b"HTTP/1.1 200 OK\r\nX: "
    handler.wfile.write(head if where == "head" else head + b"y\r\nContent-Length: 100000\r\n\r\n")
    while not closing.wait(0.02):
        handler.wfile.write(b"x")
    return False


def certified(folder: Path, name: str = "localhost", *, expired: bool = False) -> tuple[Path, ssl.SSLContext]:
    """A certificate for a name and for 127.0.0.1, signed by itself: its file, and a server's context with it."""
    config, key, file = folder / "openssl.cnf", folder / "key.pem", folder / f"{name}.pem"
    database = "\n".join(
        f"{key} = {value}"
        for key, value in {
            "database": folder / "index.txt",
            "new_certs_dir": folder,
            "serial": folder / "serial",
            "policy": "any",
            "default_md": "sha256",
        }.items()
    )
    extensions = f"basicConstraints = critical, CA:TRUE\nsubjectAltName = DNS:{name}, IP:127.0.0.1"
    config.write_text(
        f"[ca]\ndefault_ca = here\n[here]\n{database}\n[any]\ncommonName = supplied\n[ext]\n{extensions}\n"
        "[req]\ndistinguished_name = dn\n[dn]\n"
    )
    (folder / "index.txt").touch()
    (folder / "serial").write_text("01\n")
    ends = "20200201000000Z" if expired else "20991231000000Z"
    request = folder / "request.pem"
    new = ("req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-subj", f"/CN={name}", "-out", request)
    sign = ("ca", "-batch", "-selfsign", "-keyfile", key, "-in", request, "-out", file, "-extensions", "ext")
    dates = ("-startdate", "20200101000000Z", "-enddate", ends, "-notext")
    for command in (new, (*sign, *dates)):
        subprocess.run(["openssl", *map(str, command), "-config", str(config)], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, key)
    return file, context
