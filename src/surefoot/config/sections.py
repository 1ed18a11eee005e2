"""The sections that are no arguments of a constructor (`surefoot.config.options`): thresholds, judges and prices."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from surefoot.components import misnamed
from surefoot.types import Metric, Prices
from surefoot.types.errors import ConfigError
from surefoot.types.ranges import Count, NotNegative, Positive

_KINDS = {"dictionary": "table", "object": "table", "array": "list", "integer": "whole number", "string": "text"}
"""Words of pydantic for kinds of values, and of TOML."""
_LONGEST = 80
"""Characters of a wrong value that a message shows."""


class Section(BaseModel):
    """A section: unknown keys are refused, and no value is converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

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


class ExternalThresholds(Section):
    """`[thresholds.external]`: for passages from outside; strips have one threshold for all."""

    upper: float | None = None
    lower: float | None = None


class ThresholdsSection(Section):
    """`[thresholds]`: the evaluator's own, unless values, a preset or a file are named."""

    upper: float | None = None
    lower: float | None = None
    strip: float | None = None
    evaluator: str | None = None
    """The evaluator whose scale the values are on."""
    preset: str | None = None
    file: str | None = None
    external: Any = {}
    """`ExternalThresholds`."""

    @model_validator(mode="after")
    def _come_as_a_whole(self) -> Self:
        keys = self.set().keys() - {"external"}
        if len(keys) > 1 and keys & {"preset", "file"}:
            raise ValueError(f"{' and '.join(sorted(keys))} do not go together: a preset or file holds all thresholds")
        return self


class PricesSection(Section):
    """Prices of a million tokens, in a language model's section; both or none."""

    input_price: NotNegative | None = None
    output_price: NotNegative | None = None

    @model_validator(mode="after")
    def _come_together(self) -> Self:
        if (self.input_price is None) != (self.output_price is None):
            raise ValueError("input_price and output_price, of a million tokens each, come together")
        return self


def prices(where: str, section: Mapping[str, Any]) -> Prices | None:
    """The prices among these values; None: there are none. Raises ConfigError for one without the other."""
    known = {key: section[key] for key in PricesSection.model_fields if key in section}
    found = PricesSection.parsed(where, known)
    if found.input_price is None or found.output_price is None:
        return None
    return Prices(found.input_price, found.output_price)


class JudgeSection(PricesSection):
    """`[judge]`: who judges, and how fast and for how much. More keys are metrics, each with its judge."""

    model_config = ConfigDict(extra="allow")

    use: str | None = None
    """"embedded" or "llm"; without it, a language model where there is an endpoint."""
    metrics: list[str] | None = None
    llm: dict[str, Any] | None = None
    in_flight: Count | None = None
    requests_per_minute: Positive | None = None
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


class ReportSection(PricesSection):
    """`[report]`: the language model that words insights and the report. More keys are those of `[llm]`; what is not
    set is as the judges' model has it."""

    model_config = ConfigDict(extra="allow")

    effort: str | None = None
    """How hard a model that thinks shall think (`reasoning_effort`): "low", "medium", "high"."""
    max_tokens: Count | None = None
    """The room of an insight and of the report, thoughts aside; without it, that of `narrative`."""


class TelemetrySection(Section):
    """`[telemetry]`: where commands and the server send the traces of their questions, by OTLP over HTTP."""

    base_url: str = ""
    """The address of a backend, without `/v1/traces`; empty: nothing is sent."""
    texts: bool = False
    """Send questions, passages, answers and errors in words too."""
    logs: bool = True
    """Send grades, decision, confidence and support as log records; Phoenix and MLflow take none."""


class MetricSection(Section):
    """`[metric.NAME]`: a metric of one's own, judged by a language model."""

    question: str
    """The question that it answers, in one line: "Is the answer polite?"."""
    levels: Annotated[dict[str, Annotated[float, Field(ge=0, le=1)]], Field(min_length=2)]
    """The words that the judge chooses from, each with its score."""
    sees: Annotated[list[Literal["question", "answer", "contexts", "reference"]], Field(min_length=1)] = [
        "question",
        "answer",
    ]
    judge: Literal["llm"] = "llm"

    def metric(self, name: str) -> Metric:
        """The metric of this name."""
        sees = tuple("truths" if field == "reference" else field for field in self.sees)
        corners = [{"truths": "truth", "contexts": "context"}.get(field, field) for field in sees]
        return Metric(name, (corners[0], corners[-1]), sees, self.question, scale=dict(self.levels))


RATING = ("repeats", "allow_abstention", "max_tokens")
"""Keys of `[judge]` that say how a language model rates."""

LIMITS = frozenset(JudgeSection.model_fields) - {"use", "metrics", "llm", *RATING}
"""Keys of `[judge]` that say how fast and for how much is judged, and change no score."""


def faults_of(where: str, error: ValidationError, known: Collection[str]) -> Iterator[str]:
    """The faults that pydantic found, a line each."""
    wrong: dict[str, list[str]] = {}
    values: dict[str, Any] = {}
    for fault in error.errors(include_url=False):
        key = str(fault["loc"][0]) if fault["loc"] else ""
        text = fault["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
        text = re.sub(r"a valid (\w+)\Z", lambda kind: f"a {_KINDS.get(kind[1], kind[1])}", text)
        if fault["type"] == "extra_forbidden":
            yield misnamed(f"{where} has no option", key, known or ["none"], "it has")
        elif fault["type"] == "missing":
            yield f"{where} needs the option '{key}'"
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
