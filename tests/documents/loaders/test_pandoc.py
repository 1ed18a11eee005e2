"""Text with markup as pandoc reads it: blocks under their headings, each with its line."""

import io
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from documents.loaders.opening import one, outline
from surefoot.documents.loaders import DocumentProblem, Unreadable, _pandoc_process, loader_of, read
from surefoot.types.errors import UsageError

pytest.importorskip("pypandoc")

SAMPLES = Path(__file__).with_name("samples")


def sample(name: str) -> str:
    """A file with every kind of block that its format has."""
    return (SAMPLES / name).read_text()


def lines(content: str, name: str) -> list[tuple[str, str, str, str]]:
    """The outline, with the end of a line as "/"."""
    return [(kind, path, place, text.replace("\n", "/")) for kind, path, place, text in outline(content, name)]


READ = {
    "beds.1": (
        "BEDS(1)",
        [
            ("paragraph", "NAME", "L7", "beds - list the beds of a hütte"),
            ("paragraph", "SYNOPSIS", "L8", "beds [-a] [FILE]"),
            ("definition", "OPTIONS › -a, --all", "L14", "-a, --all/: Shows all of them, the broken ones too."),
            ("paragraph", "OPTIONS › -a, --all", "L18", "For example:"),
            ("code", "OPTIONS › -a, --all", "L21", "```/beds -a \\/  hut/```"),
            ("definition", "OPTIONS", "L26", "-q/: Says nothing."),
            ("paragraph", "OPTIONS › Other options", "L29", "Kinds:"),
            ("list", "OPTIONS › Other options", "L31", "- lower/- upper"),
            ("table", "OPTIONS › Other options", "L38", "| Code | Meaning |/| --- | --- |/| 0 | all well |"),
        ],
    ),
    "beds.mdoc": (
        "BEDS(1)",
        [
            ("paragraph", "NAME", "L5", "beds — list the beds"),
            ("paragraph", "SYNOPSIS", "L7", "beds [-a] [file]"),
            ("paragraph", "DESCRIPTION", "L12", "See hut(5)."),
            ("definition", "DESCRIPTION › -a", "L15", '-a/: Shows "all", also:'),
            ("code", "DESCRIPTION › -a", "L20", "```/beds -a/```"),
            ("definition", "DESCRIPTION", "L22", "-q/: Quiet."),
            ("list", "DESCRIPTION", "L27", "- One./- Two."),
        ],
    ),
    "x.adoc": (
        "Huts",
        [
            ("paragraph", "", "L4", "See the top, git-log(1) and [the site](https://a.example)."),
            ("paragraph", "Rules", "L10", "It burns larch."),
            ("list", "Rules", "L12", "- one more/  - nested/    1. first"),
            ("code", "Rules", "L19", "```sql/== SELECT 1;/```"),
            ("definition", "Rules", "L22", "-a, --all/: Shows all of them."),
            ("definition", "Rules", "L27", "-q/: Quiet."),
            ("table", "Rules", "L30", "| A | B |/| --- | --- |/| 1 | 2 |"),
            ("note", "Old", "L42", "Note: Mind."),
        ],
    ),
    "x.rst": (
        "Huts",
        [
            ("paragraph", "Huts", "L6", "See the guide, hut.beds and lit."),
            ("note", "Huts › Stove", "L13", "Note: Mind the gap."),
            ("code", "Huts › Stove", "L18", "```python/print(1)/```"),
            ("definition", "Huts › Stove", "L20", "beds(a)/: Counts beds."),
            ("note", "Huts › Stove", "L25", "Versionadded: 3.2"),
            ("definition", "Huts › Stove", "L31", "term/: its meaning"),
            ("list", "Huts › Stove", "L34", "- one/  more/- two"),
            ("table", "Huts › Stove", "L40", "| A | B |/| --- | --- |/| 1 | 2 |"),
            ("caption", "Huts", "L45", "Rules"),
        ],
    ),
    "x.tex": (
        "The Hut",
        [
            ("paragraph", "Stove", "L7", "It burns larch for 5% of a Müller’s day , see [here](https://a.example)."),
            ("list", "Stove", "L12", "- one/- two"),
            ("definition", "Stove", "L16", "-a/: all"),
            ("table", "Stove", "L20", "| A | B |/| --- | --- |/| 1 | R&D |"),
            ("code", "Stove", "L24", "```/x = 1 % kept/```"),
            ("code", "Stove", "L26", "```latex/\\begin{equation}/a^2/\\end{equation}/```"),
            ("paragraph", "Stove › Rules", "L30", "Quiet."),
        ],
    ),
    "x.xml": (
        "Huts",
        [
            ("paragraph", "Stove", "L4", "It burns larch."),
            ("list", "Stove", "L5", "- one/- two/  ```/  $ x/    y/  ```"),
            ("definition", "Stove", "L7", "-a/: all"),
            ("table", "Stove", "L7", "| A | B |/| --- | --- |/| 1 | 2 |"),
            ("note", "Stove", "L10", "Note: Mind."),
            ("code", "Stove", "L11", "```sql/SELECT 1;/  x/```"),
            ("paragraph", "Stove › Rules", "L13", "Quiet."),
        ],
    ),
    "x.ipynb": (
        "Huts",
        [
            ("paragraph", "Huts", "cell=1", "Forty beds."),
            ("code", "Huts", "cell=2", "```python/print(1)/```"),
            ("code", "Huts", "cell=2", "```/1/```"),
            ("paragraph", "Huts › Stove", "cell=3", "It burns larch."),
        ],
    ),
}


