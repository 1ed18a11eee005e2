"""What is not shown is not read, in a file as on a web page; what is shown is."""

import io
from typing import Any

import pytest
from lxml.html import document_fromstring

from documents.hidden_ways import END, HIDDEN, PROSE, SENTENCE, SHOWN, page
from surefoot.documents.hidden_html import prune
from surefoot.documents.loaders import Document, Unreadable, html
from surefoot.network import Reply
from surefoot.searchers.pages import Pages
from surefoot.types import Passage


class OnePage:
    """A network that has one page, and a searcher that finds it."""

    name = "one"

    def __init__(self, markup: str) -> None:
        self._markup = markup

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        return (Passage("1", "A snippet.", "A hit", "external", "http://site.example/"),)

    def get(self, url: str, **_: Any) -> Reply:
        return Reply(url, 200, {"content-type": "text/html"}, self._markup.encode())


def of_a_file(markup: str) -> str:
    found = next(html.HtmlLoader().read(io.BytesIO(markup.encode()), "page.html"))
    assert isinstance(found, Document)
    return f"{found.title}\n{found.text}"


def of_the_web(markup: str) -> str:
    site: Any = OnePage(markup)
    found = Pages(site, site, seconds=60.0).search("bridge", 30)
    assert {passage.via for passage in found} == {"page"}
    return "\n".join(f"{passage.title}\n{passage.text}" for passage in found)


def pruned(markup: str) -> str:
    tree = document_fromstring(markup)
    prune(tree)
    return str(tree.text_content())


PATHS = pytest.mark.parametrize("read", [of_a_file, of_the_web])


@PATHS
@pytest.mark.parametrize("way", HIDDEN)
def test_what_is_not_shown_is_not_read(read: Any, way: str) -> None:
    """And what stands around it is."""
    text = read(page(*HIDDEN[way]))
    assert "Bob" not in text
    assert PROSE.strip() in text
    assert END in text


@pytest.mark.parametrize("way", SHOWN)
def test_what_is_shown_is_kept(way: str) -> None:
    """However much it looks like something hidden."""
    assert SENTENCE in pruned(page(*SHOWN[way]))


@PATHS
def test_what_is_for_the_eye_alone_is_read(read: Any) -> None:
    """aria-hidden hides from those who listen."""
    assert SENTENCE in read(page(f"<p aria-hidden=true>{PROSE} {SENTENCE}</p>"))


@pytest.mark.parametrize(
    ("between", "said"),
    [
        ("one<b hidden>x</b>two", "one two"),
        ("one<b hidden>x</b>, two", "one, two"),
        ("one <b hidden>x</b>two", "one two"),
        ("one<script>x</script><b hidden>x</b>two", "one two"),
        ("one<!-- x -->two", "onetwo"),
        ("<i>one</i><b hidden>x</b>two", "onetwo"),
        ("o\u200bn\u00ade", "one"),
        (
            "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
            "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        ),
    ],
)
def test_what_is_taken_out_makes_no_word_of_two(between: str, said: str) -> None:
    """What a browser shows as one word stays one, and a joiner stays where it has a meaning."""
    assert pruned(f"<html><body><p>{between}</p></body></html>").strip() == said


def test_a_page_that_a_script_will_show_is_read() -> None:
    """Nobody publishes a page of which nothing is ever seen; without a script it is one."""
    for rules in ("body{opacity:0}", "html{visibility:hidden}", "html{display:none}", "body{display:none}"):
        assert END in pruned(page("<script></script>", f"<style>{rules}</style>"))
        assert END not in pruned(page("", f"<style>{rules}</style>"))


def test_a_page_whose_background_is_elsewhere_is_read() -> None:
    """Light text all over a page is light on dark; a single light sentence is not."""
    assert END in pruned(page("", "<link rel=stylesheet href=dark.css><style>body{color:#eee}</style>"))
    assert END in pruned(page("", "<style>:root{color-scheme:dark} p{color:#fff}</style>"))
    assert SENTENCE not in pruned(page(*HIDDEN["white on white"])).replace(END, "")


HOSTILE = {
    "selectors of selectors": "<style>" + ":not(" * 999 + "a" + ")" * 999 + "{display:none}</style>",
    "a long selector": "<style>" + "a " * 5000 + "{display:none}</style>",
    "queries in queries": "<style>@media " + "(" * 999 + "color" + ")" * 999 + "{p{display:none}}</style>",
    "values in values": "<style>p{overflow:hidden;width:" + "calc(" * 999 + "99px" + ")" * 999 + "}</style><p>x",
}
ODD = {
    "variables that grow": "<style>:root{"
    + "".join(f"--a{n}:" + f"var(--a{n + 1}) " * 9 + ";" for n in range(30))
    + "--a30:x} p{color:var(--a0)}</style><p>x",
    "a variable of itself": "<style>p{--a:var(--a);color:var(--a)}</style><p>x",
    "no values": "<style>p{color:;color:color();color:rgb();font:;inset:;clip:rect();transform:scale()}</style><p>x",
    "no selector": "<style>{color:red} ,{color:red} a|{color:red} *|*{color:red} :is(){color:red}</style><p>x",
    "nothing closed": "<style>@media (((p{color:red</style><p>x",
    "queries of nothing": "<style>@media{p{color:red}} @media (width<){p{}} @media (1/0<aspect-ratio){p{}}</style><p>x",
}


@pytest.mark.parametrize("sheet", HOSTILE)
def test_a_sheet_that_is_nested_too_deeply_is_refused(sheet: str) -> None:
    """The page is not read as if it had none."""
    with pytest.raises(Unreadable, match="style sheets nested too deeply"):
        pruned(f"<html><body>{HOSTILE[sheet]}</body></html>")


@pytest.mark.parametrize("sheet", ODD)
def test_a_sheet_that_makes_no_sense_hides_nothing(sheet: str) -> None:
    """A browser leaves out what it cannot read."""
    assert "x" in pruned(f"<html><body>{ODD[sheet]}</body></html>")


def test_a_long_page_of_plain_paragraphs_is_within_the_limit() -> None:
    """Each sibling is looked at once for a rule, and not once for each that follows it."""
    rules = "h1 ~ p, .toc ~ p, p:nth-of-type(odd), p:last-of-type, p:last-child{color:#222}"
    page = f"<html><body><style>{rules}</style>{'<p>word </p>' * 12_000}</body></html>"
    assert pruned(page).count("word") == 12_000


@PATHS
@pytest.mark.parametrize("reference", ["&#27;", "&#1;", "&#xFFFE;"])
def test_a_reference_to_no_character_costs_no_more_than_itself(read: Any, reference: str) -> None:
    """In a text or an attribute: lxml reads such a reference, and refuses to write what it read."""
    text = read(page(f"<p class='a{reference}b'>{PROSE} The gr{reference}een hut.</p>"))
    assert "The green hut." in text


@PATHS
def test_a_form_feed_stands_between_words(read: Any) -> None:
    """To HTML it is white space, and to XML no character."""
    assert "The green hut." in " ".join(read(page(f"<p>{PROSE} The green&#12;hut.</p>")).split())
