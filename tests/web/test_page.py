"""The page that asks, in a real Chromium, before a server over the library of the demo.

Answers that the library does not give are replayed: a real one is changed, and the browser is sent it in its place.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest

import sample_run
from endpoint import writing
from server.conftest import listening
from surefoot.cli.demo import _indexed
from surefoot.config.settings import Config
from surefoot.server.app import keys_of
from surefoot.server.service import assembled
from web.conftest import FINISHED, ask, watched
from web.site import Gated, Site, settings, values

httpx = pytest.importorskip("httpx")
pytestmark = pytest.mark.slow
BORN = "In which village was the guide Anna Tresk born?"
THICK = "How thick is the Hohrin Glacier?"
PHONE = "Who invented the telephone?"

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    with as_file(files("surefoot") / "demo") as demo:
        return _indexed(demo, tmp_path_factory.mktemp("index"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, config: Config) -> Iterator[Site]:
    place = tmp_path_factory.mktemp("site")
    sample_run.write(place / "runs" / "night 17", 20)
    found = Site(assembled(settings(place), config))
    pipelines = found.service.collections._pipelines
    pipelines["default"] = Gated(found.service.collections.pipeline("default"), found)  # type: ignore[assignment]
    with listening(found.service) as found.url:
        yield found


@pytest.fixture
def open_page(browser: Any, site: Site) -> Iterator[Open]:
    """Opens the page; nothing may be asked of another machine, and nothing may go wrong but what `expect` names."""
    site.gates = {}
    expected: list[str] = []
    with watched(browser, ("http://127.0.0.1", "blob:"), expected) as tabs:

        def opened(view: str = "", width: int = 1440, expect: tuple[str, ...] = (), url: str = site.url) -> Any:
            expected.extend(expect)
            tab = tabs.open(width, "light", reduced_motion="reduce", accept_downloads=True)
            tab.goto(f"{url}/{view}")
            tab.wait_for_selector("main h1")
            return tab

        yield opened


def replay(tab: Any, recorded: list[tuple[str, Any]]) -> None:
    """Send the page these events as the answer to its next questions."""
    text = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in recorded)
    tab.route("**/ask", lambda route: route.fulfill(content_type="text/event-stream", body=text))


def test_a_question_ends_in_a_decision_with_its_grades_and_an_answer(open_page: Open, site: Site) -> None:
    """The answer first; behind one line the decision in words, the scale with a dot a passage, and grades from the best
    down."""
    trace = values(site.answered(BORN))
    tab = open_page()
    turn = ask(tab, BORN)
    assert turn.locator("h2").inner_text() == BORN
    assert not turn.locator(".scale, .passages, .costs").count()
    assert re.fullmatch(r"\d+ of \d+ passages used · (sure|likely), \d+ %", turn.locator(".how > summary").inner_text())
    turn.locator(".how > summary").click()
    assert trace["decision"]["action"] == "correct"
    assert turn.locator(".action b").inner_text() == "The documents seem to hold the answer."
    assert "seems to answer" in turn.locator(".scale").get_attribute("aria-label")
    assert turn.locator(".dot").count() == len(trace["passages"])
    turn.locator(".rest").click()
    shown = [int(text.split()[0]) for text in turn.locator(".passages .grade").all_inner_texts()]
    assert shown == sorted(shown, reverse=True)
    assert shown[0] == round(100 * max(grade["probability"] for grade in trace["grades"]))
    assert turn.locator(".answer .cite").count() >= 1
    assert "Torvath" in turn.locator(".answer").inner_text()
    assert tab.inner_text("#told").startswith("Answered, with ")


def test_it_is_seen_while_it_happens(open_page: Open, site: Site) -> None:
    """Passages before their grades, the decision before the answer; Stop ends it, and it can be asked again."""
    site.gates = {"grades": threading.Event(), "answer": threading.Event()}
    tab = open_page()
    tab.fill("#question", THICK)
    tab.press("#question", "Enter")
    tab.click(".how > summary")
    tab.wait_for_selector(".tray:has-text('none graded yet')")
    assert tab.locator(".now").inner_text().startswith("Grading the passages")
    assert tab.locator(".action b, .answer").count() == 0
    site.gates["grades"].set()
    tab.wait_for_selector(".action b")
    assert tab.locator(".answer").count() == 0
    tab.click("#send")
    assert tab.inner_text(".failed p") == "Stopped."
    site.gates["answer"].set()
    tab.click(".failed button")
    tab.wait_for_selector(FINISHED.format(2))


def test_a_reader_chooses_who_words_the_answer(open_page: Open, config: Config, tmp_path: Path) -> None:
    """Checked sentences are read while it is still written; then the hedge stands before them, once, and the model is
    named. The choice stays."""
    says = "Anna Tresk was born in Torvath [1]. She liked cheese [1]. She was a guide [1]."
    with writing(says) as endpoint:
        llm = {"use": "openai", "base_url": endpoint.url, "model": "tiny"}
        strict = {"answer": {"risk": 0.0}, "verifier": {"use": "lexical"}}  # so that no quotation is sure either
        service = assembled(settings(tmp_path), {**config, "llm": llm, **strict})
        own = Site(service, gates={"answer": threading.Event()})
        gated = Gated(service.collections.pipeline("default", "tiny"), own)
        service.collections._pipelines["default+tiny"] = gated  # type: ignore[assignment]
        with listening(service) as url:
            tab = open_page(url=url)
            assert tab.locator("#model option").all_inner_texts() == ["Quote", "tiny"]
            tab.select_option("#model", "tiny")
            tab.fill("#question", BORN)
            tab.press("#question", "Enter")
            tab.wait_for_selector(".answer[aria-busy] .not-there")
            assert "She liked cheese." in tab.inner_text(".answer")
            assert tab.locator(".hedge").count() == 0
            own.gates["answer"].set()
            tab.wait_for_selector(FINISHED.format(1))
            assert tab.locator(".answer[aria-busy]").count() == 0
            assert tab.inner_text(".turn").count(tab.inner_text(".hedge")) == 1
            assert tab.inner_text(".answer .uncited") == "She liked cheese."
            assert tab.get_attribute(".not-there", "title")
            assert "Worded by tiny" in tab.inner_text(".worded")
            assert "of 3 statements" in tab.inner_text(".sources .check")
            tab.locator(".cite").first.click()
            tab.wait_for_selector("#source mark.here")
            assert "ice axe" not in "".join(tab.locator("#source mark.here").all_inner_texts())
            tab.reload()
            tab.wait_for_selector(".turn")
            assert tab.input_value("#model") == "tiny"


def test_a_source_stands_once_with_the_sentence_that_answers_marked(open_page: Open) -> None:
    turn = ask(open_page(), BORN)
    markers = turn.locator(".sources .number").all_inner_texts()
    assert len(markers) == len(set(markers)) > 0
    assert "Torvath" in turn.locator(".sources .snippet").first.inner_text()


def test_a_citation_opens_its_source_marked_at_the_place(open_page: Open) -> None:
    """Beside the answer, at the quoted words, with the keyboard there and back."""
    tab = open_page()
    turn = ask(tab, BORN)
    turn.locator(".cite").first.focus()
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#source mark.here")
    assert "Torvath" in "".join(tab.locator("#source mark.here").all_inner_texts())
    assert tab.evaluate("document.activeElement.closest('aside')?.id") == "source"
    assert 0 < tab.locator("#source mark.here").first.bounding_box()["y"] < 900
    tab.keyboard.press("Escape")
    assert not tab.is_visible("#source")
    assert tab.evaluate("document.activeElement.className") == "cite"


def test_why_colours_the_words_that_moved_a_grade(open_page: Open) -> None:
    """From the server's attribution, with signs beside the colours."""
    turn = ask(open_page(), BORN)
    turn.locator(".how > summary").click()
    turn.locator(".passages summary").first.click()
    turn.get_by_role("button", name="Why this grade?").click()
    turn.locator(".why .words").wait_for()
    assert turn.locator(".why .up3").count() > 0


