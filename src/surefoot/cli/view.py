"""`surefoot report` and `surefoot view`: an evaluation as a page, in a file or in the browser."""

from __future__ import annotations

import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from surefoot.cli._console import out
from surefoot.evaluate.report.page import page, read, shared
from surefoot.evaluate.report.server import Server
from surefoot.run.store import write_text

RunFolder = Annotated[Path, Argument(metavar="RUN", help="The folder of an evaluation.")]


def report(
    run: RunFolder,
    one_file: Annotated[
        Path | None,
        Option("--one-file", metavar="FILE", help="Write it here, instead of report.html in the run's folder."),
    ] = None,
    share_safe: Annotated[
        bool, Option("--share-safe", help="Every figure, and no text: neither records nor what is said of them.")
    ] = False,
) -> None:
    """Write an evaluation as one HTML file, from the dashboard down to each record.

    The file opens anywhere, offline.
    """
    contents = shared(read(run)) if share_safe else read(run)
    file = one_file or run / "report.html"
    text = page(contents)
    write_text(file, text)
    size = len(text.encode()) / 1e6
    out.say(f"{file}: {len(contents.records):,} records, {size:.1f} MB")


def view(
    run: RunFolder, no_browser: Annotated[bool, Option("--no-browser", help="Only say the address.")] = False
) -> None:
    """Show an evaluation in the browser, on this machine only.

    Reload the page to see what has come since. Nobody else can reach it.
    """
    read(run)
    with Server(run) as server:
        out.print(f"{server.url}\nOn this machine only, for whoever has the address. Ctrl-C ends it.", soft_wrap=True)
        if not no_browser:
            webbrowser.open(server.url)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
