"""What is read out of an EPUB."""

import io
import zipfile

import pytest

from surefoot.documents.loaders import Document, DocumentProblem, Unreadable, read

CONTAINER = """<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""


def book(chapters: dict[str, str], title="Ice book", **files) -> bytes:
    """A book of these chapters, in their order; `files` are more, or others, of its parts."""
    listed = "".join(f'<item id="c{n}" href="{name.replace(" ", "%20")}"/>' for n, name in enumerate(chapters))
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    package = f"""<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
    <dc:title>{title}</dc:title></metadata><manifest>{listed}</manifest><spine>{spine}</spine></package>"""
    parts = {"META-INF/container.xml": CONTAINER, "OEBPS/book.opf": package}
    # The order in the archive is another: the spine is what counts.
    parts |= {f"OEBPS/{name}": page for name, page in reversed(chapters.items()) if page}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (parts | files).items():
            archive.writestr(name, content)
    return out.getvalue()


def page(title: str, text: str) -> str:
    body = f"<h1>{title}</h1><p>{text}</p>" if text else '<img src="cover.png"/>'
    return f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>{title}</title></head><body>{body}</body></html>'


def items(content: bytes) -> list[Document | DocumentProblem]:
    return list(read(io.BytesIO(content), "ice.epub"))


HUTS, ICE = page("Huts", "The hut is open from May."), page("Ice", "The glacier is 41 km long.")


def test_chapters_come_in_the_order_of_the_spine():
    """Each block knows the chapter's file, and stands under a heading; the book's own title is the document's."""
    (document,) = items(book({"b huts.xhtml": HUTS, "a.xhtml": ICE}))
    said = [block for block in document.blocks if "open" in block.text or "41" in block.text]
    assert document.title == "Ice book"
    assert [(block.path[0], block.place) for block in said] == [
        ("Huts", "OEBPS/b huts.xhtml"),
        ("Ice", "OEBPS/a.xhtml"),
    ]


def test_a_chapter_has_its_title_on_the_path():
    """Once, whether a heading repeats it or not; the book's own title is no chapter's."""
    plain = page("Ice", "The glacier is 41 km long.").replace("<h1>Ice</h1>", "")
    (document,) = items(book({"a.xhtml": ICE, "b.xhtml": plain, "c.xhtml": plain.replace("Ice<", "Ice book<")}))
    paths = {(block.place[-7], block.path) for block in document.blocks if "glacier" in block.text}
    assert paths == {("a", ("Ice",)), ("b", ("Ice",)), ("c", ())}


def test_a_cover_without_text_costs_nothing():
    """Most books begin with a picture."""
    (document,) = items(book({"cover.xhtml": page("Cover", ""), "ice.xhtml": ICE}))
    assert {block.place for block in document.blocks if "glacier" in block.text} == {"OEBPS/ice.xhtml"}


def test_a_missing_chapter_is_named_and_the_others_are_read():
    """The spine may list more than the archive holds."""
    problem, document = items(book({"huts.xhtml": "", "ice.xhtml": ICE}))
    assert problem == DocumentProblem("chapter OEBPS/huts.xhtml is missing from the file")
    assert "glacier" in document.text


def test_a_book_without_a_title_is_titled_by_its_name():
    """There is always a title."""
    assert items(book({"ice.xhtml": ICE}, title=""))[0].title == "ice"


def test_a_locked_book_is_refused():
    """Locked fonts alone are no reason."""
    lock = '<encryption><CipherData xmlns="urn:x"><CipherReference URI="OEBPS/%s"/></CipherData></encryption>'
    with pytest.raises(Unreadable, match="DRM"):
        items(book({"ice.xhtml": ICE}, **{"META-INF/encryption.xml": lock % "ice.xhtml"}))
    assert items(book({"ice.xhtml": ICE}, **{"META-INF/encryption.xml": lock % "font.otf"}))
