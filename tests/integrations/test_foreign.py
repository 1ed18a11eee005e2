"""What documents, errors and replies of other frameworks become, whichever framework it is."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest

from surefoot.contracts import verify
from surefoot.integrations._foreign import ForeignRetriever, Row, foreign, found
from surefoot.integrations._foreign_llm import ForeignLLM, event
from surefoot.llms._base import Call
from surefoot.run import meter
from surefoot.types import Message, Passage
from surefoot.types.errors import Cancelled, ConfigError, ContextOverflow, EndpointError
from surefoot.types.metadata import NO_FILTER, Filter

GOOD = "The Ruvel Bridge was built in 1911 by Tomas Aldwin."
POOR = "Boil the dumplings until they float."
ASK = [Message("user", "Name a colour.")]


def one(metadata: Mapping[str, Any], id: str | None = None, text: str = GOOD) -> Passage:
    [passage] = found([Row(id, text, metadata)], 5, NO_FILTER)
    return passage


def scores(*values: Any) -> list[float | None]:
    return [passage.score for passage in found([Row(str(n), GOOD, {}, v) for n, v in enumerate(values)], 9, NO_FILTER)]


@pytest.mark.parametrize(
    ("metadata", "title", "url"),
    [
        ({"title": "Bridge", "source": "docs/bridge.md"}, "Bridge", "docs/bridge.md"),
        ({"source": "docs\\old\\bridge.md"}, "bridge", "docs\\old\\bridge.md"),
        ({"file_path": "/a/b.pdf", "source": "7"}, "b", "/a/b.pdf"),
        ({"file_name": "b.pdf", "page_label": "12"}, "b", "b.pdf#page=12"),
        ({"file_name": "b.pdf", "page_label": "iv"}, "b", "b.pdf"),
        ({"source": "b.pdf", "page": 3, "total_pages": 9, "page_label": "iv"}, "b", "b.pdf#page=4"),
        ({"source": "b.pdf", "page": 3}, "b", "b.pdf#page=3"),
        ({"file_path": "b.pdf", "page_number": 3, "total_pages": 9}, "b", "b.pdf#page=3"),
        ({"url": "https://a.b/c", "source": "x", "title": ["no text"]}, "c", "https://a.b/c"),
        ({"page": 3, "source": None, "title": " "}, "", None),
    ],
)
def test_title_and_address_come_from_the_usual_keys(metadata: dict[str, Any], title: str, url: str | None) -> None:
    """A page counts from 1; only beside `total_pages` is `page` known to count from 0."""
    assert (one(metadata).title, one(metadata).url) == (title, url)


def test_fields_that_a_filter_can_hold_are_kept() -> None:
    """Of the others none costs the rest."""
    assert dict(one({"year": 1911, "tags": ["a"], "none": None, "a b": 1, "open": True}).meta) == {
        "year": 1911,
        "open": True,
    }


def test_an_id_is_kept_or_made_from_what_the_document_says() -> None:
    """The same one whenever it is found again."""
    assert one({}, "a7").id == "a7"
    assert (one({"_id": 7}).id, one({"_id": 0}).id) == ("7", "0")
    assert one({}).id == one({}).id != one({}, text=POOR).id
    assert one({"source": "a.md"}).id != one({"source": "b.md"}).id
    assert one({}, "two\nlines").id == one({}).id
    assert one({}, "a" * 201).id == one({}).id


def test_two_documents_of_one_id_are_both_there_and_one_twice_is_there_once() -> None:
    rows = [Row("a", GOOD, {}, 3.0), Row("a", POOR, {}, 2.0), Row("a", GOOD, {}, 1.0)]
    passages = found(rows, 5, NO_FILTER)
    assert [(p.text, p.score) for p in passages] == [(GOOD, 3.0), (POOR, 2.0)]
    assert len({p.id for p in passages}) == 2
    assert found(rows, 1, NO_FILTER) == passages[:1]


def test_similarities_are_kept_distances_turned_and_ranks_taken_for_want_of_both() -> None:
    """Higher is better in each case, and a step down the ranks costs ever less."""
    assert scores(0.9, 0.5, -0.1) == [0.9, 0.5, -0.1]
    assert scores(0.0, 1.0, 3.0) == [1.0, 0.5, 0.25]
    by_rank = [1 / 11, 1 / 12, 1 / 13]
    assert scores(None, None, None) == by_rank
    assert scores(0.5, 0.9, 0.1) == by_rank
    assert scores(-0.9, -0.5, -0.1) == by_rank  # an inner product with its sign turned
    assert scores(0.9, float("nan"), 0.1) == by_rank
    [reranked] = found([Row("1", GOOD, {"relevance_score": 0.7})], 5, NO_FILTER)
    assert reranked.score == 0.7


def test_what_a_search_lets_through_besides_is_left_out() -> None:
    rows = [Row("a", GOOD, {"year": 1911}), Row("b", POOR, {"year": 1874}), Row("c", POOR, {})]
    assert [p.id for p in found(rows, 5, Filter.of({"year": {">": 1900}}))] == ["a"]


def test_a_document_without_a_text_is_left_out_and_the_step_says_so() -> None:
    with meter.metered() as spent:
        assert [p.id for p in found([Row("a", None, {}), Row("b", " \n", {}), Row("c", GOOD, {})], 5, NO_FILTER)] == [
            "c"
        ]
    assert spent.degraded == ["2 of 3 documents hold no text and were left out"]


def test_half_a_character_does_no_harm() -> None:
    """Some stores crash on one; in what comes back it is a question mark."""
    found_one = one({"title": "\ud800", "source": "a\ud800.md"}, "a\ud800", "x\ud800y")
    assert (found_one.text, found_one.title, found_one.url) == ("x?y", "?", "a?.md")
    found_one.id.encode()


class Refused(Exception):
    """As a provider's client raises it."""

    status_code = 429


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no collection\ncalled x"), "the store failed with ValueError: no collection called x; make"),
        (RuntimeError(), "RuntimeError: it does not say why; make"),
        (OSError("https://me:hunter2@db.example/x"), "https://***@db.example/x"),
        (OSError("Incorrect API key provided: sk-hunter2hunter2"), "***"),
        (OSError("\ud800"), "OSError: "),
    ],
)
def test_an_error_says_what_failed_and_no_secret(error: Exception, text: str) -> None:
    """The recorder takes it as the failure of a component, or no declared fallback would happen."""
    with pytest.raises(EndpointError) as caught, foreign("the store"):
        raise error
    assert text in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert "without Surefoot" in str(caught.value)
    str(caught.value).encode()


