"""`surefoot ask`."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from command_line import INTERRUPTED
from surefoot.run.store import loads, read_trace

QUESTION = "Who built the Ruvel Bridge?"


def test_the_answer_comes_with_decision_evidence_and_cost(indexed: Callable[..., Any]) -> None:
    """All of a run, from the retrieval to the checked quote."""
    done = indexed("ask", QUESTION)
    assert (done.code, done.err) == (0, "")
    for part in ("Retrieved", "Decision   CORRECT", "Answer     Tomas Aldwin built it. [1]", "Passages", "pairs"):
        assert part in done.out
    assert "[1] quoted · supported “Tomas Aldwin” · Ruvel Bridge · library/bridge.md" in " ".join(done.out.split())
    assert "Refined" not in done.out


def test_json_is_one_line_and_nothing_else(indexed: Callable[..., Any], here: Path) -> None:
    """The whole trace, to be read by the next program; the same is kept in a file."""
    done = indexed("ask", QUESTION, "--json", "--trace", "kept/trace.json")
    assert (done.code, done.err, done.out.count("\n")) == (0, "", 1)
    assert json.loads(done.out)["answer"]["text"] == "Tomas Aldwin built it. [1]"
    assert read_trace(here / "kept" / "trace.json") == loads(done.out)


def test_an_unfinished_index_is_told_and_answers(indexed: Callable[..., Any], here: Path) -> None:
    with closing(sqlite3.connect(here / ".surefoot" / "index.db")) as db, db:
        db.execute("UPDATE files SET complete = 0 WHERE path = 'library/bridge.md'")
    done = indexed("ask", QUESTION)
    assert "The index is unfinished" in done.err
    assert "Tomas Aldwin built it. [1]" in done.out


def test_a_refusal_is_no_failure(indexed: Callable[..., Any]) -> None:
    """Nothing went wrong."""
    done = indexed("ask", "Why do whales sing?")
    assert done.code == 0
    assert "I cannot answer this" in done.out


def test_what_a_model_made_up_is_shown_as_withheld(indexed: Callable[..., Any]) -> None:
    """Beside the quotation that takes its place."""
    done = indexed("ask", "Who built the Hohrin Hut?")
    assert done.code == 0
    assert "built by the miners" in done.out
    assert "withheld: Napoleon did." in done.out


def test_a_part_that_failed_shows_and_gives_exit_code_3(indexed: Callable[..., Any]) -> None:
    """The question still ends, with the fallback in sight: where a model that words the answer fails, a quotation."""
    done = indexed("ask", QUESTION, "--set", "llm.replies={}")
    assert done.code == 3
    assert "built in 1911 by Tomas Aldwin" in done.out
    assert "no scripted reply fits" in done.out
    assert "quoted instead" in done.out
    assert "Traceback" not in done.out + done.err


@pytest.mark.parametrize("question", ["", "x" * 50_000])
def test_a_question_that_cannot_be_asked_is_a_mistake_of_the_users(indexed: Callable[..., Any], question: str) -> None:
    """One line that does not repeat the question."""
    done = indexed("ask", question)
    assert (done.code, done.out) == (2, "")
    assert len(done.err) < 200


@pytest.mark.parametrize("command", ["ask", "search"])
def test_a_question_without_quotes_is_told_to_get_some(surefoot: Callable[..., Any], command: str) -> None:
    done = surefoot(command, "who", "built", "it", "--set", "pipeline.k=1")
    assert (done.code, done.out) == (2, "")
    assert done.err == f'surefoot: put the question in quotes: surefoot {command} "who built it"\n'


def test_the_advice_to_configure_a_searcher_is_given_once(indexed: Callable[..., Any]) -> None:
    """Not after every question; a trace of it still says so."""
    words = ("ask", QUESTION, "--set", "thresholds.upper=5", "--trace", "kept.json")
    assert " ".join(indexed(*words).out.split()).count("--set searcher.use=wikipedia") == 1
    assert "no searcher is configured" not in indexed(*words).out
    assert "no searcher is configured" in indexed("trace", "kept.json").out


def test_the_advice_is_given_where_nothing_can_be_remembered(indexed: Callable[..., Any], here: Path) -> None:
    """A home that cannot be written to is no reason to fail, or to keep it back."""
    (here / "state" / "surefoot").mkdir(parents=True)
    (here / "state" / "surefoot" / "hints").touch()
    for _ in range(2):
        assert "no searcher" in indexed("ask", QUESTION, "--set", "thresholds.upper=5").out


def test_quiet_prints_the_text_of_the_answer_alone(indexed: Callable[..., Any]) -> None:
    """To be read by a person or a script; with the exit codes of the whole."""
    done = indexed("ask", QUESTION, "--quiet")
    assert done == (0, "Tomas Aldwin built it. [1]\n", "")
    assert indexed("ask", QUESTION, "--quiet", "--set", "llm.replies={}", "--set", "evaluator=llm").code == 3


def test_passages_are_shown_whole_where_that_is_asked(surefoot: Callable[..., Any], here: Path) -> None:
    """So many of them, with all their lines; with 0 there are none."""
    lines = "".join(f"The Ruvel Bridge has an arch of iron, number {n}.\n\n" for n in range(9))
    (here / "library" / "bridge.md").write_text(f"# Ruvel Bridge\n\nTomas Aldwin built it.\n\n{lines}")
    surefoot("index", "library")
    assert "number 8" not in surefoot("ask", QUESTION).out
    shown = surefoot("ask", QUESTION, "--passages", "1").out
    assert all(f"number {n}." in shown for n in range(9))
    assert "Hohrin" not in shown[shown.index("Passages") :]
    assert "Passages" not in surefoot("ask", QUESTION, "--passages", "0").out


def test_a_question_can_stand_on_standard_input(indexed: Callable[..., Any]) -> None:
    """Where "-" is asked; a document is still too long to be one."""
    assert indexed("ask", "-", "--quiet", typed=f"{QUESTION}\n").out == "Tomas Aldwin built it. [1]\n"
    assert indexed("ask", "-", typed="x" * 50_000).code == 2


def test_ctrl_c_ends_with_one_line_and_its_own_exit_code(indexed: Callable[..., Any]) -> None:
    """No traceback, and nothing goes on; as JSON where results are."""
    done = indexed("ask", QUESTION, *INTERRUPTED)
    assert (done.code, done.err) == (130, "surefoot: interrupted\n")
    assert json.loads(indexed("ask", QUESTION, *INTERRUPTED, "--json").out)["code"] == 130


def test_a_retriever_of_ones_own_needs_no_index(surefoot: Callable[..., Any]) -> None:
    own = ("--set", "retriever.use=shelf:Shelf")
    assert surefoot("ask", QUESTION, "--quiet", *own).code == 0
    assert surefoot("search", QUESTION, *own).code == 0
    assert surefoot("chat", *own, typed=QUESTION).code == 0


def test_one_setting_can_be_given_for_once(indexed: Callable[..., Any]) -> None:
    """Several times over, the last one wins; a model can be any class by its path."""
    sets = ("--set", "pipeline.k=2", "--set", "pipeline.k=1", "--set", "llm.use=surefoot.llms.scripted:Scripted")
    done = indexed("ask", QUESTION, "--json", *sets, "--set", 'llm.replies={Ruvel="Nobody."}')
    trace = loads(done.out)
    assert len(trace.passages) == 1
    assert trace.answer
    assert trace.answer.withheld == "Nobody."


def test_what_a_document_holds_cannot_steer_the_terminal(surefoot: Callable[..., Any], here: Path) -> None:
    """Escape sequences in titles and texts come out as signs, and brackets as brackets."""
    text = "[b]The :smile: Ruvel Bridge[/b] \x1b]0;owned\x07 was built in 1911 by Tomas Aldwin."
    (here / "library" / "bridge.md").write_text(f"# Ruvel \x1b[2J Bridge [/x]\n\n{text}\n")
    surefoot("index", "library")
    done = surefoot("ask", QUESTION)
    assert done.code == 0
    assert "\x1b" not in done.out
    assert "\x07" not in done.out
    assert "[b]The :smile: Ruvel Bridge[/b]" in done.out


@pytest.mark.parametrize("columns", [80, 120])
def test_no_line_is_wider_than_the_terminal(
    indexed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    done = indexed("ask", QUESTION, "--set", "thresholds.upper=5")
    assert max(map(len, done.out.splitlines())) <= columns
    assert "AMBIGUOUS" in done.out
