"""What sites let us fetch, and what holds where that cannot be found out."""

from collections.abc import Callable
from typing import Any

import pytest

from surefoot.network import Reply
from surefoot.network.robots import EXPIRES, SHUT, Robots
from surefoot.types.errors import NetworkError

SITE = "http://almanac.example:8080"


class Canned:
    """A network in which every address gives the same; it remembers what it was asked for."""

    def __init__(self, text: str = "", status: int = 200, error: NetworkError | None = None) -> None:
        self.text, self.status, self.error = text, status, error
        self.asked: list[str] = []
        self.age = 0.0

    def get(self, url: str, *, keep: Callable[[Reply], bool], **_: Any) -> Reply:
        self.asked.append(url)
        if self.error:
            raise self.error
        self.keep = keep
        return Reply(url, self.status, {}, self.text.encode(), age=self.age)


def robots(text: str = "", **said: Any) -> tuple[Robots, Canned]:
    network = Canned(text, **said)
    return Robots(network), network  # type: ignore[arg-type]


def test_what_is_disallowed_is_refused_with_its_place() -> None:
    """Without what the address asks for, which may be private."""
    rules, _ = robots("User-agent: *\nDisallow: /private/")
    with pytest.raises(NetworkError, match=r"^almanac\.example lets no robot read /private/a$"):
        rules.ask(f"{SITE}/private/a?token=4711")
    rules.ask(f"{SITE}/public")


@pytest.mark.parametrize(("status", "closed"), [(401, False), (404, False), (202, True), (429, True), (503, True)])
def test_a_site_without_one_allows_everything_and_one_that_does_not_give_it_nothing(status: int, closed: bool) -> None:
    """It is in trouble, or does not want us."""
    rules, _ = robots("gone", status=status)
    if not closed:
        assert rules.ask(f"{SITE}/a") is None
        return
    with pytest.raises(NetworkError, match=rf"^almanac\.example was not visited, .*HTTP {status}$"):
        rules.ask(f"{SITE}/a")


def test_a_site_that_cannot_be_reached_is_closed_for_a_minute() -> None:
    """Ten hits of one dead host cost one attempt, and the reason is told each time."""
    rules, network = robots(error=NetworkError("almanac.example refused the connection"))
    now = 1000.0
    rules.clock = lambda: now
    for _ in range(10):
        with pytest.raises(NetworkError, match="refused the connection"):
            rules.ask(f"{SITE}/a")
    assert len(network.asked) == 1
    network.error, now = None, now + SHUT
    rules.ask(f"{SITE}/a")


def test_it_is_read_once_a_day_for_each_site() -> None:
    """Another port is another site."""
    rules, network = robots()
    now = 1000.0
    rules.clock = lambda: now
    for page in ("/a", "/b?c=d", "/e"):
        rules.ask(SITE + page)
    rules.ask("http://almanac.example/a")
    assert network.asked == [f"{SITE}/robots.txt", "http://almanac.example/robots.txt"]
    now += EXPIRES
    rules.ask(f"{SITE}/a")
    assert len(network.asked) == 3


def test_the_pause_that_a_site_wants_is_passed_on() -> None:
    """In seconds."""
    assert robots("User-agent: *\nCrawl-delay: 2.5")[0].ask(f"{SITE}/a") == 2.5
