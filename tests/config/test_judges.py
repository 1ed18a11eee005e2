"""From `[judge]` to judges: who judges what, and within which limits."""

from pathlib import Path
from typing import Any

import pytest

from surefoot.config.builder import Builder
from surefoot.config.judging import PATIENT
from surefoot.config.sections import JudgeSection
from surefoot.config.settings import read, setting
from surefoot.judges._diamond import metrics
from surefoot.judges.llm import LLMJudge
from surefoot.llms._cached import CachedLLM
from surefoot.llms._rate_limited import RateLimitedLLM
from surefoot.run.cost import Budget
from surefoot.types import Metric, Record, Score
from surefoot.types.errors import ConfigError
from surefoot.types.llms import Prices

OPENAI = {"use": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
SCRIPTED = {"use": "scripted", "replies": []}


class Own:
    """A judge of somebody's own."""

    name, metric = "own", "factuality"

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict

    def judge(self, record: Record) -> Score:
        return Score(record.id, "factuality", 1.0, judge="own")


class Charm(Own):
    """A metric of somebody's own."""

    about = Metric("charm", ("question", "answer"), ("question", "answer"), "Is it charming?", levels=("so",) * 5)
    name = metric = "charm"


def builder(llm: Any = SCRIPTED, /, **judge: Any) -> Builder:
    return Builder(read({"llm": llm, "judge": judge}))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_language_model_judges_the_diamond_where_there_is_an_endpoint() -> None:
    """All six metrics, unless others are named."""
    judges = builder(OPENAI).judges()
    assert [judge.metric for judge in judges] == [*metrics()]
    assert all(isinstance(judge, LLMJudge) for judge in judges)
    assert [judge.metric for judge in builder(OPENAI, metrics=["factuality"]).judges()] == ["factuality"]


def test_without_an_endpoint_this_machine_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the judge that is named as the metric."""
    named: list[str] = []
    monkeypatch.setattr("surefoot.components.find", lambda role, name: named.append(name) or Own)
    builder().judges(["factuality"])
    builder(use="llm", factuality="embedded").judges(["factuality"])
    assert named == ["factuality", "factuality"]


def test_a_metric_can_be_named_by_the_path_of_its_judge() -> None:
    """By its own judge, with options, or by a language model where the judge declares levels to rate by."""
    path = f"{__name__}:Charm"
    (own,) = builder(metrics=[path], **{path: {"strict": True}}).judges()
    assert isinstance(own, Charm)
    assert own.strict
    (rated,) = builder(use="llm", metrics=[path]).judges()
    assert isinstance(rated, LLMJudge)
    assert (rated.metric, rated.about) == ("charm", Charm.about)


def test_each_metric_can_have_a_judge_of_its_own() -> None:
    """By name, or with options."""
    path = f"{__name__}:Own"
    chosen = builder(use="llm", repeats=2, factuality={"use": path, "strict": True}, context_recall={"repeats": 5})
    own, recall, other = chosen.judges(["factuality", "context_recall", "answer_relevancy"])
    assert isinstance(own, Own)
    assert own.strict
    assert isinstance(recall, LLMJudge)
    assert isinstance(other, LLMJudge)
    assert (recall.repeats, other.repeats) == (5, 2)


def test_the_limits_are_those_of_the_section() -> None:
    """In flight, a minute, timeout, budget, prices; the endpoint's own retries are left to them."""
    chosen = builder(
        OPENAI, use="llm", in_flight=9, requests_per_minute=60, budget="3 calls", input_price=1, output_price=2
    )
    model = chosen.judging
    assert isinstance(model, RateLimitedLLM)
    assert (chosen.in_flight, model.pace._places._value) == (9, 1), "the first call goes alone"
    model.pace.open()
    assert model.pace._places._value == 9
    assert model.spending.budget == Budget(calls=3)
    assert model.prices == Prices(1, 2)
    assert model.inner._endpoint._retries == 0  # type: ignore[attr-defined]
    assert chosen.config["llm"] == OPENAI


def test_judges_may_ask_another_model_than_the_answers_are_from() -> None:
    """A table like `[llm]`; many are in flight to an endpoint, and one to this machine."""
    chosen = builder(SCRIPTED, llm=OPENAI)
    assert (chosen.judging.name, chosen.in_flight) == ("m", 64)
    assert builder().in_flight == 1


def test_replies_are_kept_unless_nothing_is_to_be() -> None:
    """In one file for all runs."""
    (judge,) = builder(OPENAI).judges(["factuality"])
    assert isinstance(judge, LLMJudge)
    assert isinstance(judge.llm, CachedLLM)
    assert not Path(JudgeSection().cache).exists()
    (bare,) = builder(OPENAI, cache="").judges(["factuality"])
    assert isinstance(bare, LLMJudge)
    assert isinstance(bare.llm, RateLimitedLLM)


def test_another_way_to_judge_keeps_the_limits() -> None:
    """Unlike a component, whose options are another's."""
    config = read({"judge": {"use": "llm", "budget": "3 calls"}}, setting("judge.use=embedded"))
    assert config["judge"] == {"use": "embedded", "budget": "3 calls"}


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ({"use": "people"}, "use must be one of embedded, llm"),
        ({"pace": 1}, r"\[judge\] has no option 'pace'"),
        ({"use": "llm", "cache": 1}, "cache must be a text, not 1"),
        ({"use": "llm", "llm": "openai"}, r"\[judge\] llm must be a table"),
        ({"metrics": "factuality"}, "metrics must be a list"),
        ({"metrics": ["factuality", "factuality"]}, "each once"),
        ({"use": "llm", "in_flight": "many"}, "in_flight must be a whole number, not"),
        ({"use": "llm", "input_price": 1.0}, "come together"),
        ({"use": "llm", "factuality": {"charm": 1}}, "no option 'charm'"),
    ],
)
def test_what_does_not_fit_is_said(judge: dict[str, Any], said: str) -> None:
    """Before anything is asked."""
    with pytest.raises(ConfigError, match=said):
        builder(**judge).judges(judge.get("metrics", ["factuality"]))


