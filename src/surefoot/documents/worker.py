"""The process that reads untrusted files and pages, and that can be killed without harm to any other process.

It takes requests from its input, one a line, each page's bytes behind its request, and writes its finds to its output
as lines of JSON; `reader_pool` starts it and understands them. It cuts documents into passages too, by the function
that it is started with. JSON and not pickle: a file that takes this process over
would take over whoever unpickles its output.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from base64 import b64encode
from collections.abc import Callable, Iterable
from importlib import import_module
from math import ceil
from pathlib import PurePath
from time import process_time
from typing import Any, BinaryIO

from surefoot.documents import limits
from surefoot.documents.loaders import MAX_BYTES, STREAMED, Document, DocumentProblem, Unreadable, read
from surefoot.documents.storable import clean, content_hash, digest, size, storable
from surefoot.types import Passage

try:
    import resource
except ImportError:  # Windows, where the clock and the count of characters have to do
    resource = None  # type: ignore[assignment]

_LINE = 60_000
"""Characters after which a line ends, so that neither side holds much of a long file."""


Cut = Callable[[Document, str, str], Iterable[Passage]]
"""From a document, its path and the name space of its ids to its passages."""

Reader = Callable[[BinaryIO, str], Iterable[Document | DocumentProblem]]


def serve(cut: Cut) -> None:
    """Answer requests until the input ends, none has come for a while, or the memory has run out."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library may print, in Python or in C
    _confine()
    ready = _Answer(answers, 0, cut)
    ready.say("ready")
    ready.send()
    while line := _next(requests):
        if not _answered(json.loads(line), requests, answers, cut):
            break  # the memory that is left may be fragmented; the next file gets a fresh process


def _confine() -> None:
    if resource:
        _limit(resource.RLIMIT_CORE, 0)
        _limit(resource.RLIMIT_FSIZE, limits.WRITTEN)
        if sys.platform == "linux":  # macOS takes the limit and does not keep to it
            _limit(resource.RLIMIT_AS, limits.MEMORY)


def _limit(kind: int, most: int) -> None:
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _next(requests: BinaryIO) -> bytes:
    """The next request, or b"" at the end of the input. Ends this process where none comes for long."""
    if not hasattr(signal, "alarm"):
        return requests.readline()
    signal.signal(signal.SIGALRM, lambda *_: sys.exit())
    signal.alarm(limits.IDLE)
    line = requests.readline()
    signal.alarm(0)
    return line


def _answered(request: dict[str, Any], requests: BinaryIO, answers: BinaryIO, cut: Cut) -> bool:
    """Read a file or page, whatever it holds, and write the answer; False: the memory was not enough.

    Every error becomes a problem of this file: whatever a library does with it costs no other.
    """
    if resource:
        _limit(resource.RLIMIT_CPU, ceil(process_time()) + request["seconds"])
    answer = _Answer(answers, request["characters"], cut)
    body = requests.read(request["size"]) if request["path"] is None else None
    try:
        if body is None:
            _file(request, answer)
        elif request["picture"]:
            answer.value(b64encode(_module("page_picture").drawn(body, request["picture"])).decode())
        elif request["article"]:
            answer.value(_article(body))
        else:
            is_html = PurePath(request["name"]).suffix == ".html"
            _give(io.BytesIO(body), _module("main_text").read if is_html else read, request, answer)
    except Unreadable as error:
        answer.problem(str(error))
    except MemoryError:
        answer.fits = False
        answer.problem(f"needs more than {limits.MEMORY / 1e9:g} GB of memory to be read; split it")
    except OSError as error:
        answer.problem(f"cannot be read: {error.strerror or error}")
    except Exception as error:  # noqa: BLE001 - the border of this process, as the command line is of its own
        answer.problem(f"cannot be read ({type(error).__name__}: {str(error)[:200]})")
    answer.say("end", answer.digest, answer.same)
    answer.send()
    return answer.fits


