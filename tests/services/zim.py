"""Writes a ZIM file as Kiwix's Wikipedia is one."""

import html
from collections.abc import Iterable, Mapping
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
        return self._title

    def get_mimetype(self) -> str:
        """The full-text index takes in HTML only."""
        return "text/html"

    def get_contentprovider(self) -> StringProvider:
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
    return title.replace(" ", "_")


def listing(title: str, others: Iterable[str]) -> str:
    """The HTML of a disambiguation page."""
    items = "".join(f'<li><a href="./{quote(path(other))}">{html.escape(other)}</a></li>\n' for other in others)
    return f"<p><b>{html.escape(title)}</b> may refer to:</p>\n<ul>{items}</ul>{MARK}"
