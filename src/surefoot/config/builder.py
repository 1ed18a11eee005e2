"""From a configuration to a pipeline, and to the judges of an evaluation."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

from surefoot import components
from surefoot.config.faults import faults, section_faults
from surefoot.config.judging import JudgeBuilder
from surefoot.config.options import INNER, OBJECT, SHARED, assemble, build, options_of
from surefoot.config.sections import ExternalThresholds, ThresholdsSection, prices
from surefoot.config.settings import DEFAULTS, Config, read, read_file
from surefoot.evaluators._cached import CachedEvaluator
from surefoot.evaluators.cascade import Cascade
from surefoot.evidence.answer_policy import AnswerPolicy
from surefoot.evidence.policies import PRESETS, require_match
from surefoot.evidence.sources import Sources
from surefoot.generators.extractive import Extractive
from surefoot.index.push import Pushed, push
from surefoot.index.search import Index
from surefoot.llms._budgeted import Budgeted
from surefoot.network import Network
from surefoot.pipeline import Pipeline
from surefoot.run.conversation import Conversation
from surefoot.run.cost import Budget
from surefoot.run.origin import Origin
from surefoot.run.store import from_json
from surefoot.types import Thresholds, protocols
from surefoot.types.errors import ConfigError, IndexFault, TraceFault
from surefoot.types.protocols import LLM, Evaluator, Retriever, Store, returns_spans

WITHOUT_INDEX = (
    "or bring your own: surefoot.load(parts={'retriever': …}), or surefoot.correct(question, passages), "
    "which needs no index"
)
"""The ways out for a program that has no index."""

_ROLES = ("retriever", "evaluator", "policy", "refiner", "rewriter", "searcher", "generator", "verifier")

_WHOSE = (
    "[thresholds] of a cascade leave it unsaid whose scores they are for; where they are for the cascade's, which its "
    "later evaluators have moved, say: evaluator = '{name}'"
)


def load(
    source: str | Path | Mapping[str, Any] | None = None,
    *,
    parts: Mapping[str, Any] | None = None,
    **sections: Mapping[str, Any],
) -> Pipeline:
    """The pipeline of a TOML file, a dictionary, or neither; keyword arguments override whole keys of sections.

    `load(searcher={"use": "folder", "path": "outside.db"})`. `parts` are objects of your own by role, as in
    `load(parts={"retriever": Mine()})`; each takes the place of what its section says, and with a retriever of
    your own no index is needed. The configuration then names their classes, and says that it cannot build them.

    Raises ConfigError, IndexFault or MissingExtra; UnagreedCode, which is a ConfigError, for a file that names
    code without SUREFOOT_TRUST=1.
    """
    config, own = read(source, sections), dict(parts or {})
    for role, part in own.items():
        config[role] = {"use": components.described(role, part), OBJECT: True}
    try:
        return Builder(config, own).pipeline()
    except IndexFault as error:
        if "retriever" in own or Path(config["index"]["path"]).exists():
            raise
        raise IndexFault(f"{error}; {WITHOUT_INDEX}") from error


def _part(role: str) -> cached_property[Any]:
    return cached_property(lambda parts: parts.built(role))


@dataclass(frozen=True)
class Builder(JudgeBuilder):
    """Builds one pipeline, its judges, or any of its parts: each when it is first wanted, and shared by all that want
    it."""

    embedder: ClassVar[cached_property[protocols.Embedder]] = _part("embedder")
    retriever: ClassVar[cached_property[Retriever]] = _part("retriever")
    evaluator: ClassVar[cached_property[Evaluator]] = _part("evaluator")
    policy: ClassVar[cached_property[protocols.Policy]] = _part("policy")
    refiner: ClassVar[cached_property[protocols.Refiner]] = _part("refiner")
    rewriter: ClassVar[cached_property[protocols.Rewriter]] = _part("rewriter")
    searcher: ClassVar[cached_property[protocols.Searcher]] = _part("searcher")
    llm: ClassVar[cached_property[LLM]] = _part("llm")
    generator: ClassVar[cached_property[protocols.Generator]] = _part("generator")
    verifier: ClassVar[cached_property[protocols.Verifier]] = _part("verifier")

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
        """The evaluator that points at the words that answer: the configured one if it can, of a cascade the last that
        can, else the shipped one."""
        own = self.evaluator
        stages = own.evaluators if isinstance(own, Cascade) else (own,)
        if pointing := next(filter(returns_spans, reversed(stages)), None):
            return pointing
        shipped: Evaluator = self.built("evaluator", DEFAULTS["evaluator"])
        return shipped

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
            return Budgeted(component, prices("[llm]", section))
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

    def pipeline(self) -> Pipeline:
        """The whole. Raises one ConfigError for all that is wrong with the configuration, also where the index is
        missing; else IndexFault."""
        try:
            made = self._values() | {name: getattr(self, name) for name in (*_ROLES, "outside", "config")}
        except (ConfigError, IndexFault) as error:
            own = error.args if isinstance(error, ConfigError) else ()
            if found := dict.fromkeys((*own, *faults(self.config))):
                raise ConfigError(*found) from error
            raise
        if not isinstance(made["generator"], Extractive):
            made["quoting"] = Extractive(self.reader)
        made["conversation"] = Conversation(self.llm if self.config["generator"]["use"] == "llm" else None)
        return Pipeline(**made, origin=Origin(partial(_pipeline, self.config, self.objects), made))

    def _values(self) -> dict[str, Any]:
        """The values of the sections of plain values. Raises ConfigError with their faults."""
        if found := [*section_faults(self.config)]:
            raise ConfigError(*found)
        return {
            **self.config["pipeline"],
            "sources": Sources(**{key: tuple(patterns) for key, patterns in self.config["sources"].items()}),
            "answering": AnswerPolicy(**self.config["answer"]),
            "budget": Budget(**self.config["budget"]),
        }

    @property
    def store(self) -> Store:
        """The configured retriever, if it is a store. Raises ConfigError."""
        with suppress(IndexFault):  # a retriever over the index, where there is none
            if isinstance(self.retriever, Store):
                return self.retriever
        wrong = f"retriever '{self.config['retriever']['use']}' is no store to push to"
        raise ConfigError(f"{wrong}; use pgvector or lance")

    def push(self, on_progress: Callable[[int, int], None] = lambda done, total: None) -> Pushed:
        """Make the configured retriever's store hold what the index holds. Raises as `surefoot.index.push.push` does,
        and ConfigError where the retriever is no store."""
        store = self.store
        self.index.check(self.embedder)
        total = self.index.info().passages
        return push(store, self.index.rows, lambda done: on_progress(done, total))


def _pipeline(config: Config, objects: Mapping[str, Any]) -> Pipeline:
    return Builder(config, objects).pipeline()


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
