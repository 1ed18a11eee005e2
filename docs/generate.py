"""Write the pages of the docs that can be read off the code, and check the others: python docs/generate.py [--check].

Writes docs/reference/, the tables between the markers in docs/roles/, and the picture of the layers. With --check it
writes nothing, names each stale page, and exits with 1. Either way it reports links that lead nowhere, and names of
files and modules that do not exist. tests/test_blocks.py runs the examples.
"""

import ast
import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# Before Typer is imported, which reads them then: the same pages on every machine, also on one that forces colour.
os.environ.update(COLUMNS="88", TERMINAL_WIDTH="88", TERM="dumb", NO_COLOR="1", _TYPER_FORCE_DISABLE_TERMINAL="1")

import api
import layers
from typer.main import get_command
from typer.testing import CliRunner

from surefoot import components
from surefoot.cli import COMMANDS, app
from surefoot.cli._commands import START, CommandGroup, LateCommand
from surefoot.config.options import MADE_OF, SHARED
from surefoot.config.settings import DEFAULTS
from surefoot.evaluate.records.paths import FORMATS
from surefoot.evidence.policies import PRESETS
from surefoot.pipeline import Pipeline
from surefoot.types import Thresholds
from surefoot.types.errors import MissingExtra
from surefoot_lab.cli import COMMANDS as LAB

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
NOTE = "<!-- Written by docs/generate.py; change the code, not this page. -->\n"
EXITS = """\
Exit codes: 0 done, also if the answer is a refusal; 1 an answer that is no (`trace --replay`, `gate`, `doctor`, `lab
tune`, `lab drift`); 2 a mistake of yours; 3 a part that failed; 130 interrupted. An error is a line on standard error.
With a bare `--json` it is printed on standard output instead: `{"error": "ConfigError", "code": 2, "messages": ["…"]}`.

`surefoot --install-completion` teaches your shell the commands and options.
"""
ROLES = [*components.GROUPS]
LISTS = {option: names for parts in MADE_OF.values() for option, names in parts.items()}
"""Options that a constructor requires and a configuration need not name, with their defaults."""

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHIPPED = re.compile(r"\bminilm-[0-9a-f]{8}\b")
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_FILE = re.compile(r"`([\w/]+\.py)`")
_PROGRAM = re.compile(r"\bpython3? ((?:lab|docs|examples)/[\w/]+\.py)")
_CALL = re.compile(r"(?:^(?:    )?(?:\$ )?|`)surefoot ((?:\\\n|[^`#\n])+)", re.MULTILINE)
_OPTION = re.compile(r"--[a-z][a-z0-9-]*")
_DOTTED = re.compile(r"\bsurefoot(?!\.toml\b)(?:\.\w+)+")


def main(arguments: list[str]) -> int:
    """Write or check all pages. The exit code is 1 if a page is stale and may not be written, or is broken."""
    check = arguments == ["--check"]
    if arguments and not check:
        print(f"python docs/generate.py [--check], not {' '.join(arguments)}")
        return 2
    faults = [fault for page, text in generated() if (fault := _settled(page, text, check))]
    faults += [fault for page in pages() for fault in broken(page)]
    print("\n".join(faults) or "the docs are as the code says")
    return 1 if faults else 0


def generated() -> Iterator[tuple[Path, str]]:
    """Yield each page that is written, with its text."""
    yield DOCS / "reference" / "commands.md", commands()
    yield DOCS / "reference" / "configuration-defaults.md", defaults()
    yield api.TARGET, NOTE + api.page(_table)
    yield layers.TARGET, layers.picture(layers.layers())
    yield DOCS / "evaluate.md", filled(DOCS / "evaluate.md", "columns", columns())
    for role in ROLES:
        yield DOCS / "roles" / f"{role}.md", filled(DOCS / "roles" / f"{role}.md", f"built-ins of {role}", table(role))


def commands() -> str:
    """Return the output of `--help` for every command."""
    parts = [NOTE, "# Commands\n", EXITS, "What `--help` prints, and `-h`:\n"]
    for path in _paths(get_command(app), ()):
        output = CliRunner().invoke(app, [*path, "--help"], prog_name="surefoot").output
        lines = "\n".join(line.rstrip() for line in output.strip().splitlines())
        parts.append(f"## {' '.join(('surefoot', *path))}\n\n```text\n{lines}\n```\n")
    return "\n".join(parts)


