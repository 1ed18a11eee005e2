"""What a broken, slow or hostile outside does to a question: it costs what it brings, it shows, and it ends."""

import json
import logging
import re
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from faults import PLANTED, Answer, Faults, certified, faults, spelled, whole
from surefoot import Pipeline, Threshold
from surefoot.embedders.hashing import Hashing
from surefoot.evaluators.lexical import Lexical
from surefoot.generators.llm import LLMGenerator
from surefoot.llms.openai import OpenAI
from surefoot.llms.scripted import Scripted
from surefoot.network import Network
from surefoot.refiners.strips import Strips
from surefoot.rewriters.templates import Templates
from surefoot.rewriters.verbatim import Verbatim
from surefoot.run.store import Run, to_json, write_trace
from surefoot.searchers.chain import Chain
from surefoot.searchers.ddgs import Ddgs
from surefoot.searchers.pages import Pages
from surefoot.searchers.searxng import Searxng
from surefoot.searchers.serper import Serper
from surefoot.searchers.tavily import Tavily
from surefoot.searchers.wikipedia import Wikipedia
from surefoot.types import Passage, Step, Trace
from surefoot.types.protocols import Searcher

QUESTION = "Who built the Ruvel Bridge?"
SHELVED = Passage("s", "The Ruvel Bridge was built in 1911 by Tomas Aldwin.", "Ruvel Bridge", "external", "http://a/1")
PAGE = (
    "<!doctype html><html><head><title>Ruvel Bridge</title></head><body><article><p>The Ruvel Bridge was built by "
    "Tomas Aldwin, and it was opened in 1911 by the mayor, who came late.</p><p>It crosses the Larrow below the old "
    "mill, where the valley is narrow and the rock stands bare on both banks.</p></article></body></html>"
)
SECONDS = 4.0
"""What one request may take, and what opening pages may take altogether."""
SLACK = 26.0
"""Seconds for all else, on a machine that is busy with something else."""
KEY = f"tvly-Zq7-4711-{PLANTED}/key+0815"


def found(site: Faults) -> Answer:
    """One good result, in the shape of SearXNG and of Tavily."""
    row = {"url": f"{site.url}/good", "title": "Ruvel Bridge", "content": "Built by Aldwin."}
    return whole(json.dumps({"results": [row]}).encode(), 200, JSON)


def slow_wiki(site: Faults) -> Answer:
    """A page that is not the one that was looked for, a second late."""
    site.closing.wait(1)
    page = {"ns": 0, "title": f"Page {len(site.asked)}", "extract": "It is of no use.", "fullurl": "http://a/1"}
    return whole(json.dumps({"query": {"pages": [page]}}).encode(), 200, JSON)


def keys(site: Faults) -> list[str]:
    return [
        value for one in site.asked for name, value in one.headers.items() if name in ("authorization", "x-api-key")
    ]


def tells(status: int) -> Callable[[Faults], Answer]:
    """A refusal that repeats the key it was sent."""
    return lambda site: whole(json.dumps({"message": keys(site)[-1]}).encode(), status, JSON)


JSON, HTML = {"Content-Type": "application/json"}, {"Content-Type": "text/html"}
ANSWERS: dict[str, Callable[[Faults], Answer]] = {
    "robots.txt": lambda site: whole(b"", 404),
    "good": lambda site: whole(PAGE.encode(), 200, HTML),
    "found": found,
    "mislabelled": lambda site: whole(PAGE.encode(), 200, {"Content-Type": "application/pdf"}),
    "private": lambda site: whole(b"", 302, {"Location": f"http://localhost:{site.port}/secret"}),
    "slow-wiki": slow_wiki,
    "tells-401": tells(401),
    "tells-400": tells(400),
}
FAULTS = {
    "dns": "nowhere.invalid cannot be reached",
    "refused": "127.0.0.1 cannot be reached",
    "reset": "broke off",
    "status/500": "HTTP 500",
    "status/503/after/1": "HTTP 503",
    "status/429/after/3600": "HTTP 429",
    "status/432": "HTTP 432",
    "status/202": "HTTP 202",
    "drip/head": "in time",
    "drip/body": "in time",
    "bomb": "sent more than",
    "gigabyte": "sent more than",
    "endless": "sent more than",
    "round": "redirects more than",
    "mislabelled": "no JSON|a page",
    "private": "localhost is a name of an inner network",
    "tls": "certificate",
}
FAULT_NAMES = [pytest.param(name, marks=pytest.mark.slow) if "drip" in name else name for name in FAULTS]
"""Those that wait for a time limit are slow."""
THROTTLES = ("status/429/after/3600", "status/432", "status/202")
"""Faults by which a provider says that we ask too much: all of them, Tavily and DuckDuckGo."""


