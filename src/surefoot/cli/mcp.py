"""`surefoot mcp`: tools for the clients of language models."""

import os
from pathlib import Path
from typing import Annotated

from typer import Option

from surefoot.cli._configuration import ConfigFile, IndexFile, Settings, configured, with_extra
from surefoot.cli.serve import serve, server_settings
from surefoot.types.errors import UsageError


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
    protocol = with_extra("surefoot.server.mcp", "surefoot mcp", "mcp")
    if directory:
        try:
            os.chdir(directory)
        except OSError as error:
            raise UsageError(f"{directory} is no folder to work in: {error.strerror}") from error
    if http:
        serve(no_browser=True, index=index, config=config, settings=settings)
        return
    whole = configured(config, settings, index)
    protocol.run(server_settings(whole), whole)
