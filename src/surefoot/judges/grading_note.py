"""Whether the answer has the structure that the note asks for."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from surefoot.judges._equivalence import normal
from surefoot.judges._scores import lacks, scored, unscored
from surefoot.judges._support import claims
from surefoot.text.json_values import parsed
from surefoot.text.refusals import refuses
from surefoot.text.words import content_words, names, sentences, words
from surefoot.types import Metric, Record, Score

BRIEF = 60
"""Words up to which an answer is brief."""
DETAILED = 40
"""Words from which it may be detailed."""
BARE = 5
"""Words up to which an answer is the thing asked for and nothing more."""
SLACK = 1.1
"""Factor by which an answer may exceed its length: people do not count words alike."""
_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)]|[a-z][.)])\s+\S", re.MULTILINE)
_NUMBERED = re.compile(r"^\s*\d{1,2}[.)]\s+\S", re.MULTILINE)
_ORDER = re.compile(r"\b(?:first|second|third|then|next|after that|finally|lastly|step \d)\b", re.IGNORECASE)
_PARTS = re.compile(r"[,;]|\band\b|\bor\b", re.IGNORECASE)


def _items(answer: str) -> int:
    """The number of things that an answer lists: lines of a list, or else parts of its longest enumeration."""
    spans = sentences(answer)
    return len(_ITEM.findall(answer)) or max((len(_PARTS.split(answer[a:b])) for a, b in spans), default=0)


def _ordered(answer: str) -> bool:
    return len(_NUMBERED.findall(answer)) > 1 or len(_ORDER.findall(answer)) > 1


def _numbered(answer: str) -> bool:
    return any(word[0].isdigit() for word in normal(answer))


def _placed(answer: str) -> bool:
    return _named(answer) or bool(re.search(r"\b(?:in|at|on|near|under|inside|from|between|along|across)\b", answer))


def _json(answer: str) -> bool:
    try:
        return isinstance(parsed(re.sub(r"^```\w*|```$", "", answer.strip())), dict | list)
    except ValueError:
        return False


def _named(answer: str) -> bool:
    return any(name[0].isalpha() for name in names(f"It is {answer}"))


def _matches(pattern: str, flags: int = re.IGNORECASE) -> Callable[[str], bool]:
    compiled = re.compile(pattern, flags)
    return lambda answer: bool(compiled.search(answer))


_SPOKEN = {
    "English": "the of and is was are to in it that for with as by on",
    "German": "der die das und ist war ein eine den dem nicht zu mit von auf im",
    "French": "le la les et est un une des du en que pour dans il elle au",
    "Spanish": "el la los las y es un una de que en por con del se su",
    "Italian": "il lo la gli e è un una di che in per con del della sono",
    "Portuguese": "o a os as e é um uma de que em por com do da não",
    "Dutch": "de het een en is was van in dat niet te op met voor zijn",
}
"""The commonest words."""
_WRITTEN = {
    "Chinese": "\u4e00-\u9fff",
    "Japanese": "\u3040-\u30ff",
    "Korean": "\uac00-\ud7af",
    "Russian": "\u0400-\u04ff",
    "Arabic": "\u0600-\u06ff",
    "Greek": "\u0370-\u03ff",
    "Hindi": "\u0900-\u097f",
}
"""The letters, by which alone these are told."""


def _in_language(language: str) -> Callable[[str], bool]:
    """Whether an answer is in it; one too short to have a common word of any language is taken to be."""
    if letters := _WRITTEN.get(language):
        return _matches(f"[{letters}]")

    def spoken(answer: str) -> bool:
        there = re.findall(r"\w+", answer.lower())
        found = {other: sum(word in common.split() for word in there) for other, common in _SPOKEN.items()}
        return found[language] == max(found.values()) and not re.search(f"[{''.join(_WRITTEN.values())}]", answer)

    return spoken


_CONTRAST = (
    r"\b(?:while|whereas|unlike|both|compar(?:e[sd]?|ing|isons?)|"
    r"differs?|difference|similar(?:ly)?|in contrast|however|but|than)\b"
)
_REASON = r"\b(?:because|since|due to|as a result|therefore|thus|so that|caused?|reasons?|leads? to)\b"
_CODE = r"```|^(?: {4}|\t)\S|`[^`]+`"
_DATE = r"\b(?:1\d{3}|20\d{2})\b|\b\d{1,2}(?::\d\d|\s*(?:am|pm))\b|\b\d{1,2}[./-]\d{1,2}\b"

RULES: dict[str, tuple[str, Callable[[str], bool]]] = {
    "steps in order": (r"\bsteps?\b|\bstep-by-step\b|\bin order\b|\binstructions?\b|\bprocedure\b", _ordered),
    "a list": (r"\blists?\b|\bbullet\w*|\benumerat\w+|\bitems\b|\bitemi[sz]e\w*", lambda answer: _items(answer) > 1),
    "a table": (r"\btables?\b|\btabular\b", _matches(r"^\s*\|.+\|\s*$", re.MULTILINE)),
    "a comparison": (
        r"\bcompar(?:e[sd]?|ing|isons?)\b|\bcontrast\w*|\bdifferences?\b|\bsimilarit\w+",
        _matches(_CONTRAST),
    ),
    "a yes or no": (
        r"\byes[ /-]*(?:or[ -])?no\b|\bconfirm or deny\b|\btrue or false\b",
        _matches(r"^\W*(?:yes|no|true|false|correct|incorrect|it depends)\b"),
    ),
    "a number": (r"\bnumber\b(?! of (?:steps|items))|\bnumeric\w*|\bquantit\w+|\bamounts?\b|\bcount\b", _numbered),
    "a date or time": (r"\bdates?\b|\byears?\b|\btime(?:frame|line)?s?\b|\bwhen\b|\bdeadlines?\b", _matches(_DATE)),
    "a name": (r"\bnames? (?:of|the|a|an|or)\b|\bnam(?:e|ing) (?:who|which|a|the)\b|\bperson\b", _named),
    "a reason": (r"\breasons?\b|\bwhy\b|\bcauses?\b|\bjustif\w+|\brationale\b", _matches(_REASON)),
    "an example": (r"\bexamples?\b|\billustrat\w+", _matches(r"\b(?:for (?:example|instance)|such as|e\.g\.|like)\b")),
    "a definition": (r"\bdefin(?:e|es|ition)\b", _matches(r"\b(?:is|are|means?|refers? to|defined as)\b")),
    "code": (r"\bcode\b|\bsnippets?\b|\bcommands?\b", _matches(_CODE, re.MULTILINE)),
    "headings": (r"\bheadings?\b", _matches(r"^\s*(?:#{1,6}\s+\S|\*\*[^*]+\*\*:?\s*$)", re.MULTILINE)),
    "its sources": (
        r"\bcit(?:e|es|ation|ations)\b|\bsources?\b|\breferences?\b",
        _matches(r"\[\d+\]|https?://|\baccording to\b|\(\d{4}\)"),
    ),
    "brevity": (r"\bbrief\w*|\bconcise\w*|\bshort\b|\bsuccinct\w*", lambda answer: 0 < len(words(answer)) <= BRIEF),
    "detail": (
        r"\bdetail(?:s|ed)?\b|\bthorough\w*|\bcomprehensive\w*|\bin depth\b|\belaborat\w+",
        lambda answer: len(words(answer)) >= DETAILED,
    ),
    "paragraphs": (r"\bparagraphs\b", _matches(r"\S\s*\n\s*\n\s*\S")),
    "JSON": (r"\bjson\b", _json),
    "a place": (r"\b(?:place|location)\b", _placed),
    "nothing more": (
        r"\bnothing (?:more|else)\b|\b(?:only|just) (?:the|an?|one) (?:number|figure|date|year|name|word)\b",
        lambda answer: 0 < len(words(answer)) <= BARE,
    ),
    **{name: (rf"\bin {name}\b", _in_language(name)) for name in (*_SPOKEN, *_WRITTEN)},
}
"""By structure: the pattern by which notes ask for it, and the check whether an answer has it."""
_COUNT = r"(?:\d{1,4}|an?|single|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_UNITS: dict[str, Callable[[str], int]] = {
    "word": lambda answer: len(words(answer)),
    "sentence": lambda answer: len(sentences(answer)),
    "paragraph": lambda answer: len(re.findall(r"\S(?:.*\n)*?.*(?:\n\s*\n|\Z)", answer)),
    "line": lambda answer: sum(1 for line in answer.splitlines() if line.strip()),
    "character": lambda answer: len(answer.strip()),
}
"""Units in which the length of an answer is counted."""
_LEAST = r"at least|no (?:fewer|less) than|a minimum of"
_MOST = r"at most|(?:no|not) more than|up to|under|below|fewer than|less than|a maximum of|exactly|about|around|roughly"
_LENGTH = re.compile(
    rf"\b(?:(?P<least>{_LEAST})\s+|(?:{_MOST})\s+)?(?P<count>{_COUNT})[\s-](?P<unit>{'|'.join(_UNITS)})s?\b",
    re.IGNORECASE,
)
"""The length that a note asks for; at most so much where nothing else is said."""
_SO_MANY = re.compile(
    r"\b(?P<count>\d{1,2}|two|three|four|five|six|seven|eight|nine|ten)\s+(?:\w+\s+){0,2}?(?:items|reasons|examples|steps"
    r"|ways|points|things|names|options|benefits|causes|types|kinds|features|facts)\b",
    re.IGNORECASE,
)
_NO = re.compile(r"\b(?:no|not|without|avoid|rather than|instead of|need not)\b[^,.;]*$", re.IGNORECASE)


class GradingNote:
    """The share of the structures that the note asks for and the answer has; by rules, no language model.

    The rules know the commonest English wordings (`RULES`, and "three reasons"); a note without any is unscored. They
    see form alone: a list of wrong things is a list. `refusal` True: an answer that says that the context lacks the
    information scores 1, which rewards refusals; False: it is read like any other.
    """

    about: ClassVar[Metric] = Metric(
        name="grading_note",
        edge=("question", "answer"),
        sees=("question", "note", "answer"),
        about="Does the answer have the structure that this question calls for?",
        levels=(
            "It has every aspect that the note asks for.",
            "It has most of them.",
            "It has some of them.",
            "It has few of them.",
            "It has none of them.",
        ),
        special="Judge by the note alone; whether the answer is true is not your concern.",
        abstention="An answer that says that the context lacks the information gets 5.",
    )
    name: ClassVar[str] = about.name
    metric: ClassVar[str] = about.name

    def __init__(self, refusal: bool = True) -> None:
        self.refusal = refusal

    def noted(self, record: Record) -> Record:
        """The record with the note that the rules write, where it has none."""
        return record if record.note.strip() else replace(record, note=note_of(record.question))

    def judge(self, record: Record) -> Score:
        """The record's score; it applies where there are a note and an answer that was kept."""
        if not record.note.strip() or record.answer is None:
            return lacks(self, record, "answer" if record.note.strip() else "grading note")
        if self.refusal and refuses(record.answer) and not claims(record.answer):
            return scored(self, record, 1.0, "the answer says that it cannot be given, which is all that can be asked")
        wanted = required(record.note, record.answer)
        if not wanted:
            return unscored(self, record, "the note asks for no structure that the rules know")
        has = [called for called, there in wanted.items() if there]
        missing = ", ".join(called for called, there in wanted.items() if not there)
        told = f"of what the note asks for the answer has {', '.join(has) or 'nothing'}" + (
            missing and f"; it lacks {missing}"
        )
        return scored(self, record, len(has) / len(wanted), told)


