"""AsciiDoc in blocks, each with its line."""

from time import thread_time

import pytest

from documents.loaders.opening import found, one, outline
from surefoot.documents.loaders import Unreadable

PAGE = """\
= Huts
:stove: larch

See <<top,the top>>, linkgit:git-log[1] and https://a.example[the site].
// comment

[[rules]]
== Rules

It burns {stove}.

* one
  more
** nested
. first

[source,sql]
----
== SELECT 1;
----

-a::
--all::
    Shows all
    of them.

-q:: Quiet.

|===
|A |B

|1 |2
|===

////
hidden
////
include::/etc/passwd[]

Old
---
NOTE: Mind.
"""


def test_a_page_gives_all_kinds_of_blocks():
    """Comments are out, attributes are put in."""
    assert one(PAGE, "x.adoc").title == "Huts"
    assert outline(PAGE, "x.adoc") == [
        ("paragraph", "Huts", "L4", "See the top, git-log(1) and [the site](https://a.example)."),
        ("paragraph", "Huts › Rules", "L10", "It burns larch."),
        ("list", "Huts › Rules", "L12", "- one\n  more\n  - nested\n1. first"),
        ("code", "Huts › Rules", "L18", "````sql\n== SELECT 1;\n````"),
        ("definition", "Huts › Rules", "L24", "-a, --all\n: Shows all\n  of them."),
        ("definition", "Huts › Rules", "L27", "-q\n: Quiet."),
        ("table", "Huts › Rules", "L33", "| A | B |\n| --- | --- |\n| 1 | 2 |"),
        ("paragraph", "Huts › Old", "L42", "NOTE: Mind."),
    ]


def test_a_file_without_text_is_refused():
    """Of comments alone."""
    with pytest.raises(Unreadable, match="no text"):
        one("// nothing", "x.adoc")


@pytest.mark.parametrize("opening", ["----", "|===\n|a", "....", "====", "****"])
def test_what_is_never_closed_is_read(opening):
    """A damaged file loses nothing."""
    assert "larch" in one(f"{opening}\n|larch", "x.adoc").text


def test_attributes_that_name_attributes_do_not_multiply():
    """Each doubles the one before."""
    doubled = "".join(f":{b}: {{{a}}}{{{a}}}\n" for a, b in zip("abcdefghijklmnop", "bcdefghijklmnopq", strict=True))
    assert len(one(f":a: xxxxxxxx\n{doubled}\n{{q}}\n", "x.adoc").text) <= 100


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["<<", "a::", "* a\n", "link:", "{", "|===\n", "[", "a\n---\n", ".a\n", "----\n", "https://"]
)
def test_hostile_text_takes_linear_time(piece):
    """Eight times the text takes no more than sixteen times as long, the best of three each."""

    def taken(size):
        started = thread_time()  # a long run of tests leaves threads behind that have work of their own
        one("x\n\n" + piece * (size // len(piece)), "x.adoc")
        return thread_time() - started

    short, long = (min(taken(size) for _ in range(3)) for size in (25_000, 200_000))
    assert long < 16 * short + 0.1


def test_a_question_leads_to_the_line(tmp_path):
    """Of the paragraph."""
    passage = found(tmp_path, "a.adoc", PAGE, "What burns larch?")
    assert (passage.title, passage.url) == ("Huts › Rules", "docs/a.adoc#L10")
