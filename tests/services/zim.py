"""Writes a ZIM file as Kiwix's Wikipedia is one, out of pages of plain text.

    python tests/services/zim.py PAGES.jsonl FILE.zim

A line of PAGES.jsonl is {"title": ..., "paragraphs": [...]}. A page that says "may refer to" becomes a disambiguation
page, with Wikipedia's markup for one, that lists all pages whose title is its own with something behind it.
"""

from __future__ import annotations

import html
import json
import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from libzim.writer import Creator, Hint, Item, StringProvider

MARK = (
    '<div id="disambigbox" class="metadata plainlinks dmbox dmbox-disambig" role="note">This page lists articles.</div>'
)


class Article(Item):  # type: ignore[misc]  # libzim has no types
    """A page of HTML."""

    def __init__(self, title: str, body: str) -> None:
        super().__init__()
        self._title = title
        self._page = f"<!DOCTYPE html><html><head><title>{html.escape(title)}</title></head><body>{body}</body></html>"

    def get_path(self) -> str:
        """As Wikipedia writes a title in an address."""
        return path(self._title)

    def get_title(self) -> str:
        """As it is shown."""
        return self._title

    def get_mimetype(self) -> str:
        """The full-text index takes in HTML only."""
        return "text/html"

    def get_contentprovider(self) -> StringProvider:
        """The whole page."""
        return StringProvider(self._page)

    def get_hints(self) -> dict[Hint, bool]:
        """Suggestions are made of front articles only."""
        return {Hint.FRONT_ARTICLE: True}


def write(
    target: Path, bodies: Mapping[str, str], redirects: Mapping[str, str] | None = None, index: bool = True
) -> Path:
    """A ZIM file of these bodies by title, and of redirects from title to title; without `index`, none of full text."""
    target.unlink(missing_ok=True)
    creator = Creator(target).config_indexing(index, "eng").config_nbworkers(1).set_mainpath(path(next(iter(bodies))))
    with creator:
        for title, body in bodies.items():
            creator.add_item(Article(title, body))
        for title, leads_to in (redirects or {}).items():
            creator.add_redirection(path(title), title, path(leads_to), {Hint.FRONT_ARTICLE: True})
        for name, value in {"Title": "test", "Language": "eng", "Name": "test"}.items():
            creator.add_metadata(name, value)
    return target


def path(title: str) -> str:
    """The path of a title."""
    return title.replace(" ", "_")


def bodies(pages: Iterable[Mapping[str, object]]) -> Iterator[tuple[str, str]]:
    """Title and HTML of pages of plain text."""
    texts = {str(page["title"]): [str(part) for part in page["paragraphs"]] for page in pages}  # type: ignore[attr-defined]
    titles = sorted(texts)
    for title, paragraphs in texts.items():
        if any("may refer to" in part or "may also refer" in part for part in paragraphs[:2]):
            yield title, listing(title, under(title, titles))
        else:
            yield title, "".join(f"<p>{html.escape(part)}</p>\n" for part in paragraphs)


def listing(title: str, others: Iterable[str]) -> str:
    """The HTML of a disambiguation page."""
    items = "".join(f'<li><a href="./{quote(path(other))}">{html.escape(other)}</a></li>\n' for other in others)
    return f"<p><b>{html.escape(title)}</b> may refer to:</p>\n<ul>{items}</ul>{MARK}"


def under(title: str, titles: Sequence[str]) -> Iterator[str]:
    """The titles that are this one with a space, a comma or a bracket behind it; `titles` are in order."""
    for other in titles[bisect_left(titles, title) :]:
        if not other.startswith(title):
            return
        if other != title and other[len(title)] in " ,(":
            yield other


if __name__ == "__main__":
    source, file = map(Path, sys.argv[1:])
    rows = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    write(file, dict(bodies(rows)))
