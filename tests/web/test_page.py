"""The page that asks, in a real Chromium, before a server that replays what was recorded.

Needs what the tests of the viewer need.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sample_run
from page_double import Double, serve
from page_recording import RECORDING
from surefoot import web
from surefoot.evaluate.report.page import page, read
from surefoot.run.store import from_json
from surefoot.types import Trace
from web.conftest import FINISHED, ask, watched

pytestmark = pytest.mark.slow
BORN, THICK, BUILT, PHONE = 0, 1, 2, 3
"""The recorded questions: answered, hedged, answered from outside, refused."""

Open = Callable[..., Any]


@pytest.fixture
def recording() -> Any:
    return json.loads(RECORDING.read_text("utf-8"))


@pytest.fixture
def double(recording: Any) -> Double:
    return Double(recording)


@pytest.fixture
def open_page(browser: Any, double: Double) -> Iterator[Open]:
    """Opens the page; nothing may be asked of another machine, and nothing may go wrong but what `expected` names."""
    server, address = serve(double)
    expected: list[str] = []
    with watched(browser, (address, "blob:", "file:"), expected) as tabs:

        def opened(
            view: str = "", width: int = 1440, scheme: str = "light", expect: tuple[str, ...] = (), still: bool = True
        ) -> Any:
            expected.extend(expect)
            motion = "reduce" if still else "no-preference"
            tab = tabs.open(width, scheme, reduced_motion=motion, accept_downloads=True)
            tab.goto(f"{address}{view}")
            tab.wait_for_selector("main h1")
            return tab

        yield opened
        server.shutdown()
        server.server_close()


def question(double: Double, number: int) -> str:
    return str(double.recording["asked"][number]["question"])


def tell_again(one: Any) -> None:
    """The events of a recorded question as its changed trace has them."""
    one["events"] = [[name, at, one["trace"].get(name, value)] for name, at, value in one["events"]]


def fits(tab: Any) -> bool:
    return bool(tab.evaluate("document.documentElement.scrollWidth <= innerWidth && scrollX === 0"))


def test_a_question_ends_in_a_decision_with_its_grades_and_an_answer(open_page: Open, double: Double) -> None:
    """The action, the scale with margin and a dot a passage, grades from the best down, strips, what is quoted."""
    tab = open_page()
    turn = ask(tab, question(double, BORN))
    trace = double.recording["asked"][BORN]["trace"]
    assert turn.locator("h2").inner_text() == trace["question"]
    assert turn.locator(".action b").inner_text().lower() == trace["decision"]["action"]
    drawn = turn.locator(".scale").get_attribute("aria-label")
    assert f"scores {trace['decision']['best']:.2f}, {trace['decision']['margin']:.2f} above τ+" in drawn
    assert turn.locator(".dot").count() == len(trace["passages"])
    assert turn.locator(".dot.leader").count() == 1
    turn.locator(".rest").click()
    shown = [
        text.split("\n")[0].split()[0].replace("−", "-") for text in turn.locator(".passages .grade").all_inner_texts()
    ]
    scores = sorted((grade["score"] for grade in trace["grades"]), reverse=True)
    assert [float(text) for text in shown] == [round(score, 2) for score in scores]
    assert turn.locator(".answer .cite").all_inner_texts() == ["1"]
    assert turn.locator(".sources .check").all_inner_texts() == ["quoted"]
    turn.locator(".passages summary").first.click()
    turn.locator(".inside .kept").first.wait_for()
    kept = [strip["text"] for strip in trace["strips"] if strip["kept"]]
    assert "".join(turn.locator(".inside .kept").all_inner_texts()) == "".join(kept)
    dropped = [strip["text"] for strip in trace["strips"] if not strip["kept"]]
    crossed = "".join(turn.locator(".inside del").all_inner_texts())
    assert "".join(crossed.split()) == "".join("".join(dropped).split())
    assert double.asked[0]["collection"] == "demo"
    assert tab.inner_text("#told") == "Answered, with 1 source."


def test_it_is_seen_while_it_happens(open_page: Open, double: Double) -> None:
    """Passages before their grades, the decision before the answer; Stop ends it, and it can be asked again."""
    double.gates = {"grades": threading.Event(), "answer": threading.Event()}
    tab = open_page(still=False)
    tab.fill("#question", question(double, THICK))
    tab.press("#question", "Enter")
    tab.wait_for_selector(".tray:has-text('none graded yet')")
    assert tab.locator(".dot.waiting").count() == len(double.recording["asked"][THICK]["trace"]["passages"])
    assert tab.locator(".now").inner_text().startswith("Grading the passages (20)")
    assert tab.locator(".action b, .answer").count() == 0
    double.gates["grades"].set()
    tab.wait_for_selector(".action b")
    assert tab.locator(".answer").count() == 0
    tab.click("#send")
    assert tab.inner_text(".failed p") == "Stopped."
    double.gates["answer"].set()
    tab.click(".failed button")
    tab.wait_for_selector(FINISHED.format(2))
    assert tab.locator(".turn").nth(1).locator(".queries .tag").all_inner_texts() == [
        "Hohrin Glacier",
        "thick hohrin glacier",
    ]


def test_a_citation_opens_its_source_marked_at_the_place(open_page: Open, double: Double) -> None:
    """Beside the answer, at the quoted words, with the keyboard there and back."""
    tab = open_page()
    turn = ask(tab, question(double, BORN))
    turn.locator(".cite").focus()
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#source mark.here")
    strip = double.recording["asked"][BORN]["trace"]["answer"]["citations"][0]["strip"]
    assert "".join(tab.locator("#source mark.here").all_inner_texts()) == strip["text"]
    assert tab.evaluate("document.activeElement.closest('aside')?.id") == "source"
    box = tab.locator("#source mark.here").first.bounding_box()
    assert 0 < box["y"] < 900
    assert tab.locator("#source .block.cited").count() >= 1
    tab.keyboard.press("Escape")
    assert not tab.is_visible("#source")
    assert tab.evaluate("document.activeElement.className") == "cite"


def test_the_label_of_the_best_stays_on_its_scale(open_page: Open, double: Double) -> None:
    """Wherever the best lies, however wide the page, with the source open and without, beside what is not graded."""
    one, thresholds = double.recording["asked"][BORN], double.recording["thresholds"]
    boxes = """turn => ["", " .best", " .tray"].map(of => turn.querySelector(".scale" + of).getBoundingClientRect())
        .map(({ left, right, top, bottom }) => [left, right, top, bottom])"""
    tab = open_page()
    for number, best in enumerate((thresholds["lower"] - 12, thresholds["upper"] + 0.01, thresholds["upper"] + 12)):
        for n, grade in enumerate(one["trace"]["grades"]):
            grade["score"] = best - n / 10 if n < 9 else None
        one["trace"]["decision"] |= {"best": best, "margin": 12.0, "action": "ambiguous"}
        tell_again(one)
        turn = ask(tab, question(double, BORN))
        for source in (False, True):
            if source:
                turn.locator(".cite").first.click()
                tab.wait_for_selector("#source mark.here")
            for width in (1440, 1100, 390, 320):
                tab.set_viewport_size({"width": width, "height": 900})
                tab.evaluate("new Promise(later => requestAnimationFrame(() => requestAnimationFrame(later)))")
                scale, label, tray = turn.evaluate(boxes)
                where = number, source, width, scale, label, tray
                assert scale[0] <= label[0] < label[1] <= scale[1] + 0.5, where
                assert label[3] <= scale[3] + 0.5, where
                assert tray[1] <= label[0] or tray[3] <= label[2], where
        tab.set_viewport_size({"width": 1440, "height": 900})
        tab.keyboard.press("Escape")


def test_marks_count_characters_as_python_does(open_page: Open, double: Double) -> None:
    """An emoji before the quoted words moves them by one, in the document and in the passage."""
    asked = double.recording["asked"][BORN]["trace"]
    cited = asked["answer"]["citations"][0]["strip"]
    passage = next(one for one in asked["passages"] if one["id"] == cited["passage_id"])
    document = next(one for one in double.documents.values() if one["file"] == passage["file"])
    text = "😀😀 Anna Tresk was born in Torvath."
    passage |= {"text": text, "start": 0}
    document["blocks"] = [{"kind": "paragraph", "text": text, "path": [], "place": "", "start": 0, "end": len(text)}]
    cited |= {"start": 3, "end": 13, "text": "Anna Tresk"}
    tell_again(double.recording["asked"][BORN])
    tab = open_page()
    ask(tab, question(double, BORN)).locator(".cite").click()
    tab.wait_for_selector("#source mark.here")
    assert tab.inner_text("#source mark.here") == "Anna Tresk"


def test_an_unsure_answer_comes_behind_its_passages(open_page: Open, double: Double) -> None:
    """Nothing in it is called quoted, and the reason is said."""
    tab = open_page()
    reply = ask(tab, question(double, THICK)).locator(".reply")
    assert reply.locator(".kind").all_inner_texts() == ["These passages may answer", "Nearest sentences"]
    assert "no passage is graded CORRECT" in reply.inner_text()
    assert reply.locator(".first li").count() == 2  # of 21, those that are not graded incorrect
    assert reply.locator(".check").count() == 0


def test_a_refusal_says_so(open_page: Open, double: Double) -> None:
    """In its own words, beside what was looked at."""
    tab = open_page()
    turn = ask(tab, question(double, PHONE))
    assert turn.locator(".refusal .kind").inner_text() == "Refused"
    assert "I cannot answer this" in turn.locator(".refusal").inner_text()
    assert turn.locator(".action b").inner_text() == "Incorrect"
    assert turn.locator(".passages li").count() > 1
    assert tab.inner_text("#told") == "Refused."


def test_why_colours_the_words_that_moved_a_grade(open_page: Open, double: Double) -> None:
    """From the server's attribution, with signs beside the colours."""
    tab = open_page()
    turn = ask(tab, question(double, BORN))
    turn.locator(".passages summary").first.click()
    turn.get_by_role("button", name="Why this grade?").click()
    tab.wait_for_selector(".why .words")
    assert turn.locator(".why .up3").count() > 0
    assert turn.locator(".why .words dd > span").count() == len(double.recording["attribution"]["units"])


