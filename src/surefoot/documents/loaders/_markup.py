"""The blocks of a page, in the order in which a browser shows them, from its tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lxml.etree import iterwalk
from lxml.html import HtmlElement

from surefoot.documents.loaders import Block
from surefoot.documents.loaders._grid import Cell, rows
from surefoot.documents.loaders._manual import is_manual, manual
from surefoot.text.blocks import bullets, code, definition, paragraph, table
from surefoot.types import BlockKind

DEEPEST = 40
"""Lists, tables, definitions and boxes in one another, at most; deeper ones are read as if they were plain text."""

LONGEST_TERM = 100
"""Characters of a term that may be an element of a path."""
LONGEST_MEANING = 600
"""Characters of a meaning that stays one block with its term."""

_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure"
    " footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li listing main menu nav ol optgroup option p"
    " plaintext pre search section summary table tbody td tfoot th thead tr ul xmp".split()
)
"""Elements that begin a new line; all others are part of one."""
_LINES = frozenset(("p", "div", "tr", "li"))
"""Those of them that stand in code, each on lines of its own."""
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_LABELS = frozenset(
    "attention caution danger error hint important info information note notes notice remark see also tip tips warning"
    " warnings".split()
) | {"see also"}
"""Texts that name the kind of a box, and are no heading."""
_BOXES = _LABELS - {"error", "see", "also", "info", "information"} | {"admonition", "admonitionblock", "seealso"}
_BARS = frozenset("navigation navheader navfooter".split())
_LISTS_OF_LINKS = frozenset("nav navbar header toc contents related sphinxsidebar breadcrumbs".split())
"""Classes of menus and tables of contents, but also of other things."""
_FEET = frozenset({"footer", "contentinfo"})
_CAPTIONS = frozenset(
    "title caption admonition-title topic-title sidebar-title code-block-caption figure-title table-title".split()
)
_CONTROLS = frozenset("button input label option select textarea".split())
PERMALINKS = frozenset("¶ # 🔗 § \uf0c1".split())
"""Texts of the links that documentation tools put behind a heading."""
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight|brush:?|source|src)[-\s]([A-Za-z][\w+#.]{0,19})(?![\w-])")
_NO_LANGUAGE = frozenset("default none text plain plaintext notranslate example".split())
_WORDS = re.compile(r"\w+")
_TITLES = re.compile(r"\s+[—–|·:«»-]\s+|\s+(?=\()")
"""Between the parts of a title, of which one is of the page and others are of what it belongs to."""


def page_blocks(page: HtmlElement, title: str) -> tuple[Block, ...]:
    """All blocks of a page that holds only what is shown; `title` is left out of their paths."""
    return tuple(_Walk(title).blocks(page))


def page_title(page: HtmlElement) -> str:
    """The page's title, else its first heading; empty where it has neither. Never a word such as "Note"."""
    for element in page.iter("title", "h1"):
        said = _Walk("").words(element)
        if said and said.lower() not in _LABELS:
            return said
    return ""


@dataclass(slots=True)
class _Count:
    """Letters and digits, those of them in links, and links."""

    letters: int = 0
    linked: int = 0
    links: int = 0

    def copy(self) -> _Count:
        """What has been counted so far."""
        return _Count(self.letters, self.linked, self.links)

    def is_menu(self, since: _Count, fewest: int = 1) -> bool:
        """Whether nearly all that was counted after `since` stands in links."""
        letters = self.letters - since.letters
        return self.links - since.links >= fewest and letters > 0 and self.linked - since.linked >= 0.9 * letters


