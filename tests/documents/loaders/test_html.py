"""A page becomes blocks: what a browser shows, all of it, under its headings, and no word joined to another."""

import io

import pytest

from effort import effort
from surefoot.documents.loaders import Block, Document
from surefoot.documents.loaders.html import HtmlLoader


def read(markup: str | bytes) -> Document:
    content = markup if isinstance(markup, bytes) else markup.encode()
    found = next(HtmlLoader().read(io.BytesIO(content), "folder/hut.html"))
    assert isinstance(found, Document)
    return found


def blocks(body: str, title: str = "The Hut") -> tuple[Block, ...]:
    return read(f"<html><head><title>{title}</title></head><body>{body}</body></html>").blocks


def said(body: str) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in blocks(body)]


def paths(body: str) -> list[tuple[str, ...]]:
    return [block.path for block in blocks(body)]


# Title and headings


@pytest.mark.parametrize(
    ("markup", "title"),
    [
        ("<title> The\n Hut </title><h1>Other</h1>", "The Hut"),
        ("<h1>The <b>Hut</b><a href='#x'>¶</a></h1>", "The Hut"),
        ("<title>Note</title><h1>Stove</h1>", "Stove"),
        ("<div class=note><h3>Note</h3></div>", "hut"),
    ],
)
def test_a_page_is_named_by_its_title_else_its_first_heading_else_its_file(markup: str, title: str) -> None:
    """And never by the word above a box."""
    assert read(f"<html>{markup}<p>x</p></html>").title == title


def test_headings_are_the_path_of_what_stands_below_them() -> None:
    """Up to the next heading of the same level or above."""
    body = "<h1>Rooms</h1><p>a</p><h2>Beds</h2><p>b</p><h3>Large</h3><p>c</p><h2>Stove</h2><p>d</p>"
    assert paths(body) == [("Rooms",), ("Rooms", "Beds"), ("Rooms", "Beds", "Large"), ("Rooms", "Stove")]


@pytest.mark.parametrize("title", ["Rooms", "Rooms — The Hut 2.4", "rooms | The Hut", "Rooms (hut)"])
def test_a_heading_that_is_the_title_is_not_in_the_path(title: str) -> None:
    """Nor one that is a part of the title."""
    assert [block.path for block in blocks("<h1>Rooms</h1><p>a</p><h2>Beds</h2><p>b</p>", title)] == [(), ("Beds",)]


def test_a_heading_that_only_begins_as_the_title_is_in_the_path() -> None:
    """`git` is not `git-push`."""
    assert blocks("<h2>GIT</h2><p>a</p>", "git-push(1)")[0].path == ("GIT",)


def test_a_heading_with_nothing_below_it_is_a_caption() -> None:
    """In the middle of a page and at its end."""
    body = "<h2>Beds</h2><h2>Stove</h2><p>a</p><h2>Roof</h2>"
    assert said(body) == [("caption", "Beds"), ("paragraph", "a"), ("caption", "Roof")]


@pytest.mark.parametrize("foot", ["<nav><a href=a>Up</a></nav>", "<footer>2026</footer>", "<div id=footer>2026</div>"])
def test_a_menu_or_footer_stands_below_no_heading(foot: str) -> None:
    """A heading right before it is not lost."""
    found = blocks(f"<h2>Beds</h2>{foot}")
    assert [(block.kind, block.path) for block in found][1:] == [("caption", ())]
    assert found[0].path == ()
    assert found[1].text == "Beds"


# Lines


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<b>a</b>bc", "abc"),
        ("x<sup>2</sup> and <code>git  push</code>.", "x2 and git push."),
        ("<code>TO</code><br><code>SELECT</code>", "TO SELECT"),
        ("one&nbsp;two", "one two"),
        ("tar<a href='#foot1'><sup>1</sup></a>, if", "tar 1, if"),
    ],
)
def test_elements_in_a_line_neither_join_nor_part_words(body: str, text: str) -> None:
    """What a browser shows as one word is one."""
    assert said(f"<p>{body}</p>") == [("paragraph", text)]


def test_elements_that_begin_a_line_part_what_they_stand_between() -> None:
    """Also where text stands beside them, or an inline element around them."""
    assert [text for _, text in said("TO<div>SELECT</div>x<b>y<p>z</p></b>")] == ["TO", "SELECT", "xy", "z"]


