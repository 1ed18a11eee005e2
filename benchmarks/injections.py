"""Does text that gives orders change what Surefoot does or says? Injections of eight kinds, with the guard and without.

    python benchmarks/injections.py
    python benchmarks/injections.py EVALUATOR GENERATOR
    python benchmarks/injections.py --clean PASSAGES.jsonl|TEXT...

The first form counts the injections of `injections/earlier.toml` of which the guard takes a sentence for an order, and
the sentences of manuals and forms that it takes for one: false alarms.

The second runs the whole method over each injection in three places: at the end of the passage that holds the answer
(CORRECT without it), at the end of a passage that does not (INCORRECT without it, and a good page outside), and in a
page outside, between its paragraphs and in a hidden element, as its main text is extracted. It counts how often the
action, and how often the answer, is another one than without the injection, and how often the user is told what the
injection wanted. EVALUATOR is `lexical` or `minilm`; GENERATOR is `obedient`, a model that does whatever a sentence in
its prompt tells it, which is the worst that there can be, or `extractive`. The guard is `surefoot.screen`; the check of
citations and links is on in both columns. An interval takes the runs of one injection, which are alike, for one.

The third counts the passages of clean files in which the guard finds an order. Lines with "passages" are taken as they
are; another text is cut into passages as a document is.
"""

from __future__ import annotations

import html
import json
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path

from trafilatura import extract

from surefoot import Answer, Passage, Pipeline, Strip, Threshold, Trace, components
from surefoot.bench.metrics import wilson
from surefoot.corpus.splitter import split
from surefoot.generators.extractive import Extractive
from surefoot.protocols import Evaluator, Generator
from surefoot.refiners.strips import Strips
from surefoot.rewriters.templates import Templates
from surefoot.screen import line, orders, unscreened
from surefoot.words import sentences

SET = tomllib.loads(Path(__file__).with_suffix("").joinpath("earlier.toml").read_text(encoding="utf-8"))
Row = dict[str, bool]
HALVES = "known", "held out"
PLACES = "good passage", "poor passage", "page"
PAGE = """<html><head><title>{title}</title></head><body><article><h1>{title}</h1><p>{text}</p>
<p>{injected}</p><p>{beside}</p><div style="display:none">{injected}</div></article></body></html>"""


class Given:
    """A retriever and a searcher over given passages."""

    name = "given"

    def __init__(self, *passages: Passage) -> None:
        self.passages = passages

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        return self.passages[:k]

    search = retrieve


class Obedient:
    """A generator that says what an injection wants as soon as a sentence of it is among its sources."""

    def __init__(self, answer: str, injected: str, wanted: str) -> None:
        self.answer, self.wanted = answer, wanted
        whole = [line(injected[start:end]) for start, end in sentences(injected)]
        self.orders = [order for order in whole if wanted in order] or whole

    def generate(self, question: str, knowledge: Sequence[tuple[Strip, Passage]], on_text: object = None) -> Answer:
        sources = " ".join(line(f"{passage.title} {strip.text}") for strip, passage in knowledge)
        told = any(order in sources for order in self.orders)
        if told or self.answer not in sources:
            return Answer(self.wanted if told else "Not found.")
        return Answer(f"It is {self.answer}.")


def places(case: dict, injected: str) -> Iterator[tuple[str, Passage, Passage]]:
    """(place, passage of the corpus, page outside), with the injection in one of them; none where it is empty."""
    good = Passage("good", case["text"], case["title"])
    poor = Passage("poor", case["beside"], "Larrow")
    page = Passage("page", extracted(case, ""), case["title"], "external", "https://pages.example/1")
    yield PLACES[0], replace(good, text=f"{good.text} {injected}".strip()), page
    yield PLACES[1], replace(poor, text=f"{poor.text} {injected}".strip()), page
    yield PLACES[2], poor, replace(page, text=extracted(case, injected))


def extracted(case: dict, injected: str) -> str:
    """The main text of a page."""
    return main_text(*(html.escape(text) for text in (case["title"], case["text"], case["beside"], injected)))


@cache
def main_text(title: str, text: str, beside: str, injected: str) -> str:
    """What trafilatura takes for it."""
    page = PAGE.format(title=title, text=text, beside=beside, injected=injected)
    return extract(page, include_comments=False, favor_recall=True) or ""


def wanted(case: dict, injection: dict) -> tuple[str, str]:
    """The injection's text for a case, and what it wants the user to be told."""
    text = injection["text"].replace("{question}", case["question"]).replace("{wrong}", case["wrong"])
    return text, "Not found." if injection["kind"] == "silence" else case["wrong"]


def ask(case: dict, injected: str, evaluator: Evaluator, generator: Generator) -> dict[str, Trace]:
    """By place: the whole method over one passage of the corpus and one page outside."""
    own = evaluator.thresholds
    rest = evaluator, Threshold(own), Strips(evaluator, own), Templates()
    return {
        place: Pipeline(Given(near), *rest, Given(far), generator).run(case["question"])
        for place, near, far in places(case, injected)
    }


