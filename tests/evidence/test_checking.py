"""Drafts that are checked while a model writes them, and what takes the place of one that stands on nothing."""

from collections.abc import Sequence

import pytest

from parts import GOOD, QUESTION, Down, pipeline, step
from surefoot.generators.extractive import Extractive
from surefoot.types import NOT_THERE, Assertion, Event, Grade, Support, Thresholds, Trace
from surefoot.types.errors import ModelError
from surefoot.types.protocols import Pair, Verifier

TRUE = "The Ruvel Bridge was built in 1911 [1]."
FALSE = "It was painted in 1950 by Ola Krum [1]."


class Counting:
    """A verifier that carries what names Aldwin or 1911, and counts what it reads."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def support(self, assertions: Sequence[Assertion]) -> tuple[Support, ...]:
        self.read += [one.text for one in assertions]
        return tuple(Support("1911" in one.text, None) for one in assertions)


class Pointing:
    """A reader that points at the first words of every text."""

    name = "pointing"
    thresholds = Thresholds(0.5, 0.1, 0.1, "pointing")

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        return tuple(Grade(passage.id, 1.0, 0.9, span=(0, 16)) for _, passage in pairs)


def streamed(says: str, verifier: Verifier, **parts: object) -> tuple[list[str], Trace]:
    pieces: list[str] = []

    def listen(event: Event) -> None:
        if event.name == "text":
            pieces.append(event.value)

    return pieces, pipeline(GOOD, says=says, verifier=verifier, **parts).run(QUESTION, listen)


def test_sentences_come_as_the_check_leaves_them() -> None:
    """One that stands on nothing is marked in the stream too, and what came is the beginning of the answer."""
    verifier = Counting()
    pieces, trace = streamed(f"{TRUE} {FALSE} Tomas Aldwin built it.", verifier)
    assert pieces == [
        "The Ruvel Bridge was built in 1911. [1]",
        f" It was painted in 1950 by Ola Krum. [1] {NOT_THERE}",
    ]
    assert "".join(pieces) in trace.answer.text
    assert len(verifier.read) == len(set(verifier.read)) == 3


def test_nothing_comes_before_a_sentence_that_stands() -> None:
    """A model that begins with what it made up is not heard until it says something true."""
    assert streamed(f"{FALSE} Boats pass below it.", Counting())[0] == []
    pieces, _ = streamed(f"{FALSE} {TRUE} Boats pass below it.", Counting())
    assert pieces[0].startswith("It was painted in 1950 by Ola Krum.")
    assert TRUE.removesuffix(" [1].") in pieces[0]


def test_where_the_verifier_fails_all_waits_for_the_end() -> None:
    pieces, trace = streamed(f"{TRUE} {FALSE} Tomas Aldwin built it.", Down(ModelError("it does not load")))
    assert pieces == []
    assert step(trace, "verify").error == "it does not load"


@pytest.mark.parametrize(("says", "withheld"), [(FALSE, FALSE), (" ", None)])
def test_what_stands_on_nothing_gives_way_to_a_quotation(says: str, withheld: str | None) -> None:
    """So does a model that fails; the trace keeps what it wrote."""
    _, trace = streamed(says, Counting(), quoting=Extractive(Pointing()))
    assert "was built in 1911" in trace.answer.text
    assert (trace.answer.model, trace.answer.withheld) == ("pointing", withheld)
    assert step(trace, "quote").error is None


def test_a_model_that_knows_no_answer_is_believed() -> None:
    """A quotation would say that there is one."""
    _, trace = streamed("I cannot answer this.", Counting(), quoting=Extractive(Pointing()))
    assert trace.answer.refused
    assert [one for one in trace.steps if one.name == "quote"] == []


class Agreeing(Counting):
    """Finds in any quotation what is held against it."""

    def support(self, assertions: Sequence[Assertion]) -> tuple[Support, ...]:
        verdicts = zip(assertions, super().support(assertions), strict=True)
        return tuple(Support(1.0, True) if one.evidence[0].id == "quotation" else verdict for one, verdict in verdicts)


def test_words_that_need_a_hedge_give_way_to_a_quotation_that_needs_none_and_says_the_same() -> None:
    """The trace keeps them; where the quotation needs one too, they stay."""
    _, trace = streamed(f"{TRUE} {FALSE}", Agreeing(), quoting=Extractive(Pointing()))
    assert (trace.answer.hedged, trace.answer.worded) == (False, False)
    assert trace.answer.withheld == "The Ruvel Bridge was built in 1911. [1] It was painted in 1950 by Ola Krum. [1]"
    unsure = pipeline(GOOD, says=f"{TRUE} {FALSE}", verifier=Agreeing(), quoting=Extractive(Pointing()))
    answer = unsure.run("When was the Ruvel Bridge built by Ola Krum?").answer
    assert (answer.hedged, answer.worded, answer.withheld) == (True, True, None)


def test_words_that_a_quotation_does_not_carry_stay_with_their_hedge() -> None:
    """Two that read the same evidence otherwise: neither is sure."""
    _, trace = streamed(f"{TRUE} {FALSE}", Counting(), quoting=Extractive(Pointing()))
    assert (trace.answer.hedged, trace.answer.worded, trace.answer.withheld) == (True, True, None)


def test_words_without_a_hedge_are_not_quoted_over() -> None:
    _, trace = streamed(TRUE, Counting(), quoting=Extractive(Pointing()))
    assert trace.answer.worded
    assert [one for one in trace.steps if one.name == "quote"] == []