@pytest.mark.parametrize("sign", ["¶", "#", "§", "\uf0c1"])
def test_a_permalink_is_not_read_and_its_anchor_is(sign: str) -> None:
    """It is for the mouse."""
    found = blocks(
        f"<h2>Beds<a id=beds href='#beds'>{sign}</a></h2><p>a <a href='#x'>link</a> <a href=x>{sign}</a></p>"
    )
    assert [(block.path, block.text, block.place) for block in found] == [(("Beds",), f"a link {sign}", "beds")]


def test_the_place_of_a_block_is_the_last_anchor_before_its_words() -> None:
    """An id, or the name of a link."""
    body = "<p>a</p><div id=one><p>b</p></div><p><a name=two></a>c<a name=three>d</a></p><p>e</p>"
    assert [block.place for block in blocks(body)] == ["", "one", "two", "three"]


def test_what_follows_a_division_does_not_stand_in_it() -> None:
    """Unless it held an anchor of its own; an empty one is an anchor."""
    body = "<div id=menu><p>m</p></div><p>a</p><div id=b><h2 id=c>C</h2></div><p>d</p><div id=e></div><p>f</p>"
    assert [(one.text, one.place) for one in blocks(body)] == [("m", "menu"), ("a", ""), ("d", "c"), ("f", "e")]


def test_the_field_of_a_search_is_no_place() -> None:
    """It stands above every page of some manuals, and all that follows would lead there."""
    body = "<form><label id=a for=q>Search</label><input id=q><button id=go>Go</button></form><p>a</p>"
    assert [block.place for block in blocks(body) if block.text == "a"] == [""]


# Lists and definitions


def test_lists_in_lists_are_indented() -> None:
    """With numbers from where the author began."""
    body = "<ol start=3><li>a<ul><li>b<li><p>c</p><p>d</p></ul><li>e</ol>"
    assert said(body) == [("list", "3. a\n   - b\n   - c\n     d\n4. e")]


def test_code_in_a_list_keeps_its_lines() -> None:
    """In the item that it belongs to."""
    assert said("<ul><li>Run<pre>a\n  b</pre></ul>") == [("list", "- Run\n  ```\n  a\n    b\n  ```")]


def test_a_list_that_holds_a_table_is_read_block_by_block() -> None:
    """A row of a table is a line of its own."""
    body = "<ul><li>a<table><tr><th>x<th>y<tr><td>1<td>2</table></ul>"
    assert [kind for kind, _ in said(body)] == ["list", "table"]


def test_a_page_laid_out_as_a_list_keeps_its_headings() -> None:
    """A list item may hold a whole section."""
    assert paths("<ul><li><h2>Beds</h2><p>Forty of them.</p></ul>") == [("Beds",)]


def test_a_short_meaning_stands_with_its_terms() -> None:
    """All that share it, with their anchor."""
    found = blocks("<dl><dt id=a>-a</dt><dt>--all</dt><dd><p>All of it.</p><p>Really.</p></dd></dl>")
    assert found == (Block("-a, --all\n: All of it.\n  \n  Really.", "definition", (), "a"),)


def test_a_long_meaning_stands_under_its_term() -> None:
    """Which is its first line, too."""
    body = "<h2>Options</h2><dl><dt>-a<dd>All.<ul><li>of it</ul><pre>x</pre></dl><p>After.</p>"
    assert [(b.text.split("\n")[0], b.kind, b.path) for b in blocks(body)] == [
        ("-a", "definition", ("Options", "-a")),
        ("- of it", "list", ("Options", "-a")),
        ("```", "code", ("Options", "-a")),
        ("After.", "paragraph", ("Options",)),
    ]


def test_text_between_terms_is_read() -> None:
    """As a browser shows it, though none may stand there."""
    assert said("<dl>For all:<dt>stove</dt> warm<dt>beds</dt> forty</dl>") == [
        ("paragraph", "For all:"),
        ("definition", "stove\n: warm"),
        ("definition", "beds\n: forty"),
    ]


def test_headings_in_terms_are_terms() -> None:
    """And no word of them is lost."""
    assert said("<dl><dt><h3>Stove</h3></dt><dd>Warm.</dd></dl>") == [("definition", "Stove\n: Warm.")]


# Tables


