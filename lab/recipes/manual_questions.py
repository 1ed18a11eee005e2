"""Makes labelled questions of software manuals, by what the manuals hold by themselves.

    python recipes/manual_questions.py MANUALS OUT     # folders MANUALS/PACKAGE, one for each in manual_questions.toml

A heading is a question that its section answers, a sentence "To do X, use Y" one that says where its answer stands, and
so are terms with their meanings, options with their defaults, rows of tables, the words of a link, and the NAME of a
manual page. The passages that the question's words also find, and those around the right one, are the negatives. No
person has judged the labels. The manuals are read and cut as an index reads and cuts them, so that the passages look as
they will at work; half of the questions that repeat a heading take it out of the titles.

Writes `train.jsonl`, and one file for each package whose use is dev, in the format of `surefoot_lab.datasets.pairs`.
"""

from __future__ import annotations

import argparse
import json
import logging
import posixpath
import random
import re
import sqlite3
import tomllib
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

from lxml import etree, html

from surefoot.documents import discover, loaders
from surefoot.evaluate.ask.questions import hashed
from surefoot.index.splitter import passages
from surefoot.run.store import write_text
from surefoot.text.blocks import parts
from surefoot.text.words import STOP_WORDS, content_words, fold, sentences, words
from surefoot.types import Document, Passage
from surefoot_lab.train.examples import find

_log = logging.getLogger(__name__)

PACKAGES = Path(__file__).with_suffix(".toml")
PAGES = 40
"""Pages of a manual, at most; a hash picks them."""
PAGE_PASSAGES = 400
"""Passages of a page, at most: its first ones."""
EACH = 70
"""Questions of one kind and one manual, at most."""
NEGATIVES = 5
"""Passages of a question that do not answer it, at most."""
_DEV_NEGATIVES = 9
_JOINT = " › "
_NO_TARGET = frozenset(
    "introduction overview description example examples options notes note see also usage summary contents index"
    " copyright license licence author authors synopsis name reference references more information details general"
    " table of bibliography acknowledgments preface changelog history bugs reporting return value values parameters"
    " arguments attributes properties methods functions classes version versions files environment".split()
)
"""Words that alone make no heading that says what its section is about."""


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


_ASIDE = re.compile(r"(?i)copyright|changelog|\bnews|_sources/|\.rst\.txt$|/(?:AUTHORS|THANKS|TODO|COPYING)")


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


# Questions


def questions_of(manual: ReadManual, chance: random.Random) -> Iterator[AskedPassage]:
    """All questions that the manual gives."""
    for ask in (_headings, _links, _definitions, _sentences, _rows, _programs):
        yield from ask(manual, chance)


def _headings(manual: ReadManual, chance: random.Random) -> Iterator[AskedPassage]:
    for page in manual.pages:
        before = ""
        for number in page:
            title = manual.passages[number].title
            if title != before and _says(manual, number):
                heading = _clean(title.rpartition(_JOINT)[2] if _JOINT in title else _OF.split(title)[0])
                for question in _phrased(heading, manual, chance):
                    kind = "faq" if heading.endswith("?") else "heading"
                    yield AskedPassage(kind, question, number, subject=heading, repeats=True)
            before = title


_OF = re.compile(r"\s+[—–|]\s+|\s+-\s+")
"""Between the title of a page and that of the manual."""


