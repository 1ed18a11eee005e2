"""Answer, show the passages first, or refuse: by the answer's confidence and the risk that the user accepts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from surefoot.evidence import confidence
from surefoot.text.follow_up import follows
from surefoot.text.languages import OTHER, language
from surefoot.text.words import names, words
from surefoot.types import Action, Answer, Grade, Passage
from surefoot.types.protocols import Evaluator, languages_of

ALONE = "it goes on from an earlier question; ask it whole, or ask both in `surefoot chat`"
UNSURE = "no passage is graded CORRECT"
_OPENING = re.compile(r"(?:^|[.!?]\s)\W*\w")
HOPELESS = 0.1
"""Below this confidence an answer is refused, not hedged: nine of ten such answers are wrong."""
NAMES = {"en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian", "pt": "Portuguese"}
NAMES |= {"nl": "Dutch", "pl": "Polish", "tr": "Turkish", "cjk": "Chinese or Japanese", OTHER: "another language"}


def hedged(
    question: str,
    answer: Answer,
    passages: Sequence[Passage],
    grades: Sequence[Grade],
    evaluator: Evaluator,
    risk: float,
) -> Answer:
    """The answer with its confidence, hedged where that does not keep the risk, the accepted share of wrong answers
    among those that are given plainly, and where no passage mentions what the question names.

    An answer without a confidence is hedged where no passage is graded CORRECT. A generator may have hedged it for a
    reason of its own. A refusal stays one, and is given the reason that the question itself gives.
    """
    if unread := _unread(question, evaluator):
        unjudged = answer if answer.refused else replace(answer, hedged=True, unjudged=unread)
        return replace(unjudged, because=unread)
    answer = confidence.judged(question, answer, passages, grades, evaluator.name)
    unsure = answer.because or _unmentioned(question, passages) or _unsure(answer, grades, risk)
    if not (answer.hedged or unsure):
        return answer
    because = ALONE if follows(question) else answer.because if answer.refused else unsure
    return replace(answer, hedged=not answer.refused, because=because)


def hopeless(answer: Answer) -> bool:
    """True if the hedged answer is so surely wrong that a refusal takes its place."""
    return answer.hedged and answer.confidence is not None and answer.confidence < HOPELESS


def given_up(answer: Answer, words: str) -> Answer:
    """A refusal in these words, which withholds the answer, and tells how unsure that was."""
    return replace(answer, text=words, withheld=answer.text, refused=True, hedged=False, citations=(), uncited=())


def _unmentioned(question: str, passages: Sequence[Passage]) -> str:
    """The names of the question of which no passage holds a word; empty: all are mentioned. Without it 2 of 278
    questions about manuals get a wrong answer plainly. The opening word of a sentence is no name."""
    uncapitalised = _OPENING.sub(lambda first: first.group().lower(), question)
    there = {word for passage in passages for word in words(f"{passage.title} {passage.text}")}
    missing = [name for name in names(uncapitalised) if there.isdisjoint(words(name))]
    return f"no passage mentions {' or '.join(missing)}" if missing and passages else ""


def _unsure(answer: Answer, grades: Sequence[Grade], risk: float) -> str:
    """Why the answer may be wrong; empty: it is sure enough."""
    if answer.confidence is None:
        return "" if any(grade.label is Action.CORRECT for grade in grades) else UNSURE
    least = confidence.shipped().least(risk)
    if answer.confidence >= least:
        return ""
    plainly = f"a plain answer needs {least:.0%}" if least <= 1 else "no answer is sure enough for this configuration"
    return f"only {answer.confidence:.0%} sure, and {plainly}".replace("%", " %")


def _unread(question: str, evaluator: Evaluator) -> str:
    """Why grades say little of this question; empty: the evaluator reads its language, or any."""
    spoken = language(question)
    reads = languages_of(evaluator)
    if not reads or not spoken or spoken in reads:
        return ""
    own, known = NAMES.get(spoken, spoken.capitalize()), " and ".join(NAMES.get(each, each) for each in reads)
    return (
        f"the question seems to be in {own}, and the evaluator reads {known}: only names and numbers count; "
        f"ask in {known}, or configure another evaluator"
    )