def test_what_one_thinks_of_it_is_kept(open_page: Open, double: Double) -> None:
    """Thumbs, with a reason, taken back; a passage that does not answer; all of it is there on coming back."""
    tab = open_page()
    turn = ask(tab, question(double, BORN))
    turn.get_by_role("button", name="This was not useful").click()
    tab.wait_for_selector(".reason input")
    tab.fill(".reason input", "wrong Anna")
    tab.press(".reason input", "Enter")
    tab.wait_for_selector("text=Kept.")
    turn.locator(".passages summary").first.click()
    turn.get_by_role("button", name="Does not answer").click()
    tab.wait_for_selector("text=Marked: does not answer")
    name = double.recording["asked"][BORN]["trace"]["passages"]
    best = max(range(len(name)), key=lambda n: double.recording["asked"][BORN]["trace"]["grades"][n]["score"])
    trace = next(iter(double.traces))
    assert double.feedback == [
        {"trace": trace, "useful": False},
        {"trace": trace, "useful": False, "reason": "wrong Anna"},
        {"trace": trace, "passage": name[best]["id"], "answers": False},
    ]
    tab.reload()
    tab.wait_for_selector(FINISHED.format(1))
    assert tab.get_by_role("button", name="This was not useful").get_attribute("aria-pressed") == "true"
    tab.get_by_role("button", name="This was not useful").click()
    tab.wait_for_selector(".thumb[aria-label='This was not useful'][aria-pressed='false']")
    assert double.feedback[-1] == {"trace": trace, "useful": None}