def _phrased(phrase: str, manual: ReadManual, chance: random.Random) -> Iterator[str]:
    """A heading, or the words of a link, as a question; nothing where it says too little."""
    phrase = phrase.lower() if phrase.isupper() else phrase
    results = words(phrase)
    telling = [word for word in results if word not in STOP_WORDS and word not in _NO_TARGET and len(word) > 2]
    if len(telling) < 2 or len(results) > 14 or len(phrase) > 110:
        return
    if phrase.endswith("?"):
        yield phrase
        return
    first, _, rest = phrase.partition(" ")
    verb = base(first, manual.verbs)
    if fold(phrase).startswith("how to "):
        yield _how(phrase[7:], chance)
    elif verb and rest and not rest.startswith(("and ", "or ")):
        yield _how(f"{verb} {rest}", chance)
    elif len(results) <= 7:
        thing = _lowered(phrase)
        plural = results[-1].endswith("s") and not results[-1].endswith("ss")
        forms = (
            ["what are {}?", "{}", "which {} are there?", "how do {} work?", "tell me about {}"]
            if plural
            else ["what is {}?", "{}", "how does {} work?", "{} explained", "what is meant by {}?"]
        )
        yield chance.choice(forms).format(thing)


def _lowered(phrase: str) -> str:
    """With a small letter at the beginning, unless the first word is spelled in another way than a sentence's."""
    return phrase[:1].lower() + phrase[1:] if phrase.partition(" ")[0].istitle() else phrase


def _how(doing: str, chance: random.Random) -> str:
    forms = ("How do I {}?", "How can I {}?", "how to {}", "{}", "What do I have to do to {}?", "I want to {}. How?")
    return chance.choices(forms, (6, 4, 4, 3, 1, 1))[0].format(_mine(doing.rstrip(".")))


def _mine(text: str) -> str:
    return re.sub(r"\byou\b", "I", re.sub(r"\byour\b", "my", re.sub(r"\byou are\b", "I am", text)))


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


_SEE = (
    re.compile(
        r"(?i)\b(?:see|read|refer to|consult)\b[^.;]{0,30}\0[^.;]{0,30}?\b(?:for|on|about|to learn)\s+"
        r"(?:(?:more|further|additional|detailed|full|some|general)\s+)*(?:information|details?|instructions|"
        r"descriptions?|discussion|examples?|help)?\s*(?:(?:on|about|of|for|regarding|how to)\s+)?"
        r"(?P<x>[^.;()\0]{10,100})"
    ),
    re.compile(
        r"(?i)\bfor\s+(?:(?:more|further|additional|detailed|full)\s+)*(?:information|details|instructions|help)\s+"
        r"(?:(?:on|about|of|for|regarding|how to)\s+)(?P<x>[^.;()\0]{8,100}),\s+(?:please\s+)?"
        r"(?:see|read|refer to|consult)[^.;]{0,30}\0"
    ),
)


def _links(manual: ReadManual, chance: random.Random) -> Iterator[AskedPassage]:
    for path, place in manual.files.items():
        if place.suffix in (".html", ".htm", ".xhtml"):
            for name, around, target in _linked(place, path):
                number = manual.places.get(target)
                if number is None or not _says(manual, number):
                    continue
                heading = fold(manual.passages[number].title.rpartition(_JOINT)[2])
                for results in (match["x"].strip() for see in _SEE if (match := see.search(around))):
                    for question in _phrased(results, manual, chance):
                        yield AskedPassage("link", question, number, subject=results)
                name = re.sub(r"\s*\([^()]*\)\Z", "", _clean(name))
                if fold(name) not in heading and (" " in name or chance.random() < 0.15):
                    for question in _phrased(name, manual, chance):
                        yield AskedPassage("link", question, number, subject=name)


def _linked(place: Path, path: str) -> Iterator[tuple[str, str, tuple[str, str]]]:
    """Words, sentence (a zero byte for the link) and target of each link to another place of the manual."""
    try:
        tree = html.document_fromstring(place.read_bytes())
    except (etree.ParserError, ValueError):
        return
    reply: dict[Any, str] = {}
    for link in tree.iter("a"):
        href, anchor = urldefrag(link.get("href") or "")
        name = " ".join("".join(link.itertext()).split())
        if not name or ":" in href or len(name) > 110 or (not href and not anchor):
            continue
        there = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(href))) if href else path
        outer = next((one for one in link.iterancestors("p", "li", "dd", "td") if one is not None), None)
        around = ""
        if outer is not None and outer not in reply:  # a long list is the same for all of its links
            reply[outer] = " ".join("".join(outer.itertext()).split())
        if outer is not None and len(whole := reply[outer]) < 1500:
            around = next((whole[a:b] for a, b in sentences(whole) if name in whole[a:b]), "").replace(name, "\0", 1)
        yield name, around, (there, unquote(anchor))


