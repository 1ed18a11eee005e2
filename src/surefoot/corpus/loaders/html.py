"""HTML: the main text of the page, without its menus and footers where trafilatura can tell them apart."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import PurePath
from typing import BinaryIO

from lxml.html import HtmlElement
from trafilatura import bare_extraction, html2txt, load_html
from trafilatura.settings import Document as Page

from surefoot.corpus.loaders import Document, DocumentProblem, Unreadable
from surefoot.corpus.visibility import prune
from surefoot.text.blocks import blocks

logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # it logs what is raised here as Unreadable

_PERMALINKS = ("¶", "#", "🔗")
"""Texts of the links that documentation tools put behind a heading."""


class HtmlLoader:
    """Reads pages, as far as a browser would show them."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The page as one document, under its own title, without text that a browser would not show."""
        tree = load_html(stream.read())
        title: str | None = None
        text: str | None = None
        if tree is not None:
            prune(tree)
            _drop_permalinks(tree)
            page = bare_extraction(tree, favor_recall=True, include_comments=False, with_metadata=True)
            title, text = (page.title, page.text) if isinstance(page, Page) else (None, None)
            text = text or html2txt(tree)
        if not text or not text.strip():
            raise Unreadable("holds no text that could be found; save the page again, or as .txt")
        yield Document("", title or PurePath(name).stem, blocks(text.replace("\n", "\n\n")))


def _drop_permalinks(tree: HtmlElement) -> None:
    for link in tree.xpath("//a[starts-with(@href, '#')]"):
        if link.text_content().strip() in _PERMALINKS:
            link.drop_tree()
