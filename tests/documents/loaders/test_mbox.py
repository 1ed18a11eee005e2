"""Mailboxes as their owners see them."""

import io

import pytest

from documents.loaders.test_eml import mail
from surefoot.documents.loaders import Document, DocumentProblem, Unreadable, read


def test_each_mail_of_a_mailbox_is_a_document():
    """The line above a mail is none of its text, and a quoted "From " loses its mark."""
    box = b"From eve Mon\n" + mail("Forty beds.\n\nFrom here on it snows.\n").replace(b"\nFrom here", b"\n>From here")
    box += b"\nFrom bob Tue\nSubject: Reply\n\nThanks.\n"
    first, second = read(io.BytesIO(box), "archive.mbox")
    assert isinstance(first, Document)
    assert isinstance(second, Document)
    assert (first.title, first.meta["date"], second.title) == ("The hütte", "2024-03-01", "Reply")
    assert [block.text for block in first.blocks][:2] == ["Forty beds.", "From here on it snows."]
    assert first.key != second.key


def test_a_mail_without_headers_costs_no_other():
    """It is named by its number."""
    problem, found = read(io.BytesIO(b"From a\n\nhello\n\nFrom b\nSubject: Reply\n\nThanks.\n"), "archive.mbox")
    assert problem == DocumentProblem("mail 1 has none of the headers of a mail")
    assert isinstance(found, Document)


def test_what_is_no_mailbox_is_refused():
    """It does not begin as one."""
    with pytest.raises(Unreadable, match="is no mailbox"):
        list(read(io.BytesIO(b"hello\n\nFrom b\nSubject: Reply\n\n"), "archive.mbox"))
