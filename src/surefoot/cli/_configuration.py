"""The options that make a configuration, and what a command may take of one that was recorded."""

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer import Option

from surefoot.cli import trusting
from surefoot.cli._console import err, tamed
from surefoot.config.consent import agree
from surefoot.config.settings import Config, read, settings, worded_by
from surefoot.config.trust import Own, Rebuilt, rebuilt
from surefoot.text.json_values import parsed
from surefoot.types.errors import FieldFault, MissingExtra, UnagreedEndpoint
from surefoot.types.metadata import Filter, written

ConfigFile = Annotated[
    str | None, Option("--config", metavar="FILE", help="Configuration; surefoot.toml here is read unasked.")
]
Settings = Annotated[
    list[str] | None, Option("--set", metavar="A.B=C", help="Override one setting; again for one more.")
]
IndexFile = Annotated[str | None, Option("--index", metavar="FILE", help="The index, instead of .surefoot/index.db.")]

ModelName = Annotated[
    str | None,
    Option(
        "--model",
        metavar="MODEL",
        help="Who words the answer: local, a model's name, an endpoint's address, or none to quote.",
    ),
]
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


def configured(
    config: str | None,
    sets: list[str] | None,
    index: str | None,
    collection: str | None = None,
    model: str | None = None,
) -> Config:
    """The configuration of a command: file, then --index, --collection and --model, then each --set."""
    named = {key: name for key, name in (("path", index), ("collection", collection)) if name}
    own = [{"index": named}] if named else []
    return agreed(config, *own, *([worded_by(model)] if model else []), *settings(sets or []))


def with_extra(module: str, command: str, extra: str) -> Any:
    """The module of a command whose libraries an extra installs. Raises MissingExtra."""
    try:
        return import_module(module)
    except ImportError as error:
        if (error.name or "").startswith("surefoot"):
            raise
        raise MissingExtra(command, extra) from error


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
    """`config.read`, with code and endpoints that the file names where --trust agrees to them, or the user on the
    terminal to the endpoints."""
    try:
        return read(config, *overrides, trusted=trusting.get())
    except UnagreedEndpoint as error:
        if not (_may_ask() and typer.confirm(f"{tamed(str(error))}\nAgree?", err=True)):
            raise
        agree(error.endpoints)
    return read(config, *overrides)


def _may_ask() -> bool:
    return sys.stdin.isatty() and err.is_terminal


def as_recorded(recorded: Mapping[str, Any], origin: str, sets: list[str] | None) -> Config:
    """The configuration of a trace or a run, the user's own where a record has no say; then each --set."""
    found = rebuilt(recorded, owned(sets))
    report_ignored(found, origin)
    return found.config


def owned(sets: list[str] | None) -> Own:
    """The user's own configuration beside a record: surefoot.toml, and each --set."""
    return Own(agreed(None), settings(sets or []))


def report_ignored(found: Rebuilt, origin: str) -> None:
    """Print which settings of a record were not taken."""
    if found.left:
        notice = f"not taken from {origin}: {', '.join(found.left)}; files, machines and keys are yours to name"
        err.say(f"{notice}: --set {found.left[0]}=…, or surefoot.toml", "dim")
