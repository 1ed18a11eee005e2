"""The methods that are compared: corrective RAG with and without a search, RAG that believes what it retrieves, both
of them with a critique that chooses among several answers, and the model's own memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from surefoot.evaluate.ask.choices import Posed
from surefoot.evaluate.ask.runs import Arm
from surefoot.evidence.citations import grounded
from surefoot.index.bounds import bounded
from surefoot.pipeline import Pipeline
from surefoot.run.recorder import Recorder
from surefoot.searchers.nowhere import Nowhere
from surefoot.text.questions import checked
from surefoot.types import Answer, Passage, Strip, Trace
from surefoot.types.errors import ConfigError
from surefoot.types.protocols import Generator, Knowledge, OnText, SelfCritic

Method = Callable[[Pipeline, str], Trace]
"""(pipeline, question) -> trace."""

TOP = 3
"""Passages that plain RAG reads by default."""
CANDIDATES = 3
"""Passages that `self-crag` answers from, each alone, with a generator that has no critique of its own."""

_MARKER = re.compile(r" ?\[(\d{1,3})\]")


def crag(pipeline: Pipeline, question: str) -> Trace:
    """Corrective RAG without its search: wherever it would search it finds nothing, whatever searcher is configured."""
    return (pipeline if isinstance(pipeline.searcher, Nowhere) else pipeline.but(searcher=Nowhere())).run(question)


def crag_search(pipeline: Pipeline, question: str) -> Trace:
    """Corrective RAG as configured, with its searcher."""
    return pipeline.run(question)


def self_crag(pipeline: Pipeline, question: str) -> Trace:
    """`crag` with a critique that chooses among several answers: the generator's own, over what the corpus has, what
    came from outside, and both, as the paper's Self-CRAG; else that of `Critiqued`."""
    return crag(_critiqued(pipeline, "three"), question)


def self_crag_search(pipeline: Pipeline, question: str) -> Trace:
    """`self_crag` with the configured searcher."""
    return crag_search(_critiqued(pipeline, "three"), question)


def rag(pipeline: Pipeline, question: str, top: int = TOP) -> Trace:
    """Plain RAG: the same generator reads the first `top` passages, whole and ungraded; its answer is held against them
    as that of corrective RAG is against its strips."""
    run, passages = retrieved(pipeline, question)
    read = [(Strip(p.id, 0, len(p.text), p.text, p.score, kept=True), p) for p in passages[:top]]
    run.set("strips", tuple(strip for strip, _ in read))
    return _generated(pipeline, run, read)


def self_rag(pipeline: Pipeline, question: str, top: int = TOP) -> Trace:
    """Self-RAG: `rag` with an answer from each of its passages alone, of which a critique chooses one: the generator's
    own, or that of `Critiqued`."""
    return rag(_critiqued(pipeline, "each", top), question, top)


def retrieved(pipeline: Pipeline, question: str) -> tuple[Recorder, tuple[Passage, ...]]:
    """The recorder of a question for which only the retriever was asked so far, and the passages that it found."""
    run = Recorder(checked(question), pipeline.config)
    find = pipeline.retriever.retrieve
    passages = run.step("retrieve", bounded, find, run.question, pipeline.k, fallback=(), instead="nothing retrieved")
    run.set("passages", passages)
    return run, passages


def none(pipeline: Pipeline, question: str) -> Trace:
    """The generator's answer without any source."""
    return _generated(pipeline, Recorder(checked(question), pipeline.config), [])


READS: dict[str, Callable[[Pipeline, str, int], Trace]] = {"rag": rag, "self-rag": self_rag}
"""The methods that may say how many passages they read."""

METHODS: dict[str, Method] = {
    "none": none,
    "rag": rag,
    "self-rag": self_rag,
    "crag": crag,
    "crag+search": crag_search,
    "self-crag": self_crag,
    "self-crag+search": self_crag_search,
}


