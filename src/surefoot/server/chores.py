"""The chores that Open WebUI gives a model between questions: titles, tags, next questions. They come as user messages
that begin with "### Task:" and want JSON. No document is searched for them, and no model is asked."""

from __future__ import annotations

import json
import re

TASK = "### Task:"
_ASKED = re.compile(r"^USER:\s*(.+)$", re.MULTILINE | re.IGNORECASE)
_HISTORY = re.compile(r"<chat_history>(.*?)(?:</chat_history>|\Z)", re.DOTALL)
_EMPTY = {"follow_ups": [], "tags": [], "queries": [], "prompt": "", "text": ""}
"""Keys of the JSON that a chore may want, with nothing in them."""
_WORDS = 8
"""Words of a title, at most."""
_TITLED = 80
"""Characters of a title, at most."""


def done(message: str) -> str | None:
    """The reply to a chore; None: the message is none. A title is the first question of the conversation, cut."""
    if not message.lstrip().startswith(TASK):
        return None
    task = _HISTORY.sub("", message)
    if '"title"' in task:
        return json.dumps({"title": _title(message)}, ensure_ascii=False)
    wanted = next((key for key in _EMPTY if f'"{key}"' in task), None)
    return json.dumps({wanted: _EMPTY[wanted]}) if wanted else "{}"


def _title(message: str) -> str:
    history = _HISTORY.search(message)
    asked = _ASKED.search(history[1]) if history else None
    words = asked[1].split() if asked else []
    return " ".join(words[:_WORDS])[:_TITLED].rstrip(" ?.!,;:") or "Conversation"
