"""Pictures of text, such as scans and photographs of pages."""

from collections.abc import Iterator
from pathlib import PurePath
from typing import BinaryIO

from surefoot.documents.loaders import Document, DocumentProblem, Unreadable
from surefoot.documents.loaders._ocr import picture_text
from surefoot.text.blocks import blocks


class PictureLoader:
    """Reads the text in a picture by OCR, where `tesseract` is installed."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The text as one document, titled by the file's name. Raises Unreadable where there is none."""
        if not (text := picture_text(stream.read())).strip():
            raise Unreadable("is a picture in which tesseract finds no text; take it again, larger and straight")
        yield Document("", PurePath(name).stem, blocks(text))