def test_feedback_is_stored_and_found_again(open_page: Open, site: Site) -> None:
    """Thumbs, with a reason, taken back; a passage that does not answer; all of it is there on coming back."""
    tab = open_page()
    turn = ask(tab, BORN)
    turn.get_by_role("button", name="Wrong").click()
    tab.fill(".reason input", "wrong Anna")
    tab.press(".reason input", "Enter")
    tab.wait_for_selector("text=It is kept as a label")
    turn.locator(".how > summary").click()
    turn.locator(".passages summary").first.click()
    turn.get_by_role("button", name="Does not answer").click()
    tab.wait_for_selector("text=Marked: does not answer")
    trace = site.service.traces.latest("default", "", 1)[0].id
    marks = site.service.feedback.marks("default", {trace})
    assert [(mark.useful, mark.answers, mark.reason) for mark in marks] == [
        (False, None, "wrong Anna"),
        (None, False, ""),
    ]
    tab.reload()
    tab.wait_for_selector(FINISHED.format(1))
    tab.get_by_role("button", name="Wrong").click()
    tab.wait_for_selector(".thumb:has-text('Wrong')[aria-pressed='false']")
    assert [mark.useful for mark in site.service.feedback.marks("default", {trace})] == [None]


def test_a_conversation_goes_on_to_a_refusal_and_is_found_again(open_page: Open, site: Site) -> None:
    """Its turns are one conversation, which stands in the list, opens by its address, and can be deleted."""
    tab = open_page()
    ask(tab, BORN)
    turn = ask(tab, PHONE)
    assert turn.locator(".refusal .kind").inner_text() == "No answer"
    assert turn.locator(".how > summary").inner_text().startswith("None of ")
    turn.locator(".how > summary").click()
    turn.locator(".passages li").nth(1).wait_for()
    assert tab.inner_text("#told") == "No answer."
    (line,) = site.service.conversations.latest("default", "", 1)
    assert (line.title, line.turns) == (BORN, 2)
    tab.wait_for_selector("#past a[aria-current]")
    tab.click("#new")
    tab.wait_for_selector(".hero")
    assert tab.evaluate("document.activeElement.id") == "question"
    tab.locator("#past a").first.click()
    tab.wait_for_selector(FINISHED.format(2))
    assert tab.locator(".asked").all_inner_texts() == [BORN, PHONE]
    tab.locator(".drop").first.focus()
    tab.keyboard.press("Enter")
    tab.fill("dialog #title", "Guides")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#past a:has-text('Guides')")
    tab.fill("#find", "no such words")
    tab.wait_for_selector("#past :text('None holds these words')")
    tab.fill("#find", "tresk")
    tab.wait_for_selector("#past a:has-text('Guides')")
    tab.locator(".drop").first.click()
    tab.get_by_role("button", name="Delete", exact=True).click()
    assert site.service.conversations.find("default", "", line.id).turns
    tab.get_by_role("button", name="Delete for good?").click()
    tab.wait_for_selector(".hero")
    assert not site.service.conversations.find("default", "", line.id).turns