_FIELDS = frozenset(
    "returns parameters raises return type rtype see also note yields default values since usage".split()
)
_FIELDS |= {"return type", "see also", "return value", "default value"}
"""Terms of the same form in every description of a function."""
_NOMINAL = re.compile(
    r"(?:The|An?) (?P<x>(?:maximum|minimum|number|amount|size|time|interval|name|path|list|type|port|"
    r"directory|address|length|limit|default|format|location|file|user|level|timeout|delay)\b[^.;:(]{8,110})"
)
_DEFAULT = re.compile(
    r"(?i)(?:\bdefaults?(?: value)?(?: is|:| ?=)|\bdefaults to)\s+(?P<a>[“\"'`]?[^\s,;()]{1,40}?"
    r"(?:\s(?:seconds?|minutes?|hours?|days?|bytes|[kmgt]i?b|ms|milliseconds|percent))?[”\"'`]?)(?=[\s,;()]|\.?$|\.\s)"
)


_VALUE = re.compile(r"\d|[/_*]|[A-Z]{2}|(?i:^(?:true|false|none|null|yes|no|on|off|enabled|disabled|empty|all|auto)\Z)")


def _definitions(manual: ReadManual, chance: random.Random) -> Iterator[AskedPassage]:
    for number, term, meaning in manual.terms:
        name = _name(term)
        reply = [meaning[a:b] for a, b in sentences(meaning)]
        if not name or fold(name) in _FIELDS or not reply or len(words(meaning)) < 4:
            continue
        if meaning not in manual.passages[number].text:
            continue
        forms = ("What does {} do?", "What is {}?", "{}", "What is {} for?", "{} meaning", "what does {} mean")
        whole = (reply[0],) if len(reply[0]) < 300 else ()
        yield AskedPassage("term", chance.choices(forms, (5, 4, 2, 2, 1, 1))[0].format(name), number, whole, name)
        here = manual.passages[number].text
        default = _DEFAULT.search(f"{term} {meaning}")
        value = default["a"].strip("“”\"'`.") if default else ""
        if _VALUE.search(value) and find([value], here):
            yield AskedPassage("default", chance.choice(_OF_DEFAULTS).format(name), number, (value,), name)
        if question := _for_term(reply[0], manual, chance):
            yield AskedPassage("meaning", question, number, (name,) if find([name], here) else (), name)


_OF_DEFAULTS = ("What is the default of {}?", "{} default", "What is the default value of {}?", "default {}")
_OF_THINGS = ("What is the {}?", "{}", "Which setting gives the {}?", "how do I set the {}?")
_OF_DOINGS = ("how", "Which option makes it {}?", "option to {}", "What do I use to {}?")


def _for_term(meaning: str, manual: ReadManual, chance: random.Random) -> str:
    """A question for the term that has this meaning; empty where it can be put into none."""
    verb, _, rest = meaning.rstrip(".").partition(" ")
    if nominal := _NOMINAL.match(meaning):
        return chance.choice(_OF_THINGS).format(nominal["x"].strip())
    doing = base(verb, manual.verbs)
    if not doing or not verb[:1].isupper() or not 2 < len(words(rest)) < 18:
        return ""
    form = chance.choices(_OF_DOINGS, (5, 2, 2, 1))[0]
    return _how(f"{doing} {rest}", chance) if form == "how" else form.format(_mine(f"{doing} {rest}"))


