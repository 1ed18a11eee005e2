"""What pandoc leaves out of DocBook is read where it stands."""

import pytest

from documents.loaders.opening import one, outline
from surefoot.documents.loaders._docbook import docbook

pytest.importorskip("pypandoc")


def blocks(content: str, root: str = "<book>") -> list[tuple[str, str]]:
    """Kind and text of each block in a section."""
    book = f"{root}<title>B</title><sect1><title>S</title>{content}</sect1></book>"
    return [(kind, text) for kind, _, _, text in outline(book, "x.xml")]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<para>&eg; larch&mdash;&Tab;&Shift;&Del; &check;</para>", "eg larch—Tab Shift Del check"),
        (
            "<para>Press <menuchoice><shortcut> <keycombo>&Ctrl;<keycap>Q</keycap></keycombo></shortcut>"
            "<guimenu>File</guimenu><guimenuitem>Quit</guimenuitem></menuchoice> now.</para>",
            "Press File > Quit (Ctrl+Q) now.",
        ),
        ("<cmdsynopsis><command>cp</command><arg>--to=<replaceable>X</replaceable></arg></cmdsynopsis>", "cp --to=X"),
        ("<indexterm><primary>larch</primary></indexterm><para>Beds.</para>", "Beds."),
    ],
)
def test_the_words_of_a_line_are_read(content, expected):
    """Entities by their names, keys of a menu, the parts of a synopsis apart; an index is not for the eye."""
    assert blocks(content) == [("paragraph", expected)]


@pytest.mark.parametrize("root", ["<book>", '<book xmlns="http://docbook.org/ns/docbook" version="5.0">'])
def test_what_leads_a_list_is_read_above_it(root):
    """Its title and its paragraphs, and the title of a step."""
    items = "<listitem><para>larch</para></listitem><listitem><para>oak</para></listitem>"
    listed = f"<para>See <itemizedlist><para>All beds:</para>{items}</itemizedlist></para>"
    assert blocks(listed, root) == [("paragraph", "See"), ("paragraph", "All beds:"), ("list", "- larch\n- oak")]
    steps = (
        "<procedure><title>How</title><para>Well:</para><step><title>First</title><para>Dry.</para></step></procedure>"
    )
    assert [*map(" ".join, blocks(steps, root))] == ["caption How", "paragraph Well:", "list 1. First\n   Dry."]
    entry = "<term><cmdsynopsis><command>a</command><arg>B</arg></cmdsynopsis></term><listitem>larch</listitem>"
    terms = f"<variablelist><title>Names</title><varlistentry>{entry}</varlistentry></variablelist>"
    assert blocks(terms, root) == [("caption", "Names"), ("definition", "a B\n: larch")]


@pytest.mark.parametrize("caption", ["<para>A larch.</para><para>Dry.</para>", "A larch. Dry."])
def test_a_caption_stands_behind_its_picture(caption):
    """Whatever holds the picture."""
    image = '<imageobject><imagedata fileref="x.png"/></imageobject>'
    picture = f"<mediaobject>{image}<caption>{caption}</caption></mediaobject>"
    for content in (picture, f"<screenshot>{picture}</screenshot>", f"<figure><title>F</title>{picture}</figure>"):
        text = " ".join(text for _, text in blocks(f"<para>Above.</para>{content}<para>Below.</para>"))
        assert text.replace(" F ", " ") == "Above. A larch. Dry. Below."


def test_who_wrote_a_chapter_stands_below_its_heading():
    """With translators and releases."""
    people = (
        "<authorgroup><author><firstname>Ann</firstname><surname>Oak</surname></author>"
        "<othercredit><contrib>Drawings</contrib> &Bo.Larch;</othercredit></authorgroup>"
    )
    content = (
        f"<chapter><chapterinfo>{people}<date>2020</date></chapterinfo><title>Huts</title><para>Beds.</para></chapter>"
    )
    (document,) = [one(content, "x.xml")]
    assert [block.text for block in document.blocks] == ["Ann Oak, Drawings Bo.Larch, 2020", "Beds."]
    assert {block.path for block in document.blocks} == {("Huts",)}


@pytest.mark.parametrize("root", ["mediaobject><caption", "menuchoice><shortcut"])
def test_a_root_of_another_kind_is_no_fault(root):
    """A comment may name a book."""
    content = f"<{root}>larch</{root.partition('<')[2]}></{root.partition('>')[0]}>"
    assert docbook(f"<!-- <book> -->{content}") == content