def test_files_are_read_and_those_that_are_not_say_why(open_page: Open, site: Site, tmp_path: Path) -> None:
    """Chosen or dropped; the list of documents follows."""
    (tmp_path / "a.md").write_text("# Hut\n\nThe Kestrel Hut has 42 beds.\n")
    (tmp_path / "b.pdf").write_text("this is no PDF")
    tab = open_page()
    tab.set_input_files("#files", [str(tmp_path / "a.md"), str(tmp_path / "b.pdf")])
    tab.wait_for_selector(".job.bad")
    assert "1 file read" in tab.inner_text(".job .state")
    assert "1 file not read" in tab.inner_text("#told")
    read, unread = tab.locator(".each li").all_inner_texts()
    assert (read, tab.locator(".unread").count()) == ("a.md · read", 0)
    assert unread.startswith("b.pdf · is a damaged PDF")
    tab.set_input_files("#files", [str(tmp_path / "b.pdf")])
    tab.wait_for_selector(".unread :text('is a damaged PDF')")
    tab.locator("tr:has-text('b.pdf') .link").click()
    tab.wait_for_selector("#source :text('It was not read')")
    tab.locator("tr:has-text('a.md') .link").click()
    tab.wait_for_selector("#source :text('has 42 beds')")
    assert tab.get_by_role("button", name="Remove Hut").count() == 2
    tab.keyboard.press("Escape")
    drop = """() => { const data = new DataTransfer(); for (const words of ["hut", "tower"])
          data.items.add(new File(["# C\\n\\n" + words], "c.md"));
        for (const kind of ["dragenter", "dragover", "drop"])
          document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true })) }"""
    tab.evaluate(drop)
    tab.wait_for_selector(".job.good")
    assert site.service.collections.upload("default", "uploads/c.md")
    assert site.service.collections.upload("default", "uploads/c (2).md")  # two files of one name are two