@pytest.mark.parametrize("name", READ)
def test_a_file_gives_all_kinds_of_blocks_under_its_headings(name):
    """Each with its line, or the number of its cell; comments and lines that name other files are out."""
    title, expected = READ[name]
    assert one(sample(name), name).title == title
    assert lines(sample(name), name) == expected


OTHERS = {
    "x.org": "* Huts\n\nForty beds.\n",
    "x.mediawiki": "= Huts =\n\nForty beds.\n",
    "x.textile": "h1. Huts\n\nForty beds.\n",
    "x.typ": "= Huts\n\nForty beds.\n",
    "x.jats": "<article><front/><body><sec><title>Huts</title><p>Forty beds.</p></sec></body></article>",
    "x.fb2": '<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><body><section><title><p>Huts</p></title>'
    "<p>Forty beds.</p></section></body></FictionBook>",
}


def test_of_tex_that_pandoc_does_not_know_the_words_are_read() -> None:
    """Of its commands and environments, and of abstracts; a length is no text."""
    text = (
        "\\documentclass{article}\n\\begin{document}\n\\begin{abstract}The hut in short.\\end{abstract}\n"
        "\\begin{scene}\n\\speaks[aside]{The stove is cold.}\n\\end{scene}\n\\skipover{2em}\n\n"
        "A \\warm{larch} bed.\n\\end{document}\n"
    )
    assert [block.text for block in one(text, "x.tex").blocks] == [
        "The hut in short.",
        "The stove is cold.",
        "A larch bed.",
    ]


def test_a_block_is_found_in_the_line_that_keeps_most_others_in_order() -> None:
    """Whose first words stand in others too: in a table of contents above, in a summary below."""
    parts = [f"Part {n}\n======\n\nThe larch bed of part {n}.\n" for n in range(9)]
    text = "The larch bed of many.\n\n" + "\n".join(parts) + "\nPart 0 again.\n"
    assert [place for _, _, place, _ in lines(text, "x.rst")] == ["L1", *(f"L{6 + 5 * n}" for n in range(9)), "L48"]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        (
            "x.1",
            ".TH HUT 1\n.SH NAME\n\\fB[ \\fIlarch\\fB\\fI...\\fB ]\\fR or\n\\fBdry \\fIoak\\fR",
            "[ larch... ] or dry oak",
        ),
        ("x.adoc", "A dry larch *bed*, and \x0b oak\nbirch too.\n", "A dry larch bed, and oak birch too."),
        ("x.adoc", ":wood: dry larch\n\nA bed of {wood} here.\n", "A bed of dry larch here."),
        ("x.adoc", "A \U00100000 dry larch bed.\n", "A \U00100000 dry larch bed."),
        ("x.org", "A \\(a  b\\) [[https://a.example]] bed[fn:1].\n\n[fn:1] Dry.\n", "A a b https://a.example bed."),
    ],
)
def test_every_word_of_a_line_is_read(name, content, expected):
    """Of pieces that pandoc parts, and of runs of words that it does not see; what XML cannot hold is left out."""
    assert one(content, name).blocks[0].text == expected


