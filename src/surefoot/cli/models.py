"""`surefoot models`: the model files on this machine."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from surefoot.cli._configuration import agreed
from surefoot.cli._console import out, pulling
from surefoot.config.builder import Builder
from surefoot.models import fetch, registry


def pull(
    names: Annotated[
        list[str] | None, Argument(metavar="[NAME]...", help="Models by name; without one, all but large ones.")
    ] = None,
    source: Annotated[Path | None, Option("--from", metavar="FILE", help="Take it from this local file.")] = None,
) -> None:
    """Fetch model files, check them, and keep them; an interrupted fetch goes on."""
    network = Builder(agreed(None)).network
    with pulling():
        for name in names or [name for name, model in registry.REGISTRY.items() if not model.named]:
            out.say(f"{name}: {fetch.pull(name, source, network)}")
