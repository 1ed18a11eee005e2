"""Exact things: identifiers, versions, codes, numbers, dates and names. Another one is another thing, however alike the
words around it are."""

import re
from collections.abc import Iterable
from functools import lru_cache

from surefoot.text.blocks import parts
from surefoot.text.words import STOP_WORDS, WORD, content_words, fold, inner_names, words

_TOKEN = re.compile(r"(?<![\w.])(?=[\w./-]*\d)\w+(?:[-./]\w+)*")
_PIECE = re.compile(r"[^\W\d_]+|\d+|[./]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_LONG_NUMBER = 3
"""Digits from which a bare number is a year, a port or a code, and not a count."""
DAYS = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april june july august september "
    "october november december montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi jeudi "
    "vendredi samedi dimanche lunes martes miercoles jueves viernes sabado domingo".split()
)
"""Folded; "May" is a verb, too."""
_VALUES = {word: str(n) for n, word in enumerate("zero one two three four five six seven eight nine ten".split())}
_VALUES |= {"eleven": "11", "twelve": "12", "twenty": "20", "thirty": "30", "hundred": "100"}
UNIT = 3
"""Most letters of a unit."""
_UNIT = rf"(?:[^\W\d_]{{1,{UNIT}}}|[$€£¥%])"
_MEASURE = re.compile(
    rf"(?:(?<!\w)(?P<before>[A-Z]{{3}}|[$€£¥])\s?)?(?<![\w.,])(?P<number>\d+(?:[.,]\d+)*)(?:\s?(?P<behind>{_UNIT})(?!\w))?"
)
_ORDINALS = ("st", "nd", "rd", "th", "s")
_LABELS = re.compile(
    r"\b(?:step|passage|source|document|option|point)s?\s*#?\d+(?:\s*(?:,|and|&)\s*\d+)*", re.IGNORECASE
)
"""Numbers that count parts of an answer, or its sources."""


def codes(text: str) -> tuple[str, ...]:
    """Identifiers and versions of a text, as they stand, each once: "TX-103", "2.9.0", "E1234"."""
    return tuple(dict.fromkeys(token for token in _tokens(text) if _is_code(token)))


def exact(text: str) -> tuple[str, ...]:
    """`codes`, and long numbers and the names of days and months: "TX-103", "2026", "Wednesday"."""
    days = [match[0] for match in re.finditer(r"\w+", text) if fold(match[0]) in DAYS]
    numbers = [token for token in _tokens(text) if _is_code(token) or re.search(rf"\d{{{_LONG_NUMBER}}}", token)]
    return tuple(dict.fromkeys(numbers + days))


def holds(text: str, thing: str) -> bool:
    """True if the exact thing stands in the text as a whole; a hyphen or space within it does not count, so that
    "TX 103" is TX-103, and "12.9.0" is not 2.9.0."""
    return _pattern(thing).search(_THOUSANDS.sub("", text)) is not None


def lacking(text: str, things: Iterable[str]) -> tuple[str, ...]:
    """Those of the exact things that do not stand in the text."""
    return tuple(thing for thing in things if not holds(text, thing))


def made_up(sentence: str, there: str) -> tuple[str, ...]:
    """The numbers and names of a sentence that the other text does not hold. There, "five" is 5; the word that opens a
    sentence is no name, and the number of a source or a step none of its numbers. A number counts with its unit or
    currency, where the other text puts that beside numbers: CHF 180 does not stand in "CHF 210, GBP 180"."""
    text = _LABELS.sub(" ", sentence)
    known = {value for word in words(there) for value in (word, number(word))}
    numbers = [w for w in WORD.findall(text) if any(map(str.isdigit, w)) and known.isdisjoint(map(number, words(w)))]
    mine, its = _measures(text), _measures(there)
    units = {unit for unit, _ in its}
    mismatched = [f"{unit} {number}" for unit, number in mine - its if unit in units and number in known]
    unknown = [name for name in inner_names(text) if not known.issuperset(content_words(name))]
    return tuple(dict.fromkeys([*numbers, *sorted(mismatched), *(name for name in unknown if name[0].isalpha())]))


def misread(question: str, answer: str, text: str) -> tuple[str, str] | None:
    """The column of a table in the text in which a number of the answer stands, and the one that the question names
    instead; None: there is no such number, or it stands in both. The first column says what a row is about."""
    in_question = set(words(question))
    numbers = {word for word in words(answer) if word[0].isdigit()} - in_question
    found = None
    for part in parts(text):
        heads = _cells(text[slice(*part.lead)]) if part.kind == "table" and part.lead else []
        named = [head for head in heads[1:] if words(head) and in_question.issuperset(words(head))]
        for row in part.units if named else ():
            cells = zip(heads, _cells(text[slice(*row)]), strict=False)
            under = [head for head, cell in cells if not numbers.isdisjoint(words(cell))]
            if not set(under).isdisjoint(named):
                return None
            found = (under[0], named[0]) if under else found
    return found


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def _measures(text: str) -> set[tuple[str, str]]:
    """Each number with the unit or currency beside it: a word of at most three letters, or a sign."""
    found: set[tuple[str, str]] = set()
    for match in _MEASURE.finditer(text):
        number = words(match["number"])[0]
        units = (match[name].casefold() for name in ("before", "behind") if match[name])
        found |= {(unit, number) for unit in units if unit not in STOP_WORDS}
    return found


def _tokens(text: str) -> list[str]:
    return [match[0] for match in _TOKEN.finditer(_THOUSANDS.sub("", text))]


def _is_code(token: str) -> bool:
    """True for letters and digits together, but for a number with its unit or ordinal, such as 10MB and 3rd."""
    if any(map(str.isalpha, token)):
        unit = token.lstrip("0123456789")
        return not (unit != token and unit.isalpha() and len(unit) <= UNIT)
    return "." in token and len(re.findall(r"\d+", token)) > 2


def number(word: str) -> str:
    """The number that a word gives, or the word itself: "five" and "5th" are 5."""
    digits = next((word.removesuffix(end) for end in _ORDINALS if word.endswith(end)), "")
    return _VALUES.get(word) or (digits if digits.isdecimal() else word)


@lru_cache(maxsize=1024)
def _pattern(thing: str) -> re.Pattern[str]:
    pieces = [re.escape(piece) for piece in _PIECE.findall(thing)]
    spaced = r"[-_\s]?".join(pieces).replace(rf"[-_\s]?{re.escape('.')}[-_\s]?", r"\.").replace(r"[-_\s]?/[-_\s]?", "/")
    return re.compile(rf"(?<!\w)(?<!\d[.,])v?{spaced}(?!\w)(?!\.\d)", re.IGNORECASE)
