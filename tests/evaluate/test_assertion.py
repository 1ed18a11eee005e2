"""`assert_rag`: a system's answers to a file of questions, held against conditions."""

import json
from pathlib import Path
from typing import Any

import pytest

import surefoot
from services.endpoint import endpoint
from surefoot.types import Answer, Passage, Trace
from surefoot.types.errors import EndpointError, UsageError


@pytest.fixture
def questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Ten questions, of which the last has no answer."""
    monkeypatch.chdir(tmp_path)
    rows = [{"id": f"q{n}", "question": f"Who built {n}?", "answers": [f"Aldwin {n}"] * (n < 9)} for n in range(10)]
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path / "questions.jsonl"


def system(question: str) -> str:
    """Right but for the first two questions."""
    number = question.split()[-1].rstrip("?")
    return "Nobody." if number in "01" else f"Aldwin {number}"


def test_conditions_that_are_kept_say_nothing(questions: Path) -> None:
    """Only what they name is judged: no endpoint is asked for what words decide."""
    config = {"llm": {"use": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}}
    surefoot.assert_rag(system, questions, "f1.mean>=0.7", "f1.scored>=9", config=config)


def test_what_is_not_kept_is_told_with_its_interval_and_the_number_of_records(questions: Path) -> None:
    """A line for each; what cannot be checked is not kept."""
    with pytest.raises(AssertionError) as broken:
        surefoot.assert_rag(system, questions, "f1.mean>=0.7", "f1.mean>=0.9", "context_recall.mean>=0.5", workers=3)
    first, low, recall = str(broken.value).splitlines()
    assert first == "2 of 3 conditions are not kept"
    assert low.startswith("f1.mean>=0.9: f1: mean 0.778 (95 % interval 0.")
    assert low.endswith(" over 9 records")
    assert recall == "context_recall.mean>=0.5: it applies to no record"


def test_a_system_may_answer_with_fields_or_a_trace(questions: Path, tmp_path: Path) -> None:
    """Its sources are judged too; all of it is in the folder that is named, for `surefoot view`."""
    built = Passage("p", "Aldwin 3 built bridge 3.")
    answers: list[Any] = [
        lambda question: {"answer": "Aldwin 3", "contexts": [built], "question": "another"},
        lambda question: Trace("t", question, (built,), answer=Answer("Aldwin 3 [1].")),
    ]
    for number, answer in enumerate(answers):
        folder = tmp_path / f"run-{number}"
        surefoot.assert_rag(answer, questions, "recall.scored>=9", config={"judge": {"use": "embedded"}}, run=folder)
        first = json.loads((folder / "records.jsonl").read_text().splitlines()[0])["value"]
        assert (first["id"], first["question"], first["truths"]) == ("q0", "Who built 0?", ["Aldwin 0"])


def test_a_mistake_and_a_failure_are_no_assertion(questions: Path) -> None:
    """Neither a metric that there is not, nor a judge that is refused, nor what the system raises."""
    with pytest.raises(UsageError, match="'charm>=1': no metric 'charm'; there are: answer_relevancy, "):
        surefoot.assert_rag(system, questions, "charm>=1")
    with pytest.raises(ZeroDivisionError):
        surefoot.assert_rag(lambda question: str(1 / 0), questions, "f1>=1")
    with endpoint(refused=1.0, status=401) as server:
        config = {"llm": {"use": "openai", "model": "m", "base_url": server.url}}
        with pytest.raises(EndpointError, match="3 refusals in a row"):
            surefoot.assert_rag(system, questions, "factuality>=0.5", config=config)
