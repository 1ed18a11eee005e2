"""The guard: it allows machines that the configuration lists, and no private one that it does not name.

Retrieved text is hostile, and so are its addresses: a link or redirect to a router, a database or a cloud's metadata
server would make us the attacker's hand inside. So the guard judges the address that a name leads to, and that very
address is connected to.
"""

import ipaddress
import re
from collections.abc import Iterable

from surefoot.types.errors import ConfigError, NetworkError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAME = r"(\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?(?::(\d{1,5}))?|\[([0-9a-f:.]+)\](?::(\d{1,5}))?"

_INNER = tuple(
    ipaddress.ip_network(inner)
    for inner in (
        "100.64.0.0/10",  # providers' own; Alibaba's metadata server
        "168.63.129.16/32",  # Azure's, within every machine there
        "192.0.0.0/24",  # Oracle's metadata server; Python 3.11 knows parts of it only
        "192.88.99.0/24",  # relays from IPv6 to IPv4
    )
)
"""Inner networks that `ipaddress` calls global, in one version or another."""
_IPV6 = ipaddress.ip_network("2000::/3")
"""The public part of IPv6."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
"""IPv4 as networks of IPv6 alone reach it: the address is in the last four bytes."""
_INNER_ZONES = tuple(".localhost .local .localdomain .internal .intranet .private .corp .lan .home .home.arpa".split())
"""Endings of names that no public machine has; "metadata.google.internal" is a cloud's metadata server. A name of one
label is an inner one too, and an address none."""


Pattern = tuple[str, int | None]  # a host as `canonical` writes it, "*", or "*." and a name; and the port, None: any


class Guard:
    """Judges hosts and addresses by the list of allowed hosts, `allow`.

    An entry is "*" (every public machine), a name, "*.name" (the names below it), or an address; each with ":port" if
    only that is meant. A host that is not public is allowed only if it is listed as written, or is `trusted`: the user
    wrote it into the configuration. "*" alone never allows a name of an inner network, wherever it leads.
    """

    def __init__(self, allow: Iterable[str]) -> None:
        if isinstance(allow, str):
            raise ConfigError(f'[network] allow must be a list of hosts, not {allow!r}; write allow = ["{allow}"]')
        self.allow = tuple(allow)
        self._patterns = frozenset(map(_pattern, self.allow))

    def check(self, host: str, port: int | None, trusted: bool = True) -> None:
        """Raise NetworkError unless the host is allowed by its name; looks nothing up."""
        if "*" in (name := canonical(host)):  # a server of names answers for such a one too, and it would be as listed
            raise NetworkError(f"{host} is a pattern, and no name of a host")
        allowed = {
            listed
            for listed, only in self._patterns
            if only in (None, port) and (listed in ("*", name) or (listed[:2] == "*." and name.endswith(listed[1:])))
        }
        if not trusted and allowed == {"*"} and (f".{name}".endswith(_INNER_ZONES) or not re.search(r"[.:]", name)):
            raise NetworkError(
                f"{host} is a name of an inner network; if that is meant, list the host by name under [network] allow"
            )
        if not allowed:
            listed = f"it lists only {', '.join(self.allow[:5])}; add it there" if self.allow else "its list is empty"
            raise NetworkError(f"{host} may not be reached: [network] allow says so, {listed}")

    def judged(self, host: str, port: int, addresses: Iterable[str], trusted: bool) -> list[str]:
        """The host's addresses that may be connected to; raises NetworkError if there are none."""
        self.check(host, port, trusted)
        found = list(addresses)
        if trusted or not self._patterns.isdisjoint({(canonical(host), port), (canonical(host), None)}):
            return found
        if inside := [address for address in found if public(ipaddress.ip_address(address.partition("%")[0]))]:
            return inside
        raise NetworkError(
            f"{host} leads to {', '.join(found[:3]) or 'nowhere'}, which is not public; "
            "if that is meant, list the host by name under [network] allow"
        )


def canonical(host: str) -> str:
    """The host for comparison: in lower case, without brackets or a last dot, an address in its shortest form."""
    plain = host.lower().strip("[]").removesuffix(".")
    try:
        return ipaddress.ip_address(plain).compressed
    except ValueError:
        return plain


def public(address: Address) -> bool:
    """True for an address on the open internet; IPv4 within IPv6 is judged as IPv4."""
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not address.is_multicast and not any(address in inner for inner in _INNER)
    if address in _NAT64:
        return public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    # Nobody serves on the old tunnels, 6to4 and Teredo: they wrap inner addresses.
    tunnel = address.sixtofour or address.teredo
    return address in _IPV6 and address.is_global and not tunnel


def _pattern(entry: str) -> Pattern:
    text = str(entry).strip().lower()
    try:
        return ipaddress.ip_address(text).compressed, None
    except ValueError:
        pass
    if not (found := re.fullmatch(_NAME, text)):
        raise ConfigError(
            f"[network] allow has {entry!r}, which is no host; write *, a name (xn--… for one beyond ASCII), *.name, "
            "or an address, with :port if only that is meant"
        )
    port = found[2] or found[4]
    return canonical(found[1] or found[3]), int(port) if port else None
