"""The door to other machines: what it refuses, what it bounds, what it keeps, and that it tells no secret."""

from __future__ import annotations

import ipaddress
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as some

from faults import PLANTED, Faults, certified, faults
from surefoot.network import Network
from surefoot.network.guard import Guard, public
from surefoot.run.meter import metered
from surefoot.types.errors import NetworkError

MANY = 100_000


@pytest.fixture
def server() -> Iterator[Faults]:
    with faults() as told:
        yield told


@pytest.fixture
def network(server: Faults) -> Network:
    """One that may talk to the server, in haste."""
    return Network(allow=["127.0.0.1"], spacing=0)


def refusal(network: Network, url: str, **options: Any) -> str:
    with pytest.raises(NetworkError) as caught:
        network.get(url, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# What may be reached


def addresses() -> some.SearchStrategy[str]:
    """Private addresses of IPv4, in its dotted form."""
    nets = "127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 169.254.0.0/16 100.64.0.0/10 0.0.0.0/8 224.0.0.0/4 "
    nets += "240.0.0.0/4 192.0.0.0/24 198.18.0.0/15 168.63.129.16/32"
    return some.sampled_from(nets.split()).flatmap(lambda net: some.ip_addresses(network=net)).map(str)


def spellings(address: str) -> list[str]:
    """How an IPv4 address can be written so that some resolver understands it."""
    number = int(ipaddress.IPv4Address(address))
    a, b, c, d = address.split(".")
    high, low = f"{number >> 16:x}", f"{number & 0xFFFF:x}"
    return [
        address,
        f"{address}.",
        str(number),
        hex(number),
        f"0{number:o}",
        f"0{int(a):o}.{b}.0x{int(c):x}.{d}",
        f"{a}.{number & 0xFFFFFF}",
        "".join(chr(0xFF10 + int(digit)) if digit.isdigit() else digit for digit in address),
        address.replace(".", "。"),
        f"[::ffff:{address}]",
        f"[::ffff:{high}:{low}]",
        f"[::{address}]",
        f"[64:ff9b::{address}]",
        f"[64:ff9b:1::{address}]",
        f"[2002:{high}:{low}::1]",
    ]


OPEN = Network(retries=0, spacing=0)


@given(addresses(), some.integers(0, 14))
def test_no_private_address_passes_in_any_spelling(address: str, spelling: int) -> None:
    """Decimal, octal, hexadecimal, short, full-width, with a last dot, or wrapped in IPv6."""
    with pytest.raises(NetworkError):
        OPEN.get(f"http://{spellings(address)[spelling]}:9/", keep=False)


@given(some.ip_addresses(v=6))
def test_of_ipv6_only_global_unicast_and_public_nat64_are_public(address: ipaddress.IPv6Address) -> None:
    """All else is somebody's inside."""
    if public(address):
        nat64 = address in ipaddress.ip_network("64:ff9b::/96")
        assert nat64 or (address in ipaddress.ip_network("2000::/3") and not address.is_private)


@pytest.mark.parametrize(
    ("allow", "host", "port", "allowed"),
    [
        (["*"], "example.org", 443, True),
        (["*:443"], "example.org", 80, False),
        (["en.wikipedia.org"], "EN.wikipedia.org.", 443, True),
        (["en.wikipedia.org"], "de.wikipedia.org", 443, False),
        (["*.wikipedia.org"], "de.wikipedia.org", 443, True),
        (["*.wikipedia.org"], "wikipedia.org", 443, False),
        (["*.wikipedia.org"], "evilwikipedia.org", 443, False),
        (["localhost:8080"], "localhost", 8080, True),
        (["localhost:8080"], "localhost", 80, False),
        (["[::1]:80"], "[0:0::1]", 80, True),
        (["::1"], "::1", 81, True),
        ([], "example.org", 443, False),
    ],
)
def test_the_list_says_which_hosts_and_ports(allow: list[str], host: str, port: int, allowed: bool) -> None:
    """By name, by what a name ends in, by address, with or without a port."""
    try:
        Network(allow=allow).require(host, port)
    except NetworkError:
        assert not allowed
    else:
        assert allowed


def test_everything_public_does_not_mean_this_machine(server: Faults) -> None:
    """Nor is a host listed by a wildcard or at another port."""
    for allow in (["*"], ["*.localhost", "*"], ["127.0.0.1:1", "*"]):
        assert "not public" in refusal(Network(allow=allow), server.url)
    assert server.asked == []


def test_what_the_configuration_names_may_be_private(server: Faults) -> None:
    """By a list of hosts, or as a component's own setting, which needs the list to allow it."""
    assert Network(allow=["127.0.0.1"]).get(server.url).status == 200
    assert Network().get(server.url, trusted=True).status == 200
    assert "may not be reached" in refusal(Network(allow=["example.org"]), server.url, trusted=True)


INNER = (
    "intranet localhost localhost. LOCALHOST a.localhost printer.local metadata.google.internal router.lan nas.home "
    "x.home.arpa wiki.corp db.private box.localdomain portal.intranet metadata 2130706433"
).split()


@pytest.mark.parametrize("host", INNER)
def test_a_name_of_an_inner_network_needs_to_be_listed(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it leads, and before it is looked up: a company's own name servers may give it a public address."""
    looked: list[str] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda name, *_, **__: looked.append(name))
    for allow in (["*"], ["*", "example.org"]):
        assert "inner network" in refusal(Network(allow=allow, retries=0), f"http://{host}/")
    assert looked == []
    assert Guard(["*", host]).judged(host, 80, ["93.184.216.34"], trusted=False)
    assert Guard(["*"]).judged(host, 80, ["127.0.0.1"], trusted=True)


def test_trust_does_not_linger_on_a_connection(server: Faults) -> None:
    """A link in a page must not use what stands open to the trusted host."""
    network = Network()
    network.get(server.url, trusted=True)
    assert "not public" in refusal(network, server.url)


def test_a_redirect_is_judged_like_an_address(server: Faults) -> None:
    """From a trusted host too: to its neighbour, by another name, by another scheme."""
    network = Network(spacing=0)
    assert network.get(f"{server.url}/to?url=/well", trusted=True).url == f"{server.url}/well"
    for address in (f"http://localhost:{server.port}/", "http://127.0.0.1:9/", "http://169.254.169.254/latest"):
        assert re.search("not public|inner network", refusal(network, f"{server.url}/to?url={address}", trusted=True))
    for address in ("file:///etc/passwd", "ftp://127.0.0.1/", "http://user:word@example.org/", "http://xn--/"):
        refusal(network, f"{server.url}/to?url={address}", trusted=True)


def test_the_address_that_was_judged_is_connected_to(server: Faults, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that leads to a public address first and to a private one then gets no second look."""
    answers = iter(["93.184.215.14", "127.0.0.1", "127.0.0.1"])
    connected = []

    def lookup(host: str, *_: object, **__: object) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), server.port))]

    def connect(address: tuple[str, int], *_: object, **__: object) -> socket.socket:
        connected.append(address[0])
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    monkeypatch.setattr(socket, "create_connection", connect)
    refusal(Network(retries=0), f"http://rebinding.example:{server.port}/")
    assert connected == ["93.184.215.14"]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "x",
        "file:///etc/passwd",
        "http://",
        "http://[",
        "//x.org",
        "http://a:b@x.org/",
        "http://xn--/",
        "http://a/\ud800",
    ],
)
def test_what_is_no_plain_http_address_is_refused(url: str) -> None:
    """Without a look at the network."""
    assert ":b@" not in refusal(Network(), url)


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
def test_whatever_a_server_does_the_call_ends_in_time(network: Network, server: Faults, path: str, why: str) -> None:
    """With an error that says what happened, or with the status."""
    begun = time.monotonic()
    if why:
        assert why in refusal(network, server.url + path, seconds=5, most=MANY)
    else:
        assert network.get(server.url + path, seconds=5).status == 503
    assert time.monotonic() - begun < 60


def test_a_bomb_is_never_unpacked(network: Network, server: Faults) -> None:
    """In a process that may not hold what it unpacks to."""
    code = f"""
import resource
from surefoot.types.errors import NetworkError
from surefoot.network import Network
network = Network(allow=["127.0.0.1"])
network.get("{server.url}/well")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    network.get("{server.url}/bomb", most={MANY})
except NetworkError:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    if sys.platform != "linux":
        pytest.skip("memory is counted otherwise")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 10_000, "kB"


def test_a_refused_connection_and_an_unknown_name_are_told_apart(network: Network) -> None:
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
def test_who_asks_us_to_wait_is_left_alone_for_so_long(server: Faults, fault: str, retries: int) -> None:
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


def test_after_the_deadline_nobody_is_asked(network: Network, server: Faults) -> None:
    """And it is not said that somebody was slow."""
    assert refusal(network, server.url, seconds=0) == "127.0.0.1 was not asked: no time was left"
    assert server.asked == []


def test_leave_is_asked_for_each_address_before_it_is_reached(network: Network, server: Faults) -> None:
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


# TLS


@pytest.mark.skipif(not shutil.which("openssl"), reason="needs the openssl command")
@pytest.mark.parametrize(
    ("name", "expired", "why"),
    [("localhost", False, None), ("localhost", True, "expired"), ("elsewhere.example", False, "mismatch")],
)
def test_a_certificate_must_hold_for_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, expired: bool, why: str | None
) -> None:
    """Although the connection is made by address; a bad one is not tried again."""
    file, context = certified(tmp_path, name, expired=expired)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with faults(context) as server:
        url, network = f"https://localhost:{server.port}/well", Network(allow=["localhost"])
        if why is None:
            assert network.get(url).text() == "well"
        else:
            said = refusal(network, url)
            assert "a certificate that does not hold" in said
            assert why in said.lower()


@pytest.mark.skipif(not shutil.which("openssl"), reason="needs the openssl command")
def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    """Whatever it says of itself."""
    _, context = certified(tmp_path)
    with faults(context) as server:
        assert "self-signed" in refusal(Network(allow=["localhost"]), f"https://localhost:{server.port}/")


# What is sent


def test_json_is_posted_and_read(network: Network, server: Faults) -> None:
    """As its content type says; a body that is none is an error."""
    assert network.post(f"{server.url}/json", {"q": "é"}).json() == {"a": [1]}
    assert server.asked[0].headers["content-type"] == "application/json"
    assert server.asked[0].body == b'{"q": "\\u00e9"}'
    for path in ("/well", "/deep"):
        with pytest.raises(NetworkError, match="answered no JSON"):
            network.get(server.url + path).json()


def test_cookies_are_neither_kept_nor_shown(network: Network, server: Faults) -> None:
    """One question must not be tied to the next."""
    assert "set-cookie" not in network.get(f"{server.url}/cookie").headers
    network.get(f"{server.url}/well")
    assert "cookie" not in server.asked[1].headers


def test_a_proxy_of_the_environment_is_not_used(
    network: Network, server: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would look up the name itself."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert network.get(server.url).status == 200


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("charset=iso-8859-1&coding=cp1252&text=“café”", "“café”"),
        ("charset=utf-8&coding=latin-1&text=café", "café"),
        ("charset=no-such-thing&text=café", "café"),
        ("charset=idna&text=café", "café"),
        ("coding=utf-16&text=café", "café"),
        ("coding=shift_jis&text=<meta charset='shift_jis'>日本", "<meta charset='shift_jis'>日本"),
        ("charset=utf-8&coding=utf-8-sig&text=café", "café"),
    ],
)
def test_a_text_is_read_in_its_encoding(network: Network, server: Faults, options: str, text: str) -> None:
    """The mark, the header, the page's own word, UTF-8, and where they are wrong, what fits."""
    assert network.get(f"{server.url}/type/text/html?{options}").text() == text


