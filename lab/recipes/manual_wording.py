"""The questions that a software manual answers by itself; manual_wording.toml has the words."""

import logging
import posixpath
import random
import re
import tomllib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

from lxml import etree, html

from surefoot.documents import discover, loaders
from surefoot.evaluate.ask.questions import hashed
from surefoot.index.splitter import passages
from surefoot.text.blocks import parts
from surefoot.text.words import STOP_WORDS, fold, sentences, words
from surefoot.types import Document, Passage
from surefoot_lab.train.examples import find

_log = logging.getLogger(__name__)

PAGES, PAGE_PASSAGES = 40, 400
"""Pages of a manual, which a hash picks, and first passages of a page, at most."""
JOINT = " › "
"""Between two headings in a passage's title."""


@dataclass(frozen=True, slots=True)
class SentenceForm:
    """A sentence that answers a question; the keys of `manual_wording.toml`."""

    kind: str
    pattern: re.Pattern[str]
    questions: tuple[str, ...]
    opening: bool = False
    anywhere: bool = False
    nominal: bool = False


_WORDING = tomllib.loads(Path(__file__).with_name("manual_wording.toml").read_text(encoding="utf-8"))
FORMS = [SentenceForm(**{**one, "pattern": re.compile(one["pattern"])}) for one in _WORDING["sentence"]]
PLAIN = dict(pair.split("=") for pair in _WORDING["plain"].strip().split("|"))
_SEE = [re.compile(pattern) for pattern in _WORDING["see"]]
_FIELDS = frozenset(_WORDING["fields"].split("|"))
_GENERAL, _POINTERS, _CLAUSES = (frozenset(_WORDING[key].split()) for key in ("general", "pointers", "clauses"))
_ASIDE = re.compile(r"(?i)copyright|changelog|\bnews|_sources/|\.rst\.txt$|/(?:AUTHORS|THANKS|TODO|COPYING)")
_OF = re.compile(r"\s+[—–|]\s+|\s+-\s+")
"""Between the title of a page and that of the manual."""
_NUMBERED = re.compile(r"(?i)(?:chapter|section|appendix|part)\s|[\dA-Z]{1,3}\.")
_NUMBER = re.compile(r"(?i)^(?:(?:chapter|section|appendix|part)\s+)?(?:[\dA-Z]{1,3}\.)*\d{0,3}[.:)]?\s+(?=\S)")
_NOMINAL = re.compile(
    r"(?:The|An?) (?P<x>(?:maximum|minimum|number|amount|size|time|interval|name|path|list|type|port|"
    r"directory|address|length|limit|default|format|location|file|user|level|timeout|delay)\b[^.;:(]{8,110})"
)
_DEFAULT = re.compile(
    r"(?i)(?:\bdefaults?(?: value)?(?: is|:| ?=)|\bdefaults to)\s+(?P<a>[“\"'`]?[^\s,;()]{1,40}?"
    r"(?:\s(?:seconds?|minutes?|hours?|days?|bytes|[kmgt]i?b|ms|milliseconds|percent))?[”\"'`]?)(?=[\s,;()]|\.?$|\.\s)"
)
_VALUE = re.compile(r"\d|[/_*]|[A-Z]{2}|(?i:^(?:true|false|none|null|yes|no|on|off|enabled|disabled|empty|all|auto)\Z)")
_NO_VALUE = re.compile(r"(?i)(?:available|as|to|for|not|appropriate|in|on|at|by|\w+ed)\b")
_DESCRIBES = ("description", "meaning", "explanation", "comment", "comments", "effect")
"""Columns that tell what the row is."""
_NAMED = re.compile(r"(?P<a>\S+)(?:, \S+)* (?:-|—|–|\\-) (?P<x>[^\n]{10,120})")


