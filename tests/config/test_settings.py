"""From a file, a dictionary and single settings to a pipeline; and what a wrong one says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from surefoot import load
from surefoot.config.builder import Builder
from surefoot.config.settings import DEFAULTS, read, setting, settings
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


# Reading


def test_nothing_said_is_the_defaults() -> None:
    """And what is read is a copy of them."""
    config = read()
    assert config == DEFAULTS
    config["searcher"]["use"] = "changed"
    assert DEFAULTS["searcher"]["use"] == "nowhere"


def test_a_file_in_the_working_directory_is_read_unasked(here: Path) -> None:
    """A named file takes its place."""
    (here / "surefoot.toml").write_text("[pipeline]\nk = 3\n")
    (here / "other.toml").write_text("[pipeline]\nk = 4\n")
    assert read()["pipeline"] == {"k": 3}
    assert read("other.toml")["pipeline"] == {"k": 4}
    assert read({})["pipeline"] == {}


def test_later_layers_win_key_by_key() -> None:
    """What they do not name stays."""
    config = read({"pipeline": {"k": 3, "external_k": 2}}, {"pipeline": {"k": 4}})
    assert config["pipeline"] == {"k": 4, "external_k": 2}


def test_a_component_can_be_named_in_one_word() -> None:
    """`evaluator = "cosine"` is short for a section with `use`."""
    assert read({"evaluator": "cosine"})["evaluator"] == {"use": "cosine"}


def test_another_component_drops_the_options_of_the_old_one(here: Path) -> None:
    """A folder's path is no option of another searcher; the same component keeps what is not named."""
    old = {"searcher": {"use": "folder", "path": "a.db"}}
    assert read(old, {"searcher": {"use": "nowhere"}})["searcher"] == {"use": "nowhere"}
    assert read(old, {"searcher": {"use": "folder"}})["searcher"] == {"use": "folder", "path": "a.db"}


def test_a_model_is_exchanged_in_one_line(here: Path) -> None:
    """An endpoint in the place of the local model."""
    (here / "surefoot.toml").write_text('llm = {use="openai", base_url="http://127.0.0.1:11434/v1", model="qwen"}\n')
    assert read()["llm"] == {"use": "openai", "base_url": "http://127.0.0.1:11434/v1", "model": "qwen"}
    assert Builder(read()).llm.name == "qwen"


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        ({"umpire": {}}, "no section called 'umpire'; there are: index, embedder, "),
        ({"pipeline": 3}, "'pipeline' must be a section of keys, not 3"),
        ({"evaluator": {"use": 3}}, r"\[evaluator\] use must be the name of a component, not 3"),
    ],
)
def test_a_layer_that_is_none_is_refused(layer: dict[str, Any], message: str) -> None:
    """With what it should be."""
    with pytest.raises(ConfigError, match=message):
        read(layer)


UNREADABLE = [
    ("absent.toml", None),
    ("bad.toml", b"[x"),
    ("bytes.toml", b"\xff"),
    ("nested.toml", b"x = " + b"[" * 50_000),
    ("dotted.toml", b"llm" + b".a" * 3_000 + b" = 1"),
    ("long.toml", b"x = " + b"1" * 10_000),
]


@pytest.mark.parametrize(("name", "content"), UNREADABLE)
def test_a_file_that_cannot_be_read_is_named(here: Path, name: str, content: bytes | None) -> None:
    """Whether it is not there, not TOML, not text, or more of it than can be used."""
    if content is not None:
        (here / name).write_bytes(content)
    with pytest.raises(ConfigError, match=f"^{name} "):
        read(name)


# Settings of the command line


@pytest.mark.parametrize(
    ("text", "section", "key", "value"),
    [
        ("pipeline.k=5", "pipeline", "k", 5),
        ("evaluator.use=cosine", "evaluator", "use", "cosine"),
        ('evaluator.use="cosine"', "evaluator", "use", "cosine"),
        ("thresholds.upper = 0.5", "thresholds", "upper", 0.5),
        ("thresholds.upper=.5", "thresholds", "upper", 0.5),
        ("thresholds.lower=-.5", "thresholds", "lower", -0.5),
        ("retriever.retrievers=['bm25']", "retriever", "retrievers", ["bm25"]),
        ('llm.replies={Who="me"}', "llm", "replies", {"Who": "me"}),
        ("index.path=a=b.db", "index", "path", "a=b.db"),
        ("llm.model=", "llm", "model", ""),
        ("llm.model=" + "[" * 5_000, "llm", "model", "[" * 5_000),
    ],
)
def test_a_setting_is_read_as_toml_and_as_text_where_it_is_none(text: str, section: str, key: str, value: Any) -> None:
    """Names need no quotes in a shell."""
    assert setting(text) == {section: {key: value}}


