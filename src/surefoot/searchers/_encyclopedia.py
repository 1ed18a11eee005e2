"""Which page of an encyclopedia is meant, and which of its paragraphs come first: the same online and offline."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from urllib.parse import quote

from surefoot.corpus.splitter import split
from surefoot.searchers._web import Found
from surefoot.text.subject import Subject, fit, generic
from surefoot.text.words import bare, fold, words

DIRECT, SUFFIX, AMBIGUOUS, TEXT = "direct title", "typed suffix", "disambiguation", "full-text search"
"""What `Passage.via` may be: the stage that found the page."""

HEAD = 3
"""Paragraphs of the best page that come before all else."""
RIVALS = 8
"""Pages beside the best one whose first paragraph is given, where the name alone does not tell which is meant."""
SHORT = 200
"""Characters below which a paragraph takes in the next one."""
SECTION = " › "
"""Between a page's title and a heading."""

_APPENDICES = frozenset(
    "references|external links|see also|further reading|notes|bibliography|sources|citations|notes and references"
    "|footnotes|gallery".split("|")
)


@dataclass(frozen=True, slots=True)
class Page:
    """A page that may be the one that is meant."""

    title: str
    lead: str
    """What stands above its first heading, as plain text; may be empty."""
    url: str
    via: str
    ambiguous: bool = False
    """It only tells pages of one name apart."""


def good(pages: Sequence[Page], about: Subject) -> bool:
    """Whether one of them is what is asked for."""
    return any(_single(page, about) and fit(page.title, page.lead, about) for page in pages)


def best(pages: Sequence[Page], about: Subject) -> list[Page]:
    """Without those that tell names apart or are about no one thing; the entity's own pages first, by how they fit."""

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
    then what is left of the first page, those that speak of the relation before the others."""
    chosen, *others = pages
    cut = list(paragraphs(extract))
    yield from _found(chosen, cut[:HEAD])
    for page in others[:RIVALS]:
        yield from _found(page, islice(paragraphs(page.lead), 1))
    rest = [part for part in cut[HEAD:] if fold(part[0]) not in _APPENDICES]
    yield from _found(chosen, sorted(rest, key=lambda part: about.cues.isdisjoint(words(" ".join(part)))))


def paragraphs(extract: str) -> Iterator[tuple[str, str]]:
    """(heading, paragraph) of a plain text with headings between "=="; the heading is empty above the first one.

    Short ones are joined with what follows under the same heading, long ones are cut.
    """
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
    """Whether it is about one thing."""
    return not page.ambiguous and not generic(page.title, about)
