"""What does looking elsewhere add? The same pipeline with and without an outside world."""

from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory

import surefoot
from surefoot.embedders.static import Static
from surefoot.index.build import build
from surefoot.searchers.folder import Folder

with as_file(files("surefoot") / "demo") as folder, TemporaryDirectory() as place:
    library, outside = Path(place) / "library.db", Path(place) / "outside.db"
    build([folder / "library"], library, Static())
    build([folder / "outside"], outside, Static())

    alone = surefoot.load(index={"path": str(library)})
    helped = alone.but(searcher=Folder(outside))

    for pipeline in (alone, helped):
        trace = pipeline.run("Who built the Sorvay Lighthouse?")
        print(pipeline.searcher.name, "->", trace.decision.action, "->", trace.answer.text)
