"""Text with markup on its way into pandoc, and the lines that its blocks stand in."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from surefoot.documents.loaders import Block
from surefoot.documents.loaders._docbook import docbook

_FENCE = re.compile(r"([-.+/])\1{3,}[ \t]*\Z")
_UNDERLINE = re.compile(r"([=\-~^+])\1{2,}[ \t]*\Z")
_TITLE = re.compile(r"[^\s=\-~^+.|*/\[].{0,198}\Z")
_PROSE = re.compile(r"(?!--|[\[.+\s])(?!.*::\s*\Z).")
_MAN_PAGE = re.compile(r"\b(?:linkgit|man):([\w.+-]{1,80})\[(\d\w{0,3})\]")
_WORD = re.compile(r"\w+")
_PHRASE = re.compile(
    r"^\.TS\b(?:.*\n)*?\.TE|^[.':].*|(?<=[ \n])[A-Za-z]{2,}(?: [A-Za-z]{2,})*(?=[.,;]?[ \n])", re.MULTILINE
)
_READ_BY_LETTERS = frozenset(("asciidoc", "man", "mdoc"))
_SYMBOL, _SYMBOLS = 0x100000, 65_000
"""The first character of a private plane, and how many of them are used."""
_FIRST, _OFTEN = 3, 50
"""Words by which a block is looked for, at most, and lines that they may stand in: words that are everywhere tell no
line."""

_Chain = tuple[int, int, Any]
"""The number of a block, its line, and the chain of blocks and lines before it."""


def prepared(text: str, source: str) -> str:
    """The text without what pandoc stops at, leaves out or does not know."""
    if source == "docbook":
        return docbook(text)
    for pattern, written in _MENDED.get(source, ()):
        text = pattern.sub(written, text)
    return _MAN_PAGE.sub(r"\1(\2)", _asciidoc(text)) if source == "asciidoc" else text


def abridged(text: str, source: str) -> tuple[str, dict[int, str]]:
    """The text with a symbol for each run of plain words, and these runs, where pandoc reads letter by letter: at each
    letter of AsciiDoc it tries some twenty macros."""
    runs: dict[str, int] = {}

    def symbol(found: re.Match[str]) -> str:
        if found[0][0] in ".':" or len(runs) >= _SYMBOLS:
            return found[0]
        return chr(runs.setdefault(found[0], _SYMBOL + len(runs)))

    if source not in _READ_BY_LETTERS or max(text, default="") >= chr(_SYMBOL):
        return text, {}
    return _PHRASE.sub(symbol, text), {symbol: run for run, symbol in runs.items()}


def _plain_table(found: re.Match[str]) -> str:
    """The head of a manual page's table with columns of no special kind, else pandoc leaves the table out."""
    last = re.split("[\n,]", found[2])[-1].strip(" |")
    columns = len(last.split()) if " " in last else len(re.findall("[lrcnas^]", last, re.IGNORECASE))
    tab = re.search(r"tab\s*\(.\)", found[1] or "")
    return f".TS\n{f'{tab[0]};' if tab else ''}\n".replace("\n\n", "\n") + " ".join("l" * columns) + ".\n"


_MENDED: dict[str, tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]] = {
    "asciidoc": (
        (re.compile(r"^(?:(?:include|ifdef|ifndef|ifeval|endif)::.*|//(?!//).*|:toc:.*)$", re.MULTILINE), ""),
    ),
    "man": (
        (
            re.compile(r"^\.TS\b.*\n(?:(.*);[ \t]*\n)?((?:.*\n){0,40}?.*)\.[ \t]*\n", re.MULTILINE),
            _plain_table,
        ),
    ),
    "rst": (
        (
            re.compile(
                r"^[ \t]*\.\. (?:\|[^|\n]{1,80}\| )?(?:include|literalinclude|raw)::.*$|^[ \t]+:file:.*$", re.MULTILINE
            ),
            "",
        ),
        (re.compile(r"^([ \t]*\.\. )(?:[\w+-]{1,40}:){1,3}(?=[\w+-]{1,40}::)", re.MULTILINE), r"\1"),
    ),
}
"""By format: lines that name another file, at which pandoc stops; what is no text, or not for the eye; and what pandoc
would leave out: tables with columns of a special kind, directives of a named domain."""


