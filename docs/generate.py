"""Write the pages of the docs that can be read off the code, and check the others: python docs/generate.py [--check].

Writes docs/reference/, the tables between the markers in docs/roles/, and the picture of the layers. With --check it
writes nothing, names each stale page, and exits with 1. Either way it reports links that lead nowhere, names of files
and modules that do not exist, and examples that do not parse.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# Before Typer is imported, which reads them then: the same pages on every machine, also on one that forces colour.
os.environ.update(COLUMNS="88", TERMINAL_WIDTH="88", TERM="dumb", NO_COLOR="1", _TYPER_FORCE_DISABLE_TERMINAL="1")

import layers
from typer.main import get_command
from typer.testing import CliRunner

from surefoot import components
from surefoot.cli import app
from surefoot.config.builder import CASCADE, HYBRID
from surefoot.config.faults import SHARED
from surefoot.config.settings import DEFAULTS
from surefoot.evidence.policies import PRESETS
from surefoot.pipeline import Pipeline
from surefoot.types import Thresholds
from surefoot.types.errors import MissingExtra

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
NOTE = "<!-- Written by docs/generate.py; change the code, not this page. -->\n"
EXITS = """\
Exit codes: 0 done, 1 an answer that is no (`replay`, `gate`, `doctor`, `drift`, `bench tune`), 2 a mistake of yours,
3 a part that failed, 130 interrupted. An error is a line on standard error. A command with a bare `--json` prints it on
standard output instead, in the result's place and with the same exit code; `messages` holds several where a
configuration has several faults:

```json
{"error": "ConfigError", "code": 2, "messages": ["no section called 'umpire'; there are: index, embedder, …"]}
```

`surefoot --install-completion` teaches your shell the commands and options.
"""
ROLES = [*components.GROUPS]
LISTS = {"retrievers": HYBRID, "evaluators": CASCADE}
"""Shared parts that are options all the same, with what they are where nothing is said."""

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHIPPED = re.compile(r"\bminilm-[0-9a-f]{8}\b")
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_FILE = re.compile(r"`([\w/]+\.py)`")
_DOTTED = re.compile(r"\bsurefoot(?!\.toml\b)(?:\.\w+)+")


def main(arguments: list[str]) -> int:
    """The exit code: 1 where a page is stale and may not be written, or where something in one is broken."""
    check = arguments == ["--check"]
    if arguments and not check:
        print(f"python docs/generate.py [--check], not {' '.join(arguments)}")
        return 2
    faults = [fault for page, text in generated() if (fault := _settled(page, text, check))]
    faults += [fault for page in pages() for fault in broken(page)]
    print("\n".join(faults) or "the docs are as the code says")
    return 1 if faults else 0


def generated() -> Iterator[tuple[Path, str]]:
    """Each page that is written, with what it should say."""
    yield DOCS / "reference" / "commands.md", commands()
    yield DOCS / "reference" / "configuration-defaults.md", defaults()
    yield layers.TARGET, layers.picture(layers.layers())
    for role in ROLES:
        page = DOCS / "roles" / f"{role}.md"
        yield page, with_table(page.read_text(encoding="utf-8"), role)


def commands() -> str:
    """What `--help` says for every command."""
    parts = [NOTE, "# Commands\n", EXITS, "What `--help` prints, and `-h`:\n"]
    for path in _paths(get_command(app), ()):
        said = CliRunner().invoke(app, [*path, "--help"], prog_name="surefoot").output
        lines = "\n".join(line.rstrip() for line in said.strip().splitlines())
        parts.append(f"## {' '.join(('surefoot', *path))}\n\n```text\n{lines}\n```\n")
    return "\n".join(parts)


def _paths(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield path
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        yield from _paths(inner, (*path, name))


def with_table(page: str, role: str) -> str:
    """The page of a role with the table of its built-ins between the markers."""
    begin, end = f"<!-- built-ins of {role}: written by docs/generate.py -->\n", "<!-- end -->\n"
    before, marker, rest = page.partition(begin)
    if not marker or end not in rest:
        raise SystemExit(f"docs/roles/{role}.md lacks the markers {begin.strip()} and {end.strip()}")
    return before + begin + table(role) + end + rest.partition(end)[2]


def table(role: str) -> str:
    """What can be named for a role, without what other packages plug in here."""
    rows = {name: [f"`{name}`", _options(make), _about(make)] for name, make in _built_in(role)}
    rows |= {name: _as_written(role, name) for name in _without_their_extra(role)}
    return _table(["`use =`", "Options, with their defaults", "What it is"], [rows[name] for name in sorted(rows)])


def _built_in(role: str) -> list[tuple[str, Callable[..., Any]]]:
    return [(c.name, components.find(role, c.name)) for c in _components() if c.role == role and not c.missing]


def _without_their_extra(role: str) -> list[str]:
    return [c.name for c in _components() if c.role == role and c.missing]


def _as_written(role: str, name: str) -> list[str]:
    """The cells that the role's page has already: what cannot be imported here is left as it is."""
    page = (DOCS / "roles" / f"{role}.md").read_text(encoding="utf-8")
    for line in page.splitlines():
        if line.startswith(f"| `{name}` | "):
            return line.removeprefix("| ").removesuffix(" |").replace("\\|", "|").split(" | ")
    raise SystemExit(f"docs/roles/{role}.md has no line for {name}; install its extra, which it is written from")


