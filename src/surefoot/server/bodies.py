"""The bodies of requests, within their limits of size and time."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from surefoot.server.problems import Problem, invalid
from surefoot.server.schemas import valued
from surefoot.text.json_values import parsed

T = TypeVar("T")

SECONDS = 30
"""Time for a body of JSON to arrive."""


async def body(request: Request, kind: type[T], most: int, *, others: bool = False) -> T:
    """The value in a body of JSON of at most so many bytes. Raises Problem; `others` is that of `valued`."""
    said = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if said != "application/json":
        raise Problem(415, "media_type", "send JSON, with the header Content-Type: application/json")
    try:
        data: Any = parsed(await content(request, most, SECONDS))
    except ValueError as error:
        raise invalid(f"the body is not JSON: {error}") from error
    return valued(kind, data, others=others)


async def content(request: Request, most: int, seconds: float) -> bytes:
    """The whole body. Raises Problem where it is larger or slower."""
    found = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                found += chunk
                if len(found) > most:
                    raise too_large(most)
    except TimeoutError:
        raise Problem(408, "too_slow", f"the request did not arrive within {seconds:g} s; send it again") from None
    except ClientDisconnect:
        raise Problem(400, "cut_off", "the request broke off; send it again") from None
    return bytes(found)


def too_large(most: int) -> Problem:
    """The problem of a body of more bytes."""
    return Problem(413, "too_large", f"the request is larger than {most:,} bytes; send less at a time")