def _name(term: str) -> str:
    """The thing that a term names: without its arguments, its type and its other spellings."""
    plain = re.sub(r"^(?:class|static|property|method|async) ", "", term)
    first = re.split(r",\s|\s[\[(<]|\s*\(default|\s+=\s|\s\|\s|\s{2,}", plain)[0]
    first = re.sub(r"(?<=\w)\(.*|(?<=\w)[=\[].*", "", first).strip(" :*`'\"¶")
    return first if 2 <= len(first) <= 60 and len(first.split()) <= 6 and re.search("[A-Za-z]", first) else ""


@dataclass(frozen=True, slots=True)
class SentenceForm:
    """A sentence that answers a question; the keys of `manual_sentences.toml`."""

    kind: str
    pattern: re.Pattern[str]
    questions: tuple[str, ...]
    opening: bool = False
    anywhere: bool = False
    nominal: bool = False


def _forms(path: Path) -> tuple[SentenceForm, ...]:
    listed = tomllib.loads(path.read_text(encoding="utf-8"))["sentence"]
    return tuple(
        SentenceForm(**{**one, "pattern": re.compile(one["pattern"]), "questions": tuple(one["questions"])})
        for one in listed
    )


FORMS = _forms(Path(__file__).with_name("manual_sentences.toml"))
_NO_VALUE = re.compile(r"(?i)(?:available|as|to|for|not|appropriate|in|on|at|by|\w+ed)\b")
_CLAUSES = frozenset("if when that which who there i you it once make while because is are and or".split())
"""Words that tell that a subject is more than a name."""
_POINTERS = frozenset(
    "this it there here that these those which they he she we you what note one each such all".split()
)


def _sentences(manual: ReadManual, chance: random.Random) -> Iterator[AskedPassage]:
    for number, passage in enumerate(manual.passages):
        for place, (start, end) in enumerate(sentences(passage.text)):
            reply = re.sub(r"\A(?:[-*]|\d+\.)\s+", "", passage.text[start:end].rstrip("."))
            if len(reply) > 320 or "|" in reply or "```" in reply or "\n\n" in reply:
                continue
            for form in FORMS:
                match = form.pattern.search(reply) if form.anywhere else form.pattern.match(reply)
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
    thing, picked = match["x"].strip(), chance.choice(form.questions)
    named = thing[:1].lower() + thing[1:] if form.kind == "place" else _mine(thing)
    return _how(thing, chance) if picked == "how" else picked.format(named, **{**match.groupdict(), "x": named})


_OF_ROWS = {
    True: ("What is {n}?", "What does {n} mean?", "{n}"),
    False: ("What is the {w} of {n}?", "{n} {w}", "{w} of {n}", "Which {w} does {n} have?"),
}
"""Questions for a cell; True: its column tells what the row is."""


def _rows(manual: ReadManual, chance: random.Random) -> Iterator[AskedPassage]:
    """Questions for a cell, by its row's first cell and its column's name."""
    for number, passage in enumerate(manual.passages):
        for part in parts(passage.text):
            if part.kind != "table":
                continue
            if part.lead is None:
                yield from _facts(manual, number, [passage.text[slice(*row)] for row in part.units], chance)
                continue
            header = _cells(passage.text[slice(*part.lead)])
            units = [row for row in part.units if len(_cells(passage.text[slice(*row)])) == len(header) > 1]
            for start, end in chance.sample(units, min(2, len(units))):
                cells = _cells(passage.text[start:end])
                column = chance.randrange(1, len(cells))
                name, what, value = cells[0], header[column], cells[column]
                short = 1 < len(name) <= 60 and len(words(name)) <= 6 and re.search("[A-Za-z]{2}", name)
                if not (short and what and value) or len(value) > 200 or name.lower() in ("yes", "no"):
                    continue
                plain = what.lower() in ("description", "meaning", "explanation", "comment", "comments", "effect")
                question = chance.choice(_OF_ROWS[plain]).format(n=name, w=what.lower())
                yield AskedPassage("row", question, number, (value,), name)


