"""From a configuration to a pipeline: each section's component is built when it is first wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from surefoot import components
from surefoot.config.faults import (
    BY_SOURCE,
    JUDGING,
    LIMITS,
    LISTS,
    OBJECT,
    PRICES,
    SHARED,
    budget_faults,
    by_hand_faults,
    faults,
    judge_faults,
    listed,
    options_of,
    outside_faults,
    pipeline_faults,
    taken,
)
from surefoot.config.settings import DEFAULTS, Config, _file, read
from surefoot.evaluators._cached import CachedEvaluator
from surefoot.evaluators.cascade import Cascade
from surefoot.evidence.answer_policy import AnswerPolicy
from surefoot.evidence.policies import PRESETS, require_match
from surefoot.evidence.sources import Sources
from surefoot.index.search import Index
from surefoot.judges._diamond import metric as declared
from surefoot.judges._diamond import metrics as diamond
from surefoot.llms._budgeted import Budgeted
from surefoot.llms._cached import CachedLLM
from surefoot.llms._rate_limited import RateLimitedLLM
from surefoot.network import Network
from surefoot.pipeline import Pipeline
from surefoot.run.cost import Budget
from surefoot.run.origin import Origin
from surefoot.run.store import from_json
from surefoot.text.conversation import Conversation
from surefoot.types import Thresholds
from surefoot.types.errors import ConfigError, IndexFault, TraceFault
from surefoot.types.llms import Prices
from surefoot.types.protocols import LLM, Judge, Policy, VectorDatabase, returns_spans

HYBRID = ("bm25", "dense")
"""The retrievers that `hybrid` fuses unless `retrievers` names others."""

CASCADE = (DEFAULTS["evaluator"]["use"], "llm")
"""The evaluators of `cascade` unless `evaluators` names others: a cheap one, and one to ask where it is unsure."""

JUDGES = ("embedded", "llm")
"""Ways to judge a metric: on this machine without a language model, or by one."""

_NOT_PACED = ("seconds", "cache")
"""Limits of `[judge]` that are for its plan, and for its cache."""

WITHOUT_INDEX = (
    "or bring your own: surefoot.load(parts={'retriever': …}), or surefoot.correct(question, passages), "
    "which needs no index"
)
"""The ways out for a program that has no index."""

_WHOSE = (
    "[thresholds] of a cascade leave it unsaid whose scores they are for; where they are for the cascade's, which its "
    "later evaluators have moved, say: evaluator = '{name}'"
)

JUDGEMENTS = ".surefoot/judgements.db"
"""Where the replies of judging models are kept unless `[judge] cache` names another file, or none ("")."""


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

    Raises ConfigError, IndexFault or MissingExtra; UnagreedCode, which is a ConfigError, for a file that names code
    that was never agreed to in this folder.
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


@dataclass(frozen=True)
class Builder:
    """Builds the parts of one pipeline, each shared part once and only when it is wanted."""

    config: Config
    parts: Mapping[str, Any] = field(default_factory=dict)
    """Objects that are not built, by role."""

    @cached_property
    def network(self) -> Network:
        """The way to other machines."""
        return components.assemble("[network]", Network, self.config["network"], {})  # type: ignore[no-any-return]

    @cached_property
    def index(self) -> Index:
        """The index that the retrievers search."""
        return components.assemble("[index]", Index.open, self.config["index"], {})  # type: ignore[no-any-return]

    @cached_property
    def embedder(self) -> Any:
        """The embedder, for the index and the dense retriever."""
        return self._built("embedder")

    @cached_property
    def llm(self) -> Any:
        """The language model; with a budget, one that heeds it."""
        model, prices = self._built("llm"), _prices(self.config["llm"])
        return Budgeted(model, prices) if self.config["budget"].keys() - {"seconds"} else model

    @cached_property
    def evaluator(self) -> Any:
        """The evaluator, which grades passages and strips."""
        return self._built("evaluator")

    @cached_property
    def generator(self) -> Any:
        """The generator, which answers from the evidence."""
        return self._built("generator")

    @cached_property
    def verifier(self) -> Any:
        """The verifier, which says whether evidence carries a sentence."""
        return self._built("verifier")

    @cached_property
    def reader(self) -> Any:
        """The evaluator that points at the words that answer: the configured one if it can, else the shipped one."""
        return self.evaluator if returns_spans(self.evaluator) else self._built("evaluator", DEFAULTS["evaluator"])

    @cached_property
    def retrievers(self) -> tuple[Any, ...]:
        """The retrievers that `hybrid` fuses."""
        return self._fused(self.config["retriever"].get("retrievers", HYBRID))

    def _fused(self, chosen: Any) -> tuple[Any, ...]:
        if not listed(chosen) or "hybrid" in chosen:
            raise ConfigError(f"retrievers must be a list of retrievers other than hybrid, not {chosen!r}")
        return tuple(components.build("retriever", name, {}, self._parts) for name in chosen)

    @cached_property
    def evaluators(self) -> tuple[Any, ...]:
        """The evaluators that `cascade` is made of; each a name, or a table of `use` and options."""
        return self._graders(self.config["evaluator"].get("evaluators", CASCADE))

    def _graders(self, chosen: Any) -> tuple[Any, ...]:
        parts = [{"use": part} if isinstance(part, str) else part for part in listed(chosen)]
        if not parts or not all(_stands_alone(part) for part in parts):
            raise ConfigError(f"evaluators must be a list of evaluators other than cascade, not {chosen!r}")
        return tuple(self._built("evaluator", part) for part in parts)

    @cached_property
    def thresholds(self) -> Thresholds:
        """The evaluator's own, a preset's or a file's, or the evaluator's with single values replaced.

        Raises ConfigError for those of another evaluator.
        """
        given, name = {k: v for k, v in self.config["thresholds"].items() if k != BY_SOURCE}, self.evaluator.name
        if "preset" in given:
            chosen = components.assemble("[thresholds]", _preset, given, {})
            if name.startswith(f"{chosen.evaluator}-"):  # of whatever weights
                chosen = replace(chosen, evaluator=name)
        elif "file" in given:
            chosen = components.assemble("[thresholds]", _fitted, given, {})
        else:
            chosen = self._by_hand(given)
        require_match(chosen, name)
        return chosen  # type: ignore[no-any-return]

    @cached_property
    def outside(self) -> Thresholds | None:
        """Those for passages from outside, the others' values where they give none; None: the same for all."""
        given = self.config["thresholds"].get(BY_SOURCE, {})
        _raise(outside_faults(given))
        if not given:
            return None
        if isinstance(self.evaluator, Cascade) and "evaluator" not in self.config["thresholds"]:
            raise ConfigError(_WHOSE.format(name=self.evaluator.name))
        chosen = replace(self.thresholds, **{"fitted_on": "set by hand", **given})
        return _ordered(chosen, f"[thresholds.{BY_SOURCE}]", "give both")

    def _by_hand(self, given: Mapping[str, Any]) -> Thresholds:
        """The evaluator's own with single values replaced; under the name of `evaluator`, where one is given."""
        values = {key: value for key, value in given.items() if key != "evaluator"}
        _raise(by_hand_faults(values))
        own: Thresholds = self.evaluator.thresholds
        if values and "evaluator" not in given and isinstance(self.evaluator, Cascade):
            raise ConfigError(_WHOSE.format(name=own.evaluator))
        chosen = replace(own, **{"fitted_on": "set by hand" if values else own.fitted_on, **given})
        return _ordered(chosen, "[thresholds]", "give both")

    @cached_property
    def judging(self) -> RateLimitedLLM:
        """The language model that judges ask: that of `[judge.llm]` or else of `[llm]`, within the limits of
        `[judge]`."""
        own = {key: value for key, value in self.config["judge"].items() if key in LIMITS and key not in _NOT_PACED}
        section = self._judging_section
        own = {key: section[key] for key in PRICES if key in section} | own
        if section["use"] == "openai":
            section = {**section, "retries": 0}  # RateLimitedLLM does it, which sees that too much is asked
        parts = {"llm": lambda: self._built("llm", section)}
        return components.assemble("[judge]", RateLimitedLLM, {"in_flight": self.in_flight, **own}, parts)  # type: ignore[no-any-return]

    @property
    def in_flight(self) -> int:
        """Judgements at a time: 64 where an endpoint is asked, else one."""
        chosen = self.config["judge"].get("in_flight", 64 if self._asks_an_endpoint else 1)
        if not isinstance(chosen, int) or isinstance(chosen, bool) or chosen < 1:
            raise ConfigError(f"[judge] in_flight must be a whole number from 1 up, not {chosen!r}")
        return chosen

    def judges(self, metrics: Sequence[str] | None = None) -> tuple[Judge, ...]:
        """A judge for each metric; None: those that `[judge]` names, or else the diamond's six.

        `[judge] use` says whether language models judge or this machine does; where it does not, a language model
        judges if there is an endpoint to ask. A key named as a metric says it for that metric: a name, or a table with
        `use` and options, and `use` may be any judge's name. Raises ConfigError.
        """
        chosen = self.config["judge"].get("metrics", [*diamond()]) if metrics is None else metrics
        if not listed(chosen) or len(set(chosen)) < len(chosen):
            raise ConfigError(f"judge.metrics must be a list of metrics, each once, not {chosen!r}")
        _raise(judge_faults(self.config["judge"]))
        return tuple(self._judge(metric) for metric in chosen)

    def _judge(self, metric: str) -> Judge:
        section = self.config["judge"]
        own = section.get(metric, {})
        own = {"use": own} if isinstance(own, str) else dict(own)
        use = own.pop("use", section.get("use", JUDGES[self._asks_an_endpoint]))
        if use not in JUDGES and metric not in section:
            raise ConfigError(f"[judge] use must be one of {', '.join(JUDGES)}, not {use!r}")
        shared = {key: section[key] for key in JUDGING if key in section}
        if use == "llm" and declared(metric):
            return components.build("judge", "llm", {"metric": metric, **shared, **own}, self._judging_parts)  # type: ignore[no-any-return]
        return components.build("judge", metric if use in JUDGES else use, own, self._judging_parts)  # type: ignore[no-any-return]

    @property
    def _judging_section(self) -> dict[str, Any]:
        section = self.config["judge"].get("llm", self.config["llm"])
        if not isinstance(section, Mapping) or not isinstance(section.get("use"), str):
            raise ConfigError(f"[judge.llm] is a table with `use`, like [llm], not {section!r}")
        return dict(section)

    @property
    def _asks_an_endpoint(self) -> bool:
        return bool(self._judging_section["use"] == "openai")

    @property
    def _judging_parts(self) -> dict[str, Callable[[], Any]]:
        return {**self._parts, "llm": lambda: self.asked}

    @cached_property
    def asked(self) -> LLM:
        """The model that judges ask, behind the cache of its earlier replies."""
        file = self.config["judge"].get("cache", JUDGEMENTS)
        if not isinstance(file, str):
            raise ConfigError(f"[judge] cache must be the name of a file, or empty, not {file!r}")
        where = "".join(
            str(self._judging_section.get(key, "")) for key in ("base_url", "api", "template", "extra_body")
        )
        return CachedLLM(self.judging, Path(file), where) if file else self.judging

    @cached_property
    def sources(self) -> Sources:
        """The sources that are trusted, and those that are untrusted."""
        return components.assemble("[sources]", _sources, self.config["sources"], {})  # type: ignore[no-any-return]

    @cached_property
    def answering(self) -> AnswerPolicy:
        """What is done with an answer that no source carries."""
        return components.assemble("[answer]", AnswerPolicy, self.config["answer"], {})  # type: ignore[no-any-return]

    @cached_property
    def budget(self) -> Budget:
        """The most that a question may cost."""
        _raise(budget_faults(self.config))
        return components.assemble("[budget]", Budget, self.config["budget"], {})  # type: ignore[no-any-return]

    def policy(self) -> Policy:
        """The policy, which turns grades into an action."""
        options = dict(self.config["policy"])
        if OBJECT in options:
            return self._object("policy")  # type: ignore[no-any-return]
        return components.build("policy", options.pop("use"), options, self._parts)  # type: ignore[no-any-return]

    def pipeline(self) -> Pipeline:
        """The whole. Raises one ConfigError for all that is wrong with the configuration, also where the index is
        missing; else IndexFault."""
        try:
            return self._pipeline()
        except (ConfigError, IndexFault) as error:
            own = error.args if isinstance(error, ConfigError) else ()
            if found := dict.fromkeys((*own, *faults(self.config))):
                raise ConfigError(*found) from error
            raise

    def _pipeline(self) -> Pipeline:
        roles = ("retriever", "evaluator", "refiner", "rewriter", "searcher", "generator", "verifier")
        built: dict[str, Any] = {
            role: getattr(self, role) if role in ("evaluator", "generator", "verifier") else self._built(role)
            for role in roles
        }
        options = self.config["pipeline"]
        _raise(pipeline_faults(options))
        conversation = Conversation(self.llm if self.config["generator"]["use"] == "llm" else None)
        built |= {"policy": self.policy(), "sources": self.sources, "config": self.config, **options}
        built |= {
            "conversation": conversation,
            "answering": self.answering,
            "outside": self.outside,
            "budget": self.budget,
        }
        return Pipeline(**built, origin=Origin(partial(_piped, self.config, self.parts), built))

    def push(self) -> str:
        """Copy the index to the server of the configured retriever; what was done, in words."""
        retriever = self._built("retriever")
        if not isinstance(retriever, VectorDatabase):
            raise ConfigError(f"retriever '{self.config['retriever']['use']}' has no server to push to; pgvector has")
        return str(retriever.push(zip(self.index.passages(), self.index.vectors(), strict=True)))

    def _built(self, role: str, section: Mapping[str, Any] | None = None) -> Any:
        section = self.config[role] if section is None else section
        built = self._object(role) if OBJECT in section else self._component(role, section)
        # Not a cascade: its parts are remembered each, and its own grade may be one that stood in for a failure.
        return CachedEvaluator(built) if role == "evaluator" and not isinstance(built, Cascade) else built

    def _component(self, role: str, section: Mapping[str, Any]) -> Any:
        if role == "searcher":
            section = {**section, **self._inner_searchers(section)}
        if role == "retriever":
            inner = {"of": "retriever", "reranker": "evaluator"}
            section = {**section, **{key: self._inner(inner[key], section[key]) for key in inner.keys() & section}}
        options = options_of(section)
        _raise(taken(role, options))
        made = {"retrievers": self._fused, "evaluators": self._graders}
        options |= {key: made[key](options[key]) for key in options.keys() & LISTS}
        return components.build(role, section["use"], options, self._parts)

    def _object(self, role: str) -> Any:
        if role not in self.parts:
            raise ConfigError(
                f"the {role} was an object of {self.config[role]['use']}, which no configuration can build; give it "
                f"again: surefoot.load(config, parts={{'{role}': …}})"
            )
        return self.parts[role]

    def _inner_searchers(self, section: Mapping[str, Any]) -> dict[str, Any]:
        """The searchers inside a searcher, to any depth: `of` is one, `searchers` are several."""
        made: dict[str, Any] = {"of": self._inner("searcher", section["of"])} if "of" in section else {}
        if "searchers" in section:
            made["searchers"] = tuple(self._inner("searcher", part) for part in listed(section["searchers"]))
        return made

    def _inner(self, role: str, part: Any) -> Any:
        section = {"use": part} if isinstance(part, str) else part
        if not isinstance(section, Mapping) or not isinstance(section.get("use"), str):
            raise ConfigError(f"a {role} within a component is a name, or a table with `use`, not {part!r}")
        return self._built(role, section)

    @property
    def _parts(self) -> dict[str, Callable[[], Any]]:
        return {name: lambda name=name: getattr(self, name) for name in SHARED}  # type: ignore[misc]


