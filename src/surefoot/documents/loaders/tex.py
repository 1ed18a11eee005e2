"""LaTeX: sections as paths, lists, tables and listings whole, the text without its commands.

TeX is a programming language, and nothing here runs it: a macro of the author's own stays as its arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import BinaryIO
from unicodedata import normalize

from surefoot.documents.loaders import Block, Document, DocumentProblem, Unreadable
from surefoot.documents.loaders.text import decoded
from surefoot.text.blocks import bullets, code, definition, paragraph, table
from surefoot.types import BlockKind

_LEVELS = {
    "part": 0,
    "chapter": 1,
    "section": 2,
    "subsection": 3,
    "subsubsection": 4,
    "paragraph": 5,
    "subparagraph": 6,
}
_HEADING = re.compile(
    rf"\s*\\({'|'.join(_LEVELS)})\*?(?:\[[^\]\n]{{0,300}}\])?\{{(.{{0,500}}?)\}}\s*(?:\\label\{{[^{{}}]{{0,200}}\}})?\s*\Z"
)
_TITLE = re.compile(r"\s*\\title(?:\[[^\]\n]{0,300}\])?\{(.{1,500})\}")
_ENVIRONMENT = re.compile(r"\s*\\(begin|end)\{([A-Za-z]{1,30})\*?\}(.*)\Z")
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_CODE = frozenset("verbatim Verbatim lstlisting minted alltt code".split())
_LISTS = frozenset("itemize enumerate description".split())
_TABLES = frozenset("tabular tabularx longtable array tabulary".split())
_MATHS = frozenset("equation align gather multline eqnarray displaymath math".split())
_LINE_BREAK = re.compile(r"\\\\(?:\[[^\]\n]{0,20}\])?|\\tabularnewline")
_DROPPED = re.compile(
    r"\\(?:begin|end|label|index|vspace|hspace|includegraphics|bibliographystyle|pagestyle|thispagestyle|setlength|usepackage"
    r"|documentclass|newpage|clearpage|maketitle|tableofcontents|centering|hline|toprule|midrule|bottomrule|noindent)"
    r"(?![A-Za-z])\*?(?:\[[^\]\n]{0,300}\])?(?:\{[^{}\n]{0,300}\}){0,2}"
)
_LINK = re.compile(r"\\href\{([^{}\n]{0,500})\}\{([^{}\n]{0,500})\}")
_COMMAND = re.compile(r"\\([A-Za-z@]{1,40})\*?(?:\[[^\]\n]{0,300}\])?[ \t]?")
_SPELLED = {
    "LaTeX": "LaTeX", "TeX": "TeX", "ldots": "…", "dots": "…", "textbackslash": "\\", "textasciitilde": "~", "ss": "ß",
    "textasciicircum": "^", "item": "- ", "S": "§", "copyright": "©", "textendash": "–", "textemdash": "—",
    "o": "ø", "ae": "æ",
}  # fmt: skip
_SIGN = re.compile(r"\\([%&_#${}~^ ,;!-])")
_ACCENT = re.compile(r"\\([\"'`^~]|c(?=\{))\{?\\?([A-Za-z])\}?")
_ACCENTS = {'"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "c": "\u0327"}


class TexLoader:
    """Reads LaTeX, with the numbers of lines as places."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The whole file as one document, titled by its title or its first heading."""
        text, problem = decoded(stream)
        if problem:
            yield problem
        source = _Source()
        for number, line in enumerate(text.split("\n"), start=1):
            source.take(number, line)
        source.end_all()
        if not source.blocks:
            raise Unreadable("holds no text")
        first = next((block.path[0] for block in source.blocks if block.path), PurePath(name).stem)
        yield Document("", source.title or first, tuple(source.blocks))