def required(note: str, answer: str) -> dict[str, bool]:
    """The structures that the note asks for and does not rule out, each with whether the answer has it."""
    found = {}
    if (match := _LENGTH.search(note)) and not _NO.search(note[: match.start()]):
        found[match[0].lower()] = _so_long(match, answer)
    if match := _SO_MANY.search(note):
        count = int(normal(match["count"])[0])
        found[f"{count} items"] = _items(answer) >= count
    for called, (asked, has) in RULES.items():
        match = re.search(asked, note, re.IGNORECASE)
        if match and not _NO.search(note[: match.start()]):
            found[called] = has(answer)
    return found


def _so_long(asked: re.Match[str], answer: str) -> bool:
    number = normal(asked["count"])[0]
    count = int(number) if number.isdecimal() and len(number) < 10 else 1
    there = _UNITS[asked["unit"].lower()](answer)
    return there >= count / SLACK if asked["least"] else 0 < there <= count * SLACK


_CLAUSE = r"(?:^|[.!?:;,]\s+)\W*(?:(?:and|so|but|also|please)\s+)?"
"""The beginning of a question: the text's, or after a mark; "Iron rusts. Why?" asks why."""
_DOES = r"(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should)"
_UNIT = "(?:word|sentence|paragraph|line)"
_LANGUAGE = "|".join((*_SPOKEN, *_WRITTEN))
_YOU = r"(?:(?:can|could|will|would) you (?:please )?)?"

