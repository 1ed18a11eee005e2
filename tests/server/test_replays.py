"""Requests as Open WebUI, LibreChat, Continue and Cherry Studio send them: their shape is that of their sources, their
prompts are cut down to the words by which they are known. Each has to get what its client shows."""

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from server.conftest import events

REPLAYS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("replays.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("replay", REPLAYS, ids=[f"{one['client']} {one['does']}" for one in REPLAYS])
def test_a_client_gets_what_it_shows(shared: TestClient, replay: dict[str, Any]) -> None:
    """Text, citations, tokens, a ranking, or an error with a sentence; a chore leaves no trace."""
    holds, body = replay["holds"], replay["body"]
    before = shared.get("/traces").json()["traces"]
    key = {"Authorization": "Bearer none"}
    reply = shared.post(replay["path"], json=body, headers=key) if body else shared.get(replay["path"], headers=key)
    assert reply.status_code == holds.get("status", 200), reply.text
    if "message" in holds:
        assert holds["message"] in reply.json()["error"]["message"]
    if "models" in holds:
        assert [model["id"] for model in reply.json()["data"]] == holds["models"]
    if "first" in holds:
        ranked = reply.json()
        assert ranked["results"][0]["index"] == holds["first"]
        assert ranked["data"] == ranked["results"]
    if {"text", "equals", "json"} & holds.keys():
        text, titles, usage = shown(reply, body)
        assert holds.get("text", "") in text
        assert holds.get("equals", text) == text
        assert "json" not in holds or json.loads(text) == holds["json"]
        assert holds.get("cites", None) in (None, *titles)
        assert usage or not holds.get("usage")
    assert not holds.get("untraced") or shared.get("/traces").json()["traces"] == before


def shown(reply: Any, body: dict[str, Any]) -> tuple[str, list[str], Any]:
    """The text, the titles of the sources, and the tokens, as a client puts them together."""
    if "input" in body:
        found = [data for _, data in events(reply.text)]
        text = "".join(one["delta"] for one in found if one["type"] == "response.output_text.delta")
        cited = [one["annotation"] for one in found if one["type"] == "response.output_text.annotation.added"]
        return text, [one.get("filename") or one["title"] for one in cited], found[-1]["response"]["usage"]
    if not body["stream"]:
        whole = reply.json()
        message = whole["choices"][0]["message"]
        return message["content"], _titles(message["annotations"]), whole["usage"]
    found = [data for _, data in events(reply.text)]
    assert found.pop() == "[DONE]"
    deltas = [one["choices"][0]["delta"] for one in found if one["choices"]]
    assert [one["choices"][0]["finish_reason"] for one in found if one["choices"]][-1] == "stop"
    noted = [note for delta in deltas for note in delta.get("annotations", [])]
    return "".join(delta.get("content") or "" for delta in deltas), _titles(noted), found[-1].get("usage")


def _titles(annotations: list[dict[str, Any]]) -> list[str]:
    return [one["url_citation"]["title"] for one in annotations if one["url_citation"]["url"]]
