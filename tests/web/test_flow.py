"""The page before the server that it was made for: from the first question to the file that is handed on."""

from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest

import sample_run
from fuzz.seeds import pdf
from server.process import serving
from surefoot.cli.demo import _indexed
from web.conftest import ask, watched

pytest.importorskip("uvicorn", reason="needs the extra server")
pytestmark = pytest.mark.slow

BORN = "In which village was the guide Anna Tresk born?"
HUT = pdf("The Kestrel Hut was built in 1954 by Mira Olsen.", "The Kestrel Hut has 42 beds and opens in June.")
AXE = "axe.run().then(all => all.violations.map(one => [one.id, one.impact, one.nodes[0].html]))"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server over the library of the demo, and the small world outside it."""
    place = tmp_path_factory.mktemp("flow")
    with as_file(files("surefoot") / "demo") as folder:
        _indexed(folder, place)
    sample_run.write(place / "runs" / "night 17", 20)
    config = '[index]\npath = "library.db"\n[searcher]\nuse = "folder"\npath = "outside.db"\n[network]\ncache = ""\n'
    with serving(place, config) as (_, client):
        yield str(client.base_url)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_from_a_question_to_the_file_that_is_handed_on(
    address: str, browser: Any, axe: str, tmp_path: Path, width: int, scheme: str
) -> None:
    """Ask, open a citation, upload a PDF, ask about it, go on with "and …?", share: nothing goes wrong, axe finds
    nothing, and nothing is asked of anybody else."""
    with watched(browser, (address, "blob:"), []) as tabs:
        tab = tabs.open(width, scheme, reduced_motion="reduce", accept_downloads=True)

        def look(where: str, of: Any = tab) -> None:
            of.evaluate(axe)
            assert of.evaluate(AXE) == [], where
            assert of.evaluate("document.documentElement.scrollWidth <= innerWidth"), where

        def new() -> None:
            tab.evaluate("location.hash = '#/'")
            tab.wait_for_selector(".hero")

        tab.goto(address)
        tab.wait_for_selector(".hero")
        look("welcome")
        turn = ask(tab, BORN)
        look("an answer")
        turn.locator(".how > summary").click()
        assert "seem to hold" in turn.locator(".action").inner_text()
        look("how it was found")
        turn.locator(".cite").first.click()
        tab.wait_for_selector("#source mark.here")
        assert "Torvath" in "".join(tab.locator("#source mark.here").all_inner_texts())
        look("a source")
        tab.keyboard.press("Escape")

        file = tmp_path / f"kestrel-{width}-{scheme}.pdf"
        file.write_bytes(HUT)
        tab.set_input_files("#files", str(file))
        tab.wait_for_selector(".job.good")
        look("an upload")
        new()
        turn = ask(tab, "Who built the Kestrel Hut?")
        assert "Olsen" in turn.locator(".answer").inner_text()
        turn.locator(".cite").first.click()
        tab.wait_for_selector("#source .page img")
        look("a page of a PDF")
        tab.keyboard.press("Escape")

        new()
        assert "Aldwin" in ask(tab, "Who built the Ruvel Bridge?").locator(".reply").inner_text()
        for name in ("Hohrin Hut", "Kestrel Hut"):
            turn = ask(tab, f"And the {name}?")
            assert turn.locator(".read-as").inner_text() == f"Read as: Who built the {name}?"
        look("a conversation")
        assert tab.locator(".turn").count() == 3

        with tab.expect_download() as saved:
            turn.get_by_role("link", name="Share as a file").click()
        shared = tmp_path / "answer.html"
        saved.value.save_as(shared)
        alone = tab.context.new_page()
        alone.goto(shared.as_uri())
        alone.click(".how > summary")
        alone.wait_for_selector(".turn .passages")
        look("a shared answer", alone)

        for view in ("documents", "evaluations", "nowhere/at/all"):
            tab.evaluate("name => { location.hash = '#/' + name }", view)
            tab.wait_for_selector("table.documents" if view == "documents" else ".view, .hero")
            look(view)