# What is kept


@pytest.fixture
def keeping(tmp_path: Path) -> Network:
    return Network(allow=["127.0.0.1"], spacing=0, cache=str(tmp_path / "replies.db"))


def test_a_reply_is_kept_and_counted(keeping: Network, server: Faults) -> None:
    """The second is the same but for `cached`, and costs no request."""
    first = keeping.get(f"{server.url}/json", {"q": 1})
    with metered() as meter:
        second = keeping.get(f"{server.url}/json", {"q": 1})
    assert (first.cached, second.cached, meter.cached, len(server.asked)) == (False, True, 1, 1)
    assert (second.url, second.status, second.headers, second.body) == (
        first.url,
        first.status,
        first.headers,
        first.body,
    )


def test_what_differs_is_kept_apart(keeping: Network, server: Faults) -> None:
    """By method, parameters, body and trust."""
    address = f"{server.url}/well"
    keeping.get(address)
    keeping.get(address, {"q": 1})
    keeping.get(address, trusted=True)
    keeping.post(address, {"q": 1})
    keeping.post(address, {"q": 2})
    assert len(server.asked) == 5


@pytest.mark.parametrize(("status", "asked"), [(200, 1), (404, 1), (202, 2), (403, 2), (500, 2), (301, 2)])
def test_good_news_is_kept_and_so_is_that_there_is_none(
    keeping: Network, server: Faults, status: int, asked: int
) -> None:
    """Other failures may pass."""
    for _ in range(2):
        keeping.get(f"{server.url}/status/{status}", retries=0)
    assert len(server.asked) == asked


