"""A document as pandoc writes it in XML, turned into a page of HTML, which the reader of pages then walks."""

import re
from collections.abc import Callable

from lxml.etree import fromstring
from lxml.html import HtmlElement, XHTMLParser

from surefoot.text.blocks import paragraph

_NOTES = frozenset(
    "note warning tip important caution danger attention hint error admonition seealso versionadded versionchanged"
    " deprecated".split()
)
_TERMS = frozenset(
    "function method class data attribute option cmdoption envvar confval directive role exception module describe"
    " property type macro program tab".split()
)
"""Directives of Sphinx whose first paragraph names what the others describe."""
_SKIPPED = frozenset("toctree index only-latex".split())
_MARKUP = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}|(?<!\\)%.*|\\[a-zA-Z@]+\*?(?:\[[^\[\]]*\])*|\\.|[{}~&$]")
"""Commands of TeX, without what stands in braces behind them."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""What XML may not hold."""
_TAGS = {
    "Para": "p",
    "Plain": "p",
    "BlockQuote": "blockquote",
    "BulletList": "ul",
    "OrderedList": "ol",
    "DefinitionList": "dl",
    "item": "div",
    "term": "dt",
    "def": "dd",
    "LineBlock": "div",
    "HorizontalRule": "hr",
    "Table": "table",
    "TableHead": "thead",
    "header": "tbody",
    "body": "tbody",
    "TableFoot": "tfoot",
    "Row": "tr",
    "Cell": "td",
    "Figure": "figure",
    "Caption": "figcaption",
}
"""By the names of pandoc those of HTML; what has no other is part of a line."""


def titled_page(content: str, is_notebook: bool) -> tuple[str, HtmlElement]:
    """The title that a document gives itself, of a manual page with its section, and the page."""
    parser = XHTMLParser(recover=True, huge_tree=True, resolve_entities=False)
    tree = fromstring(_CONTROLS.sub("", content), parser)
    for number, cell in enumerate(tree.xpath("//Div[contains(@class, 'cell')]") if is_notebook else (), start=1):
        cell.set("id", f"cell={number}")
        for header in cell.iter("Header"):
            header.set("id", "")
    for element in reversed([*tree.iter(*_CHANGES)]):
        _CHANGES[element.tag](element)
    for element in tree.iter(*_TAGS):
        element.tag = _TAGS[element.tag]
    meta, page = tree
    title, section = (paragraph("".join(meta.xpath(f"entry[@key='{key}']//text()"))) for key in ("title", "section"))
    for key in ("abstract",) if section else ("abstract", "date", "author"):
        for part in reversed(meta.xpath(f"entry[@key='{key}']//*[self::MetaInlines or self::MetaBlocks]")):
            part.tag = "div"
            page.insert(0, part)
    return f"{title}({section})" if section else title, page


def _drop(element: HtmlElement) -> None:
    element.drop_tree()


def _space(element: HtmlElement) -> None:
    element.tail = " " + (element.tail or "")


def _string(element: HtmlElement) -> None:
    element.text = element.get("content")
    element.attrib.clear()


def _enclose(element: HtmlElement, before: str, after: str) -> None:
    element.text = before + (element.text or "")
    if len(element):
        element[-1].tail = (element[-1].tail or "") + after
    else:
        element.text += after


def _quoted(element: HtmlElement) -> None:
    mark = '"' if element.get("quote-type") == "DoubleQuote" else "'"
    _enclose(element, mark, mark)


def _link(element: HtmlElement) -> None:
    """With its address where that leads out of the corpus."""
    target, text = element.get("href", ""), "".join(element.itertext()).strip()
    element.attrib.clear()
    if not text:
        element.text = target
    elif target.startswith(("http://", "https://")) and text != target:
        _enclose(element, "[", f"]({target})")


def _code(element: HtmlElement) -> None:
    """Without the target of a role of Sphinx, as in :ref:`text <target>`."""
    if element.get("role"):
        text = (element.text or "").rstrip()
        text = text.rpartition("<")[0] or text if text.endswith(">") else text
        element.text = text.rstrip().lstrip("~!")
    element.attrib.clear()


