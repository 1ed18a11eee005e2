"""Pages behind hits: what is read of them, what takes their place, and what one of them cannot do to the others."""

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest

from endpoint import WebAnswer, serving
from surefoot.network import Network, Reply
from surefoot.run.meter import Meter, metered
from surefoot.searchers.pages import Pages
from surefoot.types import Passage
from surefoot.types.errors import MissingExtra, SearchError

QUERY = "Ruvel Bridge"
PROSE = (
    "The bridge crosses the Larrow below the old mill, where the valley is narrow and the rock stands bare on both "
    "banks. Before it was there, a ferry went from Easter to the first frost, and in winter people walked on the ice."
)


def page(*paragraphs: str, title: str = "Almanac") -> bytes:
    said = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    head = f"<!doctype html><html><head><title>{title}</title></head>"
    return f"{head}<body><article>{said}</article></body></html>".encode()


def pdf(line: str) -> bytes:
    """A PDF of one line, as short as one gets that readers still mend."""
    stream = b"BT /F1 12 Tf 72 720 Td (%s) Tj ET" % line.encode()
    font = b"<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
    return (
        b"%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources %s>>endobj\n"
        b"4 0 obj<</Length %d>>stream\n%s\nendstream endobj\ntrailer<</Root 1 0 R>>\nstartxref\n0\n%%%%EOF"
        % (font, len(stream), stream)
    )


class Site:
    """A web site on the loopback interface: `site.says` by path, an answer or what makes one; no robots.txt."""

    def __init__(self) -> None:
        self.says: dict[str, WebAnswer | Callable[[], WebAnswer]] = {}
        self.asked: list[str] = []
        self.url = ""

    def html(self, path: str, *paragraphs: str, title: str = "Almanac") -> Passage:
        """A page there, as a hit."""
        self.says[path] = (200, {"Content-Type": "text/html"}, page(*paragraphs, title=title))
        return self.hit(path)

    def hit(self, path: str, text: str = "A snippet.", title: str = "A hit") -> Passage:
        return Passage(path, text, title, "external", self.url + path)

    def answer(self, path: str) -> WebAnswer:
        self.asked.append(path)
        said = self.says.get(path, (404, {}, b"not here"))
        return said() if callable(said) else said


@pytest.fixture
def site() -> Iterator[Site]:
    """It stops with the test."""
    site = Site()

    with serving(lambda request: site.answer(request.target)) as site.url:
        yield site


class Finds:
    """A searcher with given hits."""

    name = "finds"

    def __init__(self, *hits: Passage) -> None:
        self.hits = hits

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        return self.hits[:k]


def pages(*hits: Passage, cache: str | None = None, **options: Any) -> Pages:
    network = Network(allow=["127.0.0.1"], spacing=0, retries=0, cache=cache)
    return Pages(Finds(*hits), network, **({"seconds": 60.0} | options))  # a busy machine is no reason to fail


def searched(searcher: Pages, k: int = 30) -> tuple[tuple[Passage, ...], Meter]:
    with metered() as spent:
        return searcher.search(QUERY, k), spent


def told(spent: Meter) -> str:
    return "; ".join(spent.degraded)


# What is read


def test_a_page_comes_as_paragraphs_with_its_address_and_title(site: Site) -> None:
    """Not as the snippet that led there, and nothing is said of a fallback."""
    found, spent = searched(pages(site.html("/bridge", PROSE, "Tomas Aldwin built it in 1911.", title="Ruvel Bridge")))
    assert "Tomas Aldwin built it" in " ".join(passage.text for passage in found)
    assert {(p.source, p.url, p.title, p.via) for p in found} == {
        ("external", f"{site.url}/bridge", "Ruvel Bridge", "page")
    }
    assert spent.degraded == []
    assert {passage.trust for passage in found} == {"web"}


def test_pages_are_opened_side_by_side_and_keep_the_order_of_their_hits(site: Site) -> None:
    """None of four answers before all four were asked for, and the first answers last."""
    together = Barrier(4)

    def answer(number: int) -> WebAnswer:
        together.wait(20)
        time.sleep(0.1 * (number == 0))
        return 200, {"Content-Type": "text/html"}, page(f"{number}. {PROSE}")

    site.says = {f"/{n}": partial(answer, n) for n in range(4)}
    found, _ = searched(pages(*[site.hit(f"/{n}") for n in range(4)]))
    assert [passage.text.split(".")[0] for passage in found] == ["0", "1", "2", "3"]


