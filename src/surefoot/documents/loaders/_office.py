"""Files of Word and PowerPoint as their reader sees them: pandoc reads what is hidden, and no notes of a speaker."""

from contextlib import suppress
from datetime import datetime
from io import BytesIO
from posixpath import join, normpath, split
from typing import Any, BinaryIO
from zipfile import ZIP_STORED, ZipFile

from lxml import etree
from lxml.builder import ElementMaker
from openpyxl.styles.numbers import is_date_format
from openpyxl.utils.datetime import from_excel

_NAMES = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "p": "http://schemas.openxmlformats.org/presentationml/2006/main",
    "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
    "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
}
_IN: Any = {"namespaces": _NAMES}
_TEXT, _TAB, _PARAGRAPH = (f"{{{_NAMES['w']}}}{name}" for name in ("t", "tab", "p"))
_A = ElementMaker(namespace=_NAMES["a"], nsmap={"a": _NAMES["a"]})
_DOCUMENT = "word/document.xml"
_PROPERTIES = "docProps/core.xml"
_NAMELESS = ("PowerPoint Presentation", "Word Document")
"""Titles that programs give by themselves."""
_VANISH = "w:vanish[not(@w:val) or not(contains('|0|false|off|', concat('|', @w:val, '|')))]"
_TEXTS = ("word/document", "word/footnotes", "word/endnotes")
"""Beginnings of the names of parts that hold the text of a file of Word."""
_SLIDE = "ppt/slides/slide"
_SHAPE = (
    '<p:sp xmlns:p="{p}" xmlns:a="{a}"><p:nvSpPr><p:cNvPr id="0" name=""/><p:cNvSpPr txBox="1"/><p:nvPr/></p:nvSpPr>'
    "<p:spPr/><p:txBody><a:bodyPr/></p:txBody></p:sp>"
).format(**_NAMES)


def shown(stream: BinaryIO, source: str, notes: list[str]) -> tuple[bytes, str, list[str]]:
    """The archive without hidden runs of text and hidden slides, which are added to `notes`, and with the words of the
    speaker's notes, of groups and of drawings on their slides; the title among its properties; and the headers and
    footers of pages."""
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
        running = _running(old, hiding) if source == "docx" else []
    return out.getvalue(), "" if title in _NAMELESS else title.strip(), running


def _parsed(content: bytes) -> Any:
    return etree.fromstring(content, etree.XMLParser(resolve_entities=False, no_network=True))


def _hiding(archive: ZipFile) -> set[str]:
    """The ids of styles that hide their text."""
    if "word/styles.xml" not in archive.NameToInfo:
        return set()
    styles = _parsed(archive.read("word/styles.xml"))
    return set(styles.xpath(f"w:style[w:rPr/{_VANISH}]/@w:styleId", **_IN))


def _without_hidden_runs(content: bytes, hiding: set[str]) -> bytes:
    root = _parsed(content)
    for run in root.xpath(f".//w:r[w:rPr/{_VANISH}]", **_IN):
        run.getparent().remove(run)
    for run in root.xpath(".//w:r[not(w:rPr/w:vanish)]", **_IN) if hiding else ():
        styles = run.xpath("w:rPr/w:rStyle/@w:val | ancestor::w:p[1]/w:pPr/w:pStyle/@w:val", **_IN)
        if hiding.intersection(styles):
            run.getparent().remove(run)
    return bytes(etree.tostring(root))


def _running(archive: ZipFile, hiding: set[str]) -> list[str]:
    """The text of each header and footer that the document puts on its pages, once."""
    related, found = _related(archive, _DOCUMENT), list[str]()
    document = _parsed(archive.read(_DOCUMENT)) if related else None
    for id in () if document is None else document.xpath("//w:headerReference/@r:id|//w:footerReference/@r:id", **_IN):
        root = _parsed(_without_hidden_runs(archive.read(related[id]), hiding)) if id in related else ()
        pieces = (node.text or " " for part in root for node in part.iter(_PARAGRAPH, _TEXT, _TAB))
        found.append(" ".join("".join(pieces).split()))
    return [text for text in dict.fromkeys(found) if any(map(str.isalpha, text))]  # a page's number alone says nothing


