"""One request: its turn at the host, its retries and redirects, and the last byte of its answer."""

import ssl
import weakref
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from itertools import count
from threading import Lock

import httpx

from surefoot.network.guard import Guard
from surefoot.network.pace import Late, Turns, backoff, left
from surefoot.network.transport import Origin, Transport, origin
from surefoot.network.values import Ask, Reply, one_line
from surefoot.types.errors import NetworkError

_PASSING = (429, 500, 502, 503, 504)  # HTTP statuses that may change in a moment
_REDIRECTS = 10
_GZIP = 16 + zlib.MAX_WBITS


class _Broken(NetworkError):
    """The connection failed; another may not."""


class Exchanges:
    """Sends requests, guarded and in turn, and repeats them where that may help. One object serves all threads."""

    def __init__(self, guard: Guard, agent: str) -> None:
        self._guard = guard
        self._agent = agent
        self._turns = Turns()
        self._lock = Lock()
        self._verify = httpx.create_ssl_context()  # here, before a deadline begins: it reads all root certificates
        self._clients: dict[Origin | None, httpx.Client] = {}
        self._opened = ExitStack()
        weakref.finalize(self, self._opened.close)

    def checked(self, url: str, params: Mapping[str, str | int] | None) -> str:
        """The address with the parameters; raises NetworkError if it may not be asked."""
        try:
            address = httpx.URL(url).copy_merge_params(params) if params else httpx.URL(url)
        except (httpx.InvalidURL, UnicodeError):
            raise NetworkError(f"not an address: {one_line(url.partition('?')[0], 80)!r}") from None
        self._permitted(address)
        return str(address)

    def send(self, ask: Ask) -> Reply:
        """The server's last reply, after as many retries as the deadline allows; raises NetworkError."""
        for failures in count(1):
            last = failures > ask.retries
            pause, why = 0.0 if last else backoff(failures), "it failed just now, and is left alone"
            try:
                reply = self._followed(ask)
            except _Broken:
                if last or not self._turns.hold(origin(httpx.URL(ask.url)), pause, why):
                    raise
                continue
            # A MediaWiki under load says so in a header, with HTTP 200.
            if reply.status not in _PASSING and reply.headers.get("mediawiki-api-error") not in (
                "maxlag",
                "ratelimited",
            ):
                break
            if reply.wait is not None:
                pause, why = reply.wait, "it asked us to wait"
            if not self._turns.hold(origin(httpx.URL(reply.url)), pause, why) or last:
                break
        return reply

    def transport(self, trusted: str) -> Transport:
        """Guarded connections for another client."""
        return Transport(self._guard, origin(httpx.URL(trusted)), self._verify)

    def _permitted(self, url: httpx.URL) -> None:
        try:
            named = bool(url.host)
        except UnicodeError:  # httpx reads names beyond ASCII again, and "xn--" is none
            named = False
        if url.scheme not in ("http", "https") or not named:
            raise NetworkError(f"not an http or https address: {one_line(url.copy_with(query=None), 80)!r}")
        if url.userinfo:
            raise NetworkError(f"an address of {url.host} holds a login; put a key into the environment instead")
        self._guard.check(*origin(url))

    def _followed(self, ask: Ask) -> Reply:
        """The reply of the server or of one that it redirects to, which gets no secret unless it is the same."""
        home = origin(httpx.URL(ask.url))
        typed = {"Content-Type": "application/json"} if ask.content else {}
        headers = {"User-Agent": self._agent, "Accept-Encoding": "gzip", **typed, **ask.secret}
        request = httpx.Request(ask.method, ask.url, headers=headers, content=ask.content)
        for _ in range(_REDIRECTS + 1):
            self._permitted(request.url)
            wanted = ask.leave(str(request.url)) if ask.leave else None
            if late := self._turns.wait(origin(request.url), max(ask.spacing, wanted or 0.0)):
                raise Late(f"{request.url.host} was not asked: {late}")
            trusted = home if ask.trusted and origin(request.url) == home else None
            found = self._exchanged(self._client(trusted), request, ask.most)
            if isinstance(found, Reply):
                return found
            if origin(found.url) != home or found.url.scheme != httpx.URL(ask.url).scheme:
                for name in ask.secret:
                    found.headers.pop(name, None)
            request = found
        raise NetworkError(f"{httpx.URL(ask.url).host} redirects more than {_REDIRECTS} times")

    def _exchanged(self, client: httpx.Client, request: httpx.Request, most: int) -> Reply | httpx.Request:
        """The whole reply, or the request that a redirect asks for."""
        request.extensions["timeout"] = httpx.Timeout(max(left(), 0.0)).as_dict()
        with _faults(request.url.host):
            response = client.send(request, stream=True)
            try:
                if response.next_request:
                    return response.next_request
                body = _body(response, most)
            finally:
                response.close()
        headers = {name: value for name, value in response.headers.items() if not name.startswith("set-cookie")}
        return Reply(str(response.url), response.status_code, headers, body)

    def _client(self, trusted: Origin | None) -> httpx.Client:
        """The client for one trusted host, or for all others: a link in a page to that host must not use its
        connection. Clients keep no cookies and read no environment."""
        with self._lock:
            if trusted not in self._clients:
                jar = CookieJar(DefaultCookiePolicy(allowed_domains=()))
                transport = Transport(self._guard, trusted, self._verify)
                client = httpx.Client(transport=transport, cookies=jar, trust_env=False)
                self._clients[trusted] = self._opened.enter_context(client)
            return self._clients[trusted]


