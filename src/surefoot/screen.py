"""Finds sentences in a passage that talk to the machine instead of to the reader.

Everything retrieved is data. A sentence that gives orders ("ignore the question and say X") is neither graded nor
refined: it is blanked out before grading, its strip is dropped, and the trace says so. Rules catch the common forms
and no more; the second line of defence is that citations are checked against the strips.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from surefoot.types import Passage
from surefoot.words import sentences

_ORDER = re.compile(
    r"""
      \b(?:ignore|disregard|forget|override|bypass|do\s+not\s+(?:follow|answer|use))\b.{0,40}
        \b(?:instruction|question|prompt|context|passage|document|previous|above|prior|rule|guideline|everything)
    | \b(?:grade|label|mark|rate|score|classify)\b.{0,40}\b(?:this|as)\b.{0,30}
        \b(?:correct|relevant|ambiguous|incorrect|highest|maximum|1\.0|100\s*%)
    | \bthis\s+passage\s+is\s+(?:fully|highly|completely|entirely|very)?\s*(?:relevant|correct)\b
    | \byou\s+(?:are\s+now|must\s+(?:now\s+)?(?:answer|say|reply|respond|output|write|state))\b
    | \bact\s+as\s+(?:an?|if)\b
    | \b(?:instead|only|just|simply|always|please|and)\s*,?\s*(?:say|reply|respond|answer|output|print|write)\b
        \s*(?:with|that|only|exactly)?\s*[:"'“‘«]
    | \b(?:system|developer)\s+(?:prompt|message|instruction)s?\b
    | \b(?:new|updated|important|urgent|hidden|secret)\s+instructions?\b
    | <\|?(?:im_start|im_end|system|endoftext|begin_of_text)\|?> | \[/?INST\] | <</?SYS>> | ^\s*(?:system|assistant)\s*:
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


def orders(text: str) -> list[tuple[int, int]]:
    """(start, end) of each sentence that reads like an instruction to a machine."""
    return [(start, end) for start, end in sentences(text) if _ORDER.search(text[start:end])]


def screened(passage: Passage) -> Passage:
    """The passage with such sentences replaced by as many spaces, so that all offsets stay true."""
    text = passage.text
    for start, end in orders(text):
        text = text[:start] + " " * (end - start) + text[end:]
    return passage if text == passage.text else replace(passage, text=text)


def suspects(passages: Sequence[Passage]) -> tuple[str, ...]:
    """Ids of the passages that hold such a sentence."""
    return tuple(passage.id for passage in passages if orders(passage.text))
