"""The page of a run's folder for a browser on this machine: on loopback only, behind an address nobody can guess."""

from __future__ import annotations

from hmac import compare_digest
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from secrets import token_urlsafe

from surefoot.evaluate.report.page import page, policy, read
from surefoot.types.errors import SurefootError

LOOPBACK = "127.0.0.1"


class Server(ThreadingHTTPServer):
    """Serves the page of one folder; each request reads the folder anew. It is used as a context, which closes it."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = f"/{token_urlsafe(24)}/"
        super().__init__((LOOPBACK, 0), _Request)

    @property
    def host(self) -> str:
        """The host that a browser names when it was sent here."""
        return f"{LOOPBACK}:{self.server_address[1]}"

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{self.host}{self._path}"

    def knows(self, host: str, path: str) -> bool:
        """Whether this is the way to the page: a name that somebody else pointed at this machine is not."""
        return host == self.host and compare_digest(path.encode(), self._path.encode())


class _Request(BaseHTTPRequestHandler):
    server: Server
    server_version, sys_version = "surefoot", ""
    timeout = 60

    def do_GET(self) -> None:
        if not self.server.knows(self.headers.get("Host", ""), self.path):
            self._reply(HTTPStatus.NOT_FOUND, "text/plain", "There is nothing here.\n")
            return
        try:
            self._reply(HTTPStatus.OK, "text/html", page(read(self.server.folder)))
        except (SurefootError, OSError) as error:
            self._reply(HTTPStatus.INTERNAL_SERVER_ERROR, "text/plain", f"{error}\n")

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the address is a secret, and the terminal is whoever started us."""

    def _reply(self, status: HTTPStatus, kind: str, text: str) -> None:
        body = text.encode(errors="replace")
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", f"{policy()}; frame-ancestors 'none'")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.end_headers()
        self.wfile.write(body)
