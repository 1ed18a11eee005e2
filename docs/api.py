"""Writes docs/reference/python.md: each public name of `surefoot`, with its signature, fields and docstring."""

import ast
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import surefoot
from surefoot import frames

TARGET = Path(__file__).resolve().parent / "reference" / "python.md"
Table = Callable[[list[str], list[list[str]]], str]
INTRODUCTION = """\
# Python

What `import surefoot` offers. [The library](../library.md) shows how it is used; [roles](../architecture.md#roles) have
pages of their own.
"""


def page(table: Table) -> str:
    """Return the whole page; `table` makes one of its head and rows."""
    names = {name: getattr(surefoot, name) for name in surefoot.__all__} | {"frames": frames}
    calls = {name: thing for name, thing in names.items() if inspect.isfunction(thing)}
    classes = {name: thing for name, thing in names.items() if inspect.isclass(thing)}
    modules = {name: thing for name, thing in names.items() if isinstance(thing, ModuleType)}
    rest = names.keys() - calls.keys() - classes.keys() - modules.keys()
    kinds = {"Functions": calls, "Classes": classes, "Modules": modules}
    entries = {kind: [_entry(n, thing, table) for n, thing in sorted(every.items())] for kind, every in kinds.items()}
    sections = ["\n".join([f"## {kind}\n", *texts]) for kind, texts in entries.items()]
    values = "".join(
        f"`surefoot.{name}`: [defaults](configuration-defaults.md#{name.lower()})\n" for name in sorted(rest)
    )
    return "\n".join([INTRODUCTION, *sections, f"## Values\n\n{values}"])


def _entry(name: str, thing: Any, table: Table) -> str:
    """Return the section of a name."""
    parts = [f"### surefoot.{name}\n"]
    if inspect.isfunction(thing):
        parts.append(f"```text\n{_call(name, _parsed(thing))}\n```\n")
    parts.append(f"{inspect.getdoc(thing) or ''}\n")
    if inspect.isclass(thing):
        parts += [table(["", ""], rows)] if (rows := [*_members(_parsed(thing))]) else []
    if isinstance(thing, ModuleType):
        own = [one for one in vars(thing).values() if inspect.isfunction(one) and one.__module__ == thing.__name__]
        rows = [[f"`{_call(f.__name__, _parsed(f))}`", _first(inspect.getdoc(f))] for f in own if _public(f.__name__)]
        parts.append(table(["", ""], rows))
    return "\n".join(parts)


def _parsed(thing: Any) -> Any:
    return ast.parse(dedent(inspect.getsource(thing))).body[0]


def _members(node: ast.ClassDef) -> Iterator[list[str]]:
    """Yield each field and public method of a class as it is written, with its docstring's first line or its whole."""
    for one, after in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(one, ast.AnnAssign | ast.Assign):
            about = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
            if _public(ast.unparse(one)):
                yield [f"`{ast.unparse(one)}`", " ".join(str(about).split())]
        elif isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and _public(one.name):
            yield [f"`{_call(one.name, one)}`", _first(ast.get_docstring(one))]


def _call(name: str, node: Any) -> str:
    """Return a function's name, parameters and result, as they are written."""
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{name}({ast.unparse(node.args)}){returns}"


def _first(doc: str | None) -> str:
    """Return the first paragraph of a docstring in a line."""
    return " ".join((doc or "").partition("\n\n")[0].split())


def _public(name: str) -> bool:
    return not name.startswith("_")
