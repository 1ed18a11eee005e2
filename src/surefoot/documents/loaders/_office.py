"""Files of Word and PowerPoint as their reader sees them: pandoc reads what is hidden, and no notes of a speaker."""

from __future__ import annotations

from io import BytesIO
from posixpath import join, normpath
from typing import Any, BinaryIO
from zipfile import ZIP_STORED, ZipFile

from lxml import etree

_NAMES = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "p": "http://schemas.openxmlformats.org/presentationml/2006/main",
}
_PROPERTIES = "docProps/core.xml"
_NAMELESS = ("PowerPoint Presentation", "Word Document")
"""Titles that programs give by themselves."""
_VANISH = "w:vanish[not(@w:val) or not(contains('|0|false|off|', concat('|', @w:val, '|')))]"
_TEXTS = ("word/document", "word/footnotes", "word/endnotes")
"""Beginnings of the names of parts that hold the text of a file of Word."""
_SLIDE = "ppt/slides/slide"
_RELATED = "//@Target[contains(., 'notesSlides/notesSlide') or contains(., 'diagrams/data')]"
_SHAPE = (
    '<p:sp xmlns:p="{p}" xmlns:a="{a}"><p:nvSpPr><p:cNvPr id="0" name=""/><p:cNvSpPr txBox="1"/><p:nvPr/></p:nvSpPr>'
    "<p:spPr/><p:txBody><a:bodyPr/></p:txBody></p:sp>"
).format(**_NAMES)


def shown(stream: BinaryIO, source: str, notes: list[str]) -> tuple[bytes, str]:
    """The archive without hidden runs of text and hidden slides, which are added to `notes`, and with the words of the
    speaker's notes, of groups and of drawings on their slides; and the title among its properties."""
    out = BytesIO()
    with ZipFile(stream) as old, ZipFile(out, "w", ZIP_STORED) as new:
        hiding = _hiding(old) if source == "docx" else set()
        for part in old.infolist():
            content = old.read(part)
            if part.filename.startswith(_TEXTS):
                content = _without_hidden_runs(content, hiding)
            elif part.filename.startswith(_SLIDE):
                content = _slide(old, part.filename, content, notes)
            new.writestr(part.filename, content)
        core = _parsed(old.read(_PROPERTIES)) if _PROPERTIES in old.NameToInfo else None
        title = core.findtext("{http://purl.org/dc/elements/1.1/}title", "") if core is not None else ""
    return out.getvalue(), "" if title in _NAMELESS else title.strip()


def _parsed(content: bytes) -> Any:
    return etree.fromstring(content, etree.XMLParser(resolve_entities=False, no_network=True))


def _hiding(archive: ZipFile) -> set[str]:
    """The ids of styles that hide their text."""
    if "word/styles.xml" not in archive.NameToInfo:
        return set()
    styles = _parsed(archive.read("word/styles.xml"))
    return set(styles.xpath(f"w:style[w:rPr/{_VANISH}]/@w:styleId", namespaces=_NAMES))


def _without_hidden_runs(content: bytes, hiding: set[str]) -> bytes:
    root = _parsed(content)
    for run in root.xpath(f".//w:r[w:rPr/{_VANISH}]", namespaces=_NAMES):
        run.getparent().remove(run)
    for run in root.xpath(".//w:r[not(w:rPr/w:vanish)]", namespaces=_NAMES) if hiding else ():
        styles = run.xpath("w:rPr/w:rStyle/@w:val | ancestor::w:p[1]/w:pPr/w:pStyle/@w:val", namespaces=_NAMES)
        if hiding.intersection(styles):
            run.getparent().remove(run)
    return bytes(etree.tostring(root))


def _slide(archive: ZipFile, name: str, content: bytes, notes: list[str]) -> bytes:
    root = _parsed(content)
    (shapes,) = root.xpath("p:cSld/p:spTree", namespaces=_NAMES)
    if root.get("show") in ("0", "false"):
        notes.append(f"slide {name.removeprefix(_SLIDE).removesuffix('.xml')} is hidden, and was not read")
        del shapes[2:]  # behind its properties
        return bytes(etree.tostring(root))
    for group in root.xpath(".//p:grpSp", namespaces=_NAMES):  # pandoc reads no groups
        shapes.extend(group.xpath("p:sp | p:graphicFrame", namespaces=_NAMES))
    for frame in root.xpath(".//p:graphicFrame[not(.//a:tbl)]", namespaces=_NAMES):  # and says that it reads no drawing
        frame.getparent().remove(frame)
    related = name.replace("slides/", "slides/_rels/") + ".rels"
    for target in _parsed(archive.read(related)).xpath(_RELATED) if related in archive.NameToInfo else ():
        words = _parsed(archive.read(normpath(join("ppt/slides", target)).lstrip("/")))
        body = words.xpath(".//p:sp[p:nvSpPr/p:nvPr/p:ph/@type='body']", namespaces=_NAMES) or [words]
        shape = _parsed(_SHAPE.encode())
        text = shape.find(f"{{{_NAMES['p']}}}txBody")
        for line in body[0].iter(f"{{{_NAMES['a']}}}p"):
            text.append(line)
        shapes.append(shape)
    return bytes(etree.tostring(root))
