"""The door to other machines: what it refuses, what it bounds, what it keeps, and that it tells no secret."""

import re
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from faults import BOMB, PLANTED, Faults, faults
from surefoot.network import Network
from surefoot.network.exchange import _gunzipped
from surefoot.run.meter import metered
from surefoot.types.errors import NetworkError

MANY = 100_000
Refusal = Callable[..., str]


# What is bounded


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/drip/head", "no whole answer in time"),
        ("/drip/body", "no whole answer in time"),
        ("/slow/60", "no whole answer in time"),
        ("/status/503?after=60", ""),
        ("/endless", "more than 100,000 bytes"),
        ("/gigabyte", "more than 100,000 bytes"),
        ("/bomb", "more than 100,000 bytes"),
        ("/round", "redirects more than 10 times"),
        ("/reset", "broke off"),
        ("/cut", "broke off"),
        ("/torn", "broke off"),
        ("/broken/99", "broke off"),
        ("/garbage", "broke off"),
        ("/brotli", "was not requested"),
    ],
)
def test_whatever_a_server_does_the_call_ends_in_time(
    network: Network, server: Faults, path: str, why: str, refusal: Refusal
) -> None:
    """With an error that says what happened, or with the status."""
    begun = time.monotonic()
    if why:
        assert why in refusal(network, server.url + path, seconds=3, most=MANY)
    else:
        assert network.get(server.url + path, seconds=3).status == 503
    assert time.monotonic() - begun < 60


def test_a_bomb_is_never_unpacked() -> None:
    """No piece of it is larger than what is read, and it is unpacked as it is taken."""
    pieces = _gunzipped([BOMB], MANY, "127.0.0.1")
    assert [len(next(pieces)) for _ in range(3)] == [MANY] * 3


def test_a_refused_connection_and_an_unknown_name_are_told_apart(network: Network, refusal: Refusal) -> None:
    """The reason is the system's."""
    assert "refused" in refusal(network, "http://127.0.0.1:9/", retries=0)
    assert "no address for" in refusal(Network(), "http://nowhere.invalid/", retries=0)


def test_a_passing_failure_is_asked_again(network: Network, server: Faults) -> None:
    """A busy server, and a connection that breaks; the count is bounded."""
    assert network.get(f"{server.url}/flaky/2/503").text() == "well"
    assert network.get(f"{server.url}/broken/1").text() == "well"
    assert network.get(f"{server.url}/flaky/2/429", retries=1).status == 429
    assert network.get(f"{server.url}/flaky/1/200?error=maxlag").text() == "well"


@pytest.mark.parametrize("fault", ["/status/429?after=60", "/flaky/9/200?after=60&error=maxlag"])
@pytest.mark.parametrize("retries", [0, 2])
def test_who_asks_us_to_wait_is_left_alone_for_so_long(
    server: Faults, fault: str, retries: int, refusal: Refusal
) -> None:
    """By the next question too, which is told so at once; other hosts are not concerned."""
    network = Network(allow=["127.0.0.1", "localhost"], spacing=0, retries=retries)
    network.get(server.url + fault, keep=False)
    for _ in range(2):
        said = refusal(network, server.url)
        assert re.fullmatch(r"127\.0\.0\.1 was not asked: it asked us to wait another (60|[345]\d) s", said)
    assert len(server.asked) == 1
    with faults() as other:
        assert network.get(other.url).status == 200


def test_requests_to_a_host_keep_their_distance(server: Faults) -> None:
    """Over all threads, retries included."""
    network = Network(allow=["127.0.0.1"], spacing=0.05)
    begun = time.monotonic()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: network.get(f"{server.url}/{i}"), range(8)))
    assert time.monotonic() - begun >= 7 * 0.05


def test_after_the_deadline_nobody_is_asked(network: Network, server: Faults, refusal: Refusal) -> None:
    """And it is not said that somebody was slow."""
    assert refusal(network, server.url, seconds=0) == "127.0.0.1 was not asked: no time was left"
    assert server.asked == []


def test_leave_is_asked_for_each_address_before_it_is_reached(
    network: Network, server: Faults, refusal: Refusal
) -> None:
    """Where a redirect leads too; what is refused has not been asked for."""
    told: list[str] = []

    def leave(url: str) -> None:
        told.append(url)
        if urlsplit(url).path == "/shut":
            raise NetworkError("it is shut")

    url = f"{server.url}/to?url=/to%3Furl=/shut"
    assert refusal(network, url, leave=leave) == "it is shut"
    assert told == [url, f"{server.url}/to?url=/shut", f"{server.url}/shut"]
    assert [asked.target for asked in server.asked] == ["/to?url=/to%3Furl=/shut", "/to?url=/shut"]


# What is sent


def test_json_is_posted_and_read(network: Network, server: Faults) -> None:
    """As its content type says; a body that is none is an error."""
    assert network.post(f"{server.url}/json", {"q": "é"}).json() == {"a": [1]}
    assert server.asked[0].headers["content-type"] == "application/json"
    assert server.asked[0].body == b'{"q": "\\u00e9"}'
    for path in ("/well", "/deep"):
        with pytest.raises(NetworkError, match="answered no JSON"):
            network.get(server.url + path).json()


