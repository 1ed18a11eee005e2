"""`/v1/grade`, and the evaluator `remote` as its client, over a real socket."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import surefoot
from server.conftest import listening, quick
from surefoot.contracts import verify
from surefoot.evaluators.lexical import Lexical
from surefoot.evaluators.minilm import MiniLM
from surefoot.evaluators.remote import Remote
from surefoot.retrievers._given import Given
from surefoot.run import meter
from surefoot.server.service import ServerSettings, assembled
from surefoot.types import Passage

QUERY = "Who built the Ruvel Bridge?"
TEXTS = [
    "The Ruvel Bridge was built in 1911 by Tomas Aldwin.",
    "The hut stands on a hill.",
    "Add flour and eggs. " * 200,
]
PAIRS = [
    *((QUERY, Passage(f"p{n}", text, title="Ruvel Bridge")) for n, text in enumerate(TEXTS)),
    (QUERY, Passage("blank", " ")),
    ("", Passage("no question", "text")),
    ("哪里?", Passage("other script", "Der Ruvel-Brücke 鲁")),
]


@pytest.fixture(scope="module")
def neural(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that grades with the shipped model."""
    folder = tmp_path_factory.mktemp("neural")
    settings = ServerSettings(folder=str(folder / "server"), runs=str(folder / "runs"))
    with listening(assembled(settings, {**quick(folder), "evaluator": {"use": "minilm"}})) as address:
        yield f"{address}/v1"


def test_grades_come_whole_and_equal_to_those_made_here(neural: str) -> None:
    """Score, probability, span, window and reason, to the last bit; also for what cannot be graded."""
    with meter.metered() as spent:
        grades = Remote([neural]).grade(PAIRS)
    assert spent.degraded == []
    assert grades == MiniLM().grade(PAIRS)
    assert grades[0].pointed(TEXTS[0])
    assert grades[2].window
    assert [grade.score for grade in grades[3:5]] == [None, None]


def test_it_keeps_the_contract(neural: str) -> None:
    verify("evaluator", Remote([neural]))


def test_a_pipeline_decides_as_with_the_evaluator_here(live: str) -> None:
    """The same grades, labels, decision and strips, with the thresholds of the local one."""
    remote = {"use": "remote", "base_url": [f"{live}/v1"], "of": "lexical"}
    passages = [Passage(str(n), text) for n, text in enumerate(TEXTS)]
    here, there = (
        surefoot.load({}, parts={"retriever": Given()}, evaluator=evaluator).correct(QUERY, passages)
        for evaluator in ({"use": "lexical"}, remote)
    )
    assert (there.grades, there.decision, there.strips) == (here.grades, here.decision, here.strips)
    assert not any(step.degraded for step in there.steps if step.name == "grade")


def body(**changed: Any) -> dict[str, Any]:
    """A request, with these fields."""
    return {"evaluator": Lexical.name, "question": QUERY, "passages": [{"text": TEXTS[0]}], **changed}


def test_another_evaluator_is_refused_by_both_names(shared: TestClient) -> None:
    reply = shared.post("/v1/grade", json=body(evaluator="minilm-0"))
    assert reply.status_code == 409
    assert reply.json()["error"]["message"].startswith(
        "this server grades with lexical, not with minilm-0; have the same"
    )


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"passages": []}, 400),
        ({"passages": [{"text": "x"}] * 1001}, 400),
        ({"passages": [{"text": "x", "url": "x"}]}, 400),
        ({"passages": [{"text": "x", "title": "x" * 200_000}]}, 413),
        ({"question": "x" * 200_001}, 413),
    ],
)
def test_what_is_too_much_or_no_passage_is_refused(shared: TestClient, fields: dict[str, Any], status: int) -> None:
    assert shared.post("/v1/grade", json=body(**fields)).status_code == status


def test_a_question_too_long_to_ask_is_graded_as_the_evaluator_grades_it(shared: TestClient) -> None:
    """So that a client gets what it would get from its own."""
    reply = shared.post("/v1/grade", json=body(question=f"{QUERY} " * 500))
    own = Lexical().grade([(f"{QUERY} " * 500, Passage("1", TEXTS[0]))])
    assert reply.json()["grades"][0]["score"] == own[0].score


def test_dead_servers_are_a_fallback_that_the_trace_declares(tmp_path: Path) -> None:
    """And the question is answered all the same."""
    remote = {"use": "remote", "base_url": ["http://127.0.0.1:9/v1"], "of": "lexical"}
    pipeline = surefoot.load({}, parts={"retriever": Given()}, evaluator=remote)
    (step,) = [step for step in pipeline.correct(QUERY, [Passage("1", TEXTS[0])]).steps if step.name == "grade"]
    assert "1 of 1 passages were graded on this machine: none of 1 nodes answers" in (step.degraded or "")
    assert step.error is None
