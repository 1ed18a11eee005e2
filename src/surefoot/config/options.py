"""The options of a component: its constructor's parameters, whose names and kinds are checked before it is built."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Container, Iterator, Mapping
from types import SimpleNamespace
from typing import Any, TypeVar, get_type_hints

from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError

from surefoot import components
from surefoot.components import misnamed
from surefoot.config.sections import PricesSection, shown
from surefoot.types.errors import ConfigError, MissingExtra

T = TypeVar("T")

SHARED = (*"network index embedder llm evaluator verifier reader retrievers evaluators thresholds".split(),)
"""Constructor parameters that are given a part of the pipeline and are no option."""

LISTS = {"retrievers", "evaluators"}
"""Shared parts that are options too: the option names the parts to build."""

INNER = {
    "of": "",
    "searchers": "searcher",
    "reranker": "evaluator",
    "retrievers": "retriever",
    "evaluators": "evaluator",
}
"""Options that name components within a component, and their role; "" is the component's own."""

OBJECT = "object"
"""The key, which is true, of a section whose component was given as an object; `use` is its class."""

_ANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def build(role: str, name: str, options: dict[str, Any], parts: Mapping[str, Callable[[], Any]]) -> Any:
    """The component with its `options`; a parameter that has no option and is the name of a part gets that part.

    `parts` makes each shared part when it is first wanted. Raises ConfigError for an option that does not exist.
    """
    return assemble(f"{role} '{name}'", components.find(role, name), options, parts)


def assemble(
    what: str, make: Callable[..., T], options: Mapping[str, Any], parts: Mapping[str, Callable[[], Any]]
) -> T:
    """Call `make` with its options, and with the parts that it has parameters for; errors call it `what`."""
    if found := [*option_faults(what, make, options, parts)]:
        raise ConfigError(*found)
    shared = {key: parts[key]() for key in _parameters(what, make) if key in parts and key not in options}
    try:
        return make(**shared, **options)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{what} cannot be built from {shown(options)}: {error}") from error


def option_faults(
    what: str, make: Callable[..., Any], options: Mapping[str, Any], parts: Container[str]
) -> Iterator[str]:
    """Each option that does not exist, does not fit or is lacking; nothing is built. `parts` are given to `make`."""
    parameters = _parameters(what, make)
    for key, value in options.items():
        if key not in parameters:
            known = [name for name in parameters if name not in parts] or ["none"]
            yield misnamed(f"{what} has no option", key, known, "it has")
        elif kind := _wanted(make, parameters[key], value):
            yield f"{what}: the option '{key}' must be {kind}, not {shown(value)}"
    for key, parameter in parameters.items():
        if parameter.default is parameter.empty and not (key in options or key in parts or parameter.kind in _ANY):
            yield f"{what} needs the option '{key}'"


def options_of(section: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a component's section: all keys but `use`, and the prices of a language model."""
    return {key: value for key, value in section.items() if key not in ("use", *PricesSection.model_fields)}


def component_faults(role: str, section: Any) -> Iterator[str]:
    """The faults of a component's section, and of the components within it."""
    section = {"use": section} if isinstance(section, str) else section
    if not isinstance(section, Mapping) or not isinstance(section.get("use"), str) or OBJECT in section:
        return  # told where it is built
    options = options_of(section)
    for key in sorted(options.keys() & {*SHARED} - LISTS):
        yield f"[{role}] has no key '{key}'; what is shared has a section of its own: [{key}]"
    try:
        if make := components.known(role, section["use"]):
            own = {key: value for key, value in options.items() if key in LISTS or key not in SHARED}
            yield from option_faults(f"{role} '{section['use']}'", make, own, SHARED)
    except ConfigError as error:
        yield from error.args
    except MissingExtra as error:
        yield str(error)
    for key in options.keys() & INNER.keys():
        several = options[key] if isinstance(options[key], list | tuple) else [options[key]]
        for part in several:
            yield from component_faults(INNER[key] or role, part)


def _parameters(what: str, make: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(make).parameters
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{what} is nothing that can be built: {error}") from error


def _wanted(make: Callable[..., Any], parameter: inspect.Parameter, value: Any) -> str:
    """The kind that the parameter's annotation wants, where the value is not of it; empty: it is, or cannot be told, as
    for an object that a program hands over."""
    if parameter.name in INNER or parameter.annotation is parameter.empty:
        return ""
    try:
        hints = get_type_hints(
            SimpleNamespace(__annotations__={"kind": parameter.annotation}), vars(sys.modules[make.__module__])
        )
        adapter = TypeAdapter(hints["kind"], config=ConfigDict(strict=True, arbitrary_types_allowed=True))
        adapter.validate_json(json.dumps(value))
    except ValidationError:
        return inspect.formatannotation(parameter.annotation).strip("'")
    except (NameError, TypeError, ValueError, PydanticUserError):
        return ""
    return ""
