"""The values of a document that was read."""

from dataclasses import dataclass
from typing import Literal

from surefoot.types.metadata import NO_META, Meta

BlockKind = Literal["paragraph", "list", "table", "code", "definition", "caption", "note", "contents"]
"""`contents`: only links to other parts or pages, such as a table of contents or a menu."""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a document as its author set it apart. `surefoot.text.blocks` writes the text of each kind."""

    text: str
    """Plain Markdown; only lists, tables, code and definitions hold line ends."""
    kind: BlockKind = "paragraph"
    path: tuple[str, ...] = ()
    """The headings that it stands under, outermost first, without the document's title."""
    place: str = ""
    """Where a reader finds it, as the end of an address: "anchor", "page=12", "L40"; empty: somewhere in the file."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text on its own: a whole file, or one row of a table."""

    key: str
    """Unique in its file and stable while the document's content is; "" where the file is one document."""
    title: str
    blocks: tuple[Block, ...]
    """In the order of the text."""
    url: str | None = None
    """The row's own address; None: the file is where a reader finds it."""
    id: str | None = None
    """The row's own id, which its passages take over; None: they get theirs from what they say."""
    meta: Meta = NO_META
    """Its fields, such as its product or year, which all its passages carry."""

    @property
    def text(self) -> str:
        """The whole text, an empty line between two blocks."""
        return "\n\n".join(block.text for block in self.blocks)


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """Something in a file that was not read, or was read with a reservation."""

    reason: str
    skipped: bool = True
    """False: nothing is missing, but the text may not be what its author wrote."""