_WISHES = (
    (
        rf"\b(?:in|within|using) ((?:(?:{_LEAST}|{_MOST}) )?{_COUNT}[ -]{_UNIT}s?)\b"
        rf"|\b((?:{_LEAST}|{_MOST}) {_COUNT} (?:{_UNIT}|character)s?)\b"
        rf"|\b({_COUNT}-{_UNIT})\b",
        "be of {} length",
    ),
    (r"\b(?:in|as|return|output|valid) (?:a |an )?(?:valid )?json\b|\bjson (?:object|array|format|list)\b", "be JSON"),
    (r"\b(?:in|as|into|make|draw|create|with)(?: the form of)? an? (?:\w+ )?table\b", "be a table"),
    (r"\bbullet(?:s|ed|[- ]points?)\b|\b(?:as|in) an? (?:\w+ )?list\b", "be a list"),
    (r"\bnumbered list\b|\bstep[- ]by[- ]step\b", "list the steps in order"),
    (
        rf"\b(?:answer|reply|respond|write|explain|describe|summari[sz]e)\b[^.?!]*\bin ({_LANGUAGE})\b"
        rf"|,\s+in ({_LANGUAGE})\W*$|\(in ({_LANGUAGE})\)",
        "be in {}",
    ),
    (r"\byes(?:/| or )no\b|\btrue(?:/| or )false\b", "begin with a yes or no"),
    (
        r"\b(?:only|just|nothing but) (?:with |give |return )?(?:the|an?|one) (number|date|year|time|name)\b",
        "be the {} of it and nothing more",
    ),
    (r"\bbriefly\b|\bconcise(?:ly)?\b|\bin (?:short|brief)\b|\ban? (?:short|brief) (?:answer|summary)\b", "be brief"),
    (r"\bin (?:more |great )?detail\b|\bthoroughly\b|\ba detailed\b|\bat length\b", "be detailed"),
    (r"\b(?:give|show|provide|includ\w+|with) (?:me )?(?:an? |some |\w+ )?examples?\b", "give an example"),
    (r"\bcite\b|\b(?:with|includ\w+|give|provide) (?:\w+ )?(?:citations|references|sources)\b", "cite its sources"),
    (r"\b(?:write|show|give|provide) (?:me )?(?:\w+ ){0,3}(?:code|function|script|snippet|query)\b", "show code"),
    (
        rf"{_CLAUSE}{_YOU}(?:list|name|give(?: me)?|tell me|suggest|describe|(?:what|which)(?: are| were)?)"
        rf" (?:the )?(?:\w+ )??((?!an?\b|single\b|one\b){_COUNT}) (?:\w+ )?(?!(?:{_UNIT}|year|time)s\b)"
        r"(?:\w+s|people|men|women|children)\b",
        "list {} items",
    ),
)
"""Wishes for the answer's form that a question states itself, and how the note puts them, with the words found."""
_FORMS = (
    (
        rf"{_CLAUSE}how (?:(?:do|can|should|could|would) (?:i|you|we|one)|to) (?!spell|say|pronounce|call)",
        "list the steps in order",
    ),
    (r"\bhow (?:many|much|old|tall|long|far|high|deep|big|large)\b", "give a number"),
    (rf"{_CLAUSE}when {_DOES}\b|\b(?:what|which) (?:year|date|century|month|day)\b|\bwhen\W*$", "give a date or time"),
    (
        rf"{_CLAUSE}(?:by )?(?:who|whom|whose)\b|{_CLAUSE}name the \w+\b(?<!s)",
        "give the name of who or what is asked for",
    ),
    (rf"{_CLAUSE}where\b", "give the place"),
    (
        rf"{_CLAUSE}why\b|{_CLAUSE}what (?:is|are|was|were) the (?:reasons?|causes?)\b|{_CLAUSE}how come\b",
        "give a reason",
    ),
    (
        r"\bdifferences? between\b|\bdiffers?\b|\bcompar(?:e[sd]?|ing|isons?)\b|\bversus\b|\bvs\b",
        "be a comparison of the things asked about",
    ),
    (rf"{_CLAUSE}(?!(?:can|could|will|would) you\b){_DOES}\b(?!.*\bor\b)", "begin with a yes or no"),
    (rf"{_CLAUSE}what (?:do(?:es)? \w+ mean|is the (?:definition|meaning) of)\b|{_CLAUSE}define\b", "define it"),
    (rf"{_CLAUSE}{_YOU}list\b|\bwhat are (?:the|some)\b", "be a list"),
)
"""The form that a kind of question asks for; the first that fits counts."""


def note_of(question: str) -> str:
    """The note that the rules write from a question alone: what it says of the answer's form itself, and what its kind
    asks for; empty where that is nothing that they know, as with "what is …", which any form may answer."""
    if not content_words(question):
        return ""
    text = " ".join(question.split())
    found = [(wants, re.search(form, text, re.IGNORECASE)) for form, wants in _WISHES]
    wishes = [wants.format(next(filter(None, match.groups()), "")) for wants, match in found if match]
    kind = next((wants for form, wants in _FORMS if re.search(form, text, re.IGNORECASE)), "")
    asked = dict.fromkeys([*wishes, *([kind] if kind else [])])
    return f"The response should {', and '.join(asked)}." if asked else ""