@pytest.mark.parametrize(
    ("declared", "body"),
    [
        ("application/pdf", pdf("Tomas Aldwin built the Ruvel Bridge.")),
        ("text/html", pdf("Tomas Aldwin built the Ruvel Bridge.")),
        ("application/octet-stream", pdf("Tomas Aldwin built the Ruvel Bridge.")),
        ("application/pdf", page(f"{PROSE} Tomas Aldwin built the Ruvel Bridge.")),
        ("text/plain", page(f"{PROSE} Tomas Aldwin built the Ruvel Bridge.")),
        ("", page(f"{PROSE} Tomas Aldwin built the Ruvel Bridge.")),
        ("text/plain; charset=utf-8", b"Tomas Aldwin built the Ruvel Bridge."),
    ],
)
def test_a_page_is_what_its_first_bytes_say(site: Site, declared: str, body: bytes) -> None:
    """Whatever the server calls it."""
    site.says["/x"] = (200, {"Content-Type": declared}, body)
    found, spent = searched(pages(site.hit("/x")))
    assert "Tomas Aldwin built the Ruvel Bridge." in found[0].text, told(spent)
    assert "<p>" not in found[0].text


# What is opened


def test_an_address_is_opened_once(site: Site) -> None:
    """Also where hits differ in the fragment, or one leads to the other."""
    hit = site.html("/bridge", PROSE)
    site.says["/old"] = (301, {"Location": "/bridge"}, b"")
    found, _ = searched(pages(hit, site.hit("/bridge#history"), site.hit("/bridge/"), site.hit("/old")))
    assert len(found) == 1
    assert site.asked.count("/bridge") <= 2
    assert "/bridge/" not in site.asked


def test_robots_txt_is_obeyed_where_a_redirect_leads(site: Site) -> None:
    """A detour opens nothing."""
    site.html("/shut/a", "Tomas Aldwin built it.", PROSE)
    site.says["/way"] = (302, {"Location": "/on"}, b"")
    site.says["/on"] = (302, {"Location": "/shut/a"}, b"")
    site.says["/robots.txt"] = (200, {}, b"User-agent: *\nDisallow: /shut/\n")
    found, spent = searched(pages(site.hit("/way")))
    assert found[0].text == "A snippet."
    assert "lets no robot read /shut/a" in told(spent)
    assert "/shut/a" not in site.asked


def test_the_pause_that_a_site_asks_for_is_kept(site: Site) -> None:
    """Where it is longer than there is time, only one of its pages is opened."""
    hits = [site.html("/a", PROSE), site.html("/b", PROSE)]
    site.says["/robots.txt"] = (200, {}, b"User-agent: *\nCrawl-delay: 100\n")
    found, spent = searched(pages(*hits))
    assert sorted(passage.via for passage in found) == ["page", "snippet"]
    assert "one request each 100 s" in told(spent)


class SamePage:
    """A network in which every address has the same page, and no site a robots.txt."""

    def get(self, url: str, **_: object) -> Reply:
        return Reply(url, 200, {"content-type": "text/html"}, page(PROSE))


def test_wiki_mode_opens_wikipedia_and_drops_the_rest() -> None:
    """The paper's other mode; a name that only looks like Wikipedia's does not count."""
    hosts = ("en.wikipedia.org", "notwikipedia.org", "example.org")
    real, *others = (Passage(host, "A snippet.", "A hit", "external", f"https://{host}/wiki/Ruvel") for host in hosts)
    found, _ = searched(Pages(Finds(*others, real), SamePage(), "wiki"))  # type: ignore[arg-type]
    assert {(passage.via, passage.url) for passage in found} == {("page", real.url)}
    none, spent = searched(pages(*others, mode="wiki"))
    assert none == ()
    assert told(spent) == "none of 2 hits of finds is a page of Wikipedia"


