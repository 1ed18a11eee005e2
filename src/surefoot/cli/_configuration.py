"""The options that make a configuration, and what a command may take of one that was recorded."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from typer import Option

from surefoot.cli import trusting
from surefoot.cli._console import err
from surefoot.config import consent
from surefoot.config.settings import Config, read, settings
from surefoot.config.trust import Own, Rebuilt, rebuilt
from surefoot.text.json_values import parsed
from surefoot.types.errors import FieldFault, UnagreedCode
from surefoot.types.metadata import Filter, written

ConfigFile = Annotated[
    str | None, Option("--config", metavar="FILE", help="Configuration; surefoot.toml here is read unasked.")
]
Settings = Annotated[
    list[str] | None, Option("--set", metavar="A.B=C", help="Override one setting; again for one more.")
]
IndexFile = Annotated[str | None, Option("--index", metavar="FILE", help="The index, instead of .surefoot/index.db.")]

CollectionName = Annotated[
    str | None, Option("--collection", metavar="NAME", help="A collection of the index, instead of its default one.")
]
Filters = Annotated[
    list[str] | None,
    Option(
        "--filter",
        metavar="KEY=VALUE",
        help="Only documents whose field is so; also != < <= > >=, again for one more, or a JSON object.",
    ),
]


def configured(config: str | None, sets: list[str] | None, index: str | None, collection: str | None = None) -> Config:
    """The configuration of a command: file, then --index and --collection, then each --set."""
    named = {key: name for key, name in (("path", index), ("collection", collection)) if name}
    return agreed(config, *([{"index": named}] if named else []), *settings(sets or []))


def filtering(texts: list[str] | None) -> Filter:
    """The filter of each --filter, all of which must hold. Raises FieldFault."""
    terms = [text for text in texts or [] if not text.lstrip().startswith("{")]
    tables = [text for text in texts or [] if text.lstrip().startswith("{")]
    try:
        whole = [Filter.of(parsed(text)) for text in tables]
    except ValueError as error:
        raise FieldFault(f"--filter is not JSON: {error}") from error
    return Filter(tuple(condition for one in (written(terms), *whole) for condition in one.conditions))


def agreed(config: str | Mapping[str, Any] | None, *overrides: Mapping[str, Any]) -> Config:
    """`config.read`. A file that names code is asked about once in a folder, where there is a terminal to ask on."""
    try:
        found = read(config, *overrides, trusted=trusting.get())
    except UnagreedCode as error:
        if not (sys.stdin.isatty() and err.is_terminal and _agree(error)):
            raise
        found = read(config, *overrides)
    return found


def as_recorded(recorded: Mapping[str, Any], origin: str, sets: list[str] | None) -> Config:
    """The configuration of a trace or a run; what it may not say is the user's own. Then each --set."""
    found = rebuilt(recorded, owned(sets))
    say(found, origin)
    return found.config


def owned(sets: list[str] | None) -> Own:
    """The user's own word on a record: surefoot.toml, each --set, and --trust."""
    return Own(agreed(None), settings(sets or []), trusting.get())


def say(found: Rebuilt, origin: str) -> None:
    """Say which code of a record is trusted, before any is imported, and which settings were not taken."""
    for name in found.imports:
        err.say(f"{origin} is trusted to name {name}, from {consent.origin(name)}")
    if found.left:
        notice = f"not taken from {origin}: {', '.join(found.left)}; files, machines and keys are yours to name"
        err.say(f"{notice}: --set {found.left[0]}=…, or surefoot.toml", "dim")


def _agree(error: UnagreedCode) -> bool:
    err.print("The configuration names code that was never used in this folder:")
    for name in error.names:
        err.say(f"{name}, from {consent.origin(name)}")
    answer = typer.confirm("Import and run it, now and later?", err=True)
    if answer:
        consent.remember(error.names)
    return answer