class Outside:
    """The servers, and networks that may reach 127.0.0.1 besides the public internet."""

    def __init__(self, plain: Faults, sound: Faults, tls: Faults | None) -> None:
        self.plain, self.sound, self.tls = plain, sound, tls
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.closed = free.getsockname()[1]

    def network(self) -> Network:
        """A new one, which nobody has asked to wait."""
        return Network(allow=["*", "127.0.0.1"], seconds=SECONDS, spacing=0, retries=1)

    def provider(self, fault: str) -> Searcher:
        """A searcher whose provider has this fault; of those that have statuses of their own, the one that has it."""
        of: dict[str, Callable[..., Searcher]] = {"status/432": Tavily, "status/202": Ddgs}
        return of.get(fault, Searxng)(self.network(), base_url=self.url(fault))

    def url(self, fault: str) -> str:
        if fault == "dns":
            return "http://nowhere.invalid"
        if fault == "refused":
            return f"http://127.0.0.1:{self.closed}"
        if fault == "tls":
            if not self.tls:
                pytest.skip("there is no openssl here to make an expired certificate with")
            return f"{self.tls.url}/good"
        return f"{self.plain.url}/{fault}"


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    """The servers, with what a first page costs already paid."""
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        plain, sound = (stack.enter_context(faults(answers=ANSWERS)) for _ in range(2))
        tls = None
        if shutil.which("openssl"):
            file, context = certified(tmp_path_factory.mktemp("tls"), expired=True)
            tls = stack.enter_context(faults(context, ANSWERS))
            patch.setenv("SSL_CERT_FILE", str(file))  # else it is refused as self-signed, expired or not
        patch.setattr(socket, "getaddrinfo", looked_up(socket.getaddrinfo))
        patch.setenv("TAVILY_API_KEY", KEY)
        patch.setenv("SERPER_API_KEY", KEY)
        outside = Outside(plain, sound, tls)
        Pages(Hits(good(outside)), outside.network(), seconds=120).search(QUESTION, 5)
        yield outside


def looked_up(real: Callable[..., Any]) -> Callable[..., Any]:
    """The system's lookup, but for one name, which no resolver has to be asked for."""

    def getaddrinfo(host: Any, *arguments: Any, **named: Any) -> Any:
        if host == "nowhere.invalid":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return real(host, *arguments, **named)

    return getaddrinfo


class Hits:
    """A searcher with given hits."""

    name = "shelf"

    def __init__(self, *hits: Passage) -> None:
        self.hits = hits

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        return self.hits[:k]

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        return ()


def good(outside: Outside) -> Passage:
    return Passage("g", "Aldwin.", "Ruvel Bridge", "external", f"{outside.sound.url}/good")


def asked(searcher: Searcher, question: str = QUESTION, **other: Any) -> tuple[Trace, float]:
    """The trace of the question over an empty corpus, with other parts where they are given, and its seconds."""
    graded = Lexical()
    parts: dict[str, Any] = {
        "retriever": Hits(),
        "evaluator": graded,
        "policy": Threshold(graded.thresholds),
        "refiner": Strips(graded, graded.thresholds),
        "rewriter": Verbatim(),
        "searcher": searcher,
        "generator": LLMGenerator(Scripted(lambda _: "Tomas Aldwin built it [1].")),
    }
    pipeline = Pipeline(**parts | other)
    begun = time.monotonic()
    trace = pipeline.run(question)
    assert KEY not in repr(pipeline)
    return trace, time.monotonic() - begun


def search_step(trace: Trace) -> Step:
    return next(step for step in trace.steps if step.name == "search")


def assert_aldwin(trace: Trace) -> None:
    assert trace.answer
    assert not trace.answer.refused, search_step(trace)
    assert "Aldwin" in trace.answer.text


@pytest.mark.parametrize("fault", FAULT_NAMES)
def test_a_provider_that_fails_is_replaced_by_the_next_and_the_trace_says_so(fault: str, outside: Outside) -> None:
    """The question has its answer, from the other searcher, in time."""
    provider = outside.provider(fault)
    trace, seconds = asked(Chain([Pages(provider, outside.network(), seconds=SECONDS), Hits(SHELVED)]))
    step = search_step(trace)
    assert seconds < SECONDS + SLACK
    assert step.error is None
    assert step.degraded
    verb = "throttled" if fault in THROTTLES else "failed"
    assert step.degraded.startswith(f"pages:{provider.name} {verb}, used shelf (pages:{provider.name}: ")
    assert re.search(FAULTS[fault], step.degraded)
    assert_aldwin(trace)


