"""The viewer in a real Chromium: opened as a file, used with the keyboard, read by axe, fed with hostile data.

Needs the package playwright and a Chromium, `SUREFOOT_CHROMIUM` or the one on the path; axe needs `npm install
--no-save axe-core` here, or `SUREFOOT_AXE` to name its file.
"""

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import sample_run
from surefoot.evaluate.report.page import Contents, page, read
from surefoot.evaluate.score.labels import labelled
from web.conftest import PATIENCE, watched

pytestmark = pytest.mark.slow
FEW, SOME, MANY = 60, 200, 5000
MARKS = {"#/records": ".records tbody a", "#/record/": ".answer", "#/item/": ".drill", "#/run": "main dl"}
VIEWS = ("#/", "#/item/1", "#/records", "#/record/q00000", "#/run")
PARTS = ["Problem", "Root cause", "Evidence", "Protocol", "Patch of surefoot.toml", "Gain", "Trials"]

Open = Callable[..., Any]


@pytest.fixture
def open_page(browser: Any) -> Iterator[Open]:
    """Opens a file, at a width and in a scheme; nothing may be asked of a network, and nothing may go wrong."""
    with watched(browser, ("file:",), []) as tabs:

        def opened(file: Path, view: str = "", width: int = 1280, scheme: str = "light") -> Any:
            tab = tabs.open(width, scheme)
            tab.goto(f"{file.as_uri()}{view}")
            tab.wait_for_selector("h1[tabindex]")
            return tab

        yield opened


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> Contents:
    return read(sample_run.write(tmp_path_factory.mktemp("run"), FEW))


