"""LlamaIndex's own indexes, retrievers and models as parts of a pipeline."""

from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llamaindex")

from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import ChatMessage, ChatResponse, MockLLM
from llama_index.core.schema import NodeWithScore, TextNode

import surefoot
from surefoot.contracts import verify
from surefoot.embedders.static import Static
from surefoot.integrations.from_llamaindex import LlamaIndexLLM, LlamaIndexRetriever
from surefoot.run import meter
from surefoot.types import Message
from surefoot.types.errors import ConfigError
from surefoot.types.metadata import Filter

QUESTION = "Who built the Ruvel Bridge?"
BRIDGE = {"file_path": "b.pdf", "page_label": "4", "year": 1911}
NODES = [
    TextNode(id_="b", text="The Ruvel Bridge was built in 1911 by Tomas Aldwin.", metadata=BRIDGE),
    TextNode(id_="h", text="The Larrow Hut stands at 2,214 m.", metadata={"title": "Hut", "year": 1934}),
    TextNode(id_="p", text="Boil the dumplings until they float."),
]
ASK = [Message("system", "Be brief."), Message("user", "Name a colour.")]


class Vectors(BaseEmbedding):
    def _get_text_embedding(self, text: str) -> list[float]:
        row: list[float] = Static().embed([text])[0].tolist()
        return row

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


class Broken(BaseRetriever):
    """Fails where it should find."""

    def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
        raise TimeoutError("no answer")


@pytest.fixture
def index() -> VectorStoreIndex:
    return VectorStoreIndex(NODES, embed_model=Vectors())


@pytest.mark.filterwarnings("ignore:invalid value encountered")  # LlamaIndex's own, for a question without a known word
def test_an_index_and_its_retriever_keep_the_contract(index: VectorStoreIndex) -> None:
    verify("retriever", LlamaIndexRetriever(index))
    verify("retriever", LlamaIndexRetriever(index.as_retriever()))


def test_a_node_is_a_passage_without_its_metadata_in_the_text(index: VectorStoreIndex) -> None:
    """An index finds as many as are wanted, a retriever as many as it is set up for."""
    best, *others = LlamaIndexRetriever(index).retrieve(QUESTION, 30)
    assert (best.id, best.text, best.title, best.url) == ("b", NODES[0].text, "b", "b.pdf#page=4")
    assert {p.title for p in others} == {"Hut", ""}
    assert len(LlamaIndexRetriever(index.as_retriever()).retrieve(QUESTION, 30)) == 2


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        ({"year": 1911}, ["b"]),
        ({"year": {"in": [1911, 1934]}}, ["b", "h"]),
        ({"year": {"!=": 1911}}, ["h", "p"]),
        ({"year": {"not in": [1911, 1934]}}, ["p"]),
        ({"year": {">=": 1900, "<": 1934}}, ["b"]),
    ],
)
def test_a_filter_reaches_the_index(index: VectorStoreIndex, wanted: dict[str, Any], ids: list[str]) -> None:
    assert sorted(p.id for p in LlamaIndexRetriever(index).retrieve(QUESTION, 3, Filter.of(wanted))) == ids


def test_a_filter_that_cannot_be_had_is_refused(index: VectorStoreIndex) -> None:
    with pytest.raises(ConfigError, match="VectorIndexRetriever cannot filter; give its index itself"):
        LlamaIndexRetriever(index.as_retriever()).retrieve(QUESTION, 3, Filter.of({"year": 1911}))
    with pytest.raises(ConfigError, match="hold no true or false, as for open"):
        LlamaIndexRetriever(index).retrieve(QUESTION, 3, Filter.of({"open": True}))


def test_a_system_of_llamaindex_s_is_corrected(index: VectorStoreIndex) -> None:
    """And one that breaks is a step that fails."""
    answer = surefoot.load({}, parts={"retriever": LlamaIndexRetriever(index)}).run(QUESTION).answer
    assert answer
    assert "Tomas Aldwin" in answer.text
    trace = surefoot.load({}, parts={"retriever": LlamaIndexRetriever(Broken())}).run(QUESTION)
    assert "LlamaIndex's Broken failed with TimeoutError: no answer" in str(trace.steps[0].error)


def test_what_is_no_part_of_llamaindex_is_refused() -> None:
    with pytest.raises(ConfigError, match="takes a VectorStoreIndex or a BaseRetriever, not a list"):
        LlamaIndexRetriever(NODES)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="LlamaIndexLLM takes a LLM, not a str"):
        LlamaIndexLLM("gpt-4")  # type: ignore[arg-type]


class Counting(MockLLM):
    """Reports its tokens and its end as OpenAI's does."""

    def chat(self, messages: Any, **options: Any) -> ChatResponse:
        assert options == {}
        assert [one.role.value for one in messages] == ["system", "user"]
        raw = {"choices": [{"finish_reason": "length"}]}
        counts = {"prompt_tokens": 5, "completion_tokens": 2}
        return ChatResponse(message=ChatMessage(content="blue"), raw=raw, additional_kwargs=counts)


def test_a_model_keeps_the_contract_within_its_limit() -> None:
    """Its own limit gives way to that of the call."""
    verify("llm", LlamaIndexLLM(MockLLM(max_tokens=500)))
    assert len(LlamaIndexLLM(MockLLM(max_tokens=500)).complete(ASK, max_tokens=3).text.split()) == 3
    result = LlamaIndexLLM(Counting()).complete(ASK)
    assert (result.text, result.prompt_tokens, result.completion_tokens, result.truncated) == ("blue", 5, 2, True)


def test_a_model_takes_no_schema_and_is_cut_at_the_words_here() -> None:
    pieces: list[str] = []
    with meter.metered() as spent:
        llm = LlamaIndexLLM(MockLLM())
        assert llm.complete(ASK, {"type": "object"}, max_tokens=9, stop=["xt"], on_text=pieces.append).text == "te"
    assert pieces == ["te"]
    assert spent.degraded == ["unknown takes no schema; it was asked without"]
