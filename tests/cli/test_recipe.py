"""Recipes: each is a configuration without a fault, says what it needs, and its commands run with small stand-ins."""

import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from math import log
from pathlib import Path
from typing import Any

import pytest

from endpoint import WebAnswer, WebRequest, serving
from surefoot.cli.recipe import lines_to_print, recipes
from surefoot.config.faults import faults
from surefoot.config.settings import read
from surefoot.run.store import read_trace
from surefoot.types import Action, Trace

Surefoot = Callable[..., Any]

PAPERS = ("paper-arc", "paper-bio", "paper-popqa", "paper-pubhealth", "reproduction")
AGENTS = ("agentic", "langgraph", "llamaindex")
EVALUATED = ("ragxplain",)
"""Run in the tests of `surefoot lab ragxplain`."""


@pytest.fixture
def empty(here: Path) -> Path:
    """A working directory without a configuration."""
    (here / "surefoot.toml").unlink()
    return here


def commands(text: str) -> list[list[str]]:
    """The words of each command of Surefoot's that a recipe prints."""
    return [shlex.split(line) for line in text.splitlines() if line.startswith("    surefoot ")]


def test_recipes_are_listed_and_written_and_say_what_to_do(empty: Path, surefoot: Surefoot) -> None:
    """What is printed stands in the file, too. A configuration that is there stays, unless it is written over."""
    listed = surefoot("recipe").out
    assert [line.split()[0] for line in listed.splitlines()] == sorted([*PAPERS, *AGENTS, *EVALUATED])
    assert not (empty / "surefoot.toml").exists()
    printed = surefoot("recipe", "paper-popqa").out
    assert (empty / "surefoot.toml").read_text() == recipes()["paper-popqa"]
    assert all(line in printed for line in lines_to_print(recipes()["paper-popqa"]))
    refused = surefoot("recipe", "agentic")
    assert (refused.code, (empty / "surefoot.toml").read_text()) == (2, recipes()["paper-popqa"])
    assert "--overwrite" in refused.err
    assert surefoot("recipe", "agentic", "--overwrite").code == 0
    assert (empty / "surefoot.toml").read_text() == recipes()["agentic"]


@pytest.mark.parametrize("name", recipes())
def test_a_recipe_has_no_fault(name: str) -> None:
    """But for an extra that is not installed; it says what to fetch, and a command to run."""
    config = read(tomllib.loads(recipes()[name]))
    assert [fault for fault in faults(config) if "surefoot[transformers]" not in fault] == []
    assert commands("\n".join(lines_to_print(recipes()[name])))
    assert "Fetch" in recipes()[name]


# End to end, with a server that stands in for every model and for the web


ANSWERS = {
    "What is Tomas Aldwin's occupation?": "engineer",
    "Who built the Ruvel Bridge?": "Tomas Aldwin",
    "Which of these melts?": "B",
    "The Ruvel Bridge is of iron.": "true",
    "The Ruvel Bridge is of cheese.": "false",
    "Tell me a bio of Tomas Aldwin.": "Tomas Aldwin was an engineer who built the Ruvel Bridge in 1911.",
    "What does the guide say about the bridge?": "Tomas Aldwin built the bridge in 1911.",
}
WEB = {"title": "Almanac", "url": "http://almanac.example/1", "content": "Tomas Aldwin built the bridge in 1911."}