def test_a_conversation_goes_on_and_is_found_again(open_page: Open, double: Double) -> None:
    """Three turns are one conversation, which stands in the list, opens by its address, and can be deleted."""
    tab = open_page()
    for number in (BORN, THICK, PHONE):
        ask(tab, question(double, number))
    assert [one.get("conversation") for one in double.asked] == [None, "c0", "c0"]
    tab.wait_for_selector("#past a[aria-current]")
    tab.click("#new")
    tab.wait_for_selector(".hero")
    assert tab.evaluate("document.activeElement.id") == "question"
    tab.click("#past a")
    tab.wait_for_selector(FINISHED.format(3))
    assert tab.locator(".asked").all_inner_texts() == [question(double, number) for number in (BORN, THICK, PHONE)]
    tab.locator(".drop").focus()
    tab.keyboard.press("Enter")
    assert double.conversations
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".hero")
    assert not double.conversations


def test_files_are_read_and_those_that_are_not_say_why(open_page: Open, double: Double, tmp_path: Path) -> None:
    """Dropped or chosen; the list of documents follows."""
    double.unread = [{"file": "b.pdf", "reason": "it is encrypted; remove its password"}]
    for name in ("a.md", "b.pdf"):
        (tmp_path / name).write_text("# Hut", "utf-8")
    tab = open_page()
    tab.set_input_files("#files", [str(tmp_path / "a.md"), str(tmp_path / "b.pdf")])
    tab.wait_for_selector(".job.bad .unread")
    assert double.uploads == [["a.md", "b.pdf"]]
    assert tab.inner_text(".job .state") == "1 file read, 7 passages added"
    assert "b.pdf: it is encrypted; remove its password" in tab.inner_text(".unread")
    assert tab.locator(".documents tbody tr").count() == len(double.documents)
    assert tab.inner_text("#told") == "1 file read, 7 passages added; 1 file not read."
    drop = """name => { const data = new DataTransfer(); data.items.add(new File(["hut"], name));
        for (const kind of ["dragenter", "dragover", "drop"])
          document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true })) }"""
    double.unread = []
    tab.evaluate(drop, "c.txt")
    tab.wait_for_selector(".job.good")
    assert double.uploads[-1] == ["c.txt"]
    assert not tab.is_visible("#drop")


