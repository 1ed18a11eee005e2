"""From a configuration to a pipeline; and what a wrong one says."""

import re
from pathlib import Path
from typing import Any

import pytest

from surefoot import load
from surefoot.config.builder import Builder
from surefoot.config.settings import DEFAULTS, read
from surefoot.embedders.hashing import Hashing
from surefoot.evaluators.lexical import Lexical
from surefoot.evaluators.minilm import MiniLM
from surefoot.index.build import build
from surefoot.llms._budgeted import Budgeted
from surefoot.llms.scripted import Scripted
from surefoot.run.cost import Budget
from surefoot.types import Passage, Thresholds
from surefoot.types.errors import ConfigError, IndexFault
from surefoot.types.llms import Prices
from surefoot.types.protocols import returns_spans


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory: no surefoot.toml but the test's own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A document with an index beside it."""
    path = tmp_path_factory.mktemp("library") / "bridge.txt"
    path.write_text("The Ruvel Bridge was built by Tomas Aldwin.")
    build([path], path.with_name("index.db"), Hashing())
    return path


@pytest.fixture
def small(document: Path) -> dict[str, Any]:
    """A configuration over an index of one document, without any model."""
    return {
        "index": {"path": str(document.with_name("index.db"))},
        "embedder": "hashing",
        "evaluator": "lexical",
        "generator": "llm",
        "llm": {"use": "scripted", "replies": {"Ruvel": "Tomas Aldwin [1]."}},
    }


def built(small: dict[str, Any], **sections: Any) -> Builder:
    return Builder(read(small, sections))


def cascade(evaluators: Any) -> dict[str, Any]:
    return {"evaluator": {"use": "cascade", "evaluators": evaluators}}


def test_load_gives_a_pipeline_that_answers(small: dict[str, Any]) -> None:
    """From a dictionary, with overrides by keyword; the trace records what was given."""
    pipeline = load(small, pipeline={"k": 3})
    trace = pipeline.run("Who built the Ruvel Bridge?")
    assert trace.answer
    assert trace.answer.text == "Tomas Aldwin. [1]"
    assert (pipeline.k, trace.config["llm"]["use"], trace.config["pipeline"]) == (3, "scripted", {"k": 3})


def test_shared_parts_are_built_once(small: dict[str, Any]) -> None:
    """The refiner grades with the very evaluator that grades passages."""
    builder = built(small)
    pipeline = builder.pipeline()
    assert pipeline.refiner.evaluator is pipeline.evaluator is builder.evaluator  # type: ignore[attr-defined]


def test_what_is_fused_can_be_chosen(small: dict[str, Any]) -> None:
    """`retrievers` of `hybrid`."""
    retriever = built(small, retriever={"retrievers": ["bm25"]}).pipeline().retriever
    assert retriever.retrieve("zebra", 5) == ()


def test_the_reader_is_the_evaluator_if_that_points(small: dict[str, Any], tiny_minilm: Path) -> None:
    """And the shipped one if it does not."""
    own = built(small, evaluator={"use": "minilm", "model": str(tiny_minilm)})
    assert own.reader is own.evaluator
    assert built(small).reader.name == MiniLM().name


def test_a_cascade_is_made_of_the_evaluators_that_are_named(small: dict[str, Any]) -> None:
    """By name, or with options of their own; each gets the shared parts that it wants."""
    parts = ["lexical", {"use": "llm", "per_call": 5}]
    evaluator = built(small, evaluator={"use": "cascade", "evaluators": parts, "band": [0.5, 0.6]}).evaluator
    assert evaluator.name == "cascade:lexical+llm:scripted@0.5..0.6"
    assert (evaluator.second.inner.per_call, evaluator.low, evaluator.high) == (5, 0.5, 0.6)


def test_a_cascade_goes_from_the_default_evaluator_to_the_language_model(small: dict[str, Any]) -> None:
    """Unless others are named."""
    builder = built(small, evaluator="cascade")
    first = DEFAULTS["evaluator"]["use"]
    assert builder.evaluator.name.startswith(f"cascade:{first}")
    assert "+llm:scripted@" in builder.evaluator.name
    assert builder.evaluator.second.inner.llm is builder.llm
    assert builder.reader is next(one for one in reversed(builder.evaluator.evaluators) if returns_spans(one))


def test_a_cascade_whose_last_stage_points_is_read_by_that(small: dict[str, Any]) -> None:
    """The first, which is sure without it, points at nothing."""
    builder = built(small, evaluator={"use": "cascade", "evaluators": ["lexical", "minilm"]})
    assert builder.reader is builder.evaluator.evaluators[1]


