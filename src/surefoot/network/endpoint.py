"""One address that takes JSON and answers with JSON: an OpenAI-compatible server, or another of its shape."""

import re
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import httpx

from surefoot.network import Network
from surefoot.network.credentials import address, excerpt, key_if_any
from surefoot.network.pace import backoff, left, within
from surefoot.network.values import retry_after
from surefoot.run import cancel
from surefoot.text.json_values import parsed
from surefoot.types.errors import ConfigError, EndpointError

_MAX_SECONDS = 600.0
"""Longest time for one answer, retries included: an endpoint that keeps sending a byte is never silent."""
_MAX_WAIT = 5.0  # longest pause before a retry, in seconds, whatever the endpoint asks for


class JsonEndpoint:
    """An address that is asked in JSON for something of one model, and whose every failure is told in words.

    `key_env` names the environment variable of the key, which is read when the object is built and sent to `base_url`;
    it may be unset. `timeout` is how many seconds the endpoint may stay silent; no answer takes longer than ten
    minutes. `retries` are made after a failed connection, HTTP 429 and 5xx, before any of the answer has come, with
    pauses that grow from half a second or are what Retry-After says, up to five. Redirects are not followed, and
    proxies not used. `network` None: one without restrictions; otherwise it may raise NetworkError. Raises ConfigError
    for a `base_url` that is no address or holds a secret, and for a key that cannot be one.
    """

    def __init__(
        self, model: str, base_url: str, key_env: str, timeout: float, retries: int, network: Network | None = None
    ) -> None:
        self.model = model
        self._where = _readable(address(base_url))
        self._key_env = key_env
        self._key = key_if_any(key_env)
        self._timeout = timeout
        self._retries = retries
        self._network = network or Network()
        self._client = httpx.Client(
            base_url=self._where,
            timeout=httpx.Timeout(self._timeout, connect=min(self._timeout, 10.0)),
            transport=self._network.transport(self._where),
            # httpx reads where a redirect leads even if it does not follow, and fails on a name like "xn--".
            event_hooks={"response": [lambda response: response.headers.pop("Location", None)]},
            trust_env=False,  # a login for this host in ~/.netrc would take the key's place
            headers={"Accept-Encoding": "identity", **({"Authorization": f"Bearer {self._key}"} if self._key else {})},
        )
        weakref.finalize(self, self._client.close)

    def __repr__(self) -> str:
        return f"JsonEndpoint({self.model!r}, base_url={self._where!r}, key_env={self._key_env!r})"

    def json(self, path: str, most: int, request: Any = None) -> Any:
        """The JSON at this path, or that answers a request there, of at most so many bytes. Raises EndpointError."""
        with self._answer(path, request) as response:
            return self._json(b"".join(self._bounded(response, most)))

    @contextmanager
    def events(self, path: str, request: Any, most: int) -> Iterator[Iterator[Any]]:
        """The JSON of each event of the stream that answers, of at most so many bytes in all, or the one JSON of an
        endpoint that does not stream. Raises EndpointError."""
        with self._answer(path, request) as response:
            body = self._bounded(response, most)
            whole = "json" in response.headers.get("Content-Type", "")
            yield iter([self._json(b"".join(body))]) if whole else self._events(_lines(body))

    def nonsense(self, what: str, body: object) -> EndpointError:
        """The error for an answer that is none; `what` follows the word "sent"."""
        quoted = f": {excerpt(str(body), self._key)}" if body else ""
        return self._error(f"sent {what}{quoted}", "is base_url an OpenAI-compatible endpoint? run: surefoot doctor")

    def broken(self, how: str) -> EndpointError:
        """The error for an answer that ended too early; `how` follows the words "broke off its answer"."""
        return self._error(f"broke off its answer {how}", "ask again, or run: surefoot doctor")

    @contextmanager
    def _answer(self, path: str, request: Any) -> Iterator[httpx.Response]:
        """A successful answer, its body still to be read, after as many retries as it takes."""
        with within(_MAX_SECONDS):
            method = "GET" if request is None else "POST"
            response = self._send(self._client.build_request(method, path, json=request))
            try:
                if response.status_code != 200:
                    raise self._status(response)
                yield response
            except httpx.HTTPError as error:
                raise self._failed(error, self.broken(f"in the middle: {error}")) from error
            finally:
                response.close()

    def _send(self, request: httpx.Request) -> httpx.Response:
        for failures in range(1, self._retries + 2):
            last = failures > self._retries
            wait = backoff(failures, _MAX_WAIT)
            try:
                response = self._client.send(request, stream=True)
            except httpx.TransportError as error:
                if last or isinstance(error, httpx.TimeoutException):
                    remedy = "start it, or check base_url; then run: surefoot doctor"
                    down = self._error(f"cannot be reached ({excerpt(str(error), self._key)})", remedy, cause=error)
                    raise self._failed(error, down) from error
            else:
                if last or (response.status_code != 429 and response.status_code < 500):
                    break
                response.close()
                if (requested := retry_after(response.headers)) is not None:
                    wait = min(requested, _MAX_WAIT)
            cancel.pause(max(0.0, min(wait, left())))
        return response

    def _bounded(self, response: httpx.Response, most: int) -> Iterator[bytes]:
        if (coding := response.headers.get("Content-Encoding", "identity").lower()) != "identity":
            raise self.nonsense("its answer packed, which was not requested", coding)
        size = 0
        for piece in response.iter_raw():
            size += len(piece)
            if size > most:
                raise self.nonsense(f"more than {most:,} bytes", "")
            yield piece

    def _events(self, lines: Iterable[bytes]) -> Iterator[Any]:
        for line in lines:
            data = line.removeprefix(b"data:").strip()
            if data == b"[DONE]":
                return
            if line.startswith(b"data:") and data:
                yield self._json(data)

    def _json(self, body: bytes) -> Any:
        try:
            value = parsed(body)
        except ValueError as error:
            raise self.nonsense("no JSON", body.decode(errors="replace")) from error
        if isinstance(value, dict) and (fault := value.get("error")):
            message = fault.get("message") if isinstance(fault, dict) else None
            raise self.broken(f"with {excerpt(str(message or fault), self._key)}")
        return value

    def _status(self, response: httpx.Response) -> EndpointError:
        body = next(response.iter_raw(), b"").decode(errors="replace")
        key = f"check the key in the environment variable {self._key_env}"
        model = f"check base_url and the model's name, {self.model}"
        hints = {401: key, 403: key, 404: model}
        if re.search(rf"(?<![\w-]){re.escape(self.model)}(?![\w-])", body):  # some refuse an unknown model so
            hints |= {400: model, 422: model}
        if response.is_redirect:
            hints[response.status_code] = "redirects are not followed: set base_url to the address that answers"
        hint = hints.get(response.status_code, "run: surefoot doctor")
        error = self._error(f"answered HTTP {response.status_code} ({excerpt(body, self._key)})", hint, response)
        error.lasting |= response.status_code in hints
        return error

    def _failed(self, error: Exception, otherwise: EndpointError) -> EndpointError:
        if not isinstance(error, httpx.TimeoutException):
            return otherwise
        if left() <= 0:
            return self._error("gave no whole answer in time", "ask for less at once, or use a faster endpoint")
        remedy = "set a longer timeout or run: surefoot doctor"
        return self._error(f"was silent for {self._timeout:g} s", remedy, cause=error)

    def _error(
        self, what: str, remedy: str, response: httpx.Response | None = None, cause: Exception | None = None
    ) -> EndpointError:
        status, wait = (response.status_code, retry_after(response.headers)) if response else (None, None)
        reached = not isinstance(cause, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
        return EndpointError(f"the endpoint {self._where} {what}; {remedy}", status, wait, reached)


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a stream. Not by `iter_lines`, which splits at U+2028 and its like too; these may be in JSON."""
    line = bytearray()
    for piece in chain(pieces, (b"\n",)):
        end, *more = piece.split(b"\n")
        line += end
        for begun in more:
            yield bytes(line)
            line = bytearray(begun)


def _readable(where: str) -> str:
    """The address; raises ConfigError now where httpx would complain in the middle of a question."""
    try:
        httpx.URL(where).host.isascii()
    except (httpx.InvalidURL, UnicodeError):  # "xn--" is no name
        raise ConfigError("base_url is not an http or https address; write it like http://127.0.0.1:11434/v1") from None
    return where
