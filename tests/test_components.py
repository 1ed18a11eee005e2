"""From names to objects: what is there, what others plug in, and what a wrong name says."""

import sys
from importlib.metadata import metadata
from pathlib import Path
from types import ModuleType

import pytest

from surefoot import components
from surefoot.components import Component, find, known, names
from surefoot.config.options import assemble, build
from surefoot.documents.loaders import formats
from surefoot.documents.loaders.csv import CsvLoader
from surefoot.evaluators.lexical import Lexical
from surefoot.evidence.policies import Count
from surefoot.types.errors import ConfigError, MissingExtra


def plug_in(folder: Path, monkeypatch: pytest.MonkeyPatch, entry: str, code: str = "") -> None:
    """An installed distribution "acme-plugins" that plugs `entry` in, with its module `acme_plugins`."""
    about = folder / "acme_plugins-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-plugins\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(entry)
    (folder / "acme_plugins.py").write_text(code)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "acme_plugins", raising=False)


def without(library: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the library were not installed, and the module had not been imported yet."""
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, module, raising=False)


# Names


@pytest.mark.parametrize(("role", "name"), [(role, name) for role in components.ROOMS for name in names(role)])
def test_every_built_in_of_every_role_can_be_found(role: str, name: str) -> None:
    """A file in a role's package is a component, with nothing to register."""
    try:
        assert find(role, name).__module__ == f"surefoot.{components.ROOMS[role]}.{name}"
    except MissingExtra as error:
        pytest.skip(str(error))


def test_an_unknown_name_lists_the_choices() -> None:
    """So that a typing error is mended in one look."""
    with pytest.raises(ConfigError, match=r"no evaluator called 'lexicla'; there are: .*lexical"):
        find("evaluator", "lexicla")
    with pytest.raises(ConfigError, match="no role called 'jury'; there are: retriever, "):
        find("jury", "x")


def test_a_class_of_the_working_directory_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which a script's own path lacks; nothing there takes a library's place."""
    (tmp_path / "my_own_part.py").write_text("class Mine:\n    def rewrite(self, question, seen): return (question,)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    assert find("rewriter", "surefoot.rewriters.verbatim:Verbatim")
    assert str(tmp_path) not in sys.path
    assert find("rewriter", "my_own_part:Mine").__name__ == "Mine"
    assert sys.path[-1] == str(tmp_path)
    del sys.modules["my_own_part"]


def test_a_policy_and_a_loader_are_components(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Built in, and plugged in; a loader under its suffix."""
    assert names("policy") == ["any_irrelevant", "count", "none_relevant", "threshold"]
    assert find("policy", "count") is Count
    assert find("loader", "csv") is CsvLoader
    code = "class Mine:\n    def decide(self, grades, rewrites=0): ...\n    def read(self, stream, name): ...\n"
    entry = "[surefoot.policies]\nmine = acme_plugins:Mine\n[surefoot.loaders]\nsrt = acme_plugins:Mine\n"
    plug_in(tmp_path, monkeypatch, entry, code)
    assert find("policy", "mine").__module__ == "acme_plugins"
    assert "srt" in names("loader")
    formats.cache_clear()
    assert formats()[".srt"] == "srt"
    monkeypatch.undo()
    formats.cache_clear()


def test_a_file_whose_class_has_another_name_is_told() -> None:
    """With the names that it may have."""
    module = ModuleType("ics")
    module.__file__ = "ics.py"
    with pytest.raises(ConfigError, match=r"ics\.py has no class called Ics or IcsLoader, as the file is"):
        components._named(module, "loader", "ics")


@pytest.mark.parametrize("path", ["no.such.module:X", "pytest:NoSuchThing", ":X", ".relative:X", "pytest:"])
def test_a_path_that_leads_nowhere_is_a_mistake_of_the_users(path: str) -> None:
    """The message says which path, and why."""
    with pytest.raises(ConfigError, match="cannot be imported"):
        find("llm", path)


# Options and parts


def test_options_reach_the_constructor() -> None:
    """As keyword arguments."""
    assert build("llm", "scripted", {"replies": {}, "name": "mine"}, {}).name == "mine"


def test_an_unknown_option_lists_the_options() -> None:
    """Only those that a user can give: parts come from elsewhere."""
    with pytest.raises(ConfigError, match=r"^generator 'llm' has no option 'tokens'; it has: (?!llm).*max_tokens"):
        build("generator", "llm", {"tokens": 3}, {"llm": list})
    with pytest.raises(ConfigError, match=r"it has: none$"):
        build("rewriter", "verbatim", {"x": 1}, {})


def test_a_missing_option_is_named() -> None:
    """Before the constructor says it in its own words; what takes any number needs none."""
    with pytest.raises(ConfigError, match=r"^searcher 'folder' needs the option 'path'$"):
        build("searcher", "folder", {}, {})
    assert assemble("this", lambda *many, **more: "made", {}, {}) == "made"


@pytest.mark.parametrize(
    ("annotation", "fitting", "other"),
    [
        ("int", [0, 7], ["7", 0.5, True]),
        ("float", [1, 0.5], ["1", False]),
        ("str", ["a"], [1, ["a"]]),
        ("bool", [True], [1, "yes"]),
        ("int | None", [3], ["3"]),
        ("str | int", ["a", 1], [0.5]),
        ("dict[str, str]", [{}, {"a": "b"}], ["text", {"a": 1}]),
    ],
)
def test_an_option_of_the_wrong_kind_is_refused(annotation: str, fitting: list[object], other: list[object]) -> None:
    """Before a component trips over it in the middle of a question; kinds that are not plain are left alone."""

    def make(value: object) -> object:
        return value

    make.__annotations__["value"] = annotation
    for value in other:
        with pytest.raises(ConfigError, match=r"^this value must be "):
            assemble("this", make, {"value": value}, {})
    for value in fitting:
        assert assemble("this", make, {"value": value}, {}) == value


def test_a_part_is_made_only_for_those_who_want_it() -> None:
    """Building a retriever does not load a language model."""

    def unwanted() -> object:
        raise AssertionError("made although nobody wants it")

    def make(index: str) -> str:
        return index

    assert assemble("this", make, {}, {"index": lambda: "the index", "llm": unwanted}) == "the index"


def test_what_cannot_be_built_is_a_mistake_of_the_users() -> None:
    """A class of C may not say what it takes."""
    with pytest.raises(ConfigError, match="is nothing that can be built"):
        assemble("this", dict, {}, {})


@pytest.mark.parametrize("path", ["subprocess:Popen", "wave:open", "xml.dom.pulldom:parse"])
def test_the_standard_library_is_not_even_imported(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no components, and functions that run what they are given."""
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    with pytest.raises(ConfigError, match=rf"^evaluator '{path}' is of Python's standard library.*not imported"):
        build("evaluator", path, {"args": ["true"]}, {})
    assert "wave" not in sys.modules


MINE = """
called = []
class Loud:
    def __init__(self, **options): called.append(options)
def made(**options): called.append(options)
class Silent(Loud): pass
class Short(Loud):
    def grade(self): return ()
class Long(Loud):
    def grade(self, pairs, model): return ()
class Named(Loud):
    grade = "very well"
class Right(Loud):
    name, thresholds = "right", None
    def grade(self, pairs, slowly=False): return ()
class Bare(Loud):
    @staticmethod
    def grade(pairs): return ()
class Model(Loud):
    def complete(self, messages, schema=None, max_tokens=100): return None
"""


@pytest.mark.parametrize(
    ("role", "name", "why"),
    [
        ("evaluator", "made", r"is a function, and not a class with grade\(pairs\)"),
        ("evaluator", "Silent", r"its class lacks grade\(pairs\)"),
        ("evaluator", "Named", r"its class lacks grade\(pairs\)"),
        ("evaluator", "Short", r"its grade cannot be called as grade\(pairs\): too many"),
        ("evaluator", "Long", r"its grade cannot be called as grade\(pairs\): missing a required argument: 'model'"),
        ("llm", "Model", r"cannot be called as complete\(messages, schema, max_tokens, stop, on_text\): .*'stop'"),
        ("searcher", "Right", r"its class lacks search\(query, k\)"),
    ],
)
def test_what_is_no_component_of_the_role_is_refused_before_it_is_called(
    role: str, name: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what it lacks; named by its path, or plugged in."""
    plug_in(tmp_path, monkeypatch, f"[surefoot.{components.ROOMS[role]}]\nmine = acme_plugins:{name}\n", MINE)
    for use in (f"acme_plugins:{name}", "mine"):
        with pytest.raises(ConfigError, match=why):
            build(role, use, {}, {})
    assert sys.modules["acme_plugins"].called == []


def test_a_plugin_of_the_standard_library_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever plugs it in."""
    plug_in(tmp_path, monkeypatch, "[surefoot.evaluators]\nmine = subprocess:Popen\n")
    with pytest.raises(ConfigError, match="'mine', plugged in by acme-plugins, is of Python's standard library"):
        find("evaluator", "mine")


@pytest.mark.parametrize("name", ["Right", "Bare"])
def test_a_class_may_have_more_than_its_role_wants(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parameters with defaults, or no self."""
    plug_in(tmp_path, monkeypatch, "", MINE)
    assert build("evaluator", f"acme_plugins:{name}", {}, {}).grade([]) == ()


def test_to_look_at_a_component_imports_nothing_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless that is there already; what is built in is looked at all the same."""
    plug_in(tmp_path, monkeypatch, "[surefoot.evaluators]\nmine = acme_plugins:Right\n", MINE)
    assert known("evaluator", "lexical") is Lexical
    assert known("evaluator", "mine") is known("evaluator", "acme_plugins:Right") is None
    assert "acme_plugins" not in sys.modules
    assert find("evaluator", "mine") is known("evaluator", "mine") is known("evaluator", "acme_plugins:Right")


# Plugged in


def test_another_package_plugs_a_component_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found, built, listed with its origin, and nothing is registered in code."""
    code = 'class Echo:\n    """Says it again."""\n    def rewrite(self, question, seen): return (question,)\n'
    plug_in(tmp_path, monkeypatch, "[surefoot.rewriters]\necho = acme_plugins:Echo\n", code)
    assert "echo" in names("rewriter")
    assert build("rewriter", "echo", {}, {}).rewrite("Who?", ()) == ("Who?",)
    assert Component("rewriter", "echo", "acme-plugins", "Says it again.", None) in components.components()


def test_a_built_in_cannot_be_replaced_by_a_plugin_of_the_same_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`use = "lexical"` means the same on every machine."""
    plug_in(tmp_path, monkeypatch, "[surefoot.evaluators]\nlexical = acme_plugins:Fake\n", "class Fake: pass")
    assert find("evaluator", "lexical") is Lexical
    assert {c.origin for c in components.components() if c.name == "lexical"} == {"surefoot"}


@pytest.mark.parametrize("code", ["import no_such_library", "x = 1"])
def test_a_plugin_that_does_not_load_names_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    """And does not keep the others from being listed."""
    plug_in(tmp_path, monkeypatch, "[surefoot.rewriters]\necho = acme_plugins:Echo\n", code)
    with pytest.raises(ConfigError, match="'echo', plugged in by acme-plugins, does not load"):
        find("rewriter", "echo")
    listed = {component.name: component for component in components.components()}
    assert listed["echo"].missing
    assert listed["verbatim"].missing is None


# What is not installed


def test_a_missing_extra_gives_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """To be copied as it stands; the list shows the same."""
    without("psycopg", "surefoot.retrievers.pgvector", monkeypatch)
    with pytest.raises(MissingExtra, match=r"run: pip install 'surefoot\[pgvector\]'$"):
        find("retriever", "pgvector")
    shown = next(component for component in components.components() if component.name == "pgvector")
    assert "pip install 'surefoot[pgvector]'" in (shown.missing or "")


def test_a_missing_library_without_an_extra_does_not_send_one_to_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no such extra to install; the library itself is named."""
    without("onnxruntime", "surefoot.embedders.minilm", monkeypatch)
    with pytest.raises(ConfigError, match=r"embedder 'minilm' cannot be imported: .*onnxruntime"):
        find("embedder", "minilm")


def test_a_fault_of_our_own_is_not_taken_for_a_missing_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes out as it is."""
    without("surefoot.index.search", "surefoot.retrievers.bm25", monkeypatch)
    with pytest.raises(ModuleNotFoundError):
        find("retriever", "bm25")


def test_the_extras_are_those_that_can_be_installed() -> None:
    """The install line works, and each name is a built-in's."""
    provided = metadata("surefoot").get_all("Provides-Extra") or []
    assert set(components.EXTRAS.values()) <= set(provided)
    assert set(components.EXTRAS) <= {name for role in components.ROLES for name in components.names(role)}
