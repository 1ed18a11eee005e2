"""Question answering over texts that come with the questions: CRAG's own, or what a retriever once found.

    python benchmarks/given.py popqa/crag_refs.jsonl --generator extractive --method crag --run runs/refs-crag
    python benchmarks/given.py popqa/contriever.jsonl --generator llm --method rag --top 10 --run runs/contriever-10

A line holds a question with `answers`, and either `passages`, in the order in which they were found, or CRAG's texts:
`internal`, what it had kept of its retrieval, and `external`, what its web search had brought. These are retrieved; the
external text is what a search brings. `--together` retrieves both, for plain RAG over everything, unchosen. `match` is
CRAG's: a gold alias stands in the answer, case and all; `match_lower` is the same in lower case. `--against RUN` holds
the run against an earlier one: of the questions of both, those that only one has right, and McNemar's exact p.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot.bench.datasets import Example
from surefoot.bench.methods import METHODS
from surefoot.bench.metrics import Share
from surefoot.bench.qa import Report, as_json, compared, report
from surefoot.config import Builder, read, settings
from surefoot.store import Run, write_text
from surefoot.types import Passage, Source, Trace

GIVEN = "__main__:Given"


@dataclass(frozen=True)
class Given:
    """A retriever, and a searcher, of the passages that it was given."""

    passages: tuple[Passage, ...] = ()
    name: str = "given"

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        return self.passages[:k]

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        return self.passages[:k]


def inside(row: dict[str, Any]) -> tuple[Passage, ...]:
    """What was retrieved for the question; a passage that came twice is taken once."""
    if "internal" in row:
        return parts(row["internal"], r"([^.]{1,80}?)  (\S.*)", "corpus")
    every = [Passage(p["id"], p["text"], p.get("title") or "") for p in row["passages"] if p["text"].strip()]
    return tuple({passage.id: passage for passage in every}.values())


def outside(row: dict[str, Any]) -> tuple[Passage, ...]:
    """What a web search had brought."""
    return parts(row.get("external", ""), r"([^:]{1,80}): (.*)", "external")


def parts(text: str, titled: str, source: Source) -> tuple[Passage, ...]:
    """The parts of one of CRAG's texts, each with the title that stands before it, if one does."""
    found = []
    for n, part in enumerate(part for part in text.split(" ; ") if part.strip()):
        match = re.match(titled, part, re.DOTALL)
        found.append(Passage(f"{source}-{n}", match[2] if match else part, match[1] if match else "", source))
    return tuple(found)


def reported(method: str, rows: Sequence[dict[str, Any]], done: Mapping[str, Trace]) -> Report:
    """Of the questions that were asked."""
    asked = [row for row in rows if row["id"] in done]
    examples = [Example(row["id"], row["question"], tuple(row["answers"]), frozenset()) for row in asked]
    return report(method, examples, [done[row["id"]] for row in asked])


def kept(folder: Path) -> dict[str, Trace]:
    """What an earlier run holds, whatever it was run with."""
    return Run(folder, json.loads((folder / "run.json").read_text(encoding="utf-8"))).done()


def shown(share: Share) -> str:
    figures = "–" if share.share is None else f"{share.share:.3f} [{share.low:.3f}, {share.high:.3f}]"
    return f"{figures}  {share.count} of {share.of}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--method", choices=METHODS, default="crag")
    parser.add_argument("--top", type=int, default=10, help="passages that plain RAG reads")
    parser.add_argument("--together", action="store_true", help="retrieve the external text, too")
    parser.add_argument("--generator", choices=("llm", "extractive"), default="extractive")
    parser.add_argument("--every", type=int, default=1, help="only each n-th question")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--against", type=Path, metavar="RUN", help="an earlier run to compare with")
    given = parser.parse_args()
    earlier = kept(given.against) if given.against else {}
    used = {"generator": given.generator, "retriever": GIVEN, "searcher": GIVEN}
    chosen = read({}, {role: {"use": name} for role, name in used.items()}, *settings(given.settings))
    pipeline = Builder(chosen).pipeline()
    rows = [json.loads(line) for line in given.file.open(encoding="utf-8")][:: given.every]
    how = {name: getattr(given, name) for name in ("method", "top", "together", "every")}
    folder = Run(given.run, {"data": given.file.name, **how, "config": chosen})
    done = folder.done()
    for number, row in enumerate(rows, start=1):
        if row["id"] not in done:
            retrieved = inside(row) + (outside(row) if given.together else ())
            one = pipeline.but(retriever=Given(retrieved), searcher=Given(outside(row)))
            done[row["id"]] = METHODS[given.method](one, row["question"], given.top)
            folder.append(row["id"], done[row["id"]])
        print(f"\r{number} of {len(rows)}", end="", file=sys.stderr, flush=True)
    found = reported(given.method, rows, done)
    write_text(given.run / "report.json", json.dumps(as_json(found), indent=1) + "\n")
    print()
    for name in ("match", "match_lower", "answered", "right_when_answered"):
        print(f"{name:20} {shown(getattr(found, name))}")
    for row in found.actions:
        print(f"{row.action:12} match {shown(row.match)}, match_lower {shown(row.match_lower)}")
    other = reported(given.method, rows, earlier)
    for rule in ("match", "match_lower") if given.against else ():
        pair = compared(found, other, rule)
        print(f"{rule:12} {pair.first} right only here, {pair.second} only there, of {pair.of}: p = {pair.p:.2g}")


if __name__ == "__main__":
    main()
