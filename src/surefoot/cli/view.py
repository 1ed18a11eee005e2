"""`surefoot view`: an evaluation as a page, in the browser or in a file to hand on."""

import webbrowser
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from surefoot.cli._console import out
from surefoot.evaluate.report.page import page, read, shared
from surefoot.run.store import write_text


def view(
    run: Annotated[Path, Argument(metavar="RUN", help="The folder of an evaluation.")],
    html: Annotated[
        Path | None, Option("--html", metavar="FILE", help="Write the page here, and open no browser.")
    ] = None,
    share_safe: Annotated[
        bool, Option("--share-safe", help="Every figure, and no text: neither records nor what is said of them.")
    ] = False,
    no_browser: Annotated[bool, Option("--no-browser", help="Only write report.html into the run's folder.")] = False,
) -> None:
    """Show an evaluation, from the dashboard down to each record, as one HTML page.

    The page stands in the run's folder as report.html; it opens anywhere, offline.
    """
    contents = shared(read(run)) if share_safe else read(run)
    file, text = html or run / "report.html", page(contents)
    write_text(file, text)
    out.say(f"{file}: {len(contents.records):,} records, {len(text.encode()) / 1e6:.1f} MB")
    if not html and not no_browser:
        webbrowser.open(file.resolve().as_uri())
