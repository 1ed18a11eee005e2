"""HTML: all that a browser shows of a page, as blocks; of a page of the web, only its main text."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import PurePath
from typing import BinaryIO

from lxml.etree import ParserError
from lxml.html import HtmlElement, HTMLParser, document_fromstring
from trafilatura import bare_extraction, load_html
from trafilatura.settings import Document as Page

from surefoot.corpus.loaders import Block, Document, DocumentProblem, Unreadable
from surefoot.corpus.loaders._markup import page_blocks, page_title
from surefoot.corpus.visibility import prune

logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # it logs what is raised here as Unreadable

_TAGS = {"head": "h2", "list": "ul", "item": "li", "row": "tr", "cell": "td", "quote": "blockquote", "lb": "br"}
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
    tree = load_html(content)
    if tree is None and content.strip():  # trafilatura takes no fragment of a page
        try:
            parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
            return document_fromstring(content, parser=parser)
        except ParserError:
            return None
    return tree


def _main(tree: HtmlElement, title: str) -> tuple[Block, ...]:
    page = bare_extraction(tree, favor_recall=True, include_comments=False)
    if not isinstance(page, Page) or page.body is None:
        return ()
    for element in page.body.iter():
        element.tag = _TAGS.get(element.tag, element.tag)
    return page_blocks(page.body, title)
