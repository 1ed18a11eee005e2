"""A server that speaks the page's contract and knows only what was recorded: no index, no model, no library."""

from __future__ import annotations

import json
import struct
import threading
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from surefoot import web
from surefoot.run.store import from_json
from surefoot.types import Trace

TYPES = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml", "html": "text/html; charset=utf-8"}
Json = dict[str, Any]


@dataclass
class Double:
    """What it is told to be like. A test changes it between two requests."""

    recording: Json
    gates: dict[str, threading.Event] = field(default_factory=dict)
    """Events that are not told before their gate is open."""
    speed: float = 0
    """Share of the recorded time that events take; 0: all at once."""
    key: str = ""
    """Wanted as a cookie; empty: open to all."""
    refuses: list[tuple[int, str, dict[str, str]]] = field(default_factory=list)
    """Status, message and headers with which the next questions are refused, in order."""
    breaks_after: str = ""
    """The event after which the connection is cut; empty: none."""
    loses: bool = False
    """True: a trace whose connection was cut is not kept."""
    unread: list[Json] = field(default_factory=list)
    evaluations: dict[str, str] = field(default_factory=dict)
    asked: list[Json] = field(default_factory=list)
    feedback: list[Json] = field(default_factory=list)
    uploads: list[list[str]] = field(default_factory=list)
    conversations: dict[str, Json] = field(default_factory=dict)
    traces: dict[str, Json] = field(default_factory=dict)
    polls: int = 0

    def __post_init__(self) -> None:
        self.documents = {one["id"]: one for one in self.recording["documents"]}
        self.collection = dict(self.recording["collection"])

    def events(self, question: str, conversation: str) -> Iterator[tuple[str, Json]]:
        """The recorded events of this question, or of the first one where it is none of them."""
        known = self.recording["asked"]
        found = next((one for one in known if one["question"].lower() == question.lower()), known[0])
        name = f"{len(self.traces):012x}"
        trace = {**found["trace"], "id": name, "question": question}
        told = {"id": name, "question": question, "collection": self.collection["name"]}
        begin = {**told, "conversation": conversation, "thresholds": self.recording["thresholds"]}
        yield "begin", {"trace": name, "at": 0, "value": begin}
        before = 0.0
        for event, at, value in found["events"]:
            time.sleep(max(0, at - before) * self.speed)
            before = at
            if event in self.gates:
                self.gates[event].wait(120)
            yield event, {"trace": name, "at": at, "value": value}
        self.traces[name] = trace
        kept = self.conversations.setdefault(conversation, {"id": conversation, "title": question, "turns": []})
        kept["turns"].append(name)
        yield "end", {"trace": name, "at": before, "value": None}

    def passage(self, name: str) -> Json | None:
        every = [p for one in self.recording["asked"] for p in one["trace"]["passages"]]
        return next((one for one in every if one["id"] == name), None)


