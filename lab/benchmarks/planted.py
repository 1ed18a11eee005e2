"""Is a fault that was planted in a run found by the rules? Runs over a made-up country, one stage broken on purpose.

    python benchmarks/planted.py
    python benchmarks/planted.py RUNS QUESTIONS

Each run has its own country: huts, bridges and museums with invented names, each with a page of a few facts, some of
them namesakes, and some pages only outside the corpus. The whole method answers questions about them: BM25 over an
index on disk, `lexical` grades, strips, a second index outside; the language model is a script that reads: it says
the sentence that holds the answer where it is among its sources, and else that it found none; now and then it errs,
whatever is planted. Then one stage is broken. Every run is diagnosed three times: with its traces; as another
system's, contexts and answers alone; and by scores alone, from a judge that knows what is true and errs by a level now
and then. A fault is found where the first item names its stage.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, ClassVar

from surefoot import Answer, Passage, Pipeline, Thresholds, Trace
from surefoot.embedders.hashing import Hashing
from surefoot.evaluate.diagnose.diagnosis import diagnose
from surefoot.evaluate.diagnose.evidence import bears
from surefoot.evaluate.diagnose.failures import answer, read, refused
from surefoot.evaluators.lexical import Lexical
from surefoot.evidence.policies import Threshold
from surefoot.generators.llm import LLMGenerator
from surefoot.index.build import build
from surefoot.index.search import Index
from surefoot.index.splitter import split
from surefoot.llms.scripted import Scripted
from surefoot.refiners.strips import Strips
from surefoot.rewriters.templates import Templates
from surefoot.searchers.nowhere import Nowhere
from surefoot.stats.figures import wilson
from surefoot.text.words import places, sentences
from surefoot.types import Grade, Message, Record, Score, Summary
from surefoot.types.protocols import Pair

THINGS = "Hut Bridge Museum Tower Mill Chapel Ferry Theatre".split()
RELATIONS = {
    "built": ("Who built the {thing}?", "The {thing} was built by {person}, who had come for the work."),
    "keeper": ("Who keeps the {thing}?", "Today {person} keeps the {thing}, and lives beside it."),
    "opened": ("When was the {thing} opened?", "On a day of rain in {year} the {thing} was opened to everybody."),
    "village": (
        "In which village does the {thing} stand?",
        "The {thing} stands in the village of {place}, near the road.",
    ),
}
FILLERS = (
    "Visitors are asked to close the door behind them and to leave no crumbs on the tables.",
    "In winter the way there is marked with poles, which the snow covers in some years.",
    "It was painted twice, first green and then white, as old cards in the archive show.",
    "A small shop sells bread, tea and postcards between eight in the morning and five.",
    "The view from the wall reaches to the lake when there is no mist over the meadows.",
)
OUTSIDE = 4
"""One page in so many is only outside the corpus."""
JUDGE_ERRS = 0.1
"""How often the judge is a level off."""
NOISE = 0.15
"""Share of the questions that go wrong whatever is planted: the reader picks the wrong sentence, or finds none."""


@dataclass(frozen=True)
class Fact:
    question: str
    answer: str
    outside: bool


@dataclass(frozen=True)
class Country:
    inside: dict[str, str]
    outside: dict[str, str]
    facts: list[Fact]


def country(random: Random, things: int) -> Country:
    """Pages by title, and what can be asked of them."""
    inside: dict[str, str] = {}
    outside: dict[str, str] = {}
    facts: list[Fact] = []
    while len(inside) + len(outside) < things:
        kind, name = random.choice(THINGS), invented(random)
        for title in [f"{name} {kind}", f"{name} {random.choice([other for other in THINGS if other != kind])}"]:
            shelf = inside if (len(inside) + len(outside)) % OUTSIDE else outside
            shelf[title], told = page(title, random)
            facts += [Fact(question, said, shelf is outside) for question, said in told]
    random.shuffle(facts)
    return Country(inside, outside, facts)


def page(title: str, random: Random) -> tuple[str, list[tuple[str, str]]]:
    said, told = [], []
    for question, sentence in RELATIONS.values():
        new = {"person": f"{invented(random)} {invented(random)}", "year": str(random.randint(1700, 1990))}
        new["place"] = invented(random)
        said.append(sentence.format(thing=title, **new))
        told.append((question.format(thing=title), next(value for value in new.values() if value in said[-1])))
    lines = [line for pair in zip(said, random.sample(FILLERS, len(said)), strict=True) for line in pair]
    return " ".join(lines), told


def invented(random: Random) -> str:
    """A name that no word of English is."""
    return "".join(
        random.choice(("br", "d", "gr", "k", "l", "m", "tr", "v", "z")) + random.choice("aeiou") for _ in "123"
    ).title()


def reader(facts: Sequence[Fact], spoil: Callable[[str], str] = str) -> Scripted:
    """Says the sentence that holds the answer, where a source is about what is asked; `spoil` makes another of it."""

    def say(messages: Sequence[Message]) -> str:
        prompt = messages[-1].content
        asked = next(fact for fact in facts if fact.question in prompt)
        for line in prompt.splitlines()[:-1]:
            source = Passage("", line.removeprefix("> "))
            if line.startswith("> ") and bears(asked.question, source, (asked.answer,)):
                text = source.text.partition(": ")[2] or source.text
                found = [text[a:b] for a, b in sentences(text) if places(asked.answer, text[a:b])]
                other = [text[a:b] for a, b in sentences(text) if not places(asked.answer, text[a:b])]
                if Random(asked.question).random() < NOISE:
                    return other[0] if other else "Not found."
                return spoil(found[0] if found else text)
        return spoil("Not found.")

    return Scripted(say)


class Off:
    """Retrieves nothing."""

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        return ()


@dataclass(frozen=True)
class Bm25:
    index: Index
    name: str = "bm25"

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        return self.index.lexical(question, k)

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        return tuple(replace(passage, id=f"out-{passage.id}", source="external") for passage in self.retrieve(query, k))


@dataclass(frozen=True)
class Coin:
    """An evaluator that grades by nothing at all."""

    seed: int
    name: str = "coin"
    thresholds: ClassVar[Thresholds] = Thresholds(0.75, 0.4, 0.0, "coin")

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        return tuple(Grade(p.id, Random(f"{self.seed}{question}{p.id}").random()) for question, p in pairs)


@dataclass(frozen=True)
class Fault:
    """What is broken, and the stage that has to be named."""

    stages: tuple[str, ...]
    parts: Callable[[int], dict[str, Any]] = lambda seed: {}
    config: dict[str, dict[str, Any]] = field(default_factory=dict)
    thresholds: dict[str, float] = field(default_factory=dict)
    spoil: Callable[[str], str] = str
    words: int = 160
    """Of a passage."""
    ways: tuple[str, ...] = ("traces", "contexts", "scores")
    """What can show it: without a trace nobody sees grades, thresholds or searches."""


def made_up(said: str) -> str:
    return "It was Zebulon Quartermain, as everybody in the capital of Atlantis knows."


FAULTS = {
    "none": Fault(("", "reading", "refusal")),
    "retrieval off": Fault(
        ("retrieval",), lambda _: {"retriever": Off(), "searcher": Nowhere()}, {"searcher": {"use": "nowhere"}}
    ),
    "BM25 top-1": Fault(
        ("retrieval",),
        lambda _: {"k": 1, "searcher": Nowhere()},
        {"pipeline": {"k": 1}, "searcher": {"use": "nowhere"}},
    ),
    "chunks split tiny": Fault(("chunking",), words=5),
    "thresholds too strict": Fault(("thresholds",), thresholds={"upper": 1.5, "lower": 1.2}, ways=("traces",)),
    "thresholds too lax": Fault(("thresholds",), thresholds={"upper": 0.01, "lower": 0.0}, ways=("traces",)),
    "grades by chance": Fault(
        ("grading",), lambda seed: {"evaluator": Coin(seed)}, {"evaluator": {"use": "coin"}}, ways=("traces",)
    ),
    "search off": Fault(
        ("search",), lambda _: {"searcher": Nowhere()}, {"searcher": {"use": "nowhere"}}, ways=("traces",)
    ),
    "strips dropped": Fault(("refinement",), thresholds={"strip": 1.2}, ways=("traces",)),
    "ungrounded": Fault(("grounding",), spoil=made_up),
    "refusals": Fault(("refusal",), spoil=lambda _: "I do not know."),
    "truncated": Fault(
        ("truncation",),
        spoil=lambda said: " ".join(said.split()[:3]),
        config={"generator": {"max_tokens": 3}},
        ways=("traces", "contexts"),
    ),
}
"""By name."""

CONFIG: dict[str, dict[str, Any]] = {
    "retriever": {"use": "bm25"},
    "evaluator": {"use": "lexical"},
    "thresholds": {},
    "refiner": {"use": "strips"},
    "searcher": {"use": "folder", "path": "outside.db"},
    "generator": {"use": "llm"},
    "pipeline": {"k": 5},
}


def indexed(pages: dict[str, str], folder: Path, words: int) -> Index:
    """An index of the pages; where they are to be cut finer, each piece is a file of its own."""
    folder.mkdir()
    for n, (title, text) in enumerate(pages.items()):
        pieces = [text[a:b] for a, b in cut(text, words)]
        for m, piece in enumerate(pieces):
            (folder / f"{n}-{m:03}.md").write_text(f"# {title}\n\n{piece}\n", encoding="utf-8")
    build([folder], folder / "index.db", Hashing())
    return Index.open(folder / "index.db")


def cut(text: str, words: int) -> Iterator[tuple[int, int]]:
    """As documents are split; finer, between any two words."""
    if words > 20:
        return split(text, words)
    spans, start = [], 0
    while start < len(text):
        ends = [i for i, letter in enumerate(text[start:], start) if letter == " "][words - 1 : words]
        spans.append((start, ends[0] if ends else len(text)))
        start = spans[-1][1] + 1
    return iter(spans)


def run(fault: Fault, seed: int, questions: int, folder: Path) -> tuple[list[Record], dict[str, dict[str, Any]]]:
    """The records of one run, with their traces, and its configuration."""
    random = Random(seed)
    land = country(random, max(8, questions // 2))
    inside, outside = (
        indexed(pages, folder / name, fault.words) for name, pages in (("in", land.inside), ("out", land.outside))
    )
    parts = fault.parts(seed)
    evaluator = parts.pop("evaluator", Lexical())
    own = replace(evaluator.thresholds, **fault.thresholds)
    limit = fault.config.get("generator", {}).get("max_tokens", 100)
    config = {section: {**of, **fault.config.get(section, {})} for section, of in CONFIG.items()}
    config["thresholds"] = dict(fault.thresholds)
    pipeline = Pipeline(
        Bm25(inside), evaluator, Threshold(own), Strips(evaluator, own), Templates(), Bm25(outside, "folder"),
        LLMGenerator(reader(land.facts, fault.spoil), max_tokens=limit), k=5,
    )  # fmt: skip
    pipeline = replace(pipeline, **parts, config=config)
    asked = random.sample(land.facts, min(questions, len(land.facts)))
    records = [record(f"{seed}-{n}", fact, pipeline.run(fact.question)) for n, fact in enumerate(asked)]
    inside.close()
    outside.close()
    return records, config


def record(id: str, fact: Fact, trace: Trace) -> Record:
    origin = {passage.id: passage for passage in trace.passages + trace.external}
    given = tuple(replace(origin[strip.passage_id], text=strip.text) for strip in trace.strips if strip.kept)
    said = trace.answer or Answer("")
    return Record(id, fact.question, given, said.text, (fact.answer,), trace=trace)


def bare(record: Record) -> Record:
    """As another system's: it reads the passages that it retrieves whole, and says what its model says."""
    trace = record.trace
    assert trace is not None
    seen = trace.passages + trace.external
    kept = {strip.passage_id for strip in trace.strips if strip.kept}
    contexts = tuple(p for p in seen if p.id in kept) or seen
    return replace(record, contexts=contexts, answer=answer(record) or record.answer, trace=None)