def test_a_table_keeps_its_header_and_caption() -> None:
    """A row a line."""
    body = "<table><caption>Beds</caption><thead><tr><th>Room<th>Beds</thead><tr><td>East<td><p>4<p>or 5</table>"
    assert said(body) == [("caption", "Beds"), ("table", "| Room | Beds |\n| --- | --- |\n| East | 4 or 5 |")]


def test_headers_at_the_side_make_rows() -> None:
    """Such a table has none on top."""
    body = "<table><tr><th>Status:<td>Base<tr><th>Module:<td>alias</table>"
    assert said(body) == [("table", "| Status: | Base |\n| Module: | alias |")]


def test_a_name_above_several_columns_is_in_the_name_of_each():
    """And one beside it is said once."""
    head = "<thead><tr><th rowspan=2>Hut<th colspan=2>2025<tr><th>beds<th>fires</thead>"
    (found,) = blocks(f"<table>{head}<tr><td>Lower<td>40<td>2</table>")
    assert found.text.split("\n")[0] == "| Hut | 2025 beds | 2025 fires |"


def test_cells_stand_in_their_columns_whatever_spans() -> None:
    """A short cell over several rows is said in each."""
    body = "<table><tr><th>a<th>b<th>c<tr><td rowspan=2>1<td colspan=2>2<tr><td>3<td>4</table>"
    assert said(body)[0][1].split("\n")[2:] == ["| 1 | 2 |  |", "| 1 | 3 | 4 |"]


def test_a_table_that_lays_out_a_page_is_read_as_the_page() -> None:
    """It holds headings, code or lists, or a single column."""
    assert said("<table><tr><td><ul><li>a b</ul><td><pre>x</pre></table>") == [
        ("list", "- a b"),
        ("code", "```\nx\n```"),
    ]
    assert paths("<table><tr><td>menu<td><h2>Beds</h2><p>a</p></table>") == [(), ("Beds",)]
    assert said("<table><tr><td><p>a</p><p>b</p></table>") == [("paragraph", "a"), ("paragraph", "b")]


def test_cells_cannot_claim_more_than_there_are() -> None:
    """A page of a few bytes gives no millions of cells."""
    row = "<td colspan=1000 rowspan=9999>x" * 50
    assert len(read(f"<table><tr><th>h<th>i<tr>{row}{'<tr><td>y<td>z' * 2000}</table>").text) < 100_000


# Code, boxes, menus


def test_a_box_in_code_has_lines_of_its_own() -> None:
    """As the manual of HAProxy describes its examples; lines that a highlighter boxed stay as they are."""
    assert said("<pre><div>All of it.</div><code>redirect a\n  b</code>\n</pre>") == [
        ("code", "```\nAll of it.\nredirect a\n  b\n```")
    ]
    assert said("<pre><div>a</div><div>b</div>\nc<br>d</pre>") == [("code", "```\na\nb\nc\nd\n```")]


@pytest.mark.parametrize(
    ("markup", "language"),
    [
        ("<pre><code class='language-sql'>{}</code></pre>", "sql"),
        ("<pre class='prettyprint lang-config'>{}</pre>", "config"),
        ("<div class='highlight-bash notranslate'><div class=highlight><pre>{}</pre></div></div>", "bash"),
        ("<div class='highlight-default notranslate'><div class=highlight><pre>{}</pre></div></div>", ""),
        ("<pre class=screen>{}</pre>", ""),
    ],
)
def test_code_keeps_its_lines_and_language(markup: str, language: str) -> None:
    """Also where a tool has coloured it."""
    body = markup.format("<span>if</span> a:\n\n    <i>b</i><br>c")
    assert said(body) == [("code", f"```{language}\nif a:\n\n    b\nc\n```")]


@pytest.mark.parametrize(
    "box",
    [
        "<div class=note><h3 class=title>Note</h3><p>Mind.</p><p>Gap.</p></div>",
        "<div class='admonition note'><p class=admonition-title>Note</p><p>Mind.</p><p>Gap.</p></div>",
        "<div class=admonitionblock><table><tr><td class=icon><p class=title>Note<td><p>Mind.<p>Gap.</table></div>",
        "<aside><h2>Note:</h2><p>Mind.</p><p>Gap.</p></aside>",
    ],
)
def test_a_box_is_notes_that_begin_with_its_label(box: str) -> None:
    """Which is no heading of what follows."""
    found = blocks(f"<h2>Beds</h2>{box}<p>After.</p>")
    assert [(b.kind, b.text) for b in found] == [("note", "Note: Mind."), ("note", "Gap."), ("paragraph", "After.")]
    assert {block.path for block in found} == {("Beds",)}