def stands_in(request: WebRequest) -> WebAnswer:
    """A model of Self-RAG, one that follows instructions, one that judges, and Tavily."""
    asked = json.loads(request.body)
    if request.target.endswith("/search"):
        reply: dict[str, Any] = {"results": [WEB]}
    elif request.target.endswith("/chat/completions"):
        part = "delta" if asked.get("stream") else "message"
        content = followed(asked["messages"][-1]["content"])
        reply = {"choices": [{part: {"content": content}, "finish_reason": "stop"}]}
    else:
        assert (asked["logprobs"], asked["skip_special_tokens"]) == (20, False)
        assert re.match(r"### Instruction:\n.*\n\n### Response:\n\[", asked["prompt"], re.DOTALL)
        tokens = ["[Relevant]", answered(asked["prompt"]), "[Fully supported]", "[Utility:5]"]
        weighed = {
            "tokens": tokens,
            "token_logprobs": [log(0.9)] * 4,
            "top_logprobs": [{one: log(0.9)} for one in tokens],
        }
        reply = {"choices": [{"text": "".join(tokens), "finish_reason": "stop", "logprobs": weighed}]}
    body = json.dumps(reply).encode()
    return 200, {}, b"data: %s\n\n" % body if asked.get("stream") else body


def answered(prompt: str) -> str:
    """The answer to the question that stands in a prompt."""
    return next(answer for question, answer in ANSWERS.items() if question in prompt)


def followed(prompt: str) -> str:
    """A grade of each passage, another question, facts and judgements in JSON; else an answer from quoted sources."""
    if "\n> " not in prompt and (passages := re.findall(r"^\[(\d+)\] (.*)$", prompt, re.MULTILINE)):
        grades = {number: "CORRECT" if "1911" in text else "INCORRECT" for number, text in passages}
        return json.dumps({n: {"rationale": "read", "grade": grade, "confidence": 1} for n, grade in grades.items()})
    for form, said in (
        ('{"facts"', {"facts": ["Tomas Aldwin built the Ruvel Bridge."]}),
        ('{"supported"', {"supported": True}),
        ("\nQuestion: ", {"missing": "the builder", "question": "Who built the bridge?", "query": "guide bridge"}),
    ):
        if form in f"\n{prompt}":
            return json.dumps(said)
    return answered(prompt)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TAVILY_API_KEY", "a-key")
    with serving(stands_in) as url:
        yield url


CTXS = [
    {"id": "1", "title": "Ruvel Bridge", "text": "The engineer Tomas Aldwin built the Ruvel Bridge of iron in 1911."},
    {"id": "2", "title": "Dumplings", "text": "Boil the dumplings until they float."},
]


def set_out(folder: Path) -> None:
    """Data of two lines in the places that the recipes name, in the forms of those who publish them."""
    (folder / "data").mkdir()
    (folder / "docs").mkdir()
    qa = [
        {"id": n, "question": question, "possible_answers": json.dumps([ANSWERS[question]]), "ctxs": CTXS}
        for n, question in enumerate([*ANSWERS][:2])
    ]
    melts = {"label": ["A", "B"], "text": ["iron", "ice"]}
    choice = {"id": "m", "question": [*ANSWERS][2], "choices": melts, "answerKey": "B", "ctxs": CTXS}
    claims = [
        {"id": n, "claim": claim, "question": claim, "answers": [ANSWERS[claim]], "ctxs": CTXS}
        for n, claim in enumerate([*ANSWERS][3:5])
    ]
    for crag, file, rows in (
        ("popqa", "popqa_longtail_w_gs.jsonl", qa),
        ("arc_challenge", "arc_challenge_processed.jsonl", [choice]),
        ("pubqa", "health_claims_processed.jsonl", claims),
        ("bio", "", [{"question": [*ANSWERS][5]}]),
    ):
        here = folder / "data" / crag
        (here / "ref").mkdir(parents=True)
        files = {
            "sources": [str(row["question"]) for row in rows],
            "ref/correct": ["#" + CTXS[0]["text"] for _ in rows],
            "ref/incorrect": ["#Almanac: Tomas Aldwin was an engineer, says the almanac." for _ in rows],
            "retrieved_psgs": [" [sep] ".join(f"{one['title']} // {one['text']}" for one in CTXS) for _ in rows],
        }
        files |= {"choices": ["A: iron; B: ice"]} if crag == "arc_challenge" else {}
        for name, lines in files.items():
            (here / name).write_text("".join(f"{line}\n" for line in lines))
        if file:
            (folder / "data" / file).write_text("".join(f"{json.dumps(row)}\n" for row in rows))


