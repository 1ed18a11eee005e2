"""An endpoint on loopback that answers what it is posted by a function, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

Say = Callable[[dict[str, Any]], Any]
"""The JSON to answer a request's JSON with."""


@dataclass
class Endpoint:
    """How it answers, where it is, and each request: `path`, `key`, and what was posted."""

    say: Say
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)


E = TypeVar("E", bound=Endpoint)


@contextmanager
def listening(endpoint: E) -> Iterator[E]:
    """The endpoint, on a free port of 127.0.0.1, while the context is open."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            endpoint.asked.append({"path": self.path, "key": self.headers["Authorization"], **asked})
            body = json.dumps(endpoint.say(asked)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        endpoint.url = f"http://127.0.0.1:{http.server_port}/v1"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield endpoint
        http.shutdown()
        thread.join()
