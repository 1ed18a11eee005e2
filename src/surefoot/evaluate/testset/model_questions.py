"""Questions that a language model writes to places of passages, each confirmed by a round trip or dropped."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from surefoot.evaluate.testset.prompter import WORDS, Prompter
from surefoot.text.blocks import led, parts
from surefoot.text.words import content_words, longest_run, places, words
from surefoot.types import Passage

KINDS: dict[str, int] = WORDS["kinds"]
"""Each kind of question with its weight in the draw."""
SHORTEST, LONGEST = 5, 60
"""Words that a question is made of, at least and at most."""
POINTING, PRONOUNS, ASKING = (frozenset(WORDS[name].split()) for name in ("pointing", "pronouns", "asking"))
LONGEST_NAME = 2
"""Words of a name that a person would type to say what a question is about, at most."""
VERDICTS = ("yes", "no")
"""The first words of questions that are not answered by yes or no, and the kinds of those that are."""
COPIED = 0.7
"""Share of a question's words that stand in the passage in the same order, from which on it repeats the passage."""
NEW, SHARED = 0.34, 0.6
"""Share of the words of an answer that its question does not have, and share of these that have to stand where the
question came from."""

Found = Callable[[str], Sequence[Passage]]
"""The passages that come first for a question."""


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    """A question to a passage, and what the round trip made of it."""

    kind: str
    start: int
    end: int
    """The place in the passage that the question is made of."""
    question: str
    reply: str = ""
    """The model's own answer."""
    found: tuple[str, ...] = ()
    """Ids of the passages that were retrieved, best first."""
    fault: str = ""
    """The reason why it was dropped."""


def drafts(passage: Passage) -> Iterator[tuple[str, int, int]]:
    """Kinds of questions, each with another place of the passage that can answer it, drawn by a hash."""
    chance, text = random.Random(passage.id), passage.text  # noqa: S311 - no secret
    prose = [part for part in parts(text) if part.kind != "code"]
    left = [unit for part in prose for unit in part.units]
    lists = [(part.start, part.end) for part in prose if part.kind == "list"]
    for kind in sorted(KINDS, key=lambda kind: chance.random() ** (1 / KINDS[kind]), reverse=True):
        some = left + lists * (kind == "list")
        fitting = [one for one in chance.sample(some, len(some)) if _fits(kind, led(text, *one)[0])]
        if fitting:
            left = [one for one in left if one != fitting[0]]
            yield kind, *fitting[0]


def _fits(kind: str, text: str) -> bool:
    return SHORTEST <= len(words(text)) <= LONGEST and any(cue in text for cue in WORDS["cues"].get(kind, ("",)))


def written(
    passage: Passage,
    name: str,
    draft: tuple[str, int, int],
    prompter: Prompter,
    found: Found,
    posed: Callable[[WrittenQuestion], str] = lambda one: one.question,
) -> WrittenQuestion:
    """The model's question to a place of a passage on `name`, after its round trip: it can be understood alone, the
    place is among the passages found for it as it is `posed`, and the model, shown the passage, answers in that place.
    Costs two calls at most."""
    kind, start, end = draft
    place = led(passage.text, start, end)[0]
    question = named(prompter.reply(passage, name, kind, " ".join(place.split()), 40), name)
    one = WrittenQuestion(kind, start, end, question)
    if fault := wording_fault(kind, question, place):
        return replace(one, fault=fault)
    one = replace(one, question=posed(one))
    there = found(one.question)
    one = replace(one, found=tuple(other.id for other in there))
    if not any(places(passage.text[start:end], other.text) for other in there):
        return replace(one, fault="not retrieved")
    one = replace(one, reply=prompter.reply(passage, name, "decide" if kind in VERDICTS else "answer", question))
    return replace(one, fault=answer_fault(one, passage.text))


def wording_fault(kind: str, question: str, place: str) -> str:
    """The reason to drop a question to these words for its own words; empty: there is none."""
    there = words(question)
    run = longest_run(there, words(place))
    if not question.endswith("?") or len(content_words(question)) < 2 or (kind in VERDICTS and there[0] in ASKING):
        return "no question"
    if POINTING & {*there} or PRONOUNS & {*there[:4]}:
        return "not understood alone"
    return "repeats the passage" if len(run) > 4 and len(run) >= COPIED * len(there) else ""


def answer_fault(one: WrittenQuestion, text: str) -> str:
    """The reason to drop a question for what the model answers; empty: the answer has the right verdict, and says more
    than the question in words that stand in the question's place."""
    verdict, answer = verdict_of(one)
    place = {*content_words(led(text, one.start, one.end)[0])}
    reply = {*content_words(answer)}
    new = reply if verdict else reply - {*content_words(one.question)}
    if verdict != (one.kind if one.kind in VERDICTS else ""):
        return "another verdict"
    if not new or len(new) < NEW * len(reply):
        return "gives its answer"
    return "" if len(new & place) >= SHARED * len(new) else "answered elsewhere"


def verdict_of(one: WrittenQuestion) -> tuple[str, str]:
    """ "yes", "no" or nothing, and the words of the model's answer."""
    first, _, rest = one.reply.partition(":")
    verdict = first.strip().lower()
    return (verdict, rest.strip()) if one.kind in VERDICTS else ("", one.reply)


def span(one: WrittenQuestion, text: str) -> str:
    """The words of the passage that answer: the model's where they stand in the question's place, else all of that."""
    answer = verdict_of(one)[1]
    whole = text[one.start : one.end]
    if answer in whole:
        return answer
    exact = places(answer, whole)
    return whole[slice(*exact[0])] if exact else whole


def named(question: str, name: str) -> str:
    """The question, with the name of what it is about where it has no word of that."""
    own = {*content_words(name)}
    if not own or len(own) > LONGEST_NAME or own & {*content_words(question)} or not question.endswith("?"):
        return question
    return f"{question[:-1]} in {name}?"
