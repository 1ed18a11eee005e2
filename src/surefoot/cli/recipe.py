"""`surefoot recipe`: configurations of the papers and of the agentic variants, with what each needs and runs."""

from importlib.resources import files
from itertools import takewhile
from typing import Annotated

from typer import Argument, Option

from surefoot.cli._console import out
from surefoot.components import misnamed
from surefoot.config.settings import FILE
from surefoot.run.store import write_text
from surefoot.types.errors import UsageError


def recipe(
    name: Annotated[str | None, Argument(help="Which; unnamed: list them.")] = None,
    overwrite: Annotated[bool, Option("--overwrite", help=f"In place of a {FILE} that is there.")] = False,
) -> None:
    """Write the configuration of a paper or an agentic variant, and print what to fetch and to run."""
    known = recipes()
    if name is None:
        for each, text in known.items():
            out.print(f"{each:{max(map(len, known))}}  {lines_to_print(text)[0]}", soft_wrap=True)
        return
    if name not in known:
        raise UsageError(misnamed("no recipe called", name, known))
    if FILE.exists() and not overwrite:
        raise UsageError(f"{FILE} is there already; go to another folder, or write over it by --overwrite")
    write_text(FILE, known[name])
    out.print("\n".join([*lines_to_print(known[name]), "", f"The configuration is in {FILE}."]), soft_wrap=True)


def recipes() -> dict[str, str]:
    """The configurations by name, each with what it is, needs and runs in the comment that it begins with."""
    found = [one for one in files("surefoot").joinpath("recipes").iterdir() if one.name.endswith(".toml")]
    return {one.name.removesuffix(".toml"): one.read_text("utf-8") for one in sorted(found, key=lambda one: one.name)}


def lines_to_print(text: str) -> list[str]:
    """The lines of the comment that a recipe begins with; the first says what it is."""
    comment = takewhile(lambda line: line.startswith("#"), text.splitlines())
    return [line.removeprefix("#").removeprefix(" ") for line in comment]