def _facts(manual: ReadManual, number: int, lines: Sequence[str], chance: random.Random) -> Iterator[AskedPassage]:
    """Questions of a table without a header, whose rows are a name and a value, about what the section is about."""
    thing = _clean(manual.passages[number].title.rpartition(_JOINT)[2])
    facts = [cells for line in lines if len(cells := _cells(line)) == 2 and cells[1] and 2 < len(cells[0]) < 30]
    for what, value in chance.sample(facts, min(2, len(facts))) if len(words(thing)) < 6 else ():
        form = chance.choice(("What is the {w} of {n}?", "{n} {w}", "{w} {n}", "Which {w} does {n} have?"))
        yield AskedPassage("row", form.format(n=thing, w=what.strip(":").lower()), number, (value,), thing)


_FOR_DOING: tuple[str, ...] = (
    "Which command can I use to {}?",
    "command to {}",
    "{}",
    "How do I {}?",
    "what program lets me {}",
)
_FOR_THING = ("What is the {}?", "{}", "which page describes the {}", "What is {n}?")
_NAMED = re.compile(r"(?P<a>\S+)(?:, \S+)* (?:-|—|–|\\-) (?P<x>[^\n]{10,120})")


def _programs(manual: ReadManual, chance: random.Random) -> Iterator[AskedPassage]:
    """Questions for the program, or for what it does, of the NAME of a manual page."""
    for page in manual.pages:
        for number in page[:3]:
            passage = manual.passages[number]
            if not fold(passage.title).endswith("name") or not (match := _NAMED.match(passage.text)):
                continue
            results = _lowered(re.sub(r"^(?:[Aa]n?|[Tt]he) ", "", match["x"].rstrip(".")))
            doing = re.match(r"(?:program |tool |utility )?(?:to )?([a-z]+) ", results)
            if doing and base(doing[1], manual.verbs):
                forms, asks = _FOR_DOING, results[doing.start(1) :]
            else:
                forms, asks = _FOR_THING, results
            question = chance.choice(forms).format(asks, n=match["a"])
            yield AskedPassage("name", question, number, (match["a"],), match["a"])
            after = next((n for n in page if re.search("(?i)description|options$", manual.passages[n].title)), None)
            if after is not None:
                yield AskedPassage("name", chance.choice(forms).format(asks, n=match["a"]), after, (), match["a"])


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().split("\n")[0].strip("|").split(" | ")]


def _says(manual: ReadManual, number: int) -> bool:
    """True if a passage says something: a table of contents does not."""
    return number not in manual.menus and len(words(manual.passages[number].text)) >= 12


_NUMBERED = re.compile(r"(?i)(?:chapter|section|appendix|part)\s|[\dA-Z]{1,3}\.")
_NUMBER = re.compile(r"(?i)^(?:(?:chapter|section|appendix|part)\s+)?(?:[\dA-Z]{1,3}\.)*\d{0,3}[.:)]?\s+(?=\S)")


def _clean(heading: str) -> str:
    """The heading without its number."""
    return (_NUMBER.sub("", heading) if _NUMBERED.match(heading) else heading).strip(" ¶#.:")


# Wording

_PLAIN = dict(
    pair.split("=")
    for pair in (
        "remove=delete|directory=folder|display=show|modify=change|enable=turn on|disable=turn off|maximum=max|"
        "minimum=min|specify=set|retrieve=get|execute=run|terminate=stop|obtain=get|automatically=by itself|"
        "multiple=several|verify=check|determine=find out|permit=allow|prevent=stop|ensure=make sure|additional=more|"
        "entire=whole|select=choose|restrict=limit|perform=do|combine=join|split=divide|error=failure|command=program|"
        "user=account|configure=set up|machine=computer|parameter=option|option=setting|application=program|"
        "provide=give|initialize=set up|require=need|generate=create|create=make|update=upgrade|define=set|"
        "delete=remove|show=print|folder=directory|allow=let"
    ).split("|")
)
"""Words of manuals, and what people type instead."""