def picture() -> bytes:
    """A PNG of one grey page."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\xf4" * 60 for _ in range(80))
    head = struct.pack(">IIBBBBB", 60, 80, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    double: Double

    def log_message(self, *_: Any) -> None:
        """Nothing: a test says itself what it asks."""

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        parts = [unquote(part) for part in url.path.strip("/").split("/")]
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if parts == [""]:
            return self.send(200, web.served().encode(), "text/html; charset=utf-8")
        if parts[0] == "static":
            return self.file(parts[1])
        if self.locked():
            return None
        return self.found(parts, query)

    def found(self, parts: list[str], query: dict[str, str]) -> None:
        it = self.double
        match parts:
            case ["collections"]:
                self.say({"collections": [it.collection, {"name": "notes", "documents": 0, "passages": 0}]})
            case ["conversations"]:
                listed = [
                    {**one, "turns": len(one["turns"]), "collection": it.collection["name"], "updated": ""}
                    for one in it.conversations.values()
                ]
                self.say({"conversations": listed[::-1]})
            case ["conversations", name] if name in it.conversations:
                one = it.conversations[name]
                turns = [it.traces[trace] for trace in one["turns"]]
                kept = [value for value in it.feedback if value["trace"] in one["turns"]]
                self.say({**one, "collection": it.collection["name"], "turns": turns, "feedback": kept})
            case ["traces", name] if name in it.traces:
                self.say(it.traces[name])
            case ["traces", name, "share"] if name in it.traces:
                text = web.shared(from_json(Trace, it.traces[name]))
                self.send(200, text.encode(), "text/html; charset=utf-8", {"Content-Disposition": "attachment"})
            case ["passages", name] if passage := it.passage(name):
                about = next((d for d in it.documents.values() if d["file"] == passage["file"]), None)
                about = about and {key: value for key, value in about.items() if key != "blocks"}
                self.say({"passage": passage, "document": about, "before": None, "after": None})
            case ["documents"]:
                listed = [{k: v for k, v in one.items() if k != "blocks"} for one in it.documents.values()]
                self.say({"documents": listed if query.get("collection") != "notes" else [], "next": None})
            case ["documents", name, "text"] if name in it.documents:
                one = it.documents[name]
                start, end = int(query.get("start", 0)), int(query.get("end", 20_000))
                blocks = [block for block in one["blocks"] if block["end"] > start and block["start"] < end]
                about = {key: value for key, value in one.items() if key != "blocks"}
                bounds = (blocks[0]["start"], blocks[-1]["end"]) if blocks else (0, 0)
                self.say({"document": about, "start": bounds[0], "end": bounds[1], "blocks": blocks})
            case ["documents", name, "pages", _] if name in it.documents:
                self.send(200, picture(), "image/png")
            case ["jobs", _]:
                it.polls += 1
                names = it.uploads[-1]
                state = "done" if it.polls > len(names) else "reading"
                done = min(it.polls, len(names))
                read = len(names) - len(it.unread) if state == "done" else 0
                job = {"id": "j", "state": state, "done": done, "of": len(names), "passages": 7 * read, "message": ""}
                self.say(
                    {**job, "file": names[min(done, len(names) - 1)], "unread": it.unread if state == "done" else []}
                )
            case ["evaluations"]:
                listed = [
                    {"name": n, "created": "2026-11-20", "records": 60, "summaries": SUMMARIES} for n in it.evaluations
                ]
                self.say({"evaluations": listed})
            case ["evaluations", name] if name in it.evaluations:
                self.send(200, it.evaluations[name].encode(), TYPES["html"])
            case _:
                self.refuse(404, "There is nothing of that name here.")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        it, path = self.double, unquote(urlsplit(self.path).path)
        if path == "/session":
            if json.loads(body)["key"] != it.key:
                return self.refuse(401, "This key is not known here. See: surefoot serve keys list")
            return self.send(204, b"", "", {"Set-Cookie": f"surefoot={it.key}; HttpOnly; SameSite=Strict; Path=/"})
        if self.locked():
            return None
        if path == "/documents":
            kind = self.headers["Content-Type"].encode()
            form = message_from_bytes(b"Content-Type: " + kind + b"\r\n\r\n" + body)
            it.uploads.append([part.get_filename() or "" for part in form.get_payload() if part.get_filename()])
            it.polls = 0
            return self.say({"job": "j"}, 202)
        value = json.loads(body)
        if path == "/feedback":
            it.feedback.append(value)
            return self.send(204, b"", "")
        if path.endswith("/explain"):
            return self.say(it.recording["attribution"])
        if path == "/ask":
            return self.stream(value)
        return self.refuse(404, "There is nothing of that name here.")

    def do_DELETE(self) -> None:
        kind, name = [unquote(part) for part in self.path.strip("/").split("/")]
        {"conversations": self.double.conversations, "documents": self.double.documents}[kind].pop(name, None)
        self.send(204, b"", "")

    def stream(self, value: Json) -> None:
        it = self.double
        it.asked.append(value)
        if it.refuses:
            status, message, headers = it.refuses.pop(0)
            return self.refuse(status, message, headers)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        last = ""
        try:
            for name, data in it.events(value["question"], value.get("conversation") or f"c{len(it.conversations)}"):
                if it.breaks_after and last == it.breaks_after:
                    if it.loses:
                        return None
                    continue
                last = name
                self.wfile.write(
                    f": here\n\nevent: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode(
                        "utf-8", "replace"
                    )
                )
                self.wfile.flush()
        except (BrokenPipeError, ConnectionResetError):
            pass
        return None

    def locked(self) -> bool:
        locked = bool(self.double.key) and f"surefoot={self.double.key}" not in self.headers.get("Cookie", "")
        if locked:
            self.refuse(401, "A key is wanted here.")
        return locked

    def file(self, name: str) -> None:
        path = Path(str(files("surefoot") / "web" / name))
        headers = {"Content-Security-Policy": web.served_policy(), "X-Content-Type-Options": "nosniff"}
        self.send(200, path.read_bytes(), TYPES[path.suffix[1:]], headers)

    def refuse(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        self.say({"error": {"code": str(status), "message": message}}, status, headers)

    def say(self, value: Json, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.send(status, json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"), "application/json", headers)

    def send(self, status: int, body: bytes, kind: str, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


SUMMARIES = [
    {"metric": "faithfulness", "mean": 0.91, "low": 0.88, "high": 0.94, "level": "high", "scored": 60, "unscored": 0},
    {
        "metric": "context_recall",
        "mean": 0.62,
        "low": 0.55,
        "high": 0.69,
        "level": "moderate",
        "scored": 60,
        "unscored": 0,
    },
    {"metric": "answer_relevancy", "mean": 0.44, "low": 0.38, "high": 0.5, "level": "low", "scored": 60, "unscored": 0},
]


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Nothing: a browser that leaves in the middle is what some tests are about."""


def serve(double: Double, port: int = 0) -> tuple[ThreadingHTTPServer, str]:
    """The running server and its address; `shutdown` ends it."""
    server = Server(("127.0.0.1", port), type("Bound", (Handler,), {"double": double}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}/"
