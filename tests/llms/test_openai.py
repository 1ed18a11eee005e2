"""An endpoint's ways to fail each have a message of their own; against a server of this file's own."""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import pytest

from endpoint import WebAnswer, WebRequest, serving
from faults import PLANTED, faults
from surefoot.llms.openai import OpenAI
from surefoot.network.pace import within
from surefoot.run import cancel, meter
from surefoot.types import Completion, Message, Token
from surefoot.types.errors import EndpointError

ASK = [Message("system", "Be brief."), Message("user", "Who built it?")]
KEY = f"a-very-{PLANTED}-secret-key"


@dataclass
class Reply:
    """What the server answers to one request."""

    body: str | bytes = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    silence: float = 0
    broken: bool = False
    """Less comes than was announced."""


def said(text: str, finish: str = "stop", **more: Any) -> Reply:
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finish}
    return Reply(json.dumps({"choices": [choice], **more}))


def event(**choice: Any) -> str:
    return "data: " + json.dumps({"choices": [choice]}, ensure_ascii=False) + "\r\n\r\n"


@dataclass
class Server:
    """A scripted endpoint, and what it was asked; the last reply is given for ever."""

    url: str = ""
    replies: list[Reply] = field(default_factory=list)
    asked: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)

    def llm(self, *replies: Reply, **options: Any) -> OpenAI:
        self.replies = list(replies)
        return OpenAI("larrow-7b", self.url, **options)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """An endpoint on loopback, with a key in the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server = Server()

    def answer(request: WebRequest) -> WebAnswer:
        headers = {name.title(): value for name, value in request.headers.items()}
        server.asked.append((request.target, headers, json.loads(request.body or "{}")))
        reply = server.replies.pop(0) if len(server.replies) > 1 else server.replies[0]
        time.sleep(reply.silence)
        body = reply.body if isinstance(reply.body, bytes) else reply.body.encode()
        return reply.status, {"Content-Length": str(len(body) + 100 * reply.broken), **reply.headers}, body

    with serving(answer) as url:
        server.url = f"{url}/v1"
        yield server


def fails(llm: OpenAI, stream: bool = False) -> str:
    """The message of the EndpointError that a question ends in."""
    with pytest.raises(EndpointError) as caught:
        llm.complete(ASK, on_text=(lambda _: None) if stream else None)
    message = str(caught.value)
    assert message.startswith("the endpoint http://127.0.0.1:")
    assert "\n" not in message
    assert KEY not in message
    return message


def test_an_answer_is_taken_with_its_tokens(server: Server) -> None:
    """Text, usage and cut come from the answer, and are counted."""
    llm = server.llm(said("Ola Vint", "length", usage={"prompt_tokens": 9, "completion_tokens": 3}))
    with meter.metered() as spent:
        assert llm.complete(ASK) == Completion("Ola Vint", "larrow-7b", 9, 3, truncated=True)
    assert (spent.calls, spent.tokens) == (1, 12)


def test_everything_asked_for_is_in_the_request(server: Server) -> None:
    """Model, messages, limit, stop, schema and key go out, at temperature 0."""
    server.llm(said("{}")).complete(ASK, {"type": "object"}, max_tokens=7, stop=["\n"])
    path, headers, request = server.asked[0]
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert request == {
        "model": "larrow-7b",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who built it?"}],
        "max_tokens": 7,
        "temperature": 0,
        "stop": ["\n"],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": {"type": "object"}, "strict": True},
        },
    }


def test_a_stream_is_handed_on_piece_by_piece(server: Server) -> None:
    """Comments and empty events are skipped; a line separator inside the text splits nothing; no [DONE] is needed."""
    usage = 'data: {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}'
    opening = event(delta={"role": "assistant", "content": None})
    body = ": hello\n\n" + opening + event(delta={"content": "Ola\u2028"}) + event(delta={"content": " Vint"})
    llm = server.llm(Reply(body + event(delta={}, finish_reason="stop") + usage))
    pieces: list[str] = []
    assert llm.complete(ASK, on_text=pieces.append) == Completion("Ola\u2028 Vint", "larrow-7b", 9, 2)
    assert pieces == ["Ola\u2028", " Vint"]
    assert server.asked[0][2]["stream_options"] == {"include_usage": True}


def test_a_silent_server_is_given_up_after_the_timeout(server: Server) -> None:
    """And not asked again, for that would take as long again; one that is down is named with the reason."""
    assert "cannot be reached" in fails(OpenAI("m", "http://127.0.0.1:9/v1", retries=0))
    assert "was silent for 0.1 s; set a longer timeout" in fails(server.llm(Reply(silence=60), timeout=0.1))
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "check the key in the environment variable OPENAI_API_KEY"),
        (404, "check base_url and the model's name, larrow-7b"),
        (400, "surefoot doctor"),
        (307, "redirects are not followed"),
    ],
)
def test_a_refusal_is_passed_on_at_once_with_advice(server: Server, status: int, advice: str) -> None:
    """The status, the beginning of the body without the key, and what to do; a redirect is not followed."""
    body = f"no\nentry for {KEY}, Bearer other or sk-another1" + "x" * 1000
    message = fails(server.llm(Reply(body, status, {"Location": "/elsewhere"})))
    assert f"answered HTTP {status} (no entry for ***, Bearer *** or sk-***" in message
    assert advice in message
    assert len(message) < 400
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("status", "text", "lasting"),
    [
        (401, "", True),
        (302, "", True),
        (400, "The model `larrow-7b` does not exist", True),
        (400, "The prompt was filtered by larrow-7b-guard", False),
        (429, "larrow-7b is overloaded", False),
    ],
)
def test_a_refusal_that_will_last_is_told_from_others(server: Server, status: int, text: str, lasting: bool) -> None:
    """Some endpoints say with 400 that there is no such model."""
    with pytest.raises(EndpointError) as refused:
        server.llm(Reply(text, status, {"Location": "/elsewhere", "Retry-After": "0"}), retries=0).complete(ASK)
    assert refused.value.lasting is lasting
    assert ("check base_url and the model's name" in str(refused.value)) is (status == 400 and lasting)


def test_a_passing_failure_is_asked_again(server: Server) -> None:
    """Too many requests and server errors are retried, after the pause that is asked for."""
    replies = [Reply("", status, {"Retry-After": "0"}) for status in (429, 500, 503)]
    assert server.llm(*replies, said("now"), retries=3).complete(ASK).text == "now"


@pytest.mark.parametrize("stream", [False, True])
def test_an_endpoint_that_is_never_silent_and_never_done_is_given_up(
    stream: bool,
) -> None:
    """A byte now and then must not hold a question for ever."""
    with faults() as server, within(0.5):
        begun = time.monotonic()
        message = fails(OpenAI("m", f"{server.url}/drip/body"), stream)
        assert time.monotonic() - begun < 10
    assert "gave no whole answer in time" in message


def test_a_question_without_time_waits_for_no_retry(server: Server) -> None:
    """However long the pause that is asked for."""
    llm = server.llm(Reply("", 503, {"Retry-After": "5"}), retries=9)
    begun = time.monotonic()
    with within(0.5):
        assert "in time" in fails(llm)
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize(
    ("asked", "least", "most"), [("3", 3, 3), ("3600", 5, 5), ("9" * 400, 0.25, 0.5), ("²", 0.25, 0.5), ("", 0.25, 0.5)]
)
def test_a_pause_is_what_the_endpoint_asks_for_up_to_five_seconds(
    server: Server, asked: str, least: float, most: float
) -> None:
    """Half a second at most where it asks for nothing that can be read."""
    paused: list[float] = []

    class Stop(Event):
        def wait(self, timeout: float | None = None) -> bool:
            paused.append(timeout or 0.0)
            return False

    with cancel.heeding(Stop()):
        server.llm(Reply("", 503, {"Retry-After": asked}), said("4"), retries=1).complete(ASK)
    assert least <= max(paused) <= most


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("<html>Welcome</html>", "sent a stream without an answer"),
        ("data: {nonsense\n\n", "sent no JSON: {nonsense"),
        ("data: 7\n\n", "sent a stream of something else: 7"),
        (event(delta={"content": "Ola"}), "broke off its answer without an end"),
        ('data: {"error": {"message": "out of memory"}}\n\n', "broke off its answer with .*out of memory"),
    ],
)
def test_a_broken_stream_is_not_an_answer(server: Server, body: str, what: str) -> None:
    """Half an answer is an error, not a short answer."""
    assert re.search(what, fails(server.llm(Reply(body)), stream=True))


@pytest.mark.parametrize("stream", [False, True])
def test_a_connection_lost_in_the_middle_is_an_error(server: Server, stream: bool) -> None:
    """Whether the answer is streamed or not; it is not asked for again, for pieces are out already."""
    message = fails(server.llm(Reply(event(delta={"content": "Ola"}), broken=True)), stream)
    assert "broke off its answer in the middle" in message
    assert len(server.asked) == 1


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_without_end_is_read_as_far_as_it_was_asked_for(server: Server, stream: bool) -> None:
    """A thousand bytes for each token, and 64 kB: of 8 MB where ten tokens were asked for, most is not fetched."""
    body = event(delta={"reasoning": "x" * (8 << 20)}) if stream else said("x" * (8 << 20)).body
    llm = server.llm(Reply(body))
    with pytest.raises(EndpointError, match="sent more than 75,776 bytes"):
        llm.complete(ASK, max_tokens=10, on_text=(lambda _: None) if stream else None)
    with faults() as endless:
        assert "sent more than" in fails(OpenAI("m", f"{endless.url}/endless"), stream)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", ["bomb", "torn", "packed", "brotli"])
def test_an_answer_that_is_packed_is_not_unpacked(kind: str, stream: bool) -> None:
    """50 kB unpack to 50 MB in one go; nothing packed was asked for."""
    with faults() as server:
        assert "sent its answer packed, which was not requested" in fails(OpenAI("m", f"{server.url}/{kind}"), stream)
        assert server.asked[0].headers["accept-encoding"] == "identity"


STRANGE = (
    "[1]",
    "null",
    '{"choices": [null]}',
    '{"choices": {"0": {}}}',
    '{"choices": [{"delta": "a", "message": "a"}]}',
)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("sent", "what"),
    [
        ("[" * 100_000, "sent no JSON: .*is base_url an OpenAI-compatible endpoint?"),
        ('{"choices": [{"mess', "sent no JSON"),
        ('{"choices": ' + '{"a":' * 500 + "1" + "}" * 501, "sent no JSON"),
        ('{"choices": [{"delta": {"content": ["a"]}, "message": {"content": ["a"]}}]}', "an answer that is no text"),
        ('{"error": {"message": "out of memory"}}', "broke off its answer with out of memory"),
        *((body, "sent (JSON without an answer|a stream of something else)") for body in STRANGE),
    ],
    ids=lambda value: value[:40],
)
def test_a_server_that_sends_something_else_is_named(server: Server, sent: str, what: str, stream: bool) -> None:
    """Whatever its parts are: never a traceback, and never an answer."""
    assert re.search(what, fails(server.llm(Reply(f"data: {sent}\n\n" if stream else sent)), stream))


def test_probe_names_the_models(server: Server) -> None:
    """In the endpoint's order; the object's repr shows no key."""
    llm = server.llm(Reply('{"data": [{"id": "b"}, {"id": "a"}]}'))
    assert llm.probe() == ("b", "a")
    assert server.asked[0][0] == "/v1/models"
    assert repr(llm) == f"OpenAI('larrow-7b', base_url='{server.url}', key_env='OPENAI_API_KEY')"


def test_a_proxy_does_not_come_between_us_and_this_machine(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked of a server on loopback goes there, whatever proxy the environment names."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://proxy.invalid:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert server.llm(said("a"), retries=0).complete(ASK).text == "a"


def test_a_model_that_thinks_is_asked_as_it_wants(server: Server) -> None:
    """Without a temperature and words to stop at, and with tokens for its thoughts beside those for its answer."""
    server.llm(said("a")).complete(ASK, max_tokens=7)
    llm = OpenAI("o3-mini", server.url)
    pieces: list[str] = []
    server.replies = [said("Ola Vint\nand more", usage={"completion_tokens": 900})]
    assert llm.complete(ASK, max_tokens=7, stop=["\n", "no"]) == Completion("Ola Vint", "o3-mini", 0, 900)
    request = server.asked[1][2]
    assert request.keys() == {"model", "messages", "max_completion_tokens"}
    assert request["max_completion_tokens"] == 7 + llm.thoughts
    server.replies = [Reply(event(delta={"content": "Ola\nVint"}, finish_reason="stop"))]
    assert llm.complete(ASK, stop=["\n"], on_text=pieces.append).text == "Ola" == "".join(pieces)


FORM = "### Instruction:\n{system}\n\n{user}\n\n### Response:\n"


@pytest.mark.parametrize(
    ("message", "field", "instead"),
    [
        ("Unsupported parameter: 'temperature'", "temperature", None),
        (
            "'max_tokens' is not supported with this model. Use 'max_completion_tokens'",
            "max_tokens",
            "max_completion_tokens",
        ),
    ],
)
def test_a_refused_parameter_is_left_out(server: Server, message: str, field: str, instead: str | None) -> None:
    """From then on."""
    refused = Reply(json.dumps({"error": {"message": message}}), status=400)
    llm = server.llm(refused, said("Ola"))
    assert [llm.complete(ASK, stop=["x"]).text for _ in range(2)] == ["Ola", "Ola"]
    assert [field in body for *_, body in server.asked] == [True, False, False]
    assert instead is None or instead in server.asked[1][-1]


def test_an_endpoint_without_streaming_is_asked_for_the_whole(server: Server) -> None:
    """And the answer is handed on in one piece."""
    pieces: list[str] = []
    refused = Reply(json.dumps({"error": {"message": "stream is not supported"}}), status=400)
    server.llm(refused, said("Ola Vint")).complete(ASK, on_text=pieces.append)
    assert pieces == ["Ola Vint"]


def test_an_endpoint_that_sends_the_whole_instead_of_a_stream_is_read(server: Server) -> None:
    """At once, and its failure is told as one of an answer that is not streamed."""
    pieces, typed = list[str](), {"Content-Type": "application/json; charset=utf-8"}
    llm = server.llm(Reply(said("Ola Vint").body, headers=typed), Reply('{"error": "no memory"}', headers=typed))
    assert llm.complete(ASK, on_text=pieces.append).text == "Ola Vint" == "".join(pieces)
    assert "no memory" in fails(llm, stream=True)
    assert len(server.asked) == 2


def test_a_base_model_is_given_one_text(server: Server) -> None:
    """In the template's form; what a text itself has in braces stays."""
    answer = Reply(json.dumps({"choices": [{"text": "Ola Vint", "finish_reason": "length"}]}))
    llm = server.llm(answer, api="completions", template=FORM)
    asked = [Message("system", "Be {user}."), Message("user", "Who?"), Message("user", "And {system}?")]
    assert llm.complete(asked, max_tokens=7, stop=["\n"]) == Completion("Ola Vint", "larrow-7b", truncated=True)
    path, _, request = server.asked[0]
    assert path == "/v1/completions"
    assert request == {
        "model": "larrow-7b",
        "prompt": "### Instruction:\nBe {user}.\n\nWho?\n\nAnd {system}?\n\n### Response:\n",
        "max_tokens": 7,
        "temperature": 0,
        "stop": ["\n"],
    }


