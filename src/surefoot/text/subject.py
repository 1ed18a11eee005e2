"""The thing that a single-fact question or a short query asks about, what it asks of it, and what that thing may be.

    What is Henry Feilden's occupation?  →  entity "Henry Feilden", relation "occupation", kinds "politician", …

The forms are those of PopQA's sixteen relations, in English, as the reproduction of CRAG has them (section 3.2 of it);
for any other question the longest name is the entity. Templates and encyclopedia searchers share them.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from surefoot.text.words import bare, content_words, fold, names, words


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a question or a query."""

    entity: str
    """The thing, as it was written, without quotation marks; empty only where there is no word at all."""
    relation: str = ""
    """What is asked of it, as it was written; empty: nothing particular."""
    kinds: tuple[str, ...] = ()
    """What the thing may be, as encyclopedias put it in brackets behind a title, likeliest first; empty: anything."""
    cues: frozenset[str] = frozenset()
    """Folded words that speak of the relation: one of its names and kinds stands in most paragraphs that tell it."""
    form: bool = True
    """Whether a form fits; without one the entity is the longest name, or else the content words."""


_WRITTEN = tomllib.loads(Path(__file__).with_name("relations.toml").read_text(encoding="utf-8"))


def _relation(names: str, some: Sequence[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    kinds = "|".join(kind for one in some for kind in _WRITTEN["groups"].get(one, [one]))
    return tuple(dict.fromkeys(kinds.split("|"))), frozenset(content_words(f"{names} {kinds}".replace("|", " ")))


RELATIONS = {name: _relation(names, some) for names, some in _WRITTEN["relations"].items() for name in names.split("|")}
"""By the name of each relation, its kinds and cues, as a `Subject` has them."""
KINDS = tuple(dict.fromkeys(kind for kinds, _ in RELATIONS.values() for kind in kinds))
"""All kinds of thing that any relation names."""

OPENING = 60
"""Words of a page that are read to see what it is."""
_LONGEST_FIRST = sorted(RELATIONS, key=len, reverse=True)
_R = f"(?-i:{'|'.join(_LONGEST_FIRST)})"  # "Western Hockey League" is no league
_ASKING = frozenset("who whose what which where when why how is are do does did can".split())
_FORM = re.compile(
    "|".join(
        (
            rf"(?:what|which|who) (?:is|was) the (?P<r1>{_R}) (?:of|for) (?P<x1>.+)",
            rf"(?:what|which|who) (?:is|was) (?P<x2>.+?)['’]s? (?P<r2>{_R})",
            r"what (?:is|was) (?P<x3>.+) the (?P<r3>capital) of",
            r"(?:what|which) (?P<r4>genre|religion|sport|colou?r) (?:is|was|does|did) (?P<x4>.+?)(?-i: play)?",
            rf"(?:in|on|at) (?:what|which) \w+ (?:is|was|did) (?P<x5>.+?) (?P<r5>{_R})",
            r"in (?:what|which) (?P<r6>country|city) (?:is|was) (?P<x6>.+)",
            rf"(?:where|when) (?:is|was) (?P<x7>.+?) (?P<r7>{_R})",
            rf"who (?P<r8>{_R}) (?P<x8>.+)",
        )
    ),
    re.IGNORECASE | re.DOTALL,
)


def subject_of(text: str) -> Subject:
    """The subject of a question or query; always something, if only its words. No model call."""
    line = " ".join(text.split())
    bare_line = line.rstrip("? ") if line.endswith("?") else line.rstrip(". ")  # "Oklahoma!", "F.C." keep their marks
    if match := _FORM.fullmatch(bare_line):
        found = {name[0]: value for name, value in match.groupdict().items() if value is not None}
        if entity := _unquoted(_without_article(found["x"])):
            return _about(entity, found["r"])
    if line.endswith("?") or line.partition(" ")[0].partition("'")[0] in _ASKING:
        return _by_names(bare_line)
    # "Ada Lovelace father" is a query; "Father of the Bride" is a name.
    relation = next((word for word in _LONGEST_FIRST if line.endswith(f" {word}")), "")
    entity = line.removesuffix(relation).strip(" ").removesuffix(",")
    if relation and (entity != entity.lower() or line == line.lower()):
        return _about(_unquoted(entity), relation)
    return Subject(_unquoted(line))


def _about(entity: str, relation: str) -> Subject:
    return Subject(entity, relation, *RELATIONS[relation.casefold()])


def _by_names(question: str) -> Subject:
    found = names(question)
    entity = max(found, key=len) if found else " ".join(content_words(question)) or question.strip()
    return Subject(entity, cues=frozenset(content_words(question)) - set(content_words(entity)), form=False)


def _without_article(entity: str) -> str:
    """A capital article belongs to the name, as in "The Hobbit"."""
    first, _, rest = entity.partition(" ")
    return rest if first in ("the", "a", "an") and rest else entity


def _unquoted(text: str) -> str:
    bare_text = text.strip()
    quoted = len(bare_text) > 1 and bare_text[0] in "\"“”‘'" and bare_text[-1] in "\"“”’'"
    return bare_text[1:-1].strip() if quoted else bare_text


_ABOUT_MANY = tuple(f"{kind} of " for kind in ("list", "lists", "outline", "index", "timeline", "glossary"))


def spellings(about: Subject) -> tuple[str, ...]:
    """Titles that the entity may have in an encyclopedia: as written, with capitals, of people without their middle
    names. Of PopQA's 6,560 entities 2,844 are titles as written, 25 with a capital, 9 without the middle names."""
    entity = about.entity
    found = [entity, entity[:1].upper() + entity[1:], *([entity.title()] if entity == entity.lower() else [])]
    if "politician" in about.kinds and len(parts := entity.split()) > 2 and "," not in entity:
        found.append(f"{parts[0]} {parts[-1]}")
    return tuple(dict.fromkeys(found))


def bears(title: str, text: str, about: Subject) -> bool:
    """True if a page's title, or title and text, hold the entity's name, or the title is part of it."""
    name, called = set(content_words(about.entity)), set(content_words(bare(title)))
    return name <= called | set(words(text)) | set(words(title)) or (len(called) > 1 and called < name)


def fit(title: str, text: str, about: Subject) -> int:
    """The degree to which a page's title and opening suit what is asked, from 0: not at all; 1 where anything does."""
    if not about.kinds and not about.cues:
        return 1
    bracket = " ".join(words(title.removeprefix(bare(title))))
    opening = words(text)[:OPENING]
    start = f" {' '.join(opening)} "
    kinds = [" ".join(words(kind)) for kind in about.kinds]
    in_title = any(f" {kind} " in f" {bracket} " for kind in kinds)
    return 4 * in_title + 2 * any(f" {kind} " in start for kind in kinds) + (not about.cues.isdisjoint(opening))


def generic(title: str, about: Subject) -> bool:
    """True for a page about no one thing (a list, a year, a name), unless it is what was asked for."""
    folded = fold(title)
    first, _, rest = folded.partition(" ")
    year = first.removesuffix("s").isdigit() and len(first) < 6 and (rest in ("", "bc", "ad") or rest.startswith("in "))
    many = folded.startswith(_ABOUT_MANY) or folded.endswith(("(disambiguation)", " name)", "(name)", "(surname)"))
    return (year or many) and folded != fold(about.entity)
