"""The Model Context Protocol, spoken by the SDK's own client."""

import asyncio
import json
import os
import re
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

pytest.importorskip("mcp", reason="needs the extra mcp")
pytest.importorskip("starlette", reason="needs the extra server")

import httpx2
from mcp import MCPError, StdioServerParameters
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from server.conftest import Slow, listening
from server.process import QUICK
from surefoot.evidence.policies import Action
from surefoot.server import tools
from surefoot.server.app import keys_of
from surefoot.server.mcp import protocol_server
from surefoot.server.service import Service

T = TypeVar("T")
QUESTION = "Who built the Ruvel Bridge?"


def talk(server: Any, work: Callable[[Client], Awaitable[T]], **options: Any) -> T:
    """What `work` gives, or raises, with a client of this server."""

    async def talking() -> T | MCPError:
        async with Client(server, **options) as client:
            try:
                return await work(client)
            except MCPError as error:  # which the client's tasks would wrap
                return error

    found = asyncio.run(talking())
    if isinstance(found, MCPError):
        raise found
    return found


@pytest.fixture(params=["auto", "legacy"])
def call(request: pytest.FixtureRequest, own: Service) -> Callable[..., Any]:
    """The result of a tool, by a client of today and by one of 2025."""

    def called(name: str, **arguments: Any) -> Any:
        return talk(protocol_server(own), lambda client: client.call_tool(name, arguments), mode=request.param)

    return called


def test_ask_gives_a_checked_answer_with_addresses_that_open(own: Service) -> None:
    """As a value that its own schema describes, in words, and as links; what a link leads to holds the words that the
    answer cites."""
    jsonschema = pytest.importorskip("jsonschema")

    async def inspect(client: Client) -> None:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        result = await client.call_tool("ask", {"question": QUESTION})
        jsonschema.Draft202012Validator(listed["ask"].output_schema).validate(result.structured_content)
        value = result.structured_content
        assert not result.is_error
        assert "Tomas Aldwin" in value["answer"]
        assert not value["refused"]
        assert own.traces.find("default", value["trace"])
        cited, *_ = value["citations"]
        text, link, *_ = result.content
        assert "Tomas Aldwin" in text.text
        assert link.uri == cited["resource"]
        (read,) = (await client.read_resource(link.uri)).contents
        assert cited["quote"] in read.text

    talk(protocol_server(own), inspect)


def test_a_question_that_nothing_answers_is_refused(call: Callable[..., Any]) -> None:
    """In the value and in words, and not as an error."""
    result = call("ask", question="How long is the river Tahl?")
    assert result.structured_content["refused"]
    assert result.content[0].text.startswith("The documents do not answer this.")
    assert not result.is_error


def test_retrieve_gives_graded_passages_and_keeps_no_trace(call: Callable[..., Any], own: Service) -> None:
    """The best first, no more than were asked for."""
    result = call("retrieve", question=QUESTION, passages=1)
    (found,) = result.structured_content["passages"]
    assert "Tomas Aldwin" in found["text"]
    assert found["label"] == Action.CORRECT
    assert found["resource"] in result.content[0].text
    assert own.traces.latest("default", "", 5) == ()


def test_grade_gives_a_grade_for_each_text(call: Callable[..., Any]) -> None:
    result = call("grade", question=QUESTION, texts=["Tomas Aldwin built the Ruvel Bridge.", "Cheese is made of milk."])
    grades = result.structured_content["grades"]
    assert [grade["passage_id"] for grade in grades] == ["1", "2"]
    assert grades[0]["score"] > grades[1]["score"]


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("ask", {}, "`question` is missing"),
        ("ask", {"question": "  "}, "1 to 4,000 characters"),
        ("ask", {"question": "Who?", "collection": "others"}, "no such collection"),
        ("ask", {"question": "Who?", "filter": {"year": {"≈": 1}}}, "year"),
        ("retrieve", {"question": "Who?", "passages": 0}, "`passages`"),
        ("grade", {"question": "Who?", "texts": []}, "`texts`"),
        ("grade", {"question": "Who?", "texts": ["a", " "]}, "`texts[1]`"),
        ("grade", {"question": "Who?", "text": ["a"]}, "text"),
    ],
)
def test_what_the_model_can_mend_is_a_result_that_says_how(
    call: Callable[..., Any], name: str, arguments: dict[str, Any], words: str
) -> None:
    """An error of the protocol would not reach the model; a tool that is not there is one."""
    result = call(name, **arguments)
    assert result.is_error
    assert words in result.content[0].text
    with pytest.raises(MCPError, match="there is no tool called 'asc'"):
        call("asc")


def test_words_of_documents_stand_between_marks_that_they_cannot_know(own: Service) -> None:
    """They are new each time, and nothing of a document stands outside of them."""
    marks = set()
    for _ in range(2):
        result = talk(protocol_server(own), lambda client: client.call_tool("retrieve", {"question": QUESTION}))
        text = result.content[0].text
        found = re.fullmatch(r"(?s)(.*)\n\n<(quoted \w{8})>\n(.*)\n</\2>", text)
        assert found
        assert "Aldwin" not in found[1]
        assert "Aldwin" in found[3]
        marks.add(found[2])
    assert len(marks) == 2