def arms(names: Sequence[str], searches: bool, top: int = TOP) -> tuple[Arm, ...]:
    """Arms for the named methods, in order; "rag:10" reads ten passages, "rag" reads `top`, and so does "self-rag". No
    names: "crag+search" if `searches` (a searcher is configured), else "crag". Raises ConfigError for an unknown name,
    one named twice, and a search without a searcher."""
    found = [_arm(name, searches, top) for name in names or ["crag+search" if searches else "crag"]]
    named = [arm.name for arm in found]
    if twice := [name for name in named if named.count(name) > 1]:
        raise ConfigError(f"the method '{twice[0]}' is named twice")
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Critiqued:
    """Answers from each of the best `candidates` passages alone and keeps the best-supported answer.

    For a generator that does not criticise itself, as `self_rag` does. Follows Self-RAG (Asai et al. 2024) without its
    reflection tokens: support (ISSUP) is the share of citations that
    `grounding.grounded` verifies, and relevance (ISREL) is the evaluator's best score of the passage's strips. Support
    decides, then relevance; a refusal comes last. Left out: Self-RAG's trained token probabilities, its decision
    whether to retrieve, and usefulness (ISUSE).

    Cost: one call of the inner generator per candidate, where CRAG makes one in all.
    """

    generator: Generator
    candidates: int = CANDIDATES

    def generate(self, question: str, knowledge: Knowledge, on_text: OnText = None) -> Answer:
        """The best-supported candidate in one piece; its markers count the whole of `knowledge`."""
        groups = self._passages(knowledge)
        if not groups:
            return self.generator.generate(question, knowledge, on_text)
        best = max((self._candidate(question, knowledge, group) for group in groups), key=lambda made: made[0])[1]
        if on_text:
            on_text(best.text)
        return best

    def _passages(self, knowledge: Knowledge) -> list[list[int]]:
        """The places in `knowledge` of each of the best passages' strips, the best passage first."""
        groups: dict[str, list[int]] = {}
        for place, (strip, _) in enumerate(knowledge):
            groups.setdefault(strip.passage_id, []).append(place)
        return sorted(groups.values(), key=lambda group: -_relevance(knowledge, group))[: self.candidates]

    def _candidate(self, question: str, knowledge: Knowledge, group: Sequence[int]) -> tuple[tuple[float, ...], Answer]:
        """The worth of an answer from these strips alone, and the answer."""
        own = [knowledge[place] for place in group]
        draft = self.generator.generate(question, own)
        answer = grounded(question, draft, own)
        if answer.refused:
            return (0.0, 0.0, _relevance(knowledge, group)), replace(draft, text=_MARKER.sub("", draft.text))
        quoted = sum(citation.quoted for citation in answer.citations) / len(answer.citations)
        marked = _MARKER.sub(lambda marker: _placed(int(marker[1]), group), answer.text)
        return (1.0, quoted, _relevance(knowledge, group)), replace(draft, text=marked)


def _critiqued(pipeline: Pipeline, paragraphs: str, candidates: int = CANDIDATES) -> Pipeline:
    """The pipeline with its generator's own critique, or with `Critiqued` where it has none."""
    posed = pipeline.generator
    own = posed.generator if isinstance(posed, Posed) else posed
    if not isinstance(own, SelfCritic):
        return replace(pipeline, generator=Critiqued(posed, candidates))
    critic: Generator = own.with_critique(paragraphs)
    return replace(pipeline, generator=replace(posed, generator=critic) if isinstance(posed, Posed) else critic)


def _relevance(knowledge: Knowledge, group: Sequence[int]) -> float:
    scores = [score for place in group if (score := knowledge[place][0].score) is not None]
    return max(scores, default=float("-inf"))


def _placed(marker: int, group: Sequence[int]) -> str:
    """The marker of the same strip in the whole knowledge; empty for a strip that does not exist."""
    return f" [{group[marker - 1] + 1}]" if 1 <= marker <= len(group) else ""


def _generated(pipeline: Pipeline, run: Recorder, knowledge: list[tuple[Strip, Passage]]) -> Trace:
    answer: Answer | None = run.step(
        "generate", pipeline.generator.generate, run.question, knowledge, fallback=None, instead="no answer"
    )
    if answer:
        run.set("answer", pipeline.held(answer, knowledge, run))
    return run.trace(error=None if answer else "the generator failed")


def _arm(name: str, searches: bool, top: int) -> Arm:
    method, colon, number = name.partition(":")
    if method not in METHODS or (colon and not (method in READS and number.isdecimal() and int(number) > 0)):
        known, reading = ", ".join(METHODS), " and ".join(READS)
        raise ConfigError(
            f"no method called '{name}'; there are: {known}; {reading} may say how many passages, as in rag:10"
        )
    if method.endswith("+search") and not searches:
        raise ConfigError(
            f"{name} needs a searcher, and none is configured; name one, as in --set searcher.use=wikipedia"
        )
    if method in READS:
        read = int(number) if colon else top
        return Arm(f"{method}:{read}", lambda pipeline, example: READS[method](pipeline, example.question, read))
    return Arm(method, lambda pipeline, example: METHODS[method](pipeline, example.question))