def _related(archive: ZipFile, part: str) -> dict[str, str]:
    """The names of the parts that a part relates to, by the ids that it gives them."""
    folder, name = split(part)
    relations = f"{folder}/_rels/{name}.rels"
    found = _parsed(archive.read(relations)) if relations in archive.NameToInfo else ()
    targets = {each.get("Id"): normpath(join(folder, each.get("Target"))).lstrip("/") for each in found}
    return {id: target for id, target in targets.items() if target in archive.NameToInfo}


def _slide(archive: ZipFile, name: str, content: bytes, notes: list[str]) -> bytes:
    root = _parsed(content)
    (shapes,) = root.xpath("p:cSld/p:spTree", **_IN)
    if root.get("show") in ("0", "false"):
        notes.append(f"slide {name.removeprefix(_SLIDE).removesuffix('.xml')} is hidden, and was not read")
        del shapes[2:]  # behind its properties
        return bytes(etree.tostring(root))
    for group in root.xpath(".//p:grpSp", **_IN):  # pandoc reads no groups
        shapes.extend(group.xpath("p:sp | p:graphicFrame", **_IN))
    for line in root.xpath(".//p:sp[p:nvSpPr/p:nvPr/p:ph[not(@type) or @type='body']]/p:txBody/a:p[../a:p[2]]", **_IN):
        if not line.xpath("a:pPr/a:buNone", **_IN):  # its bullet stands in the layout, which pandoc does not look at
            if line.find(_A.pPr().tag) is None:
                line.insert(0, _A.pPr())
            line[0].append(_A.buChar(char="•"))
    related = _related(archive, name)
    for frame in root.xpath(".//p:graphicFrame[not(.//a:tbl)]", **_IN):  # pandoc says that it reads no drawing
        charts = [related[id] for id in frame.xpath(".//c:chart/@r:id", **_IN) if id in related]
        if charts:
            data = frame.xpath("a:graphic/a:graphicData", **_IN)[0]
            data[:] = [_chart_table(_parsed(archive.read(charts[0])))]
            data.set("uri", f"{_NAMES['a']}/table")
        else:
            frame.getparent().remove(frame)
    for target in related.values():
        if not ("notesSlides/notesSlide" in target or "diagrams/data" in target):
            continue
        words = _parsed(archive.read(target))
        body = words.xpath(".//p:sp[p:nvSpPr/p:nvPr/p:ph/@type='body']", **_IN) or [words]
        shape = _parsed(_SHAPE.encode())
        text = shape.find(f"{{{_NAMES['p']}}}txBody")
        for line in body[0].iter(f"{{{_NAMES['a']}}}p"):
            text.append(line)
        shapes.append(shape)
    return bytes(etree.tostring(root))


def _chart_table(chart: Any) -> Any:
    """The series of a chart as the columns of a table, its categories as the rows."""
    rows: dict[tuple[str, str], dict[int, str]] = {}
    series = chart.xpath("//c:ser", **_IN)
    for n, one in enumerate(series):
        labels = _points(one, "c:cat|c:xVal")
        values = _points(one, "c:val|c:yVal")
        for index in labels | values:
            rows.setdefault((index, labels.get(index, index)), {})[n] = values.get(index, "")
    names = ["".join(one.xpath("c:tx//c:v/text()", **_IN)) for one in series]
    table = [["", *names], *([key[1], *(row.get(n, "") for n in range(len(series)))] for key, row in rows.items())]
    return _A.tbl(_A.tblPr(firstRow="1"), _A.tblGrid(), *(_A.tr(*map(_cell, row)) for row in table))


def _cell(text: str) -> Any:
    return _A.tc(_A.txBody(_A.bodyPr(), _A.p(_A.r(_A.t(text)))))


def _points(series: Any, where: str) -> dict[str, str]:
    """The values of a series as they are shown, by index."""
    form = "".join(series.xpath(f"({where})//c:formatCode/text()", **_IN))
    points = {point.get("idx"): point.findtext("{*}v", "") for point in series.xpath(f"({where})//c:pt", **_IN)}
    return {index: _value(text, form) for index, text in points.items()}


def _value(text: str, form: str) -> str:
    """A number as its format shows it, as far as that is of percentages or dates."""
    with suppress(ValueError, OverflowError):
        if "%" in form:
            return f"{float(text) * 100:.10g}%"
        if form != "General" and is_date_format(form) and isinstance(date := from_excel(float(text)), datetime):
            return str(date.date())
    return text
