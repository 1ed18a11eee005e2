"""Parts of a pipeline that do as they are told, and the pipeline of them."""

from collections.abc import Sequence
from typing import Any

from surefoot import Pipeline, Threshold
from surefoot.generators.llm import LLMGenerator
from surefoot.llms.scripted import Scripted
from surefoot.refiners.strips import Strips
from surefoot.types import Action, Grade, Passage, RewrittenQuery, Step, Thresholds, Trace
from surefoot.types.errors import ComponentError
from surefoot.types.protocols import Evaluator, Pair

QUESTION = "Who built the Ruvel Bridge?"
GOOD = Passage("good", "The Ruvel Bridge was built in 1911 by Tomas Aldwin.", "Ruvel Bridge")
HALF = Passage("half", "The Ruvel Bridge is of iron, and the mayor opened it.", "Ruvel Bridge")
POOR = Passage("poor", "Boil the dumplings until they float.", "Dumplings")
OUTSIDE = Passage("out", "Tomas Aldwin built the Ruvel Bridge, says the almanac.", "Almanac", "external", "http://a/1")
AD = Passage("ad", "Buy dumplings here.", "Dumplings", "external", "http://a/2")
ANSWER = "Tomas Aldwin built it."


class Shelf:
    """A retriever and a searcher over given passages; it remembers what it was asked."""

    name = "shelf"

    def __init__(self, *passages: Passage) -> None:
        self.passages = passages
        self.asked: list[str] = []

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        self.asked.append(question)
        return self.passages[:k]

    search = retrieve


class Known:
    """An evaluator that looks a text's score up by a word that it holds; -1 where it holds none of them."""

    name = "known"
    thresholds = Thresholds(upper=0.5, lower=-0.5, strip=-0.5, evaluator="known")

    def __init__(self, **scores: float | None) -> None:
        self.scores = scores | {word: at for word, at in (("Aldwin", 1.0), ("iron", 0.0)) if word not in scores}
        self.asked: list[Pair] = []

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        self.asked += pairs
        return tuple(Grade(p.id, self._score(p.text), reason="looked up") for _, p in pairs)

    def _score(self, text: str) -> float | None:
        return next((score for word, score in self.scores.items() if word in text), -1.0)


class Queries:
    """A rewriter with given queries, or the question; it remembers each question."""

    def __init__(self, *queries: str | RewrittenQuery) -> None:
        self.queries = queries
        self.asked: list[str] = []

    def rewrite(self, question: str, seen: Sequence[Passage]) -> tuple[Any, ...]:
        self.asked.append(question)
        return self.queries or (question,)


class Down:
    """Every part at once, and each of them fails when it is asked to work."""

    name = "known"
    thresholds = Known.thresholds

    def __init__(self, error: ComponentError) -> None:
        self.error = error

    def fail(self, *_: object) -> Any:
        raise self.error

    retrieve = grade = refine = rewrite = search = generate = support = fail


def pipeline(*passages: Passage, evaluator: Evaluator | None = None, says: str = ANSWER, **parts: Any) -> Pipeline:
    graded = evaluator or Known()
    built: dict[str, Any] = {
        "retriever": Shelf(*passages),
        "evaluator": graded,
        "policy": Threshold(graded.thresholds),
        "refiner": Strips(graded, graded.thresholds),
        "rewriter": Queries("Ruvel Bridge"),
        "searcher": Shelf(OUTSIDE),
        "generator": LLMGenerator(Scripted(lambda _: says)),
    }
    return Pipeline(**(built | parts))


def kept(trace: Trace) -> list[str]:
    return [strip.passage_id for strip in trace.strips if strip.kept]


def step(trace: Trace, name: str) -> Step:
    return next(step for step in trace.steps if step.name == name)


def action(trace: Trace) -> Action:
    return trace.decision.action
