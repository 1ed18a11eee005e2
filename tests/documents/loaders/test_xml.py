"""XML with and without a meaning that we know."""

import io
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.loaders.opening import found, one, outline
from effort import effort
from surefoot.documents.loaders import DocumentProblem, Unreadable, read

BOOK = """<?xml version="1.0"?>
<book><title>Huts</title>
<chapter><title>Stove</title><indexterm><primary>hidden</primary></indexterm>
<para>It burns <emphasis>larch</emphasis>.</para>
<itemizedlist><listitem><para>one</para></listitem><listitem><para>two</para><screen>$ x
  y</screen></listitem></itemizedlist>
<variablelist><varlistentry><term>-a</term><listitem><para>all</para></listitem></varlistentry></variablelist>
<table><tgroup cols="2"><thead><row><entry>A</entry><entry>B</entry></row></thead>
<tbody><row><entry>1</entry><entry>2</entry></row></tbody></tgroup></table>
<note><para>Mind.</para></note>
<programlisting language="sql">SELECT 1;
  x</programlisting>
<sect1><title>Rules</title><para>Quiet.</para></sect1>
</chapter></book>"""

RECORDS = """<hosts><host name="db1"><ip>10.0.0.1</ip><os>Debian</os></host>
<host name="web" ip="10.0.0.2"/></hosts>"""


def test_docbook_gives_all_kinds_of_blocks():
    """Under the titles of its sections, each with its line."""
    assert one(BOOK, "x.xml").title == "Huts"
    assert outline(BOOK, "x.xml") == [
        ("paragraph", "Stove", "L4", "It burns larch."),
        ("list", "Stove", "L5", "- one\n- two\n  ```\n  $ x\n    y\n  ```"),
        ("definition", "Stove", "L7", "-a\n: all"),
        ("table", "Stove", "L8", "| A | B |\n| --- | --- |\n| 1 | 2 |"),
        ("note", "Stove", "L10", "Note: Mind."),
        ("code", "Stove", "L11", "```sql\nSELECT 1;\n  x\n```"),
        ("paragraph", "Stove › Rules", "L13", "Quiet."),
    ]


def test_records_are_lines_of_name_and_value():
    """Attributes are values too."""
    assert [text for *_, text in outline(RECORDS, "x.xml")] == [
        "host: name=db1",
        "ip: 10.0.0.1\nos: Debian",
        "host: name=web ip=10.0.0.2",
    ]


def test_a_short_entity_of_plain_text_is_put_in():
    """Manuals name their own subject by one."""
    assert one('<!DOCTYPE a [<!ENTITY hut "larch">]><a><p>The &hut; burns, <b>&hut;</b></p></a>', "x.xml").text == (
        "The larch burns, larch"
    )


def test_no_entity_is_looked_up(tmp_path):
    """Neither a file's nor one that unfolds to any size."""
    (tmp_path / "secret").write_text("larch")
    bomb = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    head = f'<!DOCTYPE a [<!ENTITY f SYSTEM "file://{tmp_path}/secret"><!ENTITY a0 "x">{bomb}]>'
    assert one(f"{head}<a><p>See &f;.</p></a>", "x.xml").text == "See &f;."
    assert one(f"{head}<a><li><p>&f;</p><p>x</p></li></a>", "x.xml").text.split() == ["&f;", "x"]
    assert len(one(f"{head}<a><p>See &a9;.</p></a>", "x.xml").text) < 100


def test_xml_that_is_not_well_formed_is_read_with_a_note():
    """As far as it makes sense."""
    problem, document = read(io.BytesIO(b"<a><p>Forty beds.</p><p>x"), "x.xml")
    assert isinstance(problem, DocumentProblem)
    assert not problem.skipped
    assert "Forty beds." in document.text


@pytest.mark.parametrize("content", ["", "junk", "<a/>", "<a><b/></a>"])
def test_what_is_no_xml_or_says_nothing_is_refused(content):
    """With what to do."""
    with pytest.raises(Unreadable):
        one(content, "x.xml")


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(BOOK)), st.binary(min_size=1, max_size=8))
def test_damaged_xml_is_read_or_refused(place, junk):
    """Nothing that it holds gets out as another error."""
    with suppress(Unreadable):
        one(BOOK.encode()[:place] + junk + BOOK.encode()[place + len(junk) :], "x.xml")


@pytest.mark.parametrize("piece", ["<p>x</p>", "<title>x</title>", "<b><c/></b>", "<note/>", "<row><entry/></row>"])
def test_hostile_xml_takes_linear_time(piece):
    """200 kB of anything take a small part of what the square of it would."""
    assert effort(lambda: one(f"<a><p>x</p>{piece * (200_000 // len(piece))}</a>", "x.xml"), 20) < 20


def test_a_question_leads_to_the_line(tmp_path):
    """Of the paragraph."""
    passage = found(tmp_path, "a.xml", BOOK, "What burns larch?")
    assert (passage.title, passage.url) == ("Huts › Stove", "docs/a.xml#L4")
