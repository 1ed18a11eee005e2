"""Plain text, and its encodings."""

import codecs
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import PurePath
from textwrap import dedent
from typing import BinaryIO

from charset_normalizer import from_bytes

from surefoot.documents.loaders import Block, Document, DocumentProblem, Unreadable
from surefoot.text.blocks import Part, code, parts

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark begins alike
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CHUNK = 1 << 20
_INDENTED = 4
_SAMPLE = 1 << 16
# Without a mark, or on a file of today's machines, these are never what was meant (the cp ones are EBCDIC).
_UNLIKELY = "utf_7 utf_16 utf_16_be utf_16_le utf_32 cp037 cp273 cp424 cp500 cp875 cp1026 cp1140".split()
# Charset detectors take short Western texts for Central European ones (cp1250 and cp1252 share most letters).
_WESTERN = {*map(chr, (*range(128), *range(192, 256)))} - {*"×ÝÞð÷ýþ"} | {*"\xa0¡£§«°·»¿Œœ‘’“”„–—…•€™©®"}


class TextLoader:
    """Reads plain text in any common encoding, with the numbers of lines as places."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The whole file as one document, titled by its name."""
        text, problems = decoded(stream)
        yield from problems
        yield Document("", PurePath(name).stem, tuple(placed(text, indented=True)))


def placed(text: str, path: tuple[str, ...] = (), line: int = 1, indented: bool = False) -> Iterator[Block]:
    """The blocks of a text that begins in this line of its file, each with its own line as its place.

    `indented`: a paragraph that stands four columns or more to the right of most others is code.
    """
    found = parts(text)
    margins = {part.start: _margin(text, part) for part in found if part.kind == "paragraph"}
    usual = sorted(margins.values())[len(margins) // 2] if len(margins) > 1 else 0
    at = 0
    for part in found:
        line += text.count("\n", at, part.start)
        at = part.start
        words = text[part.start : part.end]
        if indented and margins.get(at, 0) >= usual + _INDENTED:
            yield Block(code(dedent(text[text.rfind("\n", 0, at) + 1 : part.end])), "code", path, f"L{line}")
        else:
            yield Block(words, part.kind, path, f"L{line}")


def _margin(text: str, part: Part) -> int:
    """The columns that all lines of a paragraph stand to the right."""
    lines = text[text.rfind("\n", 0, part.start) + 1 : part.end].expandtabs(4).split("\n")
    return min(len(line) - len(line.lstrip()) for line in lines)


def decoded(stream: BinaryIO) -> tuple[str, list[DocumentProblem]]:
    """The file's text with \\n as line ends, and a problem if its encoding is in doubt. Raises Unreadable if empty."""
    encoding, problems = encoding_of(stream)
    text = stream.read().decode(encoding, "replace")
    if not text.strip():
        raise Unreadable("holds no text")
    return text.replace("\r\n", "\n").replace("\r", "\n"), problems


def encoding_of(stream: BinaryIO) -> tuple[str, list[DocumentProblem]]:
    """The encoding to decode with, replacing what does not fit, and a problem if it is in doubt.

    Reads the stream once, in pieces, and leaves it at its start. Raises Unreadable for a binary file.
    """
    head = stream.read(4)
    stream.seek(0)
    encoding = next((encoding for mark, encoding in _BOMS if head.startswith(mark)), "utf-8")
    misfit = _first_misfit(stream, encoding)
    stream.seek(max(0, (misfit or 0) - _SAMPLE))
    sample = stream.read(2 * _SAMPLE) if misfit is not None else None
    stream.seek(0)
    if sample is None:
        return encoding, []
    if encoding == "utf-8" and (guess := _guess(sample)):
        return guess, [DocumentProblem(f"is not UTF-8; it was read as {guess}", skipped=False)]
    reason = "is in no known encoding; characters that did not decode were replaced"
    return encoding, [DocumentProblem(reason, skipped=False)]


def _first_misfit(stream: BinaryIO, encoding: str) -> int | None:
    """The place of the first bytes that do not decode; None: all do."""
    decoder, misfit = codecs.getincrementaldecoder(encoding)(), None
    for chunk in chain(iter(partial(stream.read, _CHUNK), b""), [b""]):
        if b"\0" in chunk and not encoding.startswith(("utf-16", "utf-32")):
            raise Unreadable("is binary, or UTF-16 without a byte order mark; save it as UTF-8 text")
        try:
            if misfit is None:
                decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            misfit = stream.tell() - len(error.object) + error.start
    return misfit


def _guess(sample: bytes) -> str | None:
    text = sample.decode("cp1252", "replace")
    if _WESTERN.issuperset(text) and 4 * sum(not letter.isascii() for letter in text) <= len(text):
        return "cp1252"
    best = from_bytes(sample, cp_exclusion=_UNLIKELY).best()
    return best.encoding if best else None
