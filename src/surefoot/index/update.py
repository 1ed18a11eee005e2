"""An index brought up to date with files, folders and addresses, or made anew from the files that it names."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from surefoot.documents.mirrors import Tell, mirrored, scheme_of
from surefoot.index.build import IndexReport, OnProgress, build
from surefoot.index.connection import DEFAULT
from surefoot.index.rebuild import rebuild
from surefoot.network import Network
from surefoot.types.protocols import Embedder


def update(
    sources: Sequence[str],
    path: Path,
    embedder: Embedder,
    network: Network,
    tell: Tell,
    *,
    collection: str = DEFAULT,
    on_progress: OnProgress = lambda progress: None,
    **options: Any,
) -> dict[str, IndexReport]:
    """Bring a collection of the index up to date with these sources; without any, `rebuild` the whole index. The report
    of each collection, by name.

    An address is mirrored into a folder `mirrors` beside the index first; `tell` gets what could not be fetched.
    `options` are those of `build`. Raises as `mirrored`, `build` and `rebuild` do.
    """
    if not sources:
        return rebuild(path, embedder, on_progress)
    paths = on_disk(sources, path, network, tell)
    return {collection: build(paths, path, embedder, collection=collection, on_progress=on_progress, **options)}


def on_disk(sources: Sequence[str], path: Path, network: Network, tell: Tell) -> list[str | Path]:
    """The files and folders of sources: an address is mirrored into a folder `mirrors` beside the index."""
    home = path.parent / "mirrors"
    return [mirrored(one, home, network, tell) if scheme_of(one) else one for one in sources]
