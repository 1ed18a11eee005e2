"""Pickling of values that were built from a configuration: by the way to build them again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Origin:
    """The way a pipeline was built, for another process to build it again."""

    build: Callable[[], Any]
    """Builds it again; it pickles."""
    made: Mapping[str, Any]
    """What was built, by the pipeline's fields."""

    def reduced(self, pipeline: Any) -> Any:
        """Pickle's form of the pipeline: how to build it, and those of its parts that did not come from there."""
        own = {one.name: getattr(pipeline, one.name) for one in fields(pipeline) if one.name != "origin"}
        return _rebuilt, (self.build, {name: part for name, part in own.items() if part is not self.made.get(name)})


def _rebuilt(build: Callable[[], Any], own: dict[str, Any]) -> Any:
    return replace(build(), **own)
