"""Code that a configuration file names, and the machines that it has questions, passages and keys sent to.

`surefoot.toml` comes along with whatever was unpacked or cloned, and `use = "module:Class"` in it is code that runs. So
it is imported only where its user agrees, by `--trust` or the environment. An endpoint gets the key of whichever
environment variable the file names, so its user agrees once to each pair of these, by the same, or on the terminal.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from platformdirs import user_state_path

from surefoot import components
from surefoot.types.errors import ConfigError, UnagreedCode, UnagreedEndpoint

ALLOWED = "SUREFOOT_TRUST"
"""The environment variable that agrees to all code and endpoints that configuration files name."""

Endpoint = tuple[str, str]
"""A `base_url` and a `key_env`; "": the component's own."""

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


def endpoints(values: Any) -> Iterator[Endpoint]:
    """Each endpoint, however deep, that a table sends something to; not those of this machine."""
    if isinstance(values, Mapping):
        several, variable = values.get("base_url", ""), str(values.get("key_env", ""))
        for address in map(str, several if isinstance(several, list | tuple) else (several,)):
            if (address or variable) and not _is_own(address):
                yield address, variable
    if isinstance(values, Mapping | list | tuple):
        for value in values.values() if isinstance(values, Mapping) else values:
            yield from endpoints(value)


def _is_own(address: str) -> bool:
    try:
        host = urlsplit(address).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def agree(found: Iterable[Endpoint]) -> None:
    """Remember on this machine that its user agrees to these endpoints."""
    for endpoint in found:
        place = _place(endpoint)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()


def require_endpoints(config: Mapping[str, Any], written: Mapping[str, Any], file: Path) -> None:
    """Raise UnagreedEndpoint where a part of an endpoint of the configuration stands in the file that was `written`,
    and nobody has agreed to the whole."""
    theirs = {text for endpoint in endpoints(written) for text in endpoint if text}
    found = sorted({one for one in endpoints(config) if not theirs.isdisjoint(one) and not _place(one).exists()})
    if found and not _all_agreed():
        named = [f"{_public(url) or 'its provider'}, with the key in {_variable(name)}" for url, name in found]
        raise UnagreedEndpoint(
            f"{file} has questions and passages sent to {'; '.join(named)}, which was never agreed to here; look at "
            f"it, then agree on a terminal, with surefoot --trust in front of the command, or {ALLOWED}=1",
            tuple(found),
        )


def _public(url: str) -> str:
    """The address without what may be a secret."""
    return " ".join(url.split()).partition("?")[0].rpartition("@")[2]


def _variable(name: str) -> str:
    return name if name.isidentifier() and name.isupper() else "its usual variable"  # a key itself is not shown


def _place(endpoint: Endpoint) -> Path:
    return user_state_path("surefoot") / "endpoints" / sha256("\0".join(endpoint).encode()).hexdigest()


def _all_agreed() -> bool:
    return os.environ.get(ALLOWED, "").lower() not in ("", "0", "false")


def require(names: Iterable[str], file: Path) -> None:
    """Raise UnagreedCode where the file names code and the environment does not agree to it."""
    if (found := sorted(names)) and not _all_agreed():
        raise UnagreedCode(
            f"{file} names code: {', '.join(found)}; look at it, then agree with surefoot --trust in front of the "
            f"command, or {ALLOWED}=1"
        )