class _Walk:
    """Goes through a page once."""

    def __init__(self, title: str) -> None:
        self._titles = {title.casefold(), *_TITLES.split(title.casefold())}
        self._out: list[Block] = []
        self._path: list[tuple[int, str]] = []
        """The headings above, each with its level; an empty one is the page's title."""
        self._headings = 0
        self._lonely: tuple[int, Block] | None = None
        """The last heading and its level, until something stands below it."""
        self._said: list[str] = []
        """The line that is being read."""
        self._begun = _Count()
        """What had been counted before that line."""
        self._start = ""
        """The place of its first word."""
        self._place = ""
        """The last anchor."""
        self._count = _Count()
        self._links: list[HtmlElement] = []
        self._depth = 0
        self._boxes = 0
        """How many boxes and menus are around; headings in them are no headings of the page."""
        self._tags: dict[str, Callable[[HtmlElement], None]] = {
            **dict.fromkeys(_HEADINGS, self._heading),
            **dict.fromkeys(("ul", "ol", "menu", "dir"), self._list),
            **dict.fromkeys(("pre", "listing", "xmp", "plaintext"), self._code),
            **dict.fromkeys(("caption", "figcaption", "summary"), self._caption),
            "dl": self._definitions,
            "table": self._table,
            "nav": self._bar,
            "footer": self._foot,
            "aside": self._box,
            "head": lambda _: None,
        }

    def blocks(self, page: HtmlElement) -> list[Block]:
        found = self._inside(page)
        return [*found, self._lonely[1]] if self._lonely else found

    def words(self, element: HtmlElement) -> str:
        """All that an element says, on one line."""
        return paragraph(" ".join(map(_bare, self._inside(element))))

    # Lines

    def _inside(self, element: HtmlElement, whole: bool = False) -> list[Block]:
        """The blocks of an element's content, or of the `whole` element."""
        self._mark(element)
        held, self._out = self._out, []
        self._flow(element, whole)
        self._end()
        found, self._out = self._out, held
        return found

    def _flow(self, root: HtmlElement, whole: bool) -> None:
        # Without recursion but for what `_handler` finds: strangers nest elements as deep as the parser lets them.
        if not whole:
            self._say(root.text)
        walk = iterwalk(root, events=("start", "end"))
        divisions: list[tuple[HtmlElement, str, str]] = []
        for event, element in walk:
            if element is root and not whole:
                continue
            if event == "start":
                before = self._place
                if self._open(element):
                    walk.skip_subtree()
                elif element.tag == "div" and len(element) and self._place != before:
                    divisions.append((element, before, self._place))
                continue
            if divisions and divisions[-1][0] is element:  # what follows a menu does not stand in it
                _, before, own = divisions.pop()
                self._place = before if self._place == own else self._place
            if element.tag in _BLOCKS:
                self._end()
            if self._links and self._links[-1] is element:
                self._links.pop()
            if element is not root:
                self._say(element.tail)

    def _open(self, element: HtmlElement) -> bool:
        """Begin an element; whether it is read to its end."""
        self._mark(element)
        tag = element.tag
        if tag == "a" and (href := element.get("href")) is not None:
            if href.startswith("#") and _short(element) in PERMALINKS:
                return True
            self._links.append(element)
            self._count.links += 1
        handler = self._handler(element) if tag in _BLOCKS and self._depth < DEEPEST else None
        if handler:
            self._end()
            before, made = self._place, len(self._out)
            self._depth += 1
            handler(element)
            self._depth -= 1
            if len(self._out) > made and all(block.kind == "contents" for block in self._out[made:]):
                self._place = before  # as behind a menu that is a division
            return True
        if tag in _BLOCKS:
            self._end()
        if tag == "br" or (tag == "sup" and self._links):  # the number of a footnote is no part of the word
            self._say(" ")
        self._say(element.text)
        return False

    def _mark(self, element: HtmlElement) -> None:
        if element.tag in _CONTROLS:  # the field of a search: nothing is read there
            return
        self._place = element.get("id") or (element.get("name") if element.tag == "a" else None) or self._place

    def _say(self, text: str | None) -> None:
        if not text:
            return
        if letters := sum(map(len, _WORDS.findall(text))):
            self._count.letters += letters
            self._count.linked += letters if self._links else 0
        if not self._said or not any(map(str.strip, self._said[:1])):
            if not text.strip():
                return
            self._start = self._place
        self._said.append(text)

    def _end(self) -> None:
        """End the line."""
        text = paragraph("".join(self._said))
        self._said.clear()
        if text:
            kind: BlockKind = "contents" if self._count.is_menu(self._begun, 2) else "paragraph"
            self._put(Block(text, kind, self._names(), self._start))
        self._begun = self._count.copy()

    def _put(self, block: Block) -> None:
        self._lonely = None
        self._out.append(block)

    def _names(self) -> tuple[str, ...]:
        return tuple(name for _, name in self._path if name)

    # What is more than a line

    def _handler(self, element: HtmlElement) -> Callable[[HtmlElement], None] | None:
        if element.tag in ("ul", "ol") and next(element.iter(*_HEADINGS), None) is not None and not _is_menu(element):
            return None  # the page is laid out as a list
        if element.tag in self._tags:
            return self._tags[element.tag]
        said = element.get("class", "").lower().split()
        role, id = element.get("role", "").lower(), element.get("id", "").lower()
        if element.tag not in ("body", "html", "main") and not _BOXES.isdisjoint(said):
            return self._box
        if role in _FEET or id in _FEET or not _FEET.isdisjoint(said):
            return self._foot
        if not _BARS.isdisjoint((role, *said)) or (not _LISTS_OF_LINKS.isdisjoint((id, *said)) and _is_menu(element)):
            return self._bar
        return self._caption if element.tag in ("p", "div") and not _CAPTIONS.isdisjoint(said) else None

    def _heading(self, element: HtmlElement) -> None:
        if self._boxes:
            self._caption(element)
            return
        above = self._lonely  # which reading the words forgets
        name, level = self.words(element), int(element.tag[1])
        if not name:
            self._lonely = above
            return
        if above and above[0] >= level:
            self._put(above[1])
        self._headings += 1
        self._path = [(depth, above) for depth, above in self._path if depth < level]
        caption = Block(name, "caption", self._names(), self._place)
        is_title = name.casefold() in self._titles
        self._path.append((level, "" if is_title else name))
        self._lonely = None if is_title else (level, caption)

    def _caption(self, element: HtmlElement) -> None:
        if said := self.words(element):
            self._put(Block(said, "caption", self._names(), self._place))

    def _box(self, element: HtmlElement) -> None:
        found = self._boxed(element)
        label = ""
        if found and (found[0].kind == "caption" or found[0].text.rstrip(":.!").lower() in _LABELS):
            label, place = found[0].text.rstrip(": "), found[0].place
            found = found[1:]
            if not found or found[0].kind != "paragraph":
                self._put(Block(f"{label}:", "note", self._names(), place))
                label = ""
        for block in found:
            text = f"{label}: {block.text}" if label else block.text
            self._put(replace(block, text=text, kind="note") if block.kind == "paragraph" else block)
            label = ""

    def _boxed(self, element: HtmlElement, whole: bool = False) -> list[Block]:
        self._boxes += 1
        found = self._inside(element, whole)
        self._boxes -= 1
        return found

    def _bar(self, element: HtmlElement) -> None:
        lonely = self._lonely  # a menu stands below no heading
        if found := self._boxed(element):
            self._put(Block("\n".join(block.text for block in found), "contents", (), found[0].place))
        self._lonely = lonely

    def _foot(self, element: HtmlElement) -> None:
        lonely = self._lonely
        for block in self._boxed(element):
            self._put(replace(block, path=()))
        self._lonely = lonely

    def _code(self, element: HtmlElement) -> None:
        before, self._begun = self._begun, self._count.copy()
        text = "".join(self._raw(element)).replace("\r\n", "\n").replace("\xa0", " ")
        is_menu = self._count.is_menu(self._begun, 2)
        self._begun = before
        if not text.strip():
            return
        if is_manual(text):
            for path, kind, said in manual(text):
                self._put(Block(said, kind, (*self._names(), *path), self._start))
        else:
            written = code(text, _language(element))
            self._put(Block(written, "contents" if is_menu else "code", self._names(), self._start))

    def _raw(self, element: HtmlElement) -> Iterator[str]:
        """Text with its line ends, as it stands."""
        self._start = self._place
        ended = False
        for event, inner in iterwalk(element, events=("start", "end")):
            if event == "start":
                if inner is not element:
                    self._mark(inner)
                    if inner.tag == "br" or inner.tag in _LINES:
                        yield "\n"
                        ended = False
                if inner.tag == "a" and "href" in inner.attrib:
                    self._links.append(inner)
                    self._count.links += 1
                said = inner.text
            else:
                if self._links and self._links[-1] is inner:
                    self._links.pop()
                said = inner.tail if inner is not element else None
                ended = ended or inner.tag in _LINES
            if said:
                if ended and not said.startswith("\n"):
                    yield "\n"
                ended = False
                letters = sum(map(len, _WORDS.findall(said)))
                self._count.letters += letters
                self._count.linked += letters if self._links else 0
                yield said

    # Lists

    def _list(self, element: HtmlElement) -> None:
        before = self._count.copy()
        items: list[list[Block]] = [self._loose(element.text)]
        for child in element:
            found = self._boxed(child, whole=child.tag != "li")
            if child.tag == "li":
                items.append(found)
            else:
                items[-1] += found
            items[-1] += self._loose(child.tail)
        items = [item for item in items if item]
        if not items:
            return
        first = _first_number(element) if element.tag == "ol" else None
        path, place = items[0][0].path, items[0][0].place
        if self._count.is_menu(before):
            self._put(Block(_listed(items, first), "contents", self._names(), place))
        elif not any(b.kind in _LARGE for item in items for b in item):
            self._put(Block(_listed(items, first), "list", path, place))
        else:
            for number, (head, *rest) in enumerate(items, start=first or 0):
                text = _listed([[head]], None if first is None else number)
                self._put(replace(head, text=text, kind="list") if head.kind == "paragraph" else head)
                for block in rest:
                    self._put(block)

    def _loose(self, text: str | None) -> list[Block]:
        """Text that stands where none may stand."""
        if not text or not text.strip():
            return []
        self._say(text)
        held, self._out = self._out, []
        self._end()
        found, self._out = self._out, held
        return found

    def _definitions(self, element: HtmlElement) -> None:
        before, path = self._count.copy(), list(self._path)
        groups: list[_Group] = [_Group([], self._loose(element.text))]
        for child in _entries(element):
            found = self._boxed(child) if child.tag == "dt" else self._inside(child, whole=child.tag != "dd")
            if self._lonely:
                found.append(self._lonely[1])
                self._lonely = None
            if child.tag == "dt":
                if groups[-1].body:
                    groups.append(_Group([], []))
                groups[-1].terms += found
            else:
                groups[-1].body += found
            groups[-1].body += self._loose(child.tail)
            self._path = list(path)
        if self._count.is_menu(before) and (found := [b for g in groups for b in (*g.terms, *g.body)]):
            text = _listed(([*group.terms, *group.body] for group in groups), None)
            self._put(Block(text, "contents", self._names(), found[0].place))
            return
        for group in groups:
            for block in group.blocks(self._names()):
                self._put(block)

    # Tables

    def _table(self, element: HtmlElement) -> None:
        before, headings, is_first = self._count.copy(), self._headings, not self._out
        found: list[tuple[bool, list[Cell]]] = []
        for section in element:
            if section.tag == "tr":
                found.append((False, self._row(section)))
            elif section.tag in ("thead", "tbody", "tfoot"):
                self._mark(section)
                for row in section:
                    if row.tag == "tr":
                        found.append((section.tag == "thead", self._row(row)))
                    else:
                        self._out += self._inside(row, whole=True)
            else:
                self._out += self._inside(section, whole=True)
            self._out += self._loose(section.tail)
        found = [(is_head, cells) for is_head, cells in found if any(cell.blocks for cell in cells)]
        blocks = [block for _, cells in found for cell in cells for block in cell.blocks]
        if not blocks:
            return
        heads = sum(is_head for is_head, _ in found)
        if not heads and len(found) > 1 and all(cell.is_head for cell in found[0][1]):
            heads = 1
        if headings != self._headings or (self._boxes and is_first) or not (heads or _is_grid(found)):
            for block in blocks:
                self._put(block)
            return
        said = rows([cells for _, cells in found])
        if self._count.is_menu(before):
            text = "\n".join(paragraph(" ".join(line)) for line in said)
            self._put(Block(text, "contents", blocks[0].path, blocks[0].place))
            return
        header = [paragraph(" ".join(column)) for column in _columns(said[:heads])]
        text = table(said[heads:], header) or table(said)
        self._put(Block(text, "table", blocks[0].path, blocks[0].place))

    def _row(self, row: HtmlElement) -> list[Cell]:
        self._mark(row)
        cells: list[Cell] = []
        for cell in row:
            blocks = self._inside(cell, whole=cell.tag not in ("td", "th")) + self._loose(cell.tail)
            text = " ".join(map(_bare, blocks))
            cells.append(
                Cell(paragraph(text), blocks, cell.tag == "th", _span(cell, "colspan"), _span(cell, "rowspan"))
            )
        return cells


