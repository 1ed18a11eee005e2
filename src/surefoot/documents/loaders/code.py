"""Source code and settings: a block of code for each class, function or other symbol, or for each run of settings.

Python is read by its own parser, other languages by the lines on which their symbols begin. Parsers for all of them
(tree-sitter's) would place a few symbols better and add a native library for each language; no line is lost without.
Settings are not parsed: comments are half of what they say, and YAML's aliases can unfold to any size.
"""

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import PurePath
from typing import BinaryIO

from surefoot.documents.loaders import Block, Document, DocumentProblem
from surefoot.documents.loaders._suffixes import LANGUAGES, SETTINGS
from surefoot.documents.loaders.text import decoded
from surefoot.text.blocks import code

_WHOLE = 40
"""Lines of a class, at most, that stays one block; of a longer one each method is a block."""
_LONGEST_LINE = 400
"""Characters of a line, at most, on which a symbol may begin: longer ones are written by programs."""
_DEEPEST = 2
"""Levels of keys of YAML that are headings; deeper ones would part what belongs together."""

_NAME = r"(?P<name>~?[A-Za-z_$][\w$.:!?-]{0,200})"
_DECLARED = re.compile(
    r"\s*(?:(?:(?:export|default|public|private|protected|internal|static|final|abstract|sealed|override|open|data|async"
    r"|pub(?:\([a-z]{1,9}\))?|unsafe|inline|extern|const|virtual|partial|suspend|case|implicit|lazy|local|declare"
    r"|noinline)\s+)*"
    r"(?:class|struct|enum|interface|trait|impl(?:<[^<>\n]{0,100}>)?|record|object|protocol|extension|namespace|module"
    r"|union|function\*?|func|fn|fun|def|defp|defmodule|defmacro|sub|proc|macro|macro_rules!|type|typedef|package|mod"
    r"|message|service|rpc|resource|variable|let|var|val|const|data|newtype|instance|actor|mixin|typealias|theorem"
    r"|method)\s+(?:\([^()\n]{0,200}\)\s*)?"
    r"|(?i:(?:create|alter|drop)\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+|unique\s+|materialized\s+)?"
    r"(?:table|view|index|function|procedure|trigger|type|schema|sequence)\s+(?:if\s+(?:not\s+)?exists\s+)?)\[?"
    r"|\((?:def\w{0,30}|ns)\s+"  # of Lisp
    r"|(?i:function|macro)\s*\(\s*"  # of CMake
    rf")[\"'`]?{_NAME}"
    r"|(?P<assigned>[\w$.]{1,200})(?:\s*(?:<-|=)\s*function\b|\s+::\s)"
)
"""A symbol behind the words that say what it is, or before its function or its type."""
_CALLED = re.compile(
    r"\s*(?!(?:return|await|throw|new|else|case|do)\b)"
    rf"(?:[\w:<>,.?~\[\]]{{1,200}}[\s*&]+){{1,8}}[*&]*{_NAME}\s*\((?:[^;]{{0,400}}\Z|[^;{{}}]{{0,400}}\{{)"
)
"""A function behind the type of what it gives."""
_SHELL = re.compile(r"(?:function\s+)?(?P<name>[\w.:-]{1,200})\s*\(\)|function\s+(?P<other>[\w.:-]{1,200})")
_RULE = re.compile(r"(?P<name>[^\s{}@/][^{}\n]{0,200}?)\s*\{")

_BY_LANGUAGE = {"bash": (_SHELL,), "c": (_DECLARED, _CALLED), "cpp": (_DECLARED, _CALLED), "css": (_RULE,)}
"""The beginnings of symbols at the margin, where they are not `_DECLARED` alone."""
_NESTED = frozenset(
    ("csharp", "java", "kotlin", "php", "scala", "dart", "groovy", "swift", "typescript", "javascript", "ruby")
)
"""Languages whose functions stand inside of classes, indented."""
_NO_NAME = frozenset(
    "if for while switch return else catch do new throw sizeof await case elif foreach using lock async extends"
    " function".split()
)
_ABOVE = ("#", "//", "/*", "*", " *", "--", ";", '"""', "@", "[", "%")
"""Beginnings of lines that, directly above a symbol, belong to it: comments and attributes."""

Starts = Iterable[tuple[int, tuple[str, ...]]]
"""The index of the first line of each symbol or run of settings, and its path."""


class CodeLoader:
    """Reads source code and settings, with the names of symbols or sections as paths, and lines as places."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The whole file as one document, titled by its whole name."""
        text, problems = decoded(stream)
        yield from problems
        suffix, lines = PurePath(name).suffix.lower(), text.split("\n")
        language = LANGUAGES.get(suffix) or SETTINGS.get(suffix, "")
        starts = _of_python(text) if language == "python" else None
        if suffix in SETTINGS:
            starts = _of_settings(lines, _keys(lines) if language == "yaml" else _sections(lines))
        elif starts is None:
            starts = _of_lines(lines, language)
        yield Document("", PurePath(name).name, tuple(_blocks(lines, starts, language)))


