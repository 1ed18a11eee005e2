"""The blocks of a page, in the order in which a browser shows them, from its tree."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import zip_longest

from lxml.etree import iterwalk
from lxml.html import HtmlElement

from surefoot.documents.hidden_html import tab_labels
from surefoot.documents.loaders import Block, _markup_parts as parts
from surefoot.documents.loaders._grid import Cell, in_cell, rows
from surefoot.documents.loaders._manual import is_manual, manual
from surefoot.text.blocks import code, paragraph, table
from surefoot.types import BlockKind

DEEPEST = 40
"""Lists, tables, definitions and boxes in one another, at most; deeper ones are read as if they were plain text."""


def page_blocks(page: HtmlElement, title: str) -> tuple[Block, ...]:
    """All blocks of a page that holds only what is shown; `title` is left out of their paths."""
    return tuple(_Walk(title).blocks(page))


def page_title(page: HtmlElement) -> str:
    """The page's title, else its first heading; empty where it has neither. Never a word such as "Note"."""
    for element in page.iter("title", "h1"):
        words = _Walk("").words(element)
        if words and words.lower() not in parts.LABELS:
            return words
    return ""


class _Walk:
    """Goes through a page once."""

    def __init__(self, title: str) -> None:
        self._titles = {title.casefold(), *parts.TITLES.split(title.casefold())}
        self._out: list[Block] = []
        self._path: list[tuple[int, str]] = []
        """The headings above, each with its level; an empty one is the page's title."""
        self._headings = 0
        self._lonely: tuple[int, Block] | None = None
        """The last heading and its level, until something stands below it."""
        self._pieces: list[str] = []
        """The line that is being read."""
        self._begun = parts.LinkCount()
        """What had been counted before that line."""
        self._start = ""
        """The place of its first word."""
        self._place = ""
        """The last anchor."""
        self._count = parts.LinkCount()
        self._links: list[HtmlElement] = []
        self._depth = 0
        self._tabs: dict[str, str] = {}
        """By the id of each panel that a tab opens, the tab's words."""
        self._boxes = 0
        """How many boxes and menus are around; headings in them are no headings of the page."""
        self._tags: dict[str, Callable[[HtmlElement], None]] = {
            **dict.fromkeys(parts.HEADINGS, self._heading),
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
        self._tabs = tab_labels(page)
        found = self._inside(page)
        return [*found, self._lonely[1]] if self._lonely else found

    def words(self, element: HtmlElement) -> str:
        """All that an element says, on one line."""
        return paragraph(" ".join(map(parts.bare, self._inside(element))))

    def _inside(self, element: HtmlElement, whole: bool = False) -> list[Block]:
        """The blocks of an element's content, or of the `whole` element."""
        self._mark(element)
        return self._collected(lambda: self._flow(element, whole))

    def _collected(self, say: Callable[[], None]) -> list[Block]:
        """The blocks that are made meanwhile."""
        held, self._out = self._out, []
        say()
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
            if element.tag in parts.BLOCKS:
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
            if href.startswith("#") and parts.short_text(element) in parts.PERMALINKS:
                return True
            self._links.append(element)
            self._count.links += 1
        handler = self._handler(element) if tag in parts.BLOCKS and self._depth < DEEPEST else None
        if handler:
            self._end()
            before, made = self._place, len(self._out)
            self._depth += 1
            handler(element)
            self._depth -= 1
            if len(self._out) > made and all(block.kind == "contents" for block in self._out[made:]):
                self._place = before  # as behind a menu that is a division
            return True
        if tag in parts.BLOCKS:
            self._end()
        if tag == "br" or (tag == "sup" and self._links):  # the number of a footnote is no part of the word
            self._say(" ")
        self._say(element.text)
        return False

    def _mark(self, element: HtmlElement) -> None:
        if element.tag in parts.CONTROLS:  # the field of a search: nothing is read there
            return
        self._place = element.get("id") or (element.get("name") if element.tag == "a" else None) or self._place

    def _say(self, text: str | None) -> None:
        if not text:
            return
        self._count.add(text, bool(self._links))
        if not self._pieces or not any(map(str.strip, self._pieces[:1])):
            if not text.strip():
                return
            self._start = self._place
        self._pieces.append(text)

    def _end(self) -> None:
        """End the line."""
        text = paragraph("".join(self._pieces)) if self._pieces else ""
        self._pieces.clear()
        if text:
            kind: BlockKind = "contents" if self._count.is_menu(self._begun, 2) else "paragraph"
            self._put(Block(text, kind, self._names(), self._start))
        self._begun = self._count.copy()

    def _put(self, *blocks: Block) -> None:
        self._lonely = None if blocks else self._lonely
        self._out += blocks

    def _names(self) -> tuple[str, ...]:
        return tuple(name for _, name in self._path if name)

    def _handler(self, element: HtmlElement) -> Callable[[HtmlElement], None] | None:
        words = element.get("class", "").lower().split()
        role, id = element.get("role", "").lower(), element.get("id", "").lower()
        if not parts.BARS.isdisjoint((role, *words)):
            return self._bar
        if (
            element.tag in ("ul", "ol")
            and next(element.iter(*parts.HEADINGS), None) is not None
            and not parts.is_menu(element)
        ):
            return None  # the page is laid out as a list
        if element.tag in self._tags:
            return self._tags[element.tag]
        if element.tag == "p" and parts.asks_in_bold(element):
            return self._heading
        if element.get("id") in self._tabs or element.tag == "details":
            return self._panel
        if role == "tablist" and self._tabs:
            return lambda _: None  # they title the panels
        if element.tag not in ("body", "html", "main") and not parts.BOXES.isdisjoint(words):
            return self._box
        if role in parts.FEET or id in parts.FEET or not parts.FEET.isdisjoint(words):
            return self._foot
        if not parts.LISTS_OF_LINKS.isdisjoint((id, *words)) and parts.is_menu(element):
            return self._bar
        return self._caption if element.tag in ("p", "div") and not parts.CAPTIONS.isdisjoint(words) else None

    def _heading(self, element: HtmlElement) -> None:
        if self._boxes:
            self._caption(element)
            return
        above = self._lonely  # which reading the words forgets
        name, level = self.words(element), parts.level(element, self._path)
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

    def _panel(self, element: HtmlElement) -> None:
        summary = element.find("summary")
        title = self._tabs.get(element.get("id", ""), "") if summary is None else self.words(summary)
        self._put(*parts.titled(self._boxed(element), self._names(), title))

    def _caption(self, element: HtmlElement) -> None:
        if words := self.words(element):
            self._put(Block(words, "caption", self._names(), self._place))

    def _box(self, element: HtmlElement) -> None:
        found = self._boxed(element)
        label = ""
        if found and (found[0].kind == "caption" or found[0].text.rstrip(":.!").lower() in parts.LABELS):
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
        self._put(*(replace(block, path=()) for block in self._boxed(element)))
        self._lonely = lonely

    def _code(self, element: HtmlElement) -> None:
        before, self._begun = self._begun, self._count.copy()
        text = "".join(self._raw(element)).replace("\r\n", "\n").replace("\xa0", " ")
        is_menu = self._count.is_menu(self._begun, 2)
        self._begun = before
        if not text.strip():
            return
        if is_manual(text):
            self._put(*(Block(words, kind, (*self._names(), *path), self._start) for path, kind, words in manual(text)))
        else:
            written = code(text, parts.language(element))
            self._put(Block(written, "contents" if is_menu else "code", self._names(), self._start))

    def _raw(self, element: HtmlElement) -> Iterator[str]:
        """Text with its line ends, as it stands."""
        self._start = self._place
        ended = False
        for event, inner in iterwalk(element, events=("start", "end")):
            if event == "start":
                if inner is not element:
                    self._mark(inner)
                    if inner.tag == "br" or inner.tag in parts.LINES:
                        yield "\n"
                        ended = False
                if inner.tag == "a" and "href" in inner.attrib:
                    self._links.append(inner)
                    self._count.links += 1
                words = inner.text
            else:
                if self._links and self._links[-1] is inner:
                    self._links.pop()
                words = inner.tail if inner is not element else None
                ended = ended or inner.tag in parts.LINES
            if words:
                if ended and not words.startswith("\n"):
                    yield "\n"
                ended = False
                self._count.add(words, bool(self._links))
                yield words

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
        first = parts.number(element, "start") if element.tag == "ol" else None
        path, place = items[0][0].path, items[0][0].place
        if self._count.is_menu(before):
            self._put(Block(parts.listed(items, first), "contents", self._names(), place))
        elif not any(b.kind in parts.LARGE for item in items for b in item):
            self._put(Block(parts.listed(items, first), "list", path, place))
        else:
            for number, (head, *rest) in enumerate(items, start=first or 0):
                text = parts.listed([[head]], None if first is None else number)
                self._put(replace(head, text=text, kind="list") if head.kind == "paragraph" else head)
                self._put(*rest)

    def _loose(self, text: str | None) -> list[Block]:
        """Text that stands where none may stand."""
        return self._collected(lambda: self._say(text)) if text and text.strip() else []

    def _definitions(self, element: HtmlElement) -> None:
        before, path = self._count.copy(), list(self._path)
        groups: list[parts.TermGroup] = [parts.TermGroup([], self._loose(element.text))]
        # A div may hold the terms and meanings that belong together.
        for child in (child for each in element for child in (each if each.tag == "div" else [each])):
            found = self._boxed(child) if child.tag == "dt" else self._inside(child, whole=child.tag != "dd")
            if self._lonely:
                found.append(self._lonely[1])
                self._lonely = None
            if child.tag == "dt":
                if groups[-1].body:
                    groups.append(parts.TermGroup([], []))
                groups[-1].terms += found
            else:
                groups[-1].body += found
            groups[-1].body += self._loose(child.tail)
            self._path = list(path)
        if self._count.is_menu(before) and (found := [b for g in groups for b in (*g.terms, *g.body)]):
            text = parts.listed(([*group.terms, *group.body] for group in groups), None)
            self._put(Block(text, "contents", self._names(), found[0].place))
            return
        for group in groups:
            self._put(*group.blocks(self._names()))

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
        if headings != self._headings or (self._boxes and is_first) or not (heads or parts.is_grid(found)):
            self._put(*blocks)
            return
        words = rows([cells for _, cells in found], heads)
        if self._count.is_menu(before):
            text = "\n".join(paragraph(" ".join(line)) for line in words)
            self._put(Block(text, "contents", blocks[0].path, blocks[0].place))
            return
        header = [paragraph(" ".join(dict.fromkeys(column))) for column in zip_longest(*words[:heads], fillvalue="")]
        text = table(words[heads:], header) or table(words)
        self._put(Block(text, "table", blocks[0].path, blocks[0].place))

    def _row(self, row: HtmlElement) -> list[Cell]:
        self._mark(row)
        cells: list[Cell] = []
        for cell in row:
            blocks = self._inside(cell, whole=cell.tag not in ("td", "th")) + self._loose(cell.tail)
            text = paragraph(" ".join(in_cell(parts.bare(block)) for block in blocks))
            columns, rows = (max(1, parts.number(cell, name)) for name in ("colspan", "rowspan"))
            cells.append(Cell(text, blocks, cell.tag == "th", columns, rows))
        return cells