def test_where_all_fail_the_question_is_refused_and_each_reason_is_in_the_trace(outside: Outside) -> None:
    """Nothing is made up, and nothing is swallowed."""
    trace, _ = asked(Chain([outside.provider(fault) for fault in ("status/500", "refused", "status/202")]))
    step = search_step(trace)
    assert step.error
    assert step.error.startswith("no searcher could search: ")
    assert all(re.search(FAULTS[fault], step.error) for fault in ("status/500", "refused", "status/202"))
    assert trace.answer
    assert trace.answer.refused


def test_no_file_that_a_run_writes_holds_a_key(
    outside: Outside, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Not the cache, nor the traces, nor the most talkative log; also where a server repeats the key to us."""
    network = Network(allow=["127.0.0.1"], seconds=SECONDS, spacing=0, retries=1, cache=str(tmp_path / "replies.db"))
    before = len(keys(outside.plain))
    talkative = logging.FileHandler(tmp_path / "log.txt")
    logging.getLogger().addHandler(talkative)
    caplog.set_level(logging.DEBUG)
    refusing: list[Searcher] = [
        Tavily(network, base_url=outside.url("tells-401")),
        Serper(network, base_url=outside.url("tells-400")),
    ]
    tavily = Pages(Tavily(network, base_url=outside.url("found")), network, seconds=SECONDS)
    try:
        trace, _ = asked(Chain([*refusing, tavily]))
        write_trace(trace, tmp_path / "trace.json")
        Run(tmp_path / "run", {"config": to_json(trace)["config"]}).append("1", trace)
    finally:
        logging.getLogger().removeHandler(talkative)
        talkative.close()
    assert_aldwin(trace)
    assert any(KEY in key for key in keys(outside.plain)[before:]), "no server got the key: the test proves nothing"
    files = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    written = {path.name for path, held in files.items() if held}
    assert written >= {"replies.db", "trace.json", "traces.jsonl", "log.txt"}
    spellings = [*spelled(PLANTED), quote(KEY, safe="").encode()]
    assert [path.name for path, held in files.items() if any(spelling in held for spelling in spellings)] == []


def test_no_trace_holds_the_key_of_an_endpoint_or_the_password_of_a_database(
    outside: Outside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both fail, and what they say of it is recorded."""
    pytest.importorskip("psycopg", reason="needs the extra pgvector")
    from surefoot.retrievers.pgvector import Pgvector

    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("SUREFOOT_PG_DSN", f"postgresql://me:{PLANTED}@127.0.0.1:{outside.closed}/db")
    before = len(keys(outside.plain))
    llm = OpenAI("m", f"{outside.url('tells-401')}/v1", network=outside.network())
    trace, _ = asked(Hits(SHELVED), retriever=Pgvector(Hashing()), generator=LLMGenerator(llm))
    write_trace(trace, tmp_path / "trace.json")
    errors = {step.name: step.error for step in trace.steps if step.error}
    assert "SUREFOOT_PG_DSN" in errors["retrieve"]
    assert "HTTP 401" in errors["generate"]
    assert any(KEY in key for key in keys(outside.plain)[before:]), "no endpoint got the key: the test proves nothing"
    held = (tmp_path / "trace.json").read_bytes()
    assert not any(spelling in held for spelling in spelled(PLANTED))


@pytest.mark.slow
def test_a_wiki_that_is_slow_but_sound_costs_no_more_than_the_question_may(outside: Outside) -> None:
    """Each request is quick enough by itself; a question would make dozens of them."""
    wiki = Wikipedia(outside.network(), base_url=f"{outside.url('slow-wiki')}/api.php")
    before = len(outside.plain.asked)
    trace, _ = asked(wiki, "What is Grace Hopper's occupation?", rewriter=Templates(), seconds=3)
    came = [one for one in outside.plain.asked[before:] if one.target.startswith("/slow-wiki")]
    searches = [step for step in trace.steps if step.name == "search"]
    assert 1 < len(came) <= 4
    assert sum(step.seconds for step in searches) < 3 + SLACK
    assert re.search("in time|no time was left", searches[-1].error or "")
    assert trace.answer
    assert trace.answer.refused
    assert next(part.default for part in fields(Pipeline) if part.name == "seconds") == 60
