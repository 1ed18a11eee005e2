"""HTML: all that a browser shows of a page, as blocks."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import PurePath
from typing import BinaryIO

from charset_normalizer import from_bytes
from lxml.etree import ParserError
from lxml.html import Element, HtmlElement, HTMLParser, document_fromstring

from surefoot.documents.hidden_html import prune
from surefoot.documents.loaders import Block, Document, DocumentProblem, Unreadable
from surefoot.documents.loaders._markup import page_blocks, page_title

_SAMPLE = 5000
"""Bytes from which an encoding is guessed, at the start and at the end."""


class HtmlLoader:
    """Reads pages, as far as a browser would show them."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The page as one document, under its own title, without text that a browser would not show."""
        yield page(stream.read(), name)


def page(content: bytes, name: str, blocks: Callable[[HtmlElement, str], tuple[Block, ...]] = page_blocks) -> Document:
    """The page as a document of all blocks of its tree, or of these, from which hidden text is taken out. Raises
    Unreadable where there are none."""
    tree = parsed(content)
    prune(tree)
    title = page_title(tree) or PurePath(name).stem
    if found := blocks(tree, title):
        return Document("", title, found)
    raise Unreadable("holds no text that could be found; save the page again, or as .txt")


def parsed(content: bytes) -> HtmlElement:
    """The page as a tree, without its comments."""
    # A parser without `huge_tree` drops what is nested deeper than 256, as behind the open <font> tags of old pages.
    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        return document_fromstring(_decoded(content).encode("utf-8", "surrogatepass"), parser=parser)
    except ParserError:
        return Element("html")  # an empty page


def _decoded(content: bytes) -> str:
    with suppress(UnicodeDecodeError):
        return content.decode("utf-8-sig")
    # It looks first at what the page says that its encoding is.
    best = from_bytes(content if len(content) < 2 * _SAMPLE else content[:_SAMPLE] + content[-_SAMPLE:]).best()
    return content.decode(best.encoding if best else "utf-8", "replace")
