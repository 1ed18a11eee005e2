"""Markdown: the text as it stands, titled by its front matter or its first heading. The front matter's plain
values are the document's fields."""

import re
from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import PurePath
from typing import Any, BinaryIO, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference

from surefoot.documents.loaders import Block, Document, DocumentProblem
from surefoot.documents.loaders._headings import OpenHeadings
from surefoot.documents.loaders.text import decoded, placed
from surefoot.text.blocks import code
from surefoot.types.metadata import NO_META, Value, plain, usable

_FRONT = re.compile(r"\A(---|\+\+\+)\n(.*?)\n(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_FIELD = re.compile(r"^([^\W\d][\w.-]{0,63})[ \t]*[:=][ \t]*(\S.*)$", re.MULTILINE)
_PARSER = MarkdownIt("commonmark").disable("inline")
_BELOW_ALL = 7
"""The level of a heading that is written as a paragraph."""
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
        text, problems = decoded(stream)
        yield from problems
        front = _FRONT.match(text)
        named = dict(_FRONT_FIELD.findall(front[2])) if front else {}
        found = tuple(headed(text))
        title = named.get("title", "").strip().strip("\"'") or next((b.path[0] for b in found if b.path), "")
        meta, faults = usable(_fields(front[2])) if front else (NO_META, [])
        yield from (DocumentProblem(f"front matter: {fault}; it is left out", skipped=False) for fault in faults)
        yield Document("", title or PurePath(name).stem, found, meta=meta)


def _fields(front: str) -> dict[str, Value]:
    """The plain values of front matter, but for the title; lists, tables and texts of several lines are none."""
    own = front.partition("\n[")[0]  # what follows are TOML's tables
    named = {key: words.strip() for key, words in _FRONT_FIELD.findall(own) if key.lower() != "title"}
    bare = {key: words if words[0] in "'\"" else words.partition(" #")[0] for key, words in named.items()}
    return {key: plain(words) for key, words in bare.items() if words[0] not in "[{|>&*!#"}


class _Heading(NamedTuple):
    """A heading, and the indices of its first line and of the one behind its last."""

    level: int
    name: str
    first: int
    behind: int


def headed(text: str) -> Iterator[Block]:
    """The blocks of a Markdown text under their headings; a heading with nothing below it is a caption."""
    line = 1
    if front := _FRONT.match(text):
        yield Block(code(front[2], "yaml" if front[1] == "---" else "toml"), "code", place="L1")
        line += text.count("\n", 0, front.end())
        text = text[front.end() :]
    lines, headings = _parsed(text)
    above = OpenHeadings()
    for heading, following in pairwise([_Heading(0, "", 0, 0), *headings, _Heading(0, "", len(lines), 0)]):
        if heading.level:
            yield from above.enter(heading.level, heading.name, f"L{line + heading.first}")
        words = "\n".join(lines[heading.behind : following.first])
        if words.strip():
            yield from placed(words, above.path(), line + heading.behind)
    yield from above.close()


def _parsed(text: str) -> tuple[list[str], list[_Heading]]:
    """The lines as they are read, and the headings among them; comments and the targets of links are empty lines."""
    env: dict[str, Any] = {}
    tokens = _PARSER.parse(text, env)
    lines, held = text.split("\n"), set[int]()
    for token in tokens:
        if token.type in ("fence", "code_block"):
            held.update(range(*token.map or ()))
    named = {label: each for label, each in env.get("references", {}).items() if label[:1] != "^"}
    targets = {label: each["href"] for label, each in named.items()}
    for each in named.values():
        lines[slice(*each["map"])] = [""] * (each["map"][1] - each["map"][0])
    for is_code, numbers in groupby(range(len(lines)), held.__contains__):
        if not is_code:
            run = [*numbers]
            shown = (_shown(line, targets) for line in _uncommented("\n".join(lines[n] for n in run)).split("\n"))
            lines[run[0] : run[-1] + 1] = shown
    headings: list[_Heading] = []
    for token, title in pairwise(tokens):
        if token.level or not token.map:
            continue
        if token.type == "paragraph_open" and (question := _bold_question(title.content.partition("\n")[0])):
            # One question does not stand under another.
            level = headings[-1].level if headings and headings[-1].name.endswith("?") else _BELOW_ALL
            headings.append(_Heading(level, _shown(question, targets), token.map[0], token.map[0] + 1))
        if token.type != "heading_open":
            continue
        # Of an underlined paragraph of several lines the last alone is the title; the others stand above it.
        behind, last = token.map[1], title.content.rpartition("\n")[2]
        first = behind - (1 if token.markup[0] == "#" else 2)
        if name := _shown(_uncommented(last), targets).strip():
            if token.markup[0] == "#" or name[0] != "|":  # a line below a table is a rule
                headings.append(_Heading(int(token.tag[1]), name, first, behind))
        else:
            lines[first:behind] = [""] * (behind - first)
    return lines, headings


def _bold_question(line: str) -> str:
    """The question that is all of a line, in bold, as FAQs head their answers; empty: it is another line."""
    mark, words = line[:2], line[2:-2].strip()
    is_one = mark in ("**", "__") and line.endswith(mark) and mark not in words
    return words if is_one and words.endswith("?") else ""


def _uncommented(text: str) -> str:
    """The text without HTML comments, but for their line ends; what stands in backticks is no comment."""
    pieces, at = [], 0
    while (begin := text.find("<!--", at)) >= 0 and (end := text.find("-->", begin) + 3) > 2:
        if text.count("`", text.rfind("\n", 0, begin) + 1, begin) % 2:
            end = begin + 4
            pieces.append(text[at:end])
        else:
            pieces += text[at:begin], "\n" * text.count("\n", begin, end)
        at = end
    return "".join((*pieces, text[at:]))


def _shown(line: str, targets: dict[str, str]) -> str:
    """The line without HTML tags, and its links as their text, with the address where that leads out of the corpus."""

    def link(found: re.Match[str]) -> str:
        words, address, name = found.groups()
        if address is None:
            address = targets.get(normalizeReference(name or words))
            if address is None:
                return found[0]
        return words if found[0][0] == "!" or "://" not in address or words == address else f"[{words}]({address})"

    pieces = _WRITTEN_CODE.split(line)
    for n in range(0, len(pieces), 2):
        if "[" in pieces[n]:
            pieces[n] = _LINK.sub(link, _LINK.sub(_pictures, pieces[n]))
        if "<" in pieces[n]:
            pieces[n] = _TAG.sub(_parting, pieces[n])
    return "".join(pieces)


def _parting(tag: re.Match[str]) -> str:
    """What stands in a tag's place: a semicolon between two items of a line, a space where a line breaks."""
    name, behind = tag[0].lower(), tag.string[tag.end() : tag.end() + 5].lower()
    return "; " if name == "</li>" and "<li" in behind else " " * name.startswith("<br")


def _pictures(found: re.Match[str]) -> str:
    """A picture as its description, first of all, since links may stand around pictures."""
    return found[1] if found[0][0] == "!" and found[2] is not None else found[0]