def test_a_call_ends_with_its_time(own: Service, slow: Slow) -> None:
    """The question stops, its place is free again, and the model is told what to call instead."""
    own.workers.seconds = 1.0
    result = talk(protocol_server(own), lambda client: client.call_tool("ask", {"question": QUESTION}))
    assert result.is_error
    assert "call `retrieve` for passages alone" in result.content[0].text
    assert slow.stopped.wait(120)
    own.workers.close()
    assert own.traces.latest("default", "", 5) == ()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_that_leaves_ends_its_question(own: Service, slow: Slow, mode: str) -> None:
    """Nobody waits for the answer: it is given up, and no trace is kept."""

    async def leave(client: Client) -> None:
        asking = asyncio.create_task(client.call_tool("ask", {"question": QUESTION}))
        await asyncio.to_thread(slow.running.wait, 120)
        asking.cancel()
        await asyncio.wait([asking])

    with listening(own) as address:
        talk(f"{address}/mcp", leave, mode=mode)
        assert slow.stopped.wait(120)
        while own.workers.taken:
            time.sleep(0.02)
    assert own.traces.latest("default", "", 5) == ()


def test_documents_are_listed_and_read_page_by_page(own: Service) -> None:
    """Whole, by the address that the list gives; a cursor that nobody gave is an error."""

    async def read(client: Client) -> None:
        first = await client.list_resources()
        second = await client.list_resources(cursor=first.next_cursor)
        (bridge,), (hut,) = first.resources, second.resources
        assert (bridge.title, hut.title) == ("Ruvel Bridge", "Larrow Hut")
        assert second.next_cursor is None
        (text,) = (await client.read_resource(hut.uri)).contents
        assert "It stands at 2,214 m." in text.text
        assert [one.uri_template for one in (await client.list_resource_templates()).resource_templates] == [
            "surefoot://passage/{id}",
            "surefoot://document/{id}",
        ]
        with pytest.raises(MCPError, match="no page behind this cursor"):
            await client.list_resources(cursor="surefoot://document/x")

    talk(protocol_server(own, page=1), read)


@pytest.mark.parametrize("uri", ["surefoot://passage/none", "surefoot://document/none", "file:///etc/passwd", "x"])
def test_what_is_not_there_cannot_be_read(own: Service, uri: str) -> None:
    """No address leads out of the index."""
    with pytest.raises(MCPError, match="there is no such"):
        talk(protocol_server(own), lambda client: client.read_resource(uri))


def test_every_tool_says_that_it_changes_nothing_and_describes_what_it_takes(own: Service) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    for tool in talk(protocol_server(own), lambda client: client.list_tools()).tools:
        assert tool.annotations.read_only_hint
        for schema in (tool.input_schema, tool.output_schema):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert "components" not in json.dumps(schema)
        assert all(one.get("description") for one in tool.input_schema["properties"].values())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_it_is_served_over_http_too(live: str, mode: str) -> None:
    """At /mcp, with each step as it begins, and the decision."""
    heard: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    ask = {"question": QUESTION}
    result = talk(f"{live}/mcp", lambda client: client.call_tool("ask", ask, progress_callback=hear), mode=mode)
    assert "Tomas Aldwin" in result.structured_content["answer"]
    assert heard[:3] == ["retrieve", "grade", "decided: correct"]


def test_a_key_opens_its_collections_alone(own: Service) -> None:
    """For tools and for resources; without one nobody comes in."""
    ids = [document.id for index in [own.collections.index("default")] if index for document in index.documents()]
    keys = keys_of(own.settings)
    mine, others = keys.add("mine", ["default"]), keys.add("others", ["elsewhere"])

    async def seen(address: str, secret: str) -> tuple[int, bool, bool]:
        headers = {"Authorization": f"Bearer {secret}"}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
        ):
            listed = (await client.list_resources()).resources
            inspect = await client.call_tool("retrieve", {"question": QUESTION, "collection": "default"})
            try:
                await client.read_resource(tools.address("document", ids[0]))
            except MCPError:
                return len(listed), inspect.is_error, False
            return len(listed), inspect.is_error, True

    with listening(own) as address:
        assert asyncio.run(seen(address, mine)) == (2, False, True)
        assert asyncio.run(seen(address, others)) == (0, True, False)
        assert httpx2.post(f"{address}/mcp", json={}).status_code == 401


def test_other_methods_and_larger_requests_are_refused(live: str) -> None:
    """There is no stream to open and no session to end; a body is as large as elsewhere."""
    assert httpx2.get(f"{live}/mcp").status_code == 405
    assert httpx2.post(f"{live}/mcp", content=b" " * 2_000_001).status_code == 413


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_it_speaks_over_standard_input_and_output(own: Service, tmp_path: Path, mode: str) -> None:
    """As a client starts it, in the folder that `--directory` names."""
    (tmp_path / "surefoot.toml").write_text(QUICK)
    arguments = ["-m", "surefoot", "mcp", "--directory", str(tmp_path), "--index", str(own.collections.path)]
    paths = {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    server = StdioServerParameters(command=sys.executable, args=arguments, cwd="/", env=paths)
    result = talk(server, lambda client: client.call_tool("ask", {"question": QUESTION}), mode=mode)
    assert "Tomas Aldwin" in result.structured_content["answer"]
