"""What a wiki or a site sees of many questions at once, and what their traces show of what it refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from faults import Faults, faults
from surefoot import Pipeline, Threshold
from surefoot.evaluators.lexical import Lexical
from surefoot.network import Network
from surefoot.refiners.strips import Strips
from surefoot.rewriters.verbatim import Verbatim
from surefoot.searchers.pages import Pages
from surefoot.types import Answer, Passage, Trace

SPACING = 0.02
QUESTIONS = [f"Who built bridge {number}?" for number in range(32)]
PAGES = 8
"""That are there, each of them the hit of four questions."""
REFUSED = "/status/500?page="


@pytest.fixture
def site() -> Iterator[Faults]:
    with faults() as told:
        yield told


class Shelf:
    """Two hits a question: a page that four questions share, and one that is refused."""

    name = "shelf"

    def __init__(self, site: str) -> None:
        self.site = site

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        number = QUESTIONS.index(query)
        there = f"/type/text/plain?text=Tomas+Aldwin+built+bridge+{number % PAGES}+of+iron,+in+the+year+1911."
        return tuple(Passage(url, "Bridge.", "Bridge", "external", self.site + url) for url in (there, refused(number)))

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        return ()

    def generate(self, question: str, knowledge: Any, on_text: Any = None) -> Answer:
        return Answer("", refused=True)


def refused(number: int) -> str:
    return f"{REFUSED}{number}"


def asked(site: Faults, cache: Path) -> list[Trace]:
    """The traces of all questions, sixteen at a time, by a pipeline that is new but for its cache."""
    shelf, evaluator = Shelf(site.url), Lexical()
    network = Network(["127.0.0.1"], spacing=SPACING, seconds=30, retries=0, cache=str(cache))
    pipeline = Pipeline(
        retriever=shelf,
        evaluator=evaluator,
        policy=Threshold(evaluator.thresholds),
        refiner=Strips(evaluator, evaluator.thresholds),
        rewriter=Verbatim(),
        searcher=Pages(shelf, network, seconds=30),
        generator=shelf,
    )
    return list(pipeline.run_many(QUESTIONS, workers=16))


def test_many_threads_keep_their_distance_fetch_once_and_lose_no_error(site: Faults, tmp_path: Path) -> None:
    """The pause holds over all threads, pages that questions share come once, and each refusal shows in its trace."""
    traces = asked(site, tmp_path / "replies.db")
    times = sorted(came.time for came in site.asked)
    assert len(times) == 1 + PAGES + len(QUESTIONS)  # the first is for robots.txt
    assert times[-1] - times[0] > (len(times) - 1) * SPACING - 0.03
    assert set(site.seen.values()) == {1}
    for trace in traces:
        step = next(step for step in trace.steps if step.name == "search")
        assert "1 of 2 pages did not open" in (step.degraded or "")
        assert "HTTP 500" in (step.degraded or "")


def test_a_second_run_fetches_only_what_was_refused_and_brings_the_same(site: Faults, tmp_path: Path) -> None:
    """From the cache of the first, by a network that knows nothing of it."""
    before = asked(site, tmp_path / "replies.db")
    site.asked.clear()
    after = asked(site, tmp_path / "replies.db")
    assert Counter(came.target for came in site.asked) == Counter(map(refused, range(len(QUESTIONS))))
    assert [said(trace) for trace in after] == [said(trace) for trace in before]


def said(trace: Trace) -> Any:
    """What came of a question, without what it took."""
    return trace.queries, trace.external, trace.grades, trace.strips, [step.degraded for step in trace.steps]