def test_an_error_keeps_its_status_and_ours_pass() -> None:
    with pytest.raises(EndpointError) as caught, foreign("the model"):
        raise Refused("slow down")
    assert caught.value.status == 429
    with pytest.raises(ContextOverflow), foreign("the model"):
        raise ValueError("This model's maximum context length is 4096 tokens")
    with pytest.raises(Cancelled, match="gone"), foreign("the model"):
        raise Cancelled("gone")


class Listed(ForeignRetriever):
    """Two documents of no framework, and a filter that it takes or not."""

    name = "listed"

    def __init__(self, fails: bool = False) -> None:
        super().__init__("a list", "the", str)
        self.fails = fails
        self.wanted: list[int] = []

    def among(self, filter: Filter) -> Mapping[str, Any]:
        raise ConfigError("it cannot filter")

    def rows(self, question: str, k: int, among: Mapping[str, Any]) -> Iterable[Row]:
        self.wanted.append(k)
        yield Row("b", GOOD, {}, 0.1)
        if self.fails:
            raise KeyError("gone")
        yield Row("p", POOR, {}, 0.9)


def test_a_foreign_retriever_keeps_the_contract() -> None:
    """Also for one passage, whose number alone does not say whether it is a similarity."""
    verify("retriever", retriever := Listed())
    assert min(retriever.wanted) == 10
    with pytest.raises(EndpointError, match="the str failed with KeyError: 'gone'"):
        Listed(fails=True).retrieve("bridge", 5)
    with pytest.raises(ConfigError, match="it cannot filter"):
        retriever.retrieve("", 5, Filter.of({"a": 1}))