def _paths(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield path
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        if name != "lab":
            yield from _paths(inner, (*path, name))


def filled(page: Path, what: str, table: str) -> str:
    """Return the page with the table between the markers of `what`."""
    begin, end = f"<!-- {what}: written by docs/generate.py -->\n", "<!-- end -->\n"
    before, marker, rest = page.read_text(encoding="utf-8").partition(begin)
    if not marker or end not in rest:
        raise SystemExit(f"{page.relative_to(ROOT)} lacks the markers {begin.strip()} and {end.strip()}")
    return before + begin + table + end + rest.partition(end)[2]


def columns() -> str:
    """Return the paths at which fields of records are looked for."""
    named = {**FORMATS["columns"], "tags": FORMATS["tags"]}
    return _table(
        ["Field", "Where it is looked for"], [[f"`{field}`", ", ".join(names)] for field, names in named.items()]
    )


def table(role: str) -> str:
    """Return the built-ins of a role as a table, without those that other packages plug in here."""
    rows = {name: [f"`{name}`", _options(make), _about(make)] for name, make in _built_in(role)}
    rows |= {name: _as_written(role, name) for name in _without_their_extra(role)}
    return _table(["`use =`", "Options, with their defaults", "What it is"], [rows[name] for name in sorted(rows)])


def _built_in(role: str) -> list[tuple[str, Callable[..., Any]]]:
    return [(c.name, components.find(role, c.name)) for c in _components() if c.role == role and not c.missing]


def _without_their_extra(role: str) -> list[str]:
    return [c.name for c in _components() if c.role == role and c.missing]


def _as_written(role: str, name: str) -> list[str]:
    """Return the cells that the role's page has: a component that cannot be imported here stays as it is."""
    page = (DOCS / "roles" / f"{role}.md").read_text(encoding="utf-8")
    for line in page.splitlines():
        if line.startswith(f"| `{name}` | "):
            return line.removeprefix("| ").removesuffix(" |").replace("\\|", "|").split(" | ")
    raise SystemExit(f"docs/roles/{role}.md has no line for {name}; install its extra, which it is written from")


@cache
def _components() -> list[components.Component]:
    return [component for component in components.components() if component.origin == "surefoot"]


def _options(make: Callable[..., Any]) -> str:
    options = [p for p in inspect.signature(make).parameters.values() if p.name not in SHARED]
    return ", ".join(_option(option) for option in options) or "none"


def _option(option: inspect.Parameter) -> str:
    if option.name in LISTS:
        return f"`{option.name} = {_toml(LISTS[option.name])}`"
    if option.default is option.empty:
        return f"`{option.name}` (required)"
    return f"`{option.name}`" if option.default is None else f"`{option.name} = {_toml(option.default)}`"


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(inner)}" for key, inner in value.items()) + " }"
    return json.dumps(value)


def _about(make: Callable[..., Any]) -> str:
    return (inspect.getdoc(make) or "").partition("\n")[0]


def defaults() -> str:
    """Return the default configuration and all thresholds."""
    own = {field.name: field.default for field in fields(Pipeline) if isinstance(field.default, int)}
    sections = "\n\n".join(_section(name, values) for name, values in {**DEFAULTS, "pipeline": own}.items())
    return "\n".join(
        [
            NOTE,
            "# Defaults\n",
            f"The configuration if nothing is set:\n\n```toml\n{sections}\n```\n",
            f"## Thresholds of the evaluators\n\n{_thresholds(_fitted())}",
            f'## Presets\n\nFor `[thresholds] preset = "…"`.\n\n{_thresholds(PRESETS)}',
        ]
    )


def _section(name: str, values: dict[str, Any]) -> str:
    return "\n".join([f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in values.items())])


def _fitted() -> dict[str, Thresholds]:
    """Return thresholds by evaluator, or by evaluator and embedder."""
    found: dict[str, Thresholds] = {}
    for name, make in _built_in("evaluator"):
        needs = any(p.default is p.empty for p in inspect.signature(make).parameters.values())
        if isinstance(own := getattr(make if needs else make(), "thresholds", None), Thresholds):
            found[name] = own
        by_embedder = getattr(import_module(make.__module__), "FITTED", {})
        found |= {f"{name}, over {embedder}": fitted for embedder, fitted in sorted(by_embedder.items())}
    return found


def _thresholds(named: dict[str, Thresholds]) -> str:
    rows = [
        [name, str(own.upper), str(own.lower), str(own.strip), f"`{own.evaluator}`", own.fitted_on]
        for name, own in named.items()
    ]
    return _table(["", "upper (τ+)", "lower (τ−)", "strip", "scores of", "from"], rows)


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _settled(page: Path, text: str, check: bool) -> str:
    """Write the page if it differs; with `check` return the fault instead."""
    if page.exists() and page.read_text(encoding="utf-8") == text:
        return ""
    if check:
        return f"{page.relative_to(ROOT)} is stale; run: python docs/generate.py"
    page.parent.mkdir(exist_ok=True)
    page.write_text(text, encoding="utf-8")
    return ""


