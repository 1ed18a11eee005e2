"""Makes office files and mails of the passages of a page, for the recipe that collects passages."""

import re
from collections.abc import Sequence
from email.message import EmailMessage
from itertools import groupby
from pathlib import Path

import openpyxl
import pypandoc  # type: ignore[import-untyped]

from surefoot.text.blocks import parts
from surefoot.types import Passage

FORMATS = ("docx", "odt", "pptx", "xlsx", "eml")
MOST, MAIL = 40, 8
"""Passages of a file, and of a mail, at most."""


def is_table(text: str) -> bool:
    """True if most of a text is rows of tables."""
    return sum(part.end - part.start for part in parts(text) if part.kind == "table") > len(text) / 2


def write(passages: Sequence[Passage], place: Path, format: str) -> Path:
    """Write a page into a file of this format, named `place` with its suffix; without tables, docx stands for xlsx."""
    held = passages[:MOST]
    tables = [passage for passage in held if is_table(passage.text)]
    format = "docx" if format == "xlsx" and not tables else format
    place = place.with_name(f"{place.name}.{format}")
    if format == "xlsx":
        _workbook(tables).save(place)
    elif format == "eml":
        place.write_bytes(_mail(held[:MAIL]))
    else:
        pypandoc.convert_text(_markdown(held), format, "commonmark+pipe_tables+definition_lists", outputfile=place)
    return place


def _workbook(tables: Sequence[Passage]) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, passage in enumerate(tables):
        name = re.sub(r"[^\w ]", " ", passage.title.rpartition(" › ")[2])
        sheet = book.create_sheet(f"{number + 1} {name}"[:31])
        for line in passage.text.splitlines():
            if line.startswith("|") and set(line) - set("|-: "):
                sheet.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return book


def _mail(passages: Sequence[Passage]) -> bytes:
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = passages[0].title[:200], "docs@example.org", "all@example.org"
    mail.set_content("\n\n".join(passage.text for passage in passages))
    return mail.as_bytes()


def _markdown(passages: Sequence[Passage]) -> str:
    lines = [f"# {passages[0].title.partition(' › ')[0]}"]
    for heading, same in groupby(passages, lambda passage: passage.title.partition(" › ")[2]):
        lines += [f"## {heading}"] * bool(heading) + [passage.text for passage in same]
    return "\n\n".join(lines)
