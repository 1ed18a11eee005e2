"""Trust in the source of a passage, and the passages that decide nothing by themselves.

Anybody can write a page. So what comes from the open web is doubted: a passage of it that is graded CORRECT stays
AMBIGUOUS until another source points at the same answer, or a language model reads that it states the answer: planted
words that match a question's do not earn that. Files of the index, and encyclopedias that somebody named, are taken as
plain; `[sources]` says where that is wrong, and where it says too little.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from surefoot.network.guard import canonical
from surefoot.text.words import content_words
from surefoot.types import Action, Grade, Passage, Trust

ALONE = "no other source says the same"


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources that the user trusts or does not: patterns of files and addresses, `*` for anything."""

    trusted: tuple[str, ...] = ()
    """Yours, and known to be right: an FAQ of these may repeat the question word for word."""
    untrusted: tuple[str, ...] = ()
    """Other people's, such as mails or uploads; named in both, a source is doubted."""

    def placed(self, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """The passages, each with the standing of its source."""
        return tuple(replace(passage, trust=self._trust(passage)) for passage in passages)

    def _trust(self, passage: Passage) -> Trust:
        where = passage.file or passage.url or ""  # the address that a row claims is not the file's
        if any(fnmatchcase(where, pattern) for pattern in self.untrusted):
            return "untrusted"
        return "trusted" if any(fnmatchcase(where, pattern) for pattern in self.trusted) else passage.trust


def corroborated(passages: Sequence[Passage], grades: Sequence[Grade]) -> tuple[Grade, ...]:
    """The grades, those of doubted sources at most AMBIGUOUS where no other source backs them.

    A passage of the open web needs none where the grade's `cap` is CORRECT; what the user calls untrusted always does.
    Another source backs a passage when it is not graded INCORRECT and the evaluator points at the same words in it; for
    an evaluator that points at nothing, when it is graded CORRECT too.
    """
    pairs = list(zip(passages, grades, strict=True))
    return tuple(
        replace(grade, label=Action.AMBIGUOUS, cap=Action.AMBIGUOUS, reason=f"{grade.reason}; {ALONE}".lstrip("; "))
        if grade.label is Action.CORRECT and _doubted(passage, grade) and not _backed(passage, grade, pairs)
        else grade
        for passage, grade in pairs
    )


def _doubted(passage: Passage, grade: Grade) -> bool:
    return passage.trust == "untrusted" or (passage.trust == "web" and grade.cap is not Action.CORRECT)


def _backed(passage: Passage, grade: Grade, pairs: Sequence[tuple[Passage, Grade]]) -> bool:
    mine, whose = set(content_words(grade.pointed(passage.text))), origin(passage)
    return bool(whose) and any(
        origin(other) not in ("", whose)
        and its.label not in (None, Action.INCORRECT)
        and (_same(mine, set(content_words(its.pointed(other.text)))) if mine else its.label is Action.CORRECT)
        for other, its in pairs
    )


def _same(one: Set[str], other: Set[str]) -> bool:
    return bool(one and other) and (one <= other or other <= one)


def origin(passage: Passage) -> str:
    """Who is behind it: a file of an index, or the last two parts of a host's name, which one owner has. Empty: nobody
    knows, since its address is none."""
    if passage.file or passage.source == "corpus":
        return f"file {passage.file or passage.url or passage.id}"
    try:
        host = canonical(urlsplit(passage.url or "").hostname or passage.id)
    except ValueError:
        return ""
    return ".".join(host.split(".")[-2:])