def test_an_answer_is_copied_and_its_question_edited(open_page: Open) -> None:
    """With its sources behind it; the question comes back into the field."""
    tab = open_page()
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    turn = ask(tab, BORN)
    turn.get_by_role("button", name="Copy").click()
    tab.wait_for_selector(".notice:has-text('Copied')")
    copied = tab.evaluate("navigator.clipboard.readText()")
    assert "Torvath" in copied
    assert "\n\n[1] " in copied
    turn.get_by_role("button", name="Edit the question").click()
    assert tab.input_value("#question") == BORN


def test_a_conversation_written_out_holds_nothing_that_lives(open_page: Open) -> None:
    """No image, link, address or markup of a document's; bold words and tables stay."""
    bad = "![x](http://evil.example/?q) <img src=x> www.evil.example **bold**\n\n| a | b |"
    answer = {
        "text": bad,
        "citations": [{"marker": 1, "title": "[t](http://a)", "url": "https://ann:secret@evil.example/"}],
    }
    write = """async talk => (await import("/static/conversations.js")).markdownOf(talk)"""
    found = open_page().evaluate(write, {"title": "# <b>", "turns": [{"question": bad, "answer": answer}]})
    assert not re.search(r"(?<!\\)[\[<]|://|www\.e|secret", found)
    assert "**bold**\n\n| a | b |" in found


def test_questions_to_begin_with_are_asked_by_a_click(open_page: Open, site: Site) -> None:
    """And others that the cited document answers are offered behind the answer."""
    trace = values(site.answered(BORN))
    cited = {one["strip"]["passage_id"] for one in trace["answer"]["citations"]}
    file = next(passage["file"] for passage in trace["passages"] if passage["id"] in cited)
    offered = [{"question": q, "file": of} for q, of in ((BORN, file), (THICK, file), (PHONE, "other"))]
    tab = open_page()
    tab.route(re.compile(r"/suggestions\?"), lambda route: route.fulfill(json={"suggestions": offered}))
    tab.reload()
    tab.get_by_role("button", name=BORN, exact=True).click()
    tab.wait_for_selector(FINISHED.format(1))
    assert tab.inner_text(".asked") == BORN
    assert tab.locator(".turn .suggested button").all_inner_texts() == [THICK]


def test_an_address_of_nothing_says_so(open_page: Open, site: Site) -> None:
    """Behind the # and before it."""
    tab = open_page("#/no/such")
    assert tab.inner_text("h1") == "This is not here"
    tab = open_page("no/such", expect=("404",))
    assert tab.inner_text("h1") == "This is not here"
    tab.get_by_role("link", name="Ask something").click()
    tab.wait_for_selector(".hero")


def test_an_empty_collection_says_what_to_do(open_page: Open, config: Config, tmp_path: Path) -> None:
    """Instead of a question that finds nothing."""
    empty = {**config, "index": {**config["index"], "path": str(tmp_path / "index.db")}}
    with listening(assembled(settings(tmp_path), empty)) as url:
        tab = open_page(url=url)
        assert tab.inner_text("h1") == "Nothing to ask yet"
        assert "surefoot index FOLDER" in tab.inner_text(".hero")


