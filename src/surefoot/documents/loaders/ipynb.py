"""Notebooks: their Markdown, their code and the texts that it printed, with the numbers of cells as places."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from json import JSONDecodeError
from pathlib import PurePath
from typing import Any, BinaryIO

from surefoot.documents.loaders import Document, DocumentProblem, Unreadable
from surefoot.documents.loaders.markdown import headed
from surefoot.documents.loaders.text import decoded
from surefoot.text.blocks import code
from surefoot.text.json_values import parsed

_SHOWN = ("text/markdown", "text/plain")


class IpynbLoader:
    """Reads notebooks of Jupyter."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The notebook as one document, titled by its first heading; the cells count from 1."""
        text, problem = decoded(stream)
        if problem:
            yield problem
        try:
            notebook = parsed(text)
        except JSONDecodeError as error:
            raise Unreadable(f"is not a notebook that can be read ({error.msg}); save it again from Jupyter") from error
        if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
            raise Unreadable("has no list of cells; convert it: jupyter nbconvert --to notebook --nbformat 4")
        language = _at(notebook, "metadata", "language_info", "name") or _at(
            notebook, "metadata", "kernelspec", "language"
        )
        pages, begins, line = [], [], 1
        for cell in notebook["cells"]:
            pages.append(_cell(cell, _text(language)) if isinstance(cell, dict) else "")
            begins.append(line)
            line += pages[-1].count("\n") + 2
        # One text for all: the headings of one cell stand above the next ones.
        blocks = tuple(
            replace(block, place=f"cell={bisect_right(begins, int(block.place[1:]))}")
            for block in headed("\n\n".join(pages))
        )
        if not blocks:
            raise Unreadable("holds no text")
        yield Document("", next((block.path[0] for block in blocks if block.path), PurePath(name).stem), blocks)


def _cell(cell: dict[str, Any], language: str) -> str:
    source = _text(cell.get("source"))
    if cell.get("cell_type") != "code":
        return source
    outputs = cell.get("outputs")
    shown = [_shown(output) for output in outputs if isinstance(output, dict)] if isinstance(outputs, list) else []
    return "\n\n".join(filter(None, (code(source, language), *map(code, shown))))


def _shown(output: dict[str, Any]) -> str:
    """The text of an output: what was printed, a value, or an error without its traceback."""
    if "ename" in output:
        return f"{_text(output['ename'])}: {_text(output.get('evalue'))}"
    data = output.get("data")
    texts = (_text(data.get(kind)) for kind in _SHOWN) if isinstance(data, dict) else ()
    return _text(output.get("text")) or next(filter(None, texts), "")


def _text(value: object) -> str:
    """The text of a value that notebooks write as one text, or as a list of lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _at(value: object, *keys: str) -> object:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