@pytest.mark.parametrize("name", OTHERS)
def test_other_markup_is_read(name):
    """With its heading."""
    (block,) = one(OTHERS[name], name).blocks
    assert (block.path, block.text) == (("Huts",), "Forty beds.")


@pytest.mark.parametrize("suffix", ["odt", "rtf"])
def test_other_office_files_are_read(suffix, tmp_path):
    """With the id of the heading as place, where there is one."""
    file, command = tmp_path / f"x.{suffix}", _pandoc_process.pandoc()._command[0]
    subprocess.run([command, "-s", "-o", file], input=b"# Huts\n\nForty beds.\n", check=True)
    assert "Forty beds." in [block.text for block in one(file.read_bytes(), file.name).blocks]
    today = {"modified": f"{datetime.now(UTC):%Y-%m-%d}"}
    assert dict(one(file.read_bytes(), file.name).meta) == (today if suffix == "odt" else {})


@pytest.mark.parametrize("name", ["beds.1", "beds.8", "Beds::Of.3pm", "beds.1.gz", "beds.man"])
def test_a_page_is_known_by_its_suffix_and_its_start(name):
    """The suffix of a digit alone could be anything."""
    assert loader_of(name, sample("beds.1").encode()) == "pandoc"
    assert loader_of("beds.1", b"1 2 3") is None


def test_a_page_that_names_another_one_is_refused():
    """That one is read by itself."""
    with pytest.raises(Unreadable, match=r"only names another page, man1/beds\.1"):
        one(".so man1/beds.1\n", "b.1")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("x.rst", ".. include:: {}"),
        ("x.rst", ".. literalinclude:: {}"),
        ("x.rst", ".. raw:: html\n   :file: {}"),
        ("x.rst", ".. csv-table::\n   :file: {}"),
        ("x.adoc", "include::{}[]"),
        ("x.tex", "\\input{{{}}}"),
        ("x.org", '#+INCLUDE: "{}"'),
        ("x.xml", '<!DOCTYPE book [<!ENTITY f SYSTEM "file://{}">]><book><para>Open. &f;</para></book>'),
    ],
)
def test_no_other_file_is_read(name, line, tmp_path):
    """A document of somebody else's could name any; what is its own is read."""
    (tmp_path / "secret").write_text("larch")
    content = line.format(tmp_path / "secret") if name == "x.xml" else f"Open.\n\n{line.format(tmp_path / 'secret')}\n"
    text = one(content, name).text
    assert "larch" not in text
    assert "Open." in text


def test_what_pandoc_cannot_read_is_read_as_plain_text():
    """With all of its words, and a problem that says so."""
    problem, document = read(io.BytesIO(b'{"cells": [{"larch": 1}]}'), "x.ipynb")
    assert isinstance(problem, DocumentProblem)
    assert (problem.skipped, "pandoc cannot read" in problem.reason) == (False, True)
    assert "larch" in document.text


