"""Cuts documents into passages of whole blocks, of a size that suits retrieval and grading."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby, islice
from operator import itemgetter

from surefoot.documents.storable import LONGEST_TITLE, CutDocument, digest, size, storable
from surefoot.text.blocks import Span, parts, table
from surefoot.text.ids import of_row, of_text
from surefoot.text.places import anchored, apart
from surefoot.text.words import sentences
from surefoot.types import Block, Document, Passage

WORDS = 160  # words of a passage, at most; a text of up to half as many again stays whole

LONGEST = 6_000
"""Characters of a passage, at most: 240 words of 24 letters, the most that stays whole, and the spaces between them.
Only white space makes so few words longer, and an evaluator reads every character."""

LONGEST_LEAD = 500  # characters of a table's header, a term or a fence, at most, that are repeated where it is cut

# A word is two characters of a script without spaces, else at most 24 of anything, so that a line without spaces is cut
# too, and counts for what it costs a model.
_CJK = "\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_CJK}]{{1,2}}|[^\s{_CJK}]{{1,24}}")
_FULL_STOPS = "。！？"


def split(text: str, words: int = WORDS, solid: Sequence[Span] = ()) -> Iterator[Span]:
    """(start, end) of each passage: in order, disjoint, covering all but white space. Takes time linear in the text.

    A text of up to 1.5 × `words` stays whole. A longer one is cut after 5/8 to 8/8 of `words`: at the last empty line
    there, else at the end of a sentence, a line, or a word. The rest stays whole by the same rule. Within the `solid`
    spans, such as code, an empty line is no better than another line's end. No passage is longer than LONGEST
    characters. Passages do not overlap: a sentence in two of them would be graded, and cited, twice.
    """
    ahead = (match.span() for match in _WORD.finditer(text))
    held: list[Span] = []
    whole = words * 3 // 2
    while True:
        held += islice(ahead, whole + 1 - len(held))
        if _fitting(held, whole) == len(held):
            break
        cut = _cut(text, held, _fitting(held, words), solid)
        yield held[0][0], held[cut - 1][1]
        del held[:cut]
    if held:
        yield held[0][0], held[-1][1]


def passages(document: Document, path: str, space: str = "") -> Iterator[Passage]:
    """The document's passages: whole blocks under one heading, as far as they fit, titled by the document and the
    headings above. Their ids stay the same when the document is indexed again.

    `path` is where a reader finds a document without an address of its own; the place of a passage's first block is
    added to it, and those of the others are its `places`. `space` is the name space of the ids, one for each file of an
    index; a page of the web has no rows with ids, and its path will do. A part of a table begins with the table's
    header, a part of code with its fence. Bars of links above and below a page are no part of any.
    """
    at, number = 0, 0
    telling = [block for block in document.blocks if block.kind != "contents" or block.path] or document.blocks
    for (headings, _), same in groupby(telling, lambda block: (block.path, block.kind == "contents")):
        blocks = tuple(same)
        text = "\n\n".join(block.text for block in blocks)
        starts = list(accumulate((len(block.text) + 2 for block in blocks[:-1]), initial=0))
        solid = [(a, a + len(b.text)) for a, b in zip(starts, blocks, strict=True) if b.kind in _SOLID]
        title = _title(document.title, headings)
        for start, end in split(text, solid=solid):
            number += 1
            first, last = bisect_right(starts, start) - 1, bisect_right(starts, end - 1) - 1
            opening = _opening(blocks[first], start - starts[first])
            piece = opening + text[start:end] + _closing(blocks[last], end - starts[last])
            if document.id is None:
                id = of_text(space or path, document.key, at + start, piece)
            else:
                id = of_row(space, document.id, number)
            held = zip(starts[first : last + 1], blocks[first : last + 1], strict=True)
            places = apart([(max(0, begun - start + len(opening)), block.place) for begun, block in held])
            url = document.url or anchored(path, blocks[first].place)
            yield Passage(id, piece, title, url=url, start=at + start, places=() if document.url else places)
        at += len(text) + 2


def cut(document: Document, path: str, space: str) -> CutDocument:
    """The document as it is stored under this path, with passages whose ids are in this name space."""
    stored = storable(document)
    found = tuple(passages(stored, path, space))
    return CutDocument(
        stored.key, stored.id, bytes.fromhex(digest(stored)), found, stored.title, size(stored), stored.meta
    )


_SOLID = ("code", "table", "definition")


def _opening(block: Block, start: int) -> str:
    """The lines that a part of a block needs before it: a table's header, the fence of code, a definition's term."""
    if start <= 0:
        return ""
    if block.kind == "code":
        return f"{fence}\n" if len(fence := block.text.partition("\n")[0]) <= LONGEST_LEAD else ""
    if block.kind in ("table", "definition") and (lead := parts(block.text)[0].lead):
        head = block.text[slice(*lead)][:LONGEST_LEAD]
        first = block.text[start:].split("\n", 1)[0]
        if block.kind == "definition":
            return f"{head}\n: "
        return "" if set(first) <= set("|-: ") else table((), head.strip().strip("|").split("|")) + "\n"
    return ""


def _closing(block: Block, end: int) -> str:
    if block.kind == "code" and end < len(block.text):
        return f"\n{fence}" if len(fence := block.text.rpartition("\n")[2]) <= LONGEST_LEAD else ""
    return ""


def _fitting(held: list[Span], words: int) -> int:
    """The number of the held words, at most `words`, that fit into a passage."""
    return bisect_right(held, held[0][0] + LONGEST, hi=min(words, len(held)), key=itemgetter(1)) if held else 0


def _cut(text: str, held: list[Span], words: int, solid: Sequence[Span]) -> int:
    """The number of the held words that make the next passage."""
    least = max(1, words * 5 // 8)
    begin = held[least - 1][0]
    # The white space behind the last word may be megabytes long; as much as a passage holds shows what kind it is.
    ends = {begin + end for _, end in sentences(text[begin : min(held[words][1], held[words - 1][1] + LONGEST)])}

    def strength(count: int) -> tuple[int, int]:
        end, following = held[count - 1][1], held[count][0]
        inside = bool(solid) and _within(end, solid)
        return _strength(text[end - 1], text[end : min(following, end + LONGEST)], end in ends, inside), count

    return max(range(least, words + 1), key=strength)


def _within(place: int, solid: Sequence[Span]) -> bool:
    before = bisect_right(solid, place, key=itemgetter(0)) - 1
    return before >= 0 and place < solid[before][1]


def _strength(last: str, gap: str, ends_sentence: bool, inside: bool) -> int:
    if inside:
        return 2 if "\n" in gap else len(gap[:1])
    if gap.count("\n") > 1:
        return 5
    if ends_sentence or last in _FULL_STOPS:
        return 3 + ("\n" in gap)
    return 2 if "\n" in gap else len(gap[:1])


def _title(title: str, headings: Sequence[str]) -> str:
    """The document's title and the headings, none of them twice in a row."""
    path = [name for name, _ in groupby(filter(None, (title, *headings)))]
    return " › ".join(path)[:LONGEST_TITLE]
