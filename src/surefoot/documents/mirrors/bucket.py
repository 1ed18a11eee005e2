"""The files of a bucket of S3, Google Cloud Storage or Azure, through fsspec, which huggingface_hub brings; each store
has a package of its own, which reads the credentials that its own programs read."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from surefoot.documents.loaders import MAX_BYTES, loader_of, needs_head
from surefoot.documents.mirrors import Item, Tell
from surefoot.network import Network
from surefoot.network.credentials import s3_endpoint
from surefoot.types.errors import NetworkError, UsageError

_STORES = {
    "s3": ("s3fs", ""),
    "gs": ("gcsfs", "storage.googleapis.com"),
    "az": ("adlfs", "blob.core.windows.net"),
}
"""By scheme, the package that reaches the store, and the store's host."""
_VERSION = ("ETag", "etag", "md5Hash", "LastModified", "last_modified", "mtime", "created", "size")


def items(source: str, network: Network, tell: Tell) -> Iterator[Item]:
    """Each file of a kind that is read. Raises UsageError and NetworkError."""
    from fsspec.core import url_to_fs

    package, host = _STORES.get(urlsplit(source).scheme, ("", ""))
    if package == "s3fs":
        host, _ = s3_endpoint()
    if host:
        network.require(host)
    try:
        with _faults(f"{source} cannot be listed", "; check its name and your login"):
            store, root = url_to_fs(source)
            found = store.find(root, detail=True)
    except ImportError:
        raise UsageError(f"{source} is reached by another package; run: pip install {package}") from None
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
    with _faults("it cannot be fetched"):
        return bytes(store.cat_file(name))


@contextmanager
def _faults(what: str, remedy: str = "") -> Iterator[None]:
    """Turn a store's error into a NetworkError, with its kind alone: its text may quote a signed address.

    Any error, since what a store raises has no common base: OSError of fsspec, beside it those of botocore (s3fs),
    aiohttp and google.auth (gcsfs), azure.core and ValueError (adlfs), none of which need be installed.
    """
    try:
        yield
    except ImportError:
        raise
    except Exception as error:  # noqa: BLE001 - as the docstring says
        raise NetworkError(f"{what} ({type(error).__name__}){remedy}") from None
