"""The Model Context Protocol over standard input and output, as `surefoot mcp` speaks it."""

from __future__ import annotations

import asyncio
from threading import Thread

from mcp.server.stdio import stdio_server

from surefoot.config.settings import Config
from surefoot.server.app import assembled, warm
from surefoot.server.mcp import protocol_server
from surefoot.server.service import Service
from surefoot.server.settings import ServerSettings

__all__ = ["ServerSettings", "run"]


def run(settings: ServerSettings, config: Config) -> None:
    """Answer whoever started this process, until the input ends. It may see every collection, and needs no key."""
    service = assembled(settings, config)
    Thread(target=warm, args=(service,), name="warm", daemon=True).start()
    try:
        asyncio.run(_answering(service))
    finally:
        service.workers.close()


async def _answering(service: Service) -> None:
    server = protocol_server(service)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