@pytest.fixture(scope="module")
def few(contents: Contents, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(contents, tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The records of a smaller run again and again, each with an id of its own."""
    folder = tmp_path_factory.mktemp("many")
    some = read(sample_run.write(folder, SOME))
    names = [(f"q{n:05}", f"q{n % SOME:05}") for n in range(MANY)]
    records = {name: {**some.records[known], "id": name} for name, known in names}
    return written(replace(some, records=records, scores={name: some.scores[known] for name, known in names}), folder)


def written(contents: Contents, folder: Path) -> Path:
    file = folder / "page.html"
    file.write_text(page(contents), encoding="utf-8")
    return file


def go(tab: Any, view: str) -> None:
    tab.evaluate("hash => { location.hash = hash }", view)
    tab.wait_for_selector(next((there for name, there in MARKS.items() if view.startswith(name)), ".items"))


def until(tab: Any, expression: str) -> None:
    """Playwright's own waiting evaluates text in the page, which the page's policy forbids."""
    end = time.monotonic() + PATIENCE / 1000
    while not tab.evaluate(expression):
        assert time.monotonic() < end, expression
        tab.wait_for_timeout(50)


def test_the_dashboard_says_what_to_change_first_and_why(open_page: Open, few: Path, contents: Contents) -> None:
    """Health in the two sentences of the gist, the diamond with six scores, the items in their order."""
    tab = open_page(few)
    diagnosis, summaries = contents.diagnosis, contents.summaries
    assert diagnosis
    assert summaries
    assert tab.inner_text(".gist") == diagnosis["executive_summary_gist"]
    drawn = tab.get_attribute("svg.diamond", "aria-label")
    for summary in summaries[:6]:
        mean, low, high = (f"{100 * summary[name]:.0f}" for name in ("mean", "low", "high"))
        assert f"{mean} % {low} to {high} %" in drawn
    assert tab.locator(".only-wide .label").count() == 6
    assert tab.locator(".only-wide .node").count() == 4
    assert tab.locator(".items h3").all_inner_texts() == [item["title"] for item in diagnosis["items"]]
    first = tab.locator(".items li").first.inner_text()
    for gist in ("problem_detection_gist", "root_cause_analysis_gist"):
        assert diagnosis["items"][0][gist] in first
    assert "critical" in first
    assert f"expected {100 * diagnosis['items'][0]['predicted']:+.1f} points" in first
    assert "measured +13.4 points" in first
    assert tab.locator(".metrics tbody tr").count() == len(summaries)


def test_an_item_opens_down_to_its_patch_and_its_records(open_page: Open, few: Path) -> None:
    """From problem to patch, gain and ledger; Markdown is elements, and a case leads to its record."""
    tab = open_page(few)
    tab.click(".items h3 a")
    tab.wait_for_selector(".cases a:has-text('?')")
    assert tab.locator(".drill h2").all_inner_texts() == PARTS
    removed, added = (" ".join(tab.locator(f".diff {kind}").all_inner_texts()) for kind in ("del", "ins"))
    assert "k = 4" in removed
    assert 'use = "bm25"' in removed
    assert "k = 10" in added
    assert 'use = "hybrid"' in added
    assert tab.locator(".drill code", has_text="pipeline.k").count() >= 1
    trials = [row.split("\t") for row in tab.locator(".drill table tbody tr").all_inner_texts()]
    assert [(row[0], row[5], row[6]) for row in trials] == [
        ("item 1", "+13.4 (+7.1 to +19.8)", "kept"),
        ("placebo", "−1.3 (−5.2 to +2.7)", "a control"),
    ]
    question = tab.locator(".cases a").first.inner_text()
    assert tab.inner_text(".drill").count(f"“{question}”") == 0, "a case is told once, in the list"
    tab.locator(".cases a").first.click()
    tab.wait_for_selector("article.score")
    assert tab.inner_text("h1") == question


def test_a_record_shows_all_that_led_to_its_answer(open_page: Open, few: Path, contents: Contents) -> None:
    """Judges with explanation and quotations, grades, the evaluator's span, strips, decision, steps, words."""
    tab = open_page(few, "#/record/q00000")
    tab.wait_for_selector("article.score")
    record = contents.records["q00000"]
    trace = record["trace"]
    assert tab.inner_text("h1") == record["question"]
    assert tab.locator("article.score").count() == len(contents.scores["q00000"])
    text = tab.inner_text("main")
    for score in contents.scores["q00000"]:
        assert (score["reason"] or score["unscored_because"]) in text
    assert "✓ found in" in text
    assert tab.locator("article.passage").count() == len(trace["passages"]) + len(trace["external"])
    cited = {one["strip"]["passage_id"] for one in trace["answer"]["citations"] if one["strip"]}
    every = zip((*trace["passages"], *trace["external"]), trace["grades"], strict=True)
    graded = sorted(
        every, key=lambda one: (one[0]["id"] not in cited, one[1]["label"] == "incorrect", -one[1]["score"])
    )
    spans = [passage["text"][slice(*grade["span"])] for passage, grade in graded if grade["span"]]
    assert tab.locator(".passage mark").all_inner_texts() == spans
    shown = [passage["id"] for passage, _ in graded]
    kept = sorted((strip for strip in trace["strips"] if strip["kept"]), key=lambda one: shown.index(one["passage_id"]))
    kept_texts = [strip["text"] for strip in kept]
    assert "".join(tab.locator(".passage .kept").all_inner_texts()) == "".join(kept_texts)
    assert tab.locator(".passage del").count() == len(trace["strips"]) - len(kept_texts)
    assert trace["decision"]["because"] in text
    assert tab.locator(".words .up3").count() > 0
    tab.click(".answer button.link")
    assert tab.evaluate("document.activeElement.id") == f"cite-{trace['answer']['citations'][0]['marker']}"


def test_offsets_count_characters_as_python_does(open_page: Open, contents: Contents, tmp_path: Path) -> None:
    """An emoji before a span moves it by one, not by two."""
    record = json.loads(json.dumps(contents.records["q00000"]))
    passage, grade = record["trace"]["passages"][0], record["trace"]["grades"][0]
    passage["text"] = "😀😀 The bridge of 1911."
    grade["span"] = [17, 21]
    record["trace"]["strips"] = []
    tab = open_page(written(replace(contents, records={"q00000": record}), tmp_path), "#/record/q00000")
    tab.wait_for_selector("article.passage")
    assert tab.locator(".passage mark").first.inner_text() == "1911"


def test_records_are_filtered_sorted_and_found(open_page: Open, few: Path, contents: Contents) -> None:
    """By words, by metric and threshold, by tag, by what is unscored; the address keeps it, and the count is spoken."""
    tab = open_page(few, "#/records")
    tab.wait_for_selector(".records tbody a")
    assert tab.inner_text(".count") == f"{FEW} of {FEW} records"
    assert tab.get_attribute(".count", "role") == "status"
    tab.fill("#f-q", "LARROW hut")
    words = [
        json.dumps([r[key] for key in ("question", "answer", "truths", "tags")]) for r in contents.records.values()
    ]
    found = sum("larrow" in text.lower() and "hut" in text.lower() for text in words)
    assert tab.inner_text(".count") == f"{found} of {FEW} records"
    tab.click("text=Clear")
    tab.select_option("#f-metric", "factuality")
    tab.fill("#f-most", "40")
    scores = [score for scores in contents.scores.values() for score in scores if score["metric"] == "factuality"]
    low = sum(score["value"] is not None and score["value"] <= 0.4 for score in scores)
    assert tab.inner_text(".count") == f"{low} of {FEW} records"
    until(tab, "location.hash === '#/records?metric=factuality&most=40'")
    tab.reload()
    tab.wait_for_selector(".records tbody a")
    assert tab.inner_text(".count") == f"{low} of {FEW} records"
    tab.click("text=Clear")
    tab.select_option("#f-tag", "domain: huts")
    huts = sum(record["tags"]["domain"] == "huts" for record in contents.records.values())
    assert tab.inner_text(".count") == f"{huts} of {FEW} records"
    tab.click("text=Clear")
    tab.check("#f-unscored")
    missing = sum(any(o["value"] is None and o["applies"] for o in s) for s in contents.scores.values())
    assert tab.inner_text(".count") == f"{missing} of {FEW} records"
    tab.click("text=Clear")
    tab.select_option("#f-sort", "lot")
    drawn = [
        int(link.split("q")[1])
        for link in tab.evaluate("[...document.querySelectorAll('.records a')].map(a => a.hash)")
    ]
    assert sum(abs(a - b) > 3 for a, b in pairwise(drawn)) > len(drawn) / 2, "ids that are alike lie apart"
    tab.click("text=Clear")
    ends = [text[0] for text in tab.locator(".records .outcome").all_text_contents()]
    assert ends == sorted(ends, key="✗?✓".index), "what was lost comes first"
    tab.select_option("#f-outcome", "right")
    first = tab.locator(".records tbody a").first.get_attribute("href").split("/")[-1]
    answer = tab.locator(".records tbody .dim").first.text_content()
    assert contents.records[first]["answer"].startswith(answer.removesuffix("…"))
    tab.click("text=Clear")
    tab.click("th >> text=Context recall")
    shown = [
        int(v.split()[0]) for v in tab.locator(".records tbody td:nth-of-type(7) .value").all_inner_texts() if "%" in v
    ]
    assert shown == sorted(shown)
    assert tab.get_attribute("th:has-text('Context recall')", "aria-sort") == "ascending"


def test_each_bar_of_the_funnel_opens_all_records_that_passed_or_were_lost(open_page: Open, few: Path) -> None:
    """As many as it says; each line of the list names the stage and the reason."""
    tab = open_page(few)
    tab.wait_for_selector(".funnel")
    for link, figure in ((".step a", ".figure"), (".lost a", ".lost a")):
        for n in range(tab.locator(f".funnel {link}").count()):
            (count,) = re.findall(r"\d+", tab.locator(f".funnel {figure}").nth(n).inner_text())[:1]
            tab.locator(f".funnel {link}").nth(n).click()
            tab.wait_for_selector(".records tbody a")
            assert tab.inner_text(".count") == f"{count} of {FEW} records"
            tab.evaluate("history.back()")
            tab.wait_for_selector(".funnel")
    go(tab, "#/records?outcome=stage:retrieval")
    tab.wait_for_selector(".records tbody a")
    line = tab.locator(".records tbody tr:has(a)").first.text_content()
    assert "✗ lost: retrieval" in line
    assert "stands in none of the" in line


def test_a_claim_is_marked_by_its_support_and_points_at_its_source(open_page: Open, few: Path) -> None:
    """By a sign and a word, not by colour alone; the keyboard reaches it."""
    tab = open_page(few, "#/record/q00000")
    tab.wait_for_selector(".sign")
    sign = tab.locator(".sign.sure").first
    assert sign.text_content().startswith("✓ sure, 97 %")
    sign.focus()
    assert "Torvath" in tab.inner_text(".source.here")
    tab.locator("h1").focus()
    assert tab.locator(".source.here").count() == 0
    tab.hover(".claim.sure")
    assert "Torvath" in tab.inner_text(".source.here")


def test_a_labeller_works_by_keys_and_exports_what_agree_reads(open_page: Open, few: Path, tmp_path: Path) -> None:
    """Judges are hidden meanwhile; one metric has one kind of label; a reload keeps the labels."""
    tab = open_page(few, "#/record/q00000")
    tab.wait_for_selector(".labels")
    tab.keyboard.press("l")
    assert not tab.locator("article.score").first.is_visible()
    tab.keyboard.press("4")
    assert "Who labels?" in tab.inner_text(".labels [role=status]")
    tab.keyboard.type("Anna")
    tab.keyboard.press("Enter")
    tab.locator("h1").focus()
    for key in "4y":
        tab.keyboard.press(key)
    assert [one.inner_text() for one in tab.locator(".keys button:disabled").all()] == ["yes", "no"]
    assert "one kind of label" in tab.inner_text(".labels [role=status]")
    tab.keyboard.press("j")
    until(tab, "location.hash === '#/record/q00001'")
    tab.wait_for_selector(".labels")
    for key in "2?":
        tab.keyboard.press(key)
    assert "j, k: next, previous record" in tab.inner_text(".labels")
    tab.reload()
    tab.wait_for_selector(".labels")
    tab.keyboard.press("l")
    with tab.expect_download() as found:
        tab.click("text=Export 2 labels")
    found.value.save_as(tmp_path / "labels.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    assert [(one["id"], one["label"], one["by"]) for one in lines] == [("q00000", 4, "Anna"), ("q00001", 2, "Anna")]
    assert [one.share for one in labelled(tmp_path / "labels.jsonl")] == [0.75, 0.25]


def test_a_report_of_another_system_speaks_its_words(open_page: Open, contents: Contents, tmp_path: Path) -> None:
    """No action, no steps of ours, no settings of ours; JSON in a context is folded, and a link leads to the web."""
    tool = {"id": "t", "title": "", "text": '{"tool": "search", "hits": [1, 2]}', "url": ""}
    answer = "See [the page](https://example.org/a) and ![it](https://example.org/b.png)."
    other = {"trace": None, "contexts": [tool], "answer": answer}
    foreign = {name: {**record, **other} for name, record in contents.records.items()}
    assert contents.diagnosis
    items = [{**item, "patch": {}, "predicted": None, "realised": None} for item in contents.diagnosis["items"]]
    diagnosis = {**contents.diagnosis, "items": items}
    tab = open_page(written(replace(contents, records=foreign, diagnosis=diagnosis, ledger=()), tmp_path))
    for view in ("#/item/1", "#/records", "#/record/q00000"):
        go(tab, view)
        text = tab.inner_text("main")
        assert not re.search(r"surefoot\.toml|INCORRECT|\bAction\b|not tried|[τλ]", text), view
    assert tab.inner_text(".beside details summary") == "JSON: tool, hits"
    links = [(one.get_attribute("href"), one.get_attribute("rel")) for one in tab.locator(".answer a").all()]
    assert links == [(f"https://example.org/{name}", "noopener noreferrer nofollow") for name in ("a", "b.png")]
    assert tab.locator("main img").count() == 0


def test_the_keyboard_alone_leads_to_a_record_and_back(open_page: Open, few: Path) -> None:
    """Skip link, views, filters, list and record; focus is on the heading of what was opened, and comes back."""
    tab = open_page(few)
    focused = "document.activeElement"
    tab.keyboard.press("Tab")
    assert tab.evaluate(f"{focused}.className") == "skip"
    tab.keyboard.press("Enter")
    assert tab.evaluate(f"{focused}.id") == "main"
    tab.keyboard.press("Shift+Tab")
    tab.keyboard.press("Shift+Tab")
    assert tab.evaluate(f"{focused}.textContent") == "Records"
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".records tbody a")
    assert tab.evaluate(f"{focused}.textContent") == "Records"
    assert tab.evaluate(f"{focused}.tagName") == "H1"
    tab.keyboard.press("Tab")
    tab.keyboard.type("hut")
    for _ in range(30):
        tab.keyboard.press("Tab")
        if tab.evaluate(f"{focused}.dataset.place") is not None:
            break
    assert tab.evaluate(f"{focused}.dataset.place") == "0"
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowDown")
    assert tab.evaluate(f"{focused}.dataset.place") == "2"
    question = tab.evaluate(f"{focused}.textContent")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("article.score")
    assert tab.evaluate(f"{focused}.textContent") == question
    assert tab.evaluate(f"{focused}.tagName") == "H1"
    tab.evaluate("history.back()")
    until(tab, "document.activeElement.dataset.place === '2'")
    assert tab.input_value("#f-q") == "hut"


def test_of_5000_records_only_the_rows_in_sight_exist(open_page: Open, many: Path) -> None:
    """So that a letter typed is answered, list and all, within a tenth of a second."""
    tab = open_page(many)
    go(tab, "#/records")
    assert tab.inner_text(".count") == "5,000 of 5,000 records"
    typed = """word => { const box = document.getElementById('f-q'), start = performance.now();
        box.value = word; box.dispatchEvent(new Event('input'));
        document.querySelector('.records').getBoundingClientRect(); return performance.now() - start }"""
    times = [tab.evaluate(typed, word) for word in ("h", "hu", "hut", "hut b", "hut be", "", "1911", "zz", "")]
    assert min(times) < 100  # the best of nine: a busy machine stretches the others
    scrolled = """top => { scrollTo({ top, behavior: 'instant' });
        return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() =>
          done(document.querySelectorAll('.records tbody tr').length)))) }"""
    assert max(tab.evaluate(scrolled, top) for top in (1000, 100_000, 250_000, 0)) < 60
    tab.locator(".records tbody a").first.focus()
    tab.keyboard.press("End")
    assert tab.evaluate("document.activeElement.closest('tr').getAttribute('aria-rowindex')") == "5001"
    assert tab.get_attribute(".records", "aria-rowcount") == "5001"


REWRITTEN = [{"query": "Ruvel Bridge builder", "question": "Who built the bridge at Ruvel?", "missing": "the builder"}]
OUTSIDE = {"upper": 3.25, "lower": -2.5, "strip": -2.5, "evaluator": "e", "fitted_on": "pages of the web"}
CRITIQUE = {"relevance": 0.91, "support": None, "utility": -0.5, "likelihood": 0.25}
DRAFT = {"text": "Tomas Aldwin", "passages": ["p1"], "critique": CRITIQUE, "worth": 1.75, "chosen": True}


EVIL = "<script>window.pwned=1</script><img src=x onerror=window.pwned=1>\u2028</script>\u202ejavascript:alert(1)"


def test_hostile_data_are_text(open_page: Open, contents: Contents, tmp_path: Path) -> None:
    """Markup, addresses that run code, names of JavaScript's own, and texts without end are shown and do nothing."""
    spoilt = json.loads(json.dumps(contents.records["q00000"]))
    trace = spoilt["trace"]
    name = "__proto__/../?#%&\t" + EVIL
    spoilt |= {"id": name, "question": EVIL, "answer": f"{EVIL} [1]", "truths": [EVIL], "note": EVIL, "group": EVIL}
    spoilt["tags"] = {"__proto__": EVIL, "constructor": "toString", EVIL: EVIL}
    for passage in (*trace["passages"], *(spoilt["contexts"] or ())):
        passage |= {"id": EVIL, "title": EVIL, "text": EVIL * 4000, "url": "javascript:window.pwned=1"}
    for grade in trace["grades"]:
        grade |= {"reason": EVIL, "label": EVIL, "span": [-5, 10**9], "window": [0, 3]}
    trace["strips"][0] |= {"start": 10**8, "end": -4, "text": EVIL, "passage_id": EVIL}
    trace["steps"][0] |= {"name": EVIL, "error": EVIL, "degraded": EVIL}
    trace["decision"] |= {"because": EVIL, "action": EVIL, "policy": EVIL}
    trace["rewritten"] = [{"query": EVIL, "question": EVIL, "missing": EVIL * 400}]
    trace["outside"] = {**OUTSIDE, "fitted_on": EVIL}
    trace["answer"]["drafts"] = [{**DRAFT, "text": EVIL}]
    broken = {**spoilt, "id": "broken", "trace": {**trace, "grades": None, "steps": 7, "strips": "no"}}
    score = {**contents.scores["q00000"][0], "record_id": name, "metric": "__proto__"}
    score |= {"reason": EVIL * 9000, "judge": EVIL}
    score["quotes"] = [{"text": EVIL, "where": EVIL, "verified": True}]
    diagnosis = json.loads(json.dumps(contents.diagnosis))
    item = diagnosis["items"][0]
    for key in [key for key, value in item.items() if isinstance(value, str)] + ["title"]:
        item[key] = f"**{EVIL}** [x](javascript:window.pwned=1) `{EVIL}` <b>*{EVIL}*</b>\n\n- {EVIL}"
    item |= {
        "cases": [name, "nowhere"],
        "metrics": ["constructor"],
        "patch": {EVIL: {EVIL: EVIL}},
    }
    hostile = replace(
        contents,
        name=EVIL,
        about={"experiment": EVIL, "created": EVIL, EVIL: {EVIL: EVIL}},
        records={name: spoilt, "broken": broken, **contents.records},
        scores={**contents.scores, name: [score]},
        diagnosis={**diagnosis, "executive_summary_gist": EVIL},
        ledger=[{"name": EVIL, "patch": {EVIL: {EVIL: EVIL}, "__proto__": EVIL}, "because": EVIL}],
        attributions={name: {**contents.attributions["q00000"], "of": EVIL, "notes": [EVIL]}},
    )
    tab = open_page(written(hostile, tmp_path))
    link = "#/record/" + tab.evaluate("encodeURIComponent", name)
    listed = "#/records?sort=__proto__&metric=constructor&q=script"
    for view in ("#/", "#/item/1", listed, link, "#/record/broken", "#/run"):
        go(tab, view)
        assert "<script>window.pwned=1</script>" in tab.inner_text("body")
        assert tab.evaluate("window.pwned") is None
        assert tab.locator("main script, main img, main iframe, main b, a[href^=javascript]").count() == 0
        assert tab.evaluate("Object.prototype.polluted") is None
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
    go(tab, "#/record/broken")
    assert tab.locator(".doubt", has_text="cannot be shown").count() >= 2
    assert tab.locator("article.score, .answer").count() >= 1


def test_what_is_missing_says_so(open_page: Open, contents: Contents, tmp_path: Path) -> None:
    """Without summaries, diagnosis, ledger, traces or contexts each view stands, and names what is not there."""
    bare = {n: {**r, "trace": None, "contexts": None, "truths": []} for n, r in contents.records.items()}
    left = replace(
        contents, about={}, records=bare, summaries=None, diagnosis=None, ledger=(), attributions={}, scores={}
    )
    tab = open_page(written(left, tmp_path))
    assert "no diagnosis.json" in tab.inner_text("main")
    assert "no summaries.json" in tab.inner_text("main")
    tab.evaluate("location.hash = '#/run'")
    tab.wait_for_selector("text=No change has been tried")
    tab.evaluate("location.hash = '#/record/q00000'")
    tab.wait_for_selector("text=The record has no trace")
    for words in ("This record has not been judged", "The contexts were not kept", "None is known"):
        assert words in tab.inner_text("main")
    tab.evaluate("location.hash = '#/record/q9'")
    tab.wait_for_selector("text=There is no record")
    tab.evaluate("location.hash = '#/item/9'")
    tab.wait_for_selector("text=There is no such item")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(open_page: Open, few: Path, axe: str, scheme: str) -> None:
    """In no view, with everything unfolded; nor anything of the lesser kinds."""
    tab = open_page(few, scheme=scheme)
    tab.evaluate(axe)
    for view in VIEWS:
        go(tab, view)
        tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        found = tab.evaluate(
            "axe.run().then(all => all.violations.map(one => [one.id, one.impact, one.nodes[0].html]))"
        )
        assert found == [], view