def test_an_empty_collection_says_what_to_do(open_page: Open, double: Double) -> None:
    """Instead of a question that finds nothing."""
    double.collection |= {"documents": 0, "passages": 0}
    tab = open_page()
    assert tab.inner_text("h1") == "Nothing to ask yet"
    assert "surefoot index FOLDER" in tab.inner_text(".hero")


def test_a_shared_answer_needs_no_server(open_page: Open, double: Double, tmp_path: Path, axe: str) -> None:
    """One file with question, decision, passages and sources, without the configuration, and without a fault."""
    tab = open_page()
    turn = ask(tab, question(double, THICK))
    with tab.expect_download() as saved:
        turn.get_by_role("link", name="Share as a file").click()
    file = tmp_path / "answer.html"
    saved.value.save_as(file)
    alone = tab.context.new_page()
    alone.goto(file.as_uri())
    alone.wait_for_selector(".turn .passages")
    assert alone.inner_text("h1") == question(double, THICK)
    assert alone.locator(".dot").count() == 21
    assert alone.locator("button", has_text="Why").count() == 0
    alone.locator(".cite").first.click()
    assert alone.evaluate("document.activeElement.id") == "source-3"
    alone.evaluate(axe)
    assert alone.evaluate("axe.run().then(all => all.violations.map(one => [one.id, one.nodes[0].html]))") == []


def test_a_busy_server_is_asked_again_when_it_said(open_page: Open, double: Double) -> None:
    """Its own sentence, a count down, and then the button works."""
    double.refuses = [(429, "32 questions wait already; ask again in a moment.", {"Retry-After": "2"})]
    tab = open_page(expect=("429",))
    tab.fill("#question", question(double, BORN))
    tab.press("#question", "Enter")
    tab.wait_for_selector(".failed button:disabled")
    assert tab.inner_text(".failed p") == "32 questions wait already; ask again in a moment."
    assert "Ask again in" in tab.inner_text(".failed button")
    tab.wait_for_selector(".failed button:not(:disabled)")
    tab.click(".failed button")
    tab.wait_for_selector(FINISHED.format(2))


