"""A run folder as an evaluation leaves it, made of the demo library: for the viewer's tests and its screenshots.

    python tests/sample_run.py FOLDER [RECORDS]

The same number of records gives the same bytes. Nothing here was measured: faults are planted at fixed rates, and the
scores, gradings and explanations say what those faults would have brought.
"""

import json
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from parts import Down
from surefoot.evaluate.diagnose.diagnosis import ScoredRun, diagnose
from surefoot.evaluate.diagnose.failures import contexts
from surefoot.evaluate.diagnose.outcomes import outcomes
from surefoot.evaluate.score.summaries import summaries
from surefoot.evaluators.lexical import Lexical
from surefoot.evidence.answer_policy import AnswerPolicy
from surefoot.evidence.policies import Threshold
from surefoot.pipeline import Pipeline
from surefoot.refiners.strips import Strips
from surefoot.retrievers._given import Given
from surefoot.rewriters.templates import Templates
from surefoot.run.store import to_json, write_text
from surefoot.types import Answer, Attribution, Claim, Gain, Passage, Quote, Record, Score, Trace, Unit
from surefoot.types.errors import SearchError
from surefoot.types.protocols import Knowledge, OnText

FACTS = (
    ("anna-tresk-guide", "In which village was the guide Anna Tresk born?", "Torvath", "people"),
    ("anna-tresk-guide", "What was the number of Anna Tresk's guide badge?", "17", "people"),
    ("anna-tresk-botanist", "Which flower did Anna Tresk describe in 1968?", "Hohrin bellflower", "people"),
    ("anton-tresk", "Who first climbed Hohrin by its north ridge?", "Anton Tresk", "people"),
    ("corvin-haddick", "In what year was the first sheet of Haddick's map printed?", "1903", "people"),
    ("hohrin-hut", "Who was the builder of the second Hohrin Hut?", "Rosa Quillen", "huts"),
    ("hohrin-hut", "At what height does the second Hohrin Hut stand?", "2,475 metres", "huts"),
    ("upper-larrow-hut", "Who built the Upper Larrow Hut in 1926?", "Josef Tamblin", "huts"),
    ("upper-larrow-hut", "Who is the present keeper of the Upper Larrow Hut?", "Luka Ferrend", "huts"),
    ("lower-larrow-hut", "Who built the Lower Larrow Hut?", "Jost Tamlin", "huts"),
    ("lower-larrow-hut", "How many beds has the Lower Larrow Hut?", "30 beds", "huts"),
    ("hut-rules", "What do members of an alpine club pay for a bed?", "half price", "huts"),
    ("ruvel-bridge", "Who built the Ruvel Bridge in 1911?", "Tomas Aldwin", "transport"),
    ("ruvel-bridge", "What carried the old wooden bridge away in October 1909?", "flood", "transport"),
    ("larrow-cable-railway", "When was the Larrow Cable Railway opened?", "3 May 1908", "transport"),
    ("larrow-cable-railway", "What are the two cars of the cable railway called?", "Gentian", "transport"),
    ("bus-timetable", "What does a day ticket of the valley bus cost?", "7.50", "transport"),
    ("sorvay-lighthouse", "When was the Sorvay Lighthouse built?", "1874", "transport"),
    ("hohrin-glacier-radar-survey", "How thick is the Hohrin Glacier at most?", "74 metres", "nature"),
    ("hohrin-glacier", "How long was the Hohrin Glacier in 2020?", "1.9 kilometres", "nature"),
    ("chamois", "How many chamois did the count of 2022 find?", "640 animals", "nature"),
    ("keddling-herbarium", "Who founded the Keddling Herbarium in 1878?", "Emil Vorse", "nature"),
    ("lantern-march", "When was the Lantern March first held?", "1871", "customs"),
    ("ambrel-midsummer-fair", "Who has organised the Ambrel Midsummer Fair since 2009?", "Greta Mollin", "customs"),
    ("cheese-dumplings", "How long do the cheese dumplings simmer?", "fifteen minutes", "customs"),
    ("ordel-rescue-service", "Who founded the Ordel Rescue Service in 1924?", "Leo Harn", "customs"),
)
ASKED = ("{}", "For a walking guide: {}", "A guest of the hut asks: {}", "For the school quiz: {}", "In one line: {}")
FAULTS = {"none": 22, "missed": 30, "split": 9, "ungrounded": 32, "wordy": 4, "no truth": 3}
SEES = {
    "answer_relevancy": "the answer",
    "context_relevancy": "the context",
    "context_adherence": "the answer",
    "factuality": "the answer",
    "context_recall": "the context",
    "grading_note": "the answer",
}
# Of each fault, the rating that each metric is planted with, in the order of SEES.
RATINGS = {
    "none": (5, 5, 5, 5, 5, 5),
    "missed": (5, 2, 1, 1, 1, 5),
    "split": (5, 2, 2, 3, 3, 5),
    "ungrounded": (5, 5, 1, 4, 5, 5),
    "wordy": (3, 5, 5, 5, 5, 2),
    "no truth": (5, 4, 5, 0, 0, 5),
}
CONFIG = {
    "pipeline": {"k": 4},
    "retriever": {"use": "bm25"},
    "evaluator": {"use": "lexical"},
    "refiner": {"use": "strips"},
    "searcher": {"use": "folder"},
    "generator": {"use": "llm"},
    "llm": {"use": "local", "temperature": 0.0},
}


