"""From a role and a name to an object: built-ins, and what other packages plug in. Imports late, so that nobody waits
for what they do not use.

A built-in is a file of its role's package; its class has the file's name without underscores, in any case, and may end
in the role's: `LLMGenerator` in `generators/llm.py`. A file whose name begins with an underscore is none. Another
package plugs in through the entry-point group of the role, and `use = "package.module:Class"` names any class that has
the role's verb. Anything else is refused before it is called, and the standard library, which holds none, before it is
imported: `subprocess:Popen` would run its options.
"""

import importlib
import inspect
import os
import pkgutil
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

from surefoot.types import protocols
from surefoot.types.errors import ConfigError, MissingExtra, UsageError

ROLES: dict[str, tuple[str, type]] = {
    "retriever": ("retrievers", protocols.Retriever),
    "evaluator": ("evaluators", protocols.Evaluator),
    "refiner": ("refiners", protocols.Refiner),
    "rewriter": ("rewriters", protocols.Rewriter),
    "searcher": ("searchers", protocols.Searcher),
    "generator": ("generators", protocols.Generator),
    "llm": ("llms", protocols.LLM),
    "embedder": ("embedders", protocols.Embedder),
    "judge": ("judges", protocols.Judge),
    "verifier": ("verifiers", protocols.Verifier),
    "policy": ("policies", protocols.Policy),
    "loader": ("loaders", protocols.Loader),
}
"""Each role: what its components are called together, and the protocol that their classes keep."""

ROOMS = {role: room for role, (room, _) in ROLES.items() if role not in ("policy", "loader")}
"""The package that holds the built-ins of each role that has a room of its own."""

GROUPS = {role: f"surefoot.{room}" for role, (room, _) in ROLES.items()}
"""The entry-point group of every role. A loader is plugged in under the suffix that it reads."""

OBJECTS = tuple(role for role in ROLES if role not in ("judge", "loader"))
"""Roles that an object can play in a pipeline."""

EXTRAS = {
    "local": "local",
    "pgvector": "pgvector",
    "lance": "lance",
    "t5": "transformers",
    "cross_encoder": "transformers",
    "nli": "transformers",
    "transformers": "transformers",
    "zim": "zim",
    "pandoc": "formats",
    "xlsx": "formats",
}
"""Built-ins whose libraries come with an extra, and which one; all others need only what Surefoot always has."""


@dataclass(frozen=True, slots=True)
class Component:
    """A component that can be plugged in."""

    role: str
    name: str
    origin: str
    """"surefoot", or the distribution that plugs it in."""
    about: str
    """First line of its documentation; empty when it cannot be imported."""
    missing: str | None
    """Why it cannot be used as things are, with what to do; None: it can."""


def names(role: str) -> list[str]:
    """The names for this role, built-in and plugged in, in alphabetical order."""
    return sorted({*built_in(role), *_plugged_in(role)})


def built_in(role: str) -> list[str]:
    """The names that Surefoot itself has for this role; nothing is imported."""
    if role == "policy":
        return sorted(_policies())
    package = importlib.import_module(_room(role))
    return [name for _, name, _ in pkgutil.iter_modules(package.__path__) if not name.startswith("_")]


def find(role: str, name: str) -> Callable[..., Any]:
    """The class behind a name; raises ConfigError for one that does not exist or is none of this role, MissingExtra for
    what it lacks."""
    if role not in GROUPS:
        raise ConfigError(misnamed("no role called", role, GROUPS))
    if role == "policy" and (policy := _policies().get(name)):
        return policy
    if ":" in name:
        return _of_role(role, name, _by_path(role, name))
    if name in built_in(role):
        module = _import(f"{_room(role)}.{name}", f"{role} '{name}'", name)
        return _named(module, role, name)
    if name in (plugged := _plugged_in(role)):
        return _of_role(role, name, _load(plugged[name], role))
    raise ConfigError(misnamed(f"no {role} called", name, names(role)))


def described(role: str, part: object) -> str:
    """The class of an object that is to play this role, as `use` names one. Raises ConfigError for one that cannot."""
    if role not in OBJECTS:
        raise ConfigError(misnamed("no part called", role, OBJECTS))
    name = f"{type(part).__module__}:{type(part).__qualname__}"
    _of_role(role, name, type(part))
    if lacking := [key for key in ("name", "thresholds") if key in vars(ROLES[role][1]) and not hasattr(part, key)]:
        raise ConfigError(f"{role} '{name}' is no {role}: it has no {' and no '.join(lacking)}")
    return name