def test_what_follows_a_menu_does_not_stand_in_it() -> None:
    """Though the menu is a list, and its last item an anchor; another list may end with that of what follows."""
    items = "".join(f"<li><a href=p{n}>Page {n}</a>" for n in range(9))
    menu = f"<ul>{items}<li id=search><a href=s>Search</a></ul><p>The bridge was built in 1911.</p>"
    assert [one.place for one in blocks(menu)][-1] == ""
    plain = "<ul><li>One is old.<li id=two>Two is new.</ul><p>The bridge was built in 1911.</p>"
    assert [one.place for one in blocks(plain)][-1] == "two"


def test_menus_are_contents_of_their_own() -> None:
    """Nothing of them is lost, and their headings are none of the page."""
    menu = "<nav><h3>Parts</h3><ul><li><a href=a>Beds</a><li><a href=b>Stove</a></ul></nav>"
    found = blocks(f"<h2>Rooms</h2>{menu}<p>a</p><p><a href=x>Up</a> | <a href=y>Next</a></p>")
    assert [(b.kind, b.text, b.path) for b in found] == [
        ("contents", "Parts\n- Beds\n- Stove", ()),
        ("paragraph", "a", ("Rooms",)),
        ("contents", "Up | Next", ("Rooms",)),
    ]


def test_a_bar_of_links_is_contents_with_what_names_them() -> None:
    """As the makers of manuals put one above each section."""
    bar = "<div class=header><p>Next: <a href=#b>Beds and tables</a>, Up: <a href=#t>The Hut</a></p></div>"
    assert [(b.kind, b.path) for b in blocks(f"<h2>Rooms</h2><p>a</p>{bar}<h2>Beds</h2><p>b</p>")] == [
        ("paragraph", ("Rooms",)),
        ("contents", ()),
        ("paragraph", ("Beds",)),
    ]


@pytest.mark.parametrize("name", ["navheader", "docnav top", "nav-panel"])
def test_the_bar_that_turns_pages_is_contents_also_where_it_names_the_manual(name: str) -> None:
    bar = f"<ul class='{name}'><li><a href=a>Prev</a><li>The Hut<li><a href=c>Next</a></ul>"
    assert [b.kind for b in blocks(f"{bar}<h2>Rooms</h2><p>a</p>")] == ["contents", "paragraph"]


@pytest.mark.parametrize(
    "markup",
    [
        "<ul><li><a href=a>Beds</a><ul><li><a href=b>Large</a></ul></ul>",
        "<dl><dt><a href=a>Beds</a><dd><dl><dt><h3><a href=b>Large</a></h3></dl></dl>",
    ],
)
def test_a_list_of_links_is_contents(markup: str) -> None:
    """In any markup."""
    assert said(markup) == [("contents", "- Beds\n  - Large")]


def test_a_list_with_a_link_in_each_item_is_a_list() -> None:
    """Where there are other words."""
    assert said("<ul><li><a href=a>Beds</a> for forty</ul>") == [("list", "- Beds for forty")]


def test_a_manual_page_is_read_as_one() -> None:
    """Running text is made whole, and stands under its headings and terms."""
    text = """HUT(1)                                                                HUT(1)

<b>NAME</b>
       hut - keep a hut

<b>OPTIONS</b>
       -a     Shows every bed of the hut, whether it is taken or free, and every ser-
              vice of it.

              Needs a key.

<b>SEE ALSO</b>
       bed(1)
"""
    found = [(block.path, block.text) for block in blocks(f"<pre>{text}</pre>")][1:]
    assert found == [
        (("NAME",), "hut - keep a hut"),
        (("OPTIONS",), "-a\n: Shows every bed of the hut, whether it is taken or free, and every service of it."),
        (("OPTIONS", "-a"), "Needs a key."),
        (("SEE ALSO",), "bed(1)"),
    ]


# The whole page


def test_a_page_is_read_in_the_encoding_that_it_names() -> None:
    """Which a guess may miss in a short text."""
    assert "Hütte" in read('<meta charset="iso-8859-1"><p>Hütte</p>'.encode("latin-1")).text


