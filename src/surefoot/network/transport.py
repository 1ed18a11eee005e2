"""HTTP over connections that the guard has judged, within the thread's deadline.

httpx is not enough: its transports look a name up when they connect, after any check, and their timeouts are for each
read, so a server that sends a byte now and then holds a thread for days.
"""

import math
import socket
import ssl
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import httpcore
import httpx

from surefoot.network.guard import Guard, canonical
from surefoot.network.pace import left
from surefoot.run import cancel

Origin = tuple[str, int]  # a host, as `canonical` writes it, and its port


def origin(url: httpx.URL) -> Origin:
    """The host and port that a connection for this address goes to."""
    return canonical(url.raw_host.decode("ascii")), url.port or (443 if url.scheme == "https" else 80)


class Transport(httpx.HTTPTransport):
    """Guarded connections for any `httpx.Client`, without proxies, which would look the name up themselves. `trusted`
    may be private. Raises NetworkError for what the guard refuses, else httpx's errors."""

    def __init__(self, guard: Guard, trusted: Origin | None, verify: ssl.SSLContext) -> None:
        # In place of httpx's own pool, which has no guard; an httpx that keeps its pool elsewhere fails at once.
        self._pool = httpcore.ConnectionPool(
            ssl_context=verify,
            max_connections=200,  # more than judgements in flight, which would wait here until they are late
            max_keepalive_connections=200,
            keepalive_expiry=5,
            network_backend=Backend(guard, trusted),
        )


def _looked_up(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(eq=False)
class Backend(httpcore.NetworkBackend):
    """Connects to the very address that was judged. `lookup` gives a name's addresses, `sockets` connects."""

    guard: Guard
    trusted: Origin | None
    lookup: Callable[[str, int], list[str]] = _looked_up
    sockets: httpcore.NetworkBackend = field(default_factory=httpcore.SyncBackend)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """A connection to the first of the host's addresses that answers; each gets an even share of the time."""
        trusted = (canonical(host), port) == self.trusted
        self.guard.check(host, port, trusted)  # before the name is looked up, which already tells somebody
        addresses = self.guard.judged(host, port, self._addresses(host, port, _bounded(timeout)), trusted)
        for others, address in zip(range(len(addresses) - 1, -1, -1), addresses, strict=True):
            bound = _bounded(timeout)
            share = None if bound is None else bound / (others + 1)
            try:
                return _Stream(self.sockets.connect_tcp(address, port, share, local_address, socket_options))
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if not others:
                    raise
        raise httpcore.ConnectError(f"{host} has no address")

    def _addresses(self, host: str, port: int, timeout: float | None) -> list[str]:
        """The addresses of a host; the system's lookup has no timeout, so it waits in a thread of its own."""
        try:
            return cancel.beside(self.lookup, host, port).result(timeout)
        except TimeoutError:
            raise httpcore.ConnectTimeout(f"no address for {host} in time") from None
        except OSError as error:
            raise httpcore.ConnectError(f"no address for {host}: {error.strerror or error}") from error
        except UnicodeError as error:
            raise httpcore.ConnectError(f"no address for {host}: not a host's name ({error})") from error


class _Stream(httpcore.NetworkStream):
    """A connection whose every read and write ends with the deadline of whoever uses it."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _bounded(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _bounded(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, _bounded(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _bounded(timeout: float | None) -> float | None:
    cancel.check()  # before each piece that is read or sent
    remaining = left()
    if remaining <= 0:
        raise httpcore.ReadTimeout("the deadline has passed")
    bound = min(remaining, math.inf if timeout is None else timeout)
    return None if math.isinf(bound) else bound
