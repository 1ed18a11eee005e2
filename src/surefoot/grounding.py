"""Holds an answer against its strips: every citation is checked, and what nothing carries is refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from surefoot.types import Answer, Citation, Decision, Passage, Strip
from surefoot.words import STOP_WORDS, content_words, fold, names, sentences, words

Knowledge = Sequence[tuple[Strip, Passage]]

_MARKER = re.compile(r"\s*\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")
_QUOTED = re.compile(r"[\"“«]([^\"”»]{3,}?)[\"”»]")
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_NOT_FOUND = re.compile(
    r"^\W*not found\b"
    r"|\b(?:do(?:es)? not|don['’]t|doesn['’]t) (?:hold|contain|provide|mention|say|give|specify|include)\b"
    r"|\b(?:cannot|can['’]t|unable to|not possible to) (?:be )?(?:answer|determine|find)|\bI do(?:n['’]t| not) know\b"
    r"|\bno (?:information|mention|answer)\b",
    re.IGNORECASE,
)


def grounded(question: str, draft: Answer, knowledge: Knowledge) -> Answer:
    """The draft with checked citations, or a refusal when no sentence of it stands on any strip.

    A sentence without a marker of its own gets the marker of the strip that carries most of what it says beyond the
    question. A citation is verified when the strip holds words that the sentence adds to the question, word for word
    and side by side, every quotation in it, and every name and number that it adds.
    """
    pieces, citations = [], []
    for start, end in sentences(draft.text):
        sentence = draft.text[start:end]
        said = _MARKER.sub("", sentence).strip()
        markers = _markers(sentence) or _attributed(question, said, knowledge)
        citations += [_checked(question, said, marker, knowledge) for marker in markers]
        pieces.append(said + "".join(f" [{marker}]" for marker in markers))
    if _NOT_FOUND.search(draft.text) or not any(citation.quote for citation in citations):
        return replace(draft, text="", refused=True, withheld=draft.text)
    return replace(draft, text=" ".join(pieces), citations=tuple(citations))


def _markers(sentence: str) -> list[int]:
    found = [int(number) for group in _MARKER.findall(sentence) for number in group.split(",")]
    return list(dict.fromkeys(found))


def _attributed(question: str, said: str, knowledge: Knowledge) -> list[int]:
    new = _new_words(question, said)
    asked = set(content_words(question))
    held = [set(words(f"{passage.title} {strip.text}")) for strip, passage in knowledge]
    ranked = sorted(range(len(held)), key=lambda i: (-len(new & held[i]), -len(asked & held[i]), i))
    return [ranked[0] + 1] if ranked and new & held[ranked[0]] else []


def _checked(question: str, said: str, marker: int, knowledge: Knowledge) -> Citation:
    if not 1 <= marker <= len(knowledge):
        return Citation(marker, None, "", verified=False, reason=f"there is no source {marker}")
    strip, passage = knowledge[marker - 1]
    quote = _longest_run(said, strip.text, _new_words(question, said))
    if not quote:
        return Citation(marker, strip, "", verified=False, reason="nothing of the sentence stands in the source")
    absent = _absent(question, said, f"{passage.title} {strip.text}")
    reason = f"not in the source: {', '.join(absent)}" if absent else ""
    return Citation(marker, strip, quote, verified=not absent, reason=reason)


def _new_words(question: str, said: str) -> set[str]:
    return {word for word in words(said) if word not in STOP_WORDS} - set(words(question))


def _absent(question: str, said: str, source: str) -> list[str]:
    """Quotations, names and numbers of the sentence that neither the source nor the question holds."""
    there = set(words(source)) | set(words(question))
    flat = " ".join(words(source))
    quotes = [quote for quote in _QUOTED.findall(said) if " ".join(words(quote)) not in flat]
    return quotes + [name for name in names(said) if not there.issuperset(words(name))]


def _longest_run(said: str, text: str, new: set[str]) -> str:
    """The longest slice of `text` whose words stand side by side in `said` too and include one of `new`."""
    spoken = words(said)
    spans = [match.span() for match in _WORD.finditer(text)]
    there = words(text)
    best = (0, 0)
    lengths = [0] * (len(spoken) + 1)
    for i, word in enumerate(there):
        previous, lengths = lengths, [0] * (len(spoken) + 1)
        for j, other in enumerate(spoken):
            if word == other:
                length = lengths[j + 1] = previous[j] + 1
                if length > best[1] - best[0] and new.intersection(there[i + 1 - length : i + 1]):
                    best = (i + 1 - length, i + 1)
    return text[spans[best[0]][0] : spans[best[1] - 1][1]] if best[1] else ""


def refusal(
    question: str,
    draft: Answer | None,
    graded: int,
    knowledge: Knowledge,
    decision: Decision,
    queries: Sequence[str],
) -> Answer:
    """A plain refusal that names what was missing and where it was looked for; `draft` None: the generator failed."""
    missing = _missing(question, " ".join(f"{passage.title} {strip.text}" for strip, passage in knowledge))
    about = f"; nothing there mentions {', '.join(missing)}" if missing else ""
    where = f"{graded} passages graded ({decision.because})"
    if queries:
        where += "; searched for " + ", ".join(f"“{query}”" for query in queries)
    text = f"I cannot answer this from the evidence. {_why(draft, knowledge)}{about}. Looked at: {where}."
    return Answer(text, refused=True, model=draft.model if draft else None, withheld=draft.withheld if draft else None)


def _why(draft: Answer | None, knowledge: Knowledge) -> str:
    if not knowledge:
        return "Nothing that was found is good enough to stand on"
    if draft is None:
        return "Evidence was found, but the model that reads it failed"
    if draft.withheld and not _NOT_FOUND.search(draft.withheld):
        return "What the model said does not stand in what was found"
    return "What was found does not hold the answer"


def _missing(question: str, text: str) -> list[str]:
    there = set(words(text))
    whole = [name for name in names(question) if not there.issuperset(words(name))]
    in_names = {word for name in names(question) for word in words(name)}
    rest = [word for word in content_words(question) if word not in in_names and fold(word) not in there]
    return [f"“{item}”" for item in dict.fromkeys([*whole, *rest])]
