"""A pipeline over two passages in memory, whose model says what it is told to."""

from collections.abc import Sequence

import pytest

from surefoot.evaluators.lexical import Lexical
from surefoot.evidence.policies import Threshold
from surefoot.generators.llm import LLMGenerator
from surefoot.llms.scripted import Scripted
from surefoot.pipeline import Pipeline
from surefoot.refiners.strips import Strips
from surefoot.rewriters.verbatim import Verbatim
from surefoot.searchers.nowhere import Nowhere
from surefoot.types import Message, Passage, Strip, Trace
from surefoot.types.errors import ModelError
from surefoot.types.protocols import Knowledge


class Shelf:
    """Finds the same passages for every question."""

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        """The bridge, then a part of the hut."""
        found = (
            Passage("b", "The Ruvel Bridge was built in 1911 by Tomas Aldwin.", "Ruvel Bridge", score=2.0),
            Passage("h#2", "The Larrow Hut stands at 2,214 m.", "Larrow Hut", score=1.0),
        )
        return found[:k]


def says(messages: Sequence[Message]) -> str:
    """The bridge's builder from a source, another from memory, a made-up troll; else it fails."""
    asked = messages[-1].content
    if "closed" in asked:
        return "A troll."
    if "Who built" not in asked:
        raise ModelError("out of memory")
    return "tomas aldwin [1]" if "1911" in asked else "Nobody did."


def asked(pipeline: Pipeline, question: str) -> Trace:
    """For a pool of processes, which imports this module wherever it was started, and no module of tests."""
    return pipeline.run(question)


@pytest.fixture
def pipeline() -> Pipeline:
    """Corrective RAG over `Shelf`."""
    own = Lexical.thresholds
    return Pipeline(
        Shelf(),
        Lexical(),
        Threshold(own),
        Strips(Lexical(), own),
        Verbatim(),
        Nowhere(),
        LLMGenerator(Scripted(says)),
        config={"k": {"v": 1}},
    )


def known(*texts: str, title: str = "") -> Knowledge:
    """Whole passages as a generator gets them, under one title."""
    passages = [Passage(str(n), text, title) for n, text in enumerate(texts)]
    return [(Strip(p.id, 0, len(p.text), p.text, 1.0, kept=True), p) for p in passages]