@pytest.mark.parametrize("text", ["", "k=5", "pipeline.k", ".k=5", "pipeline.=5"])
def test_a_setting_without_section_key_or_value_shows_the_form(text: str) -> None:
    """With an example."""
    with pytest.raises(ConfigError, match=r"write section\.key=value"):
        setting(text)


def test_settings_apply_in_their_order() -> None:
    """The last one wins."""
    assert read({}, *settings(["pipeline.k=1", "pipeline.k=2"]))["pipeline"] == {"k": 2}


# Building


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
    assert builder.reader is builder.evaluator


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
        ({"index": {"paths": "a"}}, r"\[index\] has no option 'paths'; it has: path, collection; did you mean 'path'"),
        ({"index": {"path": 3}}, r"\[index\] path must be the name of a file, not 3"),
        ({"index": {"use": "x"}}, r"\[index\] path must be the name of a file, not None"),
        ({"pipeline": {"n": 3}}, r"\[pipeline\] has no key 'n'; it has: k, keep, external_k"),
        ({"pipeline": {"k": 0}}, r"\[pipeline\] k must be greater than or equal to 1, not 0"),
        ({"pipeline": {"k": "ten"}}, r"\[pipeline\] k must be a whole number, not 'ten'"),
        (
            {"thresholds": {"uper": 1}},
            r"\[thresholds\] has no key 'uper'; it has: upper, lower, strip, evaluator, preset, file, external",
        ),
        ({"thresholds": {"upper": "high"}}, r"\[thresholds\] upper must be a number, not 'high'"),
        ({"thresholds": {"lower": float("-inf")}}, r"\[thresholds\] lower must be a finite number, not -inf"),
        ({"thresholds": {"upper": -1, "lower": 1}}, "lower 1.0 lies above upper -1.0"),
        ({"thresholds": {"preset": "pop"}}, "no thresholds called 'pop'; there are: popqa, pubhealth, arc, bio"),
        ({"thresholds": {"preset": "popqa", "upper": 1}}, r"\[thresholds\] preset and upper do not go together"),
        ({"thresholds": {"preset": "popqa", "file": "a"}}, r"\[thresholds\] file and preset do not go together"),
        ({"thresholds": {"file": "a", "upper": 1}}, r"\[thresholds\] file and upper do not go together"),
        ({"thresholds": {"file": 3}}, r"\[thresholds\] file must be a text, not 3"),
        ({"thresholds": {"file": "none.toml"}}, "^none.toml cannot be read: No such file"),
        ({"policy": "vote"}, "no policy called 'vote'; there are: any_irrelevant, count, none_relevant, threshold"),
        ({"policy": {"use": "count", "rewrites": 3}}, "policy 'count' has no option 'rewrites'; it has: max_rewrites"),
        ({"policy": {"use": "count", "max_rewrites": "3"}}, "policy 'count': the option 'max_rewrites' must be int"),
        ({"evaluator": {"embedder": "minilm"}}, r"\[evaluator\] has no key 'embedder'.*: \[embedder\]"),
        ({"evaluator": {"retrievers": ["bm25"]}}, "evaluator 'lexical' has no option 'retrievers'"),
        ({"retriever": {"use": "bm25", "retrievers": ["dense"]}}, "retriever 'bm25' has no option 'retrievers'"),
        ({"retriever": {"retrievers": "bm25"}}, "retrievers must be a list of retrievers other than hybrid"),
        ({"retriever": {"retrievers": ["hybrid"]}}, "retrievers must be a list of retrievers other than hybrid"),
        ({"retriever": {"retrievers": ["bm52"]}}, "no retriever called 'bm52'"),
        (
            {"thresholds": {"evaluator": "minilm", "upper": 2}},
            "for the evaluator 'minilm' and mean nothing for 'lexical'",
        ),
        ({"thresholds": {"evaluator": 3}}, r"\[thresholds\] evaluator must be a text, not 3"),
        (cascade("lexical"), "evaluators must be a list of evaluators other than cascade, not 'lexical'"),
        (cascade([]), r"evaluators must be a list of evaluators other than cascade, not \[\]"),
        (cascade(["lexical", "cascade"]), "evaluators must be a list of evaluators other than cascade"),
        (cascade(["lexical", {"per_call": 3}]), "evaluators must be a list of evaluators other than cascade"),
        (cascade([{"use": "lexical", "evaluators": []}]), "evaluators must be a list of evaluators other than cascade"),
        (cascade(["lexical"]), "a cascade has two evaluators or more, the cheapest one first, not 1"),
        (cascade(["lexical", "lm"]), "no evaluator called 'lm'"),
        (cascade(["lexical", {"use": "llm", "calls": 3}]), "evaluator 'llm' has no option 'calls'; it has: per_call"),
        (cascade(["lexical", {"use": "llm", "llm": 3}]), r"\[evaluator\] has no key 'llm'.*: \[llm\]"),
        (
            {"evaluator": {"use": "lexical", "evaluators": ["lexical"]}},
            "evaluator 'lexical' has no option 'evaluators'",
        ),
        (
            {"answer": {"check": "loosely"}},
            r"\[answer\] check must be 'refuse', 'mark' or 'off', not 'loosely'",
        ),
        (
            {"answer": {"risk": 1.5}},
            r"\[answer\] risk must be less than or equal to 1, not 1.5",
        ),
        (
            {"answer": {"risk": "low"}},
            r"\[answer\] risk must be a number, not 'low'",
        ),
        (
            {"answer": {"fallback": "guess"}},
            r"\[answer\] fallback must be 'refuse' or 'memory', not 'guess'",
        ),
        (
            {"generator": {"use": "llm", "max_tokens": "many"}},
            "generator 'llm': the option 'max_tokens' must be int | None, not 'many'",
        ),
    ],
)
def test_a_setting_that_does_not_fit_is_refused_before_anything_is_asked(
    small: dict[str, Any], sections: dict[str, Any], message: str
) -> None:
    """Nothing is ignored in silence, and no traceback waits in the middle of a question."""
    with pytest.raises(ConfigError, match=message):
        built(small, **sections).pipeline()


