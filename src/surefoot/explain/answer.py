"""The strips that the answer needed: it is generated again without each of them."""

import re
from dataclasses import dataclass

from surefoot.evidence.citations import Check, grounded
from surefoot.evidence.exclusions import Evidence
from surefoot.text.words import words
from surefoot.types import Answer, Strip, Trace
from surefoot.types.errors import TraceFault
from surefoot.types.protocols import Generator, Knowledge


@dataclass(frozen=True, slots=True)
class Without:
    """The answer without one strip."""

    strip: Strip
    text: str
    """Without the markers; empty for a refusal."""
    refused: bool
    changed: bool
    """Its words differ, or only one of both refuses: the answer needed the strip."""


@dataclass(frozen=True, slots=True)
class Needs:
    """The strips of an answer, with the answer without each."""

    text: str
    """The answer generated now from all strips, to compare with."""
    as_recorded: bool
    """It has the words of the trace's answer; if not, the generator is another one or does not repeat itself."""
    strips: tuple[Without, ...]
    """One for each kept strip, in order."""


def needs(trace: Trace, generator: Generator) -> Needs:
    """The answer from all kept strips, and without each. Cost: a generated answer each. Raises TraceFault where no
    strip was kept, and what the generator raises."""
    knowledge = _knowledge(trace)
    if not knowledge or trace.answer is None:
        raise TraceFault(f"trace {trace.id} has no answer that was made from strips")
    check = trace.config.get("answer", {}).get("check", "refuse")
    question = trace.standalone_question
    whole = _answer(question, generator, knowledge, check)
    return Needs(
        _unmarked(whole),
        _same(whole, trace.answer),
        tuple(_without(question, generator, knowledge, check, n, whole) for n in range(len(knowledge))),
    )


def _knowledge(trace: Trace) -> Knowledge:
    evidence = Evidence(trace.standalone_question)
    origin = {passage.id: evidence.masked(passage) for passage in trace.passages + trace.external}
    try:
        return [(strip, origin[strip.passage_id]) for strip in trace.strips if strip.kept]
    except KeyError as error:
        raise TraceFault(f"trace {trace.id} has a strip of a passage that is not there: {error}") from error


def _without(
    question: str, generator: Generator, knowledge: Knowledge, check: Check, gone: int, whole: Answer
) -> Without:
    left = [*knowledge[:gone], *knowledge[gone + 1 :]]
    answer = _answer(question, generator, left, check) if left else Answer("", refused=True)
    return Without(knowledge[gone][0], _unmarked(answer), answer.refused, not _same(answer, whole))


def _answer(question: str, generator: Generator, knowledge: Knowledge, check: Check) -> Answer:
    """As the pipeline has it."""
    return grounded(question, generator.generate(question, knowledge), knowledge, check=check)


def _unmarked(answer: Answer) -> str:
    return "" if answer.refused else " ".join(re.sub(r"\[\d+\]", "", answer.body).split())


def _same(one: Answer, other: Answer) -> bool:
    # The markers count strips, so that without one they are others.
    return one.refused == other.refused and words(_unmarked(one)) == words(_unmarked(other))