_LARGE = ("table", "definition")
"""Kinds of blocks that are not written inside a list."""


@dataclass(slots=True)
class _Group:
    """Terms, and the meaning that they share."""

    terms: list[Block]
    body: list[Block]

    def blocks(self, path: tuple[str, ...]) -> Iterator[Block]:
        """One block where the meaning is short, else the term as a heading of several."""
        names = [paragraph(_bare(block)) for block in self.terms]
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


def _entries(element: HtmlElement) -> Iterator[HtmlElement]:
    """The parts of a list of definitions, also where a div holds those that belong together."""
    for child in element:
        if child.tag == "div":
            yield from child
        else:
            yield child


def _bare(block: Block) -> str:
    """The words of a block, without the fences of code."""
    return "\n".join(block.text.split("\n")[1:-1]) if block.kind == "code" else block.text


def _listed(items: Iterable[Sequence[Block]], first: int | None) -> str:
    """A list, numbered from `first`; None: with bullets."""
    said = ["\n".join(block.text for block in item) for item in items]
    if first is None or first == 1:
        return bullets(said, ordered=first == 1)
    marks = (f"{number}. " for number in range(first, first + len(said)))
    return "\n".join(mark + text.replace("\n", "\n" + " " * len(mark)) for mark, text in zip(marks, said, strict=True))


