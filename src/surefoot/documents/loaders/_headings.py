"""Shared by the loaders: the headings that a block stands under."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from surefoot.documents.loaders import Block


@dataclass(slots=True)
class OpenHeadings:
    """The headings that are open at a place in a document, outermost first."""

    _open: list[tuple[int, str]] = field(default_factory=list)
    _lonely: str | None = None
    """The place of the last one if nothing has followed it yet."""

    def path(self) -> tuple[str, ...]:
        """The headings of a block that follows now."""
        self._lonely = None
        return tuple(name for _, name in self._open)

    def enter(self, level: int, title: str, place: str = "") -> Iterator[Block]:
        """Open a heading; gives the one before it as a caption if that would head nothing."""
        if self._open and self._open[-1][0] >= level:
            yield from self.close()
        self._open = [(depth, name) for depth, name in self._open if depth < level] + [(level, title)]
        self._lonely = place

    def close(self) -> Iterator[Block]:
        """The last heading as a caption if nothing has followed it."""
        if self._lonely is not None:
            yield Block(self._open[-1][1], "caption", tuple(name for _, name in self._open[:-1]), self._lonely)