@dataclass(frozen=True, slots=True)
class AskedPassage:
    """A question, and the passage of a manual that answers it."""

    kind: str
    question: str
    number: int
    """Of the passage."""
    answers: tuple[str, ...] = ()
    """Verbatim parts of the passage; empty: it answers as a whole."""
    subject: str = ""
    """The thing asked about; another passage that names it and holds an answer may answer too."""
    repeats: bool = False
    """The question repeats the last heading of the passage's title."""


@dataclass(slots=True)
class ReadManual:
    """The passages of a manual, by number."""

    passages: list[Passage] = field(default_factory=list)
    pages: list[range] = field(default_factory=list)
    """The passages of each page."""
    places: dict[tuple[str, str], int] = field(default_factory=dict)
    """The passage at a file's anchor; at "", the file's first."""
    terms: list[tuple[int, str, str]] = field(default_factory=list)
    """Passage, term and meaning of each definition."""
    menus: set[int] = field(default_factory=set)
    """Passages that are tables of contents."""
    files: dict[str, Path] = field(default_factory=dict)
    verbs: Counter[str] = field(default_factory=Counter)
    """Words that follow "to"."""

    def says(self, number: int) -> bool:
        """True if a passage says something: a table of contents does not."""
        return number not in self.menus and len(words(self.passages[number].text)) >= 12

    def heading(self, number: int) -> str:
        """The last heading above a passage."""
        return self.passages[number].title.rpartition(JOINT)[2]


def read(folder: Path, patterns: discover.Patterns = discover.ALL) -> ReadManual:
    """The manual below a folder, as an index would hold it; files that cannot be read are left out."""
    manual = ReadManual()
    found = [file for file in discover.find(folder, patterns=patterns).files if not _ASIDE.search(file.path)]
    for file in sorted(sorted(found, key=lambda one: hashed(one.path))[:PAGES], key=lambda one: one.path):
        path = file.path.partition("/")[2]
        try:
            with file.place.open("rb") as stream:
                for document in loaders.read(stream, file.path):
                    if isinstance(document, Document):
                        _take(manual, document, path)
        except loaders.Unreadable as error:
            _log.info("%s %s", file.path, error)
        manual.files[path] = file.place
    for passage in manual.passages:
        manual.verbs.update(re.findall(r"\bto ([a-z]{2,})\b", passage.text))
    return manual


def _take(manual: ReadManual, document: Document, path: str) -> None:
    fresh = list(passages(document, path))[:PAGE_PASSAGES]
    if not fresh:
        return
    first = len(manual.passages)
    manual.passages += fresh
    manual.pages.append(range(first, first + len(fresh)))
    manual.places.setdefault((path, ""), first)
    starts = [passage.start or 0 for passage in fresh]
    ats = accumulate((len(block.text) + 2 for block in document.blocks), initial=0)
    for block, at in zip(document.blocks, ats, strict=False):
        number = first + max(0, bisect_right(starts, at) - 1)
        if block.place:
            manual.places.setdefault((path, block.place), number)
        if block.kind == "contents" or block.text.startswith("Table of Contents"):
            manual.menus.add(number)
        if block.kind == "definition":
            term, _, meaning = block.text.partition("\n: ")
            manual.terms.append((number, term.strip(), meaning))


def questions_of(manual: ReadManual, chance: random.Random) -> Iterator[AskedPassage]:
    """All questions that the manual gives."""
    for ask in (_headings, _links, _definitions, _sentences, _rows, _programs):
        yield from ask(manual, chance)


def _way(kind: str, chance: random.Random) -> str:
    """A way to ask a question of this kind."""
    ways = _WORDING["ask"][kind]
    return str(chance.choices(*ways.values())[0] if "weights" in ways else chance.choice(ways["questions"]))


def _how(doing: str, chance: random.Random) -> str:
    return _way("how", chance).format(_mine(doing.rstrip(".")))


def _mine(text: str) -> str:
    return re.sub(r"\byou\b", "I", re.sub(r"\byour\b", "my", re.sub(r"\byou are\b", "I am", text)))