def test_a_busy_server_is_asked_again_when_it_said(open_page: Open) -> None:
    """A sentence, a count down, and then the button works."""
    error = {"error": {"code": "busy", "message": "all places are taken; come again in 2 s"}}
    busy = {"status": 429, "headers": {"Retry-After": "2"}, "json": error}
    tab = open_page(expect=("429",))
    tab.route("**/ask", lambda route: route.fulfill(**busy), times=1)
    tab.fill("#question", BORN)
    tab.press("#question", "Enter")
    tab.wait_for_selector(".failed button:disabled")
    assert tab.inner_text(".failed p") == "All places are taken. Ask again in a moment."
    tab.wait_for_selector(".failed button:not(:disabled)")
    tab.click(".failed button")
    tab.wait_for_selector(FINISHED.format(2))


def test_a_key_is_asked_for_once(open_page: Open, config: Config, tmp_path: Path) -> None:
    """A wrong one is refused; the right one becomes a cookie that no script reads, and stays on reloading."""
    key = keys_of(settings(tmp_path)).add("ann", ["default"])
    with listening(assembled(settings(tmp_path), config)) as url:
        tab = open_page(expect=("401",), url=url)
        tab.fill("dialog #key", "sf-wrong")
        tab.press("#key", "Enter")
        tab.wait_for_selector("dialog >> text=needs a key that the server knows")
        tab.fill("#key", key)
        tab.press("#key", "Enter")
        tab.wait_for_selector(".hero")
        assert tab.locator("dialog").count() == 0
        assert key not in tab.evaluate("document.cookie + JSON.stringify({...localStorage, ...sessionStorage})")
        tab.reload()
        tab.wait_for_selector(".hero")


@pytest.mark.parametrize("lost", [False, True])
def test_a_lost_connection_looks_for_the_answer(open_page: Open, site: Site, lost: bool) -> None:
    """An answer that the server finished is found by its id; another can be asked again."""
    recorded = [
        (name, data) for name, data in site.answered(BORN) if name in ("begin", "passages", "grades", "decision")
    ]
    if lost:
        recorded[0][1]["value"]["id"] = "0" * 12
        recorded = [(name, {**data, "trace": "0" * 12}) for name, data in recorded]
    tab = open_page(expect=("404",))
    replay(tab, recorded)
    tab.fill("#question", BORN)
    tab.press("#question", "Enter")
    if lost:
        tab.wait_for_selector(".failed")
        assert "The connection broke off" in tab.inner_text(".failed")
        assert tab.inner_text(".failed button") == "Ask again"
    else:
        tab.wait_for_selector(FINISHED.format(1))
        assert tab.locator(".answer .cite").count() >= 1


EVIL = "<script>window.pwned=1</script><img src=x onerror=window.pwned=1>\u2028</script>\u202ejavascript:alert(1)"


@pytest.mark.parametrize("width", [390, 1440])
def test_hostile_texts_are_text(open_page: Open, site: Site, width: int) -> None:
    """Markup, addresses that run code, reversed words, words of 100 kB: shown, and they do and move nothing."""
    recorded, long = site.answered(BORN), "x" * 100_000
    trace = values(recorded)
    table = f"| {EVIL} | {long} |\n| --- | --- |\n| {EVIL} |"
    mixed = "\n\n".join((EVIL, table, f"- {EVIL}\n  - {long}", f"```{EVIL}\n{EVIL}\n{long}\n"))
    for number, passage in enumerate(trace["passages"]):
        passage |= {"title": f"{EVIL} › {EVIL}{long[:5000]}", "url": "javascript:window.pwned=1"}
        passage["text"] = long if number % 2 else mixed
    for grade in trace["grades"]:
        grade |= {"reason": EVIL, "span": [-5, 10**9]}
    trace["strips"][0] |= {"start": 10**8, "end": -4, "text": EVIL, "reason": EVIL}
    trace["step"] |= {"name": EVIL, "error": EVIL, "degraded": EVIL + long}
    trace["decision"] |= {"because": EVIL}
    text = f"{EVIL} [1] **{EVIL}** `{EVIL}` [x](javascript:1) {long}"
    trace["answer"] |= {"text": text, "uncited": [EVIL], "because": EVIL}
    for cited in trace["answer"]["citations"]:
        cited |= {"title": EVIL, "quote": EVIL + long, "url": "javascript:window.pwned=1"}
    tab = open_page(width=width)
    replay(tab, recorded)
    turn = ask(tab, BORN)
    turn.locator(".how > summary").click()
    turn.locator(".passages summary").first.click()
    turn.locator(".passages summary").nth(1).click()
    turn.locator(".cite").first.click()
    tab.wait_for_selector("#source .block, #source .prose")
    assert "<script>window.pwned=1</script>" in tab.inner_text("main")
    assert tab.evaluate("window.pwned") is None
    assert tab.locator("main script, main img, main iframe, #source img, a[href^=javascript]").count() == 0
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth && scrollX === 0")