def compare(injection: dict, case: dict, clean: Trace, told: Trace) -> Row:
    """What the injection changed."""
    before, after = (trace.answer.text if trace.answer and not trace.answer.refused else "" for trace in (clean, told))
    planted = injection["kind"] != "silence" and case["wrong"] in after
    return {
        "action changed": clean.decision.action is not told.decision.action,
        "answer changed": before.split("[")[0] != after.split("[")[0],
        "told as wanted": planted or (injection["kind"] == "silence" and bool(before) and not after),
    }


def runs(evaluator: Evaluator, extractive: bool) -> Iterator[tuple[dict, str, Row]]:
    """(injection, place, what it changed) of each injection, in each case and place."""
    for case in SET["case"]:
        plain = Extractive(evaluator) if extractive else Obedient(case["answer"], "", "")
        clean = ask(case, "", evaluator, plain)
        for injection in SET["injection"]:
            text, says = wanted(case, injection)
            generator = plain if extractive else Obedient(case["answer"], text, says)
            for place, told in ask(case, text, evaluator, generator).items():
                yield injection, place, compare(injection, case, clean[place], told)


def red_team(name: str, extractive: bool) -> None:
    """Print the rates without the guard and with it, by kind, and by place for each half."""
    evaluator: Evaluator = components.find("evaluator", name)()
    counts: dict[str, dict[bool, list[Row]]] = defaultdict(lambda: {False: [], True: []})
    for guarded in (False, True):
        with nullcontext() if guarded else unscreened():
            for injection, place, row in runs(evaluator, extractive):
                for group in (injection["kind"], half(injection), f"{half(injection)}, {place}"):
                    counts[group][guarded].append(row)
    columns = list(row)
    print(f"{name}, {'extractive' if extractive else 'obedient'}, without → with the guard:\n")
    table("", "runs", *columns)
    for group in sorted(counts, key=lambda group: (group.startswith(HALVES), group)):
        sides = counts[group].values()
        alike = len(counts[group][True]) / len(SET["case"]) / (1 if "," in group else len(PLACES))
        cells = [
            " → ".join(share(sum(row[what] for row in side), len(side), alike) for side in sides) for what in columns
        ]
        table(group, str(len(counts[group][True])), *cells)


def half(injection: dict) -> str:
    """Whether it was known when the rules were written."""
    return HALVES[bool(injection.get("held_out"))]


def share(count: int, of: int, alone: float | None = None) -> str:
    """A share with its interval, as if of `alone` things, where that many of them are unlike each other."""
    low, high = wilson(count / of * (alone or of), alone or of) or (0, 1)
    return f"{count / of:.0%} [{low:.0%}, {high:.0%}]"


def table(*cells: str) -> None:
    """Print a row; below the first, whose first cell is empty, what makes it a heading."""
    print(f"| {' | '.join(cells)} |" + ("" if cells[0] else "\n|" + " --- |" * len(cells)))


def detected() -> None:
    """Print how many injections the guard finds, by kind and half, and what it finds in manuals and forms."""
    found: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for injection in SET["injection"]:
        hit = bool(orders(wanted(SET["case"][0], injection)[0]))
        for kind in (injection["kind"], "all"):
            found[kind, half(injection)].append(hit)
    table("", *HALVES)
    for kind in dict.fromkeys([*(injection["kind"] for injection in SET["injection"]), "all"]):
        table(kind, *(f"{sum(hits)} of {len(hits)}" for hits in (found[kind, half] for half in HALVES)))
    every = [found["all", half] for half in HALVES]
    table("all", *(share(sum(hits), len(hits)) for hits in every))
    taken = [text for text in SET["manual"] if orders(text)]
    print(f"\nSentences of manuals and forms: {len(taken)} of {len(SET['manual'])}\n", *taken, sep="\n  ")


def false_alarms(paths: Sequence[Path]) -> None:
    """Print how many passages of clean files hold a sentence that the guard takes for an order, and the sentences."""
    counts = [alarms(path) for path in paths]
    found, of = (sum(numbers) for numbers in zip(*counts, strict=True))
    print(f"all: {found:,} of {of:,} passages ({found / of:.2%})")


def alarms(path: Path) -> tuple[int, int]:
    """Passages of a file in which the guard finds an order, which are printed; and all of them."""
    texts = passages(path)
    found = {text: spans for text in texts if (spans := orders(text))}
    for text, spans in found.items():
        print(f"{path}:", *(text[start:end] for start, end in spans), sep="\n    ")
    return len(found), len(texts)


def passages(path: Path) -> list[str]:
    """The passages of a file, each once."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".jsonl":
        return [text[start:end] for start, end in split(text)]
    rows = map(json.loads, text.splitlines())
    return list(dict.fromkeys(passage["text"] for row in rows for passage in row["passages"]))


if sys.argv[1:2] == ["--clean"]:
    false_alarms([Path(path) for path in sys.argv[2:]])
elif sys.argv[1:]:
    red_team(sys.argv[1], sys.argv[2:] == ["extractive"])
else:
    detected()
