"""Source code and settings: a block of code for each class, function or other symbol, or for each run of settings.

Python is read by its own parser, other languages by the lines on which their symbols begin. Parsers for all of them
(tree-sitter's) would place a few symbols better and add a native library for each language; no line is lost without.
Settings are not parsed: comments are half of what they say, and YAML's aliases can unfold to any size.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
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

_NAME = r"(?P<name>~?[A-Za-z_$][\w$.:!?]{0,200})"
_MODIFIERS = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|sealed|override|open|data|async|pub"
    r"(?:\([a-z]{1,9}\))?|unsafe|inline|extern|const|virtual|partial|suspend|case|implicit|lazy|local|declare|noinline)\s+)*"
)
_KEYWORDS = (
    r"(?:class|struct|enum|interface|trait|impl(?:<[^<>\n]{0,100}>)?|record|object|protocol|extension|namespace|module|union"
    r"|function\*?|func|fn|fun|def|defp|defmodule|defmacro|sub|proc|macro|macro_rules!|type|typedef|package|mod|message|service|rpc"
    r"|resource|variable|let|var|val|const|data|newtype|instance|actor|mixin|typealias|theorem|method)"
)
_KEYWORDED = re.compile(rf"\s*{_MODIFIERS}(?:{_KEYWORDS})\s+(?:\([^()\n]{{0,200}}\)\s*)?[\"']?{_NAME}")
_C_LIKE = re.compile(rf"[A-Za-z_][\w:<>,*&\s\[\]~]{{0,300}}?[\s*&]{_NAME}\s*\((?:[^;]{{0,400}}\Z|[^;{{}}]{{0,400}}\{{)")
_METHOD = re.compile(rf"[ \t]{{1,8}}{_MODIFIERS}(?:[\w<>\[\],.?]{{1,200}}\s+){{1,4}}{_NAME}\s*\([^;=]{{0,1000}}\Z")
_SQL = re.compile(
    r"\s*(?:create|alter|drop)\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+|unique\s+|materialized\s+)?"
    r"(?:table|view|index|function|procedure|trigger|type|schema|sequence)\s+(?:if\s+(?:not\s+)?exists\s+)?"
    r"(?P<name>[\w.\"`\[\]]{1,200})",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(rf"{_NAME}\s*(?:<-|=)\s*function\b")
_SHELL = re.compile(rf"(?:function\s+)?{_NAME}\s*\(\)|function\s+(?P<other>[\w.:-]{{1,200}})")
_LISP = re.compile(r"\((?:def\w{0,30}|ns)\s+(?P<name>[^\s()]{1,200})")
_HASKELL = re.compile(
    r"(?P<name>[a-z_][\w']{0,200})\s*::|(?:data|newtype|class|instance|type)\s+(?P<other>[A-Z]\w{0,200})"
)
_SECTION = re.compile(r"\s*\[{1,2}([^\[\]\n]{1,300})\]{1,2}\s*(?:[#;].*)?\Z")
_KEY = re.compile(r"( *)(?:- )?[\"']?([^\s\"'#:&*!{}\[\]|>,-][^\"'#:\n]{0,200})[\"']?:\s*(?:#.*|[&!]\S+\s*)?\Z")
_DEEPEST = 2
"""Levels of keys of YAML that are headings; deeper ones would part what belongs together."""
_RULE = re.compile(r"(?P<name>[^\s{}@/][^{}\n]{0,200}?)\s*\{")

_BY_LANGUAGE = {
    "bash": (_SHELL,), "c": (_KEYWORDED, _C_LIKE), "clojure": (_LISP,), "cpp": (_KEYWORDED, _C_LIKE), "css": (_RULE,),
    "haskell": (_HASKELL,), "lisp": (_LISP,), "r": (_ASSIGNED,), "sql": (_SQL,), "tcl": (_KEYWORDED,),
    "cmake": (re.compile(r"(?:function|macro)\s*\(\s*(?P<name>\w{1,200})", re.IGNORECASE),),
}  # fmt: skip
_NESTED = frozenset(
    ("csharp", "java", "kotlin", "php", "scala", "dart", "groovy", "swift", "typescript", "javascript", "ruby")
)
"""Languages whose functions stand inside of classes, indented."""
_NO_NAME = frozenset(
    "if for while switch return else catch do new throw sizeof await case elif foreach using lock".split()
)
_ABOVE = ("#", "//", "/*", "*", " *", "--", ";", '"""', "@", "[", "%")
"""Beginnings of lines that, directly above a symbol, belong to it: comments and attributes."""