def test_markdown_of_passages_is_drawn_and_nothing_else(open_page: Open) -> None:
    """Paragraphs, nested lists, tables, code, definitions, headings; a fence that never ends, and no markup of HTML."""
    tab = open_page()
    draw = """async text => { const { rendered } = await import("/static/blocks.js");
        const box = document.createElement("div"); box.append(...rendered(text).flat()); return box.innerHTML }"""

    def drawn(text: str) -> str:
        return str(tab.evaluate(draw, text)).replace(' dir="auto"', "").replace(' dir="ltr"', "")

    assert drawn("one\ntwo\n\nthree") == "<p>one\ntwo</p><p>three</p>"
    assert drawn("- a\n  - b\n  - c\n- d") == "<ul><li>a<ul><li>b</li><li>c</li></ul></li><li>d</li></ul>"
    assert "<td>1</td><td>2</td>" in drawn("| x | y |\n| --- | --- |\n| 1 | 2 |")
    assert '<span class="line">a &lt; b</span>\n<span class="line">```</span>' in drawn("````c\na < b\n```\n````")
    assert '<span class="line">never</span>' in drawn("```\nnever")
    assert drawn("term\n: its meaning") == '<dl class="definition"><dt>term</dt><dd>its meaning</dd></dl>'
    assert drawn("## Name") == '<p class="heading">Name</p>'
    assert drawn("`a` **b** <i>c</i>") == "<p><code>a</code> <strong>b</strong> &lt;i&gt;c&lt;/i&gt;</p>"


def test_the_keyboard_alone_is_enough(open_page: Open) -> None:
    """Skip link, keys and their list, which can be switched off; no key is stolen from somebody who writes."""
    tab = open_page()
    tab.evaluate("document.querySelector('a, button, input, select, textarea').focus()")
    assert tab.evaluate("document.activeElement.className") == "skip"
    tab.keyboard.press("Enter")
    tab.keyboard.type("n/d?")
    assert tab.input_value("#question") == "n/d?"
    tab.fill("#question", "")
    tab.evaluate("document.activeElement.blur()")
    tab.keyboard.press("d")
    tab.wait_for_selector("table.documents")
    tab.keyboard.press("?")
    tab.wait_for_selector("dialog[open]")
    tab.uncheck("#single")
    tab.keyboard.press("Escape")
    tab.keyboard.press("n")
    assert tab.evaluate("location.hash") == "#/documents"


def test_an_evaluation_opens_within_the_page(open_page: Open) -> None:
    """Its run is listed with its first metrics; the file draws itself in a frame that may do nothing else."""
    tab = open_page("#/evaluations")
    assert tab.locator(".runs .metrics li").count() >= 3
    tab.click(".runs a")
    tab.frame_locator("iframe").locator("svg.diamond").first.wait_for()
    assert tab.get_attribute("iframe", "sandbox") == "allow-scripts allow-popups allow-downloads"


def test_the_address_of_a_citation_opens_its_passage(open_page: Open, site: Site) -> None:
    """As chat clients show it: the collection, the passage, and the answer behind them."""
    trace = values(site.answered(BORN))
    passage = trace["passages"][0]["id"]
    tab = open_page(f"?collection=default&passage={passage}#/t/{trace['begin']['id']}")
    tab.wait_for_selector("#source .block")
    assert tab.locator(".turn").count() == 1
