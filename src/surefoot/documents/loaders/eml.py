"""Mails: who wrote to whom about what, the text, and the names of what is attached."""

from __future__ import annotations

from collections.abc import Iterator
from email.errors import MessageError
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import EmailPolicy
from io import BytesIO
from pathlib import PurePath
from typing import BinaryIO, cast

from surefoot.documents.loaders import Block, Document, DocumentProblem, Unreadable
from surefoot.documents.loaders.html import HtmlLoader
from surefoot.text.blocks import blocks, bullets, paragraph

_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_LONGEST_HEADER = 10_000
"""Characters of a header that are read: Python takes quadratic time, 20 s for one of 150,000."""
_DAMAGE = (MessageError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Raised by Python's own reader on damaged mails."""


class _ShortHeaders(EmailPolicy):
    """Python's own policy, but for the rest of long headers."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        """The name and the beginning of the value."""
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_LONGEST_HEADER]


class EmlLoader:
    """Reads mails: their plain text, or their HTML where they have no other."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The mail as one document, titled by its subject. What is attached is listed, and not read."""
        try:
            mail = cast("EmailMessage", BytesParser(policy=_ShortHeaders()).parse(stream))  # by the policy
            headers = [(key, paragraph(str(mail[key]))) for key in _HEADERS if mail[key]]
            attached = [part.get_filename() or part.get_content_type() for part in mail.iter_attachments()]
            body = tuple(_body(mail))
        except _DAMAGE as error:
            raise Unreadable(f"is a damaged mail ({type(error).__name__}); save it again") from error
        if not headers:
            raise Unreadable("has none of the headers of a mail; save it again as .eml, or as .txt")
        if any(len(value) == _LONGEST_HEADER for _, value in mail.raw_items()):
            reason = f"has a header of {_LONGEST_HEADER:,} characters or more; the rest of it was not read"
            yield DocumentProblem(reason, skipped=False)
        head = Block("\n".join(f"{key}: {value}" for key, value in headers))
        files = (Block(bullets(f"attached: {paragraph(file)}" for file in attached), "list"),) if attached else ()
        yield Document("", dict(headers).get("Subject") or PurePath(name).stem, (head, *body, *files))


def _body(mail: EmailMessage) -> Iterator[Block]:
    part = mail.get_body(("plain", "html"))
    if part is None:
        return
    content = part.get_content()
    if part.get_content_subtype() != "html":
        yield from blocks(str(content).replace("\r\n", "\n"))
        return
    try:
        for item in HtmlLoader().read(BytesIO(str(content).encode("utf-8", "replace")), "mail.html"):
            if isinstance(item, Document):
                yield from item.blocks
    except Unreadable:
        return  # a mail of nothing but pictures
