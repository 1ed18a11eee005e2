"""EPUB: the chapters of a book in the order in which they are read."""

from collections.abc import Iterator
from pathlib import PurePath
from posixpath import dirname, join, normpath
from typing import BinaryIO
from urllib.parse import unquote
from zipfile import ZipFile

from lxml.etree import XMLParser, _Element, fromstring

from surefoot.documents.loaders import MAX_BYTES, Block, Document, DocumentProblem, Unreadable
from surefoot.documents.loaders._archives import DAMAGE
from surefoot.documents.loaders.html import page

_CONTAINER = "META-INF/container.xml"
_LOCKS = "META-INF/encryption.xml"


class EpubLoader:
    """Reads books in EPUB, with the file of each chapter as its place."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The whole book as one document, titled as its publisher says; a chapter that is not there is a problem."""
        problems: list[DocumentProblem] = []
        try:
            with ZipFile(stream) as archive:
                title, chapters = _spine(archive)
                _refuse(archive, chapters)
                blocks: list[Block] = []
                for chapter in chapters:
                    if chapter in archive.NameToInfo:
                        blocks += _blocks(archive.read(chapter), chapter, title)
                    else:
                        problems.append(DocumentProblem(f"chapter {chapter[:200]} is missing from the file"))
        except DAMAGE as error:
            raise Unreadable(
                f"is a damaged EPUB ({type(error).__name__}); convert it to a new EPUB, for example with Calibre"
            ) from error
        yield from problems
        if not blocks:
            raise Unreadable("holds no text; if its pages are pictures, run OCR over them")
        yield Document("", title or PurePath(name).stem, tuple(blocks))


def _spine(archive: ZipFile) -> tuple[str, tuple[str, ...]]:
    """The title of the book, and the files of its chapters, each once. Raises one of DAMAGE where there is none."""
    root, *_ = (each.get("full-path", "") for each in _xml(archive, _CONTAINER).iter("{*}rootfile"))
    package = _xml(archive, root)
    title = next((" ".join((each.text or "").split()) for each in package.iter("{*}title")), "")
    files = {each.get("id"): each.get("href", "") for each in package.iter("{*}item")}
    named = (files.get(each.get("idref"), "") for each in package.iter("{*}itemref"))
    return title, tuple(dict.fromkeys(normpath(join(dirname(root), unquote(href))) for href in named if href))


def _xml(archive: ZipFile, name: str) -> _Element:
    if archive.getinfo(name).file_size > MAX_BYTES:
        raise Unreadable("unpacks to more than is safe to hold; split it")
    return fromstring(archive.read(name), XMLParser(resolve_entities=False, no_network=True))


def _refuse(archive: ZipFile, chapters: tuple[str, ...]) -> None:
    """Raise Unreadable for a book that is too large, or whose chapters its publisher has locked."""
    if sum(archive.NameToInfo[each].file_size for each in chapters if each in archive.NameToInfo) > MAX_BYTES:
        raise Unreadable("unpacks to more than is safe to hold; split it")
    if _LOCKS in archive.NameToInfo:
        locked = {unquote(each.get("URI", "")) for each in _xml(archive, _LOCKS).iter("{*}CipherReference")}
        if locked.intersection(chapters):  # locked fonts are common, and hide no text
            raise Unreadable("is locked by its publisher (DRM); get a copy without a lock")


def _blocks(content: bytes, chapter: str, book: str) -> Iterator[Block]:
    """The blocks of a chapter, under its title; none where it has no text, as a cover."""
    try:
        document = page(content, PurePath(chapter).name)
    except Unreadable:
        return
    named = () if document.title in (book, PurePath(chapter).stem) else (document.title,)
    for block in document.blocks:
        path = block.path if block.path[:1] == named else named + block.path
        yield Block(block.text, block.kind, path, chapter)