@pytest.mark.parametrize(
    ("text", "answer", "reason"),
    [
        ("\\def\\hut#1{larch}\n% oak\n", None, "pandoc cannot read (it finds no text)"),
        ("The larch.\n% oak\n", Unreadable("takes pandoc too much memory; split it"), "takes pandoc too much memory"),
        ("\\begin{quote}larch 5\\% % oak\n", None, "pandoc cannot read (Error at"),
    ],
)
def test_latex_that_gives_no_text_is_read_as_it_stands_without_its_comments(text, answer, reason, monkeypatch):
    """Definitions alone, what takes pandoc too much, and what it stops at; the problem says so."""

    def refused(*_):
        raise answer

    if answer:
        monkeypatch.setattr(_pandoc_process.PandocProcess, "xml", refused)
    problem, document = read(io.BytesIO(text.encode()), "x.tex")
    assert isinstance(problem, DocumentProblem)
    assert (problem.skipped, reason in problem.reason) == (False, True)
    assert problem.reason.endswith("; it was read as plain text")
    assert ("larch" in document.text, "oak" in document.text) == (True, False)


def test_a_notebook_that_takes_too_much_is_refused(monkeypatch):
    """As plain text it would be its pictures; nor is latex of comments alone read."""

    def refused(*_):
        raise Unreadable("takes pandoc too much memory; split it")

    with pytest.raises(Unreadable, match="holds no text"):
        one("% oak\n", "x.tex")
    monkeypatch.setattr(_pandoc_process.PandocProcess, "xml", refused)
    with pytest.raises(Unreadable, match="too much memory"):
        one('{"cells": []}', "x.ipynb")


def test_authors_and_dates_are_read() -> None:
    """As they stand on the first page; a manual page's date stands on each."""
    text = "\\title{Huts}\\author{Ann Larch \\and Bo Oak}\\date{May 2020}\\begin{document}\nBeds.\n\\end{document}\n"
    assert [block.text for block in one(text, "x.tex").blocks] == ["Ann Larch", "Bo Oak", "May 2020", "Beds."]
    assert "2020" not in one('.TH HUT 1 "May 2020"\n.SH NAME\nBeds.\n', "x.1").text


def test_xml_of_no_kind_that_pandoc_knows_is_read_as_text():
    """With its lines."""
    assert lines("<hosts>\n<host>db1</host>\n</hosts>", "x.xml")[0][3].endswith("<host>db1</host>/</hosts>")


def test_a_process_reads_many_files_and_is_replaced_when_it_ends():
    """Also between two files: what it has spent is not the next one's."""
    process = _pandoc_process.PandocProcess(_pandoc_process.pandoc()._command[0])
    assert b"Huts" in process.xml(b"Huts", "rst")
    first = process._process
    assert b"Huts" in process.xml(b"Huts", "org")
    assert process._process is first
    first.kill()
    first.wait()
    assert b"Huts" in process.xml(b"Huts", "rst")
    assert process._process is not first
    process.end()


def test_a_missing_pandoc_is_named_with_what_to_install(monkeypatch):
    """It comes with an extra."""
    _pandoc_process.pandoc().end()
    monkeypatch.setattr(_pandoc_process, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")
    _pandoc_process.pandoc.cache_clear()
    with pytest.raises(UsageError, match=r"pip install 'surefoot\[formats\]'"):
        one("Huts.", "x.rst")
    _pandoc_process.pandoc.cache_clear()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.adoc", "From: me\n\nHuts\n=====\n----\nlarch\n"),
        ("x.adoc", "Huts\n====\n\nThey burn\n-------\nlarch\n\n-----\n"),
        ("x.adoc", "Huts\n====\n\n-----\na line\n------\nlarch\n-----\n"),
        ("x.1", ".TH HUT 1\n.SH NAME\n.TS\ntab(:) allbox;\nc s\nl lp-1.\nFuel:\nstove:larch\n.TE\n"),
        ("x.rst", ".. py:decorator:: larch\n\n   Burns.\n"),
        ("x.xml", '<!DOCTYPE book [<!ENTITY fuel "larch">]><book><para>&fuel; or &oak;</para></book>'),
    ],
)
def test_what_pandoc_would_stop_at_or_leave_out_is_read(name, content):
    """Blocks of code that stand open, tables with columns of a special kind, domains, entities of other files."""
    (document,) = read(io.BytesIO(content.encode()), name)
    assert "larch" in document.text
