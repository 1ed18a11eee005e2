"""LangChain's own stores, retrievers and models as parts of a pipeline."""

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore

import surefoot
from endpoint import Endpoint, listening, writing
from surefoot.contracts import verify
from surefoot.embedders.static import Static
from surefoot.integrations.from_langchain import LangChainLLM, LangChainRetriever, mongo_filter
from surefoot.run import meter
from surefoot.types import Message
from surefoot.types.errors import ConfigError, EndpointError
from surefoot.types.metadata import Filter

QUESTION = "Who built the Ruvel Bridge?"
DOCUMENTS = [
    Document("The Ruvel Bridge was built in 1911 by Tomas Aldwin.", id="b", metadata={"source": "b.md", "year": 1911}),
    Document("The Larrow Hut stands at 2,214 m.", id="h", metadata={"year": 1934, "open": True}),
    Document("Boil the dumplings until they float.", id="p"),
]
ASK = [Message("user", "Name a colour.")]


class Vectors(Embeddings):
    """None is zero, as none of a model's is: LangChain's store refuses to compare such a one."""

    static = Static()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        rows: list[list[float]] = (self.static.embed(texts) + 1e-3).tolist()
        return rows

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


@pytest.fixture
def store() -> InMemoryVectorStore:
    made = InMemoryVectorStore(Vectors())
    made.add_documents(DOCUMENTS)
    return made


def by_function(filter: Filter) -> dict[str, Any]:
    """What the store in memory takes."""
    return {"filter": lambda document: filter.matches(document.metadata)}


class Plain(VectorStore):
    """A store that has no scores, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    @classmethod
    def from_texts(cls, *_: Any, **__: Any) -> "Plain":
        return cls()

    def similarity_search(self, query: str, k: int = 4, **options: Any) -> list[Document]:
        self.asked.append({"k": k, **options})
        return DOCUMENTS[:k]


class Fixed(BaseRetriever):
    """Finds what it finds, however much is wanted, or breaks."""

    breaks: bool = False

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        if self.breaks:
            raise ConnectionError("no way to https://me:hunter2@db.example")
        return DOCUMENTS


def test_a_store_its_retriever_and_any_other_keep_the_contract(store: InMemoryVectorStore) -> None:
    """With a filter, for want of one, and without scores."""
    for source in (store, store.as_retriever(), store.as_retriever(search_type="mmr"), Plain(), Fixed()):
        verify("retriever", LangChainRetriever(source))
    verify("retriever", LangChainRetriever(store, by_function))


def test_a_store_finds_as_many_as_the_pipeline_asks_for(store: InMemoryVectorStore) -> None:
    """LangChain's retrievers find four, unless they are told: for a prompt, not for a grader."""
    plain = Plain()
    for source in (plain, plain.as_retriever(), plain.as_retriever(search_kwargs={"k": 1, "lang": "en"})):
        LangChainRetriever(source).retrieve(QUESTION, 30)
    assert plain.asked == [{"k": 30}, {"k": 30}, {"k": 30, "lang": "en"}]
    assert len(LangChainRetriever(store.as_retriever(search_kwargs={"k": 1})).retrieve(QUESTION, 30)) == 3
    by_mmr = store.as_retriever(search_type="mmr", search_kwargs={"k": 1})
    assert len(LangChainRetriever(by_mmr).retrieve(QUESTION, 30)) == 3


def test_a_filter_reaches_the_store_or_is_refused(store: InMemoryVectorStore) -> None:
    """It never replaces one that the store was set up with."""
    late = Filter.of({"year": {">": 1920}})
    assert [p.id for p in LangChainRetriever(store, by_function).retrieve(QUESTION, 1, late)] == ["h"]
    with pytest.raises(ConfigError, match="LangChain's InMemoryVectorStore cannot filter as it is; ask without"):
        LangChainRetriever(store).retrieve(QUESTION, 1, late)
    with pytest.raises(ConfigError, match="Fixed cannot filter"):
        LangChainRetriever(Fixed(), by_function).retrieve(QUESTION, 1, late)
    own = store.as_retriever(search_kwargs={"filter": lambda one: one.metadata.get("open")})
    assert [p.id for p in LangChainRetriever(own).retrieve(QUESTION, 3)] == ["h"]
    with pytest.raises(ConfigError, match="a filter would replace `filter` in the search_kwargs"):
        LangChainRetriever(own, by_function).retrieve(QUESTION, 1, late)


def test_a_filter_in_mongodb_s_operators() -> None:
    """One condition stands alone, since Chroma wants two of an $and."""
    assert mongo_filter(Filter.of({"a": 1})) == {"filter": {"a": {"$in": [1]}}}
    both = mongo_filter(Filter.of({"a": {">=": 1, "<": 3}, "b": {"not in": ["x"]}}))
    assert both == {"filter": {"$and": [{"a": {"$gte": 1}}, {"a": {"$lt": 3}}, {"b": {"$nin": ["x"]}}]}}


