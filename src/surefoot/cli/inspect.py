"""`surefoot doctor`: what is wrong, and what can be plugged in."""

from typing import Annotated

import typer
from rich.text import Text
from typer import Option

from surefoot.cli._configuration import ConfigFile, IndexFile, Settings, configured
from surefoot.cli._console import out, plain, tabled
from surefoot.components import components as all_components
from surefoot.config.doctor import examine
from surefoot.models import registry


def doctor(
    index: IndexFile = None,
    config: ConfigFile = None,
    settings: Settings = None,
    deep: Annotated[bool, Option("--deep", help="Read the model files and the whole index too.")] = False,
    components: Annotated[
        bool, Option("--components", help="List what can be plugged in where, and what is not installed.")
    ] = False,
    models: Annotated[bool, Option("--models", help="List the model files: state, licence, source and size.")] = False,
) -> None:
    """Check models, index, endpoint and disk, and say what to do; code 1: a fault."""
    if components:
        rows, role = [], ""
        for one in all_components():
            about = Text(plain(one.missing or one.about), style="yellow" if one.missing else "")
            rows.append(("" if one.role == role else one.role, one.name, one.origin, about))
            role = one.role
        out.print(tabled(["Role", "use =", "From", "What it is"], [], rows))
    if models:
        listed = [(one.model, one.state) for one in registry.status()]
        files = [(m.name, state, m.licence, m.what, str(m.sources[0]), f"{m.size / 1e6:.1f}") for m, state in listed]
        out.print(tabled(["Name", "State", "Licence", "What it is", "From"], ["MB"], files))
        out.say(f"kept in {registry.cache_dir()}", "dim")
    if components or models:
        return
    checks = examine(configured(config, settings, index), deep)
    for check in checks:
        out.print(Text("✓ " if check.ok else "✗ ", style="green" if check.ok else "red"), end="")
        out.say(f"{check.name}: {check.found}")
    if not all(check.ok for check in checks):
        raise typer.Exit(1)