MANY = {
    "umpire": {},
    "index": {"path": 3},
    "evaluator": {"use": "lexicla"},
    "retriever": {"use": "hybrid", "retrievers": ["bm52"], "kk": 1},
    "generator": {"use": "llm", "max_tokens": "many"},
    "refiner": {"nodes": 1},
    "thresholds": {"uper": 1, "lower": "low"},
    "policy": "vote",
    "network": {"alow": ["*"]},
    "searcher": {"use": "pages", "of": {"use": "folder"}},
    "judge": {"repeat": 2},
    "pipeline": {"k": 0, "kk": 2},
}
FAULTS = (
    "no evaluator called 'lexicla'",
    "no retriever called 'bm52'",
    "retriever 'hybrid' has no option 'kk'",
    "generator 'llm': the option 'max_tokens' must be int | None",
    "refiner 'strips' has no option 'nodes'",
    "[thresholds] has no key 'uper'",
    "[thresholds] lower must be a number",
    "no policy called 'vote'",
    "[network] has no option 'alow'",
    "searcher 'folder' needs the option 'path'",
    "[judge] has no key 'repeat'",
    "[pipeline] k must be",
    "[pipeline] has no key 'kk'",
)


def test_all_errors_of_a_configuration_are_told_at_once(small: dict[str, Any]) -> None:
    """Sections, keys, components and types, each once: what is no configuration when it is read, the rest when the
    pipeline is built."""

    def told(caught: pytest.ExceptionInfo[ConfigError], expected: tuple[str, ...]) -> None:
        faults = [str(fault) for fault in caught.value.args]
        assert [fault for fault in faults if not fault.startswith(expected)] == []
        assert len(faults) == len(expected)
        assert str(caught.value) == "; ".join(faults)

    with pytest.raises(ConfigError) as caught:
        read(MANY)
    told(caught, ("no section called 'umpire'", "[index] path must be the name of a file", *FAULTS))
    sections = {name: values for name, values in MANY.items() if name not in ("umpire", "index")}
    for where in ({}, {"index": {"path": "nowhere.db"}}):
        with pytest.raises(ConfigError) as caught:
            built(small, **sections, **where).pipeline()
        told(caught, FAULTS)


