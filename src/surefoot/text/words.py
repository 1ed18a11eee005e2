"""Words, sentences and names of a text, by plain rules; all lexical parts share this tokeniser."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache

STOP_WORDS = frozenset(
    "a about after all also am an and any are as at be because been before being between both but by can could did "
    "do does during each for from had has have he her here hers him his how i if in into is it its just may me "
    "might more most must my no nor not of off on once only or other our out over own she should so some such than "
    "that the their them then there these they this those through to too under until up us was we were what when "
    "where which while who whom whose why will with would you your".split()
)
"""English function words: too common to tell one passage from another."""
NEAR = 0.8
"""Share of letters in common from which one word may be the other misspelt: all but one or two letters of most."""
INTERROGATIVES = frozenset("who whom whose what which when where why how".split())
"""English words that ask; a question without one asks for yes or no."""

_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,]*\d)|(?<![\d.])\d+\.\d+(?!\.?\d)"
_LETTERS = r"\w[\w\u0300-\u036f]*"  # with combining marks, as macOS and PDFs write "é"
WORD = re.compile(rf"{_NUMBER}|{_LETTERS}(?:['’]{_LETTERS})*")
"""A word; "2,214" and "3.5" are one each, or 214 and 3 would be found in them."""
_POSSESSIVES = ("'s", "’s", "'", "’")
_UPPER = "".join(filter(str.isupper, map(chr, range(0x530))))  # Latin, Greek and Cyrillic capitals
_NAME = rf"(?:[{_UPPER}][\w.'’-]*|\d[\w.,/-]*\w|\d)"
_NAME_RUN = re.compile(
    rf"(?<!\w)(?<!\w\.){_NAME}(?:\s+(?:(?:of|the|de|da|del|van|von|der|la|le|and|&)\s+){{0,2}}{_NAME})*"
)
_OPENING = re.compile(r"(?:^|[.!?:;\"“(*\n-])\W{0,4}+\w[\w'’]*+(?!\s{1,2}[A-Z0-9])")
_ABBREVIATION = re.compile(
    r"""
      (?: \b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Lt|Col|Gen|Capt|Rev|Hon|Vol|vs|cf|ca|c|b|d|fl|e\.g|i\.e|approx|Inc|Ltd|Co|Corp
          |Fig|al|Mt|Ft|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)
        | \b[A-Z] | \b[A-Z]\.[A-Z]
      )\.(?=\s)(?!\s*\n\s*\n)
    | \b(?:[ap]\.m|etc|ft)\.(?=\s+[a-z])
    | \b[Nn]os?\.(?=\s+\d)
    | (?m:^)[ \t]*\d{1,3}(?:\.\d{1,3})*\.  # of a numbered list or heading
    """,
    re.VERBOSE,
)
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]+[\"'”’)\]]*(?=\s)|(?<=\S)(?=\s*\n\s*\n)")


def fold(text: str) -> str:
    """The text in lower case without diacritics: "Café" and "cafe" are one word."""
    if text.isascii():
        return text.lower()
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))


def words(text: str) -> list[str]:
    """All words, folded, without possessive endings, in order."""
    return [_without_possessive(fold(word)).replace(",", "") for word in WORD.findall(text)]


def _without_possessive(word: str) -> str:
    end = "" if word.isalnum() else next((end for end in _POSSESSIVES if word.lower().endswith(end)), "")
    return word[: len(word) - len(end)]


def content_words(text: str) -> list[str]:
    """The words that carry meaning, folded, in order; all words if every one is a stop word."""
    every = words(text)
    return [word for word in every if word not in STOP_WORDS] or every


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The word without the commonest English endings; crude, since it only has to agree with itself."""
    for ending in ("ations", "ation", "ings", "ing", "ers", "er", "ies", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def nearest(word: str, others: Iterable[str], most: int = 1) -> list[str]:
    """At most so many of the other words, those spelt most like it, by `difflib`."""
    return get_close_matches(word, list(others), most, NEAR)


def bare(title: str) -> str:
    """The title without the bracket that tells it from others of its name: "Boundary (2003 film)" is "Boundary"."""
    # Brackets that nobody closes, and spaces before none, must not be read again from each of them.
    inside, closed, rest = title.rpartition(")")
    return (re.sub(r"(?<!\s)\s*\([^)]*\)", "", inside + closed) + rest).strip()


def names(text: str) -> list[str]:
    """Names and numbers of a text: runs of capitalised words, without a sentence's opening word."""
    return [name for start, end in sentences(text) for name in _names(text[start:end])]


_OPENERS = frozenset(
    "name tell list describe explain give is are was were did do does can could has have which whose in on at yes "
    "please according based source sources".split()
)


def _names(sentence: str) -> Iterator[str]:
    opening = re.search(r"\w", sentence)
    for match in _NAME_RUN.finditer(sentence):
        run = match.group().rstrip(".,")
        first, *rest = run.split(maxsplit=1)
        if opening and match.start() == opening.start() and fold(first) in STOP_WORDS | _OPENERS:
            run = re.sub(r"^(?:(?:of|the|de|and|&)\s+)+", "", "".join(rest))
        run = _without_possessive(run)
        if run and (fold(run) not in STOP_WORDS or (len(run) > 1 and run.isupper())):
            yield run


def inner_names(text: str) -> list[str]:
    """Names and numbers of a text, without the first word of a sentence, a quotation or a line where no other capital
    follows it: that alone makes it no name."""
    return names(_OPENING.sub(lambda first: first[0].lower(), text))


def sentences(text: str) -> list[tuple[int, int]]:
    """(start, end) of each sentence, in order, without the white space around it."""
    return [*(_of_passage if len(text) < _PASSAGE else _sentences)(text)]


_PASSAGE = 10_000
"""Characters of a text whose sentences are remembered: a passage is cut for each rule that it is held against."""


@lru_cache(maxsize=1024)
def _of_passage(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(_sentences(text))


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    inside = {match.end() for match in _ABBREVIATION.finditer(text)}
    for match in _SENTENCE_END.finditer(text):
        if match.end() in inside:
            continue
        yield from _trimmed(text, start, match.end())
        start = match.end()
    yield from _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    if stripped := piece.strip():
        begin = start + piece.index(stripped[0])
        yield begin, begin + len(stripped)


@lru_cache(maxsize=4096)  # a passage is looked through for many phrases
def located(text: str) -> tuple[tuple[str, int, int], ...]:
    """Each word, as `words` gives it, with its start, and its end before a possessive's."""
    ends = (m.end() - 2 if m.group()[-2:].lower() in ("'s", "’s") else m.end() for m in WORD.finditer(text))
    starts = (m.start() for m in WORD.finditer(text))
    return tuple(zip(words(text), starts, ends, strict=True))


def places(phrase: str, text: str) -> list[tuple[int, int]]:
    """(start, end) of each run of the phrase's words, in order and disjoint, without a possessive's end. Case, accents
    and punctuation do not count."""
    sought, there = words(phrase), located(text)
    found: list[tuple[int, int]] = []
    for i, (word, start, _) in enumerate(there):
        run = there[i : i + len(sought)]
        same = sought and word == sought[0] and [other for other, _, _ in run] == sought
        if same and (not found or start >= found[-1][1]):
            found.append((start, run[-1][2]))
    return found


def places_of(phrases: Iterable[str], text: str) -> list[tuple[int, int]]:
    """(start, end) of each of the phrases, in order; those of different phrases may overlap."""
    return sorted({span for phrase in phrases for span in places(phrase, text)})


def without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text without the sentences that the spans touch."""
    gone = list(spans)
    rest = [text[a:b] for a, b in sentences(text) if not any(start < b and a < end for start, end in gone)]
    return " ".join(rest)


def blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with spaces in these places, so that all offsets stay true."""
    return replaced(text, {(start, end): " " * (end - start) for start, end in spans})


def replaced(text: str, by: Mapping[tuple[int, int], str]) -> str:
    """The text with these disjoint places replaced."""
    for start, end in sorted(by, reverse=True):
        text = text[:start] + by[start, end] + text[end:]
    return text


def longest_run(there: Sequence[str], others: Sequence[str], counts: Callable[[Sequence[str]], bool] = bool) -> range:
    """The place in `there` of the longest run that `others` hold too, and that counts; the first of equals."""
    best = range(0)
    lengths = [0] * (len(others) + 1)
    for i, word in enumerate(there):
        previous, lengths = lengths, [0] * (len(others) + 1)
        for j, other in enumerate(others):
            if word == other:
                length = lengths[j + 1] = previous[j] + 1
                if length > len(best) and counts(there[i + 1 - length : i + 1]):
                    best = range(i + 1 - length, i + 1)
    return best


def encodable(text: str) -> str:
    """The text as tokenisers, endpoints and databases take it: "?" for half a surrogate pair keeps the offsets."""
    return text.encode("utf-8", "replace").decode()
