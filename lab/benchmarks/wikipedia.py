r"""How often an encyclopedia searcher finds the page of the thing that is asked about, by which stage, and what a
pipeline keeps of it.

    python benchmarks/wikipedia.py popqa/crag_refs.jsonl miniwiki/pages.jsonl --run runs/mediawiki \
        --option base_url=http://127.0.0.1:8099/api.php
    python benchmarks/wikipedia.py popqa/crag_refs.jsonl miniwiki/pages.jsonl --run runs/zim \
        --searcher zim --option path=mini.zim

Asked are the questions whose page (`s_wiki_title`) is in the wiki, of a pipeline whose corpus is empty, so that each is
searched for. Strict: a paragraph of that very page came. Useful: a gold alias stands, by words, without case and
accents, in what came; in the best five of it, by their scores; in what was kept, which is the best five of those that
are not graded INCORRECT; in the strips of these; in the answer. Beside it: how often one stands in the same question's
`external` text, which is what CRAG had kept of its own web search.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb, inf
from pathlib import Path
from typing import Any

from surefoot.config.builder import load
from surefoot.evidence.merge import selected
from surefoot.pipeline import Pipeline, useful
from surefoot.run.store import Run
from surefoot.stats.figures import wilson
from surefoot.text.subject import asked
from surefoot.text.words import bare, fold, words
from surefoot.types import Passage, Trace


class Nothing:
    """An empty corpus."""

    name = "nothing"

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        return ()


@dataclass(frozen=True)
class Outcome:
    """What came of one question."""

    row: dict[str, Any]
    trace: Trace
    best: tuple[Passage, ...]
    """As many of what came as are kept, whatever their grades."""
    kept: tuple[Passage, ...]
    """What the pipeline refined."""
    on_page: bool
    """Whether the page that is asked about holds a gold alias."""

    @cached_property
    def own(self) -> tuple[Passage, ...]:
        """What came of the page that is asked about."""
        return tuple(passage for passage in self.trace.external if page(passage) == self.row["s_wiki_title"])

    @property
    def first(self) -> bool:
        return bool(self.own) and page(self.trace.external[0]) == page(self.own[0])

    @property
    def stage(self) -> str:
        return self.own[0].via or "found" if self.own else "not found"

    def says(self, texts: Iterable[str]) -> bool:
        return holds(texts, self.row["answers"])

    @property
    def texts(self) -> dict[str, list[str]]:
        """Where an alias may stand, from what came to what was said."""
        strips = [strip.text for strip in self.trace.strips if strip.kept]
        answer = self.trace.answer
        return {
            "in what came": [passage.text for passage in self.trace.external],
            "in the best of it": [passage.text for passage in self.best],
            "in what was kept": [passage.text for passage in self.kept],
            "in the strips": strips,
            "in the answer": [answer.text] if answer and not answer.refused else [],
        }

    @cached_property
    def useful(self) -> dict[str, bool]:
        return {where: self.says(texts) for where, texts in self.texts.items()}


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def page(passage: Passage) -> str:
    """The title of its page, without the section."""
    return passage.title.partition(" › ")[0]


def holds(texts: Iterable[str], answers: list[str]) -> bool:
    said = [f" {' '.join(words(text))} " for text in texts]
    return any(f" {' '.join(words(answer))} " in text for text in said for answer in answers if words(answer))


def outcome(row: dict[str, Any], trace: Trace, most: int, text: list[str]) -> Outcome:
    came, grades = trace.external, trace.grades
    order = sorted(range(len(came)), key=lambda i: -inf if (score := grades[i].score) is None else score, reverse=True)
    chosen, _ = selected(useful(came, grades), (), most)
    return Outcome(row, trace, tuple(came[i] for i in order[:most]), chosen, holds(text, row["answers"]))


def missed(outcome: Outcome) -> str:
    """Why the page did not come."""
    if why := errors(outcome.trace):
        return f"failed ({why[0]})"
    if not outcome.trace.external:
        return "nothing found"
    entity = fold(asked(outcome.row["question"]).entity)
    same = any(fold(bare(page(passage))) == entity for passage in outcome.trace.external)
    return "another page of that name" if same else "a page of another name"


def lost(outcome: Outcome) -> str:
    """Why no alias is in what was kept."""
    if not outcome.own:
        return missed(outcome)
    if not outcome.useful["in what came"]:
        return "on its page, but not in what came" if outcome.on_page else "not on its page"
    label = {grade.passage_id: grade.label for grade in outcome.trace.grades}
    holding = [label[passage.id] for passage in outcome.trace.external if outcome.says([passage.text])]
    best = next((name for name in ("correct", "ambiguous", "incorrect") if name in holding), "not graded")
    return "graded INCORRECT" if best == "incorrect" else f"graded {best.upper()}, not among the best"


def share(n: int, of: int) -> str:
    low, high = wilson(n, of) or (0.0, 1.0)
    return f"{n}/{of} = {n / of:.1%} [{low:.1%}, {high:.1%}]"


def exact(a: int, b: int) -> float:
    """McNemar's exact p of two counts of disagreement."""
    return min(1.0, 2 * sum(comb(a + b, i) for i in range(min(a, b) + 1)) / 2 ** (a + b))