def _first_number(element: HtmlElement) -> int:
    said = element.get("start", "")
    return int(said) if re.fullmatch("[0-9]{1,4}", said) else 1


def _span(cell: HtmlElement, name: str) -> int:
    said = cell.get(name, "")
    return max(1, int(said)) if re.fullmatch("[0-9]{1,4}", said) else 1


def _columns(lines: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    for place in range(max(map(len, lines), default=0)):
        yield [line[place] for line in lines if place < len(line)]


def _is_grid(found: Sequence[tuple[bool, Sequence[Cell]]]) -> bool:
    """Whether a table without a header is one of values, and not a way to lay out a page."""
    cells = [cell for _, row in found for cell in row]
    return max(len(row) for _, row in found) > 1 and not any(
        block.kind in ("code", "table", "list", "definition") or len(block.text) > LONGEST_MEANING
        for cell in cells
        for block in cell.blocks
    )


def _language(element: HtmlElement) -> str:
    """The language that the classes of code, or of the boxes around it, name; empty: none."""
    inner = element[0] if len(element) and element[0].tag == "code" else None
    outer = element.getparent()
    around = (inner, element, outer, outer.getparent() if outer is not None else None)
    for one in around:
        if one is not None and (found := _LANGUAGE.search(one.get("class", "")[:200])):
            return "" if found[1].lower() in _NO_LANGUAGE else found[1].lower()
    return ""


def _short(element: HtmlElement) -> str:
    """What a link says, if it is a sign or two."""
    said = ""
    for piece in element.itertext():
        said += piece.strip()
        if len(said) > 2:
            break
    return said


def _is_menu(element: HtmlElement) -> bool:
    """Whether most of an element stands in links."""
    letters, linked, links = 0, 0, 0
    for event, inner in iterwalk(element, events=("start", "end")):
        change = inner.tag == "a" and "href" in inner.attrib
        links += (1 if event == "start" else -1) * change
        if said := inner.text if event == "start" else inner.tail if inner is not element else None:
            count = sum(map(len, _WORDS.findall(said)))
            letters += count
            linked += count if links else 0
    return linked > 0.6 * letters
