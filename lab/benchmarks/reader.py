"""Does a model that was taught to read answer better than one that was not, and than quotations?

    surefoot lab manuals QUESTIONS.jsonl MANUALS --out RUN
    python benchmarks/reader.py gather DATA QUESTIONS.jsonl RUN/surefoot/traces.jsonl knowledge.jsonl [--limit 50]
    python benchmarks/reader.py ask knowledge.jsonl OUT --reader llm
    python benchmarks/reader.py ask knowledge.jsonl OUT --reader extractive
    python benchmarks/reader.py ask knowledge.jsonl OUT --reader reader --model OUT/reader.gguf
    python benchmarks/reader.py report knowledge.jsonl OUT [--verifier minilm --model FOLDER]

`gather` gives all three the same: of each question's passages the five strips that the shipped evaluator grades best,
whether it would keep them or not. Questions of the sets are of articles that neither `recipes/reader.py` nor the
shipped evaluator learned from. About a third have no answer there: those that people wrote so, and others without the
passages that hold their answer. Questions about manuals bring what the run retrieved. `ask` may be stopped and goes on;
`report` compares the questions that each reader has answered so far, which are drawn from all sets alike.

Each draft is checked as the pipeline checks it: an answer whose words stand in no source is a refusal. Right: an
answer holds a gold's words side by side (manuals: their own rule). Left out are questions whose gold is yes or no.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, zip_longest
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import components
from surefoot.evaluate.ask.questions import sample
from surefoot.evaluators.minilm import MiniLM
from surefoot.evidence.citations import grounded
from surefoot.generators.extractive import Extractive
from surefoot.generators.llm import LLMGenerator
from surefoot.generators.reader import Reader
from surefoot.llms.local import Local
from surefoot.refiners.strips import Strips
from surefoot.run import store
from surefoot.stats.figures import figure, mean, resampled
from surefoot.text.openers import claiming
from surefoot.text.words import sentences, words
from surefoot.types import Assertion, Passage, Strip
from surefoot.types.protocols import Generator, Verifier
from surefoot_lab.datasets import manuals
from surefoot_lab.train.sources import normal, percentile

SETS = ("squad2/dev", "nq/oracle", "tatqa/dev", "hotpotqa/dev_distractor", "2wiki/dev")
SPLIT = {"squad2/dev": 20, "nq/oracle": 20}
"""Sets of which others than these percent of the articles are learned from."""
BEST = 5
ABSENT = 33
"""Percent of the questions of a set whose evidence is taken away; SQuAD 2 has its own."""
VERDICTS = {"yes", "no", "maybe"}
READERS = ("llm", "extractive", "reader")
HEADS = "set,reader,right,wrong,right less wrong (points),unanswerable declined,unsupported,undecided,s".split(",")
_MARKER = re.compile(r"\s*\[\d+(?:\s*,\s*\d+)*\]")

Row = dict[str, Any]
Manuals = Mapping[str, manuals.ManualQuestion]
Posed = tuple[str, str, list[str], list[Passage], str]
"""Id, question, golds (none: not answered), passages, and the set."""


def article(row: Row) -> str:
    """As in the recipe: the title of the first relevant passage, or of the first."""
    passages = sorted(row["passages"], key=lambda p: p.get("label") != 1)
    return normal(next((p["title"] for p in passages if p.get("title") not in ("", "table", None)), "")) or row["id"]


def holds(text: str, answers: Sequence[str]) -> bool:
    """Whether the words of one of the answers stand side by side in the text."""
    said = f" {' '.join(words(text))} "
    return any(words(one) and f" {' '.join(words(one))} " in said for one in answers)


def posed(data: Path, limit: int) -> Iterator[Posed]:
    """Questions of the sets."""
    for name in SETS:
        rows = [row for _, row in store.rows(data / f"{name}.jsonl")]
        rows = [row for row in rows if percentile(article(row)) < SPLIT.get(name, 100)]
        rows = [row for row in rows if not VERDICTS & {a.lower() for a in row["answers"]}]
        own = name.startswith("squad2")
        rows = [r for r in rows if own or any(holds(p["text"], r["answers"]) for p in r["passages"])]
        absent = [r["id"] for r in rows if (not r["answers"] if own else percentile(r["id"]) < ABSENT)]
        present = [row["id"] for row in rows if row["id"] not in absent]
        chosen = {*sample(absent, limit // 3), *sample(present, limit - limit // 3)}
        for row in (row for row in rows if row["id"] in chosen):
            gone = row["id"] in absent
            passages = [p for p in row["passages"] if own or not gone or not holds(p["text"], row["answers"])]
            made = [Passage(p["id"], p["text"], p["title"]) for p in passages]
            yield row["id"], row["question"], [] if gone else row["answers"], made, name


def asked_of_manuals(questions: Path, traces: Path, limit: int) -> Iterator[Posed]:
    """The same of questions about manuals; their golds are looked up again when they are judged."""
    found = {row["key"]: store.loads(json.dumps(row["trace"])) for _, row in store.rows(traces)}
    every = [one for one in manuals.read(questions) if one.id in found and one.lang == "en"]
    kept = set(sample((one.id for one in every), limit))
    for one in every:
        if one.id in kept:
            golds = [one.gold] if one.answerable else []
            yield one.id, one.question, golds, list(found[one.id].passages), "manuals"


def gather(data: Path, questions: Path, traces: Path, out: Path, limit: int) -> None:
    evaluator = MiniLM()
    refiner = Strips(evaluator, evaluator.thresholds, best=BEST, floor=-1e9)
    asked = [*posed(data, limit), *asked_of_manuals(questions, traces, limit)]
    asked = [
        one for turn in zip_longest(*(list(same) for _, same in groupby(asked, itemgetter(4)))) for one in turn if one
    ]
    lines = []
    for number, (id, question, golds, passages, of) in enumerate(asked, start=1):
        known = {p.id: p for p in passages}
        strips = [s for s in refiner.refine(question, passages) if s.kept]
        knowledge = [[store.to_json(strip), store.to_json(known[strip.passage_id])] for strip in strips]
        lines.append(json.dumps({"id": id, "of": of, "question": question, "golds": golds, "knowledge": knowledge}))
        print(f"{number} of {len(asked)}: {of}, {len(strips)} strips")
    store.write_text(out, "".join(f"{line}\n" for line in lines))


def generator(reader: str, model: str | None) -> Generator:
    """The reader as it ships, over the same local model."""
    if reader == "reader":
        return Reader(Local(threads=1, adapter=model))
    return LLMGenerator(Local(threads=1)) if reader == "llm" else Extractive(MiniLM())


def known(row: Row) -> list[tuple[Strip, Passage]]:
    """The knowledge of a question."""
    return [
        (store.from_json(Strip, strip, row["id"]), store.from_json(Passage, passage, row["id"]))
        for strip, passage in row["knowledge"]
    ]


def ask(knowledge: Path, out: Path, reader: str, model: str | None) -> None:
    out.mkdir(parents=True, exist_ok=True)
    file = out / f"{reader}.jsonl"
    done = {row["id"] for _, row in store.rows(file)} if file.exists() else set()
    made, rows = generator(reader, model), [row for _, row in store.rows(knowledge)]
    with file.open("a", encoding="utf-8") as told:
        for number, row in enumerate(rows, start=1):
            if row["id"] in done:
                continue
            sources = known(row)
            began = time.perf_counter()
            draft = made.generate(row["question"], sources)
            answer = draft if draft.refused else grounded(row["question"], draft, sources)
            seconds = time.perf_counter() - began
            told.write(
                json.dumps(
                    {
                        "id": row["id"],
                        "draft": draft.text,
                        "answer": "" if answer.refused else answer.text,
                        "seconds": seconds,
                    }
                )
                + "\n"
            )
            told.flush()
            print(f"{number} of {len(rows)}: {draft.text or 'refused'!r}")


def report(knowledge: Path, out: Path, questions: Path, verifier: Verifier) -> None:
    of_manuals = {one.id: one for one in manuals.read(questions)}
    told = {
        reader: {row["id"]: row for _, row in store.rows(out / f"{reader}.jsonl")}
        for reader in READERS
        if (out / f"{reader}.jsonl").exists()
    }
    rows = [row for _, row in store.rows(knowledge) if all(row["id"] in one for one in told.values())]
    print(f"Support by {verifier.name}; seconds are medians.\n")
    print(f"| {' | '.join(HEADS)} |\n|---|---|{'---:|' * (len(HEADS) - 2)}")
    for of in (*sorted({row["of"] for row in rows}), "all"):
        mine = [row for row in rows if of in (row["of"], "all")]
        for reader, one in told.items():
            print(line(of, reader, [(row, one[row["id"]]) for row in mine], of_manuals, verifier))


def line(of: str, reader: str, pairs: Sequence[tuple[Row, Row]], of_manuals: Manuals, verifier: Verifier) -> str:
    """A row of the table."""
    worths = [worth(row, told["answer"], of_manuals) for row, told in pairs]
    declined = [not told["answer"] for row, told in pairs if not row["golds"]]
    verdicts = [one.supported for one in verifier.support([one for pair in pairs for one in asserted(*pair)])]
    points, _ = figure(mean([100.0 * each for each in worths]), resampled(len(worths)))
    ends = f" ({points.low:+.0f} to {points.high:+.0f})" if points.low is not None else ""
    cells = [
        f"{of} ({len(pairs)})",
        reader,
        f"{worths.count(1)}",
        f"{worths.count(-1)}",
        f"{points.value:+.0f}{ends}",
        share(sum(declined), len(declined)),
        share(verdicts.count(False), len(verdicts)),
        share(verdicts.count(None), len(verdicts)),
        f"{np.median([told['seconds'] for _, told in pairs]):.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def worth(row: Row, answer: str, of_manuals: Manuals) -> int:
    """1 for a right answer, 0 for none, -1 for a wrong one."""
    if not answer:
        return 0
    by_manual = row["of"] == "manuals"
    is_right = manuals.right(of_manuals[row["id"]], answer) if by_manual else holds(answer, row["golds"])
    return 1 if row["golds"] and is_right else -1


def asserted(row: Row, told: Row) -> list[Assertion]:
    """The sentences of an answer that claim something, each with all that was read."""
    evidence = tuple(replace(passage, text=strip.text) for strip, passage in known(row))
    said = [claiming(_MARKER.sub("", told["answer"][a:b])) for a, b in sentences(told["answer"])]
    return [Assertion(one, evidence, row["question"]) for one in said if words(one)]


def share(count: int, of: int) -> str:
    return f"{count} of {of}, {count / of:.0%}" if of else "none"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    gathering = commands.add_parser("gather")
    for name in ("data", "questions", "traces", "out"):
        gathering.add_argument(name, type=Path)
    gathering.add_argument("--limit", type=int, default=50, help="questions of each set")
    asking = commands.add_parser("ask")
    reporting = commands.add_parser("report")
    for one in (asking, reporting):
        one.add_argument("knowledge", type=Path)
        one.add_argument("out", type=Path)
        one.add_argument("--model")
    asking.add_argument("--reader", choices=READERS, required=True)
    reporting.add_argument("--questions", type=Path, required=True, help="those about manuals")
    reporting.add_argument("--verifier", default="lexical")
    given = parser.parse_args()
    if given.command == "gather":
        gather(given.data, given.questions, given.traces, given.out, given.limit)
    elif given.command == "ask":
        ask(given.knowledge, given.out, given.reader, given.model)
    else:
        options = {"model": given.model} if given.model else {}
        report(given.knowledge, given.out, given.questions, components.build("verifier", given.verifier, options, {}))


if __name__ == "__main__":
    main()