def _asciidoc(text: str) -> str:
    """With each heading on one line, only the first of the outermost level, and each block of code closed and apart:
    pandoc reads an open one without end, and an underlined heading not at all. Comments are empty."""
    written, lines = text.split("\n"), list[str]()
    first = next((n for n, line in enumerate(written) if line.strip() and line[0] not in ":["), 0)
    fence, opened = "", 0
    for line in written:
        found, title = _FENCE.match(line), lines[-1] if lines else ""
        if fence:
            closes = found is not None and found[1] == fence[0]
            line = "" if fence[0] == "/" else fence if closes else line
            fence = "" if closes else fence
        elif _UNDERLINE.match(line) and _TITLE.match(title) and abs(len(title.rstrip()) - len(line.rstrip())) <= 2:
            level = max("=-~^+".index(line[0]) + 1, 1 if len(lines) - 1 == first else 2)
            lines[-1], line = f"{'=' * level} {title}", ""
        elif found:
            if _PROSE.match(title):
                lines.append("")
            fence, opened = found[1] * 4, len(lines)
            line = "" if fence[0] == "/" else fence
        elif line.startswith("= ") and len(lines) != first:
            line = f"={line}"
        lines.append(line)
    if fence:
        lines[opened] = ""
    return "\n".join(lines)


def located(found: Sequence[Block], text: str) -> tuple[Block, ...]:
    """The blocks, each with the line of the text as its place in which its first words stand; one whose words stand in
    no line of their own in this order with that of the block or heading before it."""
    sought = [*_sought(found)]
    runs = [[words[:size] for size in range(len(words), 0, -1)] for _, words in sought]
    lines = dict[tuple[str, ...], list[int]]((run, []) for each in runs for run in each)
    firsts = {run[0] for run in lines}
    for n, line in enumerate(text.lower().split("\n")):
        words = _WORD.findall(line)
        begins = [at for at, word in enumerate(words) if word in firsts]
        for run in {tuple(words[at : at + size]) for at in begins for size in range(1, _FIRST + 1)}:
            if run in lines:
                lines[run].append(n)
    ends: list[int] = []
    chains: list[_Chain] = []  # by length, of all chains in order the one that ends in the first line, which `ends` has
    for at, each in enumerate(runs):
        there = next(filter(None, (lines[run] for run in each)), [])
        for n in reversed(there if len(there) <= _OFTEN else ()):
            longest = bisect_right(ends, n)
            ends[longest : longest + 1] = [n]
            chains[longest : longest + 1] = [(at, n, chains[longest - 1] if longest else None)]
    placed, chain = dict[int, int](), chains[-1] if chains else None
    while chain:
        placed[chain[0]], chain = chain[1], chain[2]
    places = [*accumulate(range(len(sought)), lambda line, at: placed.get(at, line), initial=0)][1:]
    return tuple(replace(block, place=f"L{n + 1}") for (block, _), n in zip(sought, places, strict=True) if block)


def _sought(found: Sequence[Block]) -> Iterator[tuple[Block | None, tuple[str, ...]]]:
    """Each block, and each heading before its first one, with the words by which its line is found."""
    above: tuple[str, ...] = ()
    for block in found:
        if block.path != above[: len(block.path)]:
            yield None, _first_words(block.path[-1])
        above = block.path
        head, _, rest = block.text.partition("\n")
        yield block, _first_words(rest if block.kind == "code" else head)


def _first_words(text: str) -> tuple[str, ...]:
    return (*_WORD.findall(text[:200].lower())[:_FIRST],)
