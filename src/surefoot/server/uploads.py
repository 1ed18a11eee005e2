"""Files of strangers on their way into a collection's folder: names made harmless, whole or not at all."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex
from typing import IO

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from surefoot.server.bodies import too_large
from surefoot.server.problems import Problem, invalid

MOST_FILES = 1000
"""Files of one upload."""
LONGEST_NAME = 150
"""Bytes of a file's name, which 255 is the limit of on most disks; what is longer loses its middle."""
_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]')
_CHUNK = 1 << 20


def safe(name: str) -> str:
    """The name without folders, leading dots and characters that a disk or a reader trips over; "" for none."""
    last = re.split(r"[/\\]", name)[-1]
    clean = " ".join(_UNSAFE.sub(" ", last).split()).strip(". ")
    return _shortened(clean)


def _shortened(name: str) -> str:
    if len(name.encode()) <= LONGEST_NAME:
        return name
    stem, dot, suffix = name.rpartition(".")
    end = f"{dot}{suffix}" if stem and len(suffix.encode()) < 20 else ""
    return (stem if end else name).encode()[: LONGEST_NAME - len(end.encode())].decode("utf-8", "ignore") + end


async def received(request: Request, most: int, seconds: float) -> FormData:
    """The fields and files of a multipart body of at most so many bytes. Raises Problem; close the files."""
    taken = 0

    async def receive() -> Message:
        nonlocal taken
        message = await request.receive()
        taken += len(message.get("body", b""))
        if taken > most:
            raise MultiPartException("too large")  # the one error at which the parser closes its files
        return message

    try:
        async with asyncio.timeout(seconds):
            return await Request(request.scope, receive).form(max_files=MOST_FILES)
    except TimeoutError:
        raise Problem(408, "too_slow", f"the upload did not arrive within {seconds:g} s; send less at a time") from None
    except (HTTPException, MultiPartException) as error:
        raise too_large(most) if taken > most else _garbled(str(getattr(error, "detail", error))) from None
    except ClientDisconnect:
        raise Problem(400, "cut_off", "the upload broke off; send it again") from None


def _garbled(why: str) -> Problem:
    if "Too many" in why:
        return Problem(413, "too_many", f"an upload holds at most {MOST_FILES:,} files; send the others in another one")
    return invalid("the body is no multipart form; send each file as a part with a file name")


def kept(file: IO[bytes], folder: Path, name: str) -> None:
    """Write a file into the folder, whole or not at all, in place of one of the same name."""
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".{token_hex(8)}"  # hidden, so that no index reads it; `swept` removes what a kill leaves
    try:
        with temporary.open("xb") as out:
            for chunk in _chunks(file):
                out.write(chunk)
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, folder / name)
    finally:
        temporary.unlink(missing_ok=True)


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    while chunk := file.read(_CHUNK):
        yield chunk


def swept(folder: Path) -> None:
    """Remove what a kill in the middle of an upload left."""
    for place in folder.glob(".*"):
        place.unlink(missing_ok=True)
