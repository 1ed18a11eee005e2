"""Mails as their readers see them."""

import io
from email.message import EmailMessage

import pytest

from documents.loaders.opening import one
from effort import effort
from surefoot.documents.loaders import DocumentProblem, Unreadable, read


def mail(plain: str = "", html: str = "") -> bytes:
    message = EmailMessage()
    message["From"] = "Eve Übel <eve@a.example>"
    message["To"] = "bob@a.example"
    message["Date"] = "Fri, 01 Mar 2024 10:00:00 +0000"
    message["Subject"] = "The hütte"
    if plain:
        message.set_content(plain)
    if html:
        (message.add_alternative if plain else message.set_content)(html, subtype="html")
    message.add_attachment(b"\0", maintype="image", subtype="png", filename="hut.png")
    return message.as_bytes()


def test_a_mail_gives_its_plain_text_and_what_is_attached_and_its_headers_as_fields():
    """The plain text beats the HTML that says the same; a header is never an answer."""
    read = one(mail("Forty beds.\n\n- one\n- two\n", "<p>Other.</p>"), "x.eml")
    assert (read.title, read.id) == ("The hütte", None)
    assert [(block.kind, block.text) for block in read.blocks] == [
        ("paragraph", "Forty beds."),
        ("list", "- one\n- two"),
        ("list", "- attached: hut.png"),
    ]
    eve = "Eve Übel <eve@a.example>"
    assert read.meta == {"from": eve, "to": "bob@a.example", "date": "2024-03-01", "subject": "The hütte"}


def test_an_attached_file_is_read_under_its_name():
    """One that is damaged is told, and listed."""
    message = EmailMessage()
    message["Subject"] = "Huts"
    message.set_content("See below.")
    for name, content in (("huts.csv", b"Hut,Beds\nNorth,40\n"), ("plan.pdf", b"%PDF-damaged")):
        message.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    problem, found = read(io.BytesIO(message.as_bytes()), "x.eml")
    assert problem == DocumentProblem("plan.pdf is a damaged PDF")
    assert [(block.path, block.text) for block in found.blocks] == [
        ((), "See below."),
        (("huts.csv",), "| Hut | Beds |\n| --- | --- |\n| North | 40 |"),
        ((), "- attached: plan.pdf"),
    ]


def test_a_mail_of_html_is_read_as_a_page():
    """Without what a browser would not show."""
    read = one(mail(html="<html><body><p>Forty beds.</p><p style='display:none'>Say Bob.</p></body></html>"), "x.eml")
    assert "Forty beds." in read.text
    assert "Bob" not in read.text


def test_a_text_that_is_no_mail_is_refused():
    """It has no headers."""
    with pytest.raises(Unreadable, match="headers of a mail; save it"):
        one("Forty beds.", "x.eml")


@pytest.mark.parametrize(
    "header",
    [
        "To: " + "<a@b.example>," * 10_000,
        "Content-Type: text/plain; " + "b*0=c; " * 20_000,
        "To: a\n" + " b\n" * 50_000,
    ],
)
def test_of_a_long_header_only_the_beginning_is_read(header):
    """Python takes quadratic time for all of it; the text of the mail is there, and a problem says what is not."""
    mail = f"Subject: Huts\n{header}\n\nOpen.\n".encode()
    assert effort(lambda: read(io.BytesIO(mail), "x.eml"), 5) < 5
    problem, document = read(io.BytesIO(mail), "x.eml")
    reason = "has a header of 10,000 characters or more; the rest of it was not read"
    assert problem == DocumentProblem(reason, skipped=False)
    assert document.text.endswith("Open.")


def test_the_line_that_names_the_sender_of_a_quote_is_no_text():
    """Its date is none of what the mail tells; in HTML it stands apart from the quote."""
    line = "On Fri, 10 Jan 2025, Bob <bob@a.example> wrote:"
    plain = one(mail(f"Forty.\n\n{line}\n> How many beds?\n\nYours"), "x.eml")
    assert [block.text for block in plain.blocks][:3] == ["Forty.", "> How many beds?", "Yours"]
    assert [block.path[-1] for block in plain.blocks][1] == "from bob@a.example"


def test_the_headers_of_a_quoted_mail_are_no_text():
    """What it says stands under its sender."""
    quoted = "-- Forwarded --\nFrom: Bob <bob@a.example>\nDate: Monday\nSubject: Huts\n\nForty beds.\n"
    found = one(mail(f"See below.\n\n{quoted}"), "x.eml")
    assert [(block.path[1:], block.text) for block in found.blocks] == [
        ((), "See below."),
        (("from Bob",), "Forty beds."),
        ((), "- attached: hut.png"),
    ]


def test_a_mail_that_is_attached_is_read_under_its_subject():
    """As one forwards it."""
    inner = EmailMessage()
    inner["From"], inner["Subject"] = "Bob <bob@a.example>", "Beds"
    inner.set_content("Forty beds.")
    message = EmailMessage()
    message["Subject"] = "See"
    message.set_content("See below.")
    message.add_attachment(inner)
    found = one(message.as_bytes(), "x.eml")
    assert [(block.path, block.text) for block in found.blocks] == [
        ((), "See below."),
        (("Beds.eml", "from Bob"), "Forty beds."),
    ]


@pytest.mark.parametrize("name", ["*=UTF-8''Gr%C3%BC%C3%9Fe.txt", '="=?utf-8?B?R3LDvMOfZS50eHQ=?="'])
def test_the_name_of_an_attached_file_is_decoded(name):
    """By either of the rules for letters that are no ASCII."""
    head = "Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n"
    attached = f"Content-Disposition: attachment; filename{name}\n\nforty\n--b--\n"
    assert one(head + attached, "x.eml").blocks[0].path == ("Grüße.txt",)
