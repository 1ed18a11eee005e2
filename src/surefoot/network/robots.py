"""robots.txt (RFC 9309): the pages that a site lets us fetch."""

import time
from urllib.parse import urlsplit

from protego import Protego

from surefoot.network import Network
from surefoot.network.pace import left
from surefoot.types.errors import ComponentError, NetworkError

AGENT = "surefoot"  # our name in a robots.txt

EXPIRES = 86400.0  # seconds that a robots.txt holds; the most that RFC 9309 recommends

SHUT = 60.0  # seconds that a site stays closed if its robots.txt could not be read

_HURRY = 2.0  # seconds; failing in less says nothing of the site
_MOST = 1_000_000  # bytes; RFC 9309 asks for half of it at least
_MOST_SITES = 1000


class Robots:
    """Reads robots.txt files and remembers them. A site without one (HTTP 4xx other than 429) allows everything; one
    whose file cannot be read allows nothing, since it is in trouble or does not want us."""

    def __init__(self, network: Network) -> None:
        self.clock = time.monotonic
        self._network = network
        self._known: dict[str, tuple[float, Protego | str]] = {}

    def ask(self, url: str) -> float | None:
        """Seconds that the site wants between two requests, if it says. Raises NetworkError for a forbidden page."""
        parts = urlsplit(url)
        rules = self._rules(f"{parts.scheme}://{parts.netloc}")
        if isinstance(rules, str):
            raise NetworkError(f"{parts.hostname} was not visited, its robots.txt could not be read: {rules}")
        if not rules.can_fetch(url, AGENT):
            raise NetworkError(f"{parts.hostname} lets no robot read {parts.path[:80] or '/'}")
        return rules.crawl_delay(AGENT)

    def _rules(self, origin: str) -> Protego | str:
        until, rules = self._known.get(origin, (0.0, ""))
        if self.clock() >= until:
            hurried = left() < _HURRY
            rules, holds = self._fetched(origin)
            if hurried and isinstance(rules, str):
                return rules
            if len(self._known) >= _MOST_SITES:
                self._known.clear()
            self._known[origin] = self.clock() + holds, rules
        return rules

    def _fetched(self, origin: str) -> tuple[Protego | str, float]:
        """The site's rules, or the reason, and how many seconds that holds."""
        try:
            reply = self._network.get(f"{origin}/robots.txt", most=_MOST, retries=0, keep=lambda r: r.age < EXPIRES)
        except ComponentError as error:
            return str(error), SHUT
        if reply.status == 200:
            return Protego.parse(reply.text()), EXPIRES - reply.age
        if 400 <= reply.status < 500 and reply.status != 429:
            return Protego.parse(""), EXPIRES - reply.age
        return f"HTTP {reply.status}", SHUT