def judged(records: Sequence[Record], random: Random) -> list[Score]:
    """What a judge would say who knows what is true, of records without traces."""
    scores: list[Score] = []
    for record in records:
        fed = any(bears(record.question, passage, record.truths) for passage in read(record) or ())
        torn = not fed and any(p.text.strip()[-1:] not in ".!?" for p in record.contexts or ())
        right = bool(places(record.truths[0], record.answer or ""))
        made = not right and not refused(record) and "Atlantis" in (record.answer or "")
        ratings = {
            "context_recall": 5 if fed else 1,
            "context_relevancy": 5 if fed else 2,
            "context_adherence": 1 if made else 5,
            "answer_relevancy": 2 if refused(record) else 5,
            "factuality": 5 if right else 1,
        }
        said = (
            "The text is cut in the middle." if torn else "As it should be." if fed else "It is about something else."
        )
        for metric, rating in ratings.items():
            rated = max(1, min(5, rating + (random.choice((-1, 1)) if random.random() < JUDGE_ERRS else 0)))
            scores.append(Score(record.id, metric, rated / 5, rated, said if metric == "context_relevancy" else ""))
    return scores


def summarised(scores: Sequence[Score]) -> list[Summary]:
    values: dict[str, list[float]] = defaultdict(list)
    for score in scores:
        values[score.metric].append(score.value or 0.0)
    return [summary(metric, every) for metric, every in values.items()]


