"""`surefoot chat`, and the questions that go on from others."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_line import INTERRUPTED
from surefoot.run.store import read_trace
from surefoot.text.follow_up import completed

FIRST = "Who built the Ruvel Bridge?"
THEN = "and in 1911?"


@pytest.fixture
def talk(indexed: Callable[..., Any]) -> Callable[..., Any]:
    """A conversation of these lines on standard input."""

    def run(*lines: str, words: tuple[str, ...] = ()) -> Any:
        return indexed("chat", *words, typed="".join(f"{line}\n" for line in lines))

    return run


def test_each_line_of_standard_input_is_a_question(talk: Callable[..., Any]) -> None:
    """Empty ones are none; the end of the input is the end."""
    done = talk(FIRST, "", "Who built the Hohrin Hut?")
    assert (done.code, done.err) == (0, "")
    assert done.out.count("Retrieved") == 2
    assert "Tomas Aldwin built it. [1]" in done.out


def test_a_question_that_goes_on_is_completed_in_sight(talk: Callable[..., Any]) -> None:
    """By the one before it; the next one may go on from both. The scripted model fails, so rules do it."""
    done = talk(FIRST, THEN)
    assert f"Read as    {completed(THEN, FIRST)}" in done.out
    assert "completed by rules" in done.out
    assert done.out.count("Retrieved") == 2


def test_a_question_that_goes_on_from_nothing_is_asked_back(talk: Callable[..., Any]) -> None:
    done = talk(THEN)
    assert "What is it about?" in done.out
    assert "Retrieved" not in done.out


def test_commands_are_no_questions(talk: Callable[..., Any], here: Path) -> None:
    """One that makes no sense is said so, and the conversation goes on; behind /quit nothing is read."""
    done = talk(FIRST, "/trace", "/trace last.json", "/help", "/quit", FIRST)
    assert done.code == 0
    assert read_trace(here / "last.json").question == FIRST
    assert done.err.splitlines() == [
        "surefoot: ask something, then name a file, as in: /trace answer.json",
    ]
    assert done.out.count("Retrieved") == 1
    assert "/quit ends" in done.out


def test_a_path_is_a_question_although_it_begins_like_a_command(talk: Callable[..., Any]) -> None:
    assert "Retrieved" in talk("/etc/bridge of Ruvel, who built it?").out


def test_a_question_that_cannot_be_asked_ends_no_conversation(talk: Callable[..., Any]) -> None:
    """One line, and the next question."""
    done = talk("x" * 50_000, FIRST)
    assert done.code == 0
    assert "at most 4,000 fit" in done.err
    assert "Tomas Aldwin built it. [1]" in done.out


def test_ctrl_c_stops_an_answer_and_not_the_conversation(talk: Callable[..., Any]) -> None:
    done = talk(FIRST, FIRST, words=INTERRUPTED)
    assert (done.code, done.err) == (0, "stopped\n")
    assert "Tomas Aldwin built it. [1]" in done.out
