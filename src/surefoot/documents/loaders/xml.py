"""XML: the text of its elements, under their titles; DocBook with its lists, tables, code and notes.

No other file is opened, and the parser's own limits on size and depth hold. Of the entities that a file declares the
short ones of plain text are put in; all others stay as they are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, BinaryIO

from lxml import etree

from surefoot.documents.loaders import Block, Document, DocumentProblem, Unreadable
from surefoot.text.blocks import bullets, code, definition, paragraph, table

_LONGEST_ENTITY = 100
"""Characters of an entity, at most, that is put in wherever it is named."""

_ENTITY = "{surefoot}entity"
_CODE = frozenset(
    "programlisting screen literallayout synopsis cmdsynopsis funcsynopsis pre code-block codeblock".split()
)
_LISTS = frozenset("itemizedlist orderedlist simplelist procedure substeps ul ol steps".split())
_NOTES = frozenset("note warning caution tip important".split())
_TABLES = frozenset("table informaltable".split())
_PROSE = frozenset("para simpara p formalpara screeninfo abstract blockquote subtitle refpurpose shortdesc".split())
_TITLES = frozenset("title refname heading head name label".split())
_SECTIONS = frozenset(
    "book article part chapter appendix preface section sect1 sect2 sect3 sect4 sect5 refentry refsection refsect1 "
    "refsect2 refsynopsisdiv topic concept task reference glossary bibliography simplesect".split()
)
_HIDDEN = frozenset("indexterm remark primary secondary".split())


class XmlLoader:
    """Reads XML, with the titles of its elements as paths and the numbers of lines as places."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The whole file as one document, titled by its outermost title."""
        content = stream.read()
        root, why = _parsed(content, recover=False)
        if root is None:
            root, _ = _parsed(content, recover=True)
            if root is None or not "".join(root.itertext()).strip():
                raise Unreadable(f"is not XML that can be read ({why}); mend it, or save it as .txt")
            yield DocumentProblem(f"is not well-formed ({why}); it was read as far as it makes sense", skipped=False)
        _put_in_entities(root)
        found = tuple(_blocks(root, ()))
        if not found:
            raise Unreadable("holds no text")
        yield Document("", _title(root) or PurePath(name).stem, found)


def _parsed(content: bytes, recover: bool) -> tuple[Any, str]:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=recover, remove_pis=True,
        remove_comments=True,
    )  # fmt: skip
    try:
        return etree.fromstring(content, parser), ""
    except (etree.LxmlError, ValueError) as error:
        return None, " ".join(str(error).split())[:200]


def _put_in_entities(root: Any) -> None:
    """Replace the references to short texts, which cannot unfold, by these, and all others by how they are written."""
    declared = root.getroottree().docinfo.internalDTD
    values = {entity.name: entity.content or "" for entity in (declared.iterentities() if declared is not None else ())}
    for reference in [*root.iter(etree.Entity)]:
        value = values.get(reference.name, "")
        is_plain = 0 < len(value) <= _LONGEST_ENTITY and not set(value) & {"&", "<", "%"}
        word = etree.Element(_ENTITY)
        word.text, word.tail = value if is_plain else f"&{reference.name};", reference.tail
        reference.getparent().replace(reference, word)
    etree.strip_tags(root, _ENTITY)