def test_a_dear_evaluator_is_not_asked_twice(small: dict[str, Any]) -> None:
    """Nor as a part of a cascade: a short passage is its own strip, and a question may be asked again."""
    dear = {"use": "llm", "per_call": 1}
    for evaluator in (dear, {"use": "cascade", "evaluators": ["lexical", dear], "band": [-1, 2]}):
        pipeline = built(small, evaluator=evaluator, llm={"use": "scripted", "replies": {"Ruvel": VERDICT}}).pipeline()
        first, again = (pipeline.run("Who built the Ruvel Bridge?") for _ in range(2))
        assert [step.calls for step in first.steps if step.name in ("grade", "refine")] == [1, 0]
        assert [step.calls for step in again.steps if step.name in ("grade", "refine")] == [0, 0]
        assert first.grades == again.grades


VERDICT = '{"1": {"rationale": "says who", "grade": "CORRECT", "confidence": 1.0}}'


def test_a_cascade_asks_again_where_its_second_failed(small: dict[str, Any]) -> None:
    """The first's grade stands in meanwhile, and is not what is remembered."""
    builder = built(small, evaluator={"use": "cascade", "evaluators": ["lexical", "llm"], "band": [-1, 2]})
    replies = ["no verdict", "none again", VERDICT]
    builder.__dict__["llm"] = Scripted(lambda messages: replies.pop(0))
    pairs = [("Who built the Ruvel Bridge?", Passage("1", "Tomas Aldwin built the Ruvel Bridge."))]
    failed, judged, known = (builder.evaluator.grade(pairs)[0] for _ in range(3))
    assert "could not say" in failed.reason
    assert "decided: 100% sure" in judged.reason
    assert known == judged


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"thresholds": {"upper": -1, "lower": 1}}, "lower 1.0 lies above upper -1.0; give both"),
        ({"thresholds": {"preset": "pop"}}, "no thresholds called 'pop'; there are: popqa, pubhealth, arc, bio"),
        ({"thresholds": {"preset": "popqa", "upper": 1}}, r"\[thresholds\] preset and upper do not go together"),
        ({"thresholds": {"preset": "popqa"}}, r"fitted for the evaluator 't5:popqa'.*leave \[thresholds\] out"),
        ({"thresholds": {"file": "none.toml"}}, "^none.toml cannot be read: No such file"),
        ({"thresholds": {"evaluator": "minilm", "upper": 2}}, "for the evaluator 'minilm' and mean nothing for 'lexi"),
        ({"thresholds": {"external": {"lower": 3}}}, r"external\] lower 3.0 lies above upper 0.75; give both"),
        ({"retriever": {"retrievers": "bm25"}}, "retrievers must be a list of retrievers other than hybrid"),
        ({"retriever": {"retrievers": ["hybrid"]}}, "retrievers must be a list of retrievers other than hybrid"),
        (cascade([]), r"evaluators must be a list of evaluators other than cascade, not \[\]"),
        (cascade(["lexical", {"per_call": 3}]), "evaluators must be a list of evaluators other than cascade"),
        (cascade([{"use": "lexical", "evaluators": []}]), "evaluators must be a list of evaluators other than cascade"),
        (cascade(["lexical"]), "a cascade has two evaluators or more, the cheapest one first, not 1"),
        ({"budget": {"money": 1}}, r"\[budget\] money needs prices.*set input_price.*or set \[budget\] tokens"),
        ({"llm": {"input_price": 1}}, r"input_price and output_price, of a million tokens each, come together"),
    ],
)
def test_settings_that_do_not_go_together_are_refused_before_anything_is_asked(
    small: dict[str, Any], sections: dict[str, Any], message: str
) -> None:
    """Nothing is ignored in silence, and no traceback waits in the middle of a question."""
    with pytest.raises(ConfigError, match=message):
        built(small, **sections).pipeline()