def summary(metric: str, values: Sequence[float]) -> Summary:
    mean = fmean(values)
    level = "low" if mean < 0.5 else "moderate" if mean < 0.9 else "high"
    return Summary(metric, mean, None, None, min(values), max(values), len(values), 0, 0, mean, mean, level)


def named(fault: Fault, seed: int, questions: int) -> dict[str, str]:
    """The stage of the first item, for each way of looking; empty: no record was lost."""
    with tempfile.TemporaryDirectory() as folder:
        records, config = run(fault, seed, questions, Path(folder))
    others = [bare(record) for record in records]
    scores = judged(others, Random(seed))
    alone = [Record(record.id, record.question, answer=record.answer) for record in others]
    found = {
        "traces": diagnose(records, (), (), config),
        "contexts": diagnose(others, (), ()),
        "scores": diagnose(alone, scores, summarised(scores)),
    }
    return {way: diagnosis.items[0].stage if diagnosis.items else "" for way, diagnosis in found.items()}


def planted(runs: int, questions: int) -> dict[str, dict[str, Counter[str]]]:
    """By way of looking and fault, how often each stage was named."""
    counts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for name, fault in FAULTS.items():
        for seed in range(runs):
            for way, stage in named(fault, seed, questions).items():
                if way in fault.ways:
                    counts[way][name][stage] += 1
    return counts


def main(runs: int, questions: int) -> None:
    for way, faults in planted(runs, questions).items():
        print(f"\nBy {way}:\n\n| planted | found | [95 %] | named |\n| --- | --- | --- | --- |")
        for name, stages in faults.items():
            right = sum(stages[stage] for stage in FAULTS[name].stages)
            low, high = wilson(right, runs) or (0, 1)
            others = ", ".join(f"{stage or 'nothing'} {count}" for stage, count in stages.most_common())
            print(f"| {name} | {right} of {runs} | {low:.0%} to {high:.0%} | {others} |")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:] or (20, 24)))