WEIGHED = (
    Token("[Relevant]", -0.1, (("[Relevant]", -0.1), ("[Irrelevant]", -2.5))),
    Token("Ola", -0.7, (("Ola", -0.7),)),
)
COMPLETIONS = {
    "tokens": [one.text for one in WEIGHED],
    "token_logprobs": [one.logprob for one in WEIGHED],
    "top_logprobs": [dict(one.weighed) for one in WEIGHED],
}
CHATS = {
    "content": [
        {
            "token": one.text,
            "logprob": one.logprob,
            "top_logprobs": [{"token": text, "logprob": log} for text, log in one.weighed],
        }
        for one in WEIGHED
    ]
}


@pytest.mark.parametrize("form", [COMPLETIONS, CHATS], ids=["completions", "chat"])
def test_log_probabilities_come_with_the_tokens(server: Server, form: dict[str, Any]) -> None:
    """In either of the two forms: llama.cpp answers /completions in that of a chat."""
    answer = Reply(json.dumps({"choices": [{"text": "Ola", "finish_reason": "stop", "logprobs": form}]}))
    llm = server.llm(answer, api="completions", logprobs=5, extra_body={"skip_special_tokens": False, "prompt": "x"})
    assert llm.complete(ASK).tokens == WEIGHED
    request = server.asked[0][2]
    assert (request["logprobs"], request["skip_special_tokens"]) == (5, False)
    assert request["prompt"].startswith("Be brief.")


def test_a_chat_is_asked_for_log_probabilities_in_its_own_fields(server: Server) -> None:
    """And a stream has them event by event."""
    server.llm(said("yes", logprobs=None), logprobs=3).complete(ASK)
    assert (server.asked[0][2]["logprobs"], server.asked[0][2]["top_logprobs"]) == (True, 3)
    one, two = ({"content": [row]} for row in CHATS["content"])
    body = event(delta={"content": "[Relevant]"}, logprobs=one) + event(
        delta={"content": "Ola"}, logprobs=two, finish_reason="stop"
    )
    assert server.llm(Reply(body), logprobs=3).complete(ASK, on_text=lambda _: None).tokens == WEIGHED
