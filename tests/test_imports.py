"""Which way imports go, what `import surefoot` costs, and that all that is public is documented."""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

import pytest

import surefoot
from surefoot.components import ROOMS

SOURCE = Path(surefoot.__file__).parent
HEAVY = (
    *"numpy torch transformers onnxruntime xllamacpp httpx tokenizers psycopg".split(),
    *"pypdfium2 trafilatura docx pptx openpyxl langchain_core".split(),
)

LAYERS = (
    ("types",),
    ("text", "run", "stats", "network", "components", "contracts"),
    ("models", "evidence", "web", "documents", "index"),
    tuple(ROOMS.values()),
    ("pipeline",),
    ("config",),
    ("explain", "evaluate"),
    ("integrations", "server", "frames"),
    ("cli", "__main__"),
)
"""Each imports only from its own layer and from those above it here."""
LEVEL = {name: level for level, layer in enumerate(LAYERS) for name in layer}


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for path in sorted(SOURCE.rglob("*.py"))}


def imported(module: str) -> Iterator[str]:
    """The modules of the package that this one imports, anywhere in it."""
    path = FILES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "surefoot")
        elif isinstance(node, ast.ImportFrom):
            origin = resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module or ""
            if origin.split(".")[0] == "surefoot":
                names = [f"{origin}.{alias.name}" for alias in node.names]
                yield from (name if name in FILES else origin for name in names)


def room(module: str) -> str:
    """The part of the package that a module belongs to: "surefoot.llms.local" is in "llms"."""
    return [*module.split("."), ""][1]


@pytest.mark.parametrize("module", [module for module in FILES if module != "surefoot"])
def test_imports_go_one_way(module: str) -> None:
    """types ← run, text, stats, network, models ← evidence, roles ← documents, index ← pipeline ← config ← explain,
    evaluate ← integrations, server ← cli, which also takes the version from the front."""
    for other in imported(module):
        if other == "surefoot":
            assert room(module) == "cli", f"{module} imports the package's front"
        else:
            assert LEVEL[room(other)] <= LEVEL[room(module)], f"{module} imports {other}"


def test_the_rooms_have_no_circle() -> None:
    """Within a layer too: each can be put before those that import it."""
    graph: dict[str, set[str]] = {}
    for module in FILES:
        graph.setdefault(room(module), set()).update({room(other) for other in imported(module)} - {room(module)})
    assert [*TopologicalSorter(graph).static_order()]


def test_nothing_imports_the_integrations() -> None:
    """They are for other people's programs; the core knows none. Commands and the server have questions traced, and
    commands have work done by Ray."""
    used = {(room(m), other) for m in FILES for other in imported(m) if room(other) == "integrations" != room(m)}
    traced = {(front, "surefoot.integrations.telemetry") for front in ("cli", "server")}
    assert used == {*traced, ("cli", "surefoot.integrations.ray")}


def test_there_are_at_most_36_rooms() -> None:
    """A room is a folder, or a single module, directly under `surefoot`."""
    rooms = {room(module) for module in FILES} - {""}
    assert len(rooms) <= 36, sorted(rooms)
    assert rooms <= {*LEVEL}, "LAYERS does not say where a room lies"


def test_every_folder_of_the_source_is_in_the_wheel() -> None:
    """Haystack's components stand in one of their own, which a checkout imports also where a wheel lacks it."""
    project = SOURCE.parents[1] / "pyproject.toml"
    listed = tomllib.loads(project.read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert {*listed} == {f"src/{one.name}" for one in SOURCE.parent.iterdir() if any(one.rglob("*.py"))}


def test_the_product_does_not_know_the_lab() -> None:
    """`surefoot_lab` is a distribution of its own, which imports this one."""
    assert not [module for module, path in FILES.items() if "import surefoot_lab" in path.read_text("utf-8")]
    assert not [module for module, path in FILES.items() if "from surefoot_lab" in path.read_text("utf-8")]


def test_documents_know_no_index() -> None:
    """Reading a file needs nothing of how its passages are stored."""
    assert not {m for m in FILES for other in imported(m) if room(m) == "documents" and room(other) == "index"}


@pytest.mark.parametrize("name", ROOMS.values())
def test_a_role_knows_no_other_role(name: str) -> None:
    """Components get each other from their constructors, as protocols."""
    for module in FILES:
        if room(module) == name:
            others = {room(other) for other in imported(module)} & set(ROOMS.values()) - {name}
            assert not others, f"{module} imports from {others}"


def test_importing_the_package_loads_nothing_heavy() -> None:
    """In a fresh interpreter; `surefoot.load` is what costs."""
    code = f"import sys, surefoot; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_load_is_imported_when_it_is_asked_for() -> None:
    """And other names that do not exist say so."""
    assert callable(surefoot.load)
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        surefoot.lod  # noqa: B018


def test_all_that_is_promised_is_there() -> None:
    """`__all__` names nothing that does not exist."""
    assert [name for name in surefoot.__all__ if not hasattr(surefoot, name)] == []


def public(module: str) -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    """The public functions, classes and methods of a module, by name."""

    def walk(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef]]:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                yield f"{prefix}{node.name}", node
                if isinstance(node, ast.ClassDef):
                    yield from walk(node.body, f"{prefix}{node.name}.")

    return walk(ast.parse(FILES[module].read_text(encoding="utf-8")).body, f"{module}.")


@pytest.mark.parametrize("module", FILES)
def test_all_that_is_public_is_documented_and_annotated(module: str) -> None:
    """The module, its functions, classes and methods; parameters and results."""
    assert ast.get_docstring(ast.parse(FILES[module].read_text(encoding="utf-8"))), f"{module} has no docstring"
    for name, node in public(module):
        assert ast.get_docstring(node), f"{name} has no docstring"
        if isinstance(node, ast.FunctionDef):
            every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            bare = [a.arg for a in every if not a.annotation and a.arg not in ("self", "cls")]
            assert not bare, f"{name} does not say what {bare} are"
            assert node.returns, f"{name} does not say what it gives"


@pytest.mark.parametrize("module", FILES)
def test_only_the_command_line_prints(module: str) -> None:
    """A library that prints speaks over whoever uses it."""
    calls = [n for n in ast.walk(ast.parse(FILES[module].read_text(encoding="utf-8"))) if isinstance(n, ast.Call)]
    assert not [call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]
