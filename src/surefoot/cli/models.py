"""`surefoot models`: the model files on this machine."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from surefoot.cli._configuration import agreed
from surefoot.cli._console import out, pulling, tabled
from surefoot.config.builder import Builder
from surefoot.models import registry

Names = Annotated[
    list[str] | None, Argument(metavar="[NAME]...", help="Models by name; without one, all but large ones.")
]


def list_models(
    names: Names = None,
    verify: Annotated[bool, Option("--verify", help="Read the files in full, and compare their hashes.")] = False,
) -> None:
    """List the models: size, licence, source, and whether each is on this machine.

    Exit code 3 when one is damaged.
    """
    read = names or ([*registry.REGISTRY] if verify else [])
    states = [registry.verify(name) for name in read] or registry.status()
    rows = [
        (model.name, one.state, model.licence, model.what, str(model.sources[0]), f"{model.size / 1e6:.1f}")
        for one in states
        for model in (one.model,)
    ]
    out.print(tabled(["Name", "State", "Licence", "What it is", "From"], ["MB"], rows))
    out.say(f"kept in {registry.cache_dir()}", "dim")
    damaged = [one for one in states if one.state == "damaged"]
    for one in damaged:
        out.say(f"{one.model.name}: {one.reason}")
    if damaged:
        raise typer.Exit(3)


def pull(
    names: Names = None,
    source: Annotated[Path | None, Option("--from", metavar="FILE", help="Take it from this local file.")] = None,
) -> None:
    """Fetch model files, check them, and keep them; an interrupted fetch goes on."""
    network = Builder(agreed(None)).network
    with pulling():
        for name in names or [name for name, model in registry.REGISTRY.items() if not model.named]:
            out.say(f"{name}: {registry.pull(name, source, network)}")