def reworded(question: str, chance: random.Random) -> str:
    """The question as a person might type it: sometimes in other words, as keywords, or with a slip."""
    if chance.random() < 0.35:
        question = _swapped(question, chance)
    drawn = chance.random()
    if drawn < 0.18 and len(content_words(question)) > 1:
        question = " ".join(content_words(question))
    elif drawn < 0.4:
        question = question.lower().rstrip("?.")
    elif drawn < 0.8:
        question = question[:1].upper() + question[1:]
    if chance.random() < 0.06:
        question = _slipped(question, chance)
    return question


def _swapped(question: str, chance: random.Random) -> str:
    known = [word for word in _PLAIN if re.search(rf"(?<!\w){word}(?!\w)", question)]
    for word in chance.sample(known, min(2, len(known))):
        question = re.sub(rf"(?<!\w){word}(?!\w)", _PLAIN[word], question, count=1)
    return question


def _slipped(question: str, chance: random.Random) -> str:
    long = list(re.finditer(r"[A-Za-z]{5,}", question))
    if not long:
        return question
    match = chance.choice(long)
    at = chance.randrange(match.start() + 1, match.end() - 1)
    swapped = question[at + 1] + question[at] if chance.random() < 0.5 else question[at]
    return question[:at] + swapped + question[at + 2 :]


# Rows


class _Search:
    """BM25 over the passages of a manual, titles counting double, as in an index."""

    def __init__(self, manual: ReadManual) -> None:
        self._db = sqlite3.connect(":memory:")
        self._db.execute("CREATE VIRTUAL TABLE lexicon USING fts5(title, text, tokenize = 'porter unicode61')")
        rows = ((number, passage.title, passage.text) for number, passage in enumerate(manual.passages))
        self._db.executemany("INSERT INTO lexicon (rowid, title, text) VALUES (?, ?, ?)", rows)

    def find(self, question: str, k: int) -> list[int]:
        """Numbers of the passages that best match the question's words, best first."""
        terms = list(dict.fromkeys(re.findall(r"[^\W_]+", " ".join(content_words(question)))))[:32]
        match = " OR ".join(f'"{term}"' for term in terms)
        sql = "SELECT rowid FROM lexicon WHERE lexicon MATCH ? ORDER BY bm25(lexicon, 2.0, 1.0), rowid LIMIT ?"
        return [number for (number,) in self._db.execute(sql, (match, k))] if match else []