def test_a_key_is_asked_for_once(open_page: Open, double: Double) -> None:
    """A wrong one is told; the right one becomes a cookie that no script reads, and stays on reloading."""
    double.key = "sf-right"
    tab = open_page(expect=("401",))
    tab.wait_for_selector("dialog #key")
    tab.fill("#key", "sf-wrong")
    tab.press("#key", "Enter")
    tab.wait_for_selector("dialog >> text=This key is not known here")
    tab.fill("#key", "sf-right")
    tab.press("#key", "Enter")
    tab.wait_for_selector(".hero")
    assert tab.locator("dialog").count() == 0
    assert tab.evaluate("document.cookie + JSON.stringify({...localStorage, ...sessionStorage})").count("sf-right") == 0
    tab.reload()
    tab.wait_for_selector(".hero")


@pytest.mark.parametrize("lost", [False, True])
def test_a_lost_connection_looks_for_the_answer(open_page: Open, double: Double, lost: bool) -> None:
    """What the server finished is found by its id; what it did not can be asked again."""
    double.breaks_after, double.loses = "decision", lost
    tab = open_page(expect=("404",))
    tab.fill("#question", question(double, BORN))
    tab.press("#question", "Enter")
    if lost:
        tab.wait_for_selector(".failed")
        assert "The connection broke off" in tab.inner_text(".failed")
        assert tab.inner_text(".failed button") == "Ask again"
    else:
        tab.wait_for_selector(FINISHED.format(1))
        assert tab.locator(".answer .cite").count() == 1


EVIL = "<script>window.pwned=1</script><img src=x onerror=window.pwned=1>\u2028</script>\u202ejavascript:alert(1)"


@pytest.mark.parametrize("width", [390, 1440])
def test_hostile_texts_are_text(open_page: Open, double: Double, width: int) -> None:
    """Markup, addresses that run code, reversed words, words of 100 kB: shown, and they do and move nothing."""
    long = "x" * 100_000
    table, items, code = (
        f"| {EVIL} | {long} |\n| --- | --- |\n| {EVIL} |",
        f"- {EVIL}\n  - {long}",
        f"```{EVIL}\n{EVIL}\n{long}\n",
    )
    mixed = "\n\n".join((EVIL, table, items, code))
    one = double.recording["asked"][BORN]
    trace = one["trace"]
    for number, passage in enumerate(trace["passages"]):
        passage |= {"title": f"{EVIL} › {EVIL}{long[:5000]}", "url": "javascript:window.pwned=1"}
        passage["text"] = long if number % 2 else mixed
    for grade in trace["grades"]:
        grade |= {"reason": EVIL, "span": [-5, 10**9]}
    trace["strips"][0] |= {"start": 10**8, "end": -4, "text": EVIL, "reason": EVIL}
    trace["steps"][0] |= {"name": EVIL, "error": EVIL, "degraded": EVIL + long}
    trace["decision"] |= {"because": EVIL}
    trace["answer"] |= {
        "text": f"{EVIL} [1] **{EVIL}** `{EVIL}` [x](javascript:1) {long}",
        "uncited": [EVIL],
        "because": EVIL,
    }
    for cited in trace["answer"]["citations"]:
        cited |= {"title": EVIL, "quote": EVIL + long, "url": "javascript:window.pwned=1"}
    tell_again(one)
    for document in double.documents.values():
        document |= {"title": EVIL, "kind": EVIL}
        for block in document["blocks"]:
            block |= {"text": EVIL * 20, "path": [EVIL, long[:9000]], "place": "javascript:1"}
    double.collection["name"] = EVIL
    tab = open_page(width=width)
    turn = ask(tab, question(double, BORN))
    turn.locator(".passages summary").first.click()
    turn.locator(".passages summary").nth(1).click()
    turn.locator(".cite").first.click()
    tab.wait_for_selector("#source .block, #source .prose")
    for _ in range(2):
        assert "<script>window.pwned=1</script>" in tab.inner_text("main")
        assert tab.evaluate("window.pwned") is None
        assert tab.locator("main script, main img, main iframe, #source img, a[href^=javascript]").count() == 0
        assert fits(tab)
        tab.evaluate("location.hash = '#/documents'")
        tab.wait_for_selector("table.documents")