def _math(element: HtmlElement) -> None:
    """A formula on one line; one that is a paragraph of its own as code."""
    element.text = " ".join((element.text or "").replace("\\ ", " ").split(" "))
    above = element.getparent()
    if above.tag == "Para" and len(above) == 1 and not above.text and not element.tail:
        above.tag = "pre"
        above.set("class", "language-latex")


def _raw(element: HtmlElement) -> None:
    """The words of TeX whose commands pandoc does not know; empty for numbers and lengths, and for other sources."""
    text = _MARKUP.sub(" ", element.text or "") if "tex" in element.get("format", "") else ""
    element.attrib.clear()
    element.text = text if re.search(r"[^\W\d_]{3}", text) else ""
    if element.tag == "RawBlock":
        element.tag = "div"
        parts, element.text = re.split(r"\n\s*\n", element.text), None
        for part in parts:
            line = element.makeelement("p")
            line.text = part
            element.append(line)


def _note(element: HtmlElement) -> None:
    """A footnote, behind the block that it belongs to."""
    block = next(element.iterancestors("Para", "Plain", "Header", "LineBlock", "DefinitionList"), None)
    element.drop_tree()
    if block is not None:
        element.tag, element.tail = "div", None
        element.set("class", "note")
        block.addnext(element)


def _header(element: HtmlElement) -> None:
    level, id = int(element.get("level", "1")), element.get("id", "")
    element.attrib.clear()
    element.tag = f"h{max(1, min(level, 6))}"
    number = id.removeprefix("slide-")
    element.set("id", f"slide={number}" if number != id and number.isdecimal() else id)


def _code_block(element: HtmlElement) -> None:
    language = element.get("class", "").split()
    element.attrib.clear()
    element.tag = "pre"
    element.set("class", f"language-{language[0]}" if language else "")


def _list(element: HtmlElement) -> None:
    for item in element:
        item.tag = "li"


def _table(element: HtmlElement) -> None:
    """A table without a header still begins with one more often than not."""
    element.attrib.clear()
    head, body = element.find("TableHead"), element.find("body")
    if len(head) == 0 and body is not None and len(body) > 1:
        head.append(body[0])


def _cell(element: HtmlElement) -> None:
    for name in ("col", "row"):
        element.set(f"{name}span", element.get(f"{name}-span", "1"))


def _division(element: HtmlElement) -> None:
    classes, id = element.get("class", "").split(), element.get("id", "")
    note = next((name for name in classes if name in _NOTES), "")
    element.attrib.clear()
    element.tag = "div"
    first = element[0] if len(element) else None
    if not _SKIPPED.isdisjoint(classes):
        element.drop_tree()
    elif note:
        element.set("class", "note")
        if first is None or first.get("class") != "title" or not "".join(first.itertext()).strip():
            title = element.makeelement("div", {"class": "title"})
            title.text = note.capitalize()
            element.insert(0, title)
    elif first is not None and first.tag in ("Para", "Plain") and not _TERMS.isdisjoint(classes):
        element.tag, first.tag = "dl", "dt"
        meaning = element.makeelement("dd")
        meaning.extend(element[1:])
        element.append(meaning)
    elif "title" in classes:
        element.set("class", "title")
    elif id.startswith("cell="):
        element.set("id", id)


_CHANGES: dict[str, Callable[[HtmlElement], None]] = {
    **dict.fromkeys(("Image", "citations", "colspecs"), _drop),
    **dict.fromkeys(("Space", "SoftBreak", "LineBreak", "line"), _space),
    **dict.fromkeys(("RawInline", "RawBlock"), _raw),
    **dict.fromkeys(("BulletList", "OrderedList"), _list),
    "Str": _string,
    "Quoted": _quoted,
    "Link": _link,
    "Code": _code,
    "Math": _math,
    "Note": _note,
    "Header": _header,
    "CodeBlock": _code_block,
    "Table": _table,
    "TableBody": lambda element: element.drop_tag(),
    "Cell": _cell,
    "Div": _division,
    "Span": lambda element: element.attrib.clear(),
}