@cache
def _components() -> list[components.Component]:
    return [component for component in components.components() if component.origin == "surefoot"]


def _options(make: Callable[..., Any]) -> str:
    options = [p for p in inspect.signature(make).parameters.values() if p.name not in SHARED or p.name in LISTS]
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
    """The configuration where nothing is said, and all thresholds there are."""
    own = {field.name: field.default for field in fields(Pipeline) if isinstance(field.default, int)}
    sections = "\n\n".join(_section(name, values) for name, values in {**DEFAULTS, "pipeline": own}.items())
    return "\n".join(
        [
            NOTE,
            "# Defaults\n",
            f"What holds where nothing else is said:\n\n```toml\n{sections}\n```\n",
            f"## Thresholds of the evaluators\n\n{_thresholds(_fitted())}",
            f'## Presets\n\nFor `[thresholds] preset = "…"`.\n\n{_thresholds(PRESETS)}',
        ]
    )


def _section(name: str, values: dict[str, Any]) -> str:
    return "\n".join([f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in values.items())])


def _fitted() -> dict[str, Thresholds]:
    """By evaluator: its own thresholds, or those that it has for each embedder."""
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
    """Writes the page unless it says that already; where it may not, what is wrong with it."""
    if page.exists() and page.read_text(encoding="utf-8") == text:
        return ""
    if check:
        return f"{page.relative_to(ROOT)} is stale; run: python docs/generate.py"
    page.parent.mkdir(exist_ok=True)
    page.write_text(text, encoding="utf-8")
    return ""


def pages() -> list[Path]:
    """The pages that are checked."""
    benchmarks = ROOT / "lab" / "benchmarks"
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted([*DOCS.rglob("*.md"), *benchmarks.rglob("*.md")])]


def broken(page: Path) -> Iterator[str]:
    """The faults of a page: broken links, files, modules and functions that do not exist, a former name of the shipped
    evaluator, TOML and Python that do not parse."""
    text, name = page.read_text(encoding="utf-8"), page.relative_to(ROOT)
    prose = _FENCE.sub("", text)
    for link in _LINK.findall(prose):
        if not (re.match(r"\w+:", link) or _exists(page, link)):
            yield f"{name}: there is no {link}"
    for file in sorted(set(_FILE.findall(prose))):
        if not any(f"/{path}".endswith(f"/{file}") for path in _sources()):
            yield f"{name}: there is no file {file}"
    for dotted in sorted(set(_DOTTED.findall(prose)) | _imported(text)):
        if not (_is_there(dotted) or dotted in components.GROUPS.values()):
            yield f"{name}: there is no {dotted}"
    for old in sorted(set(_SHIPPED.findall(text)) - {_shipped()}):
        yield f"{name}: the shipped evaluator is {_shipped()}, not {old}"
    for language, block in _FENCE.findall(text):
        try:
            if language == "toml":
                tomllib.loads(block)
            elif language == "python":
                compile(block, str(name), "exec")
        except (tomllib.TOMLDecodeError, SyntaxError) as error:
            yield f"{name}: {language} that does not parse: {error}"


@cache
def _sources() -> tuple[str, ...]:
    folders = (ROOT / name for name in ("src", "tests", "lab", "examples", "docs"))
    return ("dev.py", *(path.as_posix() for folder in folders for path in folder.rglob("*.py")))


def _imported(text: str) -> set[str]:
    """What the page's Python examples import of this package, as dotted names."""
    blocks = [block for language, block in _FENCE.findall(text) if language == "python"]
    try:
        nodes = [node for block in blocks for node in ast.walk(ast.parse(block))]
    except SyntaxError:
        return set()
    froms = [node for node in nodes if isinstance(node, ast.ImportFrom) and str(node.module).startswith("surefoot")]
    return {f"{node.module}.{alias.name}" for node in froms for alias in node.names}


def _is_there(dotted: str) -> bool:
    """Whether this names a module, or something in one; a module that cannot be imported here has the benefit of the
    doubt."""
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
    """What its headings are called in links, as GitHub does it."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