def test_markdown_of_passages_is_drawn_and_nothing_else(open_page: Open) -> None:
    """Paragraphs, nested lists, tables, code, definitions, headings; a fence that never ends, and no markup of HTML."""
    tab = open_page()
    draw = """async text => { const { rendered } = await import("/static/blocks.js");
        const box = document.createElement("div"); box.append(...rendered(text).flat()); return box.innerHTML }"""

    def drawn(text: str) -> str:
        return str(tab.evaluate(draw, text)).replace(' dir="auto"', "").replace(' dir="ltr"', "")

    assert drawn("one\ntwo\n\nthree") == "<p>one\ntwo</p><p>three</p>"
    assert drawn("- a\n  - b\n  - c\n- d") == "<ul><li>a<ul><li>b</li><li>c</li></ul></li><li>d</li></ul>"
    assert drawn("3. a\n4. b") == '<ol start="3"><li>a</li><li>b</li></ol>'
    assert '<thead><tr><th scope="col">x</th><th scope="col">y</th></tr></thead>' in drawn(
        "| x | y |\n| --- | --- |\n| 1 | 2 |"
    )
    assert "<td>1</td><td>2</td>" in drawn("| x | y |\n| --- | --- |\n| 1 | 2 |")
    assert '<span class="line">a &lt; b</span>\n<span class="line">```</span>' in drawn("````c\na < b\n```\n````")
    assert '<span class="line">never</span>' in drawn("```\nnever")
    assert drawn("term\n: what it means") == '<dl class="definition"><dt>term</dt><dd>what it means</dd></dl>'
    assert drawn("## Name") == '<p class="heading">Name</p>'
    assert drawn("`a` **b** <i>c</i>") == "<p><code>a</code> <strong>b</strong> &lt;i&gt;c&lt;/i&gt;</p>"


def test_the_keyboard_alone_is_enough(open_page: Open, double: Double) -> None:
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
    assert tab.evaluate("document.activeElement.textContent") == "Documents"
    tab.keyboard.press("?")
    tab.wait_for_selector("dialog[open]")
    tab.uncheck("#single")
    tab.keyboard.press("Escape")
    tab.keyboard.press("n")
    assert tab.evaluate("location.hash") == "#/documents"
    tab.evaluate("localStorage.clear()")
    tab.keyboard.press("/")
    assert tab.evaluate("document.activeElement.id") == "question"


def test_the_theme_is_kept(open_page: Open) -> None:
    """System, light, dark; the choice is there before the first paint of the next visit."""
    tab = open_page(scheme="light")
    paper = "getComputedStyle(document.body).backgroundColor"
    light = tab.evaluate(paper)
    tab.click("#theme")
    tab.click("#theme")
    assert tab.inner_text("#theme") == "Theme: dark"
    assert tab.evaluate(paper) != light
    tab.reload()
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"


def test_an_evaluation_opens_within_the_page(open_page: Open, double: Double, tmp_path: Path) -> None:
    """Its run is listed with its first metrics; the file draws itself in a frame that may do nothing else."""
    double.evaluations = {"night 17/b": page(read(sample_run.write(tmp_path, 20)))}
    tab = open_page("#/evaluations")
    assert tab.locator(".runs .metrics li").count() == 3
    tab.click(".runs a")
    frame = tab.frame_locator("iframe")
    frame.locator("svg.diamond").first.wait_for()
    assert tab.get_attribute("iframe", "sandbox") == "allow-scripts allow-popups"
    assert tab.locator("iframe").bounding_box()["height"] > 600
    paper = "getComputedStyle(document.body).backgroundColor"
    before = tab.frames[1].evaluate(paper)
    tab.click("#theme")
    tab.click("#theme")
    assert tab.inner_text("#theme") == "Theme: dark"
    tab.frames[1].wait_for_function(f"{paper} !== '{before}'")
    tab.reload()
    tab.frame_locator("iframe").locator(":root[data-theme=dark] svg.diamond").first.wait_for()


