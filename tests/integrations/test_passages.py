"""What every adapter shares, without any framework."""

import sys
from importlib import import_module

import pytest

from surefoot.integrations._passages import answered, numbered, retrieved, sources, worth
from surefoot.pipeline import Pipeline
from surefoot.retrievers._given import Given
from surefoot.types import Answer, Citation, Grade, Passage, Step, Strip, Trace
from surefoot.types.errors import ComponentError, ConfigError, MissingExtra
from surefoot.types.metadata import Filter, Meta


def test_an_address_is_found_under_the_names_that_loaders_give_it() -> None:
    """The first text among them; what is no text is passed over."""
    about = [{"file_path": "a.md"}, {"url": "b", "file_path": "c"}, {"source": 1, "url": "d"}, {"source": ["e"]}]
    assert [one.url for one in numbered(("text", one) for one in about)] == ["a.md", "b", "d", None]


def test_a_source_opens_where_its_words_stand() -> None:
    """[n] cites the n-th; a strip of a later page leads to that page, with its passage's grade."""
    whole = Passage(
        "p", "First page. Second page.", url="a.pdf#page=1", start=100, places=((0, "page=1"), (12, "page=2"))
    )
    strips = (Strip("p", 0, 11, "First page.", 1.0, False, "poor"), Strip("p", 12, 24, "Second page.", 1.0, True))
    trace = Trace("t", "?", (whole,), (Grade("p", 1.0),), strips=strips, answer=Answer("Second."))
    [(part, grade)] = sources(trace)
    assert (part.text, part.url, part.start) == ("Second page.", "a.pdf#page=2", 112)
    assert grade == Grade("p", 1.0)


def test_sources_end_with_the_last_that_is_cited() -> None:
    """So that a reader is shown none that the answer does not stand on; all, where it cites none."""
    strips = tuple(Strip(id, 0, 4, "text", 1.0, True) for id in "abc")
    passages, grades = tuple(Passage(id, "text") for id in "abc"), tuple(Grade(id, 1.0) for id in "abc")
    cited = Citation(2, strips[1], "text", True), Citation(9, None, "", False)
    for citations, ids in ((cited, "ab"), ((), "abc")):
        trace = Trace("t", "?", passages, grades, strips=strips, answer=Answer("text [2]", citations))
        assert [one.id for one, _ in sources(trace)] == [*ids]


def test_what_is_retrieved_is_within_the_pipeline_s_filter_and_the_question_s(pipeline: Pipeline) -> None:
    of = {"a": ("de", 2024), "b": ("en", 2024), "c": ("en", 2020)}
    shelf = Given(tuple(Passage(id, id, meta=Meta({"lang": lang, "year": year})) for id, (lang, year) in of.items()))
    within = pipeline.but(retriever=shelf, filter={"year": 2024})
    assert {one.id for one, _ in retrieved(within, "Who?", 3, False)} == {"a", "b"}
    assert [one.id for one, _ in retrieved(within, "Who?", 3, False, Filter.of({"lang": "en"}))] == ["b"]
    with pytest.raises(ConfigError, match="cannot filter"):
        retrieved(pipeline.but(filter={"year": 2024}), "Who?", 3, False)


def test_a_question_that_ended_without_an_answer_is_an_error() -> None:
    """And so is a refusal behind a failed step, which says nothing of the documents; an answer is one all the same."""
    failed = (Step("grade", 0.1, error="out of memory"),)
    with pytest.raises(ComponentError, match="ended without an answer: cancelled"):
        answered(Trace("t", "?", error="cancelled"))
    with pytest.raises(ComponentError, match="the step 'grade' failed: out of memory"):
        answered(Trace("t", "?", answer=Answer("No.", refused=True), steps=failed))
    assert answered(Trace("t", "?", answer=Answer("Yes."), steps=failed)).text == "Yes."


@pytest.mark.parametrize(("probability", "score", "number"), [(0.9, 3.0, 0.9), (None, 3.0, 3.0), (None, None, None)])
def test_a_document_s_number_is_its_probability(
    probability: float | None, score: float | None, number: float | None
) -> None:
    """Or the evaluator's own score where that is not calibrated."""
    assert worth({"probability": probability, "score": score}) == number


@pytest.mark.parametrize(
    ("extra", "library", "module"),
    [
        ("langchain", "langchain_core.callbacks", "surefoot.integrations.langchain"),
        ("llamaindex", "llama_index.core.base.base_query_engine", "surefoot.integrations.llamaindex"),
        ("haystack", "haystack", "haystack_integrations.components.surefoot"),
    ],
)
def test_a_missing_framework_gives_the_line_that_installs_it(
    extra: str, library: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(MissingExtra, match=rf"run: pip install 'surefoot\[{extra}\]'$"):
        import_module(module)