def _headings(manual: ReadManual, chance: random.Random) -> Iterator[AskedPassage]:
    for page in manual.pages:
        before = ""
        for number in page:
            title = manual.passages[number].title
            if title != before and manual.says(number):
                heading = _clean(manual.heading(number) if JOINT in title else _OF.split(title)[0])
                kind = "faq" if heading.endswith("?") else "heading"
                if question := _phrased(heading, manual, chance):
                    yield AskedPassage(kind, question, number, subject=heading, repeats=True)
            before = title


def _clean(heading: str) -> str:
    """The heading without its number."""
    return (_NUMBER.sub("", heading) if _NUMBERED.match(heading) else heading).strip(" ¶#.:")


def _phrased(phrase: str, manual: ReadManual, chance: random.Random) -> str:
    """A heading, or the words of a link, as a question; empty where it says too little."""
    phrase = phrase.lower() if phrase.isupper() else phrase
    each = words(phrase)
    telling = [word for word in each if word not in STOP_WORDS and word not in _GENERAL and len(word) > 2]
    if len(telling) < 2 or len(each) > 14 or len(phrase) > 110:
        return ""
    first, _, rest = phrase.partition(" ")
    verb = base(first, manual.verbs)
    if phrase.endswith("?"):
        return phrase
    if fold(phrase).startswith("how to "):
        return _how(phrase[7:], chance)
    if verb and rest and not rest.startswith(("and ", "or ")):
        return _how(f"{verb} {rest}", chance)
    if len(each) > 7:
        return ""
    plural = each[-1].endswith("s") and not each[-1].endswith("ss")
    return _way("plural" if plural else "singular", chance).format(_lowered(phrase))


def _lowered(phrase: str) -> str:
    """With a small letter at the beginning, unless the first word is spelled in another way than a sentence's."""
    return phrase[:1].lower() + phrase[1:] if phrase.partition(" ")[0].istitle() else phrase


def base(word: str, verbs: Counter[str]) -> str:
    """The verb of which this is a form, by the words that follow "to" in the manual; empty: none."""
    low = word.lower()
    stems = [low] if verbs[low] > 2 else []
    if low.endswith("ing"):
        stems += [low[:-3], f"{low[:-3]}e", low[:-4] if low[-4:-3] == low[-5:-4] else ""]
    elif low.endswith("s") and not low.endswith("ss"):
        stems += [low[:-1], low[:-2] if low.endswith("es") else "", f"{low[:-3]}y" if low.endswith("ies") else ""]
    best = max(stems, key=lambda one: verbs[one], default="")
    return best if best and verbs[best] > 1 and len(best) > 1 and best not in STOP_WORDS else ""


def _links(manual: ReadManual, chance: random.Random) -> Iterator[AskedPassage]:
    for path, place in manual.files.items():
        for name, around, target in _linked(place, path) if place.suffix in (".html", ".htm", ".xhtml") else ():
            number = manual.places.get(target)
            if number is None or not manual.says(number):
                continue
            name = re.sub(r"\s*\([^()]*\)\Z", "", _clean(name))
            for phrase in _phrases(name, around, fold(manual.heading(number)), chance):
                if question := _phrased(phrase, manual, chance):
                    yield AskedPassage("link", question, number, subject=phrase)


def _phrases(name: str, around: str, heading: str, chance: random.Random) -> Iterator[str]:
    """What a sentence says that a link leads to, and the link's words where they are not the heading there."""
    yield from (match["x"].strip() for see in _SEE if (match := see.search(around)))
    if fold(name) not in heading and (" " in name or chance.random() < 0.15):
        yield name


