"""Ids of passages, in a name space for each file: no file can forge the id of another file's passage."""

from collections.abc import Callable
from hashlib import blake2b
from itertools import count

_LONGEST = 200
_SPACE, _CUT = 5, 16
"""Bytes of the hash of a name space, and of an id that was cut short."""


def space(path: str, taken: Callable[[str], bool]) -> str:
    """The name space of the file at `path`, the same wherever it is indexed. Of several files with one path, such as in
    two folders called docs, the later ones get another."""
    names = (_hash(_SPACE, path, number) for number in count())
    return next(name for name in names if not taken(name))


def of_row(space: str, own: str, part: int) -> str:
    """The id of a part, from 1, of a row that has an id of its own: `3f9a1c2e07:own`, then `3f9a1c2e07:own#2`. An id
    that is long, or has characters that do not show, is cut short and ends in its hash."""
    # A row's id that looks like ours gets a further ending, or the row "a#2" would pass for the second part of row "a".
    if len(own) > _LONGEST or not own.isprintable() or _is_hash(own.rpartition("~")[2], _CUT):
        shown = "".join(letter if letter.isprintable() else "\ufffd" for letter in own[:40])
        own = f"{shown}~{_hash(_CUT, own)}"
    return f"{space}:{own}" + (f"#{part}" if part > 1 or _row(own) != own else "")


def of_text(space: str, key: str, start: int, text: str) -> str:
    """The id of a passage of any other document; it changes with the passage's text and place."""
    return "p" + _hash(12, space, key, start, text)


def labels(id: str) -> set[str]:
    """The names by which labels of a ready-made corpus may call a passage: its id, or its row's own."""
    first, _, rest = id.partition(":")
    own = rest if _is_hash(first, _SPACE) else id
    return {id, own, _row(own)}


def _row(id: str) -> str:
    """The id without the number of its part."""
    row, mark, part = id.rpartition("#")
    return row if mark and part.isdecimal() else id


def _is_hash(text: str, size: int) -> bool:
    return len(text) == 2 * size and set(text) <= set("0123456789abcdef")


def _hash(size: int, *parts: str | int) -> str:
    return blake2b("\0".join(map(str, parts)).encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()
