"""Answers that stand in the evidence word for word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from surefoot.contracts import verify
from surefoot.evaluators.lexical import Lexical
from surefoot.generators.extractive import Extractive
from surefoot.protocols import Pair
from surefoot.types import Answer, Grade, Passage, Strip, Thresholds

QUESTION = "Who built the Ruvel Bridge?"


class Pointing:
    """An evaluator that points at what stands in «», and is as sure as the number before it says."""

    name = "pointing"
    thresholds = Thresholds(0.5, 0.1, 0.1, "pointing")

    def __init__(self, calibrated: bool = True) -> None:
        self.calibrated = calibrated
        self.seen: list[Pair] = []

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """The span is what the marks hold, without them."""
        self.seen += pairs
        return tuple(self._grade(passage) for _, passage in pairs)

    def _grade(self, passage: Passage) -> Grade:
        start, end = passage.text.find("«") + 1, passage.text.find("»")
        chance = float(passage.text.split()[0]) if self.calibrated else None
        return Grade(passage.id, 1.0, chance, span=(start, end) if end > start > 0 else None)


def known(*texts: str) -> list[tuple[Strip, Passage]]:
    passages = [Passage(str(n), f"Before. {text} After.", "Ruvel Bridge") for n, text in enumerate(texts)]
    return [(Strip(p.id, 8, 8 + len(t), t, 1.0, kept=True), p) for p, t in zip(passages, texts, strict=True)]


def answered(*texts: str, calibrated: bool = True) -> Answer:
    return Extractive(Pointing(calibrated), whole=False).generate(QUESTION, known(*texts))


def test_it_says_what_the_evaluator_points_at() -> None:
    """Word for word, cited, and without a language model: the model is the evaluator."""
    assert answered("0.9 Built by «Tomas Aldwin» in 1911.") == Answer("Tomas Aldwin [1]", model="pointing")


def test_the_strip_is_graded_and_not_its_passage() -> None:
    """Under its passage's title: what refinement has already paid for."""
    evaluator = Pointing()
    Extractive(evaluator).generate(QUESTION, known("0.9 «A»"))
    assert evaluator.seen == [(QUESTION, Passage("0", "0.9 «A»", "Ruvel Bridge"))]


def test_strips_that_agree_add_up() -> None:
    """Two that say the same outweigh one that is surer; case and marks make no difference."""
    assert answered("0.9 «Josef»", "0.5 «Tomas Aldwin»", "0.6 «tomas ALDWIN»").text == "tomas ALDWIN [3]"
    assert answered("0.9 «Josef»", "0.3 «Tomas Aldwin»", "0.4 «Tomas Aldwin»").text == "Josef [1]"


def test_the_surest_strip_is_cited() -> None:
    """Of those that agree; of equals the first, which is the better retrieved."""
    assert answered("0.3 «A»", "0.8 «A»", "0.5 «A»").text == "A [2]"
    assert answered("0.3 «A»", "0.3 «A»").text == "A [1]"


def test_it_refuses_where_nothing_is_pointed_at() -> None:
    """However good the strips are; and where there are none."""
    assert answered("0.9 nothing here") == Answer("", refused=True, model="pointing")
    assert answered() == Answer("", refused=True, model="pointing")


@pytest.mark.parametrize(("chance", "refused"), [("0.09", True), ("0.1", False)])
def test_it_refuses_where_no_strip_is_likely_enough(chance: str, refused: bool) -> None:
    """Many unlikely ones do not make a likely one."""
    assert answered(*[f"{chance} «A»"] * 9).refused is refused


def test_an_evaluator_without_probabilities_says_it_by_pointing() -> None:
    """Each strip then counts the same."""
    assert answered("x «A»", "x «B»", "x «B»", calibrated=False).text == "B [2]"


@pytest.mark.parametrize("score", [None, float("nan")])
def test_what_could_not_be_graded_is_not_believed(score: float | None) -> None:
    """Though words be pointed at, with a probability: a failure is no evidence."""

    class Failing(Pointing):
        def _grade(self, passage: Passage) -> Grade:
            return replace(super()._grade(passage), score=score, reason="it failed")

    assert Extractive(Failing()).generate(QUESTION, known("0.9 «A»")).refused


def test_a_footnote_is_no_citation() -> None:
    """A number in brackets that the text brings along would lead to another strip, or to none."""
    assert answered("0.9 «Tomas\nAldwin [12][3, 4]»").text == "Tomas Aldwin [1]"
    assert answered("0.9 «[2]»").refused


def test_brackets_without_a_number_are_quoted() -> None:
    """They can cite nothing, and `plot [] [0:1]` says something else than `plot [0:1]`."""
    assert answered("0.9 «plot [ ] [,] x[] with lines»").text == "plot [ ] [,] x[] with lines [1]"


def test_words_without_letters_are_told_apart() -> None:
    """Two signs that are no words are not one answer."""
    assert answered("0.5 «+»", "0.4 «−»", "0.3 «−»").text == "− [2]"


def test_it_says_the_whole_sentence_unless_told_otherwise() -> None:
    """The one that holds the words, or all that they stand in, alone where its neighbours are long; strips still agree
    by the words."""
    whole, rain = Extractive(Pointing()), f"Then rain {'fell ' * 30}"
    two = known(f"0.5 {rain}. Built by «Aldwin» [3] in 1911. {rain}.", "0.4 Ask «Aldwin»!", "0.8 «Josef» did.")
    assert whole.generate(QUESTION, two).text.split("\n\n") == [
        "Built by «Aldwin» in 1911. [1]",
        "Before. 0.8 «Josef» did. After. [3]",
    ]
    across = known(f"0.5 {rain}. By «Tomas. Aldwin» it was. {rain}.")
    assert whole.generate(QUESTION, across).text == "By «Tomas. Aldwin» it was. [1]"


def test_what_two_sources_say_alike_is_quoted_once() -> None:
    """However their lines are broken; another sentence follows it."""
    said = known("0.5 «Tomas Aldwin» built it.", "0.5 Tomas\n«Aldwin» built it.", "0.3 It was in «1911» then.")
    answer = Extractive(Pointing()).generate(QUESTION, said)
    assert [(citation.marker, citation.quoted) for citation in answer.citations] == [(1, True), (3, True)]


def test_the_answer_is_passed_on() -> None:
    """For those who stream; a refusal is silent."""
    pieces: list[str] = []
    Extractive(Pointing(), whole=False).generate(QUESTION, known("0.9 «A»"), pieces.append)
    Extractive(Pointing()).generate(QUESTION, known("0.9 none"), pieces.append)
    assert pieces == ["A [1]"]


def test_it_keeps_the_contract() -> None:
    """The one that every generator has to keep, also with an evaluator that points at nothing."""
    verify("generator", Extractive(Pointing(calibrated=False)))
    verify("generator", Extractive(Lexical()))
