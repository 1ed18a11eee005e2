"""Sources that are no folder, mirrored into one: what is new or changed is fetched, what is gone is deleted, and the
folder is then indexed as any other.

    website  https://docs.example.org/guide/    pages of its sitemap, else those that its links lead to
    git      git+https://example.org/a/b#main   the files of a branch
    mail     maildir:/home/ann/Maildir, imaps://ann@mail.example.org/INBOX
    bucket   s3://bucket/folder, gs://…, az://…
"""

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from surefoot.network import Network
from surefoot.run.store import locked, write_bytes, write_text
from surefoot.text.json_values import parsed
from surefoot.types.errors import SurefootError, UsageError

SCHEMES = {
    **dict.fromkeys(("http", "https"), "website"),
    **dict.fromkeys(("git+http", "git+https", "git+ssh", "git+file"), "git"),
    **dict.fromkeys(("maildir", "imaps"), "mail"),
    **dict.fromkeys(("s3", "gs", "az"), "bucket"),
}
"""By the scheme of an address, the module here whose `items` lists what is there, or whose `update` mirrors it."""
_LONGEST = 150

Tell = Callable[[str, str], None]
"""Gets the address or path of what was not fetched, and why."""


@dataclass(frozen=True, slots=True)
class Item:
    """A file of a source."""

    path: str
    """Within the mirror, with forward slashes; its suffix says how it is read."""
    version: str
    """Another one as soon as the content may be another."""
    load: Callable[[], bytes]
    """Fetches the content. Raises SurefootError or OSError."""


class Incomplete(SurefootError):
    """Not all of a source was listed, so that nothing may count as gone; the text says why."""


def scheme_of(source: str) -> str:
    """The scheme of an address that can be mirrored; empty: it is a path. Raises UsageError for another address."""
    scheme, mark, _ = source.partition(":")
    if scheme in SCHEMES:
        return scheme
    if mark and source.startswith(f"{scheme}://"):
        raise UsageError(f"{scheme}:// is no kind of source; there are: {', '.join(SCHEMES)}, files and folders")
    return ""


def name_of(source: str) -> str:
    """The name of the mirror of this address, with which the paths of its files begin in an index."""
    parts = source.partition(":")[2].partition("#")[0].split("/")
    return "-".join(filter(None, (_safe(part).replace(" ", "-") for part in parts)))[:_LONGEST]


def mirrored(source: str, home: Path, network: Network, tell: Tell) -> Path:
    """The folder below `home` with the files of this address, brought up to date.

    What cannot be fetched is told and stays as it was. Raises UsageError, and SurefootError where the source cannot be
    reached at all; the mirror is then as before.
    """
    kind = SCHEMES[scheme_of(source)]
    folder = (home / kind / name_of(source)).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    module = import_module(f"{__name__}.{kind}")
    busy = UsageError(f"{folder} is being mirrored by another process; wait until it has finished")
    with locked(f"{folder}.lock", busy):
        if kind == "git":
            module.update(source, folder, network)
        else:
            keep_up(folder, module.items(source, network, tell), tell)
    return folder


def keep_up(folder: Path, items: Iterable[Item], tell: Tell) -> None:
    """Fetch the items whose version is new, and delete the files of those that are gone; if `items` breaks off with an
    error, none counts as gone."""
    record = folder.with_name(f"{folder.name}.json")  # beside it, where no index finds it
    known: dict[str, str] = {}
    with suppress(OSError, ValueError):  # it is fetched anew
        known = dict(parsed(record.read_bytes()))
    seen = dict[str, str]()
    gone: set[str] = set()
    try:
        for item in items:
            path = "/".join(filter(None, map(_safe, item.path.split("/"))))
            if path and path not in seen:
                seen[path] = _fetched(item, folder / path, known.get(path), tell)
        gone = known.keys() - seen.keys()
    except Incomplete as error:
        tell(folder.name, str(error))
    finally:
        for path in gone:
            (folder / path).unlink(missing_ok=True)
        now = {path: seen.get(path, known.get(path)) for path in (known | seen).keys() - gone}
        write_text(record, json.dumps(now))


def _fetched(item: Item, place: Path, known: str | None, tell: Tell) -> str:
    """The version that lies at `place` now: the item's, fetched if it is new; the known one where that fails."""
    if known != item.version or not place.is_file():
        try:
            write_bytes(place, item.load(), durable=False)
        except (SurefootError, OSError) as error:
            tell(item.path, str(error))
            return known or ""
    return item.version


def _safe(name: str) -> str:
    """A name that leads nowhere else and is not hidden; empty: none is left."""
    clean = "".join(letter if letter.isprintable() and letter not in '<>:"|?*\\' else " " for letter in name)
    return " ".join(clean.split()).strip(". ")[-_LONGEST:]
