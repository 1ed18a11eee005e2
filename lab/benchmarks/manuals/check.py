"""Hold the questions against the manuals: python benchmarks/manuals/check.py FOLDER [QUESTIONS.jsonl]

FOLDER has a folder with the pages of each manual, as `fetch.sh` makes them. Each phrase of the evidence must stand in
the manual and one of them in `file`; `gold` must pass as an answer; no page may have a word of `absent`. Prints what
fails, a line each. Exit code 1: something does.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

from surefoot_lab.datasets import manuals
from surefoot_lab.datasets.manuals import ManualQuestion

QUESTIONS = Path(__file__).parent / "questions.jsonl"


class PageText(HTMLParser):
    """Collects the text of a page, without scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._hidden = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden = False

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)


@cache
def pages(folder: Path) -> dict[Path, str]:
    """The text of each page below the folder."""
    return {path: _text(path) for path in sorted(folder.rglob("*.html"))}


@cache
def squeezed(folder: Path) -> dict[Path, str]:
    """The same, as it is searched for evidence."""
    return {path: manuals.squeezed(text) for path, text in pages(folder).items()}


def faults(question: ManualQuestion, folder: Path) -> Iterator[str]:
    """What does not fit, a line each."""
    if not question.answerable:
        for word in question.absent:
            alone = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)
            if found := [path for path, text in pages(folder).items() if alone.search(text)]:
                yield f"'{word}' stands in {found[0]}"
        return
    texts, phrases = squeezed(folder), [manuals.squeezed(phrase) for phrase in question.evidence]
    page = folder / (question.file or "")
    if page not in texts:
        yield f"there is no {page}"
    elif not any(phrase in texts[page] for phrase in phrases):
        yield f"no evidence in {page}"
    for written, phrase in zip(question.evidence, phrases, strict=True):
        if not any(phrase in text for text in texts.values()):
            yield f"the manual has no '{written}'"
    if not manuals.right(question, question.gold):
        yield f"gold is not right by its own rule: {question.gold}"


def main(folder: str, questions: str | Path = QUESTIONS) -> int:
    """Print the faults of all questions. 1: there are some."""
    found = [
        f"{question.id}: {fault}"
        for question in manuals.read(Path(questions))
        for fault in faults(question, Path(folder) / question.manual)
    ]
    print(*found, f"{len(found)} faults", sep="\n")
    return int(bool(found))


def _text(path: Path) -> str:
    reader = PageText()
    reader.feed(path.read_text(encoding="utf-8", errors="replace"))
    return "".join(reader.parts)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
