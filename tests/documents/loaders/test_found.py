"""From a file to the index: a question finds the passage, and its address leads to where it stands."""

import gzip

import pytest

from documents.loaders import (
    test_code,
    test_config,
    test_eml,
    test_epub,
    test_pandoc,
    test_powerpoint,
    test_word,
    test_xlsx,
)
from documents.loaders.opening import found
from documents.loaders.test_tables import HOSTS

ICE = "The glacier is 41 km long"
SLIDES = test_powerpoint.show(("Huts", [("Open", 0)]), ("Ice", [(ICE, 0)]))


def _word(document) -> None:
    document.add_heading("Ice", 1)
    document.add_paragraph(ICE)


FILES = {
    "a.py": (test_code.PYTHON, "what does add return?", "a.py › add", "#L5"),
    "a.ini": (test_config.INI, "how many retries?", "a.ini › client", "#L8"),
    "a.txt.gz": (gzip.compress(b"The hut is open.\n\nIt burns larch.\n", mtime=0), "larch", "a", "#L1"),
    "a.md": ("# Huts\n\nOpen.\n\n## Stove\n\nIt burns larch.\n", "What burns larch?", "Huts › Stove", "#L7"),
    "a.docx": (test_word.word(_word), "glacier", "Ice", "#ice"),
    "a.pptx": (SLIDES, "glacier", "a › Ice", "#slide=2"),
    "a.xlsx": (test_xlsx.book(Ice=[["Glacier", "km"], ["Aletsch", 22.6]]), "Aletsch", "a › Ice", "#Ice"),
    "a.epub": (
        test_epub.book({"huts.xhtml": test_epub.HUTS, "ice.xhtml": test_epub.ICE}),
        "glacier",
        "Ice book › Ice",
        "#OEBPS/ice.xhtml",
    ),
    "a.eml": (test_eml.mail("Forty beds."), "What did Eve write?", "The hütte › from Eve Übel", ""),
    "hosts.csv": (HOSTS, "Which host is in rack 4?", "hosts", ""),
    "a.json": ('{"server": {"port": 80}, "client": {"retries": 3}}', "how many retries", "a › client", "#/client"),
    "x.rst": (test_pandoc.sample("x.rst"), "guide beds lit", "Huts", "#L6"),
    "x.ipynb": (test_pandoc.sample("x.ipynb"), "What burns larch?", "Huts › Stove", "#cell=3"),
    "beds.1": (test_pandoc.sample("beds.1"), "broken ones", "BEDS(1) › OPTIONS › -a, --all", "#L14"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_question_leads_to_its_place(tmp_path, name):
    """A line, a slide, a sheet, a chapter or a key; a row and a mail are addresses of their own."""
    content, question, title, place = FILES[name]
    passage = found(tmp_path, name, content, question)
    assert passage.title == title
    assert (passage.url or "").partition("docs/")[2].partition("#")[0] in (name, "")
    assert "".join((passage.url or "").partition("#")[1:]).startswith(place)
