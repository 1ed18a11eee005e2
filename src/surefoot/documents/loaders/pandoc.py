"""Documents that pandoc reads: Word, OpenDocument, PowerPoint, RTF, notebooks, and text with markup of many kinds.

Pandoc sees no file and no address, and its time and memory are limited as those of the process that reads files.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import PurePath
from types import MappingProxyType
from typing import BinaryIO

from surefoot.documents.loaders import Block, Document, DocumentProblem, Unreadable
from surefoot.documents.loaders._archives import DAMAGE, refuse_a_bomb
from surefoot.documents.loaders._markup import page_blocks
from surefoot.documents.loaders._office import properties, shown
from surefoot.documents.loaders._pandoc_page import titled_page
from surefoot.documents.loaders._pandoc_process import PandocError, pandoc
from surefoot.documents.loaders._pandoc_source import abridged, located, prepared
from surefoot.documents.loaders._suffixes import PANDOC
from surefoot.documents.loaders.text import TextLoader, decoded
from surefoot.types.metadata import NO_META

_ARCHIVES = frozenset(("docx", "odt", "pptx"))
_ROOT = re.compile(r"<(?![?!])(?:\w+:)?([\w.-]+)")
_DOCBOOK = frozenset("book article chapter appendix preface part section sect1 refentry reference glossary set".split())
_ORDINARY = 65_536
"""Characters at the start of an XML file within which its root stands."""


class PandocLoader:
    """Reads what pandoc reads, with ids of headings, numbers of slides or cells, or lines as places."""

    def __init__(self) -> None:
        """Raises MissingExtra where there is no pandoc."""
        self._pandoc = pandoc()

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The whole file as one document, titled as it says, else by its name."""
        suffix = PurePath(name.lower()).suffix
        source = PANDOC.get(suffix, "man")
        if source in _ARCHIVES or source == "rtf":
            yield from self._binary(stream, name, source)
        else:
            yield from self._text(stream, name, source)

    def _binary(self, stream: BinaryIO, name: str, source: str) -> Iterator[Document | DocumentProblem]:
        notes: list[str] = []
        try:
            named, meta = "", NO_META
            if source in _ARCHIVES:
                refuse_a_bomb(stream)
                named, meta = properties(stream)
            seen = shown(stream, source, notes) if source in ("docx", "pptx") else (stream.read(), [])
            content, running = seen
            own, found = self._read(content, source)
        except (PandocError, *DAMAGE) as error:
            raise Unreadable(
                f"is a damaged or locked file ({_why(error)}); save it again without a password"
            ) from error
        if source == "pptx":  # its first slide is one of many
            named = named or PurePath(name).stem
        yield from (DocumentProblem(note) for note in notes)
        yield replace(_document(own, (*map(Block, running if found else ()), *found), name, named), meta=meta)

    def _text(self, stream: BinaryIO, name: str, source: str) -> Iterator[Document | DocumentProblem]:
        text, problems = decoded(stream)
        yield from problems
        if source == "man" and re.search(r"^\.Dd\b", text, re.MULTILINE):
            source = "mdoc"
        if source == "docbook":
            source = _xml(text)
        if source == "man" and (page := re.match(r"(?:\.\\\".*\n|\s*\n)*\.so\s+(\S+)\s*\Z", text)):
            raise Unreadable(f"only names another page, {page[1][:100]}, which is read by itself")
        read, why = None, ""
        try:
            read = self._marked(text, source) if source else None
        except PandocError as error:
            why = f"is {source} that pandoc cannot read ({_why(error)})"
        except Unreadable as error:
            if source == "ipynb":  # its pictures are no plain text
                raise
            why = error.why
        if read:
            yield _document(*read, name)
            return
        plain = re.sub(r"(?<!\\)%.*", "", text) if source == "latex" else text  # without comments
        document = [*TextLoader().read(BytesIO(plain.encode("utf-8", "replace")), name)]
        if why:
            yield DocumentProblem(f"{why}; it was read as plain text", skipped=False)
        yield from document

    def _marked(self, text: str, source: str) -> tuple[str, tuple[Block, ...]]:
        """Raises PandocError, and Unreadable where it takes too much."""
        form = "latex+raw_tex" if source == "latex" else source  # else what it does not know is left out
        content, runs = abridged(prepared(text, source), source)
        own, found = self._read(content.encode("utf-8", "replace"), form, runs)
        if source == "latex" and not found:
            raise PandocError("it finds no text")
        return own, found if source == "ipynb" else located(found, text)

    def _read(
        self, content: bytes, source: str, runs: Mapping[int, str] = MappingProxyType({})
    ) -> tuple[str, tuple[Block, ...]]:
        """The title that a document gives itself, and its blocks, with the `runs` of words that symbols stand for.
        Raises PandocError."""
        title, page = titled_page(self._pandoc.xml(content, source).decode().translate(runs), source == "ipynb")
        # "Slide 7" is the heading that pandoc gives a slide without one.
        return title, tuple(
            b for b in page_blocks(page, "") if b.kind != "caption" or not b.text.removeprefix("Slide ").isdecimal()
        )


def _document(own: str, found: tuple[Block, ...], name: str, named: str = "") -> Document:
    if not found:
        raise Unreadable("holds no text; export its pictures as a PDF, and run OCR over that")
    first = next((block.path[0] for block in found if block.path), "")
    if named and own and named != own:  # both are for the reader: a file's properties, and the title that it shows
        found = (Block(own, "caption"), *found)
    return Document("", named or own or first or PurePath(name).stem, found)


def _xml(text: str) -> str:
    """The format of an XML file, by its root; empty: it is read as text."""
    root = _ROOT.search(text[:_ORDINARY])
    name = root[1].lower() if root else ""
    jats = name == "article" and re.search(r"JATS|NLM|<front>", text[:_ORDINARY])
    return "jats" if jats else "fb2" if name == "fictionbook" else "docbook" if name in _DOCBOOK else ""


def _why(error: Exception) -> str:
    return str(error)[:200] if isinstance(error, PandocError) else type(error).__name__