@pytest.mark.parametrize(
    ("sections", "meant"),
    [
        ({"evaluatr": {}}, "evaluator"),
        ({"evaluator": "lexicla"}, "lexical"),
        ({"generator": {"use": "llm", "max_token": 3}}, "max_tokens"),
        ({"thresholds": {"uper": 1}}, "upper"),
        ({"pipeline": {"externalk": 1}}, "external_k"),
        ({"policy": "treshold"}, "threshold"),
        ({"judge": {"budgets": "1 call"}}, "budget"),
    ],
)
def test_a_misspelt_name_is_told_what_it_is_like(small: dict[str, Any], sections: dict[str, Any], meant: str) -> None:
    """A section, a component, an option, a key."""
    with pytest.raises(ConfigError, match=rf"did you mean '{meant}'\?"):
        built(small, **sections, index={"path": 3})


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
    """Single values are replaced, and then say that a hand has been at them."""
    assert built(small).thresholds == Lexical.thresholds
    own = Lexical.thresholds
    assert built(small, thresholds={"upper": 0.95}).thresholds == Thresholds(
        0.95, own.lower, own.strip, "lexical", "set by hand"
    )


def test_the_given_thresholds_decide(small: dict[str, Any]) -> None:
    """In the policy and in the refiner."""
    pipeline = built(small, thresholds={"upper": 2, "lower": 1.5, "strip": 1.2}).pipeline()
    assert pipeline.policy.thresholds.upper == 2
    assert pipeline.refiner.floor == 1.5  # type: ignore[attr-defined]


def test_what_comes_from_outside_may_have_thresholds_of_its_own(small: dict[str, Any]) -> None:
    """What is not given is as for the corpus; nothing given is one pair for all."""
    own = Lexical.thresholds
    built_so = built(small, thresholds={"external": {"upper": 0.95}})
    assert built_so.thresholds == own
    assert built_so.pipeline().outside == Thresholds(0.95, own.lower, own.strip, "lexical", "set by hand")
    assert built(small).pipeline().outside is None


def test_a_cascade_says_whose_thresholds_for_outside_are(small: dict[str, Any]) -> None:
    """As for the corpus."""
    with pytest.raises(ConfigError, match="say: evaluator = 'cascade:lexical"):
        _ = built(small, **cascade(["lexical", "llm"]), thresholds={"external": {"upper": 0.9}}).outside


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (3, r"\[thresholds\] external must be a table, not 3"),
        ({"uper": 1}, r"no key 'uper'; it has: upper, lower; did you mean 'upper'"),
        ({"upper": "high"}, r"upper must be a number, not 'high'"),
        ({"lower": 3}, r"\[thresholds.external\] lower 3.0 lies above upper 0.75; give both"),
    ],
)
def test_wrong_thresholds_for_outside_are_told(small: dict[str, Any], values: Any, said: str) -> None:
    """With what to do."""
    with pytest.raises(ConfigError, match=said):
        built(small, thresholds={"external": values}).pipeline()


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


@pytest.mark.parametrize(
    ("sections", "said"),
    [
        (
            {"budget": {"money": 1}},
            r"\[budget\] money needs prices.*set input_price and output_price.*or set \[budget\] tok",
        ),
        ({"budget": {"calls": 0}}, r"\[budget\] calls must be greater than or equal to 1, not 0"),
        ({"budget": {"tokens": 1.5}}, r"tokens must be a whole number, not 1.5"),
        ({"budget": {"seconds": -1}}, r"\[budget\] seconds must be greater than 0, not -1"),
        ({"budget": {"cals": 1}}, r"\[budget\] has no key 'cals'.*did you mean 'calls'"),
        ({"llm": {"input_price": 1}}, r"input_price and output_price, of a million tokens each, come together"),
        (
            {"llm": {"input_price": "x", "output_price": 1}},
            r"\[llm\] input_price must be a number, not 'x'",
        ),
    ],
)
def test_a_budget_that_cannot_be_kept_is_refused(small: dict[str, Any], sections: dict[str, Any], said: str) -> None:
    """Before anything is asked."""
    with pytest.raises(ConfigError, match=said):
        built(small, **sections).pipeline()


