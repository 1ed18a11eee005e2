"""Questions that a language model writes to passages."""

import json
import random
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest

import passage_runs
import written_questions
from passage_runs import SourcePassage, spread_passages
from surefoot.llms.scripted import Scripted
from surefoot.run import store
from surefoot.types import Message
from surefoot.types.errors import EndpointError, ModelError
from surefoot_lab.datasets import pairs
from written_questions import main, typed

QUEUE = (
    "The ferry daemon holds letters in its queue for 5 days. Letters that bounce are returned to whoever sent them, "
    "unless the option silent is set in the harbour file. A buoy is a mark that shows where ships may anchor."
)
ROUTE = (
    "A route names the harbours that a ship passes on its way to the north. The pilot reads the route from the map "
    "file each morning, and tells the crew at noon which harbour comes next on the way."
)
LICENCE = SourcePassage("licence", QUEUE + " This copyright notice shall stand in all copies.", "t", package="e")


def written(messages: Sequence[Message]) -> str:
    """A model that asks about the first words of each place, and answers with the sentence that has its words."""
    task = messages[-1].content.rpartition("\n\n")[2]
    about = task.rpartition(": ")[2]
    if task.startswith("About"):
        return f"How does one know, about {' '.join(about.split()[:4])} and more?"
    first = about.partition("about ")[2].partition(" and more")[0]
    sentence = next(s for s in (QUEUE + " " + ROUTE).split(". ") if s.startswith(first))
    return f"Yes: {sentence}" if "yes or no" in task.lower() else sentence


@pytest.fixture
def passages(tmp_path: Path) -> Path:
    """Two passages of one package."""
    some = {"queue": QUEUE, "route": ROUTE}
    about = {"package": "ferry-doc", "title": "Ferry", "use": "train", "licence": "MIT", "format": "html"}
    path = tmp_path / "passages.jsonl"
    path.write_text("".join(json.dumps({"id": id, "text": text, **about}) + "\n" for id, text in some.items()))
    return path


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The scripted model in place of the configured one; the tasks that it was given."""
    prompts: list[str] = []

    def reply(messages: Sequence[Message]) -> str:
        prompts.append(messages[-1].content)
        return written(messages)

    monkeypatch.setattr(passage_runs.Builder, "llm", Scripted(reply))
    return prompts


def test_questions_are_labelled_pairs(
    passages: Path, model: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The passage has label 1, the others that were found none, and each answer stands in the passage."""
    monkeypatch.setattr(written_questions, "UNANSWERABLE", 0.0)
    main([str(passages), str(tmp_path / "out")])
    rows = [json.loads(line) for line in (tmp_path / "out/written.jsonl").read_text().splitlines()]
    assert rows
    assert {row["package"] for row in rows} == {"ferry-doc"}
    assert pairs.read(tmp_path / "out/written.jsonl").pairs
    for row in rows:
        right = [p for p in row["passages"] if p["label"] == 1]
        assert [p["id"] for p in right] == [row["id"].split()[0]]
        assert {p["label"] for p in row["passages"]} <= {1, None}
        assert row["answers"][0] in right[0]["text"]
        assert row["answerable"]


def test_an_unanswerable_question_loses_its_passage(
    passages: Path, model: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And its answers."""
    monkeypatch.setattr(written_questions, "UNANSWERABLE", 1.0)
    main([str(passages), str(tmp_path / "out")])
    rows = [json.loads(line) for line in (tmp_path / "out/written.jsonl").read_text().splitlines()]
    assert rows
    assert not any(row["answerable"] or row["answers"] for row in rows)
    assert not any(p["label"] for row in rows for p in row["passages"])


def test_a_killed_run_goes_on(passages: Path, model: list[str], tmp_path: Path) -> None:
    """What was done, up to a torn last line, is not asked again; a larger limit only adds."""
    out = tmp_path / "out"
    main([str(passages), str(out), "--limit", "1"])
    first = (out / "values.jsonl").read_text()
    (out / "values.jsonl").write_text(first + '{"key": "torn')
    before = len(model)
    main([str(passages), str(out), "--limit", "2"])
    assert (out / "values.jsonl").read_text().startswith(first)
    assert len((out / "values.jsonl").read_text().splitlines()) == 2
    asked = len(model)
    main([str(passages), str(out), "--limit", "2"])
    assert before < asked == len(model)


def test_a_wrong_model_stops_the_run(passages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is on record of the passages."""
    monkeypatch.setattr(passage_runs.Builder, "llm", Scripted([]))
    with pytest.raises(ModelError):
        main([str(passages), str(tmp_path / "out")])
    assert not (tmp_path / "out/values.jsonl").exists()


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_passage_that_failed_is_left_to_the_next_run(
    passages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: str
) -> None:
    """Unless nothing else comes: then the server is down."""

    def slow(messages: Sequence[Message]) -> str:
        if QUEUE in messages[-1].content:
            raise EndpointError("slow")
        return written(messages)

    monkeypatch.setattr(passage_runs.Builder, "llm", Scripted(slow))
    with pytest.raises(EndpointError) if threads == "1" else nullcontext():
        main([str(passages), str(tmp_path / "out"), "--threads", threads])
    if threads == "2":
        assert [key for _, key, _ in store.keyed(tmp_path / "out/values.jsonl")] == ["route"]


def test_prompts_begin_alike(passages: Path, model: list[str], tmp_path: Path) -> None:
    """A server that keeps the beginning of a prompt reads a passage once."""
    main([str(passages), str(tmp_path / "out"), "--threads", "1"])
    openings = {prompt.rpartition("\n\n")[0] for prompt in model}
    assert openings == {f"Title: Ferry\nText: {text}" for text in (QUEUE, ROUTE)}


def test_details_are_typed_as_people_do() -> None:
    """As keywords, or small and with a slip."""
    chances = [typed("Where does ferry keep its letters?", random.Random(n)) for n in range(20)]
    assert "ferry keep letters" in chances
    assert any(one != "where does ferry keep its letters" and one.startswith("w") for one in chances)


def test_passages_come_from_all_packages_in_turn() -> None:
    """What says too little, and licences, are left out."""
    many = [SourcePassage(f"{p}{n}", QUEUE, "t", package=p) for p in "abc" for n in range(4)]
    chosen = spread_passages([*many, SourcePassage("short", "Too short.", "t", package="d"), LICENCE])
    assert len(chosen) == 12
    assert {one.package for one in chosen[:3]} == set("abc")
    assert chosen == spread_passages(reversed(many))
