"""The files of a bucket of S3, Google Cloud Storage or Azure, through fsspec, which huggingface_hub brings; each store
has a package of its own, which reads the credentials that its own programs read."""

import os
from collections.abc import Iterator
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from surefoot.documents.loaders import MAX_BYTES, loader_of, needs_head
from surefoot.documents.mirrors import Item, Tell
from surefoot.network import Network
from surefoot.types.errors import NetworkError, UsageError

_STORES = {
    "s3": ("s3fs", "s3.amazonaws.com"),
    "gs": ("gcsfs", "storage.googleapis.com"),
    "az": ("adlfs", "blob.core.windows.net"),
}
"""By scheme, the package that reaches the store, and the store's host."""
_VERSION = ("ETag", "etag", "md5Hash", "LastModified", "last_modified", "mtime", "created", "size")


def items(source: str, network: Network, tell: Tell) -> Iterator[Item]:
    """Each file of a kind that is read. Raises UsageError and NetworkError."""
    from fsspec.core import url_to_fs

    package, host = _STORES.get(urlsplit(source).scheme, ("", ""))
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if package == "s3fs" and endpoint:
        host = str(urlsplit(endpoint).hostname)
    if host:
        network.require(host)
    try:
        store, root = url_to_fs(source)
        found = store.find(root, detail=True)
    except ImportError:
        raise UsageError(f"{source} is reached by another package; run: pip install {package}") from None
    except Exception as error:  # noqa: BLE001 - each store has errors of its own
        why = type(error).__name__
        raise NetworkError(f"{source} cannot be listed ({why}); check its name and your login") from None
    for name, about in sorted(found.items()):
        path = name.removeprefix(root).lstrip("/")
        if not (loader_of(path) or needs_head(path)):
            continue
        if about.get("size", 0) > MAX_BYTES:
            tell(path, f"has more than {MAX_BYTES / 1e6:.0f} MB")
            continue
        version = " ".join(str(about[key]) for key in _VERSION if key in about)
        yield Item(path, version, partial(_content, store, name))


def _content(store: Any, name: str) -> bytes:
    try:
        return bytes(store.cat_file(name))
    except Exception as error:  # noqa: BLE001 - as above
        raise NetworkError(f"it cannot be fetched ({type(error).__name__})") from None