def test_there_are_neither_cookies_nor_proxies(
    network: Network, server: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One question must not be tied to the next, and a proxy of the environment would look up the name itself."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert "set-cookie" not in network.get(f"{server.url}/cookie").headers
    assert network.get(f"{server.url}/well").status == 200
    assert "cookie" not in server.asked[1].headers


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("charset=iso-8859-1&coding=cp1252&text=“café”", "“café”"),
        ("charset=utf-8&coding=latin-1&text=café", "café"),
        ("charset=no-such-thing&text=café", "café"),
        ("charset=idna&text=café", "café"),
        ("charset=utf-16&coding=utf-16&text=café", "café"),
        ("charset=shift_jis&coding=shift_jis&text=日本", "日本"),
        ("charset=utf-8&coding=utf-8-sig&text=café", "café"),
    ],
)
def test_a_text_is_read_in_its_encoding(network: Network, server: Faults, options: str, text: str) -> None:
    """The header's, UTF-8, and where these are wrong, what fits."""
    assert network.get(f"{server.url}/type/text/html?{options}").text() == text


# What is kept


def test_a_reply_is_kept_and_counted(caching: Network, server: Faults) -> None:
    """The second is the same but for `cached`, and costs no request."""
    first = caching.get(f"{server.url}/json", {"q": 1})
    with metered() as meter:
        second = caching.get(f"{server.url}/json", {"q": 1})
    assert (first.cached, second.cached, meter.cached, len(server.asked)) == (False, True, 1, 1)
    assert second == first


def test_what_differs_is_kept_apart(caching: Network, server: Faults) -> None:
    """By method, parameters, body and trust; nothing is kept where the caller says so."""
    address = f"{server.url}/well"
    for _ in range(2):
        caching.get(address)
        caching.get(address, {"q": 1})
        caching.get(address, trusted=True)
        caching.post(address, {"q": 1})
        caching.post(address, {"q": 2})
    assert len(server.asked) == 5
    caching.get(address, keep=False)
    assert len(server.asked) == 6


def test_good_news_is_kept_and_so_is_that_there_is_none(caching: Network, server: Faults) -> None:
    """Other failures may pass."""
    for status in (200, 404, 202, 403, 500, 301) * 2:
        caching.get(f"{server.url}/status/{status}", retries=0)
    assert [server.seen[f"/status/{status}"] for status in (200, 404, 202, 403, 500, 301)] == [1, 1, 2, 2, 2, 2]


def test_the_caller_says_which_replies_are_worth_keeping(caching: Network, server: Faults) -> None:
    """What is none is asked again, even where it is in the file, and an answer takes its place there."""
    url = f"{server.url}/flaky/2/200"
    assert caching.get(url).body == b"sorry"
    said = [caching.get(url, keep=lambda reply: reply.body == b"well") for _ in range(3)]
    assert [(reply.body, reply.cached) for reply in said] == [(b"sorry", False), (b"well", False), (b"well", True)]


# Secrets

SECRET = f"tvly-{PLANTED}-0123456789abcdef"


def test_a_secret_is_sent_and_told_nowhere(caching: Network, server: Faults, tmp_path: Path, refusal: Refusal) -> None:
    """Neither in reprs, errors and logs nor in the file, even where the server repeats it."""
    secret = {"Authorization": f"Bearer {SECRET}"}
    said = [repr(caching)]
    said += [repr(caching.get(server.url + path, secret=secret)) for path in ("/json", "/status/401", "/echo")]
    for path in ("/reset", "/garbage", "/gigabyte", "/round", "/to?url=ftp://x.org"):
        said += [refusal(caching, server.url + path, secret=secret, retries=0)]
    assert all(asked.headers["authorization"] == f"Bearer {SECRET}" for asked in server.asked)
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"/json" in kept
    assert SECRET not in "".join(said)
    assert SECRET.encode() not in kept


def test_a_secret_does_not_follow_a_redirect_to_another_host(server: Faults) -> None:
    """Of any name; to the same host it does."""
    network = Network(allow=["127.0.0.1"], spacing=0)
    with faults() as other:
        network.get(f"{server.url}/to?url={other.url}/there", secret={"X-API-KEY": SECRET})
        network.get(f"{server.url}/to?url=/here", secret={"X-API-KEY": SECRET})
    assert "x-api-key" not in other.asked[0].headers
    assert server.asked[-1].headers["x-api-key"] == SECRET


# For others


def test_a_client_of_ones_own_goes_through_the_same_door(server: Faults) -> None:
    """With the guard's errors where it refuses, and httpx's own for the rest."""
    with httpx.Client(transport=Network().transport(server.url)) as client:
        assert client.get(server.url).text == "well"
        with pytest.raises(httpx.ReadTimeout):
            client.get(f"{server.url}/slow/9", timeout=0.2)
        with pytest.raises(httpx.RemoteProtocolError):
            client.get(f"{server.url}/cut")
        with pytest.raises(NetworkError, match="inner network"):
            client.get(f"http://localhost:{server.port}/")


def test_the_door_is_light_until_it_is_used() -> None:
    """Most commands open no connection, and httpx takes long to import."""
    code = "import sys, surefoot.network as n; n.Network(); print('httpx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