# What takes a page's place


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((404, {}, b"gone"), "127.0.0.1 answers HTTP 404"),
        ((202, {"Content-Type": "text/html"}, page(PROSE)), "127.0.0.1 answers HTTP 202"),
        ((429, {}, b""), "127.0.0.1 answers HTTP 429"),
        ((302, {"Location": "http://xn--/"}, b""), "redirects to what is no http or https address"),
        ((200, {"Content-Type": "image/png"}, b"\x89PNG\r\n\x1a\n"), "gives image/png, which is neither HTML, PDF nor"),
        ((200, {"Content-Type": "text/html"}, b"\x89PNG\0\0"), "binary data that it declares as text"),
        ((200, {"Content-Type": "text/html"}, b""), "127.0.0.1 "),
        ((200, {"Content-Type": "application/pdf"}, b"%PDF-1.7 torn off"), "damaged PDF"),
        ((200, {"Content-Type": "text/html"}, page("Accept?")), "says less than its snippet"),
    ],
)
def test_a_page_that_does_not_open_gives_its_snippet_and_costs_the_others_nothing(
    site: Site, answer: WebAnswer, reason: str
) -> None:
    """And the step says why."""
    site.says["/bad"] = answer
    good = [site.html("/a", PROSE), site.html("/b", f"{PROSE} Indeed.")]
    snippet = "Tomas Aldwin built the Ruvel Bridge in 1911."
    found, spent = searched(pages(good[0], site.hit("/bad", snippet), good[1]))
    assert [passage.via for passage in found] == ["page", "snippet", "page"]
    assert (found[1].text, found[1].url) == (snippet, f"{site.url}/bad")
    assert told(spent).startswith("1 of 3 pages did not open, their snippets took their place: ")
    assert reason in told(spent)


def test_a_page_that_hangs_costs_no_more_than_the_time_there_is(site: Site) -> None:
    """The others are there all the same."""
    ended = Event()
    site.says["/hangs"] = lambda: (200, {}, b"" * ended.wait(30))
    searcher = pages(site.hit("/hangs"), site.html("/a", PROSE), seconds=3)
    begun = time.monotonic()
    found, spent = searched(searcher)
    ended.set()
    assert time.monotonic() - begun < 25
    assert [passage.via for passage in found] == ["snippet", "page"]
    assert "1 of 2 pages did not open" in told(spent)


@pytest.mark.parametrize(
    "url", [None, "notes/bridge.txt", "ftp://127.0.0.1/x", "http://me:secret@127.0.0.1/", "http://[::1"]
)
def test_what_is_no_web_address_is_not_asked_for(url: str | None) -> None:
    """A hit of a folder stands as it is."""
    found, spent = searched(pages(Passage("x", "A snippet.", "A hit", "external", url)))
    assert [passage.text for passage in found] == ["A snippet."]
    assert "no web address" in told(spent)


def test_pages_without_their_extra_are_refused_when_they_are_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the line that installs it, and not as snippets in place of every page."""
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    with pytest.raises(MissingExtra, match=r"pip install 'surefoot\[web\]'"):
        Pages(Finds(), Network(allow=[]))


def test_a_search_that_fails_is_not_taken_for_one_that_finds_nothing() -> None:
    """There are no pages to fall back on."""

    class Down(Finds):
        def search(self, query: str, k: int) -> tuple[Passage, ...]:
            raise SearchError("searx.example is down")

    with pytest.raises(SearchError, match="is down"):
        Pages(Down(), Network(allow=[])).search(QUERY, 5)


# How much of it


def test_each_page_in_turn_gives_what_shares_most_with_the_query(site: Site) -> None:
    """A long first page does not crowd the others out, and its best paragraph need not be its first."""
    long = [f"Part {n}. {PROSE} {PROSE}" for n in range(6)]
    long[4] = f"The Ruvel Bridge is the work of Tomas Aldwin. {PROSE} {PROSE}"
    hits = [site.html("/long", *long), site.html("/short", f"Short. {PROSE}")]
    found, _ = searched(pages(*hits), k=2)
    assert ["Tomas Aldwin" in found[0].text, found[1].text.startswith("Short")] == [True, True]
    many, _ = searched(pages(*hits), k=4)
    assert [passage.start for passage in many[:3]] == sorted(passage.start for passage in many[:3])
    assert len(many) == 4


def test_a_second_search_comes_from_the_cache_and_is_the_same(site: Site, tmp_path: Path) -> None:
    """What other threads took from the cache is counted in the step."""
    cache = str(tmp_path / "cache.db")
    hits = [site.html("/a", PROSE), site.html("/b", f"{PROSE} Indeed.")]
    first, spent = searched(pages(*hits, cache=cache))
    asked = len(site.asked)
    again, saved = searched(pages(*hits, cache=cache))
    assert again == first
    assert len(site.asked) == asked
    assert spent.cached < saved.cached == 2
