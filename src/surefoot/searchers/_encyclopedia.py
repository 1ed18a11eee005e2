"""Chooses the page of an encyclopedia that is meant, and the order of its paragraphs, online and offline alike."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from urllib.parse import quote

from surefoot.index.splitter import split
from surefoot.searchers._web import Found
from surefoot.text.subject import Subject, fit, generic
from surefoot.text.words import bare, fold, words

DIRECT, SUFFIX, AMBIGUOUS, TEXT = "direct title", "typed suffix", "disambiguation", "full-text search"
"""Values of `Passage.via`: the stage that found the page."""

HEAD = 3  # paragraphs of the best page that come first
RIVALS = 8  # other pages whose first paragraph is given, since the name alone may not tell which is meant
SHORT = 200  # characters below which a paragraph is joined with the next
SECTION = " › "  # between a page's title and a heading

_APPENDICES = frozenset(
    "references|external links|see also|further reading|notes|bibliography|sources|citations|notes and references"
    "|footnotes|gallery".split("|")
)


@dataclass(frozen=True, slots=True)
class Page:
    """A page that may be meant."""

    title: str
    lead: str
    """The plain text above its first heading; may be empty."""
    url: str
    via: str
    ambiguous: bool = False
    """True: it is a disambiguation page."""


def looked_up(about: Subject, *stages: Callable[[list[Page]], Iterable[Page]]) -> list[Page]:
    """The pages that the stages find, best first. Each gets the pages so far; none is asked once a page fits."""
    pages: list[Page] = []
    for stage in stages:
        if any(_single(page, about) and fit(page.title, page.lead, about) for page in pages):
            break
        pages += stage(pages)
    return _best(pages, about)


def _best(pages: Sequence[Page], about: Subject) -> list[Page]:
    """The pages about one thing, each once; the entity's own first, by how well they fit."""

    def order(page: Page) -> tuple[bool, bool, bool, bool, int]:
        other = page.via != DIRECT and fold(bare(page.title)) != fold(about.entity)
        suits = fit(page.title, page.lead, about)
        return other and page.via == TEXT, not suits, page.via != DIRECT, other, -suits

    first: dict[str, Page] = {}
    for page in pages:
        if _single(page, about):
            first.setdefault(page.title, page)
    return sorted(first.values(), key=order)


def laid_out(pages: Sequence[Page], extract: str, about: Subject) -> Iterator[Found]:
    """The first three paragraphs of the first page, whose whole text is `extract`; the first one of each other page;
    then the rest of the first page, paragraphs that speak of the relation before the others."""
    chosen, *others = pages
    cut = list(paragraphs(extract))
    yield from _found(chosen, cut[:HEAD])
    for page in others[:RIVALS]:
        yield from _found(page, islice(paragraphs(page.lead), 1))
    rest = [part for part in cut[HEAD:] if fold(part[0]) not in _APPENDICES]
    yield from _found(chosen, sorted(rest, key=lambda part: about.cues.isdisjoint(words(" ".join(part)))))


def paragraphs(extract: str) -> Iterator[tuple[str, str]]:
    """(heading, paragraph) of a plain text with headings between "=="; above the first one the heading is empty. Short
    paragraphs are joined with the next under the same heading, long ones are cut."""
    heading = held = ""
    for line in [*map(str.strip, extract.splitlines()), "== =="]:
        title = re.fullmatch(r"=+ ?(.*?) ?=+", line)
        if held and (title or len(held) >= SHORT):
            yield from ((heading, held[start:end]) for start, end in split(held))
            held = ""
        if title:
            heading = title[1]
        elif line:
            held = f"{held}\n{line}" if held else line


def _found(page: Page, parts: Iterable[tuple[str, str]]) -> Iterator[Found]:
    for heading, text in parts:
        if heading:
            anchor = quote(heading.replace(" ", "_"))
            yield f"{page.url}#{anchor}", f"{page.title}{SECTION}{heading}", text, page.via
        else:
            yield page.url, page.title, text, page.via


def _single(page: Page, about: Subject) -> bool:
    return not page.ambiguous and not generic(page.title, about)
