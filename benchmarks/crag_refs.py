"""Corrective RAG over the very texts that CRAG read: its refined passages, and what its web search brought.

    python benchmarks/crag_refs.py popqa/crag_refs.jsonl --reader extractive --run runs/refs-extractive

A line holds a question with `answers`, `internal` and `external`. The internal text is what was retrieved, the external
one what a search would bring; the evaluator chooses and refines, and the reader answers. Beside it: the same reader
over everything, unchosen, and over the internal text alone. `match` is CRAG's: a gold alias stands in the answer.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from surefoot import config
from surefoot.bench.datasets import Example
from surefoot.bench.qa import as_json, report
from surefoot.config import Builder
from surefoot.pipeline import Pipeline
from surefoot.recorder import Recorder
from surefoot.store import Run, write_text
from surefoot.types import Passage, Source, Strip, Trace


@dataclass(frozen=True)
class Given:
    """A retriever, and a searcher, of the passages that it was given."""

    passages: tuple[Passage, ...]
    name: str = "given"

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        return self.passages[:k]

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        return self.passages


def passages(text: str, source: Source) -> tuple[Passage, ...]:
    """The parts of one of CRAG's texts; those from the web bear their page's title."""
    parts = [part for part in text.split(" ; ") if part.strip()] if source == "external" else [text]
    titled = [re.match(r"([^:]{1,80}): (.*)", part, re.DOTALL) if source == "external" else None for part in parts]
    return tuple(
        Passage(f"{source}-{n}", match[2] if match else part, match[1] if match else "", source)
        for n, (part, match) in enumerate(zip(parts, titled, strict=True))
    )


def ask(pipeline: Pipeline, method: str, row: dict[str, str]) -> Trace:
    """The trace of one question: corrected, or read as it is."""
    inside, outside = passages(row["internal"], "corpus"), passages(row["external"], "external")
    if method == "crag":
        return pipeline.but(retriever=Given(inside), searcher=Given(outside)).run(row["question"])
    run = Recorder(row["question"], {})
    read = inside if method == "internal" else inside + outside
    knowledge = [(Strip(p.id, 0, len(p.text), p.text, None, kept=True), p) for p in read]
    run.set(
        "answer",
        run.step(
            "generate", pipeline.generator.generate, row["question"], knowledge, fallback=None, instead="no answer"
        ),
    )
    return run.trace()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--reader", choices=("llm", "extractive"), default="extractive")
    parser.add_argument("--method", choices=("crag", "internal", "all"), default="crag")
    parser.add_argument("--evaluator", default=config.DEFAULTS["evaluator"]["use"])
    parser.add_argument("--every", type=int, default=1, help="only each n-th question")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--run", type=Path, required=True)
    given = parser.parse_args()
    chosen = config.read(
        {},
        {"evaluator": {"use": given.evaluator}, "generator": {"use": given.reader}},
        *config.settings(given.settings),
    )
    builder = Builder(chosen)
    evaluator, generator, refiner = builder.evaluator, builder._component("generator"), builder._component("refiner")
    pipeline = Pipeline(
        Given(()),
        evaluator,
        builder.policy(),
        refiner,
        builder._component("rewriter"),
        Given(()),
        generator,
        config=chosen,
    )
    rows = [json.loads(line) for line in given.file.open(encoding="utf-8")][:: given.every]
    folder = Run(given.run, {"data": given.file.name, "method": given.method, "config": chosen, "every": given.every})
    done = folder.done()
    for number, row in enumerate(rows, start=1):
        if row["id"] not in done:
            done[row["id"]] = ask(pipeline, given.method, row)
            folder.append(row["id"], done[row["id"]])
        print(f"\r{number} of {len(rows)}", end="", file=sys.stderr, flush=True)
    examples = [Example(row["id"], row["question"], tuple(row["answers"]), frozenset()) for row in rows]
    found = report(given.method, examples, [done[row["id"]] for row in rows])
    write_text(given.run / "report.json", json.dumps(as_json(found), indent=1) + "\n")
    for name in ("match", "match_lower", "answered", "right_when_answered"):
        share = getattr(found, name)
        print(f"{name:20} {share.share:.3f} [{share.low:.3f}, {share.high:.3f}]  {share.count} of {share.of}")
    for action in found.actions:
        print(f"{action.action:12} {action.questions.count:4}  match {action.match_lower.share:.3f}")


if __name__ == "__main__":
    main()
