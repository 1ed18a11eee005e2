"""`surefoot models`: the model files on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from surefoot.cli._console import agreed, out, pulling
from surefoot.config.builder import Builder
from surefoot.models import registry

Names = Annotated[
    list[str] | None, typer.Argument(metavar="[NAME]...", help="Models by name; all of them if none is given.")
]


def list_models() -> None:
    """List the models: size, licence, source, and whether each is on this machine."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("Name", "State", "MB", "Licence", "What it is", "From"):
        table.add_column(heading, justify="right" if heading == "MB" else "left")
    for status in registry.status():
        model = status.model
        size = f"{model.size / 1e6:.1f}"
        table.add_row(model.name, status.state, size, model.licence, model.what, str(model.sources[0]))
    out.print(table)
    out.say(f"kept in {registry.cache_dir()}", "dim")


def pull(
    names: Names = None,
    source: Annotated[Path | None, typer.Option("--from", metavar="FILE", help="Take it from this local file.")] = None,
) -> None:
    """Fetch model files, check them, and keep them; an interrupted fetch goes on."""
    network = Builder(agreed(None)).network
    with pulling():
        for name in names or list(registry.REGISTRY):
            out.say(f"{name}: {registry.pull(name, source, network)}")


def verify(names: Names = None) -> None:
    """Read model files in full and compare their hashes; exit code 3 when one is damaged."""
    states = [registry.verify(name) for name in names or list(registry.REGISTRY)]
    for status in states:
        out.say(f"{status.model.name}: {status.state} {status.reason}".rstrip())
    if any(status.state == "damaged" for status in states):
        raise typer.Exit(3)