def test_a_retriever_that_breaks_is_a_step_that_fails() -> None:
    """The question goes on without passages, and the trace says why, without the password."""
    pipeline = surefoot.load({}, parts={"retriever": LangChainRetriever(Fixed(breaks=True))})
    trace = pipeline.run(QUESTION)
    step = next(step for step in trace.steps if step.name == "retrieve")
    assert "LangChain's Fixed failed with ConnectionError: no way to https://***@db.example" in str(step.error)
    assert trace.answer
    assert trace.answer.refused


def test_a_system_of_langchain_s_is_corrected(store: InMemoryVectorStore) -> None:
    """Answered with a citation of the store's own document, or refused."""
    pipeline = surefoot.load({}, parts={"retriever": LangChainRetriever(store.as_retriever())})
    trace = pipeline.run(QUESTION)
    assert trace.answer
    assert "Tomas Aldwin" in trace.answer.text
    assert [(one.strip and one.strip.passage_id, one.url) for one in trace.answer.citations] == [("b", "b.md")]
    refused = pipeline.run("How many moons has Jupiter?").answer
    assert refused
    assert refused.refused


def test_what_is_no_part_of_langchain_is_refused() -> None:
    with pytest.raises(ConfigError, match="takes a VectorStore or a BaseRetriever, not a list"):
        LangChainRetriever(DOCUMENTS)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="LangChainLLM takes a BaseChatModel, not a str"):
        LangChainLLM("gpt-4")  # type: ignore[arg-type]


def fake(**message: Any) -> GenericFakeChatModel:
    def replies() -> Iterator[AIMessage]:
        while True:
            yield AIMessage(**message)

    return GenericFakeChatModel(messages=replies())


def test_a_chat_model_keeps_the_contract() -> None:
    """Tokens are those that it reports, and so is its end."""
    spent = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    about = {"finish_reason": "length"}
    llm = LangChainLLM(fake(content="blue, of course", usage_metadata=spent, response_metadata=about))
    verify("llm", LangChainLLM(fake(content="blue, of course")))
    result = llm.complete(ASK)
    assert (result.text, result.prompt_tokens, result.completion_tokens) == ("blue, of course", 5, 2)
    assert (result.model, result.truncated) == ("GenericFakeChatModel", True)


def test_thoughts_in_a_field_of_their_own_are_no_part_of_the_text() -> None:
    blocks = [{"type": "reasoning", "reasoning": "The sky."}, {"type": "text", "text": "blue"}]
    assert LangChainLLM(fake(content=blocks)).complete(ASK).text == "blue"


def test_a_model_without_structured_output_is_asked_without_and_the_step_says_so() -> None:
    with meter.metered() as spent:
        assert LangChainLLM(fake(content="{}")).complete(ASK, {"type": "object"}).text == "{}"
    assert "GenericFakeChatModel takes no schema; it was asked without" in spent.degraded


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    """As OpenAI answers."""
    message = {"role": "assistant", "content": '{"colour": "blau ö"}'}
    usage = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def test_openai_s_model_gets_limit_temperature_schema_and_stop() -> None:
    """The words that it writes come piece by piece."""
    openai = pytest.importorskip("langchain_openai", reason="needs the package langchain-openai")
    schema = {"type": "object", "properties": {"colour": {"type": "string"}}}
    pieces: list[str] = []
    with listening(Endpoint(answer)) as endpoint:
        llm = LangChainLLM(openai.ChatOpenAI(model="m", base_url=endpoint.url, api_key="sk-x", temperature=0.9))
        result = llm.complete([Message("system", "Be brief."), *ASK], schema, max_tokens=7, stop=["\n"])
        llm.complete(ASK, stop=["\n"])
    assert (result.text, result.model, result.prompt_tokens) == ('{"colour": "blau ö"}', "m", 5)
    sent, plain = endpoint.asked
    assert [one["role"] for one in sent["messages"]] == ["system", "user"]
    assert (sent["max_completion_tokens"], sent["temperature"]) == (7, 0)
    assert (plain["stop"], "stop" in sent) == (["\n"], False)  # LangChain drops them where there is a schema
    assert sent["response_format"]["json_schema"]["schema"]["properties"] == schema["properties"]
    with writing("blue, of course") as endpoint:
        llm = LangChainLLM(openai.ChatOpenAI(model="m", base_url=endpoint.url, api_key="sk-x"))
        assert llm.complete(ASK, on_text=pieces.append).text == "blue, of course"
    assert pieces == ["blue, ", "of ", "course"]
    lost = openai.ChatOpenAI(model="m", base_url="http://127.0.0.1:9/v1", api_key="sk-x", max_retries=0)
    with pytest.raises(EndpointError, match="LangChain's model 'm' failed with"):
        LangChainLLM(lost).complete(ASK)
