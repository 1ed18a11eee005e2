"""A ZIM file, written by libzim's own writer."""

import runpy
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import attacks
from surefoot.contracts import verify
from surefoot.network.pace import within
from surefoot.run.meter import metered
from surefoot.text.subject import subject_of
from surefoot.types.errors import ConfigError, SearchError

pytest.importorskip("libzim", reason="needs the extra zim")
from surefoot.searchers.zim import Lookup, Zim

WRITER: dict[str, Any] = runpy.run_path(str(Path(__file__).parents[1] / "services" / "zim.py"))
CATEGORY = '<div id="catlinks"><a href="https://en.wikipedia.org/wiki/Category:Disambiguation_pages">d</a></div>'
NEEDS = '<a href="./Category:All_articles_with_links_needing_disambiguation">maintenance</a>'

PAGES = {
    "Ruvel Bridge": """
        <nav><ul><li><a href="./Home">Home</a></li></ul></nav>
        <table class="infobox vcard"><tbody><tr><th>Ruvel Bridge</th></tr>
        <tr><th>Architect</th><td>Tomas<br>Aldwin</td></tr></tbody></table>
        <div class="hatnote">For the band, see elsewhere.</div>
        <p>The <b>Ruvel Bridge</b> is of iron.<sup class="reference">[1]</sup></p>
        <h2>History<span class="mw-editsection">[edit]</span></h2><p>It was opened in 1911.</p>
        <h2>References</h2><ol class="references"><li>Aldwin, T.: Bridges.</li></ol>"""
    + NEEDS,
    "Henry Feilden": WRITER["listing"](
        "Henry Feilden", ["Henry Feilden (Conservative politician)", "Henry Wemyss Feilden", "Not there"]
    ),
    "Henry Feilden (Conservative politician)": "<p>Henry Master Feilden was an English politician.</p>",
    "Henry Wemyss Feilden": "<p>Henry Wemyss Feilden was a British officer and naturalist.</p>",
    "Boundary": "<p>A boundary is a line.</p>",
    "Boundary (2003 film)": "<p>Boundary is a film directed by Anna Tresk.</p>",
    "Boundary (novel)": "<p>Boundary is a novel by Josef Larrow.</p>",
    "Titan": f"<p>Titan can be many things.</p><ul><li><a href='Titan_(moon)'>Titan</a>, a moon</li></ul>{CATEGORY}",
    "Titan (moon)": "<p>Titan is a moon of Saturn.</p>",
    "Mercury": "<ul><li><a href='Mercury_(planet)'>A planet</a></li></ul>",
    "Mercury (planet)": "<p>Mercury is a planet near the sun.</p>",
    "Larrow Hut": "<p>The hut stands at 2,214 metres; its keeper is Josef Aldwin. It may refer to a mountain hut.</p>",
    "Zoë Café": "<p>A café in Ambrel.</p>",
    "Long": "".join(f"<p>{'word ' * 60}number {n}.</p>" for n in range(40)),
    "Empty": "",
}
REDIRECTS = {
    "The old bridge": "Ruvel Bridge",
    "Mercury (disambiguation)": "Mercury",
    "Henry Feilden (disambiguation)": "Henry Feilden",
}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encyclopedia of fifteen pages."""
    written: Path = WRITER["write"](tmp_path_factory.mktemp("zim") / "test.zim", PAGES, REDIRECTS)
    return written


@pytest.fixture(scope="module")
def zim(file: Path) -> Zim:
    """A searcher over it."""
    return Zim(str(file))


def first(zim: Zim, query: str) -> tuple[str, str]:
    """The title of the best passage, and how it was come by."""
    passage = zim.search(query, 5)[0]
    return passage.title, passage.via


@pytest.mark.parametrize(
    ("query", "title", "stage"),
    [
        ("Ruvel Bridge", "Ruvel Bridge", "direct title"),
        ("ruvel bridge", "Ruvel Bridge", "direct title"),
        ("Ruvel Bridge architect", "Ruvel Bridge", "direct title"),
        ("the old bridge", "Ruvel Bridge", "direct title"),
        ("Who was the director of Boundary?", "Boundary (2003 film)", "typed suffix"),
        ("Who is the author of Boundary?", "Boundary (novel)", "typed suffix"),
        ("Josef Aldwin", "Larrow Hut", "full-text search"),
    ],
)
def test_the_page_is_found_by_the_first_stage_that_can(zim: Zim, query: str, title: str, stage: str) -> None:
    """In any case and through redirects, by the kind behind a title where one is asked for, or by its text."""
    assert first(zim, query) == (title, stage)


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("Henry Feilden occupation", "Henry Feilden (Conservative politician)"),
        ("Titan", "Titan (moon)"),
        ("Mercury", "Mercury (planet)"),
    ],
)
def test_a_disambiguation_page_gives_way_to_what_it_lists(zim: Zim, query: str, title: str) -> None:
    """Known by template, by category, or by the redirect that Wikipedia has for each."""
    assert first(zim, query)[0] == title
    assert query not in {passage.title for passage in zim.search(query, 20)}


def test_of_the_markup_only_the_text_and_the_box_are_left(zim: Zim) -> None:
    """Without menus, notes, marks and references; a passage says in which file, and where in it, it stands."""
    found = {passage.text: passage for passage in zim.search("Ruvel Bridge", 9)}
    opened = found["It was opened in 1911."]
    assert (opened.title, opened.url) == ("Ruvel Bridge › History", "test.zim/Ruvel_Bridge#History")
    text = "\n".join(found)
    assert "The Ruvel Bridge is of iron." in text
    assert "Architect: Tomas Aldwin" in text
    assert not any(noise in text for noise in ("Home", "[1]", "edit", "the band", "Bridges."))


def test_a_page_that_takes_too_long_is_left_out_and_the_others_are_found(tmp_path: Path) -> None:
    """The step says why; nothing works on when the answer is there."""
    slow = attacks.many_attributes(400_000).decode()
    zim = Zim(WRITER["write"](tmp_path / "a.zim", {"Boundary": PAGES["Boundary"], "Boundary (film)": slow}))
    began = time.monotonic()
    with metered() as spent, within(3):
        found = zim.search("Who was the director of Boundary?", 5)
    assert time.monotonic() - began < 40
    assert [passage.title for passage in found] == ["Boundary"]
    assert spent.degraded == ["pages of a.zim were left out: “Boundary (film)” was not read in time"]


class Item:
    """A page that counts how often it is unpacked."""

    title, unpacked = "Ruvel Bridge", 0

    def __init__(self, size: int) -> None:
        self.size = size

    @property
    def content(self) -> bytes:
        self.unpacked += 1
        return b"<p>It is of iron.</p>"


def test_a_page_is_read_once_and_a_large_one_never(zim: Zim) -> None:
    """By its first lines it is chosen, by its links others are found, and by its paragraphs it answers."""
    lookup, small, large = Lookup(zim._archive, "a", zim._lock, subject_of("x")), Item(21), Item(5_000_001)
    assert [bool(lookup.article(url, item)) for url, item in (("a", small), ("a", small), ("b", large))] == [1, 1, 0]
    assert (small.unpacked, large.unpacked) == (1, 0)
    assert lookup.unread == ["“Ruvel Bridge” has 5.0 MB, and only pages of up to 5.0 MB are read"]


def test_threads_find_what_one_finds(zim: Zim) -> None:
    """Searches of libzim are not safe between threads; ours are."""
    queries = [*PAGES, "Josef Aldwin", "the old bridge"] * 6
    alone = [zim.search(query, 5) for query in queries]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda query: zim.search(query, 5), queries)) == alone


def test_without_a_full_text_index_titles_still_do(tmp_path: Path) -> None:
    """And where they do not, it is an error that says so, not an empty result."""
    plain = Zim(WRITER["write"](tmp_path / "plain.zim", PAGES, index=False))
    assert first(plain, "Ruvel Bridge") == ("Ruvel Bridge", "direct title")
    with metered() as spent, pytest.raises(SearchError, match=r"plain\.zim.*no full-text index"):
        plain.search("Josef Aldwin", 5)
    assert "only its titles" in spent.degraded[0]


@pytest.mark.parametrize("content", [None, b"", b"no archive at all" * 20, "half"])
def test_a_missing_or_damaged_file_is_refused_when_it_is_built(tmp_path: Path, file: Path, content: Any) -> None:
    """With its name and what to do."""
    broken = tmp_path / "broken.zim"
    if content == "half":
        content = file.read_bytes()[: file.stat().st_size // 2]
    if content is not None:
        broken.write_bytes(content)
    with pytest.raises(ConfigError, match=r"broken\.zim.*download it again"):
        Zim(broken)


def test_damage_inside_is_an_error_of_the_search(tmp_path: Path, file: Path) -> None:
    """The file opens, since nobody reads 100 GB to check it; its pages do not."""
    whole = file.read_bytes()
    start = whole.index(b"\x28\xb5\x2f\xfd")  # where the first compressed cluster begins
    damaged = tmp_path / "damaged.zim"
    damaged.write_bytes(whole[: start + 8] + bytes(64) + whole[start + 72 :])
    with pytest.raises(SearchError, match=r"damaged\.zim is damaged"):
        Zim(damaged).search("Ruvel Bridge", 3)


def test_it_keeps_the_contract(zim: Zim) -> None:
    """The one that every searcher has to keep."""
    verify("searcher", zim)