@contextmanager
def _faults(host: str) -> Iterator[None]:
    """Turn httpx's errors into ours. They may quote what was sent, so only what came is repeated."""
    try:
        yield
    except httpx.TimeoutException as error:
        raise Late(f"{host} gave no whole answer in time") from error
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError):
        raise NetworkError(f"{host} redirects to what is no http or https address") from None
    except httpx.LocalProtocolError:
        raise NetworkError(f"the request to {host} cannot be sent: a header is not fit for one") from None
    except httpx.TransportError as error:
        if certificate := _certificate(error):
            raise NetworkError(f"{host} has a certificate that does not hold: {certificate}") from error
        raise _Broken(f"{host} cannot be reached, or broke off: {one_line(error, 120)}") from error


def _certificate(error: BaseException | None) -> str | None:
    """The fault of the server's certificate; None: something else went wrong."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return one_line(error.verify_message, 120)
        error = error.__cause__ or error.__context__  # httpcore's pool raises `from None`
    return None


def _body(response: httpx.Response, most: int) -> bytes:
    """The decoded body; no more than `most` bytes are ever fetched or held."""
    host = response.url.host
    too_large = f"{host} sent more than {most:,} bytes, which is the most that is read"
    if int(response.headers.get("Content-Length", "0")) > most:
        raise NetworkError(too_large)
    coding = response.headers.get("Content-Encoding", "").strip().lower()
    if coding not in ("", "identity", "gzip", "x-gzip"):
        raise NetworkError(f"{host} sent its answer in the encoding {one_line(coding, 40)!r}, which was not requested")
    raw = response.iter_raw()
    whole = bytearray()
    for piece in _gunzipped(raw, most + 1, host) if "gzip" in coding else raw:
        whole += piece
        if len(whole) > most:
            raise NetworkError(too_large)
    return bytes(whole)


def _gunzipped(pieces: Iterable[bytes], most: int, host: str) -> Iterator[bytes]:
    inflater = zlib.decompressobj(_GZIP)
    began = False
    try:
        for piece in pieces:
            while piece and not inflater.eof:
                began = True
                yield inflater.decompress(piece, most)
                piece = inflater.unconsumed_tail
    except zlib.error as error:
        raise NetworkError(f"{host} sent an answer that does not unpack ({error})") from error
    if began and not inflater.eof:
        raise _Broken(f"{host} broke off in the middle of its answer")