def rows(package: str, manual: ReadManual, dev: bool, each: int = EACH, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Questions of a manual with labelled passages: at most `each` of a kind."""
    chance = random.Random(f"{seed} {package}")
    kinds: dict[str, list[AskedPassage]] = defaultdict(list)
    for one in questions_of(manual, chance):
        kinds[one.kind].append(one)
    search = _Search(manual)
    seen: set[str] = set()
    for kind, every in kinds.items():
        for one in chance.sample(every, len(every))[: each * 2]:
            if sum(key.startswith(f"{kind} ") for key in seen) >= each:
                break
            key = f"{kind} {fold(one.question)}"
            if key in seen or (dev and not one.answers and kind not in ("heading", "faq", "link")):
                continue
            seen.add(key)
            yield _row(
                package,
                len(seen),
                replace(one, question=reworded(" ".join(one.question.split()), chance)),
                manual,
                search,
                dev,
                chance,
            )


def _row(
    package: str, n: int, one: AskedPassage, manual: ReadManual, search: _Search, dev: bool, chance: random.Random
) -> dict[str, Any]:
    right = manual.passages[one.number]
    bare = one.repeats and chance.random() < 0.5
    cut = not dev and chance.random() < 0.25
    near = [number for number in search.find(one.question, 16) if not _may_answer(one, right, manual.passages[number])]
    page = next(page for page in manual.pages if one.number in page)
    around = [number for number in range(one.number - 3, one.number + 4) if number in page and number != one.number]
    around = [number for number in around if not _may_answer(one, right, manual.passages[number])]
    most = _DEV_NEGATIVES if dev else NEGATIVES
    siblings = chance.sample(around, min(len(around), 2))
    chosen = list(dict.fromkeys([*siblings, *near]))
    if not dev:  # not always the nearest, which are the likeliest to be right after all
        chosen = [*siblings, *chance.sample(near[:10], min(len(near), 10, most - len(siblings)))]
    inputs = [] if not dev and chance.random() < 0.1 else [(one.number, 1)]
    inputs += [(number, 0) for number in dict.fromkeys(chosen[:most])]
    results = [
        _given(manual.passages[number], label, one.answers if label else (), bare, cut, chance)
        for number, label in inputs
    ]
    return {
        "id": f"{package}-{n}",
        "item": f"{package} {manual.passages[page.start].title}",
        "kind": one.kind,
        "question": one.question,
        "answers": list(one.answers),
        "passages": chance.sample(results, len(results)),
    }


def _may_answer(one: AskedPassage, right: Passage, other: Passage) -> bool:
    """True if another passage may answer too: of the same section or one below it, of the same text, or with an answer
    beside the thing that is asked about."""
    if other.title == right.title or other.title.startswith(right.title + _JOINT) or other.text == right.text:
        return True
    heading = right.title.rpartition(_JOINT)[2]
    if fold(other.title.rpartition(_JOINT)[2]) == fold(heading) or (one.repeats and find([heading], other.text)):
        return True
    named = not one.subject or find([one.subject], f"{other.title} {other.text}")
    if one.answers:
        return bool(find(one.answers, other.text)) and bool(named or len(one.answers[0]) > 30)
    return bool(one.subject and find([one.subject], f"{other.title} {other.text}"))


def _given(
    passage: Passage, label: int, answers: Sequence[str], bare: bool, cut: bool, chance: random.Random
) -> dict[str, Any]:
    title = passage.title.rpartition(_JOINT)[0] or passage.title if bare else passage.title
    text = _strip(passage.text, answers, chance) if cut and (answers or not label) else passage.text
    return {"id": passage.id, "title": title, "text": text, "label": label}


def _strip(text: str, answers: Sequence[str], chance: random.Random) -> str:
    """One unit of a passage, with the header, term or sentence that leads it: where an answer stands, else any."""
    units = [(unit, part.lead) for part in parts(text) for unit in part.units]
    spans = find(answers, text)
    holding = [(unit, lead) for unit, lead in units if any(unit[0] <= a and b <= unit[1] for a, b in spans)]
    if not units or (answers and not holding):
        return text
    (start, end), lead = chance.choice(holding or units)
    return f"{text[slice(*lead)]}\n{text[start:end]}" if lead else text[start:end]


def made(manuals: Path, package: str, about: dict[str, Any], out: Path) -> list[str]:
    """The lines of a package's questions, from `out` where an earlier run left them."""
    selected = out / f"{package}.jsonl"
    if not selected.exists():
        wanted = discover.Patterns(tuple(about.get("include", ("*.html",))))
        manual = read(manuals / about.get("path", package), wanted)
        found = rows(package, manual, about.get("use") == "dev", about.get("each", EACH))
        write_text(selected, "".join(f"{json.dumps(row)}\n" for row in found))
        _log.info("%s: %d passages", package, len(manual.passages))
    return selected.read_text(encoding="utf-8").splitlines(keepends=True)


def main() -> None:
    """Write the files for the packages that are there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("manuals", type=Path)
    parser.add_argument("out", type=Path)
    inputs = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    learned: list[str] = []
    for package, about in tomllib.loads(PACKAGES.read_text(encoding="utf-8")).items():
        lines = made(inputs.manuals, package, about, inputs.out)
        learned += [] if about.get("use") == "dev" else lines
    # In the order of a hash, so that the first ones are of all packages.
    write_text(inputs.out / "train.jsonl", "".join(sorted(learned, key=hashed)))


if __name__ == "__main__":
    main()
