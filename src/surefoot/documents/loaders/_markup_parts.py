"""Parts of a page that blocks are made of: counts of letters in links, terms with their meanings, lists and tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lxml.etree import iterwalk
from lxml.html import HtmlElement

from surefoot.documents.loaders import Block
from surefoot.documents.loaders._grid import Cell
from surefoot.text.blocks import bullets, definition, paragraph

BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure"
    " footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li listing main menu nav ol optgroup option p"
    " plaintext pre search section summary table tbody td tfoot th thead tr ul xmp".split()
)
"""Elements that begin a new line; all others are part of one."""
LINES = frozenset(("p", "div", "tr", "li"))
"""Those of them that stand in code, each on lines of its own."""
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
LABELS = frozenset(
    "attention caution danger error hint important info information note notes notice remark see also tip tips warning"
    " warnings".split()
) | {"see also"}
"""Texts that name the kind of a box, and are no heading."""
BOXES = LABELS - {"error", "see", "also", "info", "information"} | {"admonition", "admonitionblock", "seealso"}
BARS = frozenset("navigation navheader navfooter docnav nav-panel".split())
"""Classes of the bars that DocBook, Publican and Texinfo put above and below a page."""
LISTS_OF_LINKS = frozenset("nav navbar header toc contents related sphinxsidebar breadcrumbs".split())
"""Classes of menus and tables of contents, but also of other things."""
FEET = frozenset({"footer", "contentinfo"})
CAPTIONS = frozenset(
    "title caption admonition-title topic-title sidebar-title code-block-caption figure-title table-title".split()
)
_FLOW = frozenset("article body div main section".split())
CONTROLS = frozenset("button input label option select textarea".split())
PERMALINKS = frozenset("¶ # 🔗 § \uf0c1".split())
"""Texts of the links that documentation tools put behind a heading."""
TITLES = re.compile(r"\s+[—–|·:«»-]\s+|\s+(?=\()")
"""Between the parts of a title, of which one is of the page and others are of what it belongs to."""
LONGEST_TERM = 100
"""Characters of a term that may be an element of a path."""
LONGEST_MEANING = 600
"""Characters of a meaning that stays one block with its term."""

_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight|brush:?|source|src)[-\s]([A-Za-z][\w+#.]{0,19})(?![\w-])")
_NO_LANGUAGE = frozenset("default none text plain plaintext notranslate example".split())
_WORDS = re.compile(r"\w+")


@dataclass(slots=True)
class LinkCount:
    """Letters and digits, those of them in links, and links."""

    letters: int = 0
    linked: int = 0
    links: int = 0

    def copy(self) -> LinkCount:
        """The counts as they are now."""
        return LinkCount(self.letters, self.linked, self.links)

    def add(self, text: str, is_link: bool) -> None:
        """Count the letters of a text."""
        letters = sum(map(len, _WORDS.findall(text)))
        self.letters += letters
        self.linked += letters if is_link else 0

    def is_menu(self, since: LinkCount, fewest: int = 1) -> bool:
        """True if nearly all that was counted after `since` stands in links."""
        letters = self.letters - since.letters
        return self.links - since.links >= fewest and letters > 0 and self.linked - since.linked >= 0.9 * letters


LARGE = ("table", "definition")
"""Kinds of blocks that are not written inside a list."""


@dataclass(slots=True)
class TermGroup:
    """Terms, and the meaning that they share."""

    terms: list[Block]
    body: list[Block]

    def blocks(self, path: tuple[str, ...]) -> Iterator[Block]:
        """One block where the meaning is short, else the term as a heading of several."""
        names = [paragraph(bare(block)) for block in self.terms]
        if not names or not self.body:
            yield from (*self.terms, *self.body)
            return
        term, place = ", ".join(names), self.terms[0].place
        texts = [block.text for block in self.body]
        if all(block.kind == "paragraph" for block in self.body) and sum(map(len, texts)) <= LONGEST_MEANING:
            yield Block(definition(term, "\n\n".join(texts)), "definition", path, place)
            return
        name = term if len(term) <= LONGEST_TERM else names[0][:LONGEST_TERM]
        first, rest = (texts[0], self.body[1:]) if self.body[0].kind == "paragraph" else ("", self.body)
        begun = definition(term, first) if first else term
        yield Block(begun, "definition" if first else "caption", (*path, name), place)
        for block in rest:
            own = block.path[len(path) :] if block.kind != "contents" or block.path else ()
            yield replace(block, path=(*path, name, *own), place=block.place or place)


def bare(block: Block) -> str:
    """The words of a block, without the fences of code."""
    return "\n".join(block.text.split("\n")[1:-1]) if block.kind == "code" else block.text


def listed(items: Iterable[Sequence[Block]], first: int | None) -> str:
    """A list, numbered from `first`; None: with bullets."""
    words = ["\n".join(block.text for block in item) for item in items]
    if first is None or first == 1:
        return bullets(words, ordered=first == 1)
    marks = (f"{number}. " for number in range(first, first + len(words)))
    return "\n".join(mark + text.replace("\n", "\n" + " " * len(mark)) for mark, text in zip(marks, words, strict=True))


def number(element: HtmlElement, name: str) -> int:
    """The number in an attribute, such as of rows that a cell spans, or of a list's first item; 1 where it has none."""
    words = element.get(name, "")
    return int(words) if words.isascii() and words.isdecimal() and len(words) < 5 else 1


