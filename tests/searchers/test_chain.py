"""Several searchers in a row: who is asked, who rests, and what the step says."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from hypothesis import given, strategies as st

from surefoot.network.pace import LONGEST
from surefoot.run.meter import metered
from surefoot.searchers.chain import Chain
from surefoot.types import Passage
from surefoot.types.errors import ComponentError, ConfigError, NetworkError, SearchError, Throttled, UsageError
from surefoot.types.metadata import NO_FILTER, Filter

FOUND = (Passage("a", "Tomas Aldwin built it.", "Almanac", "external", "http://a/1"),)
DOWN = NetworkError("searx.example did not answer")
BUSY = Throttled("searx.example answers HTTP 429", 40.0)


class Says:
    """A searcher that does what it is told, in order, the last for ever; it counts how often it was asked."""

    def __init__(self, name: str, *script: tuple[Passage, ...] | Exception) -> None:
        self.name = name
        self.script = script
        self.asked = 0

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        said = self.script[min(self.asked, len(self.script) - 1)]
        self.asked += 1
        if isinstance(said, Exception):
            raise said
        return said[:k]


class Clock:
    """A clock that stands until it is set."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def chain(*searchers: Says, **options: float) -> tuple[Chain, Clock]:
    built, clock = Chain(searchers, **options), Clock()  # type: ignore[arg-type]
    built.turns.clock = clock
    return built, clock


def asked(chain: Chain, times: int = 1) -> str:
    """What the step says of a search, or of the last of several."""
    for _ in range(times):
        with metered() as spent:
            chain.search("Ruvel Bridge", 5)
    return "; ".join(spent.degraded)


# Who is asked


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (BUSY, "searxng throttled, used wikipedia (searxng: searx.example answers HTTP 429)"),
        (DOWN, "searxng failed, used wikipedia (searxng: searx.example did not answer)"),
        ((), "searxng found nothing, used wikipedia"),
        (FOUND, ""),
    ],
)
def test_the_first_that_finds_something_wins_and_what_is_passed_over_is_said(said: Any, told: str) -> None:
    """With the reason, and with who took its place; nobody is asked after the first that finds something."""
    second = Says("wikipedia", FOUND)
    built, _ = chain(Says("searxng", said), second)
    assert asked(built) == told
    assert second.asked == bool(told)


@pytest.mark.parametrize(
    ("replies", "kind", "message"),
    [
        ((BUSY, DOWN), SearchError, r"searxng: .*HTTP 429; wikipedia: .*did not answer"),
        ((UsageError("no key"), FOUND), UsageError, "no key"),
    ],
)
def test_the_search_fails_where_all_fail_and_where_the_user_can_mend_it(
    replies: tuple[Exception, Exception], kind: type[Exception], message: str
) -> None:
    """Each reason is named; a wrong setting is no outage, and is not passed over."""
    built, _ = chain(Says("searxng", replies[0]), Says("wikipedia", replies[1]))
    with pytest.raises(kind, match=message):
        built.search("Ruvel Bridge", 5)


@pytest.mark.parametrize("options", [{"searchers": ()}, {"failures": 0}, {"rest": 0.0}])
def test_a_chain_that_could_not_work_is_refused(options: dict[str, object]) -> None:
    """When it is built."""
    with pytest.raises(ConfigError, match="a chain needs"):
        Chain(**({"searchers": [Says("wikipedia", FOUND)]} | options))  # type: ignore[arg-type]


# Who rests


def test_repeated_failures_have_it_rest() -> None:
    """After the third in a row nobody waits for a searcher that is down; the step still says why."""
    down = Says("searxng", DOWN, DOWN, FOUND, DOWN)
    built, _ = chain(down, Says("wikipedia", FOUND), failures=3)
    told = asked(built, times=9)
    assert down.asked == 6
    assert told.startswith("searxng rests, used wikipedia (searxng: rests for another ")
    assert "did not answer" in told


def test_a_throttle_has_it_rest_at_once_and_for_as_long_as_it_says() -> None:
    """40 seconds here, and not a second less."""
    busy = Says("searxng", BUSY, FOUND)
    built, clock = chain(busy, Says("wikipedia", FOUND))
    asked(built)
    clock.now += 39.9
    asked(built)
    assert busy.asked == 1
    clock.now += 0.2
    assert asked(built) == ""
    assert busy.asked == 2


def test_after_its_rest_one_search_tries() -> None:
    """If it fails, it rests again; if it heals, it is first again for everyone."""
    ill = Says("searxng", DOWN, DOWN, FOUND)
    built, clock = chain(ill, Says("wikipedia", FOUND), failures=1, rest=30)
    told = []
    for seconds in (0, 31, 0, 31, 0):
        clock.now += seconds
        told.append(asked(built).partition(",")[0])
    assert told == ["searxng failed", "searxng failed", "searxng rests", "", ""]
    assert ill.asked == 4


def test_only_one_thread_tries() -> None:
    """The others pass a searcher over that has not proved itself."""
    together, down = Barrier(8), Says("searxng", DOWN)
    built, clock = chain(down, Says("wikipedia", FOUND), failures=1)
    asked(built)
    clock.now += 100

    def search(_: int) -> tuple[Passage, ...]:
        together.wait()
        return built.search("Ruvel Bridge", 5)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(search, range(8))) == [FOUND] * 8
    assert down.asked == 2


@given(
    st.lists(st.tuples(st.floats(0, 100), st.sampled_from([DOWN, BUSY, Throttled("quota spent", 1e9)])), max_size=40)
)
def test_whatever_fails_it_is_tried_again_within_the_longest_rest(
    faults: Sequence[tuple[float, ComponentError]],
) -> None:
    """No history of failures closes a searcher for good."""
    ill = Says("searxng", *(error for _, error in faults), FOUND)
    built, clock = chain(ill, Says("wikipedia", FOUND), failures=2)
    for gap, _ in faults:
        clock.now += gap
        asked(built)
    before = ill.asked
    clock.now += LONGEST + 1
    asked(built)
    assert ill.asked == before + 1


def test_with_a_filter_one_that_cannot_filter_is_not_asked() -> None:
    """It would find what the filter forbids; it neither rests nor fails for that, and the step says so."""

    class Filters(Says):
        def search(self, query: str, k: int, filter: Filter = NO_FILTER) -> tuple[Passage, ...]:
            return tuple(p for p in super().search(query, k) if filter.matches(p.meta))

    web, own = Says("web", FOUND), Filters("own", FOUND)
    built, _ = chain(web, own)
    with metered() as spent:
        assert built.search("Ruvel Bridge", 5, Filter.of({"year": {"!=": 1}})) == FOUND
    assert (web.asked, own.asked) == (0, 1)
    assert spent.degraded == ["web cannot filter, used own (web: cannot filter)"]
    with pytest.raises(SearchError, match="web: cannot filter"):
        chain(web)[0].search("Ruvel Bridge", 5, Filter.of({"year": 1}))
    assert built.search("Ruvel Bridge", 5) == FOUND
    assert web.asked == 1
