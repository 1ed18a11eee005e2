"""Commands that are imported when they are called; until then a group knows their names and one line about each."""

import ast
import gc
from collections.abc import Mapping
from contextvars import ContextVar
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from surefoot.types.errors import UsageError

json_wanted: ContextVar[bool] = ContextVar("json_wanted", default=False)
"""The command prints JSON, so its errors are JSON too."""

_BadUsage: Any = typer.BadParameter.__base__
"""Click's UsageError; newer versions of Typer bring a Click of their own, under a private name."""

Listing = Mapping[str, "str | tuple[str, Listing]"]
"""By name: where a command is, as "module:function", or the first line of a group's help and its commands. A module
without a dot is one of `surefoot.cli`."""

PLUGINS = "surefoot.commands"
"""Entry points of packages that add a group of commands: each names a Listing, whose module's docstring is its help."""


LAB = "lab"
"""The group that the package surefoot-lab adds."""

START = "start"
"""The command of a group that is called where none of the group's is named."""

_CONFIGURATION = frozenset(("--config", "--set", "--index"))
"""Options that stand in a panel of their own in a command's help."""


class LateCommand(TyperCommand):
    """A command as its group lists it, not yet imported."""

    def __init__(self, name: str, where: str) -> None:
        super().__init__(name)
        module, _, self.function = where.partition(":")
        self.module = module if "." in module else f"surefoot.cli.{module}"

    def read_help(self) -> None:
        """Set the help, for a list of commands: the first paragraph of the docstring, out of the source."""
        spec: Any = find_spec(self.module)
        nodes = ast.parse(Path(spec.origin).read_bytes()).body
        function = next(one for one in nodes if isinstance(one, ast.FunctionDef) and one.name == self.function)
        self.help = (ast.get_docstring(function) or "").partition("\n\n")[0]

    def imported(self) -> Any:
        """The command itself, with its options."""
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        app.command(self.name, cls=CalledCommand)(getattr(import_module(self.module), self.function))
        gc.enable()
        command: Any = get_command(app)
        for parameter in command.params:
            parameter.rich_help_panel = "Configuration" if parameter.opts[0] in _CONFIGURATION else None
        return command


class CalledCommand(TyperCommand):
    """A command whose mistakes of usage are JSON where its results are."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The parsed words; with --json, words that do not parse raise Surefoot's own UsageError."""
        flags = {name for param in self.params if getattr(param, "is_flag", False) for name in param.opts}
        json_wanted.set("--json" in flags.intersection(args))
        try:
            return super().make_context(info_name, args, parent, **extra)
        except _BadUsage as error:
            if json_wanted.get():
                raise UsageError(error.format_message()) from error
            raise


class CommandGroup(TyperGroup):
    """A group that imports the command that is called, and no other."""

    def __init__(self, *, listing: Listing, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, one in listing.items():
            if isinstance(one, str):
                self.commands[name] = LateCommand(name, one)
            else:
                self.add_group(name, *one)

    def add_group(self, name: str, line: str, listing: Listing) -> None:
        """Add a group of commands, with the first line of its help."""
        silent = START not in listing
        self.commands[name] = CommandGroup(name=name, help=line, listing=listing, no_args_is_help=silent)

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of its commands, in the order of the help, which is known from now on."""
        for command in self.commands.values():
            if isinstance(command, LateCommand):
                command.read_help()
        return super().list_commands(ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The words that are left for the command; `START` is called where no command is named."""
        if START in self.commands and not {*args[:1]} & {*self.commands, *ctx.help_option_names}:
            args = [START, *args]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The name, the command that is called, and the words that are left for it."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.imported() if isinstance(command, LateCommand) else command, rest


class PluginGroup(CommandGroup):
    """A group with the commands of installed packages behind its own; they are looked up where no own one is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of its commands, in the order of the help."""
        self._add_plugins()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name, or None. Raises UsageError for `lab` where its package is not installed."""
        if cmd_name not in self.commands:
            self._add_plugins()
        if cmd_name == LAB and LAB not in self.commands:
            raise UsageError("`surefoot lab` comes with a package of its own: pip install surefoot-lab")
        return super().get_command(ctx, cmd_name)

    def _add_plugins(self) -> None:
        for point in entry_points(group=PLUGINS):
            if point.name not in self.commands:
                line = (import_module(point.module).__doc__ or "").partition("\n")[0]
                self.add_group(point.name, line, point.load())
