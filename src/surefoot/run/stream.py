"""The events of a question as they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

from surefoot.run.recorder import Listener
from surefoot.types import Event, Trace


async def streamed(ask: Callable[[Listener], Awaitable[Trace]]) -> AsyncGenerator[Event, None]:
    """Yield each event that `ask` hands its listener, from whichever thread; raise what it raises. Closing cancels."""
    heard: asyncio.Queue[Event | None] = asyncio.Queue()
    tell = asyncio.get_running_loop().call_soon_threadsafe

    def listen(event: Event) -> None:
        tell(heard.put_nowait, event)

    asking = asyncio.ensure_future(ask(listen))
    asking.add_done_callback(lambda _: heard.put_nowait(None))
    try:
        while event := await heard.get():
            yield event
        await asking
    finally:
        asking.cancel()
        await asyncio.wait([asking])
