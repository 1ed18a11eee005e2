"""From a file to an answer whose citation opens at the quoted block, not at the beginning of its passage."""

from pathlib import Path

import pytest

import surefoot
from documents.loaders.test_pdf import pdf, typed
from surefoot.embedders.hashing import Hashing
from surefoot.index.build import build
from surefoot.types import Trace

QUESTION = "What is the roof of the hut made of?"
HTML = """<h1>The Hohrin hut</h1><p id="built">Miners built the hut in 1904.</p>
<p id="roof">The roof of the hut is made of larch shingles.</p><p id="way">A path leads there in two hours.</p>"""
TEXT = "Miners built the hut in 1904.\n\n\nThe roof of the hut is made of larch shingles.\n\nA path leads there.\n"
PAGES = [typed("Miners built the hut in 1904."), typed("The roof of the hut is made of larch shingles.")]
FILES = {
    "hut.pdf": (pdf(*PAGES), "page=2"),
    "hut.html": (HTML.encode(), "roof"),
    "hut.txt": (TEXT.encode(), "L4"),
    "hut.md": (f"# The hut\n\n{TEXT}".encode(), "L6"),
}


def answered(folder: Path, name: str, content: bytes) -> Trace:
    (folder / name).write_bytes(content)
    build([folder / name], folder / "index.db", Hashing())
    return surefoot.load({"index": {"path": str(folder / "index.db")}, "embedder": "hashing"}).run(QUESTION)


@pytest.mark.parametrize("name", FILES)
def test_a_citation_leads_to_the_block_that_is_quoted(tmp_path: Path, name: str) -> None:
    """The passage holds all of the file and begins elsewhere."""
    content, place = FILES[name]
    trace = answered(tmp_path, name, content)
    (passage,) = trace.passages
    assert trace.answer
    cited = [citation for citation in trace.answer.citations if "larch shingles" in citation.quote]
    assert {citation.url for citation in cited} == {f"{name}#{place}"}
    assert passage.url != f"{name}#{place}"