def pages() -> list[Path]:
    """Return the pages that are checked."""
    benchmarks = ROOT / "lab" / "benchmarks"
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted([*DOCS.rglob("*.md"), *benchmarks.rglob("*.md")])]


def broken(page: Path) -> Iterator[str]:
    """Yield the faults of a page: broken links, files, modules and functions that do not exist, a former name of the
    shipped evaluator."""
    text, name = page.read_text(encoding="utf-8"), page.relative_to(ROOT)
    prose = _FENCE.sub("", text)
    for link in _LINK.findall(prose):
        if not (re.match(r"\w+:", link) or _exists(page, link)):
            yield f"{name}: there is no {link}"
    for file in sorted(set(_FILE.findall(prose))):
        if not any(f"/{path}".endswith(f"/{file}") for path in _sources()):
            yield f"{name}: there is no file {file}"
    for program in sorted(set(_PROGRAM.findall(text))):
        if not (ROOT / program).exists():
            yield f"{name}: there is no {program}"
    for call in sorted(set(_CALL.findall(text))):
        yield from (f"{name}: {fault}" for fault in _misused(call))
    for dotted in sorted(set(_DOTTED.findall(prose)) | _imported(text)):
        if not (_is_there(dotted) or dotted in components.GROUPS.values()):
            yield f"{name}: there is no {dotted}"
    for old in sorted(set(_SHIPPED.findall(text)) - {_shipped()}):
        yield f"{name}: the shipped evaluator is {_shipped()}, not {old}"


@cache
def _sources() -> tuple[str, ...]:
    folders = (ROOT / name for name in ("src", "tests", "lab", "examples", "docs"))
    return ("dev.py", *(path.as_posix() for folder in folders for path in folder.rglob("*.py")))


def _misused(call: str) -> Iterator[str]:
    """Yield the faults of a call of `surefoot` in a page: no such command, or an option that the command lacks."""
    words = call.split()
    path = next((tuple(words[:n]) for n in (3, 2, 1) if tuple(words[:n]) in _options_of()), None)
    if path is None:
        if re.fullmatch("[a-z]+", words[0]) and words[0] != "lab":
            yield f"there is no command 'surefoot {words[0]}'"
        return
    for option in sorted({*_OPTION.findall(call)} - _options_of()[path]):
        yield f"'surefoot {' '.join(path)}' has no {option}"


@cache
def _options_of() -> dict[tuple[str, ...], frozenset[str]]:
    """Return the options of each command, those of the lab behind "lab"."""
    lab = CommandGroup(name="lab", listing=LAB)
    return {**_walked((), CommandGroup(listing=COMMANDS)), **_walked(("lab",), lab)}


def _walked(path: tuple[str, ...], group: CommandGroup) -> dict[tuple[str, ...], frozenset[str]]:
    found: dict[tuple[str, ...], frozenset[str]] = {}
    for name, inner in group.commands.items():
        command: Any = inner.imported() if isinstance(inner, LateCommand) else inner
        if isinstance(command, CommandGroup):
            found |= _walked((*path, name), command)
            command = command.commands.get(START, command)
            command = command.imported() if isinstance(command, LateCommand) else command
        found[*path, name] = frozenset({"--help", *(o for p in command.params for o in (*p.opts, *p.secondary_opts))})
    return found


def _imported(text: str) -> set[str]:
    """Return the dotted names that the page's Python examples import from this package."""
    blocks = [block for language, block in _FENCE.findall(text) if language == "python"]
    try:
        nodes = [node for block in blocks for node in ast.walk(ast.parse(block))]
    except SyntaxError:
        return set()
    froms = [node for node in nodes if isinstance(node, ast.ImportFrom) and str(node.module).startswith("surefoot")]
    return {f"{node.module}.{alias.name}" for node in froms for alias in node.names}


def _is_there(dotted: str) -> bool:
    """Tell if this names a module or something in one; a module that cannot be imported here passes."""
    module, _, attribute = dotted.rpartition(".")
    try:
        if find_spec(dotted):
            return True
    except ModuleNotFoundError:  # its parent is no package
        pass
    except MissingExtra:
        return True
    try:
        return hasattr(import_module(module), attribute)
    except ImportError as error:
        return not str(error.name).startswith("surefoot")


@cache
def _shipped() -> str:
    return str(components.find("evaluator", "minilm")().name)


def _exists(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    return target.exists() and (not anchor or anchor in _anchors(target.read_text(encoding="utf-8")))


def _anchors(text: str) -> set[str]:
    """Return the anchors of its headings, as GitHub names them."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
