"""From a configuration to a pipeline, and to the judges of an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from surefoot import components
from surefoot.config.faults import faults, judge_faults, section_faults
from surefoot.config.options import OBJECT, assemble, build
from surefoot.config.parts import Parts
from surefoot.config.sections import LIMITS, RATING, JudgeSection, PricesSection
from surefoot.config.settings import Config, read
from surefoot.evidence.answer_policy import AnswerPolicy
from surefoot.evidence.sources import Sources
from surefoot.judges._diamond import metric as declared, metrics as diamond
from surefoot.llms._cached import CachedLLM
from surefoot.llms._rate_limited import RateLimitedLLM
from surefoot.pipeline import Pipeline
from surefoot.run.conversation import Conversation
from surefoot.run.cost import Budget
from surefoot.run.origin import Origin
from surefoot.types.errors import ConfigError, IndexFault
from surefoot.types.protocols import LLM, Judge, VectorDatabase

JUDGES = ("embedded", "llm")
"""Ways to judge a metric: on this machine without a language model, or by one."""

IN_FLIGHT = 64
"""Judgements at a time where an endpoint is asked."""

WITHOUT_INDEX = (
    "or bring your own: surefoot.load(parts={'retriever': …}), or surefoot.correct(question, passages), "
    "which needs no index"
)
"""The ways out for a program that has no index."""

_ROLES = ("retriever", "evaluator", "policy", "refiner", "rewriter", "searcher", "generator", "verifier")
_PACE = LIMITS - {"in_flight", "seconds", "cache"}


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


class Builder(Parts):
    """Builds one pipeline, its judges, or any of its parts."""

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

    def push(self) -> str:
        """Copy the index to the server of the configured retriever; what was done, in words."""
        if not isinstance(self.retriever, VectorDatabase):
            raise ConfigError(f"retriever '{self.config['retriever']['use']}' has no server to push to; pgvector has")
        return str(self.retriever.push(zip(self.index.passages(), self.index.vectors(), strict=True)))

    def judges(self, metrics: Sequence[str] | None = None) -> tuple[Judge, ...]:
        """A judge for each metric; None: those that `[judge]` names, or else the diamond's six.

        `[judge] use` says whether language models judge or this machine does; where it does not, a language model
        judges if there is an endpoint to ask. A key named as a metric says it for that metric: a name, or a table with
        `use` and options, and `use` may be any judge's name. Raises ConfigError.
        """
        chosen = [*diamond()] if self._judge.metrics is None else self._judge.metrics
        chosen = chosen if metrics is None else [*metrics]
        if len(set(chosen)) < len(chosen):
            raise ConfigError(f"[judge] metrics must be a list of metrics, each once, not {chosen!r}")
        if found := [*judge_faults(self.config["judge"], chosen)]:
            raise ConfigError(*found)
        return tuple(self._judge_of(metric) for metric in chosen)

    def _judge_of(self, metric: str) -> Judge:
        section = self.config["judge"]
        options = section.get(metric, {})
        options = {"use": options} if isinstance(options, str) else dict(options)
        use = options.pop("use", self._judge.use or JUDGES[self._asks_an_endpoint])
        if use not in JUDGES and metric not in section:
            raise ConfigError(f"[judge] use must be one of {', '.join(JUDGES)}, not {use!r}")
        name = metric if use in JUDGES else use
        if use == "llm" and declared(metric):
            rating = {key: section[key] for key in RATING if key in section}
            name, options = "llm", {"metric": metric, **rating, **options}
        judge: Judge = build("judge", name, options, {**self.shared, "llm": lambda: self.judging_llm})
        return judge

    @cached_property
    def judging(self) -> RateLimitedLLM:
        """The language model that judges ask: that of `[judge.llm]` or else of `[llm]`, within the limits of
        `[judge]`."""
        section, limits = self._judging_section, self._judge.set()
        prices = {key: section[key] for key in PricesSection.model_fields if key in section}
        pace = prices | {key: value for key, value in limits.items() if key in _PACE}
        if section["use"] == "openai":
            section = {**section, "retries": 0}  # RateLimitedLLM does it, which sees that too much is asked
        parts: dict[str, Callable[[], Any]] = {"llm": lambda: self.built("llm", section)}
        return assemble("[judge]", RateLimitedLLM, {"in_flight": self.in_flight, **pace}, parts)

    @cached_property
    def judging_llm(self) -> LLM:
        """The same behind the cache of its earlier replies."""
        keys = ("base_url", "api", "template", "extra_body")
        where = "".join(str(self._judging_section.get(key, "")) for key in keys)
        file = self._judge.cache
        return CachedLLM(self.judging, Path(file), where) if file else self.judging

    @property
    def in_flight(self) -> int:
        """Judgements at a time: 64 where an endpoint is asked, else one."""
        return self._judge.in_flight or (IN_FLIGHT if self._asks_an_endpoint else 1)

    @cached_property
    def _judge(self) -> JudgeSection:
        return JudgeSection.parsed("[judge]", self.config["judge"])

    @property
    def _judging_section(self) -> dict[str, Any]:
        section = self.config["llm"] if self._judge.llm is None else self._judge.llm
        if not isinstance(section.get("use"), str):
            raise ConfigError(f"[judge.llm] is a table with `use`, like [llm], not {section!r}")
        return dict(section)

    @property
    def _asks_an_endpoint(self) -> bool:
        return bool(self._judging_section["use"] == "openai")


def _pipeline(config: Config, objects: Mapping[str, Any]) -> Pipeline:
    return Builder(config, objects).pipeline()