def _piped(config: Config, parts: Mapping[str, Any]) -> Pipeline:
    return Builder(config, parts).pipeline()


def _raise(faults: Iterable[str]) -> None:
    if found := [*faults]:
        raise ConfigError(*found)


def _stands_alone(part: Any) -> bool:
    """True for an evaluator that is not itself made of evaluators."""
    return (
        isinstance(part, Mapping)
        and isinstance(use := part.get("use"), str)
        and use != "cascade"
        and "evaluators" not in part
    )


def _prices(section: Mapping[str, Any]) -> Prices | None:
    asked, said = (section.get(key) for key in PRICES)
    return None if asked is None or said is None else Prices(asked, said)


def _sources(trusted: Sequence[str] = (), untrusted: Sequence[str] = ()) -> Sources:
    for key, patterns in (("trusted", trusted), ("untrusted", untrusted)):
        if isinstance(patterns, str) or not all(isinstance(pattern, str) for pattern in patterns):
            raise ConfigError(f'[sources] {key} must be a list of patterns, as in ["faq/*"], not {patterns!r}')
    return Sources(tuple(trusted), tuple(untrusted))


def _preset(preset: str) -> Thresholds:
    if preset not in PRESETS:
        raise ConfigError(components.misnamed("no thresholds called", preset, PRESETS))
    return PRESETS[preset]


def _fitted(file: str) -> Thresholds:
    try:
        chosen = from_json(Thresholds, _file(file))
    except TraceFault as error:
        raise ConfigError(f"{file} holds no thresholds as `surefoot lab tune --out` writes them: {error}") from error
    return _ordered(chosen, f"{file}:", "fit them again")


def _ordered(chosen: Thresholds, where: str, way_out: str) -> Thresholds:
    if chosen.lower > chosen.upper:
        raise ConfigError(f"{where} lower {chosen.lower} lies above upper {chosen.upper}; {way_out}")
    return chosen
