"""Any evaluator can be explained: by its own score, with nothing left over, and of the words that it reads."""

import json
from pathlib import Path

import pytest

from surefoot.evaluators._cached import CachedEvaluator
from surefoot.evaluators.lexical import Lexical
from surefoot.evaluators.llm import LLMEvaluator
from surefoot.explain.grade import explain
from surefoot.llms.scripted import Scripted
from surefoot.types import Message, Passage
from surefoot.types.protocols import Evaluator

PASSAGE = Passage("p", "Tomas Aldwin built the iron bridge.", title="Ruvel")


def lexical(_: pytest.FixtureRequest) -> Evaluator:
    return Lexical()


def t5(request: pytest.FixtureRequest) -> Evaluator:
    folder: Path = request.getfixturevalue("tiny_t5")
    from surefoot.evaluators.t5 import T5

    return T5(str(folder), task="bio", device="cpu")


def cross_encoder(request: pytest.FixtureRequest) -> Evaluator:
    folder: Path = request.getfixturevalue("tiny_cross_encoder")()
    from surefoot.evaluators.cross_encoder import CrossEncoder

    return CrossEncoder(str(folder), device="cpu")


def minilm(request: pytest.FixtureRequest) -> Evaluator:
    folder: Path = request.getfixturevalue("tiny_minilm")
    from surefoot.evaluators.minilm import MiniLM

    return MiniLM(str(folder), threads=1)


def llm(_: pytest.FixtureRequest) -> Evaluator:
    """Asked again for each text, one a call."""

    def judged(messages: list[Message]) -> str:
        found = "Aldwin" in messages[-1].content
        verdict = {"rationale": "names the builder", "grade": "CORRECT" if found else "INCORRECT", "confidence": 0.9}
        return json.dumps({"1": verdict})

    return LLMEvaluator(Scripted(judged), per_call=1)


@pytest.mark.parametrize("made", [lexical, t5, cross_encoder, minilm, llm])
@pytest.mark.parametrize("method", ["exact", "regression"])
def test_the_score_is_shared_out_without_a_rest(made, method: str, request: pytest.FixtureRequest) -> None:  # type: ignore[no-untyped-def]
    """The whole is the score that the evaluator gives, and nothing of it is left unexplained."""
    evaluator = made(request)
    text = "Aldwin built it." if method == "exact" else PASSAGE.text
    passage = Passage("p", text, title="Ruvel" if method == "exact" else PASSAGE.title)
    found = explain(evaluator, "Who built it?", passage, method=method, most=60)  # type: ignore[arg-type]
    assert found.full == evaluator.grade([("Who built it?", passage)])[0].score
    assert abs(found.gap) < 1e-3
    assert any(found.values)


def test_a_language_model_owes_its_grade_to_the_word_it_looked_for(request: pytest.FixtureRequest) -> None:
    """The rest to the question, without which nothing is graded; what it has graded is remembered, as in a pipeline."""
    found = explain(CachedEvaluator(llm(request)), "Who built it?", Passage("p", "Aldwin did it."))
    values = {unit.words: value for unit, value in zip(found.units, found.values, strict=True)}
    assert max(values, key=values.__getitem__) == "Aldwin"
    assert values["Aldwin"] > 0.7 * (found.full - found.base)


def test_a_word_that_the_evaluator_does_not_read_is_worth_nothing(request: pytest.FixtureRequest) -> None:
    """T5 as PopQA is graded goes without the title."""
    folder: Path = request.getfixturevalue("tiny_t5")
    from surefoot.evaluators.t5 import T5

    found = explain(T5(str(folder), device="cpu"), "Who?", Passage("p", "Aldwin built it.", title="Ruvel"))
    assert [value for unit, value in zip(found.units, found.values, strict=True) if unit.side == "title"] == [0.0]