def _tag(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _said(element: Any) -> str:
    """All text below an element, on one line; an entity that is not looked up stays as it is written."""
    return paragraph(" ".join(_pieces(element)) if _holds_elements(element) else "".join(element.itertext()))


def _holds_elements(element: Any) -> bool:
    """Whether its text is only in its elements, which then are apart from each other."""
    return len(element) > 0 and not (element.text or "").strip() and not any((e.tail or "").strip() for e in element)


def _pieces(element: Any) -> Iterator[str]:
    for child in element:
        if _tag(child) not in _HIDDEN:
            yield _said(child)


def _title(element: Any) -> str:
    holders = [element, *(child for child in element if _tag(child).endswith("info") or _tag(child) == "refnamediv")]
    return next((_said(child) for holder in holders for child in holder if _tag(child) in _TITLES and _said(child)), "")


def _blocks(element: Any, path: tuple[str, ...]) -> Iterator[Block]:
    """The blocks of an element that holds others; records of short values are lines of "name: value"."""
    fields: list[str] = []
    begun, own = 0, _title(element)
    for child in element:
        tag, place = _tag(child), f"L{child.sourceline}"
        if not tag or tag in _HIDDEN:
            continue
        is_field = len(child) == 0 and tag not in _PROSE | _CODE | _TITLES | _SECTIONS
        if fields and not is_field:
            yield Block("\n".join(fields), "paragraph", path, f"L{begun}")
            fields = []
        if is_field:
            begun = begun if fields else child.sourceline
            fields += filter(None, (_field(child, tag),))
        elif block := _block(child, tag, path, place):
            yield block
        elif tag in ("variablelist", "glosslist", "dl", "segmentedlist"):
            yield from _definitions(child, path)
        elif len(child) and (_holds_elements(child) or tag in _SECTIONS):
            title = _title(child)
            if attributes := _attributes(child, tag) if tag not in _SECTIONS else "":
                yield Block(attributes, "paragraph", path, place)
            yield from _blocks(child, (*path, title) if title else path)
        elif (text := _said(child)) and not (tag in _TITLES and text == own):
            yield Block(text, "caption" if tag in _TITLES else "paragraph", path, place)
    if fields:
        yield Block("\n".join(fields), "paragraph", path, f"L{begun}")


def _block(element: Any, tag: str, path: tuple[str, ...], place: str) -> Block | None:
    """The block of an element of DocBook, or of one that is called alike; None: it is none."""
    text = ""
    if tag in _CODE:
        text = code("".join(element.itertext()), element.get("language", ""))
        return Block(text, "code", path, place) if text else None
    if tag in _LISTS:
        items = [_item(item) for item in element if _tag(item) and _tag(item) not in _TITLES]
        text = bullets(items, tag in ("orderedlist", "procedure", "ol"))
        return Block(text, "list", path, place) if text else None
    if tag in _NOTES:
        return Block(f"{tag.capitalize()}: {_said(element)}", "note", path, place) if _said(element) else None
    if tag in _TABLES:
        rows = [[_said(cell) for cell in row if _tag(cell)] for row in element.iter() if _tag(row) in ("row", "tr")]
        headed = any(_tag(part) == "thead" for part in element.iter())
        text = table(rows[1:], rows[0]) if headed and rows else table(rows)
        return Block(text, "table", path, place) if text else None
    return None


def _item(item: Any) -> str:
    parts = (_block(child, _tag(child), (), "") for child in item)
    texts = [part.text if part else _said(child) for child, part in zip(item, parts, strict=True) if _tag(child)]
    return "\n".join(filter(None, texts)) if _holds_elements(item) else _said(item)


def _definitions(element: Any, path: tuple[str, ...]) -> Iterator[Block]:
    for entry in element:
        terms = [_said(child) for child in entry if _tag(child) in ("term", "glossterm")]
        body = [_item(child) for child in entry if _tag(child) not in ("term", "glossterm", "")]
        if terms and any(body):
            yield Block(definition(", ".join(terms), "\n".join(body)), "definition", path, f"L{entry.sourceline}")
        elif text := _said(entry):
            yield Block(text, "paragraph", path, f"L{entry.sourceline}")


def _attributes(element: Any, tag: str) -> str:
    values = [f"{key.rpartition('}')[2]}={value}" for key, value in element.attrib.items() if value.strip()]
    return paragraph(f"{tag}: {' '.join(values)}") if values else ""


def _field(element: Any, tag: str) -> str:
    """An element without others as a line: its name, its attributes, its text."""
    named = _attributes(element, tag) or f"{tag}:"
    said = _said(element)
    return f"{named} {said}".strip() if said or not named.endswith(":") else ""