Prepared = Callable[[str, dict[str, str]], list[list[str]]]


@pytest.fixture
def prepared(empty: Path, surefoot: Surefoot, stand_in: str) -> Prepared:
    """Writes a recipe with the stand-ins in their places, and gives the commands that it printed."""

    def prepare(name: str, others: dict[str, str]) -> list[list[str]]:
        set_out(empty)
        printed = surefoot("recipe", name).out
        text = (empty / "surefoot.toml").read_text()
        for address in ("http://127.0.0.1:8000", "http://127.0.0.1:8001", "http://127.0.0.1:11434"):
            text, printed = text.replace(address, stand_in), printed.replace(address, stand_in)
        for real, other in {'use = "tavily"': f'use = "tavily"\nbase_url = "{stand_in}"', **others}.items():
            text = text.replace(real, other)
        (empty / "surefoot.toml").write_text(text)
        return [words[1:] for words in commands(printed)]

    return prepare


def run(surefoot: Surefoot, commands: list[list[str]]) -> str:
    done = [surefoot(*words) for words in commands]
    assert not any(one.code for one in done), "\n".join(one.out + one.err for one in done)
    return "\n".join(one.out for one in done)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPERS)
def test_the_recipe_of_a_paper_runs(
    name: str, here: Path, surefoot: Surefoot, prepared: Prepared, tiny_t5: Path
) -> None:
    """A model that knows the answers is right by every method; the facts of a life are judged."""
    others = {'use = "wikipedia"': 'use = "nowhere"'}
    (here / "models").mkdir(exist_ok=True)
    (here / "models" / "crag-evaluator").symlink_to(tiny_t5)
    if name == "reproduction":  # its search goes to Wikipedia: a folder stands in for that
        (here / "outside").mkdir()
        (here / "outside" / "almanac.md").write_text(f"# Almanac\n\n{WEB['content']}\n")
        others['use = "wikipedia"'] = 'use = "folder"\npath = "outside.db"'
    asked = prepared(name, others)
    if name == "reproduction":
        assert surefoot("index", "outside", "--index", "outside.db").code == 0
    printed = run(surefoot, [[*words, "--json", f"{n}.json"] for n, words in enumerate(asked)])
    if name == "paper-bio":
        assert "100.0" in printed
        return
    for report in (json.loads(file.read_text()) for file in here.glob("*.json") if "others" in file.read_text()):
        for method in (report, *report["others"]):
            rule = "strict" if "strict" in method["rules"] else "match_lower"
            assert method["rules"][rule]["count"] == method["questions"] > 0, method["method"]


@pytest.mark.slow
@pytest.mark.parametrize("name", AGENTS)
def test_the_recipe_of_an_agent_runs(name: str, here: Path, surefoot: Surefoot, prepared: Prepared) -> None:
    """One irrelevant passage leads to the web, or only the want of a good one; a single page there that is graded
    CORRECT is enough to answer from."""
    asked = prepared(name, {})
    (here / "docs" / "dumplings.md").write_text("# Dumplings\n\nThe guide says: boil the dumplings under the bridge.\n")
    if name != "agentic":
        (here / "docs" / "bridge.md").write_text("# The bridge\n\nTomas Aldwin built the bridge in 1911.\n")
    run(surefoot, asked)
    trace: Trace = read_trace(here / "trace.json")
    assert trace.decision
    assert trace.decision.action is (Action.INCORRECT if name == "agentic" else Action.AMBIGUOUS)
    assert trace.decision.policy == ("count" if name == "agentic" else "any_irrelevant")
    assert {one.missing for one in trace.rewritten} == {"the builder"}
    assert [passage.url for passage in trace.external] == [WEB["url"]]
    assert trace.answer
    assert not trace.answer.refused
    assert not trace.answer.hedged
    assert trace.answer.citations[0].url
    assert "Tomas Aldwin" in trace.answer.text