def test_signs_of_markdown_are_left_out_where_only_words_have_room(open_page: Open) -> None:
    """Cells stand apart, a fence and a table's rule go, and what is no sign stays; offsets are those of the text."""
    tab = open_page()
    text = "## Sizes\n\n| name | *size* |\n| --- | ---: |\n| **a** | 3 |\n\n- `x | y` of 2 * 3\n```sh\nls | wc\n```\n"
    draw = """async text => { const { unsigned } = await import("/static/blocks.js");
        const plain = unsigned(text);
        return [plain.length, plain.replaceAll("\\0", "").split(/\\s+/).join(" ").trim()] }"""
    assert tab.evaluate(draw, text) == [len(text), "Sizes name · *size* a · 3 x | y of 2 * 3 ls | wc"]


def test_the_address_of_a_citation_opens_its_passage(open_page: Open, double: Double) -> None:
    """As chat clients show it: the collection, the passage, and the answer behind them."""
    double.traces["0" * 12] = double.recording["asked"][BORN]["trace"] | {"id": "0" * 12}
    passage = double.traces["0" * 12]["passages"][0]["id"]
    tab = open_page(f"?collection=demo&passage={passage}#/t/{'0' * 12}")
    tab.wait_for_selector("#source .block")
    assert tab.locator(".turn").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_axe_finds_nothing_and_all_fits(open_page: Open, double: Double, axe: str, width: int, scheme: str) -> None:
    """In every view and state, at both widths, light and dark."""
    tab = open_page(width=width, scheme=scheme)
    tab.evaluate(axe)

    def look(where: str) -> None:
        run = "axe.run().then(all => all.violations.map(one => [one.id, one.impact, one.nodes[0].html]))"
        assert tab.evaluate(run) == [], where
        assert fits(tab), where

    look("welcome")
    ask(tab, question(double, BORN))
    turn = tab.locator(".turn").first
    turn.locator(".passages summary").first.click()
    turn.get_by_role("button", name="Why this grade?").click()
    tab.wait_for_selector(".why .words")
    tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    look("answered")
    turn.locator(".cite").click()
    tab.wait_for_selector("#source mark.here")
    look("source")
    tab.keyboard.press("Escape")
    for number in (THICK, PHONE):
        ask(tab, question(double, number))
    look("conversation")
    for view in ("documents", "evaluations", "nowhere/at/all", "t/none"):
        if view != "t/none":
            tab.evaluate("name => { location.hash = '#/' + name }", view)
            tab.wait_for_selector(".view, .hero")
            look(view)
    tab.click("#help", force=True) if width > 800 else tab.evaluate("document.getElementById('help').click()")
    tab.wait_for_selector("dialog[open]")
    look("keys")


def test_the_first_paint_waits_for_little(open_page: Open) -> None:
    """For the page itself, 60 kB with its style and the kept theme: not for a module, and not for an answer of the
    server's. The time itself is the machine's, and is printed."""
    tab = open_page()
    paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    print(f"\nfirst paint after {tab.evaluate(paint):.0f} ms")
    waited = """performance.getEntriesByType('resource').filter(one => one.renderBlockingStatus === 'blocking')
        .map(one => one.name)"""
    assert tab.evaluate(waited) == []
    assert len(web.served().encode()) < 60_000
    assert tab.locator("#rail, #composer").count() == 2


def test_a_shared_file_holds_no_configuration(recording: Any) -> None:
    """Which names paths and hosts; nor anything that could end the script that holds the data."""
    trace = {**recording["asked"][BORN]["trace"], "question": "</script>", "config": {"index": {"path": "/home/anna"}}}
    text = web.shared(from_json(Trace, trace))
    assert text == web.shared(from_json(Trace, trace))
    assert "/home/anna" not in text
    assert text.count("</script>") == 2
    assert "@" + "DATA@" not in text
