"""A second index in place of the web."""

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from surefoot.index.connection import DEFAULT
from surefoot.index.search import Index
from surefoot.types import Passage
from surefoot.types.metadata import NO_FILTER, Filter


class Folder:
    """Searches a collection of another index by its words (BM25); `surefoot index PATH --index FILE` makes one."""

    name: ClassVar[str] = "folder"

    def __init__(self, path: str | Path, collection: str = DEFAULT) -> None:
        self.index = Index.open(Path(path), collection)

    def search(self, query: str, k: int, filter: Filter = NO_FILTER) -> tuple[Passage, ...]:
        """The best `k` passages of that index, each marked as external."""
        return tuple(replace(passage, source="external") for passage in self.index.lexical(query, k, filter))
