"""Man pages as `man` shows them: options as definitions, examples as code."""

import gzip

import pytest

from documents.loaders.opening import found, kinds, one, outline
from effort import effort
from surefoot.documents.loaders import Unreadable, loader_of, needs_head

PAGE = r""".\" A comment.
.de Sp
.if t .sp
..
.TH BEDS 1 "March 2024"
.SH NAME
beds \- list the \fIbeds\fR of a h\[:u]tte
.SH SYNOPSIS
.B beds
[\fB\-a\fR]
.RI [ FILE ]
.SH OPTIONS
.TP
.BR \-a ", " \-\-all
Shows all of them,
the broken ones too.
.IP
For example:
.RS
.nf
beds \-a \e
  hut
.fi
.RE
.TP
.B \-q
Says nothing.
.SS "Other options"
Kinds:
.IP \(bu 2
lower
.IP \(bu 2
upper
.PP
.TS
tab(|);
l l.
Code|Meaning
0|T{
all
well
T}
.TE
"""

MDOC = r""".Dd March 1, 2024
.Dt BEDS 1
.Os
.Sh NAME
.Nm beds
.Nd list the beds
.Sh SYNOPSIS
.Nm
.Op Fl a
.Op Ar file
.Sh DESCRIPTION
See
.Xr hut 5 .
.Bl -tag -width Ds
.It Fl a
Shows
.Dq all ,
also:
.Bd -literal
beds -a
.Ed
.It Fl q
Quiet.
.El
.Bl -bullet
.It
One.
.It
Two.
.El
"""


def test_a_page_of_man_is_read_as_it_is_shown():
    """Fonts and other escapes are gone, characters are themselves."""
    assert one(PAGE, "beds.1").title == "BEDS(1)"
    assert outline(PAGE, "beds.1") == [
        ("paragraph", "NAME", "L7", "beds - list the beds of a hütte"),
        ("paragraph", "SYNOPSIS", "L9", "beds [-a] [FILE]"),
        (
            "definition",
            "OPTIONS",
            "L14",
            "-a, --all\n: Shows all of them, the broken ones too.\n  \n"
            "  For example:\n  \n  ```\n  beds -a \\\n    hut\n  ```",
        ),
        ("definition", "OPTIONS", "L26", "-q\n: Says nothing."),
        ("paragraph", "OPTIONS › Other options", "L29", "Kinds:"),
        ("list", "OPTIONS › Other options", "L30", "- lower\n- upper"),
        ("table", "OPTIONS › Other options", "L35", "| Code | Meaning |\n| --- | --- |\n| 0 | all well |"),
    ]


def test_a_page_of_mdoc_is_read_as_it_is_shown():
    """Its macros call each other."""
    assert one(MDOC, "beds.1").title == "beds(1)"
    assert [(kind, path, text) for kind, path, _, text in outline(MDOC, "beds.1")] == [
        ("paragraph", "NAME", "beds — list the beds"),
        ("paragraph", "SYNOPSIS", "beds [-a] [file]"),
        ("paragraph", "DESCRIPTION", "See hut(5)."),
        ("definition", "DESCRIPTION", '-a\n: Shows "all", also:\n  \n  ```\n  beds -a\n  ```'),
        ("definition", "DESCRIPTION", "-q\n: Quiet."),
        ("list", "DESCRIPTION", "- One.\n- Two."),
    ]


@pytest.mark.parametrize("name", ["beds.1", "beds.8", "Beds::Of.3pm", "beds.1.gz", "beds.man"])
def test_a_page_is_known_by_its_suffix_and_its_start(name):
    """The suffix of a digit alone could be anything."""
    assert loader_of(name, PAGE.encode()) == "man"
    assert loader_of(name, b"Forty beds.") is None or not needs_head(name)


def test_a_page_that_names_another_one_is_refused():
    """It says nothing of its own."""
    with pytest.raises(Unreadable, match="only names another"):
        one(".so man1/beds.1\n", "b.1")


def test_strings_that_name_strings_do_not_multiply():
    """Each doubles the one before."""
    strings = "".join(f".ds {b} \\*{a}\\*{a}\n" for a, b in zip("abcdefghijklmnop", "bcdefghijklmnopq", strict=True))
    assert len(one(f".TH X 1\n.ds a xxxxxxxx\n{strings}.SH A\n\\*q\n", "x.1").text) <= 80


@pytest.mark.parametrize("piece", ["\\[", "\\h'", ".TP\nx\n", ".IP\n", ".RS\n", ".TS\n", '"', ".Op ", "\\*(", '.B "\n'])
def test_a_hostile_page_takes_linear_time(piece):
    """200 kB of anything take a small part of what the square of it would."""
    page = ".TH X 1\n.SH A\nText.\n" + piece * (200_000 // len(piece))
    assert effort(lambda: one(page, "x.1"), 20) < 20


def test_a_question_about_an_option_finds_it(tmp_path):
    """In a compressed page, as systems install them."""
    passage = found(tmp_path, "beds.1.gz", gzip.compress(MDOC.encode()), "What does -q do?")
    assert (passage.title, passage.url) == ("beds(1) › DESCRIPTION", "docs/beds.1.gz#L12")
    assert len(kinds(MDOC, "beds.1", "definition")) == 2