def test_the_caller_says_which_replies_are_worth_keeping(keeping: Network, server: Faults) -> None:
    """What is none is asked again, even where it is in the file, and an answer takes its place there."""
    url = f"{server.url}/flaky/2/200"
    assert keeping.get(url).body == b"sorry"
    said = [keeping.get(url, keep=lambda reply: reply.body == b"well") for _ in range(3)]
    assert [(reply.body, reply.cached) for reply in said] == [(b"sorry", False), (b"well", False), (b"well", True)]


def test_nothing_is_kept_unasked(keeping: Network, server: Faults) -> None:
    """Where the caller says so, and where there is no file for it."""
    for network in (keeping, Network(allow=["127.0.0.1"])):
        network.get(server.url, keep=False)
        network.get(server.url, keep=False)
    assert len(server.asked) == 4


def test_a_closed_door_gives_nothing_kept_either(keeping: Network, server: Faults, tmp_path: Path) -> None:
    """An empty list means none at all."""
    keeping.get(server.url)
    closed = Network(allow=[], cache=str(tmp_path / "replies.db"))
    assert "list is empty" in refusal(closed, server.url, trusted=True)


# Secrets

SECRET = f"tvly-{PLANTED}-0123456789abcdef"


def test_a_secret_is_sent_and_told_nowhere(keeping: Network, server: Faults, tmp_path: Path) -> None:
    """Neither in reprs, errors and logs nor in the file, even where the server repeats it."""
    secret = {"Authorization": f"Bearer {SECRET}"}
    said = [repr(keeping)]
    said += [repr(keeping.get(server.url + path, secret=secret)) for path in ("/json", "/status/401", "/echo")]
    for path in ("/reset", "/garbage", "/gigabyte", "/round", "/to?url=ftp://x.org"):
        said += [refusal(keeping, server.url + path, secret=secret, retries=0)]
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


def test_a_guard_lets_through_only_the_public_of_several_addresses() -> None:
    """A name may lead inside and outside at once."""
    assert Guard(["*"]).judged("both.example", 80, ["10.0.0.1", "8.8.8.8"], trusted=False) == ["8.8.8.8"]
    assert Guard(["both.example"]).judged("both.example", 80, ["10.0.0.1"], trusted=False) == ["10.0.0.1"]


def test_the_door_is_light_until_it_is_used() -> None:
    """Most commands open no connection, and httpx takes long to import."""
    code = "import sys, surefoot.network as n; n.Network(); print('httpx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
