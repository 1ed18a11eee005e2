"""Which machines may be reached: by name, by address, behind redirects and through TLS."""

import ipaddress
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpcore
import pytest
from hypothesis import given, strategies as some

from faults import Faults, certified, faults
from surefoot.network import Network
from surefoot.network.guard import Guard, public
from surefoot.network.transport import Backend
from surefoot.types.errors import NetworkError

Refusal = Callable[..., str]
PRIVATE = (
    "127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 169.254.0.0/16 100.64.0.0/10 0.0.0.0/8 224.0.0.0/4 "
    "240.0.0.0/4 192.0.0.0/24 198.18.0.0/15 168.63.129.16/32"
).split()


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


@given(some.sampled_from(PRIVATE).flatmap(lambda net: some.ip_addresses(network=net)).map(str), some.integers(0, 14))
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


def test_a_host_that_is_named_as_a_pattern_is_none(refusal: Refusal) -> None:
    """A server of names answers for such a one too, and it would be taken for one that is listed as written."""
    for allow in (["*.test"], ["*"]):
        assert "is a pattern" in refusal(Network(allow=allow), "http://*.test:9/")
        with pytest.raises(NetworkError):
            Guard(allow).judged("*.test", 80, ["127.0.0.1"], trusted=False)


def test_everything_public_does_not_mean_this_machine(server: Faults, refusal: Refusal) -> None:
    """Nor is a host listed by a wildcard or at another port, and trust does not linger on a connection: a link in a
    page must not use what stands open to the trusted host."""
    for allow in (["*"], ["*.localhost", "*"], ["127.0.0.1:1", "*"]):
        assert "not public" in refusal(Network(allow=allow), server.url)
    assert server.asked == []
    network = Network()
    network.get(server.url, trusted=True)
    assert "not public" in refusal(network, server.url)


def test_what_the_configuration_names_may_be_private(server: Faults, refusal: Refusal) -> None:
    """By a list of hosts, or as a component's own setting, which needs the list to allow it."""
    assert Network(allow=["127.0.0.1"]).get(server.url).status == 200
    assert Network().get(server.url, trusted=True).status == 200
    assert "may not be reached" in refusal(Network(allow=["example.org"]), server.url, trusted=True)


class Sockets(httpcore.NetworkBackend):
    """Refuses every connection, and remembers to which address."""

    def __init__(self) -> None:
        self.connected: list[str] = []

    def connect_tcp(self, host: str, *_: Any, **__: Any) -> httpcore.NetworkStream:
        self.connected.append(host)
        raise httpcore.ConnectError("refused")


INNER = (
    "intranet localhost localhost. LOCALHOST a.localhost printer.local metadata.google.internal router.lan nas.home "
    "x.home.arpa wiki.corp db.private box.localdomain portal.intranet metadata 2130706433"
).split()


@pytest.mark.parametrize("host", INNER)
def test_a_name_of_an_inner_network_needs_to_be_listed(host: str) -> None:
    """Wherever it leads, and before it is looked up: a company's own name servers may give it a public address."""
    looked: list[str] = []
    for allow in (["*"], ["*", "example.org"]):
        backend = Backend(Guard(allow), None, lambda name, _: looked.append(name) or [], Sockets())  # type: ignore[func-returns-value]
        with pytest.raises(NetworkError, match="inner network"):
            backend.connect_tcp(host, 80)
    assert looked == []
    assert Guard(["*", host]).judged(host, 80, ["93.184.216.34"], trusted=False)
    assert Guard(["*"]).judged(host, 80, ["127.0.0.1"], trusted=True)


def test_the_address_that_was_judged_is_connected_to() -> None:
    """A name that leads to a public address first and to a private one then gets no second look."""
    answers, sockets = iter(["93.184.215.14", "127.0.0.1", "127.0.0.1"]), Sockets()
    with pytest.raises(httpcore.ConnectError):
        Backend(Guard(["*"]), None, lambda *_: [next(answers)], sockets).connect_tcp("rebinding.example", 80)
    assert sockets.connected == ["93.184.215.14"]


def test_a_guard_lets_through_only_the_public_of_several_addresses() -> None:
    """A name may lead inside and outside at once."""
    assert Guard(["*"]).judged("both.example", 80, ["10.0.0.1", "8.8.8.8"], trusted=False) == ["8.8.8.8"]
    assert Guard(["both.example"]).judged("both.example", 80, ["10.0.0.1"], trusted=False) == ["10.0.0.1"]


def test_a_redirect_is_judged_like_an_address(server: Faults, refusal: Refusal) -> None:
    """From a trusted host too: to its neighbour, by another name, by another scheme."""
    network = Network(spacing=0)
    assert network.get(f"{server.url}/to?url=/well", trusted=True).url == f"{server.url}/well"
    for address in (f"http://localhost:{server.port}/", "http://127.0.0.1:9/", "http://169.254.169.254/latest"):
        assert re.search("not public|inner network", refusal(network, f"{server.url}/to?url={address}", trusted=True))
    for address in ("file:///etc/passwd", "ftp://127.0.0.1/", "http://user:word@example.org/", "http://xn--/"):
        refusal(network, f"{server.url}/to?url={address}", trusted=True)


BAD = "x|file:///etc/passwd|http://|http://[|//x.org|http://a:b@x.org/|http://xn--/|http://a/\ud800|".split("|")


@pytest.mark.parametrize("url", BAD)
def test_what_is_no_plain_http_address_is_refused(url: str, refusal: Refusal) -> None:
    """Without a look at the network."""
    assert ":b@" not in refusal(Network(), url)


def test_a_closed_door_gives_nothing_cached_either(caching: Network, server: Faults, tmp_path: Path) -> None:
    """An empty list means none at all."""
    caching.get(server.url)
    with pytest.raises(NetworkError, match="list is empty"):
        Network(allow=[], cache=str(tmp_path / "replies.db")).get(server.url, trusted=True)


@pytest.mark.skipif(not shutil.which("openssl"), reason="needs the openssl command")
@pytest.mark.parametrize(
    ("name", "expired", "listed", "why"),
    [
        ("localhost", False, True, None),
        ("localhost", True, True, "expired"),
        ("elsewhere.example", False, True, "mismatch"),
        ("localhost", False, False, "self-signed"),
    ],
)
def test_a_certificate_must_hold_for_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: Refusal, name: str, expired: bool, listed: bool, why: Any
) -> None:
    """Although the connection is made by address; a bad one, or one that nobody vouches for, is not tried again."""
    file, context = certified(tmp_path, name, expired=expired)
    if listed:
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with faults(context) as server:
        url, network = f"https://localhost:{server.port}/well", Network(allow=["localhost"])
        if why is None:
            assert network.get(url).text() == "well"
        else:
            said = refusal(network, url)
            assert "a certificate that does not hold" in said
            assert why in said.lower()
