"""Markdown: the text as it stands, titled by its front matter or its first heading. The front matter's plain
values are the document's fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePath
from typing import BinaryIO

from surefoot.documents.loaders import Block, Document, DocumentProblem
from surefoot.documents.loaders.text import decoded, placed
from surefoot.text.blocks import code
from surefoot.types.metadata import NO_META, Value, plain, usable

_FRONT = re.compile(r"\A(---|\+\+\+)\n(.*?)\n(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title[ \t]*[:=][ \t]*(\S.*)$", re.MULTILINE)
_FRONT_FIELD = re.compile(r"^([^\W\d][\w.-]{0,63})[ \t]*[:=][ \t]*(\S.*)$", re.MULTILINE)
_HASHES = re.compile(r" {0,3}(#{1,6})(?:\s|\Z)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*\Z")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_NO_TITLE = re.compile(r"\s*(?:[|>#]|[-*+] |\d{1,3}[.)] )|\s*\Z")
_DEFINED = re.compile(r" {0,3}\[([^\[\]\n]{1,200})\]:[ \t]*<?([^\s<>]{1,2000})>?(?:[ \t]+[\"'(].{0,300})?\Z")
_WRITTEN_CODE = re.compile(r"(`{1,3}[^`\n]{1,500}`{1,3})")
_LINK = re.compile(
    r"!?\[([^\[\]\n]{0,500})\]"
    r"(?:\(<?([^()<>\s]{0,1000})>?(?:[ \t]+[\"'][^\"'\n]{0,300}[\"'])?\)|\[([^\[\]\n]{0,200})\])"
)
_TAG = re.compile(
    r"</?(?:a|abbr|b|blockquote|br|center|dd|details|div|dl|dt|em|figure|font|h[1-6]|hr|i|img|kbd|li|ol|p|picture|small"
    r"|source|span|strong|sub|summary|sup|table|tbody|td|th|thead|tr|u|ul)(?:\s[^<>\n]{0,2000})?/?>",
    re.IGNORECASE,
)


class MarkdownLoader:
    """Reads Markdown, with its headings as paths and the numbers of lines as places."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The whole file as one document."""
        text, problem = decoded(stream)
        if problem:
            yield problem
        front = _FRONT.match(text)
        named = _FRONT_TITLE.search(front[2]) if front else None
        found = tuple(headed(text))
        title = named[1].strip().strip("\"'") if named else next((block.path[0] for block in found if block.path), "")
        meta, faults = usable(_fields(front[2])) if front else (NO_META, [])
        yield from (DocumentProblem(f"front matter: {fault}; it is left out", skipped=False) for fault in faults)
        yield Document("", title or PurePath(name).stem, found, meta=meta)


def _fields(front: str) -> dict[str, Value]:
    """The plain values of front matter, but for the title; lists, tables and texts of several lines are none."""
    own = front.partition("\n[")[0]  # what follows are TOML's tables
    named = {key: words.strip() for key, words in _FRONT_FIELD.findall(own) if key.lower() != "title"}
    bare = {key: words if words[0] in "'\"" else words.partition(" #")[0] for key, words in named.items()}
    return {key: plain(words) for key, words in bare.items() if words[0] not in "[{|>&*!#"}


@dataclass(slots=True)
class _Section:
    """A heading, and the lines below it up to the next one."""

    level: int
    name: str
    place: int
    """The line of the heading."""
    begin: int
    """The first line below it."""
    lines: list[str] = field(default_factory=list)

    def text(self) -> str:
        return "\n".join(self.lines)


