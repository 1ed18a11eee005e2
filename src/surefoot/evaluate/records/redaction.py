"""Records that can be passed on.

A `Redactor` puts marks in the place of personal data and secrets, which it knows by their form; names of people and
places it does not know. `share_safe` leaves no text and keeps every figure.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from secrets import token_bytes
from typing import Any, TypeVar, cast

from surefoot.types import Citation, Conflict, Grade, Record, Score, Strip, Trace
from surefoot.types.errors import UsageError
from surefoot.types.metadata import NO_META, Meta

T = TypeVar("T")

# Repeats are bounded where a text could make them start over at every letter: records come from anybody.
_FORMS = {
    "KEY": r"""
        -----BEGIN\ [A-Z ]{0,30}PRIVATE\ KEY-----[\s\S]*?(?:-----END\ [A-Z ]{0,30}PRIVATE\ KEY-----|\Z)
        | \beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?                           # a JSON web token
        | \b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,} | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b | \bAIza[\w-]{35}
        | \b(?:gh[pousr]_|github_pat_|glpat-|hf_|xox[abprs]-|npm_|pypi-)[\w-]{10,}
        | \b(?i:bearer|basic)\s+((?=[\w.~+/-]*\d)[\w.~+/-]{12,}=*)
        | (?i:password|passwd|secret|api[-_ ]?key|access[-_ ]?key|(?:access|auth)[-_ ]?token)["']?\s*(?:=|:|\bis\b)\s*
          ["']?((?!\[[A-Z]+-\d+\])(?=[^\s"']*[\d!@#$%^&*])[^\s"',;]{6,})
        | (?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9_-]{40,}(?![\w-])""",
    "URL": r"""
        \b[a-z][a-z0-9+.-]{0,20}://[^\s/@:]{0,200}:[^\s/@]{1,200}@[^\s<>"']*[^\s<>"'.,;:!?)]
        | \bhttps?://[^\s<>"']{0,2000}?[?&][\w-]{0,40}(?i:token|key|sig|signature|secret|password|auth|code)
          =[^\s<>"']*[^\s<>"'.,;:!?)]""",
    "EMAIL": r"[\w.+%-]{1,64}@[\w-]+(?:\.[\w-]+)+",
    "IBAN": r"\b[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,3})?\b",
    "CARD": r"(?<![\w.,-])\d(?:[ -]?\d){12,18}(?![\d-])",
    "PHONE": r"""
        (?<![\w+])\+\d(?:[ ./()-]{0,2}\d){7,14}(?!\d)
        | (?<![\w(])\(0?\d{2,4}\)[ ./-]{0,2}\d{3,4}[ ./-]?\d{3,5}(?!\d)
        | (?<![\w.,/-])\d{3}[-. ]\d{3}[-. ]\d{4}(?![\d-]|[.,]\d)
        | (?<![\w.,/-])0\d{1,4}[ /-]\d{3,4}[ /-]?\d{3,5}(?![\d/-]|[.,]\d)""",
    "NUMBER": r"(?<![\d.,-])(?:\d{9,}|\d{3}-\d{2}-\d{4})(?![\d-]|[.,]\d)",
}
"""Forms of personal data and secrets by the name of their mark. Where two overlap, the earlier one here wins; of a form
with a group only the group is replaced."""