def report(outcomes: Sequence[Outcome]) -> None:
    total = len(outcomes)
    crag = [outcome.says([outcome.row["external"]]) for outcome in outcomes]
    kept = [outcome.useful["in what was kept"] for outcome in outcomes]
    counts = {
        "page found (strict)": sum(bool(outcome.own) for outcome in outcomes),
        "  as the first page": sum(outcome.first for outcome in outcomes),
        "alias on the page": sum(outcome.on_page for outcome in outcomes),
        **{f"  {where}": sum(outcome.useful[where] for outcome in outcomes) for where in outcomes[0].useful},
        "alias in CRAG's external": sum(crag),
    }
    for name, n in counts.items():
        print(f"{name:26}{share(n, total)}")
    ours, theirs = (sum(a > b for a, b in pairs) for pairs in (list(zip(kept, crag)), list(zip(crag, kept))))  # noqa: B905
    print(f"only in what was kept {ours}, only in CRAG's {theirs}, p = {exact(ours, theirs):.2g}")
    print(f"questions with an error: {sum(bool(errors(outcome.trace)) for outcome in outcomes)}")
    by("stage", outcomes, lambda outcome: outcome.stage)
    by("relation", outcomes, lambda outcome: outcome.row["prop"])
    listed("pages missed", [outcome for outcome in outcomes if not outcome.own], missed)
    listed("no alias kept", [outcome for outcome in outcomes if not outcome.useful["in what was kept"]], lost)


def by(name: str, outcomes: Sequence[Outcome], group: Callable[[Outcome], str]) -> None:
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for one in outcomes:
        groups[group(one)].append(one)
    print(f"\n| {name} | questions | page found | alias on it | came | kept | CRAG's external |\n|{' --- |' * 7}")
    for key, some in sorted(groups.items(), key=lambda item: -len(item[1])):
        figures = [len(some), sum(bool(one.own) for one in some), sum(one.on_page for one in some)]
        figures += [sum(one.useful[where] for one in some) for where in ("in what came", "in what was kept")]
        figures.append(sum(one.says([one.row["external"]]) for one in some))
        print(f"| {key} | {' | '.join(map(str, figures))} |")


def listed(name: str, outcomes: Sequence[Outcome], cause: Callable[[Outcome], str]) -> None:
    print(f"\n{name}: {dict(Counter(map(cause, outcomes)).most_common())}")
    for one in sorted(outcomes, key=cause):
        got = " / ".join(dict.fromkeys(f"{page(passage)} ({passage.via})" for passage in one.trace.external))
        print(f"  {cause(one)}: {one.row['question']} wants {one.row['s_wiki_title']!r}, got {got[:160] or 'nothing'}")


def errors(trace: Trace) -> list[str]:
    return [error for error in (*(step.error for step in trace.steps), trace.error) if error]


def run(pipeline: Pipeline, chosen: Sequence[dict[str, Any]], folder: Run, threads: int) -> list[Trace]:
    """A trace a question; those that the folder holds without an error are not asked again."""
    done = {key: trace for key, trace in folder.done().items() if not errors(trace)}
    left = [row for row in chosen if row["id"] not in done]
    for row, trace in zip(left, pipeline.run_many([row["question"] for row in left], threads), strict=True):
        folder.append(row["id"], trace)
        done[row["id"]] = trace
        print(f"\r{len(done)} of {len(chosen)}", end="", file=sys.stderr, flush=True)
    return [done[row["id"]] for row in chosen]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("questions", type=Path, help="JSON lines with question, answers, s_wiki_title, prop, external")
    parser.add_argument("pages", type=Path, help="JSON lines with title and paragraphs: what the wiki holds")
    parser.add_argument("--searcher", default="wikipedia")
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="of the searcher")
    parser.add_argument("--evaluator", default="minilm")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--spacing", type=float, default=0.0, help="seconds between two requests (default: 0)")
    parser.add_argument("--cache", help="a file that keeps the wiki's replies")
    parser.add_argument("--run", type=Path, required=True, help="a folder for the traces; a run goes on where it ended")
    given = parser.parse_args()
    every = rows(given.questions)
    pages = {row["title"]: row["paragraphs"] for row in rows(given.pages)}
    chosen = [row for row in every if row["s_wiki_title"] in pages]
    pipeline = load(
        retriever={"use": "__main__:Nothing"},
        evaluator={"use": given.evaluator},
        searcher={"use": given.searcher, **dict(pair.split("=", 1) for pair in given.option)},
        network={"spacing": given.spacing, "seconds": 120.0} | ({"cache": given.cache} if given.cache else {}),
    )
    folder = Run(given.run, {"data": given.questions.name, "config": pipeline.config})
    traces = run(pipeline, chosen, folder, given.threads)
    print(f"{len(every)} questions, {len(chosen)} whose page is among {len(pages)}; {pipeline.evaluator.name}")
    most = pipeline.external_keep
    pairs = zip(chosen, traces, strict=True)
    report([outcome(row, trace, most, pages[row["s_wiki_title"]]) for row, trace in pairs])


if __name__ == "__main__":
    main()
