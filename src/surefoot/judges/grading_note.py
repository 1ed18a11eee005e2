"""Whether the answer has the structure that the note asks for."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from surefoot.equivalence import normal
from surefoot.refusals import refuses
from surefoot.support import claims
from surefoot.types import Record, Score
from surefoot.words import content_words, names, sentences, words

BRIEF = 60
"""Words up to which an answer is brief."""
DETAILED = 40
"""Words from which it may be detailed."""
_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)]|[a-z][.)])\s+\S", re.MULTILINE)
_NUMBERED = re.compile(r"^\s*\d{1,2}[.)]\s+\S", re.MULTILINE)
_ORDER = re.compile(r"\b(?:first|second|third|then|next|after that|finally|lastly|step \d)\b", re.IGNORECASE)
_PARTS = re.compile(r"[,;]|\band\b|\bor\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rule:
    """A structure that a note may ask for."""

    called: str
    asked: re.Pattern[str]
    """How notes ask for it."""
    has: Callable[[str], bool]
    """Whether an answer has it."""


def _items(answer: str) -> int:
    """How many things an answer lists: lines of a list, or else parts of its longest enumeration."""
    spans = sentences(answer)
    return len(_ITEM.findall(answer)) or max((len(_PARTS.split(answer[a:b])) for a, b in spans), default=0)


def _ordered(answer: str) -> bool:
    return len(_NUMBERED.findall(answer)) > 1 or len(_ORDER.findall(answer)) > 1


def _listed(answer: str) -> bool:
    return _items(answer) > 1


def _numbered(answer: str) -> bool:
    return any(word[0].isdigit() for word in normal(answer))


def _named(answer: str) -> bool:
    return bool(names(f"It is {answer}"))


def _brief(answer: str) -> bool:
    return 0 < len(words(answer)) <= BRIEF


def _detailed(answer: str) -> bool:
    return len(words(answer)) >= DETAILED


def _matches(pattern: str, flags: int = re.IGNORECASE) -> Callable[[str], bool]:
    compiled = re.compile(pattern, flags)
    return lambda answer: bool(compiled.search(answer))


def _rule(called: str, asked: str, has: Callable[[str], bool]) -> Rule:
    return Rule(called, re.compile(asked, re.IGNORECASE), has)


_CONTRAST = (
    r"\b(?:while|whereas|unlike|both|compar\w+|differs?|difference|similar(?:ly)?|in contrast|however|but|than)\b"
)
_REASON = r"\b(?:because|since|due to|as a result|therefore|thus|so that|caused?|reasons?|leads? to)\b"
_CODE = r"```|^(?: {4}|\t)\S|`[^`]+`"
_DATE = r"\b(?:1\d{3}|20\d{2})\b|\b\d{1,2}(?::\d\d|\s*(?:am|pm))\b|\b\d{1,2}[./-]\d{1,2}\b"

RULES = (
    _rule("steps in order", r"\bsteps?\b|\bstep-by-step\b|\bin order\b|\binstructions?\b|\bprocedure\b", _ordered),
    _rule("a list", r"\blists?\b|\bbullet\w*|\benumerat\w+|\bitems\b|\bitemi[sz]e\w*", _listed),
    _rule("a table", r"\btables?\b|\btabular\b", _matches(r"^\s*\|.+\|\s*$", re.MULTILINE)),
    _rule("a comparison", r"\bcompar\w+|\bcontrast\w*|\bdifferences?\b|\bsimilarit\w+", _matches(_CONTRAST)),
    _rule(
        "a yes or no",
        r"\byes[ /-]*(?:or[ -])?no\b|\bconfirm or deny\b|\btrue or false\b",
        _matches(r"^\W*(?:yes|no|true|false|correct|incorrect|it depends)\b"),
    ),
    _rule("a number", r"\bnumber\b(?! of (?:steps|items))|\bnumeric\w*|\bquantit\w+|\bamounts?\b|\bcount\b", _numbered),
    _rule(
        "a date or time", r"\bdates?\b|\byears?\b|\btime(?:frame|line)?s?\b|\bwhen\b|\bdeadlines?\b", _matches(_DATE)
    ),
    _rule("a name", r"\bnames? (?:of|the|a|an|or)\b|\bnam(?:e|ing) (?:who|which|a|the)\b|\bperson\b", _named),
    _rule("a reason", r"\breasons?\b|\bwhy\b|\bcauses?\b|\bjustif\w+|\brationale\b", _matches(_REASON)),
    _rule(
        "an example", r"\bexamples?\b|\billustrat\w+", _matches(r"\b(?:for (?:example|instance)|such as|e\.g\.|like)\b")
    ),
    _rule("a definition", r"\bdefin(?:e|es|ition)\b", _matches(r"\b(?:is|are|means?|refers? to|defined as)\b")),
    _rule("code", r"\bcode\b|\bsnippets?\b|\bcommands?\b", _matches(_CODE, re.MULTILINE)),
    _rule("headings", r"\bheadings?\b", _matches(r"^\s*(?:#{1,6}\s+\S|\*\*[^*]+\*\*:?\s*$)", re.MULTILINE)),
    _rule(
        "its sources",
        r"\bcit(?:e|es|ation|ations)\b|\bsources?\b|\breferences?\b",
        _matches(r"\[\d+\]|https?://|\baccording to\b|\(\d{4}\)"),
    ),
    _rule("brevity", r"\bbrief\w*|\bconcise\w*|\bshort\b|\b(?:single|one) sentence\b|\bsuccinct\w*", _brief),
    _rule("detail", r"\bdetail(?:s|ed)?\b|\bthorough\w*|\bcomprehensive\w*|\bin depth\b|\belaborat\w+", _detailed),
    _rule("paragraphs", r"\bparagraphs\b", _matches(r"\S\s*\n\s*\n\s*\S")),
)
"""What is looked for; the order is that of the explanation."""
_SO_MANY = re.compile(
    r"\b(?P<count>\d{1,2}|two|three|four|five|six|seven|eight|nine|ten)\s+(?:\w+\s+){0,2}?(?:items|reasons|examples|steps"
    r"|ways|points|things|names|options|benefits|causes|types|kinds|features|facts)\b",
    re.IGNORECASE,
)
_NO = re.compile(r"\b(?:no|not|without|avoid|rather than|instead of|need not)\b[^,.;]*$", re.IGNORECASE)


class GradingNote:
    """The share of the structures that the note asks for and the answer has; by rules, no language model.

    The rules know the commonest English wordings (`RULES`, and "three reasons"); a note of which they know nothing is
    unscored. They see form alone: a list of wrong things is a list. `refusal` True: an answer that says that the
    context lacks the information has all that can be asked of it, 1 (which rewards refusals); False: it is read like
    any other.
    """

    name: ClassVar[str] = "grading_note"
    metric: ClassVar[str] = "grading_note"

    def __init__(self, refusal: bool = True) -> None:
        self.refusal = refusal

    def noted(self, record: Record) -> Record:
        """The record with the note that the rules write, where it has none."""
        return record if record.note.strip() else replace(record, note=note_of(record.question))

    def judge(self, record: Record) -> Score:
        """The record's score; it applies where there are a note and an answer that was kept."""
        if not record.note.strip() or record.answer is None:
            lacks = "answer" if record.note.strip() else "grading note"
            return Score(
                record.id,
                self.metric,
                None,
                unscored_because=f"the record has no {lacks}",
                applies=False,
                judge=self.name,
            )
        if self.refusal and refuses(record.answer) and not claims(record.answer):
            return self._score(record, 1.0, "the answer says that it cannot be given, which is all that can be asked")
        wanted = required(record.note, record.answer)
        if not wanted:
            because = "the note asks for no structure that the rules know"
            return Score(record.id, self.metric, None, unscored_because=because, judge=self.name)
        has = [called for called, there in wanted.items() if there]
        lacks = ", ".join(called for called, there in wanted.items() if not there)
        told = f"of what the note asks for the answer has {', '.join(has) or 'nothing'}" + (
            lacks and f"; it lacks {lacks}"
        )
        return self._score(record, len(has) / len(wanted), told)

    def _score(self, record: Record, value: float, reason: str) -> Score:
        return Score(record.id, self.metric, value, reason=reason, judge=self.name)