class CodeLoader:
    """Reads source code and settings, with the names of symbols or sections as paths, and lines as places."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The whole file as one document, titled by its whole name."""
        text, problem = decoded(stream)
        if problem:
            yield problem
        suffix, lines = PurePath(name).suffix.lower(), text.split("\n")
        language = LANGUAGES.get(suffix) or SETTINGS.get(suffix, "")
        starts = _of_python(text) if language == "python" else None
        if suffix in SETTINGS:
            starts = dict(_of_settings(lines, _keys(lines) if language == "yaml" else _sections(lines)))
        elif starts is None:
            starts = dict(_of_lines(lines, language))
        yield Document("", PurePath(name).name, tuple(_blocks(lines, starts, language)))


def _blocks(lines: list[str], starts: dict[int, tuple[str, ...]], language: str) -> Iterator[Block]:
    """A block for each symbol, from the comments above it to those above the next."""
    cuts: dict[int, tuple[str, ...]] = {0: ()}
    last = 0
    for start, path in sorted(starts.items()):
        begin = start
        while begin > last + 1 and lines[begin - 1].lstrip().startswith(_ABOVE) and lines[begin - 1].strip():
            begin -= 1
        cuts[begin] = path
        last = start
    ordered = sorted(cuts.items())
    for (begin, path), (end, _) in zip(ordered, [*ordered[1:], (len(lines), ())], strict=True):
        while begin < end and not lines[begin].strip():
            begin += 1
        if text := code("\n".join(lines[begin:end]), language):
            yield Block(text, "code", path, f"L{begin + 1}")


def _of_python(text: str) -> dict[int, tuple[str, ...]] | None:
    """By the index of its first line the path of each symbol; None: it is Python of another version, or none."""
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    starts: dict[int, tuple[str, ...]] = {}
    ended = False
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            starts[_first_line(node)] = (node.name,)
            ended = True
            if isinstance(node, ast.ClassDef) and (node.end_lineno or 0) - node.lineno >= _WHOLE:
                starts |= {
                    _first_line(below): (node.name, below.name)
                    for below in node.body
                    if isinstance(below, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
                }
        elif ended:
            starts.setdefault(node.lineno - 1, ())
            ended = False
    return starts


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    return min((node.lineno, *(decorator.lineno for decorator in node.decorator_list))) - 1


def _of_lines(lines: list[str], language: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """(index of a line, path) of each symbol that begins at the margin, or in a class that does."""
    patterns = _BY_LANGUAGE.get(language, (_KEYWORDED, _ASSIGNED))
    outer = ""
    for n, line in enumerate(lines):
        if len(line) > _LONGEST_LINE or not line.strip():
            continue
        if line[0].isspace():
            found = _METHOD.match(line) or _KEYWORDED.match(line) if language in _NESTED and _is_near(line) else None
            if found and outer and (name := _name(found)):
                yield n, (outer, name)
        elif (found := _first(patterns, line)) and (name := _name(found)):
            outer = name
            yield n, (name,)


def _first(patterns: Iterable[re.Pattern[str]], line: str) -> re.Match[str] | None:
    return next(filter(None, (pattern.match(line) for pattern in patterns)), None)


def _is_near(line: str) -> bool:
    """True if a line is indented by one step, as the methods of a class are."""
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip()) <= 4 and line.lstrip()[:1] not in ("/", "*", "#")


def _name(found: re.Match[str]) -> str:
    groups = found.groupdict()
    name = (groups.get("name") or groups.get("other") or "").strip('"`[]').rstrip(":.")
    return "" if name in _NO_NAME else name


def _of_settings(lines: list[str], paths: Iterable[tuple[str, ...]]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """(index of a line, path) of each run of settings: an empty line ends one, as does another section."""
    before: tuple[str, ...] | None = None
    above: tuple[int, tuple[str, ...]] | None = None
    """The first of the comments directly above, which belong to what follows, and its own section."""
    for n, (line, path) in enumerate(zip([*lines, ""], [*paths, ()], strict=True)):
        if line.lstrip().startswith(("#", ";")):
            above = above or (n, path)
            continue
        if not line.strip():
            if above and before is None:
                yield above
            before = None
        elif path != before:
            yield above[0] if above else n, path
            before = path
        above = None


def _sections(lines: list[str]) -> Iterator[tuple[str, ...]]:
    """For each line the section that it stands in."""
    path: tuple[str, ...] = ()
    for line in lines:
        if found := _SECTION.match(line):
            path = (found[1].strip(),)
        yield path


def _keys(lines: list[str]) -> Iterator[tuple[str, ...]]:
    """For each line the keys of YAML above it that hold no value of their own, the outermost first."""
    open_keys: list[tuple[int, str]] = []
    for line in lines:
        if line.strip() and not line.lstrip().startswith("#"):
            indent = len(line) - len(line.lstrip())
            listed = line.lstrip().startswith("- ")
            while open_keys and (open_keys[-1][0] > indent or (open_keys[-1][0] == indent and not listed)):
                open_keys.pop()
            if len(open_keys) < _DEEPEST and not listed and (found := _KEY.match(line)):
                open_keys.append((indent, found[2].strip()))
        yield tuple(key for _, key in open_keys)
