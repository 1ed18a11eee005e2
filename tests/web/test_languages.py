"""The page in its reader's language and with its settings, in a real Chromium, over the library of the demo."""

from collections.abc import Callable, Iterator
from importlib.resources import as_file, files
from typing import Any

import pytest

from server.conftest import listening
from surefoot import web
from surefoot.cli.demo import _indexed
from surefoot.server.service import assembled
from web.conftest import ask, watched
from web.site import settings

pytest.importorskip("httpx")
pytestmark = pytest.mark.slow

BORN = "In which village was the guide Anna Tresk born?"
PHONE = "Who invented the telephone?"
AXE = "axe.run().then(all => all.violations.map(one => [one.id, one.impact, one.nodes[0].html]))"
UNMARKED = """() => {
  const page = document.body.cloneNode(true);
  const data = "[dir=auto], [lang], code, kbd, noscript, script, .brand, #collection, table.documents td:nth-child(2)";
  page.querySelectorAll(data).forEach((one) => one.replaceWith(" "));
  let [text, before] = [page.textContent, ""];
  while (text !== before) [before, text] = [text, text.replace(/⟦[^⟦⟧]*⟧/gu, " ")];
  const labels = [...page.querySelectorAll("[aria-label], [placeholder]")]
    .flatMap((one) => [one.getAttribute("aria-label"), one.getAttribute("placeholder")])
    .filter((one) => one && !one.startsWith("⟦") && one !== "Surefoot" && one !== "sf-…");
  return [...(text.replace(/(\\d)\\s(?:m?s|kB|MB)(?!\\p{L})/gu, "$1").match(/\\p{L}+/gu) ?? []), ...labels];
}"""
"""Words and labels on the page that are neither data nor within marks."""

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = tmp_path_factory.mktemp("languages")
    with as_file(files("surefoot") / "demo") as demo:
        config = _indexed(demo, place)
    with listening(assembled(settings(place), config)) as url:
        yield url


@pytest.fixture
def open_page(browser: Any, address: str) -> Iterator[Open]:
    """Opens the page in a browser of this language."""
    with watched(browser, (address, "blob:"), []) as tabs:

        def opened(locale: str, width: int = 1440) -> Any:
            tab = tabs.open(width, "light", reduced_motion="reduce", locale=locale)
            tab.goto(address)
            tab.wait_for_selector(".hero")
            return tab

        yield opened


@pytest.mark.parametrize("width", [1440, 390])
def test_a_german_browser_is_answered_in_german(open_page: Open, axe: str, width: int) -> None:
    """From the welcome to the documents; axe finds nothing, and nothing scrolls sideways."""
    tab = open_page("de-DE", width)

    def look(where: str) -> None:
        tab.evaluate(axe)
        assert tab.evaluate(AXE) == [], where
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), where

    assert tab.evaluate("[document.documentElement.lang, document.documentElement.dir]") == ["de", "ltr"]
    assert tab.inner_text("h1") == "Fragen Sie Ihre Dokumente"
    assert "20 Dokumente, 20 Passagen" in tab.inner_text(".figures")
    look("welcome")
    turn = ask(tab, BORN)
    assert "von 20 Passagen verwendet · " in turn.locator(".how > summary").inner_text()
    turn.locator(".how > summary").click()
    assert turn.locator(".action b").inner_text() == "Die Dokumente scheinen die Antwort zu enthalten."
    look("an answer")
    turn = ask(tab, PHONE)
    assert turn.locator(".refusal .kind").inner_text() == "Keine Antwort"
    look("a refusal")
    tab.evaluate("location.hash = '#/documents'")
    tab.wait_for_selector("table.documents")
    assert tab.inner_text("h1") == "Dokumente"
    assert tab.locator(".documents thead th").first.inner_text() == "Dokument"
    look("the documents")
    tab.evaluate("document.getElementById('settings').click()")
    tab.wait_for_selector("dialog[open]")
    assert tab.inner_text("dialog h2") == "Einstellungen"
    look("the settings")


def test_no_word_of_the_page_is_outside_of_its_texts(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """With every text in marks, what stands without is data."""
    marked = {
        name: text if name == "dir" else f"⟦{text}⟧" if isinstance(text, str) else {"other": f"⟦{text['other']}⟧"}
        for name, text in web.texts("en").items()
    }
    monkeypatch.setattr(web, "texts", lambda language: marked)
    web.served.cache_clear()
    try:
        tab = open_page("es-ES")
    finally:
        web.served.cache_clear()
    assert tab.evaluate(UNMARKED) == []
    for question in (BORN, PHONE):
        turn = ask(tab, question)
        turn.locator(".how > summary").click()
        turn.locator(".costs summary").click()
        turn.locator(".passages summary").first.click()
        assert tab.evaluate(UNMARKED) == []
    tab.locator(".cite").first.click()
    tab.wait_for_selector("#source mark.here")
    assert tab.evaluate(UNMARKED) == []
    tab.click("#settings")
    tab.wait_for_selector("dialog[open]")
    assert tab.evaluate(UNMARKED) == []
    tab.keyboard.press("Escape")
    for view in ("documents", "evaluations", "nowhere"):
        tab.evaluate("name => { location.hash = '#/' + name }", view)
        tab.wait_for_selector("table.documents" if view == "documents" else ".view .missing, .view .note")
        assert tab.evaluate(UNMARKED) == []


def test_settings_are_remembered_and_sent_with_the_question(open_page: Open) -> None:
    """The language comes with the page; what differs from the server's usual stands under the answer."""
    tab = open_page("en-GB")
    tab.click("#settings")
    tab.select_option("#set-searcher", "nowhere")
    tab.select_option("#set-certainty", "sure")
    tab.select_option("#language", "fr")
    tab.wait_for_selector("html[lang=fr] .hero")
    with tab.expect_request("**/ask") as sent:
        turn = ask(tab, BORN)
    assert {name: sent.value.post_data_json[name] for name in ("searcher", "certainty")} == {
        "searcher": "nowhere",
        "certainty": "sure",
    }
    assert turn.locator(".how > summary").inner_text().endswith("recherche : désactivée · seulement les sûres")
    tab.reload()
    tab.wait_for_selector(".turn > footer > *")
    assert tab.locator(".how > summary").inner_text().endswith("recherche : désactivée · seulement les sûres")
    tab.click("#settings")
    assert [tab.input_value(f"#{name}") for name in ("set-searcher", "set-certainty", "language")] == [
        "nowhere",
        "sure",
        "fr",
    ]


def test_text_that_runs_from_the_right_is_drawn_from_the_right(open_page: Open) -> None:
    """Paragraphs, lists with their bullets, and tables with their columns; code does not."""
    draw = """async text => { const { rendered } = await import("/static/blocks.js");
        const box = document.createElement("div"); box.className = "prose"; box.append(...rendered(text).flat());
        document.querySelector("main").append(box);
        return ["p", "ul", "table", "code"].map((tag) => getComputedStyle(box.querySelector(tag)).direction) }"""
    text = "{0}\n\n- {0}\n- {0}\n\n| {0} | {0} |\n| --- | --- |\n| {0} | 1 |\n\n```\n{0}\n```"
    tab = open_page("en-GB")
    assert tab.evaluate(draw, text.format("הגשר נבנה")) == ["rtl", "rtl", "rtl", "ltr"]
    assert tab.evaluate(draw, text.format("The bridge")) == ["ltr"] * 4
