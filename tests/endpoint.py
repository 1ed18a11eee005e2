"""Web servers on loopback that answer by a function, and remember what they were asked."""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar


@dataclass(frozen=True)
class WebRequest:
    """One request that came."""

    method: str
    target: str
    headers: dict[str, str]
    """Keys in lower case."""
    body: bytes


WebAnswer = tuple[int, Mapping[str, str], bytes]
"""Status, headers and body; a Content-Length among the headers takes the place of the true one."""


@contextmanager
def serving(answer: Callable[[WebRequest], WebAnswer]) -> Iterator[str]:
    """The address of a web server on a free port of 127.0.0.1, while the context is open."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, fields, content = answer(WebRequest(self.command, self.path, headers, body))
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **fields}.items():
                self.send_header(name, value)
            with suppress(ConnectionError):  # whoever asked did not wait
                self.end_headers()
                self.wfile.write(content)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 512

    with Server(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


Say = Callable[[dict[str, Any]], Any]
"""The JSON to answer a request's JSON with."""


@dataclass
class Endpoint:
    """How it answers, where it is, and each request: `path`, `key`, and what was posted."""

    say: Say
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def writing(says: str) -> Iterator[Endpoint]:
    """A language model that writes this, word by word."""
    pieces = [*({"content": word} for word in re.findall(r"\S+\s*", says)), {}]
    found = Endpoint(lambda asked: [{"choices": [{"index": 0, "delta": piece}]} for piece in pieces])

    def answer(request: WebRequest) -> WebAnswer:
        found.asked.append(json.loads(request.body))
        chunks = found.say(found.asked[-1])
        chunks[-1]["choices"][0]["finish_reason"] = "stop"
        lines = (f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
        return 200, {"Content-Type": "text/event-stream"}, "".join([*lines, "data: [DONE]\n\n"]).encode()

    with serving(answer) as url:
        found.url = f"{url}/v1"
        yield found


E = TypeVar("E", bound=Endpoint)


@contextmanager
def listening(endpoint: E) -> Iterator[E]:
    """The endpoint, on a free port of 127.0.0.1, while the context is open."""

    def answer(request: WebRequest) -> WebAnswer:
        asked = json.loads(request.body)
        endpoint.asked.append({"path": request.target, "key": request.headers.get("authorization"), **asked})
        return 200, {}, json.dumps(endpoint.say(asked)).encode()

    with serving(answer) as url:
        endpoint.url = f"{url}/v1"
        yield endpoint
