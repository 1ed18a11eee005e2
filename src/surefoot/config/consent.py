"""Code that a configuration file names, and whether its user has agreed to import it in this folder.

`surefoot.toml` comes along with whatever was unpacked or cloned, and `use = "module:Class"` in it is code that runs. So
it is asked about once a folder; the names that were agreed to are kept outside of it, where what is unpacked does not
reach.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from platformdirs import user_state_path

from surefoot import components
from surefoot.run.store import write_bytes
from surefoot.text.json_values import parsed
from surefoot.types.errors import ConfigError, UnagreedCode

ALLOWED = "SUREFOOT_TRUST"
"""The environment variable that agrees to all that configuration files name, where nobody can be asked."""

DEEPEST = 16
"""Tables within tables of a configuration; those that there are need four."""

NAMES = ("use", "of", "searchers", "retrievers", "evaluators", "reranker")
"""Keys under which components are named."""


def texts(values: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Every text in the settings, with the nearest key above it. Raises ConfigError where they nest too deep."""
    if depth > DEEPEST:
        raise ConfigError(f"the configuration nests tables more than {DEEPEST} deep, and no component has such options")
    if isinstance(values, str):
        yield key, values
    elif isinstance(values, Mapping):
        for inner, value in values.items():
            yield from texts(value, str(inner), depth + 1)
    elif isinstance(values, list | tuple):
        for value in values:
            yield from texts(value, key, depth + 1)


def named(section: str, values: Any) -> Iterator[str]:
    """The components that a section names, however deep within each other. A judge may also be named by its metric,
    which may be a `module:Class` itself."""
    judges = {"metrics", "metric", *components.names("judge")} if section == "judge" and values else set()
    return (word for key, word in texts(values, "use") if key in NAMES or key in judges or (judges and ":" in key))


def code(config: Mapping[str, Any]) -> list[str]:
    """Each `module:Class` that a configuration names and that is not Surefoot's own, once."""
    words = {word for section, values in config.items() for word in named(section, values)}
    return sorted(word for word in words if ":" in word and not word.startswith("surefoot."))


def origin(name: str) -> str:
    """From where `module:Class` would be imported, found without importing anything of it."""
    package = name.partition(":")[0].partition(".")[0]
    try:
        found: ModuleSpec | None = find_spec(package) or PathFinder.find_spec(package, [os.getcwd()])
    except (ImportError, ValueError):
        found = None
    if found is None:
        return "nowhere: there is no such module here"
    return found.origin or ", ".join(found.submodule_search_locations or ())


def require(names: Iterable[str], file: Path) -> None:
    """Raise UnagreedCode where the file names code that was not agreed to in this folder."""
    if os.environ.get(ALLOWED, "").lower() not in ("", "0", "false"):
        return
    if new := sorted({*names} - {*_read().get(_here(), [])}):
        raise UnagreedCode(
            f"{file} names code that was never agreed to in {_here()}: {', '.join(new)}; look at it, then agree with "
            f"surefoot --trust in front of the command, or {ALLOWED}=1 where nobody can be asked",
            tuple(new),
        )


def remember(names: Iterable[str]) -> None:
    """Agree to these names in this folder, from now on."""
    agreed = _read()
    agreed[_here()] = sorted({*agreed.get(_here(), []), *names})
    place = memory()
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_bytes(place, json.dumps(agreed, indent=1).encode() + b"\n", mode=0o600)  # who can write it can have code run


def memory() -> Path:
    """The file of what was agreed to: names by folder. It may be read, and lines taken out."""
    return user_state_path("surefoot") / "trusted.json"


def _here() -> str:
    return os.path.realpath(os.getcwd())


def _read() -> dict[str, list[str]]:
    place = memory()
    try:
        found = parsed(place.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{place} cannot be read: {error}; delete it to be asked anew") from error
    lists = [*found.values()] if isinstance(found, dict) else [None]
    if not all(isinstance(names, list) and all(isinstance(name, str) for name in names) for names in lists):
        raise ConfigError(f"{place} is damaged; delete it to be asked anew")
    return dict(found)
