"""The grading note: the answer has the structure that the note asks for."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from surefoot.judges._diamond import metrics
from surefoot.judges._equivalence import normal
from surefoot.judges._scores import BaseJudge, Finding, Unscored, lacks, standalone
from surefoot.judges._support import claims
from surefoot.text import toml_values
from surefoot.text.json_values import parsed
from surefoot.text.refusals import refuses
from surefoot.text.words import names, sentences, words
from surefoot.types import Record

SLACK = 1.1
"""Factor by which an answer may exceed its length: people do not count words alike."""


@dataclass(frozen=True, slots=True)
class Structure:
    """One structure of an answer, and the patterns by which notes and questions ask for it (structures.toml)."""

    wish: str
    """Words of a note that asks for it."""
    named: str
    """Pattern of its names, in notes and questions."""
    kind: str = ""
    """Pattern of questions that ask for it without naming it; empty: none do."""
    form: str = ""
    """Pattern of answers that have it; empty: `_CHECKS` tells."""

    def present(self, answer: str) -> bool:
        """True if an answer has it."""
        return bool(re.search(self.form, answer, re.IGNORECASE | re.MULTILINE))


def _listed(answer: str) -> bool:
    """Lines of a list, or else a sentence with several parts."""
    marks = re.findall(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+\S", answer, re.MULTILINE)
    return len(marks) > 1 or any(re.search("[,;]| and | or ", answer[a:b]) for a, b in sentences(answer))


def _ordered(answer: str) -> bool:
    numbered, spoken = r"^[ \t]*\d{1,2}[.)]\s+\S", r"\b(?:first|second|then|next|finally|step \d)\b"
    return any(len(re.findall(form, answer, re.IGNORECASE | re.MULTILINE)) > 1 for form in (numbered, spoken))


def _json(answer: str) -> bool:
    try:
        return isinstance(parsed(re.sub(r"^```\w*|```$", "", answer.strip())), dict | list)
    except ValueError:
        return False


_CHECKS: dict[str, Callable[[str], bool]] = {
    "steps in order": _ordered,
    "a list": _listed,
    "JSON": _json,
    "a number": lambda answer: any(word[0].isdigit() for word in normal(answer)),
    "a name": lambda answer: any(name[0].isalpha() for name in names(f"It is {answer}")),
}
_TABLES = toml_values.beside(__file__, "structures.toml")
STRUCTURES = {name: Structure(**table) for name, table in _TABLES.items()}
"""The structures that the rules know, by name."""

_LEAST = r"at least|no (?:fewer|less) than"
_MOST = r"at most|(?:no|not) more than|up to|fewer than|less than"
_LENGTH = (
    rf"(?i)\b(?:(?P<least>{_LEAST})\s+|(?:{_MOST})\s+)?(?P<count>\d{{1,4}}|an?|single|one|two|three|four|five|ten)"
    r"[\s-](?P<unit>word|sentence|paragraph)s?\b"
)
"""The length that a note asks for; at most so much where nothing else is named."""
_COUNTS: dict[str, Callable[[str], int]] = {
    "word": lambda answer: len(words(answer)),
    "sentence": lambda answer: len(sentences(answer)),
    "paragraph": lambda answer: len([part for part in re.split(r"\n\s*\n", answer) if part.strip()]),
}
_RULED_OUT = r"(?i)\b(?:no|not|without|avoid|rather than|instead of)\b[^,.;]*$"


class GradingNote(BaseJudge):
    """The share of the structures that the note asks for and the answer has; by rules, no language model.

    The rules know the structures of `STRUCTURES` by their commonest English names, and lengths ("at most 50 words"); a
    note without any is unscored. They see form alone: a list of wrong things is a list. `allow_abstention`: an answer
    that says that the context lacks the information scores 1, which rewards refusals; else it is read like any other.
    """

    about = metrics()["grading_note"]

    def __init__(self, allow_abstention: bool = True) -> None:
        self.allow_abstention = allow_abstention

    def with_note(self, record: Record) -> Record:
        """The record with the note that the rules write, where it has none."""
        return record if record.note.strip() else replace(record, note=note_of(standalone(record)))

    def find(self, record: Record) -> Finding:
        """It applies where there is a note."""
        answer = record.answer or ""
        if not record.note.strip():
            raise lacks("grading note")
        if self.allow_abstention and refuses(answer) and not claims(answer):
            return Finding(1.0, "the answer says that it cannot be given, which is all that can be asked")
        wanted = required(record.note, answer)
        if not wanted:
            raise Unscored("the note asks for no structure that the rules know")
        has = [called for called, there in wanted.items() if there]
        missing = ", ".join(called for called, there in wanted.items() if not there)
        reason = f"of what the note asks for the answer has {', '.join(has) or 'nothing'}" + (
            missing and f"; it lacks {missing}"
        )
        return Finding(len(has) / len(wanted), reason)


def required(note: str, answer: str) -> dict[str, bool]:
    """The structures that the note asks for and does not rule out, each with whether the answer has it."""
    found = {}
    if (match := re.search(_LENGTH, note)) and not re.search(_RULED_OUT, note[: match.start()]):
        number = normal(match["count"])[0]
        count = int(number) if number.isdecimal() else 1
        there = _COUNTS[match["unit"].lower()](answer)
        found[match[0].lower()] = there >= count / SLACK if match["least"] else 0 < there <= count * SLACK
    for name, structure in STRUCTURES.items():
        match = re.search(structure.named, note, re.IGNORECASE)
        if match and not re.search(_RULED_OUT, note[: match.start()]):
            found[name] = _CHECKS.get(name, structure.present)(answer)
    return found


def note_of(question: str) -> str:
    """The note that the rules write from a question alone: the form that it names, and the one that its kind asks for;
    empty where that is nothing that they know, as with "what is …", which any form may answer."""
    text = " ".join(question.split())
    length = re.search(_LENGTH, text)
    kind = next((one for one in STRUCTURES.values() if one.kind and re.search(one.kind, text, re.IGNORECASE)), None)
    forms = (STRUCTURES[name] for name in ("a table", "JSON", "code", "its sources", "a yes or no"))
    wishes = [f"be of {length[0].lower()} length"] if length else []
    wishes += [one.wish for one in forms if re.search(one.named, text, re.IGNORECASE)]
    wishes += [kind.wish] if kind else []
    return f"The response should {', and '.join(dict.fromkeys(wishes))}." if wishes else ""
