"""Reads an encyclopedia's article from HTML as MediaWiki writes it."""

from collections.abc import Iterator
from urllib.parse import unquote

from lxml.html import HtmlElement

from surefoot.documents.hidden_html import prune

_MARKED = """
    //*[@property='mw:PageProp/disambiguation' or @rel='mw:PageProp/disambiguation']
    | //*[@id='disambigbox' or @id='disambig']
    | //*[contains(concat(' ', normalize-space(@class), ' '), ' dmbox-disambig ')]
"""
_NOISE = """
    //head | //script | //style | //nav | //footer | //figure | //sup[contains(@class, 'ref')]
    | //table[not(contains(@class, 'infobox'))] | //*[@id='toc' or @role='navigation' or @role='note']
    | //*[contains(@class, 'mw-editsection') or contains(@class, 'navbox') or contains(@class, 'noprint')
          or contains(@class, 'reflist') or contains(@class, 'references') or contains(@class, 'hatnote')
          or contains(@class, 'metadata')]
"""
_LINES = """
    //h2 | //h3 | //h4 | //p[not(ancestor::li or ancestor::table)] | //li[not(ancestor::table or ancestor::li)] | //dd
    | //table[not(ancestor::table)]//tr[not(.//tr)]
"""


def tells_apart(tree: HtmlElement) -> bool:
    """True if the markup says that this is a disambiguation page: by page property, template or category."""
    hrefs = (unquote(href).replace(" ", "_").lower() for href in tree.xpath("//*[contains(@href, ':')]/@href"))
    return bool(tree.xpath(_MARKED)) or any("disambiguation_pages" in href.partition("category:")[2] for href in hrefs)


def links(tree: HtmlElement) -> Iterator[tuple[str, str]]:
    """The address of the first link of each line of a list, and the line."""
    for line in tree.xpath("//li[.//a[@href]]"):
        yield line.xpath(".//a/@href")[0], _text(line)


def lines(tree: HtmlElement) -> Iterator[str]:
    """The page as plain text: a line for each paragraph, list item and row of the infobox, headings between "==".

    Everything else, and text that a browser would not show, is removed from the tree.
    """
    prune(tree)
    for element in tree.xpath(_NOISE):
        if element.getparent() is not None:
            element.drop_tree()
    found = filter(None, map(_line, tree.xpath(_LINES)))
    first = next(found, None)
    yield _text(tree) if first is None else first
    yield from found


def _line(element: HtmlElement) -> str:
    if element.tag == "tr":
        return ": ".join(filter(None, map(_text, element)))
    text = _text(element)
    return f"== {text} ==" if text and element.tag in ("h2", "h3", "h4") else text


def _text(element: HtmlElement) -> str:
    """The element's text on one line."""
    pieces = element.xpath(".//text() | .//br | .//li")
    return " ".join("".join(piece if isinstance(piece, str) else " " for piece in pieces).split())
