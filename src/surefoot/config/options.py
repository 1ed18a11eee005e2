"""The options of a component: its constructor's parameters, whose names and kinds are checked before it is built."""

import inspect
import json
import sys
from collections.abc import Callable, Container, Iterator, Mapping
from types import SimpleNamespace
from typing import Any, NotRequired, TypeVar, get_type_hints

from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from surefoot import components
from surefoot.config.sections import PricesSection, faults_of, shown
from surefoot.types.errors import ConfigError, MissingExtra

T = TypeVar("T")

SHARED = (*"network index embedder llm evaluator verifier reader thresholds".split(),)
"""Constructor parameters that are given a part of the pipeline and are no option."""

INNER = {
    "of": "",
    "searchers": "searcher",
    "reranker": "evaluator",
    "retrievers": "retriever",
    "evaluators": "evaluator",
}
"""Options that name components within a component, and their role; "" is the component's own."""

MADE_OF = {"hybrid": {"retrievers": ("bm25", "dense")}, "cascade": {"evaluators": ("minilm", "llm")}}
"""The components that others are made of unless their section names some: of a cascade a cheap one, and one to ask
where that is unsure."""

OBJECT = "object"
"""The key, which is true, of a section whose component was given as an object; `use` is its class."""

_ANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, arbitrary_types_allowed=True)


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
    what: str, make: Callable[..., Any], options: Mapping[str, Any], parts: Container[str] = ()
) -> Iterator[str]:
    """Each option that does not exist, does not fit or is lacking; nothing is built. `parts` are given to `make`."""
    misplaced = options.keys() & {*SHARED}
    for key in sorted(misplaced):
        yield f"{what} has no option '{key}'; what is shared has a section of its own: [{key}]"
    kinds: dict[str, Any] = {}
    for key, parameter in _parameters(what, make).items():
        if parameter.kind not in _ANY and key not in parts:
            kind = _kind(make, parameter.annotation) if key in options and key not in INNER else Any
            kinds[key] = kind if parameter.default is parameter.empty else NotRequired[kind]
    shape = TypedDict("Options", kinds)  # type: ignore[misc]
    shape.__pydantic_config__ = _STRICT  # type: ignore[attr-defined]
    plain = {key: None if key in INNER else value for key, value in options.items() if key not in misplaced}
    try:
        TypeAdapter(shape).validate_json(json.dumps(plain))
    except ValidationError as error:
        yield from faults_of(what, error, kinds)


def options_of(section: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a component's section: all keys but `use`, and the prices of a language model."""
    own = {key: value for key, value in section.items() if key not in ("use", *PricesSection.model_fields)}
    return MADE_OF.get(section["use"], {}) | own


def component_faults(role: str, section: Any) -> Iterator[str]:
    """The faults of a component's section, and of the components within it."""
    section = {"use": section} if isinstance(section, str) else section
    if not isinstance(section, Mapping) or not isinstance(section.get("use"), str) or OBJECT in section:
        return  # told where it is built
    options = options_of(section)
    try:
        if make := components.known(role, section["use"]):
            yield from option_faults(f"{role} '{section['use']}'", make, options, SHARED)
    except ConfigError as error:
        yield from error.args
    except MissingExtra as error:
        yield str(error)
    for key in [key for key in options if key in INNER]:
        several = options[key] if isinstance(options[key], list | tuple) else [options[key]]
        for part in several:
            yield from component_faults(INNER[key] or role, part)


def _parameters(what: str, make: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(make).parameters
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{what} is nothing that can be built: {error}") from error


def _kind(make: Callable[..., Any], annotation: Any) -> Any:
    """The type that an annotation stands for; Any where nobody can tell, as for objects that a program hands over."""
    try:
        hints = get_type_hints(
            SimpleNamespace(__annotations__={"kind": annotation}), vars(sys.modules[make.__module__]), None, True
        )
        TypeAdapter(hints["kind"], config=_STRICT)
    except (NameError, TypeError, PydanticUserError):
        return Any
    return hints["kind"]
