"""What every language model does, whatever is behind it."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from surefoot.contracts import verify
from surefoot.llms.openai import OpenAI
from surefoot.llms.scripted import Scripted
from surefoot.models import registry
from surefoot.run import meter
from surefoot.types import Message
from surefoot.types.errors import ModelError
from surefoot.types.protocols import LLM

COUNT = [Message("user", "Count in words from one to ten, and write nothing else: one, two, three,")]
RATE = [Message("user", "How sure are you that the sky is blue? Answer as JSON with a score from 1 to 5.")]
SCORE = {
    "type": "object",
    "properties": {"score": {"type": "integer", "minimum": 1, "maximum": 5}},
    "required": ["score"],
    "additionalProperties": False,
}


def _scripted(messages: Sequence[Message]) -> str:
    return '{"score": 4}' if "JSON" in messages[-1].content else "one, two, three, four, five, six, seven, eight"


@pytest.fixture(
    scope="module", params=["scripted", *(pytest.param(n, marks=pytest.mark.slow) for n in ("local", "openai"))]
)
def llm(request: pytest.FixtureRequest) -> Iterator[LLM]:
    """Each language model in turn; the endpoint is llama.cpp's own."""
    if request.param == "scripted":
        yield Scripted(_scripted)
        return
    from surefoot.llms.local import Local

    local = Local(threads=1)
    try:
        registry.path(local.name)
    except ModelError as error:
        pytest.skip(str(error))
    if request.param == "local":
        yield local
        return
    server = local._load("127.0.0.1", 0, "a-key")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEST_KEY", "a-key")
        yield OpenAI(local.name, f"{server.listening_address}/v1", "TEST_KEY")
    del server


def test_it_keeps_the_contract_and_streams_in_several_pieces(llm: LLM) -> None:
    """Streaming changes nothing in what is said."""
    verify("llm", llm)
    pieces: list[str] = []
    streamed = llm.complete(COUNT, max_tokens=12, on_text=pieces.append)
    assert len(pieces) > 1
    assert streamed == llm.complete(COUNT, max_tokens=12)


def test_the_answer_is_cut_at_the_token_limit_says_so_and_counts_its_tokens(llm: LLM) -> None:
    """`max_tokens` holds, and a cut answer is marked."""
    with meter.metered() as spent:
        cut = llm.complete(COUNT, max_tokens=3)
    assert (cut.truncated, cut.completion_tokens, cut.prompt_tokens > 3) == (True, 3, True)
    assert spent.tokens == cut.prompt_tokens + 3


def test_a_stop_ends_the_text_before_it(llm: LLM) -> None:
    """The text is what came before the stop, in the pieces too; it is not called truncated."""
    whole = llm.complete(COUNT, max_tokens=12).text
    stop = whole.strip()[5:8]
    pieces: list[str] = []
    stopped = llm.complete(COUNT, max_tokens=12, stop=[stop], on_text=pieces.append)
    assert stopped.text == "".join(pieces) == whole[: whole.index(stop)]
    assert not stopped.truncated


def test_a_schema_is_kept(llm: LLM) -> None:
    """The text is JSON of the form that was asked for."""
    answer = json.loads(llm.complete(RATE, SCORE, max_tokens=30).text)
    assert answer.keys() == {"score"}
    assert 1 <= answer["score"] <= 5


def test_what_on_text_raises_comes_out(llm: LLM) -> None:
    """A reader that has gone away ends the answer, and the model can be asked again."""

    def gone(_: str) -> None:
        raise BrokenPipeError("the reader has gone")

    with pytest.raises(BrokenPipeError):
        llm.complete(COUNT, max_tokens=12, on_text=gone)
    assert llm.complete(COUNT, max_tokens=2).text


def test_answers_do_not_depend_on_who_else_asks(llm: LLM) -> None:
    """Several threads at once get what one after the other would get."""
    questions = [[Message("user", f"{word}: {COUNT[0].content}")] for word in ("Please", "Now", "Well")]
    alone = [llm.complete(question, max_tokens=8).text for question in questions]
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(lambda question: llm.complete(question, max_tokens=8).text, questions)) == alone