@pytest.mark.slow
@pytest.mark.parametrize(
    "markup",
    [
        "<font>" * 1500 + "deep",
        "<ul><li>" * 600 + "deep",
        "<table><tr><td>" * 300 + "deep",
        "<dl><dd>" * 600 + "deep",
        "<div class=note>" * 1500 + "deep",
        "<div class=toc>" * 1500 + "deep",
    ],
)
def test_what_is_nested_deep_is_read_in_linear_time(markup: str) -> None:
    """A page may never have closed an element."""
    page = f"<html><body>{markup}"
    assert effort(lambda: read(page), 5) < 5
    assert "deep" in read(page).text


@pytest.mark.parametrize("hide", ["hidden", "style='display: none'"])
def test_a_panel_that_a_tab_opens_is_read_under_the_tab(hide):
    """Its reader sees it with a click; what no tab opens stays hidden, and so does what is hidden inside."""
    page = f"""<h1>Huts</h1><div role=tablist><button role=tab aria-controls=n>North</button><a role=tab id=t>South</a>
    </div><div role=tabpanel id=n><p>Open.</div><div role=tabpanel id=s aria-labelledby=t {hide}><p>Shut.
    <p hidden>Say Bob.</div><div role=tabpanel id=x {hide}>Say Eve.</div><p>All burn larch."""
    assert [(block.path, block.text) for block in blocks(page, "Huts")] == [
        (("North",), "Open."),
        (("South",), "Shut."),
        ((), "All burn larch."),
    ]


def test_what_a_click_opens_is_read_under_the_words_to_click_on():
    """Once, where they are its heading too; a menu and a dialog stay hidden."""
    page = """<h1>Huts</h1><button aria-expanded=false aria-controls=m>Menu</button><nav id=m hidden>Say Bob.</nav>
    <h2><button aria-expanded=false aria-controls=b>Bread</button></h2><section id=b hidden><p>Rye.</section>
    <h2>Beds</h2><a data-toggle=tab href="#u">Upper</a><div id=u style="display:none"><p>Nine.</div>
    <details><summary>Are dogs allowed?</summary><p>No.</details><p hidden>Say Eve."""
    assert [(block.path, block.text) for block in blocks(page, "Huts") if block.text[-1] == "."] == [
        (("Bread",), "Rye."),
        (("Beds", "Upper"), "Nine."),
        (("Beds", "Are dogs allowed?"), "No."),
    ]


def test_a_list_in_a_cell_is_told_on_one_line():
    """Its items parted, and not by marks that read as minus."""
    row = "<tr><td>Mon</td><td><ul><li>7:00 - 9:30</li><li>14:00 - 20:15</li></ul></td></tr>"
    body = f"<table><tr><th>Day</th><th>Open</th></tr>{row}</table>"
    assert said(body) == [("table", "| Day | Open |\n| --- | --- |\n| Mon | 7:00 - 9:30; 14:00 - 20:15 |")]


def test_a_bold_question_of_its_own_heads_its_answer() -> None:
    """Beside another question; not in a list, nor where it goes on."""
    page = "<h1>FAQ</h1><p><b>How long?</b></p><p>Two days.</p><p><strong>Where?</strong></p><p>Bern.</p>"
    page += "<p><b>Who?</b> Ann.</p><ul><li><p><b>Why?</b></p><p>Rain.</p></li></ul>"
    assert [(block.path, block.text) for block in blocks(page)] == [
        (("FAQ", "How long?"), "Two days."),
        (("FAQ", "Where?"), "Bern."),
        (("FAQ", "Where?"), "Who? Ann."),
        (("FAQ", "Where?"), "- Why?\n  Rain."),
    ]


def test_a_table_in_a_cell_is_said_in_words_of_its_header() -> None:
    """Its bars would be those of more cells."""
    inner = "<table><tr><th>Phone</th><th>Channel</th></tr><tr><td>4471</td><td>VHF 12</td></tr></table>"
    page = f"<table><tr><th>Office</th><th>Contact</th></tr><tr><td>Harbour</td><td>{inner}</td></tr></table>"
    assert said(page) == [("table", "| Office | Contact |\n| --- | --- |\n| Harbour | Phone: 4471, Channel: VHF 12 |")]
