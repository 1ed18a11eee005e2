"""HTML: all that a browser shows of a page, as blocks; of a page of the web, only its main text."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import BinaryIO

from lxml.etree import ParserError
from lxml.html import HtmlElement, HTMLParser, document_fromstring
from trafilatura import bare_extraction
from trafilatura.settings import Document as Page
from trafilatura.utils import decode_file

from surefoot.documents.hidden_html import prune
from surefoot.documents.loaders import Block, Document, DocumentProblem, Unreadable
from surefoot.documents.loaders._markup import page_blocks, page_title
from surefoot.documents.loaders._markup_parts import PERMALINKS

logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # it logs what is raised here as Unreadable

_CHARSET = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?((?:iso-8859-|latin|windows-|cp|koi8-|shift_jis|euc-|gb|big5)[\w-]{0,20})",
    re.IGNORECASE,
)
"""The encoding that a page says it has, if it is one of texts; others of Python's may take long."""
_TAGS = {"list": "ul", "item": "li", "row": "tr", "cell": "td", "quote": "blockquote", "lb": "br"}
"""Names of trafilatura to those of HTML; others are the same, or of elements within a line."""


class HtmlLoader:
    """Reads pages, as far as a browser would show them.

    With `main`, menus, footers and the like are left out, where trafilatura can tell them apart.
    """

    def __init__(self, main: bool = False) -> None:
        self._main = main

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The page as one document, under its own title, without text that a browser would not show."""
        tree = _parsed(stream.read())
        if tree is not None:
            prune(tree)
            title = page_title(tree) or PurePath(name).stem
            found = (_main(tree, title) if self._main else ()) or page_blocks(tree, title)
            if found:
                yield Document("", title, found)
                return
        raise Unreadable("holds no text that could be found; save the page again, or as .txt")


def _parsed(content: bytes) -> HtmlElement | None:
    """The page as a tree; None where there is none."""
    # A parser without `huge_tree` drops what is nested deeper than 256, as behind the open <font> tags of old pages.
    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        return document_fromstring(_decoded(content).encode("utf-8", "surrogatepass"), parser=parser)
    except ParserError:
        return None


def _decoded(content: bytes) -> str:
    named = _CHARSET.search(content[:4096])
    for encoding in ("utf-8-sig", *([named[1].decode()] if named else ())):
        try:
            return content.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return decode_file(content)


def _main(tree: HtmlElement, title: str) -> tuple[Block, ...]:
    for link in tree.xpath("//a[starts-with(@href, '#')]"):
        if link.text_content().strip() in PERMALINKS:
            link.drop_tree()
    page = bare_extraction(tree, favor_recall=True, include_comments=False)
    if not isinstance(page, Page) or page.body is None:
        return ()
    for element in page.body.iter():
        if element.tag == "head":
            element.tag = element.get("rend", "h2")
        elif element.tag == "code" and any("\n" in text for text in element.itertext()):
            element.tag = "pre"
        else:
            element.tag = _TAGS.get(element.tag, element.tag)
    return page_blocks(page.body, title)
