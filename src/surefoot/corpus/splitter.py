"""Cuts documents into passages of a size that suits retrieval and grading."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from operator import itemgetter

from surefoot.corpus.loaders import Document
from surefoot.text.ids import of_row, of_text
from surefoot.text.words import sentences
from surefoot.types import Passage

WORDS = 160
"""Words of a passage, at most; a text of up to half as many again stays whole."""

LONGEST = 6_000
"""Characters of a passage, at most: 240 words of 24 letters, the most that stays whole, and the spaces between them.
Only white space makes so few words longer, and an evaluator reads every character."""

LONGEST_TITLE = 1_000
"""Characters of a passage's title, at most. Every passage repeats it, so megabytes would multiply."""

Span = tuple[int, int]

# A word is two characters of a script without spaces, else at most 24 of anything, so that a line without spaces is cut
# too, and counts for what it costs a model.
_CJK = "\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_CJK}]{{1,2}}|[^\s{_CJK}]{{1,24}}")
_FULL_STOPS = "。！？"


def split(text: str, words: int = WORDS, breaks: Iterable[int] = ()) -> Iterator[Span]:
    """(start, end) of each passage: in order, disjoint, covering all but white space. Takes time linear in the text.

    A text of up to 1.5 × `words` stays whole. A longer one is cut at each of `breaks` and, between them, after 5/8 to
    8/8 of `words`: at the last end of a paragraph there, else of a sentence, a line, or a word. The rest stays whole by
    the same rule. No passage is longer than LONGEST characters. Passages do not overlap: strips are cut from passages,
    so a sentence in two of them would be graded, and cited, twice.
    """
    first = [match.span() for match in islice(_WORD.finditer(text), _whole(words) + 1)]
    if _fitting(first, _whole(words)) < len(first):
        for start, end in pairwise(sorted({0, *breaks, len(text)})):
            yield from _section(text, start, end, words)
    elif first:
        yield first[0][0], first[-1][1]


def passages(document: Document, path: str, space: str = "") -> Iterator[Passage]:
    """The document's passages, titled by document and section, with ids that stay the same when it is indexed again.

    `path` is where a reader finds a document without an address of its own. `space` is the name space of the ids, one
    for each file of an index; a page of the web has no rows with ids, and its path will do.
    """
    url = document.url or path
    starts = [start for start, _ in document.sections]
    for number, (start, end) in enumerate(split(document.text, breaks=starts), start=1):
        text = document.text[start:end]
        if document.id is None:
            id = of_text(space or path, document.key, start, text)
        else:
            id = of_row(space, document.id, number)
        title = _title(document, bisect_right(starts, start), end)[:LONGEST_TITLE]
        yield Passage(id, text, title, url=url, start=start)


def _section(text: str, start: int, end: int, words: int) -> Iterator[Span]:
    ahead = (match.span() for match in _WORD.finditer(text, start, end))
    held: list[Span] = []
    while True:
        held += islice(ahead, _whole(words) + 1 - len(held))
        if _fitting(held, _whole(words)) == len(held):
            break
        cut = _cut(text, held, _fitting(held, words))
        yield held[0][0], held[cut - 1][1]
        del held[:cut]
    if held:
        yield held[0][0], held[-1][1]


def _whole(words: int) -> int:
    return words * 3 // 2


def _fitting(held: list[Span], words: int) -> int:
    """How many of the held words, at most `words`, fit into a passage."""
    return bisect_right(held, held[0][0] + LONGEST, hi=min(words, len(held)), key=itemgetter(1)) if held else 0


def _cut(text: str, held: list[Span], words: int) -> int:
    """How many of the held words make the next passage."""
    least = max(1, words * 5 // 8)
    begin = held[least - 1][0]
    # The white space behind the last word may be megabytes long; as much as a passage holds shows what kind it is.
    ends = {begin + end for _, end in sentences(text[begin : min(held[words][1], held[words - 1][1] + LONGEST)])}

    def strength(count: int) -> tuple[int, int]:
        end, following = held[count - 1][1], held[count][0]
        return _strength(text[end - 1], text[end : min(following, end + LONGEST)], end in ends), count

    return max(range(least, words + 1), key=strength)


def _strength(last: str, gap: str, ends_sentence: bool) -> int:
    if gap.count("\n") > 1:
        return 4
    if ends_sentence or last in _FULL_STOPS:
        return 3
    return 2 if "\n" in gap else len(gap[:1])


def _title(document: Document, section: int, end: int) -> str:
    """The document's title, with the section's if the passage lies in one; `section` counts from 1, 0 is none."""
    spans_several = section < len(document.sections) and document.sections[section][0] < end
    name = document.sections[section - 1][1] if section and not spans_several else ""
    return f"{document.title} › {name}" if name not in ("", document.title) else document.title
