"""Ask a folder of documents, and read off the trace why the answer is what it is."""

from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory

import surefoot
from surefoot.embedders.static import Static
from surefoot.index.build import build

with as_file(files("surefoot") / "demo" / "library") as documents, TemporaryDirectory() as place:
    index = Path(place) / "index.db"
    build([documents], index, Static())

    trace = surefoot.load(index={"path": str(index)}).run("Who built the Ruvel Bridge?")

    print(trace.decision.action, "because", trace.decision.because)
    for grade in trace.grades[:3]:
        print(grade.score, grade.reason)
    print(trace.answer.text)
    for citation in trace.answer.citations:
        print(f"[{citation.marker}]", "quoted" if citation.quoted else "not quoted", repr(citation.quote))