def _blocks(lines: list[str], starts: Starts, language: str) -> Iterator[Block]:
    """A block for each symbol, from the comments above it to those above the next."""
    cuts: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    last = -1
    for start, path in starts:
        begin = start
        while begin > last + 1 and lines[begin - 1].strip() and lines[begin - 1].lstrip().startswith(_ABOVE):
            begin -= 1
        cuts.append((begin, path))
        last = start
    for (begin, path), (end, _) in pairwise([*cuts, (len(lines), ())]):
        while begin < end and not lines[begin].strip():
            begin += 1
        if text := code("\n".join(lines[begin:end]), language):
            yield Block(text, "code", path, f"L{begin + 1}")


def _of_python(text: str) -> Starts | None:
    """The symbols of Python; None: it is Python of another version, or none."""
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    starts: dict[int, tuple[str, ...]] = {}
    ended = False
    for node in tree.body:
        if isinstance(node, _SYMBOLS):
            starts[_first_line(node)] = (node.name,)
            if isinstance(node, ast.ClassDef) and (node.end_lineno or 0) - node.lineno >= _WHOLE:
                inside = [below for below in node.body if isinstance(below, _SYMBOLS)]
                starts |= {_first_line(below): (node.name, below.name) for below in inside}
        elif ended:
            starts.setdefault(node.lineno - 1, ())
        ended = isinstance(node, _SYMBOLS)
    return starts.items()


_SYMBOLS = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    return min((node.lineno, *(decorator.lineno for decorator in node.decorator_list))) - 1


def _of_lines(lines: list[str], language: str) -> Starts:
    """The symbols that begin at the margin, or one step inside of one that does."""
    at_margin = _BY_LANGUAGE.get(language, (_DECLARED,))
    outer = ""
    for n, line in enumerate(lines):
        if len(line) > _LONGEST_LINE or not line.strip():
            continue
        if not line[0].isspace():
            if name := _name(at_margin, line):
                outer = name
                yield n, (name,)
        elif outer and language in _NESTED and _is_near(line) and (name := _name((_CALLED, _DECLARED), line)):
            yield n, (outer, name)


def _name(patterns: Iterable[re.Pattern[str]], line: str) -> str:
    """The name of the symbol that begins on a line; empty: none does."""
    found = next(filter(None, (pattern.match(line) for pattern in patterns)), None)
    name = found[found.lastgroup or 0].rstrip(":.-") if found else ""
    return "" if name in _NO_NAME else name


def _is_near(line: str) -> bool:
    """True if a line is indented by one step, as the methods of a class are."""
    wide = line.expandtabs(4)
    return len(wide) - len(wide.lstrip()) <= 4 and wide.lstrip()[:1] not in ("/", "*", "#")


def _of_settings(lines: list[str], paths: Iterable[tuple[str, ...]]) -> Starts:
    """The runs of settings: an empty line ends one, as does another section."""
    before: tuple[str, ...] | None = None
    for n, (line, path) in enumerate(zip(lines, paths, strict=True)):
        if not line.strip():
            before = None
        elif path != before and not line.lstrip().startswith(("#", ";")):
            yield n, path
            before = path


def _sections(lines: list[str]) -> Iterator[tuple[str, ...]]:
    """For each line the section that it stands in."""
    path: tuple[str, ...] = ()
    for line in lines:
        name, end, rest = line.strip().lstrip("[").partition("]")
        if end and line.lstrip()[0] == "[" and "[" not in name and rest.strip(" \t]")[:1] in ("", "#", ";"):
            path = (name.strip(),)
        yield path


def _keys(lines: list[str]) -> Iterator[tuple[str, ...]]:
    """For each line the keys of YAML above it that hold no value of their own, the outermost first."""
    open_keys: list[tuple[int, str]] = []
    for line in lines:
        words = line.strip()
        if words and words[0] != "#":
            indent, listed = len(line) - len(line.lstrip()), words.startswith("- ")
            while open_keys and (open_keys[-1][0] > indent or (open_keys[-1][0] == indent and not listed)):
                open_keys.pop()
            key, colon, value = words.partition(":")
            name = key.strip("\"' ")
            is_open = colon and words[0] not in "&*!{}[]|>,-" and value.strip()[:1] in ("", "#", "&", "!")
            if is_open and name and "'" not in name and len(open_keys) < _DEEPEST:
                open_keys.append((indent, name))
        yield tuple(key for _, key in open_keys)