@pytest.mark.parametrize("key", ["seconds", "timeout", "requests_per_minute", "output_price"])
@pytest.mark.parametrize("value", ["x", [1], True, -1, float("inf")])
def test_a_limit_is_a_number_also_where_nothing_is_asked(key: str, value: Any) -> None:
    """A plan of what it would cost counts with it."""
    with pytest.raises(ConfigError, match=rf"\[judge\] {key} must be (a|greater)"):
        builder(**{key: value}).judges(["factuality"])
    assert builder(input_price=0, output_price=0, retries=0).judges(["factuality"])


def test_the_report_is_worded_by_the_judges_model_unless_another_is_named() -> None:
    """Another model has prices and time of its own, and spends from the same budget; the rest is as the judges' model
    has it."""
    assert (same := builder(OPENAI)).reporting is same.judging
    judging = {"llm": OPENAI, "judge": {"budget": "9 calls", "input_price": 1.0, "output_price": 2.0}}
    chosen = Builder(read({**judging, "report": {"model": "strong", "effort": "high", "max_tokens": 9000}}))
    assert chosen.judging.name == "m"
    assert (chosen.reporting.name, chosen.reporting.prices, chosen.report_tokens) == ("strong", None, 9000)
    assert chosen.reporting.spending is chosen.judging.spending
    assert Builder(read({**judging, "report": {"effort": "high"}})).reporting.prices == Prices(1, 2)
    assert chosen.reporting._timeout == PATIENT
    strong = chosen.reporting.inner
    assert strong._extra == {"reasoning_effort": "high"}  # type: ignore[attr-defined]
    assert "127.0.0.1:9" in repr(strong)


@pytest.mark.parametrize("report", [{"effort": 3}, {"max_tokens": 0}, {"input_price": 1.0}])
def test_what_does_not_fit_a_report_is_said(report: dict[str, Any]) -> None:
    """Before anything is asked."""
    with pytest.raises(ConfigError, match=r"\[report\]"):
        assert Builder(read({"report": report})).reporting


POLITE = {"question": "Is the answer polite?", "levels": {"polite": 1, "neutral": 0.5, "rude": 0.0}}


def test_a_metric_of_ones_own_is_judged_by_a_language_model() -> None:
    """Beside the diamond's, or alone; it sees what is named, and its levels are its words."""
    config = read({"llm": OPENAI, "metric": {"politeness": POLITE | {"sees": ["answer", "reference"]}}})
    assert [judge.metric for judge in Builder(config).judges()] == [*metrics(), "politeness"]
    (judge,) = Builder(config | {"judge": {"use": "embedded"}}).judges(["politeness"])
    assert isinstance(judge, LLMJudge)
    assert (judge.about.sees, judge.about.edge) == (("answer", "truths"), ("answer", "truth"))
    assert judge.about.scale == POLITE["levels"]


@pytest.mark.parametrize(
    ("name", "section", "said"),
    [
        ("politeness", {"levels": {"a": 1.0, "b": 0.0}}, "needs the option 'question'"),
        ("politeness", POLITE | {"levels": {"polite": 2.0, "rude": 0.0}}, "less than or equal to 1"),
        ("politeness", POLITE | {"levels": {"polite": 1.0}}, "at least 2"),
        ("politeness", POLITE | {"sees": ["note"]}, "sees must be 'question'"),
        ("politeness", "polite", "must be a table of keys"),
        ("factuality", POLITE, "a name of letters, digits and _ that nothing else has"),
        ("so polite", POLITE, "a name of letters, digits and _ that nothing else has"),
    ],
)
def test_a_metric_that_cannot_be_judged_is_refused(name: str, section: Any, said: str) -> None:
    """With what is wrong."""
    with pytest.raises(ConfigError, match=said):
        Builder(read({"llm": OPENAI, "metric": {name: section}})).judges()