def write(folder: Path, records: int = 200) -> Path:
    """Write the whole folder, and give it back."""
    made = [_record(n) for n in range(records)]
    scores = [score for n, (record, fault) in enumerate(made) for score in _scores(n, record, fault)]
    by_metric = summaries(scores, {})
    summed = [*sorted(by_metric, key=lambda one: [*SEES].index(one.metric))]
    gain = Gain("context_recall", 0.712, 0.846, 0.134, 0.071, 0.198, 0.0004, records // 2)
    lost = Gain("factuality", 0.741, 0.728, -0.013, -0.052, 0.027, 0.51, records // 2)
    diagnosis = diagnose(ScoredRun([record for record, _ in made], scores, summed, CONFIG))
    ends = outcomes(contexts([record for record, _ in made], scores, CONFIG))
    first, *others = diagnosis.items
    diagnosis = replace(diagnosis, items=(replace(first, realised=gain), *others))
    ledger = [
        {"name": "item 1", "title": first.title, "patch": first.patch, "realised": gain, "kept": True},
        {
            "name": "placebo",
            "title": first.title,
            "patch": {"pipeline": {"k": 3}},
            "realised": lost,
            "because": "a control",
        },
    ]
    about = {
        "experiment": "Demo library, BM25 baseline",
        "created": "2026-03-14T09:26:53Z",
        "kind": "evaluation",
        "judges": [f"embedded {metric}" for metric in SEES],
        "seed": 42,
        "environments": [{"python": "3.11.7", "system": "Linux 6.1 x86_64", "revision": "0f3c2a1d9b", "cores": 8}],
    }
    write_text(folder / "run.json", json.dumps(about, indent=1) + "\n")
    _lines(folder / "records.jsonl", [(record.id, record) for record, _ in made])
    _lines(folder / "scores.jsonl", [(f"{score.record_id}\t{score.metric}", score) for score in scores])
    _lines(
        folder / "attributions.jsonl", [(record.id, _attribution(record)) for record, _ in made[::4] if record.trace]
    )
    _lines(folder / "ledger.jsonl", [(str(n), row) for n, row in enumerate(ledger)])
    write_text(folder / "summaries.json", json.dumps(to_json(summed), indent=1) + "\n")
    write_text(folder / "outcomes.json", json.dumps(to_json(ends), indent=1) + "\n")
    write_text(folder / "diagnosis.json", json.dumps(to_json(diagnosis), indent=1) + "\n")
    return folder


def _lines(path: Path, rows: Sequence[tuple[str, Any]]) -> None:
    lines = (json.dumps({"key": key, "value": to_json(value)}, ensure_ascii=False) for key, value in rows)
    write_text(path, "\n".join(lines) + "\n")


@cache
def _pages(shelf: str) -> tuple[Passage, ...]:
    """The paragraphs of the library, or of the world outside it."""
    found = []
    for page in sorted((files("surefoot") / "demo" / shelf).iterdir(), key=lambda page: page.name):
        whole = page.read_text("utf-8")
        title, *paragraphs = whole.strip().split("\n\n")
        for number, text in enumerate(paragraphs, start=1):
            name = page.name.removesuffix(".md")
            source = "corpus" if shelf == "library" else "external"
            url = f"library/{page.name}" if shelf == "library" else f"https://valley.example/{name}"
            found.append(Passage(f"{name}#{number}", text, title.removeprefix("# "), source, url, whole.index(text)))
    return tuple(found)


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]{3,}", text.lower()))


def _likeness(question: str, text: str) -> float:
    asked = _words(question) - set("the was for who what how did does has many when which".split())
    return len(asked & _words(text)) / max(len(asked), 1)


def _ranked(question: str, shelf: str, count: int) -> list[Passage]:
    order = sorted(
        _pages(shelf), key=lambda passage: (-_likeness(question, f"{passage.title} {passage.text}"), passage.id)
    )
    return order[:count]


def _record(number: int) -> tuple[Record, str]:
    dice = random.Random(number)
    page, plain, truth, domain = FACTS[number % len(FACTS)]
    question = ASKED[number // len(FACTS) % len(ASKED)].format(plain)
    (fault,) = dice.choices(list(FAULTS), list(FAULTS.values()))
    gold = next(
        p for shelf in ("library", "outside") for p in _pages(shelf) if p.id.startswith(f"{page}#") and truth in p.text
    )
    trace = _trace(number, question, gold, truth, fault, dice)
    kept = {strip.passage_id for strip in trace.strips if strip.kept}
    record = Record(
        id=f"q{number:05}",
        question=question,
        contexts=tuple(p for p in (*trace.passages, *trace.external) if p.id in kept),
        answer=trace.answer.text if trace.answer else "",
        truths=() if fault == "no truth" else (truth,) if number % 7 else (truth, f"{truth} (as the page has it)"),
        note="The response should name the one thing that is asked for, in a single sentence.",
        group=f"fact-{number % len(FACTS)}",
        tags={"domain": domain, "system": "baseline"},
        trace=trace,
    )
    return record, fault


def _trace(number: int, question: str, gold: Passage, truth: str, fault: str, dice: random.Random) -> Trace:
    """The trace of corrective RAG over passages that have the fault."""
    found = [p for p in _ranked(question, "library", 6) if p.id != gold.id]
    there = gold.source == "corpus" and fault != "missed"
    passages = [gold, *found[:3]] if there else found[:4]
    if fault == "split" and there:
        passages[0] = replace(gold, text=gold.text[: gold.text.index(truth)].rstrip())
    passages = [replace(p, score=round(14.2 - 2.3 * n, 2)) for n, p in enumerate(passages)]
    outside = _ranked(question, "outside", 2)
    if gold.source == "external" and fault != "missed" and gold not in outside:
        outside[0] = gold
    searcher = Down(SearchError("the second provider is down")) if dice.random() < 0.2 else Given(tuple(outside))
    own = Lexical.thresholds
    parts = (Given(tuple(passages)), Lexical(), Threshold(own), Strips(Lexical(), own), Templates(), searcher)
    asked = Pipeline(*parts, Planted(truth, fault), answering=AnswerPolicy("mark"), config=CONFIG)
    trace = asked.run(question)
    steps = tuple(replace(step, seconds=round(0.1 * dice.random(), 4), started="") for step in trace.steps)
    return replace(trace, id=f"t{number:05}", steps=steps, created="2026-03-14T09:26:53Z")


@dataclass(frozen=True)
class Planted:
    """A generator that says the sentence with the truth, or what its fault brings."""

    truth: str
    fault: str

    def generate(self, question: str, knowledge: Knowledge, on_text: OnText = None) -> Answer:
        texts = [strip.text for strip, _ in knowledge]
        sentences = [sentence for text in texts for sentence in re.split(r"(?<=[.!?])\s", text)]
        text = next((sentence for sentence in sentences if self.truth in sentence), "")
        if not text:
            return Answer(f"It is {texts[0].split()[-1].rstrip('.')}, as far as the sources say.", model="demo-2b")
        if self.fault == "ungrounded":
            text += " It has been famous all over the country ever since, and visitors come from far away [9]."
        if self.fault == "wordy":
            text = "That is an interesting question, which many visitors ask, and there is much to say. " * 3 + text
        return Answer(text, model="demo-2b")


def _scores(number: int, record: Record, fault: str) -> Iterator[Score]:
    dice = random.Random(f"scores {number}")
    for place, metric in enumerate(SEES):
        judge = f"embedded {metric}"
        planted = RATINGS[fault][place]
        if not planted:
            yield Score(record.id, metric, None, applies=False, unscored_because="the record has no truth", judge=judge)
        elif dice.random() < 0.02:
            why = dice.choice(["the judge did not answer within 30 s", "its reply was no JSON, twice"])
            yield Score(record.id, metric, None, unscored_because=why, judge=judge)
        else:
            rating = min(5, max(1, planted - (dice.random() < 0.12) + (dice.random() < 0.06)))
            quotes = tuple(_quotes(record, metric, rating))
            reason = _reason(metric, rating, quotes)
            claims = tuple(_claims(record)) if metric == "context_adherence" else ()
            yield Score(record.id, metric, rating / 5, rating, reason, quotes, judge=judge, claims=claims)


def _claims(record: Record) -> Iterator[Claim]:
    for text in re.split(r"(?<=[.!?])\s+", (record.answer or "").split(" [")[0]):
        yield Claim(text, 0.97 if any(text in one.text for one in record.contexts or ()) else 0.04)


def _quotes(record: Record, metric: str, rating: int) -> Iterator[Quote]:
    if SEES[metric] == "the context" and record.contexts:
        yield Quote(record.contexts[0].text.split(".")[0], record.contexts[0].id, True)
    elif record.answer and rating < 4:
        yield Quote(record.answer.split(" [")[0].split(". ")[-1], "answer", True)
        yield Quote("visitors come from abroad every summer", "", False)


def _reason(metric: str, rating: int, quotes: Sequence[Quote]) -> str:
    first = f"Asked whether {SEES[metric]} serves the question, it does so in {rating} parts of five."
    return f"{first} See “{quotes[0].text}”." if quotes else first


def _attribution(record: Record) -> Attribution:
    assert record.trace
    passage = record.trace.passages[0]
    asked = _words(record.question)
    units = [
        Unit(side, match.start(), match.end(), match.group())
        for side, text in (("question", record.question), ("title", passage.title), ("text", passage.text[:420]))
        for match in re.finditer(r"\S+", text)
    ]
    dice = random.Random(record.id)
    weights = [0.7 if _words(unit.words) & asked else 0.0 for unit in units]
    values = [round(weight * dice.uniform(0.3, 1) + dice.gauss(0, 0.06), 4) for weight in weights]
    base, total = -3.2, sum(values)
    return Attribution(
        of=f"score of {passage.id}",
        question=record.question,
        passage=passage,
        units=tuple(units),
        values=tuple(values),
        errors=tuple(0.02 for _ in units),
        base=base,
        full=round(base + total, 6),
        gap=0.0,
        method="regression",
        baseline="filler",
        evaluations=512,
        seed=0,
        tolerance=0.1,
        reached=True,
        notes=("a text without words counts as -3.2",),
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200)