def headed(text: str) -> Iterator[Block]:
    """The blocks of a Markdown text under their headings; a heading with nothing below it is a caption."""
    line = 1
    if front := _FRONT.match(text):
        yield Block(code(front[2], "yaml" if front[1] == "---" else "toml"), "code", place="L1")
        line += text.count("\n", 0, front.end())
        text = text[front.end() :]
    path: list[tuple[int, str]] = []
    sections = list(_sections(text, line))
    for section, following in pairwise([*sections, None]):
        if section is None:
            break
        if section.level:
            path = [(depth, name) for depth, name in path if depth < section.level] + [(section.level, section.name)]
        names = tuple(name for _, name in path)
        words = section.text()
        if words.strip():
            yield from placed(words, names, section.begin)
        elif section.level and (following is None or following.level <= section.level):
            yield Block(section.name, "caption", names[:-1], f"L{section.place}")


def _sections(text: str, line: int) -> Iterator[_Section]:
    """The sections in turn; their lines are without comments, with links as they are read."""
    lines = _uncommented(text)
    targets = dict(_targets(lines))
    section, fence = _Section(0, "", line, line), ""
    for number, words in enumerate(lines, start=line):
        if fence:
            fence = "" if words.strip().startswith(fence) and not words.strip().strip(fence[0]) else fence
        elif opened := _FENCE.match(words):
            fence = opened[1]
        elif hashes := _HASHES.match(words):
            if name := _shown(words[hashes.end() :], targets).strip().rstrip("#").strip():
                yield section
                section = _Section(len(hashes[1]), name, number, number + 1)
                continue
            words = ""
        elif _UNDERLINE.match(words) and section.lines and not _NO_TITLE.match(section.lines[-1]):
            # Of a paragraph of several lines the last alone is the title; the others stay with the section before.
            name = section.lines.pop().strip()
            yield section
            section = _Section(1 if words.strip()[0] == "=" else 2, name, number - 1, number + 1)
            continue
        elif (defined := _DEFINED.match(words)) and not defined[1].startswith("^"):
            words = ""
        elif not words.startswith(("    ", "\t")):
            words = _shown(words, targets)
        section.lines.append(words)
    yield section


def _uncommented(text: str) -> list[str]:
    """The lines, those in HTML comments empty; what stands in fences or backticks is no comment."""
    lines, fence, inside, last = [], "", False, text.rfind("-->")
    at = 0
    for line in text.split("\n"):
        stored, rest, here = "", line, at
        at += len(line) + 1
        if not inside and (opened := _FENCE.match(line)):
            fence = ("" if line.strip().startswith(fence) else fence) if fence else opened[1]
        while not fence and (inside or "<!--" in rest):
            mark = "-->" if inside else "<!--"
            before, found, after = rest.partition(mark)
            if not inside and (before.count("`") % 2 or here + len(before) > last):
                break
            stored += "" if inside else before
            here += len(before) + len(mark)
            rest = after if found else ""
            if not found:
                break
            inside = not inside
        lines.append(stored + rest)
    return lines


def _targets(lines: list[str]) -> Iterator[tuple[str, str]]:
    """The targets of named links: `[name]: address`."""
    for line in lines:
        if defined := _DEFINED.match(line):
            yield defined[1].lower(), defined[2]


def _shown(line: str, targets: dict[str, str]) -> str:
    """The line without HTML tags, and its links as their text, with the address where that leads out of the corpus."""

    def link(found: re.Match[str]) -> str:
        words, address, name = found.groups()
        if address is None:
            address = targets.get((name or words).lower())
            if address is None:
                return found[0]
        return words if found[0][0] == "!" or "://" not in address or words == address else f"[{words}]({address})"

    pieces = _WRITTEN_CODE.split(line)
    for n in range(0, len(pieces), 2):
        if "[" in pieces[n]:
            pieces[n] = _LINK.sub(link, _LINK.sub(_pictures, pieces[n]))
        if "<" in pieces[n]:
            pieces[n] = _TAG.sub("", pieces[n])
    return "".join(pieces)


def _pictures(found: re.Match[str]) -> str:
    """A picture as its description, first of all, since links may stand around pictures."""
    return found[1] if found[0][0] == "!" and found[2] is not None else found[0]
