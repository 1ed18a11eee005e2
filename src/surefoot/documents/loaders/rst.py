"""reStructuredText, with or without Sphinx, read by docutils, which may neither open other files nor run anything.

docutils knows none of Sphinx's directives and roles. They are read by two of our own: a directive as its argument with
its content below, a role as its text. It takes more than linear time for some texts made to that end; the limits of the
process end it.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, BinaryIO, Never

from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import Directive, directives, roles
from docutils.statemachine import StringList

from surefoot.documents import limits
from surefoot.documents.loaders import Block, Document, DocumentProblem, Unreadable
from surefoot.documents.loaders.text import decoded, placed
from surefoot.text.blocks import bullets, code, definition, paragraph, table
from surefoot.types import BlockKind

_LONGEST_LINE = 10_000
"""Characters that docutils takes."""
_AGAIN = 0.2
"""Seconds after which it is told again that its time is over: where garbage is collected, no exception gets out."""

_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "halt_level": 6,
    "report_level": 6,
    "syntax_highlight": "none",
    "smart_quotes": False,
    "doctitle_xform": False,
}
_CODE = frozenset(
    "code-block sourcecode prompt testcode testoutput doctest ipython console parsed-literal productionlist".split()
)
_SILENT = frozenset(
    "toctree index highlight currentmodule module contents sectnum meta tabularcolumns role default-domain "
    "default-role program include literalinclude raw testsetup autosummary automodule autoclass autofunction "
    "sectionauthor".split()
)
_TITLED = re.compile(r"([^<>]{1,500})<[^<>]{1,500}>\Z", re.DOTALL)


class RstLoader:
    """Reads reStructuredText, with its headings as paths and the numbers of lines as places."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The whole file as one document, titled by its first heading."""
        text, problem = decoded(stream)
        if problem:
            yield problem
        found, problem = _read(text)
        if problem:
            yield problem
        if not found:
            raise Unreadable("holds no text")
        yield Document("", next((block.path[0] for block in found if block.path), PurePath(name).stem), found)


class _OutOfTime(BaseException):
    """docutils took longer than it may; no `except Exception` of its own catches this."""


def _read(text: str) -> tuple[tuple[Block, ...], DocumentProblem | None]:
    """The blocks of a text; those of plain text, with a problem that says why, where docutils cannot read it."""
    if any(len(line) > _LONGEST_LINE for line in text.split("\n")):
        why = f"has a line of more than {_LONGEST_LINE:,} characters, which docutils does not take"
    else:
        seconds = limits.processor_seconds(len(text)) * 2 / 3
        _teach()
        try:
            with _within(seconds):
                return tuple(_blocks(publish_doctree(text, settings_overrides=_SETTINGS), (), 1)), None
        except _OutOfTime:
            why = f"takes docutils more than {seconds:.0f} s of processor time"
        except (RecursionError, AttributeError, LookupError, TypeError, ValueError) as error:
            why = f"is reStructuredText that docutils cannot read ({type(error).__name__})"
    return tuple(placed(text, indented=True)), DocumentProblem(f"{why}; it was read as plain text", skipped=False)


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raise _OutOfTime after so many seconds of processor time; only in a main thread, and not on Windows, do signals
    allow that."""
    if not hasattr(signal, "setitimer") or current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGPROF, _ended)
    signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _ended(number: int, frame: FrameType | None) -> Never:
    raise _OutOfTime


class _AnyOption(dict[str, Callable[[str], str]]):
    """Takes every option of a directive as it is."""

    def __getitem__(self, name: str) -> Callable[[str], str]:
        return str


class _AnyDirective(Directive):  # type: ignore[misc]
    """A directive that docutils does not know: its argument, and its content below."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = _AnyOption(name=str)  # docutils passes over an empty one

    def run(self) -> list[nodes.Node]:
        """The nodes in its place."""
        content: StringList = self.content
        said = self.arguments[0] if self.arguments else ""
        if self.name in _SILENT:
            return []
        if self.name in _CODE:
            lines = "\n".join(content)
            block = nodes.literal_block(lines or said, lines or said)
            block["classes"] = ["code", said] if lines else []
            block.line = self.lineno
            return [block]
        if said.startswith(".. "):  # its content, without an empty line above it
            content = StringList([*said.split("\n"), "", *content], source="")
            said = ""
        body = nodes.container()
        self.state.nested_parse(content, self.content_offset, body)
        if self.name in ("deprecated", "versionadded", "versionchanged"):
            note = nodes.admonition("", nodes.paragraph("", f"{self.name}: {said}"), *body.children)
            note.line = self.lineno
            return [note]
        if not said or not body.children:
            return [*([nodes.paragraph("", said)] if said else []), *body.children]
        item = nodes.definition_list_item("", nodes.term("", said), nodes.definition("", *body.children))
        item.line = self.lineno
        return [nodes.definition_list("", item)]


