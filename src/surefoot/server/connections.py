"""Connections to the server: those that ask for nothing are closed, after a while or to make room for others.

uvicorn closes a connection that is silent after an answer, and none that never asked. So a connection has the same
clock from its first moment, which no byte stops, but only a whole header; and where there are too many connections,
the one whose clock ends first is closed. Only a client that knows a key can have the server wait for a body.
"""

import asyncio
import math
from typing import cast

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST = 500
"""Connections at a time, at most: half of the files that a process may open on most systems."""
MOST_OF_ADDRESS = 200
"""Connections of one address, at most. A proxy is one address; no more than some twenty requests are worked on."""
HEADER_SECONDS = 10
"""Time for the header of a first request to arrive; that of a next one has what `timeout_keep_alive` says."""


class Connection(H11Protocol):
    """A connection that has to ask for something in time."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start its clock; close another one, or this where none asks for nothing, if there are too many."""
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(HEADER_SECONDS, self.timeout_keep_alive_handler)
        every = cast("list[Connection]", [*self.connections])
        of_address = [one for one in every if one._host == self._host]
        for group, most in ((of_address, MOST_OF_ADDRESS), (every, MOST)):
            if len(group) > most:
                idlest = min(group, key=Connection._ends)
                idlest.transport.abort()
                self.connections.discard(idlest)  # now, for others may come before it is lost
                return

    def data_received(self, data: bytes) -> None:
        """Take data in; the clock goes on where it completes no header."""
        clock, request = self.timeout_keep_alive_task, self.cycle
        self.timeout_keep_alive_task = None  # or it would be stopped
        super().data_received(data)
        if self.cycle is request:
            self.timeout_keep_alive_task = clock
        elif clock:
            clock.cancel()

    @property
    def _host(self) -> str:
        return self.client[0] if self.client else ""

    def _ends(self) -> float:
        clock = self.timeout_keep_alive_task
        return clock.when() if clock else math.inf
