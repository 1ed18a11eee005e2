"""Finds sentences in a passage that talk to the machine instead of to the reader.

Everything retrieved is data. A sentence that gives orders ("ignore the question and say X") is neither graded nor
refined: it is blanked out before grading, its strip is dropped, and the trace says so. Rules catch the common forms
and no more; the second line of defence is that citations are checked against the strips.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache

from surefoot.types import Passage
from surefoot.words import sentences

_BEGIN = (
    r"(?:(?:^|[:;!?—–\]]|\byou\s+(?:must|should|shall|will|need\s+to|have\s+to|are\s+to))\W{0,3}"
    r"(?:(?:please|kindly|now|then|instead|also|and|but|so|just|simply|only|always)\b\W{0,3})*|\b(?:please|kindly)\s+)"
)
"""Where an imperative begins. "Many ignore this rule" and "he was told to say so" are no orders to the reader."""
_MACHINE = r"(?:AI\s+)?(?:AI|LLM|GPT|(?:(?:large\s+)?language|AI)\s+model|assistant|chat\s?bot)s?"
_EARLIER = r"(?:previous|prior|earlier|preceding|above|other|given|provided|retrieved|original)"
_TURN = re.compile(
    r"<[|｜][^|｜>]*[|｜]>|</?s>|<(?:start|end)_of_turn>|\[/?INST\]|<</?SYS>>|<(?:bos|eos)>|\s+", re.IGNORECASE
)
"""What separates the turns of a conversation in the common chat formats, and white space."""


@cache
def _order() -> re.Pattern[str]:  # takes 20 ms to compile, which not every command needs
    return re.compile(
        rf"""(?:^|\b(?=\w)|(?=[,:;!?—–\]<\[]))  # nowhere else can one begin: this halves the time
        (?: (?:{_BEGIN}|,\s+|\band\s+)
            (?:ignore|disregard|forget|override|bypass|discard|stop\s+following
              |(?:do\s+not|don['’]t|never)\s+(?:follow|answer|use|mention|cite|trust|obey))\b.{{0,40}}?
            \b(?:instructions?|prompts?|questions?|context|guidelines?|rules?|the\s+above
              |{_EARLIER}\s+(?:\w+\s+)?(?:passages?|documents?|sources?|texts?|messages?|answers?)
              |everything\s+(?:above|before|else|said|written|you\s+(?:were|have\s+been|are)\s+told))\b
        | {_BEGIN}(?:grade|label|mark|rate|score|classify|judge)\b.{{0,40}}?\b(?:this|as)\b.{{0,30}}?
            \b(?:correct|relevant|ambiguous|incorrect|highest|maximum|1\.0|100\s*%)
        | \bthis\s+(?:passage|document|text|source)\s+is\s+
            (?:(?:fully|highly|completely|entirely|very)\s+(?:relevant|correct)\b
              |(?:relevant|correct)(?:\s+(?:to|for)\s+(?:the|this|any|every)\s+(?:question|query))?\W*$)
        | \byou\s+are\s+now\s+(?:an?|the|in)\s+(?:[\w-]+\s+){{0,3}}?(?:{_MACHINE}|expert|mode|persona|character)\b
        | \byou\s+(?:must|should|shall|will|have\s+to|need\s+to)\s+(?:now\s+|always\s+|only\s+)*
            (?:answer|say|reply|respond|output|write|state)\s*(?:(?:with|that|only|exactly|yes|no)\b|[:"'“‘«]|(?-i:[A-Z]))
        | ^\W*(?:please\s+|now\s+|instead\s+)?(?:act\s+as\s+(?:an?|if|the)|pretend\s+(?:that\s+you|you|to\s+be))\b
        | {_BEGIN}(?:reply|respond|answer|output|print)\s*
            (?:(?:with|that|only|exactly)\s*)*(?:[:"'“‘«]|(?<=with\s)(?:only\b|exactly\b|the\s+words?\b))
        | {_BEGIN}(?:say|write)\s*(?:that|only|exactly)?\s*(?::|["'“‘«][^"'”’»]*["'”’»]\W*$)
        | {_BEGIN}(?:respond|reply|answer)\s+(?:only\s+(?:with|in)|the\s+question\s+with|exactly)\b
        | {_BEGIN}(?:repeat|output|print)\s+the\s+(?:following|words?|text)\b
        | (?:{_BEGIN}|,\s+|\band\s+)(?:tell|inform|convince)\s+the\s+user\b
        | \byour\s+(?:system|developer|initial|original)\s+(?:prompt|message|instruction)s?\b
        | ^\W*(?:system|developer)\s+(?:prompt|message|instruction)s?\s*:
        | (?:{_BEGIN}|\band\s+)(?:reveal|show|print|repeat|leak)\s+the\s+system\s+prompt\b
        | ^\W*(?:new|updated|important|urgent|hidden|secret)\s+instructions?\s*
            (?::|for\s+(?:the\s+|any\s+|all\s+)?{_MACHINE}\b)
        | \byour\s+(?:new|only|real|true)\s+(?:task|job|goal|role|instruction)s?\b
        | \byour\s+(?:task|job|goal|role)\s+is\s+(?:now\s+)?to\s+(?:answer|say|reply|respond|output|print)\b
        | \bfrom\s+now\s+on\s*,?\s*you\b
        | \bwhen\s+(?:you\s+)?(?:answer|respond|reply)(?:ing)?\s*,\s*(?:you|always|never|only|do\s+not)\b
        | (?:\bif\s+you\s+are|^\W*as)\s+an?\s+{_MACHINE}\s*,
        | \b(?:attention|dear|note\s+(?:to|for))\s*,?\s+(?:the\s+|any\s+|all\s+)?{_MACHINE}\b\s*[:,!.]
        | <\|?/?(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text)\|?> | \[/?INST\] | <</?SYS>>
        | ^\s*(?:system|assistant)\s*: | ^\W*\#+\s*(?:instruction|system|response)s?\s*:
        )""",
        re.IGNORECASE | re.VERBOSE | re.DOTALL,
    )


@lru_cache(maxsize=1024)  # a passage is looked at before grading, before refining, and for each of its strips
def orders(text: str) -> tuple[tuple[int, int], ...]:
    """(start, end) of each sentence that reads like an instruction to a machine."""
    return tuple((start, end) for start, end in sentences(text) if _order().search(text[start:end]))


def screened(passage: Passage) -> Passage:
    """The passage with such sentences replaced by as many spaces, so that all offsets stay true; a title by nothing."""
    text = passage.text
    for start, end in orders(text):
        text = text[:start] + " " * (end - start) + text[end:]
    title = "" if orders(passage.title) else passage.title
    return passage if (text, title) == (passage.text, passage.title) else replace(passage, text=text, title=title)


def suspects(passages: Sequence[Passage]) -> tuple[str, ...]:
    """Ids of the passages that hold such a sentence, in text or title."""
    return tuple(passage.id for passage in passages if screened(passage) is not passage)


def line(text: str) -> str:
    """The text on one line, without anything that could pass for a turn of a conversation."""
    return _TURN.sub(" ", text).strip()
