"""reStructuredText, with what Sphinx adds to it."""

import gc
import gzip
import io
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from documents.loaders.opening import found, one, outline
from surefoot.documents import limits
from surefoot.documents.loaders import DocumentProblem, Unreadable, loader_of, read

PAGE = """\
.. _top:

Huts
====

See :ref:`the guide <guide>`, :func:`~hut.beds` and ``lit``.

.. comment

Stove
-----

.. note:: Mind the *gap*.

.. code-block:: python
   :linenos:

   print(1)

.. function:: beds(a)
   :module: hut

   Counts beds.

.. versionadded:: 3.2

.. toctree::

   other

.. tabs::
   .. tab:: Linux

      apt install

term
   its meaning

* one

  more
* two

+---+---+
| A | B |
+===+===+
| 1 | 2 |
+---+---+

Rules
-----
"""


def test_a_page_of_sphinx_gives_all_kinds_of_blocks():
    """Its directives and roles are not docutils' own."""
    assert one(PAGE, "x.rst").title == "Huts"
    assert outline(PAGE, "x.rst") == [
        ("paragraph", "Huts", "L6", "See the guide, hut.beds and lit."),
        ("note", "Huts › Stove", "L13", "Note: Mind the gap."),
        ("code", "Huts › Stove", "L15", "```python\nprint(1)\n```"),
        ("definition", "Huts › Stove", "L20", "beds(a)\n: Counts beds."),
        ("note", "Huts › Stove", "L25", "versionadded: 3.2"),
        ("definition", "Huts › Stove", "L34", "Linux\n: apt install"),
        ("definition", "Huts › Stove", "L36", "term\n: its meaning"),
        ("list", "Huts › Stove", "L39", "- one\n  more\n- two"),
        ("table", "Huts › Stove", "L44", "| A | B |\n| --- | --- |\n| 1 | 2 |"),
        ("caption", "Huts", "L51", "Rules"),
    ]


@pytest.mark.parametrize(
    "directive",
    [
        ".. include:: {}",
        ".. literalinclude:: {}",
        ".. raw:: html\n   :file: {}",
        ".. csv-table::\n   :file: {}",
        ".. math::\n   :file: {}",
        ".. |a| replace:: x\n.. include:: {}\n   :literal:",
    ],
)
def test_no_other_file_is_read(directive, tmp_path):
    """A document of somebody else's could name any."""
    (tmp_path / "secret").write_text("larch")
    assert "larch" not in one("Open.\n\n" + directive.format(tmp_path / "secret"), "x.rst").text


def test_what_docutils_complains_of_is_read():
    """A table that is not drawn well is better than none."""
    assert "larch" in one("Open.\n\n+---+\n| larch |\n+---+\n", "x.rst").text


def test_a_file_without_text_is_refused():
    """Comments alone are none."""
    with pytest.raises(Unreadable, match="no text"):
        one(".. a comment\n", "x.rst")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("x" * 10_001, "has a line of more than 10,000 characters, which docutils does not take"),
        ("* " * 4_000 + "x", "is reStructuredText that docutils cannot read (RecursionError)"),
        ("Huts.\n\n" + "http://a.example\n" * 1_500, "is reStructuredText that docutils cannot read (RecursionError)"),
    ],
    ids=["long line", "deep list", "many addresses"],
)
def test_what_docutils_cannot_read_is_read_as_plain_text(content, why):
    """With all of its words, and a problem that says so."""
    problem, document = read(io.BytesIO(content.encode()), "x.rst")
    assert problem == DocumentProblem(f"{why}; it was read as plain text", skipped=False)
    assert document.text.split() == content.split()


@pytest.fixture
def uncollected():
    """No garbage is collected: Hypothesis listens to that, and what is raised where it listens is only warned of."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
def test_what_takes_docutils_too_long_is_read_as_plain_text(monkeypatch):
    """Each start of an emphasis without an end makes it search the whole paragraph."""
    monkeypatch.setattr(limits, "processor_seconds", lambda size: 0.2)
    problem, document = read(io.BytesIO(b"*a\n" * 10_000), "x.rst")
    assert problem.reason == "takes docutils more than 0 s of processor time; it was read as plain text"
    assert document.text.count("*a") == 10_000
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_only_a_main_thread_is_timed():
    """Elsewhere Python takes no signals, and the file is read all the same."""
    with ThreadPoolExecutor() as pool:
        assert pool.submit(one, "Huts\n====\n\nOpen.\n", "x.rst").result().title == "Huts"


def test_a_question_leads_to_the_line(tmp_path):
    """Of the definition that answers it."""
    passage = found(tmp_path, "a.rst", PAGE, "beds counts")
    assert passage.title == "Huts › Stove"
    assert passage.url.startswith("docs/a.rst#L")


@pytest.mark.parametrize("name", ["_sources/hut.rst.txt", "hut.RST.TXT", "hut.rst.txt.gz"])
def test_what_sphinx_keeps_beside_its_pages_is_read_as_what_it_is(name):
    """As page.rst.txt, or page.md.txt; another suffix before .txt says nothing."""
    content = b"Hut\n===\n\nStove\n-----\n\nIt burns larch.\n"
    packed = gzip.compress(content) if name.endswith(".gz") else content
    (document,) = read(io.BytesIO(packed), name)
    assert [(block.path, block.text) for block in document.blocks] == [(("Hut", "Stove"), "It burns larch.")]
    assert loader_of("hut.md.txt") == "markdown"
    assert loader_of("hut.html.txt") == loader_of("v1.2.txt") == loader_of("rst.txt") == "text"
