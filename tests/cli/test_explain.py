"""`surefoot explain`: words of a grade, and what an action hung on."""

import base64
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from surefoot.run.store import Run, from_json
from surefoot.types import Attribution, Record, Trace

QUESTION = "Who built the Ruvel Bridge?"
PASSAGE = "The Ruvel Bridge was built in 1911 by Tomas Aldwin."


@pytest.fixture
def traced(indexed: Callable[..., Any]) -> Callable[..., Any]:
    """`surefoot`, after a question whose trace is in trace.json."""
    indexed("ask", QUESTION, "--trace", "trace.json")
    return indexed


def test_words_are_marked_with_signs(surefoot: Callable[..., Any]) -> None:
    """Legible without colour; with the strongest listed, and how far it can be trusted."""
    done = surefoot("explain", QUESTION, PASSAGE)
    assert done.code == 0
    assert "Ruvel++" in done.out
    assert "Aldwin." in done.out
    assert "score of lexical: 1" in done.out
    assert "gap" in done.out
    assert "regression, baseline delete" in done.out


def test_a_passage_may_be_a_file(surefoot: Callable[..., Any], here: Path) -> None:
    """Its text is explained, and not its name."""
    (here / "bridge.txt").write_text(PASSAGE)
    assert surefoot("explain", QUESTION, "bridge.txt").out == surefoot("explain", QUESTION, PASSAGE).out


def test_the_values_are_kept(surefoot: Callable[..., Any], here: Path) -> None:
    """Question, passage, units, values, base, gap and seed: what a picture would lose."""
    surefoot("explain", "Who built it?", "He built it.", "--json", "why.json")
    told = json.loads((here / "why.json").read_text())
    found = from_json(Attribution, told["grade"])
    assert (found.question, found.passage.text if found.passage else "") == ("Who built it?", "He built it.")
    assert (found.seed, found.method) == (0, "exact")
    assert abs(found.gap) < 1e-3


def test_an_action_is_explained(traced: Callable[..., Any], here: Path) -> None:
    """From the trace alone: margins, moves, drops, and what each passage carried."""
    done = traced("explain", "--trace", "trace.json", "--json", "why.json")
    assert done.code == 0
    assert "CORRECT: best score 1" in done.out
    assert "less upper: +0.25" in done.out
    assert "With upper at 1" in done.out
    assert json.loads((here / "why.json").read_text())["action"]["decision"]["action"] == "correct"


def test_the_words_of_a_trace_are_explained_by_its_own_evaluator(traced: Callable[..., Any], here: Path) -> None:
    """The passage as it was graded; by its id, or the best one."""
    (here / "surefoot.toml").write_text('evaluator = "minilm"')
    done = traced("explain", "--trace", "trace.json", "--words", "best")
    assert done.code == 0
    assert "score of lexical: 1" in done.out
    assert traced("explain", "--trace", "trace.json", "--words", "nope").code == 2


@pytest.mark.parametrize("words", [[], [QUESTION], [QUESTION, PASSAGE, "--trace", "trace.json"]])
def test_half_a_question_is_refused(traced: Callable[..., Any], words: list[str]) -> None:
    done = traced("explain", *words)
    assert done.code == 2
    assert "a question and a passage" in done.err


def test_a_page_holds_all_that_was_asked_for_and_nothing_that_runs(traced: Callable[..., Any], here: Path) -> None:
    """Action, words and the answer's strips; its policy names its own style by its hash."""
    words = ["--words", "best", "--answer", "--html", "why.html"]
    assert traced("explain", "--trace", "trace.json", *words).code == 0
    page = (here / "why.html").read_text()
    for part in ("CORRECT: ", "it would be", "score of lexical", "± standard error", "without it"):
        assert part in page
    (style,) = re.findall("<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'" in page
    assert "style=" not in page


def test_hostile_text_on_a_page_stays_text(surefoot: Callable[..., Any], here: Path) -> None:
    """No tag of a question or passage becomes one, and nothing steers the reader's direction."""
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>\u202e"
    assert surefoot("explain", f"Who built {evil}?", f"He built {evil}.", "--html", "why.html").code == 0
    page = (here / "why.html").read_text()
    assert page.count("&lt;script&gt;") > 1
    assert not re.search("<script|<img|\u202e", page)


def test_an_answer_is_generated_again_without_an_index(traced: Callable[..., Any], here: Path) -> None:
    """Only the generator is built: the trace may have come from another machine."""
    (here / ".surefoot" / "index.db").unlink()
    done = traced("explain", "--trace", "trace.json", "--answer")
    assert (done.code, "Answer: Tomas Aldwin built it" in done.out) == (0, True)


def test_records_of_an_evaluation_are_explained(traced: Callable[..., Any], here: Path) -> None:
    """A line each with its strongest words; all of it is kept where the viewer finds it."""
    trace = json.loads((here / "trace.json").read_text())
    Run(here / "out", {}, "records.jsonl").add("r1", Record("r1", QUESTION, trace=from_json(Trace, trace)))
    (here / "out" / "scores.jsonl").touch()
    done = traced("explain", "--run", "out", "--record", "r1")
    assert done.code == 0
    assert done.out.startswith("r1, 1: ")
    assert done.out.count("+0.") == 3
    assert json.loads((here / "out" / "attributions.jsonl").read_text())["key"] == "r1"


def test_an_evaluation_is_explained_without_what_is_of_one_grade(surefoot: Callable[..., Any]) -> None:
    """A page, a picture, another configuration: none of them would be of what was evaluated."""
    assert "--record" in surefoot("explain", "--run", "out", "--html", "why.html").err
    assert "--run FOLDER" in surefoot("explain", "Who?", "He.", "--record", "r1").err