def known(role: str, name: str) -> Callable[..., Any] | None:
    """`find` for what only wants to look: the class if it is built in or its module is imported already; None: it is
    not, and nothing is. A configuration of somebody else's may be looked at, but not imported."""
    module, _, attribute = name.partition(":")
    if not attribute and name not in built_in(role) and (point := _plugged_in(role).get(name)):
        module, attribute = point.module, point.attr
    return None if attribute and module not in sys.modules else find(role, name)


def components() -> list[Component]:
    """All that can be plugged in, by role; imports every one, so it is for people, not for start-up."""
    return [_describe(role, name) for role in GROUPS for name in names(role)]


def misnamed(lacking: str, name: str, known: Collection[str], listed: str = "there are") -> str:
    """The error for a name that nothing has: all names that there are, and the one that it is most like."""
    message = f"{lacking} '{name}'; {listed}: {', '.join(known)}"
    near = get_close_matches(str(name), known, 1)
    return f"{message}; did you mean '{near[0]}'?" if near else message


def _room(role: str) -> str:
    return f"surefoot.{ROOMS.get(role, 'documents.loaders')}"


def _policies() -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = importlib.import_module("surefoot.evidence.policies").POLICIES
    return found


def _plugged_in(role: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUPS[role])}


def _named(module: ModuleType, role: str, name: str) -> Callable[..., Any]:
    """The module's class called as the file is, or so with its role behind it."""
    wanted = (name.replace("_", ""), name.replace("_", "") + role)
    for key, value in vars(module).items():
        if inspect.isclass(value) and value.__module__ == module.__name__ and key.casefold() in wanted:
            return value
    own = wanted[0].capitalize()
    raise ConfigError(f"{module.__file__} has no class called {own} or {own}{role.capitalize()}, as the file is")


def _by_path(role: str, path: str) -> Any:
    module, _, attribute = path.partition(":")
    _not_the_standard_librarys(f"{role} '{path}'", module)
    if not (module.startswith("surefoot.") or {"", os.getcwd()} & {*sys.path}):
        sys.path.append(os.getcwd())  # which a script's path lacks; at the end, nothing there takes a library's place
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise ConfigError(f"{role} '{path}' cannot be imported: {error}") from error


def _load(point: EntryPoint, role: str) -> Any:
    _not_the_standard_librarys(f"{role} '{point.name}', plugged in by {_origin(point)},", point.module)
    try:
        return point.load()
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"{role} '{point.name}', plugged in by {_origin(point)}, does not load: {error}") from error


def _not_the_standard_librarys(what: str, module: str) -> None:
    if module.partition(".")[0] in sys.stdlib_module_names:
        raise ConfigError(f"{what} is of Python's standard library, which has no components; it was not imported")


def _of_role(role: str, name: str, found: Any) -> Callable[..., Any]:
    """Check that what was found is a class with the verb of the role, without calling it."""
    _, protocol = ROLES[role]
    verb = next(key for key, value in vars(protocol).items() if inspect.isfunction(value) and key[0] != "_")
    wanted = inspect.signature(getattr(protocol, verb))
    shape = f"{verb}({', '.join([*wanted.parameters][1:])})"
    if not inspect.isclass(found):
        raise ConfigError(f"{role} '{name}' is a {type(found).__name__}, and not a class with {shape}")
    if not callable(own := getattr(found, verb, None)):
        raise ConfigError(f"{role} '{name}' is no {role}: its class lacks {shape}")
    try:
        bare = isinstance(inspect.getattr_static(found, verb), staticmethod | classmethod)
        by_place = [p.name for p in wanted.parameters.values() if p.kind is not p.KEYWORD_ONLY][bare:]
        by_name = [p.name for p in wanted.parameters.values() if p.kind is p.KEYWORD_ONLY]
        inspect.signature(own).bind(*by_place, **dict.fromkeys(by_name))
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{role} '{name}' is no {role}: its {verb} cannot be called as {shape}: {error}") from error
    return found


def _import(module: str, what: str, name: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:  # also a library that is there but broken: psycopg without libpq, a missing DLL
        if error.name and error.name.startswith("surefoot"):
            raise
        if name in EXTRAS:
            raise MissingExtra(what, EXTRAS[name]) from error
        raise ConfigError(f"{what} cannot be imported: {error}; reinstall surefoot with its dependencies") from error


def _describe(role: str, name: str) -> Component:
    point = _plugged_in(role).get(name)
    origin = _origin(point) if point and name not in built_in(role) else "surefoot"
    try:
        about = (inspect.getdoc(find(role, name)) or "").partition("\n")[0]
    except UsageError as error:
        return Component(role, name, origin, "", str(error))
    return Component(role, name, origin, about, None)


def _origin(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "an installed package"