def _linked(place: Path, path: str) -> Iterator[tuple[str, str, tuple[str, str]]]:
    """Words, sentence (a zero byte for the link) and target of each link to another place of the manual."""
    try:
        tree = html.document_fromstring(place.read_bytes())
    except (etree.ParserError, ValueError):
        return
    texts: dict[Any, str] = {}
    for link in tree.iter("a"):
        href, anchor = urldefrag(link.get("href") or "")
        name = " ".join("".join(link.itertext()).split())
        if not name or ":" in href or len(name) > 110 or (not href and not anchor):
            continue
        there = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(href))) if href else path
        outer = next(link.iterancestors("p", "li", "dd", "td"), None)
        around = ""
        if outer is not None and outer not in texts:  # a long list is the same for all of its links
            texts[outer] = " ".join("".join(outer.itertext()).split())
        if outer is not None and len(whole := texts[outer]) < 1500:
            around = next((whole[a:b] for a, b in sentences(whole) if name in whole[a:b]), "").replace(name, "\0", 1)
        yield name, around, (there, unquote(anchor))


def _definitions(manual: ReadManual, chance: random.Random) -> Iterator[AskedPassage]:
    for number, term, meaning in manual.terms:
        name, here = _name(term), manual.passages[number].text
        each = [meaning[a:b] for a, b in sentences(meaning)]
        if not name or fold(name) in _FIELDS or not each or len(words(meaning)) < 4 or meaning not in here:
            continue
        whole = (each[0],) if len(each[0]) < 300 else ()
        yield AskedPassage("term", _way("term", chance).format(name), number, whole, name)
        default = _DEFAULT.search(f"{term} {meaning}")
        value = default["a"].strip("“”\"'`.") if default else ""
        if _VALUE.search(value) and find([value], here):
            yield AskedPassage("default", _way("default", chance).format(name), number, (value,), name)
        if question := _for_term(each[0], manual, chance):
            yield AskedPassage("meaning", question, number, (name,) if find([name], here) else (), name)


def _for_term(meaning: str, manual: ReadManual, chance: random.Random) -> str:
    """A question for the term that has this meaning; empty where it can be put into none."""
    verb, _, rest = meaning.rstrip(".").partition(" ")
    if nominal := _NOMINAL.match(meaning):
        return _way("setting", chance).format(nominal["x"].strip())
    doing = base(verb, manual.verbs)
    if not doing or not verb[:1].isupper() or not 2 < len(words(rest)) < 18:
        return ""
    way = _way("option", chance)
    return _how(f"{doing} {rest}", chance) if way == "how" else way.format(_mine(f"{doing} {rest}"))


def _name(term: str) -> str:
    """The thing that a term names: without its arguments, its type and its other spellings."""
    plain = re.sub(r"^(?:class|static|property|method|async) ", "", term)
    first = re.split(r",\s|\s[\[(<]|\s*\(default|\s+=\s|\s\|\s|\s{2,}", plain)[0]
    first = re.sub(r"(?<=\w)\(.*|(?<=\w)[=\[].*", "", first).strip(" :*`'\"¶")
    return first if 2 <= len(first) <= 60 and len(first.split()) <= 6 and re.search("[A-Za-z]", first) else ""


def _sentences(manual: ReadManual, chance: random.Random) -> Iterator[AskedPassage]:
    for number, passage in enumerate(manual.passages):
        for place, (start, end) in enumerate(sentences(passage.text)):
            sentence = re.sub(r"\A(?:[-*]|\d+\.)\s+", "", passage.text[start:end].rstrip("."))
            if len(sentence) > 320 or "|" in sentence or "```" in sentence or "\n\n" in sentence:
                continue
            for form in FORMS:
                match = form.pattern.search(sentence) if form.anywhere else form.pattern.match(sentence)
                if match and not (form.opening and place) and _stands(form, match, manual):
                    question = _of_form(form, match, chance)
                    yield AskedPassage(form.kind, question, number, (match["a"].strip(),), match["x"].strip())
                    break


