"""The parts of a pipeline: each is built when it is first wanted, and shared by all that want it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar

from surefoot import components
from surefoot.config.options import INNER, OBJECT, SHARED, assemble, build, options_of
from surefoot.config.sections import ExternalThresholds, ThresholdsSection
from surefoot.config.settings import DEFAULTS, Config, read_file
from surefoot.evaluators._cached import CachedEvaluator
from surefoot.evaluators.cascade import Cascade
from surefoot.evidence.policies import PRESETS, require_match
from surefoot.index.search import Index
from surefoot.llms._budgeted import Budgeted
from surefoot.network import Network
from surefoot.run.store import from_json
from surefoot.types import Thresholds
from surefoot.types.errors import ConfigError, TraceFault
from surefoot.types.llms import Prices
from surefoot.types.protocols import (
    LLM,
    Embedder,
    Evaluator,
    Generator,
    Policy,
    Refiner,
    Retriever,
    Rewriter,
    Searcher,
    Verifier,
    returns_spans,
)

HYBRID = ("bm25", "dense")
"""The retrievers that `hybrid` fuses unless `retrievers` names others."""

CASCADE = (DEFAULTS["evaluator"]["use"], "llm")
"""The evaluators of `cascade` unless `evaluators` names others: a cheap one, and one to ask where it is unsure."""

_WHOSE = (
    "[thresholds] of a cascade leave it unsaid whose scores they are for; where they are for the cascade's, which its "
    "later evaluators have moved, say: evaluator = '{name}'"
)


def _part(role: str) -> cached_property[Any]:
    return cached_property(lambda parts: parts.built(role))


@dataclass(frozen=True)
class Parts:
    """The parts of one pipeline, by the roles and sections of its configuration."""

    config: Config
    objects: Mapping[str, Any] = field(default_factory=dict)
    """Components that are not built, by role."""

    embedder: ClassVar[cached_property[Embedder]] = _part("embedder")
    retriever: ClassVar[cached_property[Retriever]] = _part("retriever")
    evaluator: ClassVar[cached_property[Evaluator]] = _part("evaluator")
    policy: ClassVar[cached_property[Policy]] = _part("policy")
    refiner: ClassVar[cached_property[Refiner]] = _part("refiner")
    rewriter: ClassVar[cached_property[Rewriter]] = _part("rewriter")
    searcher: ClassVar[cached_property[Searcher]] = _part("searcher")
    llm: ClassVar[cached_property[LLM]] = _part("llm")
    generator: ClassVar[cached_property[Generator]] = _part("generator")
    verifier: ClassVar[cached_property[Verifier]] = _part("verifier")

    @cached_property
    def network(self) -> Network:
        """The way to other machines."""
        return assemble("[network]", Network, self.config["network"], {})

    @cached_property
    def index(self) -> Index:
        """The index that the retrievers search."""
        return assemble("[index]", Index.open, self.config["index"], {})

    @property
    def opened(self) -> Index | None:
        """The index, if a part that was built reads it; a retriever of one's own may need none."""
        return self.__dict__.get("index")

    @cached_property
    def reader(self) -> Evaluator:
        """The evaluator that points at the words that answer: the configured one if it can, else the shipped one."""
        if returns_spans(self.evaluator):
            return self.evaluator
        shipped: Evaluator = self.built("evaluator", DEFAULTS["evaluator"])
        return shipped

    @cached_property
    def retrievers(self) -> tuple[Retriever, ...]:
        """The retrievers that `hybrid` fuses."""
        return self._several("retrievers", self.config["retriever"].get("retrievers", HYBRID))

    @cached_property
    def evaluators(self) -> tuple[Evaluator, ...]:
        """The evaluators that `cascade` is made of."""
        return self._several("evaluators", self.config["evaluator"].get("evaluators", CASCADE))

    @cached_property
    def thresholds(self) -> Thresholds:
        """The evaluator's own, a preset's or a file's, or the evaluator's with single values replaced.

        Raises ConfigError for those of another evaluator.
        """
        section, evaluator = self._thresholds, self.evaluator
        if section.preset is not None:
            if section.preset not in PRESETS:
                raise ConfigError(components.misnamed("no thresholds called", section.preset, PRESETS))
            chosen = PRESETS[section.preset]
            if evaluator.name.startswith(f"{chosen.evaluator}-"):  # of whatever weights
                chosen = replace(chosen, evaluator=evaluator.name)
        elif section.file is not None:
            chosen = _fitted(section.file)
        else:
            values = {key: value for key, value in section.set().items() if key in ("upper", "lower", "strip")}
            chosen = self._replaced(evaluator.thresholds, values, section.evaluator, "[thresholds]")
        require_match(chosen, evaluator.name)
        return chosen

    @cached_property
    def outside(self) -> Thresholds | None:
        """Those for passages from outside, the others' values where they give none; None: the same for all."""
        values = ExternalThresholds.parsed("[thresholds.external]", self._thresholds.external).set()
        if not values:
            return None
        return self._replaced(self.thresholds, values, self._thresholds.evaluator, "[thresholds.external]")

    @cached_property
    def _thresholds(self) -> ThresholdsSection:
        return ThresholdsSection.parsed("[thresholds]", self.config["thresholds"])

    def _replaced(self, own: Thresholds, values: dict[str, Any], evaluator: str | None, where: str) -> Thresholds:
        """Thresholds with single values replaced, which then are set by hand."""
        if values and evaluator is None and isinstance(self.evaluator, Cascade):
            raise ConfigError(_WHOSE.format(name=self.evaluator.name))
        changed = values | ({"fitted_on": "set by hand"} if values else {})
        return _ordered(replace(own, **changed, evaluator=evaluator or own.evaluator), where, "give both")

    def built(self, role: str, section: Any = None) -> Any:
        """The component of a role that its section names, or that of another section."""
        section = self.config[role] if section is None else section
        section = {"use": section} if isinstance(section, str) else section
        if not isinstance(section, Mapping) or not isinstance(section.get("use"), str):
            raise ConfigError(f"a {role} within a component is a name, or a table with `use`, not {section!r}")
        component = self._object(role) if OBJECT in section else self._component(role, section)
        if role == "evaluator" and not isinstance(component, Cascade):
            # A cascade's parts are cached each, and its own grade may be one that stood in for a failure.
            return CachedEvaluator(component)
        if role == "llm" and section is self.config["llm"] and self.config["budget"].keys() - {"seconds"}:
            return Budgeted(component, prices(section))
        return component

    def _component(self, role: str, section: Mapping[str, Any]) -> Any:
        options = options_of(section)
        for key in [key for key in options if key in INNER]:
            if key in ("of", "reranker"):
                options[key] = self.built(INNER[key] or role, options[key])
            else:
                options[key] = self._several(key, options[key])
        return build(role, section["use"], options, self.shared)

    def _several(self, key: str, chosen: Any) -> tuple[Any, ...]:
        """Components within a component, each a name or a table of `use` and options."""
        role, whole = INNER[key], {"retrievers": "hybrid", "evaluators": "cascade"}.get(key, "")
        listed = chosen if isinstance(chosen, Sequence) and not isinstance(chosen, str) else ()
        sections = [{"use": part} if isinstance(part, str) else part for part in listed]
        alone = all(
            isinstance(part, Mapping) and part.get("use", whole) != whole and key not in part for part in sections
        )
        if not sections or not alone:
            other = f" other than {whole}" if whole else ""
            raise ConfigError(f"{key} must be a list of {key}{other}, not {chosen!r}")
        return tuple(self.built(role, part) for part in sections)

    def _object(self, role: str) -> Any:
        if role not in self.objects:
            raise ConfigError(
                f"the {role} was an object of {self.config[role]['use']}, which no configuration can build; give it "
                f"again: surefoot.load(config, parts={{'{role}': …}})"
            )
        return self.objects[role]

    @property
    def shared(self) -> dict[str, Callable[[], Any]]:
        """A getter of each part that constructors may ask for, by the name of their parameter."""
        return {name: partial(getattr, self, name) for name in SHARED}


def prices(section: Mapping[str, Any]) -> Prices | None:
    """The prices of a language model's section; None: it has none."""
    read, written = section.get("input_price"), section.get("output_price")
    return None if read is None or written is None else Prices(read, written)


def _fitted(file: str) -> Thresholds:
    try:
        chosen = from_json(Thresholds, read_file(file))
    except TraceFault as error:
        raise ConfigError(f"{file} holds no thresholds as `surefoot lab tune --out` writes them: {error}") from error
    return _ordered(chosen, f"{file}:", "fit them again")


def _ordered(chosen: Thresholds, where: str, way_out: str) -> Thresholds:
    if chosen.lower > chosen.upper:
        raise ConfigError(f"{where} lower {chosen.lower} lies above upper {chosen.upper}; {way_out}")
    return chosen