def test_thresholds_may_say_whose_they_are(small: dict[str, Any]) -> None:
    """So that they do not outlive a change of evaluator; alone, the name changes nothing."""
    own = Lexical.thresholds
    assert built(small, thresholds={"evaluator": "lexical"}).thresholds == own
    assert built(small, thresholds={"evaluator": "lexical", "upper": 0.95}).thresholds.upper == 0.95


def test_thresholds_of_a_cascade_say_whose_they_are(small: dict[str, Any]) -> None:
    """A value from the first's scale, under which nothing that the second calls CORRECT would be, is not taken for one
    of the cascade's."""
    layer = cascade(["lexical", "llm"])
    with pytest.raises(ConfigError, match=r"say: evaluator = '(cascade:lexical\+llm:scripted@0.4..0.75)'") as caught:
        _ = built(small, **layer, thresholds={"upper": 0.9}).thresholds
    name = str(caught.value).split("'")[-2]
    assert built(small, **layer, thresholds={"upper": 0.9, "evaluator": name}).thresholds.upper == 0.9
    other = {**layer["evaluator"], "band": [0.4, 0.8]}
    with pytest.raises(ConfigError, match="and mean nothing for"):
        _ = built(small, evaluator=other, thresholds={"upper": 0.9, "evaluator": name}).thresholds


def test_a_preset_of_another_evaluator_is_refused(small: dict[str, Any]) -> None:
    """The paper's logits mean nothing for word overlap; the message offers the ways out."""
    with pytest.raises(ConfigError, match=r"fitted for the evaluator 't5:popqa'.*leave \[thresholds\] out"):
        built(small, thresholds={"preset": "popqa"}).pipeline()


FITTED = 'upper = 0.9\nlower = 0.3\nstrip = 0\nevaluator = "lexical"\nfitted_on = "some data"\n'


def test_thresholds_can_come_from_a_file(small: dict[str, Any], here: Path) -> None:
    """All of them, with the evaluator they are for and what they were fitted on."""
    (here / "tuned.toml").write_text(FITTED)
    policy = built(small, thresholds={"file": "tuned.toml"}).pipeline().policy
    assert policy.thresholds == Thresholds(0.9, 0.3, 0.0, "lexical", "some data")


def test_a_file_of_another_evaluators_thresholds_is_refused(small: dict[str, Any], here: Path) -> None:
    """As a preset is."""
    (here / "tuned.toml").write_text(FITTED.replace("lexical", "minilm-0123"))
    with pytest.raises(ConfigError, match=r"fitted for the evaluator 'minilm-0123' and mean nothing for 'lexical'"):
        built(small, thresholds={"file": "tuned.toml"}).pipeline()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("upper = 0.9", "", "missing 1 required positional argument: 'upper'"),
        ("upper = 0.9", "upper = 0.2", "^tuned.toml: lower 0.3 lies above upper 0.2; fit them again"),
        ("upper = 0.9", "upper = inf", "inf is no score"),
        ("upper = 0.9", "upper = 'high'", "^tuned.toml holds no thresholds as `surefoot lab tune --out` .*: 'high'"),
        ("strip = 0", "strip = 0\nuper = 1", "has no field 'uper'"),
        ("strip = 0", "strip =", "^tuned.toml is not TOML"),
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
    with pytest.raises(ConfigError, match="retriever 'hybrid' has no server to push to"):
        built(small).push()


def test_sources_are_lists_of_patterns() -> None:
    """A text would be taken for its letters."""
    assert Builder(read({"sources": {"untrusted": ["mail/*"]}})).sources.untrusted == ("mail/*",)
    with pytest.raises(ConfigError, match="untrusted must be a list"):
        _ = Builder(read({"sources": {"untrusted": "mail/*"}})).sources
