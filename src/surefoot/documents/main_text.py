"""The main text of a page of the web, without menus, footers and the like, by trafilatura (extra `web`)."""

import logging
from collections.abc import Iterator
from typing import BinaryIO

from lxml.html import HtmlElement
from trafilatura import bare_extraction
from trafilatura.settings import Document as Page

from surefoot.documents.loaders import Block, Document
from surefoot.documents.loaders._markup import page_blocks
from surefoot.documents.loaders._markup_parts import PERMALINKS
from surefoot.documents.loaders.html import page

logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # a page without text is raised as Unreadable

_TAGS = {"list": "ul", "item": "li", "row": "tr", "cell": "td", "quote": "blockquote", "lb": "br"}
"""Names of trafilatura to those of HTML; others are the same, or of elements within a line."""


def read(stream: BinaryIO, name: str) -> Iterator[Document]:
    """The page as one document; the whole of it where no main text can be told apart."""
    yield page(stream.read(), name, lambda tree, title: _main(tree, title) or page_blocks(tree, title))


def _main(tree: HtmlElement, title: str) -> tuple[Block, ...]:
    for link in tree.xpath("//a[starts-with(@href, '#')]"):
        if link.text_content().strip() in PERMALINKS:
            link.drop_tree()
    found = bare_extraction(tree, favor_recall=True, include_comments=False)
    if not isinstance(found, Page) or found.body is None:
        return ()
    for element in found.body.iter():
        if element.tag == "head":
            element.tag = element.get("rend", "h2")
        elif element.tag == "code" and any("\n" in text for text in element.itertext()):
            element.tag = "pre"
        else:
            element.tag = _TAGS.get(element.tag, element.tag)
    return page_blocks(found.body, title)