def required(note: str, answer: str) -> dict[str, bool]:
    """What a note asks for, and whether the answer has it; what it says that is not needed is not asked for."""
    found = {}
    if match := _SO_MANY.search(note):
        count = int(normal(match["count"])[0])
        found[f"{count} items"] = _items(answer) >= count
    for rule in RULES:
        match = rule.asked.search(note)
        if match and not _NO.search(note[: match.start()]):
            found[rule.called] = rule.has(answer)
    return found


_FORMS = (
    (r"^how (?:do|can|should|could|would|to)\b", "list the steps in order"),
    (r"\bhow (?:many|much|old|tall|long|far|high|deep|big|large)\b", "give a number"),
    (r"\bwhen\b|\b(?:what|which) (?:year|date)\b", "give a date or time"),
    (r"^(?:who|whom|whose)\b", "give the name of who is asked for"),
    (r"^why\b", "give a reason"),
    (r"\bdifferen(?:ce|t)\b|\bcompar\w+|\bversus\b|\bvs\b", "be a comparison of the things asked about"),
    (r"^(?:is|are|was|were|do|does|did|can|could|has|have|will|should)\b", "begin with a yes or no"),
    (r"^(?:list|name)\b|\bwhat are (?:the|some)\b", "be a list"),
)


def note_of(question: str) -> str:
    """The note that the rules write from a question alone; empty where its form asks for nothing that they know."""
    asked = next((wants for form, wants in _FORMS if re.search(form, question.strip(), re.IGNORECASE)), "")
    return f"The response should {asked}." if asked and content_words(question) else ""
