"""From a configuration to the judges of an evaluation, and to the language models that judge and report."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from surefoot import components
from surefoot.config.faults import judge_faults
from surefoot.config.options import build
from surefoot.config.sections import RATING, JudgeSection, MetricSection, PricesSection, ReportSection, prices
from surefoot.config.settings import Config
from surefoot.judges._diamond import metric as declared, metrics as diamond
from surefoot.llms._cached import CachedLLM
from surefoot.llms._rate_limited import RateLimitedLLM
from surefoot.run.cost import NO_BUDGET, Budget
from surefoot.types import Metric, protocols
from surefoot.types.errors import ConfigError
from surefoot.types.protocols import LLM, Judge

JUDGES = ("embedded", "llm")
"""Ways to judge a metric: on this machine without a language model, or by one."""

IN_FLIGHT = 64
"""Judgements at a time where an endpoint is asked."""

PATIENT = 300.0
"""Seconds of a call for an insight or a report: a model that thinks hard about four thousand tokens takes minutes."""

_PACE = ("requests_per_minute", "timeout", "retries", "patience")


@dataclass(frozen=True)
class JudgeBuilder(ABC):
    """Builds the judges, and the models that they and the report ask."""

    config: Config
    objects: Mapping[str, Any] = field(default_factory=dict)
    """Components that are not built, by role."""

    @abstractmethod
    def built(self, role: str, section: Any = None) -> Any:
        """The component of a role that its section names, or that of another section."""

    @property
    @abstractmethod
    def shared(self) -> dict[str, Callable[[], Any]]:
        """A getter of each part that constructors may ask for, by the name of their parameter."""

    def judges(self, metrics: Sequence[str] | None = None) -> tuple[Judge, ...]:
        """A judge for each metric; None: those that `[judge]` names, or else the diamond's six and those of `[metric]`.

        `[judge] use` says whether language models judge or this machine does; where it does not, a language model
        judges if there is an endpoint to ask. A key named as a metric says it for that metric: a name, or a table with
        `use` and options, and `use` may be any judge's name. Raises ConfigError.
        """
        named = self._judge.metrics if metrics is None else metrics
        chosen = [*diamond(), *self.own_metrics] if named is None else [*named]
        if len(set(chosen)) < len(chosen):
            raise ConfigError(f"[judge] metrics must be a list of metrics, each once, not {chosen!r}")
        if found := [*judge_faults(self.config["judge"], chosen)]:
            raise ConfigError(*found)
        return tuple(self._judge_of(metric) for metric in chosen)

    @cached_property
    def own_metrics(self) -> dict[str, Metric]:
        """The metrics of `[metric]`, by name. Raises ConfigError."""
        taken = {*components.names("judge"), *JudgeSection.model_fields}
        for name in self.config["metric"]:
            if not name.isidentifier() or name in taken:
                raise ConfigError(f"[metric.{name}] needs a name of letters, digits and _ that nothing else has")
        sections = self.config["metric"].items()
        return {name: MetricSection.parsed(f"[metric.{name}]", of).metric(name) for name, of in sections}

    def _judge_of(self, metric: str) -> Judge:
        section = self.config["judge"]
        options = section.get(metric, {})
        options = {"use": options} if isinstance(options, str) else dict(options)
        own = self.own_metrics.get(metric)
        use = "llm" if own else options.pop("use", self._judge.use or JUDGES[self._asks_an_endpoint])
        if use not in JUDGES and metric not in section:
            raise ConfigError(f"[judge] use must be one of {', '.join(JUDGES)}, not {use!r}")
        name = metric if use in JUDGES else use
        about = own or (declared(metric) if use == "llm" else None)
        if about and about.choices:
            rating = {key: section[key] for key in RATING if key in section}
            name, options = "llm", {**rating, **options}
        parts: dict[str, Callable[[], Any]] = {"llm": lambda: self.judging_llm, "metric": lambda: about}
        judge: Judge = build("judge", name, options, {**self.shared, **parts})
        return judge

    def judging_for(self, judges: Iterable[Judge]) -> RateLimitedLLM | None:
        """The language model that these judges ask; None: none of them asks one."""
        return self.judging if any(isinstance(judge, protocols.PricedJudge) for judge in judges) else None

    @cached_property
    def judging(self) -> RateLimitedLLM:
        """The language model that judges ask: that of `[judge.llm]` or else of `[llm]`, within the limits of
        `[judge]`."""
        return self._limited("[judge]", self._judging_section, self._judge.set())

    @cached_property
    def judging_llm(self) -> LLM:
        """The same behind the cache of its earlier replies."""
        return self._remembering(self.judging, self._judging_section)

    @cached_property
    def reporting(self) -> RateLimitedLLM:
        """The language model that words insights and the report: that of `[report]`, else the judges'. It draws from
        the judges' budget, and has `PATIENT` seconds for a call, or `[report] timeout`."""
        if not self._report.set():
            return self.judging
        section, priced = self._reporting_section, PricesSection.model_fields
        other = self._report.set().keys() & {"use", "model", *priced}  # whose prices are not the judges'
        limits = {key: value for key, value in self._judge.set().items() if not (other and key in priced)}
        found = self._limited("[report]", section, limits | {"timeout": section.get("timeout", PATIENT)})
        if "judging" in self.__dict__:
            found.spending = self.judging.spending
        return found

    @cached_property
    def reporting_llm(self) -> LLM:
        """The same behind the cache of its earlier replies."""
        return self._remembering(self.reporting, self._reporting_section)

    def _limited(self, where: str, section: Mapping[str, Any], limits: Mapping[str, Any]) -> RateLimitedLLM:
        priced = prices(where, {**section, **limits})
        if section["use"] == "openai":
            section = {**section, "retries": 0}  # RateLimitedLLM does it, which sees that too much is asked
        budget = Budget.read(limits["budget"]) if limits.get("budget") else NO_BUDGET
        pace = {key: limits[key] for key in _PACE if key in limits}
        return RateLimitedLLM(self.built("llm", section), self.in_flight, **pace, prices=priced, budget=budget)

    def _remembering(self, model: RateLimitedLLM, section: Mapping[str, Any]) -> LLM:
        where = "".join(str(section.get(key, "")) for key in ("base_url", "api", "template", "extra_body"))
        return CachedLLM(model, Path(self._judge.cache), where) if self._judge.cache else model

    @property
    def in_flight(self) -> int:
        """Judgements at a time: 64 where an endpoint is asked, else one."""
        return self._judge.in_flight or (IN_FLIGHT if self._asks_an_endpoint else 1)

    @cached_property
    def _judge(self) -> JudgeSection:
        return JudgeSection.parsed("[judge]", self.config["judge"])

    @cached_property
    def _report(self) -> ReportSection:
        return ReportSection.parsed("[report]", self.config["report"])

    @property
    def report_tokens(self) -> int | None:
        """The room of an insight and of the report; None: it is not set."""
        return self._report.max_tokens

    @property
    def _reporting_section(self) -> dict[str, Any]:
        own = {key: value for key, value in self._report.set().items() if key not in ("effort", "max_tokens")}
        section = self._judging_section
        if own.get("use", section["use"]) != section["use"]:
            section = {}  # another component has other options
        elif "model" in own:  # and another model other prices
            section = {key: value for key, value in section.items() if key not in PricesSection.model_fields}
        if (effort := self._report.effort) is not None:
            own["extra_body"] = {**own.get("extra_body", section.get("extra_body", {})), "reasoning_effort": effort}
        return section | own

    @property
    def _judging_section(self) -> dict[str, Any]:
        section = self.config["llm"] if self._judge.llm is None else self._judge.llm
        if not isinstance(section.get("use"), str):
            raise ConfigError(f"[judge.llm] is a table with `use`, like [llm], not {section!r}")
        return dict(section)

    @property
    def _asks_an_endpoint(self) -> bool:
        return bool(self._judging_section["use"] == "openai")
