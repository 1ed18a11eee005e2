"""Code that a configuration file names.

`surefoot.toml` comes along with whatever was unpacked or cloned, and `use = "module:Class"` in it is code that runs. So
it is imported only where its user agrees, by `--trust` or the environment.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from surefoot import components
from surefoot.types.errors import ConfigError, UnagreedCode

ALLOWED = "SUREFOOT_TRUST"
"""The environment variable that agrees to all code that configuration files name."""

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


def require(names: Iterable[str], file: Path) -> None:
    """Raise UnagreedCode where the file names code and the environment does not agree to it."""
    if (found := sorted(names)) and os.environ.get(ALLOWED, "").lower() in ("", "0", "false"):
        raise UnagreedCode(
            f"{file} names code: {', '.join(found)}; look at it, then agree with surefoot --trust in front of the "
            f"command, or {ALLOWED}=1"
        )