def _module(name: str) -> Any:
    """A module of this folder, imported as a loader is: most who read need none of it."""
    return import_module(f"surefoot.documents.{name}")


def _file(request: dict[str, Any], answer: _Answer) -> None:
    """Read a file, unless its hash is the known one.

    The hash is of what is read, or was there before it: a file that is written meanwhile is read again next time.
    """
    with open(request["path"], "rb") as file:
        source: io.BufferedReader | io.BytesIO = file
        if PurePath(request["name"]).suffix.lower() not in STREAMED:
            source = io.BytesIO(_content(file, max(request["size"], MAX_BYTES)))
        answer.digest = content_hash(source).hex()
        answer.same = answer.digest == request["known"]
        if not answer.same:
            source.seek(0)
            _give(source, read, request, answer)


def _content(file: BinaryIO, most: int) -> bytes:
    content = file.read(most + 1)
    if len(content) > most:
        raise Unreadable(f"has grown to more than {most / 1e6:.1f} MB since it was found; run it again")
    return content


def _give(stream: BinaryIO, reader: Reader, request: dict[str, Any], answer: _Answer) -> None:
    for item in reader(stream, request["name"]):
        answer.at = stream.tell()
        if isinstance(item, DocumentProblem):
            answer.problem(item.reason, item.skipped)
        else:
            answer.document(storable(item), request["url"], request["space"])


def _article(body: bytes) -> tuple[str, bool, list[tuple[str, str]]]:
    article = _module("article")
    tree = import_module("surefoot.documents.loaders.html").parsed(body)
    ambiguous = article.tells_apart(tree)
    links = [(clean(address), clean(line)) for address, line in article.links(tree)]
    return "\n".join(map(clean, article.lines(tree))), ambiguous, links


class _Answer:
    """Writes the finds for one request: items in lines, with at most `most` characters of text in all."""

    def __init__(self, out: BinaryIO, most: int, cut: Cut) -> None:
        self.at = 0
        """Bytes of the file read so far."""
        self.fits = True
        """Whether the memory was enough."""
        self.digest: str | None = None
        """Hash of the file that is read."""
        self.same = False
        """Whether it is the known one."""
        self._out = out
        self._most = most
        self._cut = cut
        self._given = 0
        self._items: list[tuple[Any, ...]] = []
        self._size = 0

    def problem(self, reason: str, skipped: bool = True) -> None:
        """Say what was not read, or only with a reservation."""
        self.say("problem", self.at, reason, skipped)

    def document(self, document: Document, path: str, space: str) -> None:
        """Say a document's passages, then the document. Raises Unreadable where the file yields too much text."""
        for passage in self._cut(document, path, space):
            self._count(len(passage.id) + len(passage.text) + len(passage.title) + len(passage.url or ""))
            self._count(sum(len(place) for _, place in passage.places))
            self.say("passage", passage.id, passage.text, passage.title, passage.url, passage.start, passage.places)
        self._count(len(document.key) + len(document.title))
        fields = document.title, size(document), dict(document.meta)
        self.say("document", self.at, document.key, document.id, digest(document), *fields)

    def value(self, value: Any) -> None:
        """Say what is no document. Raises Unreadable where the page yields too much text."""
        self._count(len(json.dumps(value)))
        self.say("value", value)

    def _count(self, characters: int) -> None:
        self._given += characters
        self._size += characters
        if self._given > self._most:
            raise Unreadable(f"gives more than {self._most / 1e6:.0f} million characters of passages; split it")

    def say(self, *item: Any) -> None:
        """Add an item; a full line is written, and waits until it is taken."""
        self._items.append(item)
        if self._size > _LINE:
            self.send()

    def send(self) -> None:
        """Write the items that are left."""
        self._out.write(json.dumps(self._items).encode() + b"\n")
        self._out.flush()
        self._items.clear()
        self._size = 0
