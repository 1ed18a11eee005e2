"""The sections of plain values: their keys, kinds, ranges and defaults. Sections of components have the keys of their
constructors (`surefoot.config.options`)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from surefoot.components import misnamed
from surefoot.evidence.answer_policy import AnswerPolicy, Fallback
from surefoot.evidence.citations import Check
from surefoot.evidence.ranking import Decompose
from surefoot.index.storage import USUAL
from surefoot.pipeline import Pipeline
from surefoot.types.errors import ConfigError

Count = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]

_PIPELINE: dict[str, Any] = {one.name: one.default for one in fields(Pipeline)}
_ANSWER: dict[str, Any] = {one.name: one.default for one in fields(AnswerPolicy)}
_KINDS = {"dictionary": "table", "integer": "whole number", "string": "text", "list": "list", "number": "number"}
"""pydantic's words for kinds of values, and TOML's."""
_LONGEST = 80
"""Characters of a wrong value that a message shows."""


class Section(BaseModel):
    """A section: unknown keys are refused, and no value is converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @classmethod
    def parsed(cls, where: str, values: Any) -> Self:
        """The section of these values. Raises ConfigError with every fault; `where` is the section's name in them."""
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise ConfigError(*faults_of(where, error, cls.model_fields)) from error

    def set(self) -> dict[str, Any]:
        """The values that were set, by key."""
        return {key: value for key, value in self if key in self.model_fields_set}


class IndexSection(Section):
    """`[index]`: the file that is searched."""

    path: str = USUAL
    collection: str = "default"


class PipelineSection(Section):
    """`[pipeline]`: the method's own numbers."""

    k: Count = _PIPELINE["k"]
    keep: Count = _PIPELINE["keep"]
    external_k: Count = _PIPELINE["external_k"]
    external_keep: Count = _PIPELINE["external_keep"]
    rounds: Count = _PIPELINE["rounds"]
    seconds: Count = _PIPELINE["seconds"]
    decompose: Decompose = _PIPELINE["decompose"]


class ExternalThresholds(Section):
    """`[thresholds.external]`: for passages from outside; strips have one threshold for all."""

    upper: Finite | None = None
    lower: Finite | None = None


class ThresholdsSection(Section):
    """`[thresholds]`: the evaluator's own, unless values, a preset or a file are named."""

    upper: Finite | None = None
    lower: Finite | None = None
    strip: Finite | None = None
    evaluator: str | None = None
    """The evaluator whose scale the values are on."""
    preset: str | None = None
    file: str | None = None
    external: dict[str, Any] = {}

    @model_validator(mode="after")
    def _come_as_a_whole(self) -> Self:
        keys = self.set().keys() - {"external"}
        if len(keys) > 1 and keys & {"preset", "file"}:
            raise ValueError(f"{' and '.join(sorted(keys))} do not go together: a preset or file holds all thresholds")
        return self


class BudgetSection(Section):
    """`[budget]`: the most that a question may cost."""

    calls: Count | None = None
    tokens: Count | None = None
    money: Positive | None = None
    seconds: Positive | None = None


class SourcesSection(Section):
    """`[sources]`: patterns of files and addresses, such as "faq/*"."""

    trusted: list[str] = []
    untrusted: list[str] = []


class AnswerSection(Section):
    """`[answer]`: answers that may be wrong, that no source carries, or that have no source."""

    check: Check = _ANSWER["check"]
    fallback: Fallback = _ANSWER["fallback"]
    risk: Share = _ANSWER["risk"]


class PricesSection(Section):
    """PricesSection of a million tokens, in a language model's section; both or none."""

    input_price: NotNegative | None = None
    output_price: NotNegative | None = None

    @model_validator(mode="after")
    def _come_together(self) -> Self:
        if (self.input_price is None) != (self.output_price is None):
            raise ValueError("input_price and output_price, of a million tokens each, come together")
        return self


class JudgeSection(PricesSection):
    """`[judge]`: who judges, and how fast and for how much. More keys are metrics, each with its judge."""

    model_config = ConfigDict(extra="allow")

    use: str | None = None
    """"embedded" or "llm"; without it, a language model where there is an endpoint."""
    metrics: list[str] | None = None
    llm: dict[str, Any] | None = None
    in_flight: Count | None = None
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    timeout: Positive | None = None
    retries: Annotated[int, Field(ge=0)] | None = None
    patience: NotNegative | None = None
    seconds: Positive | None = None
    budget: str | None = None
    cache: str = ".surefoot/judgements.db"
    """Where the replies of judging models are kept; empty: nowhere."""
    repeats: Count | None = None
    allow_abstention: bool | None = None
    max_tokens: Count | None = None


LIMITS = (
    *"in_flight requests_per_minute tokens_per_minute timeout retries patience seconds".split(),
    *"input_price output_price budget cache".split(),
)
"""Keys of `[judge]` that say how fast and for how much is judged, and change no score."""

SECTIONS: dict[str, type[Section]] = {
    "index": IndexSection,
    "pipeline": PipelineSection,
    "thresholds": ThresholdsSection,
    "budget": BudgetSection,
    "sources": SourcesSection,
    "answer": AnswerSection,
    "judge": JudgeSection,
}


def faults_of(where: str, error: ValidationError, known: Collection[str]) -> Iterator[str]:
    """The faults that pydantic found, a line each."""
    wrong: dict[str, list[str]] = {}
    values: dict[str, Any] = {}
    for fault in error.errors(include_url=False):
        key = str(fault["loc"][0]) if fault["loc"] else ""
        text = fault["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
        text = re.sub(r"a valid (\w+)\Z", lambda kind: f"a {_KINDS.get(kind[1], kind[1])}", text)
        if fault["type"] == "extra_forbidden":
            yield misnamed(f"{where} has no key", key, known, "it has")
        elif fault["type"] == "value_error":
            yield f"{where} {text}"
        elif not key:
            yield f"{where} must be a table of keys, not {shown(fault['input'])}"
        else:
            wrong.setdefault(key, []).append(text)
            values.setdefault(key, fault["input"])
    for key, texts in wrong.items():
        yield f"{where} {key} must be {' or '.join(dict.fromkeys(texts))}, not {shown(values[key])}"


def shown(value: Any) -> str:
    """A wrong value, as a message shows it."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def section_faults(config: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Every fault of the sections of plain values."""
    for name, model in SECTIONS.items():
        try:
            parsed = model.parsed(f"[{name}]", config[name])
            if isinstance(parsed, ThresholdsSection):
                ExternalThresholds.parsed("[thresholds.external]", parsed.external)
        except ConfigError as error:
            yield from error.args
    yield from price_faults(config)


def price_faults(config: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The faults of the prices by which a budget of money counts."""
    prices = {key: value for key, value in config["llm"].items() if key in PricesSection.model_fields}
    try:
        PricesSection.parsed("[llm]", prices)
    except ConfigError as error:
        yield from error.args
    if "money" in config["budget"] and not prices:
        yield (
            "[budget] money needs prices, and [llm] has none; set input_price and output_price there, of a million "
            "tokens each, or set [budget] tokens instead"
        )