class Model:
    """A chat model that is a pydantic model, as far as it is looked at."""

    model_fields: dict[str, Any] = {"temperature": 1, "num_predict": 1}

    def __init__(self, name: str, pieces: list[str], **settings: Any) -> None:
        self.name, self.pieces, self.settings = name, pieces, settings

    def model_copy(self, *, update: dict[str, Any]) -> "Model":
        return Model(self.name, self.pieces, **update)


class Limitless(Model):
    model_fields: dict[str, Any] = {}


class Speaking(ForeignLLM):
    """Says its pieces, whoever is asked."""

    framework = "Nobody"

    def __init__(self, *pieces: str, name: str = "m", kind: type[Model] = Model, stops: bool = True) -> None:
        super().__init__(kind(name, [*pieces]), Model)
        self.stops = stops
        self.settings: list[dict[str, Any]] = []
        self.stop: list[Any] = []

    @staticmethod
    def model_name(model: Any) -> str:
        return str(model.name)

    def events(self, model: Any, call: Call) -> Iterator[Any]:
        self.settings.append(model.settings)
        self.stop.append(call.stop)
        for number, piece in enumerate(model.pieces, start=1):
            if piece == "!":
                raise Refused("slow down")
            yield event(piece, {"done_reason": "length"} if piece == "…" else {}, (3, number))


def test_a_foreign_model_keeps_the_contract_and_counts_its_tokens() -> None:
    """It is greedy, and its limit is that of the call, by whatever name it goes."""
    verify("llm", llm := Speaking("blue", ", of course"))
    assert llm.settings[0] == {"num_predict": 8, "temperature": 0.0}
    with meter.metered() as spent:
        result = llm.complete(ASK, on_text=lambda _: None)
    assert (result.prompt_tokens, result.completion_tokens, result.truncated) == (3, 2, False)
    assert (spent.calls, spent.tokens, spent.degraded) == (1, 5, [])
    assert Speaking("blue", "…").complete(ASK).truncated


def test_a_model_without_a_limit_is_asked_without_and_the_step_says_so() -> None:
    llm = Speaking("blue", kind=Limitless)
    with meter.metered() as spent:
        assert llm.complete(ASK).text == "blue"
    assert llm.settings == [{}]
    assert spent.degraded == ["m takes no limit of tokens; it was asked without"]


def test_a_model_that_thinks_has_room_for_it_and_takes_no_temperature_where_it_has_none() -> None:
    """Known by its name; thoughts are no part of the text."""
    llm = Speaking("<think>sky</think>blue", name="gpt-5-mini")
    assert llm.complete(ASK, max_tokens=8).text == "blue"
    assert llm.settings == [{"num_predict": 8 + 4096}]


def test_a_reply_is_cut_here_where_the_model_takes_no_words_to_stop_at() -> None:
    pieces: list[str] = []
    llm = Speaking("blue", ", of ", "course", stops=False)
    assert llm.complete(ASK, stop=["of"], on_text=pieces.append).text == "blue, "
    assert (pieces, llm.stop) == (["blue, "], [()])
    taking = Speaking("blue")
    taking.complete(ASK, stop=["of"])
    assert taking.stop == [["of"]]


def test_a_model_that_fails_fails_as_an_endpoint_and_a_listener_s_mistake_is_its_own() -> None:
    """Also in the middle of a stream."""
    with pytest.raises(EndpointError, match="Nobody's model 'm' failed with Refused: slow down") as caught:
        Speaking("blue", "!").complete(ASK, on_text=lambda _: None)
    assert caught.value.status == 429
    with pytest.raises(ZeroDivisionError):
        Speaking("blue").complete(ASK, on_text=lambda _: 1 / 0)
    with pytest.raises(EndpointError, match="m sent more than the 1 tokens that were asked for; ask again"):
        Speaking("blue " * 1000).complete(ASK, max_tokens=1)


def test_a_part_of_another_kind_is_refused_with_what_is_wanted() -> None:
    with pytest.raises(ConfigError, match="Speaking takes a Model, not a str"):
        ForeignLLM.__init__(Speaking(), "gpt-4", Model)