_HINTS = {"EMAIL": "@", "URL": "://"}
"""Text that every value of a form holds: looking for it first saves most of the time."""
_IDS = frozenset({"id", "record_id", "passage_id", "group", "where"})
_TERMS = frozenset({"metric", "judge", "policy", "source", "via", "model", "evaluator", "name", "created"})
"""Fields whose words come from a program, not from a text."""
_CORNERS = frozenset({"question", "answer", "truth"})
"""Places of a quote other than a context."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """A text before and after, with what was replaced: where it stood, and where its mark stands."""

    old: str
    new: str
    moves: tuple[tuple[int, int, int, int], ...]

    def place(self, start: int, end: int) -> tuple[int, int]:
        """The new place of this slice; if it began or ended within something replaced, it includes the whole mark."""
        return self._moved(start, 2), max(self._moved(start, 2), self._moved(end, 3))

    def piece(self, said: str) -> str | None:
        """Words of the text as they are now; None: they are not of it."""
        at = self.old.find(said)
        return None if at < 0 else self.new[slice(*self.place(at, at + len(said)))]

    def _moved(self, offset: int, side: int) -> int:
        shift = 0
        for move in self.moves:
            if offset <= move[0]:
                break
            if offset < move[1]:
                return move[side]
            shift = move[3] - move[1]
        return offset + shift


class Redactor:
    """Replaces e-mail addresses, phone numbers, IBANs, card and other long numbers, keys and tokens, and addresses with
    credentials by marks such as "[EMAIL-1]": the same value has the same mark in all that one redactor sees.

    `patterns` are regular expressions of one's own, by the name of their mark, as in `{"CASE": r"AZ-\\d+"}`; they come
    first. Ids, tags and settings stay as they are, or a record could not be found again. Raises UsageError for a
    pattern that is none.
    """

    def __init__(self, patterns: Mapping[str, str] | None = None) -> None:
        self._forms = [*_compiled(patterns or {}), *((name, re.compile(form, re.X)) for name, form in _FORMS.items())]
        self._marks: dict[str, dict[str, str]] = {}

    @property
    def found(self) -> dict[str, int]:
        """The number of different values replaced, by the name of their mark."""
        return {kind: len(marks) for kind, marks in self._marks.items()}

    def text(self, text: str) -> str:
        """The text with marks."""
        return self._cut(text).new

    def record(self, record: Record) -> Record:
        """The record with marks in every text, also in its trace, whose strips stay slices of their passages."""
        whole = _changed(replace(record, trace=None), self._marked)
        return replace(whole, trace=record.trace and self._trace(record.trace))

    def score(self, score: Score) -> Score:
        """The score with marks in its explanation and quotes."""
        return _changed(score, self._marked)

    def _marked(self, value: Any, name: str) -> Any:
        return self.text(value) if isinstance(value, str) and name not in _IDS | _TERMS else value

    def _trace(self, old: Trace) -> Trace:
        """The trace with pieces cut anew from the redacted passages: half a number in a piece would have no form."""
        cuts = {passage.id: self._cut(passage.text) for passage in (*old.external, *old.passages)}
        citations = old.answer.citations if old.answer else ()
        answer = old.answer and replace(old.answer, citations=())
        new = _changed(replace(old, strips=(), conflicts=(), answer=answer), self._marked)
        cited = tuple(self._citation(citation, cuts) for citation in citations)
        return replace(
            new,
            grades=tuple(_grade(grade, cuts) for grade in new.grades),
            strips=tuple(self._strip(strip, cuts) for strip in old.strips),
            conflicts=tuple(self._conflict(conflict, cuts) for conflict in old.conflicts),
            answer=new.answer and replace(new.answer, citations=cited),
        )

    def _strip(self, strip: Strip, cuts: Mapping[str, _Cut]) -> Strip:
        if strip.passage_id not in cuts:
            return _changed(strip, self._marked)
        cut = cuts[strip.passage_id]
        start, end = cut.place(strip.start, strip.end)
        return replace(strip, start=start, end=end, text=cut.new[start:end], reason=self.text(strip.reason))

    def _citation(self, old: Citation, cuts: Mapping[str, _Cut]) -> Citation:
        strip = old.strip and self._strip(old.strip, cuts)
        quote = self._piece(old.strip.passage_id if old.strip else "", old.quote, cuts)
        return replace(old, strip=strip, quote=quote, reason=self.text(old.reason))

    def _conflict(self, old: Conflict, cuts: Mapping[str, _Cut]) -> Conflict:
        local = self._piece(old.local, old.local_says, cuts)
        return replace(old, local_says=local, external_says=self._piece(old.external, old.external_says, cuts))

    def _piece(self, id: str, said: str, cuts: Mapping[str, _Cut]) -> str:
        """Words of this passage as they are now; what is not its own is redacted by itself."""
        piece = cuts[id].piece(said) if id in cuts and said else None
        return self.text(said) if piece is None else piece

    def _cut(self, text: str) -> _Cut:
        parts, moves, end, length = [], [], 0, 0
        for start, stop, kind in self._places(text):
            mark = self._mark(kind, text[start:stop])
            parts += [text[end:start], mark]
            length += start - end
            moves.append((start, stop, length, length + len(mark)))
            length, end = length + len(mark), stop
        return _Cut(text, "".join([*parts, text[end:]]), tuple(moves))

    def _places(self, text: str) -> list[tuple[int, int, str]]:
        taken: list[tuple[int, int, str]] = []
        for kind, form in self._forms:
            if _HINTS.get(kind, "") not in text:
                continue
            found = (match.span(match.lastindex or 0) for match in form.finditer(text) if _valid(kind, match[0]))
            taken += [(a, b, kind) for a, b in found if a < b and not any(a < d and c < b for c, d, _ in taken)]
        return sorted(taken)

    def _mark(self, kind: str, value: str) -> str:
        if kind in ("PHONE", "CARD", "NUMBER", "IBAN"):
            value = re.sub(r"\W", "", value)
        known = self._marks.setdefault(kind, {})
        return known.setdefault(value.casefold(), f"[{kind}-{len(known) + 1}]")


def _compiled(patterns: Mapping[str, str]) -> Iterator[tuple[str, re.Pattern[str]]]:
    for name, pattern in patterns.items():
        try:
            yield name.upper(), re.compile(pattern)
        except re.error as error:
            raise UsageError(f"the pattern '{pattern}' for {name} is no regular expression: {error}") from error


def _valid(kind: str, text: str) -> bool:
    """Cards and IBANs by their check digits; four years in a row have the form of a card."""
    plain = re.sub(r"[ -]", "", text)
    if kind == "CARD":
        doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(plain)))
        return sum(sum(divmod(number, 10)) for number in doubled) % 10 == 0
    if kind == "IBAN":
        return int("".join(str(int(letter, 36)) for letter in plain[4:] + plain[:4])) % 97 == 1
    return True


def _grade(grade: Grade, cuts: Mapping[str, _Cut]) -> Grade:
    if grade.passage_id not in cuts:
        return grade
    place = cuts[grade.passage_id].place
    return replace(grade, span=grade.span and place(*grade.span), window=grade.window and place(*grade.window))


def share_safe(
    records: Iterable[Record],
    scores: Iterable[Score],
    tags: Collection[str] = ("domain", "system"),
    secret: bytes | None = None,
) -> tuple[list[Record], list[Score]]:
    """Replace every text by "text:<hash>:<characters>", and keep every figure.

    Equal texts have equal hashes, ids included, so scores still find their records and citations their passages. The
    hash is keyed with `secret` (None: drawn anew and kept nowhere), so nobody can check a guessed text. Settings of
    traces are dropped; tags are hashed but for those named in `tags`, by which figures are told apart.
    """
    key = secret or token_bytes(32)

    def shared(value: Any, name: str) -> Any:
        if isinstance(value, dict):
            kept = value if name == "tags" else {}
            return {each: cell if each in tags else _hashed(str(cell), key) for each, cell in kept.items()}
        known = name in _TERMS or (name == "where" and value in _CORNERS)
        return value if known else _hashed(value, key)

    return [_changed(record, shared) for record in records], [_changed(score, shared) for score in scores]


def _changed(value: T, change: Callable[[Any, str], Any], name: str = "") -> T:
    """The value with each text and each dictionary in it changed; `change` is told the name of its field."""
    result: Any = value
    if isinstance(value, Meta):
        result = NO_META  # no figure goes by it, and its values are texts of the user's
    elif isinstance(value, tuple):
        result = tuple(_changed(each, change, name) for each in value)
    elif is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: _changed(getattr(value, field.name), change, field.name) for field in fields(value)}
        result = replace(value, **parts)
    elif isinstance(value, str | dict) and not isinstance(value, Enum):
        result = change(value, name)
    return cast(T, result)


def _hashed(text: str, key: bytes) -> str:
    if not text:
        return text
    digest = hmac.new(key, text.encode(errors="surrogatepass"), "sha256").hexdigest()
    return f"text:{digest[:16]}:{len(text)}"