def _any_role(role: str, raw: str, text: str, *_: Any, **__: Any) -> tuple[list[nodes.Node], list[nodes.Node]]:
    """The text of a role, without the target behind it: "`beds <hut.beds>`" is "beds"."""
    said = nodes.unescape(text).lstrip("~!")
    titled = _TITLED.match(said)
    return [nodes.literal(raw, titled[1].strip() if titled else said)], []


def _teach() -> None:
    """Make docutils take every directive and role, as Sphinx makes it take its own."""
    known_directive, known_role = directives._directive_registry, roles._role_registry

    def directive(name: str, language: Any, document: Any) -> tuple[Any, list[Any]]:
        if name in _CODE | _SILENT or name not in known_directive:
            return _AnyDirective, []
        found: tuple[Any, list[Any]] = original_directive(name, language, document)
        return found

    def role(name: str, language: Any, line: int, reporter: Any) -> tuple[Any, list[Any]]:
        if name not in known_role:
            return _any_role, []
        found: tuple[Any, list[Any]] = original_role(name, language, line, reporter)
        return found

    if directives.directive.__module__ != __name__:
        original_directive, original_role = directives.directive, roles.role
        directives.directive, roles.role = directive, role


def _blocks(node: Any, path: tuple[str, ...], line: int) -> Iterator[Block]:
    for child in node.children:
        here = child.line or line
        place = f"L{_line(child, here)}"
        if isinstance(child, nodes.section):
            title = paragraph(child.next_node(nodes.title).astext())
            below = [*_blocks(child, (*path, title), here)]
            yield from below or [Block(title, "caption", path, place)]
        elif isinstance(
            child, nodes.title | nodes.comment | nodes.substitution_definition | nodes.target | nodes.pending
        ):
            continue
        elif isinstance(child, nodes.definition_list | nodes.field_list | nodes.option_list):
            for item in child.children:
                term, text = item.children[0].astext(), _flat(item.children[-1])
                place = f"L{_line(item, here)}"
                yield Block(
                    definition(term, text) if text else paragraph(term),
                    "definition" if text else "paragraph",
                    path,
                    place,
                )
        elif isinstance(child, nodes.system_message):  # what it complains of, if that is nowhere else
            yield from _blocks(nodes.container("", *child.findall(nodes.literal_block)), path, here)
        elif isinstance(child, nodes.container | nodes.block_quote | nodes.compound | nodes.figure | nodes.footnote):
            yield from _blocks(child, path, here)
        elif text := _text(child):
            yield Block(text, _kind(child), path, place)


def _line(node: Any, otherwise: int) -> int:
    """The line on which a node begins, as far as docutils knows; else `otherwise`."""
    lines = (getattr(inner, "line", None) for inner in node.findall())
    return next((int(line) for line in lines if line), otherwise)


def _kind(node: Any) -> BlockKind:
    if isinstance(node, nodes.bullet_list | nodes.enumerated_list):
        return "list"
    if isinstance(node, nodes.literal_block | nodes.doctest_block):
        return "code"
    if isinstance(node, nodes.table):
        return "table"
    return "note" if isinstance(node, nodes.Admonition) else "paragraph"


def _text(node: Any) -> str:
    """The node as the text of one block."""
    if isinstance(node, nodes.literal_block | nodes.doctest_block):
        return code(node.astext(), next((name for name in node.get("classes", []) if name != "code"), ""))
    if isinstance(node, nodes.bullet_list | nodes.enumerated_list):
        return bullets((_flat(item) for item in node.children), isinstance(node, nodes.enumerated_list))
    if isinstance(node, nodes.table):
        rows = [[_flat(entry) for entry in row.children] for row in node.findall(nodes.row)]
        headed = node.next_node(nodes.thead) is not None
        return table(rows[1:], rows[0]) if headed and rows else table(rows)
    if isinstance(node, nodes.Admonition):
        title = "" if isinstance(node, nodes.admonition) else f"{type(node).__name__.capitalize()}: "
        return title + _flat(node)
    if isinstance(node, nodes.line_block):
        return str(node.astext())
    if isinstance(node, nodes.image):
        return str(node.get("alt", ""))
    return paragraph(node.astext())


def _flat(node: Any) -> str:
    """All that stands in a node, for an item, a cell or a definition."""
    texts = []
    for child in node.children:
        if isinstance(child, nodes.definition_list | nodes.field_list | nodes.option_list):
            texts += [f"{paragraph(item.children[0].astext())}: {_flat(item.children[-1])}" for item in child.children]
        elif isinstance(child, nodes.container | nodes.block_quote | nodes.compound):
            texts.append(_flat(child))
        elif not isinstance(child, nodes.comment | nodes.target | nodes.pending):
            texts.append(_text(child))
    return "\n".join(filter(None, texts))
