"""Records what the page's double replays: questions really asked, event by event, with their documents and words.

`python tests/page_recording.py` writes web/recording.json beside this file, from the library of `surefoot demo`.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

from surefoot.cli.demo import _indexed
from surefoot.config.builder import Builder
from surefoot.documents.loaders import loader_of, read
from surefoot.explain.grade import as_graded, explain
from surefoot.run.store import to_json
from surefoot.types import Document, Event

QUESTIONS = (
    "In which village was the guide Anna Tresk born?",
    "How thick is the Hohrin Glacier?",
    "When was the Sorvay Lighthouse built?",
    "Who invented the telephone?",
)
RECORDING = Path(__file__).parent / "web" / "recording.json"


def record(builder: Builder, questions: Iterable[str], folder: Path, name: str) -> dict[str, Any]:
    """The questions with their events and traces, the documents that they cite below `folder`, and an attribution of
    the best passage of the first."""
    pipeline, asked = builder.pipeline(), []
    for question in questions:
        begun, events = time.perf_counter(), []

        def heard(event: Event, begun: float = begun, events: list[Any] = events) -> None:
            if event.name != "text":
                events.append([event.name, round(time.perf_counter() - begun, 4), to_json(event.value)])

        trace = pipeline.run(question, on_event=heard)
        asked.append({"question": question, "events": events, "trace": {**to_json(trace), "config": {}}})
        if len(asked) == 1:
            best = as_graded(trace, pipeline.evaluator)
            attribution = to_json(explain(pipeline.evaluator, trace.asked, best, most=160, tolerance=0.5))
    cited = {p["file"] for one in asked for p in one["trace"]["passages"] if p["file"]}
    return {
        "collection": {
            "name": name,
            "documents": builder.index.info().documents,
            "passages": builder.index.info().passages,
        },
        "thresholds": to_json(pipeline.policy.thresholds),
        "asked": asked,
        "attribution": attribution,
        "documents": [described(folder, file) for file in sorted(cited) if (folder / file).is_file()],
    }


def described(folder: Path, file: str) -> dict[str, Any]:
    """A document as the server tells it, with its blocks."""
    with (folder / file).open("rb") as stream:
        document = next(one for one in read(stream, file) if isinstance(one, Document))
    blocks, start = [], 0
    for block in document.blocks:
        blocks.append({**to_json(block), "start": start, "end": start + len(block.text)})
        start += len(block.text) + 2
    kind = loader_of(file) or "text"
    about = {"id": file.replace("/", "~"), "title": document.title, "file": file, "kind": kind, "pages": None}
    return {**about, "passages": max(1, start // 900), "characters": max(0, start - 2), "blocks": blocks}


def main() -> None:
    demo = Path(str(files("surefoot") / "demo"))
    with tempfile.TemporaryDirectory() as place:
        found = record(Builder(_indexed(demo, Path(place))), QUESTIONS, demo, "demo")
    RECORDING.write_text(json.dumps(found, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")


if __name__ == "__main__":
    main()
