"""`surefoot mcp`: tools for the clients of language models."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from surefoot.cli._configuration import ConfigFile, IndexFile, Settings, configured
from surefoot.cli.serve import serve
from surefoot.config.options import assemble
from surefoot.types.errors import MissingExtra, UsageError


def mcp(
    http: Annotated[bool, Option("--http", help="Serve it at /mcp, as surefoot serve does, without its page.")] = False,
    directory: Annotated[
        Path | None, Option("--directory", metavar="DIR", help="Work in this folder, as if started there.")
    ] = None,
    index: IndexFile = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Offer the tools ask, retrieve and grade to a client of a language model.

    Over standard input and output: clients start it themselves, and docs/server.md has what to tell them.
    """
    protocol = _protocol()
    if directory:
        try:
            os.chdir(directory)
        except OSError as error:
            raise UsageError(f"{directory} is no folder to work in: {error.strerror}") from error
    if http:
        serve(no_browser=True, index=index, config=config, settings=settings)
        return
    whole = configured(config, settings, index)
    protocol.run(assemble("[server]", protocol.ServerSettings, whole["server"], {}), whole)


def _protocol() -> Any:
    try:
        from surefoot.server import mcp
    except ImportError as error:
        if (error.name or "").startswith("surefoot"):
            raise
        raise MissingExtra("surefoot mcp", "mcp") from error
    return mcp