MANY = {
    "umpire": {},
    "index": {"path": 3},
    "evaluator": {"use": "lexicla"},
    "retriever": {"use": "hybrid", "retrievers": ["bm52", {"use": "bm25", "retrievers": ["dense"]}], "kk": 1},
    "generator": {"use": "llm", "max_tokens": "many", "embedder": "minilm"},
    "refiner": {"nodes": 1},
    "thresholds": {"uper": 1, "lower": "low", "upper": float("-inf"), "external": {"uper": 1}},
    "policy": "vote",
    "network": {"alow": ["*"]},
    "searcher": {"use": "pages", "of": {"use": "folder"}},
    "llm": {"use": "local", "input_price": "x", "output_price": 1},
    "judge": {"repeat": 2},
    "pipeline": {"k": 0, "keep": "ten", "externalk": 2},
    "budget": {"calls": 0, "tokens": 1.5, "seconds": -1},
    "answer": {"check": "loosely", "risk": 1.5},
    "sources": {"untrusted": "mail/*"},
}
FAULTS = (
    "no evaluator called 'lexicla'; there are: ",
    "no retriever called 'bm52'; there are: ",
    "retriever 'bm25' has no option 'retrievers'; it has: ",
    "retriever 'hybrid' has no option 'kk'; it has: ",
    "generator 'llm' has no option 'embedder'; what is shared has a section of its own: [embedder]",
    "generator 'llm' max_tokens must be a whole number, not 'many'",
    "refiner 'strips' has no option 'nodes'; it has: ",
    "[thresholds] has no option 'uper'; it has: upper, lower, strip, evaluator, preset, file, external; did you mean",
    "[thresholds] lower must be a number, not 'low'",
    "[thresholds] upper must be a finite number, not -inf",
    "[thresholds.external] has no option 'uper'; it has: upper, lower; did you mean 'upper'?",
    "no policy called 'vote'; there are: any_irrelevant, count, none_relevant, threshold",
    "[network] has no option 'alow'; it has: ",
    "searcher 'folder' needs the option 'path'",
    "[llm] input_price must be a number, not 'x'",
    "[judge] has no option 'repeat'; it has: ",
    "[pipeline] k must be greater than or equal to 1, not 0",
    "[pipeline] keep must be a whole number, not 'ten'",
    "[pipeline] has no option 'externalk'; it has: k, keep, external_k, ",
    "[budget] calls must be greater than or equal to 1, not 0",
    "[budget] tokens must be a whole number, not 1.5",
    "[budget] seconds must be greater than 0, not -1",
    "[answer] check must be 'refuse', 'mark' or 'off', not 'loosely'",
    "[answer] risk must be less than or equal to 1, not 1.5",
    "[sources] untrusted must be a list, not 'mail/*'",
)
LIKE = ("lexical", "bm25", "upper", "allow", "repeats", "external_k")


def test_all_errors_of_a_configuration_are_told_at_once(small: dict[str, Any]) -> None:
    """Sections, keys, components, kinds and ranges, each once and with the name that a wrong one is like: what is no
    configuration when it is read, the rest when the pipeline is built."""

    def told(caught: pytest.ExceptionInfo[ConfigError], expected: tuple[str, ...]) -> None:
        faults = [str(fault) for fault in caught.value.args]
        assert [fault for fault in faults if not fault.startswith(expected)] == []
        assert [fault for fault in expected if not any(one.startswith(fault) for one in faults)] == []
        assert len(faults) == len(expected)
        assert [name for name in LIKE if f"did you mean '{name}'?" not in str(caught.value)] == []

    with pytest.raises(ConfigError) as caught:
        read(MANY)
    told(caught, ("no section called 'umpire'", "[index] path must be the name of a file", *FAULTS))
    sections = {name: values for name, values in MANY.items() if name not in ("umpire", "index")}
    for where in ({}, {"index": {"path": "nowhere.db"}}):
        with pytest.raises(ConfigError) as caught:
            built(small, **sections, **where).pipeline()
        told(caught, FAULTS)


def test_a_missing_index_says_how_to_make_one(here: Path) -> None:
    """A fault of the index, not of the configuration."""
    with pytest.raises(IndexFault, match="surefoot index"):
        load({"index": {"path": "none.db"}, "embedder": "hashing"})


def test_an_index_of_another_embedder_is_refused(small: dict[str, Any], document: Path) -> None:
    """Its vectors mean nothing to this one; so says the error, before a question is asked."""

    class Other(Hashing):
        name = "other"

    build([document], Path("other.db"), Other())
    with pytest.raises(IndexFault, match="built with the embedder other"):
        built(small, index={"path": "other.db"}).pipeline()


# Thresholds


def test_thresholds_are_the_evaluators_own_unless_given(small: dict[str, Any]) -> None:
    """Single values are replaced, and then say that a hand has been at them; policy and refiner decide by them."""
    own = Lexical.thresholds
    assert built(small, thresholds={"evaluator": "lexical"}).thresholds == own
    changed = built(small, thresholds={"evaluator": "lexical", "upper": 0.95, "lower": 0.8}).pipeline()
    assert changed.policy.thresholds == Thresholds(0.95, 0.8, own.strip, "lexical", "set by hand")
    assert (changed.refiner.least, changed.outside) == (0.8, None)  # type: ignore[attr-defined]


