"""Mailboxes in one file, as mail programs export them."""

from collections.abc import Iterator
from hashlib import blake2b
from io import BytesIO
from typing import BinaryIO

from surefoot.documents.loaders import Document, DocumentProblem, Unreadable
from surefoot.documents.loaders.eml import read_mail

_FROM = b"From "


class MboxLoader:
    """Reads mailboxes, a document a mail."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """Each mail as `eml` reads one; a damaged one is a problem, and the others are read."""
        for number, content in enumerate(_mails(stream), start=1):
            try:
                yield from read_mail(BytesIO(content), name, blake2b(content, digest_size=16).hexdigest())
            except Unreadable as error:
                yield DocumentProblem(f"mail {number} {error.why}")


def _mails(stream: BinaryIO) -> Iterator[bytes]:
    """The mails, each behind a line that begins with "From " at the start or below an empty line. Raises Unreadable."""
    held: list[bytes] | None = None
    between = True
    for line in stream:
        if between and line.startswith(_FROM):
            if held:
                yield b"".join(held)
            held = []
        elif held is not None:
            held.append(line[1:] if line.startswith(b">" + _FROM) else line)
        elif line.strip():
            break
        between = not line.strip()
    if not held:
        raise Unreadable("is no mailbox with a mail; export it again as mbox, or its mails as .eml")
    yield b"".join(held)
