"""Records that can be passed on: with personal data and secrets masked, or without any text.

`Redactor` knows secrets, e-mail addresses and long numbers by their form, and no names of people or places.
`share_safe` leaves no text and keeps every figure.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from secrets import token_bytes
from typing import Any, TypeVar, cast

from surefoot.types import Citation, Conflict, Record, Score, Strip, Trace
from surefoot.types.errors import UsageError
from surefoot.types.metadata import NO_META, Meta

T = TypeVar("T")

# Repeats are bounded where a text could make them start over at every letter: records come from anybody.
_FORMS = (
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)",
    r"\b(?:sk|pk|rk|gh[pousr]|github_pat|glpat|hf|xox[abprs]|npm|pypi|AKIA|ASIA|AIza|eyJ)[\w.-]{14,}",
    r"(?i:password|secret|api[-_ ]?key|access[-_ ]?key|token|bearer|basic)[\"']?(?:\s*[=:]\s*[\"']?|\s+(?=\S*\d))"
    r"([^\s\"',;█]{6,})",
    r"\b[a-z][a-z0-9+.-]{0,20}://[^\s/@:]{0,200}:[^\s/@]{1,200}@",
    r"[\w.+%-]{1,64}@[\w-]+(?:\.[\w-]+)+",
    r"\b[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,3})?\b",  # an IBAN
    r"(?<![\w.,+-])(?:\+\d|\(\d|\d)(?:[ ()/-]{0,2}\d){8,18}(?![\w-]|[.,]\d)",  # a phone, card or account number
)
"""Forms of secrets and personal data; of one with a group only the group is masked."""
_IDS = frozenset({"id", "record_id", "passage_id", "group", "where"})
_TERMS = frozenset({"metric", "judge", "policy", "source", "via", "model", "evaluator", "name", "created"})
"""Fields whose words come from a program, not from a text."""
_CORNERS = frozenset({"question", "answer", "truth"})
"""Places of a quote other than a context."""


class Redactor:
    """Masks secrets, e-mail addresses, phone, card and account numbers by "█", a sign for each of theirs, so that
    offsets into a text stay right.

    `patterns` are further regular expressions. Ids, tags and settings stay as they are, or a record could not be found
    again. Raises UsageError for a pattern that is none.
    """

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        try:
            self._forms = [re.compile(form) for form in (*patterns, *_FORMS)]
        except re.error as error:
            raise UsageError(f"the pattern '{error.pattern!r}' is no regular expression: {error}") from error

    def text(self, text: str) -> str:
        """The text, as long as before."""
        for form in self._forms:
            for start, end in [match.span(match.re.groups) for match in form.finditer(text)]:
                text = f"{text[:start]}{'█' * (end - start)}{text[end:]}"
        return text

    def record(self, record: Record) -> Record:
        """The record with masks in every text, also in its trace, whose strips stay slices of their passages."""
        whole = _changed(replace(record, trace=None), self._masked)
        return replace(whole, trace=record.trace and self._trace(record.trace))

    def score(self, score: Score) -> Score:
        """The score with masks in its explanation and quotes."""
        return _changed(score, self._masked)

    def _masked(self, value: Any, name: str) -> Any:
        return self.text(value) if isinstance(value, str) and name not in _IDS | _TERMS else value

    def _trace(self, old: Trace) -> Trace:
        """The trace, with pieces cut anew from the masked passages: half a number in a piece would have no form."""
        texts = {passage.id: (passage.text, self.text(passage.text)) for passage in (*old.external, *old.passages)}

        def piece(passage_id: str, words: str) -> str:
            before, after = texts.get(passage_id, ("", ""))
            at = before.find(words)
            return after[at : at + len(words)] if at >= 0 else self.text(words)

        def strip(one: Strip) -> Strip:
            after = texts.get(one.passage_id, ("", ""))[1]
            return replace(one, text=after[one.start : one.end] or self.text(one.text), reason=self.text(one.reason))

        def citation(one: Citation) -> Citation:
            source = one.strip and strip(one.strip)
            quote = piece(one.strip.passage_id if one.strip else "", one.quote)
            return replace(_changed(one, self._masked), strip=source, quote=quote)

        def conflict(one: Conflict) -> Conflict:
            sides = piece(one.local, one.local_says), piece(one.external, one.external_says)
            return replace(one, local_says=sides[0], external_says=sides[1])

        new = _changed(old, self._masked)
        cited = tuple(map(citation, old.answer.citations)) if old.answer else ()
        answer = new.answer and replace(new.answer, citations=cited)
        strips, conflicts = tuple(map(strip, old.strips)), tuple(map(conflict, old.conflicts))
        return replace(new, strips=strips, conflicts=conflicts, answer=answer)


def share_safe(
    records: Iterable[Record],
    scores: Iterable[Score],
    tags: Collection[str] = ("domain", "system"),
    secret: bytes | None = None,
) -> tuple[list[Record], list[Score]]:
    """Replace every text by "text:<hash>:<characters>", and keep every figure.

    Equal texts have equal hashes, ids included, so scores still find their records and citations their passages. The
    hash is keyed with `secret` (None: drawn anew and discarded), so that a guessed text cannot be checked. Settings of
    traces are dropped; tags are hashed but for those named in `tags`, by which figures are told apart.
    """
    key = secret or token_bytes(32)

    def shared(value: Any, name: str) -> Any:
        if isinstance(value, Mapping):
            cells = value.items() if name == "tags" else ()
            return {each: cell if each in tags else _hashed(str(cell), key) for each, cell in cells}
        known = name in _TERMS or (name == "where" and value in _CORNERS)
        return value if known else _hashed(value, key)

    return [_changed(record, shared) for record in records], [_changed(score, shared) for score in scores]


def _changed(value: T, change: Callable[[Any, str], Any], name: str = "") -> T:
    """The value with each text and each dictionary in it changed; `change` is given the name of its field."""
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