def test_what_comes_from_outside_may_have_thresholds_of_its_own(small: dict[str, Any]) -> None:
    """What is not given is as for the corpus."""
    own = Lexical.thresholds
    made = built(small, thresholds={"external": {"upper": 0.95}})
    assert made.thresholds == own
    assert made.pipeline().outside == Thresholds(0.95, own.lower, own.strip, "lexical", "set by hand")


PRICED = {"input_price": 2, "output_price": 10.5}


def test_a_budget_is_heeded_by_the_model_and_by_the_clock(small: dict[str, Any]) -> None:
    """Without one the model is as it was; so it is where time alone is limited."""
    llm = {**small["llm"], **PRICED}
    made = built(small, llm=llm, budget={"calls": 3, "money": 0.5, "seconds": 9})
    assert made.pipeline().budget == Budget(3, None, 0.5, 9)
    assert isinstance(made.llm, Budgeted)
    assert (made.llm._prices, made.llm.inner.name) == (Prices(2, 10.5), "scripted")
    assert not isinstance(built(small, budget={"seconds": 9}).llm, Budgeted)
    assert built(small).pipeline().budget == Budget()


def test_judges_count_money_by_the_models_prices(small: dict[str, Any]) -> None:
    """Unless their own section has others."""
    llm = {**small["llm"], **PRICED}
    assert built(small, llm=llm).judging.prices == Prices(2, 10.5)
    own = {"input_price": 1, "output_price": 1}
    assert built(small, llm=llm, judge=own).judging.prices == Prices(1, 1)


def test_thresholds_of_a_cascade_say_whose_they_are(small: dict[str, Any]) -> None:
    """A value from the first's scale, under which nothing that the second calls CORRECT would be, is not taken for one
    of the cascade's."""
    layer, name = cascade(["lexical", "llm"]), "cascade:lexical+llm:scripted@0.4..0.75"
    for values in ({"upper": 0.9}, {"external": {"upper": 0.9}}):
        with pytest.raises(ConfigError, match=re.escape(f"say: evaluator = '{name}'")):
            built(small, **layer, thresholds=values).pipeline()
    assert built(small, **layer, thresholds={"upper": 0.9, "evaluator": name}).thresholds.upper == 0.9
    other = {**layer["evaluator"], "band": [0.4, 0.8]}
    with pytest.raises(ConfigError, match="and mean nothing for"):
        _ = built(small, evaluator=other, thresholds={"upper": 0.9, "evaluator": name}).thresholds


FITTED = 'upper = 0.9\nlower = 0.3\nstrip = 0\nevaluator = "lexical"\nfitted_on = "some data"\n'


def test_thresholds_can_come_from_a_file(small: dict[str, Any], here: Path) -> None:
    """All of them, with the evaluator they are for and what they were fitted on."""
    (here / "tuned.toml").write_text(FITTED)
    policy = built(small, thresholds={"file": "tuned.toml"}).pipeline().policy
    assert policy.thresholds == Thresholds(0.9, 0.3, 0.0, "lexical", "some data")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("upper = 0.9", "", "missing 1 required positional argument: 'upper'"),
        ("upper = 0.9", "upper = 0.2", "^tuned.toml: lower 0.3 lies above upper 0.2; fit them again"),
        ("upper = 0.9", "upper = inf", "inf is no score"),
        ("upper = 0.9", "upper = 'high'", "^tuned.toml holds no thresholds as `surefoot lab tune --out` .*: 'high'"),
        ("strip = 0", "strip = 0\nuper = 1", "has no field 'uper'"),
        ("strip = 0", "strip =", "^tuned.toml is not TOML"),
        ("lexical", "minilm-0123", "fitted for the evaluator 'minilm-0123' and mean nothing for 'lexical'"),
    ],
)
def test_a_file_without_thresholds_is_refused(
    small: dict[str, Any], here: Path, old: str, new: str, message: str
) -> None:
    """With what is wrong with it."""
    (here / "tuned.toml").write_text(FITTED.replace(old, new))
    with pytest.raises(ConfigError, match=message):
        _ = built(small, thresholds={"file": "tuned.toml"}).thresholds


def test_a_server_to_push_to_is_asked_for(small: dict[str, Any]) -> None:
    """The retrievers of this machine have none."""
    with pytest.raises(ConfigError, match="retriever 'hybrid' is no store to push to"):
        built(small).push()