def is_grid(found: Sequence[tuple[bool, Sequence[Cell]]]) -> bool:
    """True if a table without a header is one of values, and not a way to lay out a page."""
    cells = [cell for _, row in found for cell in row]
    return max(len(row) for _, row in found) > 1 and not any(
        block.kind in ("code", "table", "list", "definition") or len(block.text) > LONGEST_MEANING
        for cell in cells
        for block in cell.blocks
    )


def language(element: HtmlElement) -> str:
    """The language that the classes of code, or of the boxes around it, name; empty: none."""
    inner = element[0] if len(element) and element[0].tag == "code" else None
    outer = element.getparent()
    around = (inner, element, outer, outer.getparent() if outer is not None else None)
    for one in around:
        if one is not None and (found := _LANGUAGE.search(one.get("class", "")[:200])):
            return "" if found[1].lower() in _NO_LANGUAGE else found[1].lower()
    return ""


def short_text(element: HtmlElement) -> str:
    """The text of a link, if it is a sign or two."""
    words = ""
    for piece in element.itertext():
        words += piece.strip()
        if len(words) > 2:
            break
    return words


def is_menu(element: HtmlElement) -> bool:
    """True if most of an element stands in links."""
    count, links = LinkCount(), 0
    for event, inner in iterwalk(element, events=("start", "end")):
        change = inner.tag == "a" and "href" in inner.attrib
        links += (1 if event == "start" else -1) * change
        if words := inner.text if event == "start" else inner.tail if inner is not element else None:
            count.add(words, links > 0)
    return count.linked > 0.6 * count.letters


def titled(found: Sequence[Block], names: tuple[str, ...], title: str) -> Iterator[Block]:
    """The blocks of a panel below the headings `names`, under the words that open it."""
    above = names if not title or title in names[-1:] else (*names, title)
    for block in found[len(found) > 1 and found[0].text == title :]:
        yield replace(block, path=(*above, *block.path[len(names) :]))


def asks_in_bold(paragraph: HtmlElement) -> bool:
    """True if a paragraph between others is one bold question, as FAQs head their answers."""
    parent = paragraph.getparent()
    if len(paragraph) != 1 or paragraph[0].tag not in ("b", "strong") or parent is None or parent.tag not in _FLOW:
        return False
    around = f"{paragraph.text or ''}{paragraph[0].tail or ''}"
    return not around.strip() and str(paragraph.text_content()).rstrip().endswith("?")


def level(heading: HtmlElement, path: Sequence[tuple[int, str]]) -> int:
    """The level of a heading; a bold question's is below all others, but one does not stand under another."""
    if heading.tag in HEADINGS:
        return int(heading.tag[1])
    return path[-1][0] if path and path[-1][1].endswith("?") else len(HEADINGS) + 1
