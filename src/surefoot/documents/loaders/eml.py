"""Mails: the text and what is attached, with who wrote to whom and when as fields."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from email.errors import MessageError
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import EmailPolicy
from email.utils import parseaddr
from io import BytesIO
from pathlib import PurePath
from typing import BinaryIO, cast

from surefoot.documents.loaders import Block, Document, DocumentProblem, Unreadable, loader_of, needs_head, read
from surefoot.documents.loaders.html import page
from surefoot.text.blocks import blocks, bullets, paragraph
from surefoot.types.metadata import LONGEST_VALUE, usable

_HEADERS = ("From", "To", "Cc", "Subject")
"""Those that become fields of the document, beside the date."""
_SENDERS = ("from", "von", "de", "da")
_RECEIVERS = ("to", "an", "à", "para", "a", "subject", "betreff", "objet", "asunto", "oggetto")
"""Names of headers of mails that are quoted, in the languages of mail programs."""
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
    """Reads mails: their plain text (else their HTML), and what is attached."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The mail as one document, titled by its subject, under its sender; its headers are fields and no text. An
        attached file of a kind that is read follows under its name; any other is listed."""
        yield from read_mail(stream, name)


def read_mail(stream: BinaryIO, name: str, key: str = "") -> Iterator[Document | DocumentProblem]:
    """A mail as one document with this key, behind its problems. Raises Unreadable."""
    try:
        mail = cast("EmailMessage", BytesParser(policy=_ShortHeaders()).parse(stream))  # by the policy
        headers = {key.lower(): paragraph(str(mail[key]))[:LONGEST_VALUE] for key in _HEADERS if mail[key]}
        if date := getattr(mail["Date"], "datetime", None):
            headers["date"] = f"{date:%Y-%m-%d}"
        body = [*_under_senders(_body(mail))]
        attached = [item for part in mail.iter_attachments() for item in _attached(part)]
    except _DAMAGE as error:
        raise Unreadable(f"is a damaged mail ({type(error).__name__}); save it again") from error
    if not headers:
        raise Unreadable("has none of the headers of a mail; save it again as .eml, or as .txt")
    if any(len(value) == _LONGEST_HEADER for _, value in mail.raw_items()):
        reason = f"has a header of {_LONGEST_HEADER:,} characters or more; the rest of it was not read"
        yield DocumentProblem(reason, skipped=False)
    yield from (item for item in attached if isinstance(item, DocumentProblem))
    title = headers.get("subject") or PurePath(name).stem
    found = [*body, *(item for item in attached if isinstance(item, Block))] or [Block(title, "caption")]
    path = (_from(headers["from"]),) if "from" in headers else ()
    written = tuple(replace(block, path=(*path, *block.path)) for block in found)
    yield Document(key, title, written, meta=usable(headers)[0])


def _attached(part: EmailMessage) -> Iterator[Block | DocumentProblem]:
    """The blocks of an attached file, under its name; one that is not read is listed."""
    name, content = paragraph(part.get_filename() or part.get_content_type()), part.get_payload(decode=True)
    if part.get_content_type() == "message/rfc822":  # a mail that was forwarded as a whole
        mail = part.get_content()
        name, content = (
            f"{paragraph(part.get_filename() or mail['Subject'] or 'mail').removesuffix('.eml')}.eml",
            bytes(mail),
        )
    if isinstance(content, bytes) and not needs_head(name) and loader_of(name) not in (None, "picture"):  # logos
        try:
            for item in read(BytesIO(content), name):
                if isinstance(item, DocumentProblem):
                    yield replace(item, reason=f"{name}: {item.reason}")
                else:
                    titles = (name,) if item.title in name else (name, item.title)
                    yield from (replace(each, path=(*titles, *each.path), place="") for each in item.blocks)
            return
        except Unreadable as error:
            yield DocumentProblem(f"{name} {error.why}")
    yield Block(bullets([f"attached: {name}"]), "list")


def _under_senders(found: Iterable[Block]) -> Iterator[Block]:
    """The blocks; the headers of a mail that is quoted, or the line that names its sender's address, are no text: what
    follows stands under its sender."""
    path: tuple[str, ...] = ()
    for block in found:
        lines = (line.partition(":") for line in block.text.split("\n"))
        fields = {name.strip("> *").lower(): value for name, _, value in lines}
        sender = next((fields[name] for name in _SENDERS if name in fields), "")
        first, _, rest = block.text.partition("\n")
        address = first.partition("<")[2].partition(">")[0]
        if sender and not fields.keys().isdisjoint(_RECEIVERS):
            path = (_from(sender),)
        elif "@" in address and first.endswith(":") and rest:
            yield replace(block, text=rest, path=(_from(address),))
        elif "@" in address and first.endswith(":"):
            path = (_from(address),)
        else:
            yield replace(block, path=path)


def _from(sender: str) -> str:
    return f"from {parseaddr(sender)[0] or sender.strip()}"


def _body(mail: EmailMessage) -> Iterator[Block]:
    part = mail.get_body(("plain", "html"))
    if part is None:
        return
    content = part.get_content()
    if part.get_content_subtype() != "html":
        yield from blocks(str(content).replace("\r\n", "\n"))
        return
    with suppress(Unreadable):  # a mail of nothing but pictures
        yield from page(str(content).encode("utf-8", "replace"), "mail.html").blocks
