"""The chores that chat clients give a model between questions: titles, tags, next questions. They are known by the
words or the shape in which Open WebUI, LibreChat, Continue and Cherry Studio give them. No document is searched for
them, and no model is asked."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from surefoot.text.json_values import parsed

TASK = "### Task:"
_ASKED = re.compile(r"^(?:USER|Human):\s*(.+)$", re.MULTILINE | re.IGNORECASE)
_HISTORY = re.compile(r"<chat_history>(.*?)(?:</chat_history>|\Z)", re.DOTALL)
_WRAPPED = re.compile(r"\s*### Task:\s+Respond to the user query using the provided context")
"""How Open WebUI begins a question that it puts documents of its own before."""
_TITLES = (
    "Provide a concise, 5-word-or-less title for the conversation",  # LibreChat
    "Given the following... please reply with a title for the chat",  # Continue
)
_FACE = "Your task is to reflect the speaker's likely facial expression through a fitting emoji."
_TOOLS = "Available Tools:"
_EMPTY = {"follow_ups": [], "tags": [], "queries": [], "prompt": "", "text": ""}
"""Keys of the JSON that a chore may want, with nothing in them."""
_WORDS = 8
"""Words of a title, at most."""
_TITLED = 80
"""Characters of a title, at most."""


def done(said: Sequence[tuple[str, str]]) -> str | None:
    """The reply to a chore; None: these messages, each with its role, are none. A title is the first question of the
    conversation, cut; tags, next questions and search queries are empty lists."""
    asked = next((words.lstrip() for role, words in reversed(said) if role == "user"), "")
    if asked.startswith(TASK) and not _WRAPPED.match(asked):
        return _json(asked)
    if asked.startswith(_TITLES):
        return _title(asked.partition("\n\n")[2])
    if asked.startswith(_FACE):
        return ""
    if any(role == "system" and words.startswith(_TOOLS) for role, words in said) and asked.startswith("Query:"):
        return json.dumps({"tool_calls": []})
    told = _told(asked)
    return _title(f"USER: {told}") if told is not None else None


def unwrapped(question: str) -> str:
    """The question without the documents that Open WebUI has put before it: those are not ours to answer from."""
    return question.rpartition("</context>")[2].strip() if _WRAPPED.match(question) else question


def _json(task: str) -> str:
    wanted = _HISTORY.sub("", task)
    if '"title"' in wanted:
        history = _HISTORY.search(task)
        return json.dumps({"title": _title(history[1] if history else "")}, ensure_ascii=False)
    key = next((key for key in _EMPTY if f'"{key}"' in wanted), None)
    return json.dumps({key: _EMPTY[key]}) if key else "{}"


def _told(message: str) -> str | None:
    """The first question of a conversation told as JSON, as Cherry Studio does for a title; None: it is none."""
    if not (message.startswith("[{") and '"mainText"' in message):
        return None
    try:
        turns: Any = parsed(message)
    except ValueError:
        return None
    texts = [one.get("mainText") for one in turns if isinstance(one, dict) and one.get("role") == "user"]
    return next((text for text in texts if isinstance(text, str)), "")


def _title(history: str) -> str:
    """The first question of a conversation, or else its first words, cut."""
    asked = _ASKED.search(history)
    words = (asked[1] if asked else history).split()
    return " ".join(words[:_WORDS])[:_TITLED].rstrip(" ?.!,;:") or "Conversation"
