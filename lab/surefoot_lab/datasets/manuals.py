"""Questions about manuals, with the rules by which an answer is right and a passage holds the evidence."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from surefoot.run.store import from_json, rows
from surefoot.types.errors import UsageError

# The look-behind lets each run of white space be tried once, from its beginning.
_MARKER = re.compile(r"(?<!\s)\s*\[\d+(?:\s*,\s*\d+)*\]")
_SIGNS = re.compile(r"[`*]+")
_SPACE = re.compile(r"\s+")
_SPACE_AND_SIGNS = re.compile(r"[\s|`*]+")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,200}>")
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]*")
_SHORT = 3


@dataclass(frozen=True, slots=True)
class ManualQuestion:
    """A question of a user of some software, asked of the software's manual."""

    id: str
    corpus: str
    """Package and version of the manual, such as "varnish-doc 7.1.1-2"."""
    file: str | None
    """A page with the answer, relative to the manual's folder; None: the manual does not hold it."""
    question: str
    kind: str
    """`class` in the file: how-to, number, single fact, yes/no, unanswerable, …"""
    lang: str
    answerable: bool
    answers: tuple[str, ...]
    """A right answer contains one of them."""
    all_of: tuple[tuple[str, ...], ...]
    """Where there are no `answers`: a right answer contains one of each."""
    evidence: tuple[str, ...]
    """A passage that holds the answer contains one of them."""
    gold: str
    """The answer in a sentence, or the reason why there is none."""
    absent: tuple[str, ...] = ()
    """Words that no page of the manual has; only of a question without an answer."""

    @property
    def manual(self) -> str:
        """The package's name, which is also the name of the manual's folder."""
        return self.corpus.split(" ")[0]


def read(path: Path) -> list[ManualQuestion]:
    """The questions of a file of JSON lines. Raises UsageError, naming the line, for one that does not fit."""
    found = [_question(where, row) for where, row in rows(path)]
    if not found:
        raise UsageError(f"{path} holds no questions; give a file with one JSON object a line")
    seen: set[str] = set()
    for one in found:
        if one.id in seen:
            raise UsageError(f"{path} has two questions with the id '{one.id}'; give each its own")
        seen.add(one.id)
    return found


def right(question: ManualQuestion, answer: str) -> bool:
    """True if the answer contains one of `answers`, or else one of each group of `all_of`."""
    text = comparable(answer)
    groups = [question.answers] if question.answers else question.all_of
    return bool(groups) and all(any(contains(text, one) for one in group) for group in groups)


def held(question: ManualQuestion, texts: Iterable[str]) -> bool:
    """True if one of the texts contains one of the question's phrases of evidence."""
    wanted = [squeezed(phrase) for phrase in question.evidence]
    return any(phrase and phrase in form for text in texts for form in _forms(text) for phrase in wanted)


def comparable(answer: str) -> str:
    """An answer as it is compared: in lower case, without markers of citations and Markdown's signs, on one line."""
    return _collapsed(_MARKER.sub("", answer))


def squeezed(text: str) -> str:
    """A text as it is searched for evidence: in lower case, without white space and without the signs ` * |."""
    return _SPACE_AND_SIGNS.sub("", text).lower()


def contains(text: str, wanted: str) -> bool:
    """True if a text of `comparable` contains one alternative.

    A number must not go on at either end: 5 is not in 15, nor 30 in 1.30 or 30,000. An alternative of at most three
    letters and digits must stand alone as a word.
    """
    wanted = _collapsed(wanted)
    if not wanted:
        return False
    alone = sum(letter.isalnum() for letter in wanted) <= _SHORT
    before, behind = "", ""
    if wanted[0].isdigit():
        before += r"(?<![0-9])(?<![0-9][.,])"
    if wanted[-1].isdigit():
        behind += r"(?![0-9]|[.,][0-9])"
    if alone and wanted[0].isascii() and wanted[0].isalnum():
        before += r"(?<![a-z0-9])"
    if alone and wanted[-1].isascii() and wanted[-1].isalnum():
        behind += r"(?![a-z0-9])"
    return re.search(before + re.escape(wanted) + behind, text) is not None


def _collapsed(text: str) -> str:
    return _SPACE.sub(" ", _SIGNS.sub("", text).replace("|", " ")).strip().lower()


def _forms(text: str) -> Iterator[str]:
    """Without tags, and with them: what stands in angle brackets is in manuals often a placeholder."""
    yield squeezed(_TAG.sub("", text))
    yield squeezed(text)


def _question(where: str, row: dict[str, object]) -> ManualQuestion:
    named = {"kind" if name == "class" else name: value for name, value in row.items()}
    one = from_json(ManualQuestion, named, where)
    if not _PACKAGE.fullmatch(one.manual):
        raise UsageError(f"{where}: the corpus '{one.corpus}' does not begin with the name of a package")
    if one.answerable != bool(one.evidence and (one.answers or one.all_of)):
        raise UsageError(
            f"{where}: an answerable question has evidence and answers or all_of, and no other has; mend '{one.id}'"
        )
    return one
