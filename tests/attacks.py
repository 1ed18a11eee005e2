"""Small files that take a lot to read: what a stranger sends to take a machine down."""

import io
import zipfile
import zlib

import docx

_RELATION = '<Relationship Id="rId99" Type="%s" Target="media/picture.png"/></Relationships>'
_IMAGE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/image"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def wide_cell() -> bytes:
    """A Word document with a cell that spans two thousand million columns, each a place in a list."""
    cell = '<w:tc><w:tcPr><w:gridSpan w:val="2000000000"/></w:tcPr><w:p/></w:tc>'
    body = f"<w:body><w:tbl><w:tr>{cell}</w:tr></w:tbl></w:body>"
    return _word(
        lambda name, part: f'<w:document xmlns:w="{_WORD}">{body}</w:document>' if name == "word/document.xml" else part
    )


def large_picture(megabytes: int = 4_000) -> bytes:
    """A Word document with a picture that unpacks to so many megabytes, a thousandth of them packed."""

    def shown(name: str, part: str) -> str:
        if name == "[Content_Types].xml":
            return part.replace("<Default ", '<Default Extension="png" ContentType="image/png"/><Default ', 1)
        if name == "word/_rels/document.xml.rels":
            return part.replace("</Relationships>", _RELATION % _IMAGE)
        return part

    out = io.BytesIO(_word(shown))
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(bytes(1_000_000)) + packer.flush(zlib.Z_FULL_FLUSH)
    with zipfile.ZipFile(out, "a") as archive:
        picture = zipfile.ZipInfo("word/media/picture.png")
        archive.writestr(picture, packed * megabytes)
        # What is in the directory is what counts, and that is written at the end.
        picture.compress_type, picture.file_size = zipfile.ZIP_DEFLATED, megabytes * 1_000_000
    return out.getvalue()


def many_attributes(count: int = 500_000) -> bytes:
    """A page with so many attributes, each compared with those before it."""
    named = " ".join(f"a{number}=x" for number in range(count))
    return f"<html><body><p {named}>The glacier</p></body></html>".encode()


def slow_pdf(letters: int = 5_000_000, pages: int = 1) -> bytes:
    """A PDF with pages of single letters, packed a thousandfold: under 200 kB, and minutes to read."""
    stream = zlib.compress(b"BT /F1 9 Tf " + b"(a)Tj " * letters + b"ET", 9)
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (b"3 0 R " * pages, pages),
        b"<</Type/Page/Parent 2 0 R/Contents 4 0 R/MediaBox[0 0 9 9]/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    body = b"".join(b"%d 0 obj%s endobj\n" % (number, each) for number, each in enumerate(objects, start=1))
    return b"%PDF-1.4\n" + body + b"trailer<</Root 1 0 R>>\nstartxref\n0\n%%EOF"


def _word(changed) -> bytes:
    """Word's own empty document, with its text parts changed."""
    empty, out = io.BytesIO(), io.BytesIO()
    docx.Document().save(empty)
    with zipfile.ZipFile(empty) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, changed(name, part.decode()) if name.endswith((".xml", ".rels")) else part)
    return out.getvalue()