class _Source:
    """A text as it is read, line by line."""

    def __init__(self) -> None:
        self.title = ""
        self.blocks: list[Block] = []
        self._path: list[tuple[int, str]] = []
        self._lines: list[str] = []
        self._place = 1
        self._inside: list[str] = []
        self._verbatim = ""
        self._began = False

    def take(self, number: int, line: str) -> None:
        """Read a line."""
        if self._verbatim:
            if f"\\end{{{self._verbatim}" in line:
                self._end_code()
            else:
                self._lines.append(line)
            return
        shown = _COMMENT.sub(r"\1", line) if "%" in line else line
        if not self._began and (found := _TITLE.match(shown)):
            self.title = _plain(found[1])
        elif found := _HEADING.match(shown):
            self._head(_LEVELS[found[1]], _plain(found[2]))
        elif found := _ENVIRONMENT.match(shown):
            self._environment(number, found[1], found[2], found[3])
        elif not shown.strip():
            if not line.strip() and not self._inside:
                self._end_prose()
        else:
            self._place = self._place if self._lines or self._inside else number
            self._lines.append(shown)

    def _environment(self, number: int, order: str, name: str, rest: str) -> None:
        kind = name if name in _LISTS | _TABLES | _MATHS else ""
        if order == "begin" and name == "document":
            self._lines = []  # the preamble
            self._began = True
        elif order == "begin" and name in _CODE and not self._inside:
            self._end_prose()
            self._verbatim, self._place = name, number
        elif order == "begin" and kind and not self._inside:
            self._end_prose()
            self._inside, self._place = [kind], number
        elif order == "begin" and kind:
            self._inside.append(kind)
        elif order == "end" and self._inside and kind == self._inside[-1]:
            self._inside.pop()
            if not self._inside:
                self._end_environment(kind)
        elif not self._inside:
            self._end_prose()
            if order == "begin" and rest.strip():
                self._place = number
                self._lines.append(rest)

    def _end_environment(self, kind: str) -> None:
        lines, self._lines = self._lines, []
        if kind in _LISTS:
            self._add_items(kind, re.split(r"\\item(?![A-Za-z])", "\n".join(lines))[1:])
        elif kind in _TABLES:
            rows = [re.split(r"(?<!\\)&", row) for row in _LINE_BREAK.split("\n".join(lines))]
            cells = [[_plain(cell) for cell in row] for row in rows]
            filled = [row for row in cells if any(row)]
            if filled:
                self._add(table(filled[1:], filled[0]) if len(filled) > 1 else table(filled), "table")
        elif text := code("\n".join(lines), "latex"):
            self._add(text, "code")

    def _add_items(self, kind: str, items: list[str]) -> None:
        if kind != "description":
            if text := bullets(map(_plain, items), kind == "enumerate"):
                self._add(text, "list")
            return
        for item in items:
            named = re.match(r"\s*\[([^\]]{0,300})\]", item)
            term, text = (_plain(named[1]), _plain(item[named.end() :])) if named else ("", _plain(item))
            if term or text:
                self._add(
                    definition(term, text) if term and text else term or text,
                    "definition" if term and text else "paragraph",
                )

    def _end_prose(self) -> None:
        said, self._lines = _plain("\n".join(self._lines)), []
        if said:
            self._add(said, "paragraph")

    def _end_code(self) -> None:
        if text := code("\n".join(self._lines)):
            self._add(text, "code")
        self._lines, self._verbatim = [], ""

    def _head(self, level: int, name: str) -> None:
        self.end_all()
        self._path = [(depth, above) for depth, above in self._path if depth < level] + [(level, name)]

    def end_all(self) -> None:
        """End all that is open, closed by the author or not."""
        if self._verbatim:
            self._end_code()
        elif self._inside:
            self._end_environment(self._inside[0])
        self._inside = []
        self._end_prose()

    def _add(self, text: str, kind: BlockKind) -> None:
        self.blocks.append(Block(text, kind, tuple(name for _, name in self._path), f"L{self._place}"))


def _plain(text: str) -> str:
    """The text on one line as it would be printed, but for its formulas."""
    text = _DROPPED.sub("", text)
    text = _LINK.sub(r"\2 (\1)", text)
    text = _ACCENT.sub(lambda found: normalize("NFC", found[2] + _ACCENTS[found[1]]), text)
    text = _LINE_BREAK.sub(" ", text)
    text = _SIGN.sub(lambda found: f"\0{found[1]}" if found[1] in "{}" else found[1].replace(",", " "), text)
    text = _COMMAND.sub(lambda found: _SPELLED.get(found[1], ""), text)
    text = re.sub(r"(?<!\0)[{}]", "", text).replace("\0", "").replace("~", " ")
    return paragraph(text.replace("``", '"').replace("''", '"').replace("---", "—"))