def _stands(form: SentenceForm, match: re.Match[str], manual: ReadManual) -> bool:
    """True if a sentence of this form asks and answers by itself."""
    thing, answer = match["x"].strip(), match["a"]
    first, inner = fold(thing.partition(" ")[0]), set(words(thing))
    if first in _POINTERS or "\n" in thing or fold(answer.partition(" ")[0]) in _POINTERS or answer.endswith(":"):
        return False
    if form.nominal and (inner & _CLAUSES or (not form.opening and len(inner - STOP_WORDS - {"default", "value"}) < 2)):
        return False
    return {
        "step": first not in STOP_WORDS and manual.verbs[first] > 1,
        "number": not _NO_VALUE.match(answer),
        "place": first not in STOP_WORDS - {"the", "all", "your"},
    }.get(form.kind, True)


def _of_form(form: SentenceForm, match: re.Match[str], chance: random.Random) -> str:
    thing, way = match["x"].strip(), chance.choice(form.questions)
    named = thing[:1].lower() + thing[1:] if form.kind == "place" else _mine(thing)
    return _how(thing, chance) if way == "how" else way.format(named, **{**match.groupdict(), "x": named})


def _rows(manual: ReadManual, chance: random.Random) -> Iterator[AskedPassage]:
    """Questions for a cell, by its row's first cell and its column's name."""
    for number, passage in enumerate(manual.passages):
        for part in parts(passage.text):
            if part.kind != "table":
                continue
            lines = [_cells(passage.text[slice(*row)]) for row in part.units]
            if part.lead is None:
                yield from _facts(manual, number, lines, chance)
                continue
            header = _cells(passage.text[slice(*part.lead)])
            whole = [cells for cells in lines if len(cells) == len(header) > 1]
            for cells in chance.sample(whole, min(2, len(whole))):
                column = chance.randrange(1, len(cells))
                name, what, value = cells[0], header[column], cells[column]
                short = 1 < len(name) <= 60 and len(words(name)) <= 6 and re.search("[A-Za-z]{2}", name)
                if short and what and value and len(value) <= 200 and name.lower() not in ("yes", "no"):
                    way = _way("row" if what.lower() in _DESCRIBES else "cell", chance)
                    yield AskedPassage("row", way.format(n=name, w=what.lower()), number, (value,), name)


def _facts(
    manual: ReadManual, number: int, lines: Sequence[Sequence[str]], chance: random.Random
) -> Iterator[AskedPassage]:
    """Questions of a table without a header, whose rows are a name and a value, about what the section is about."""
    thing = _clean(manual.heading(number))
    facts = [cells for cells in lines if len(cells) == 2 and cells[1] and 2 < len(cells[0]) < 30]
    for what, value in chance.sample(facts, min(2, len(facts))) if len(words(thing)) < 6 else ():
        question = _way("fact", chance).format(n=thing, w=what.strip(":").lower())
        yield AskedPassage("row", question, number, (value,), thing)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().split("\n")[0].strip("|").split(" | ")]


def _programs(manual: ReadManual, chance: random.Random) -> Iterator[AskedPassage]:
    """Questions for the program, or for what it does, of the NAME of a manual page."""
    for page in manual.pages:
        for number in page[:3]:
            passage = manual.passages[number]
            if not fold(passage.title).endswith("name") or not (match := _NAMED.match(passage.text)):
                continue
            thing = _lowered(re.sub(r"^(?:[Aa]n?|[Tt]he) ", "", match["x"].rstrip(".")))
            doing = re.match(r"(?:program |tool |utility )?(?:to )?([a-z]+) ", thing)
            kind = "page"
            if doing and base(doing[1], manual.verbs):
                kind, thing = "command", thing[doing.start(1) :]
            after = next((n for n in page if re.search("(?i)description|options$", manual.passages[n].title)), None)
            for there, answers in ((number, (match["a"],)), (after, ())):
                if there is not None:
                    question = _way(kind, chance).format(thing, n=match["a"])
                    yield AskedPassage("name", question, there, answers, match["a"])
