"""Claims that a language model writes about passages."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import passage_runs
from passage_runs import SourcePassage
from surefoot.llms.scripted import Scripted
from surefoot.types import Message
from surefoot_lab.train import claims
from written_claims import CHANGES, drafts, main, wording_fault

QUEUE = (
    "The ferry daemon holds letters in its queue for 5 days at most. "
    "Letters that bounce go back to their sender, unless the harbour is told to keep silent about them."
)


def model(verdict: str) -> Scripted:
    """A model that says of each change what it is, and of each claim the verdict."""

    def reply(messages: Sequence[Message]) -> str:
        task = messages[-1].content.rpartition("\n\n")[2]
        number = "7" if "wrong number" in task else "5" if "5" in task else "no"
        return verdict if task.startswith("Does") else f"{task.partition(':')[0]}, {number} days of sailing."

    return Scripted(reply)


@pytest.fixture
def passages(tmp_path: Path) -> Path:
    """Some passages of one text, so that each change is drawn."""
    path = tmp_path / "passages.jsonl"
    rows = [{"id": f"p{n}", "package": "ferry-doc", "title": "Ferry", "text": QUEUE} for n in range(20)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(("verdict", "labels"), [("Yes.", {1}), ("no", {0}), ("unknown", {0}), ("perhaps", set())])
def test_a_claim_counts_where_the_model_agrees(
    passages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verdict: str, labels: set[int]
) -> None:
    """What it calls supported is learned as such only if it was made to be, and so with the others."""
    monkeypatch.setattr(passage_runs.Builder, "llm", model(verdict))
    main([str(passages), str(tmp_path / "out")])
    rows = [json.loads(line) for line in (tmp_path / "out/claims.jsonl").read_text().splitlines()]
    assert {row["label"] for row in rows} == labels
    assert all(row["verdict"] == CHANGES[row["kind"]] for row in rows)
    assert not rows or claims.read(tmp_path / "out/claims.jsonl")["written"][0].evidence == QUEUE
    if verdict == "unknown":
        assert {row["kind"] for row in rows} <= {"invention", "merged"}


def test_each_sentence_comes_with_its_opposite() -> None:
    """A paraphrase, an opposite and another change of the same words; a merger has a neighbour's too."""
    every = [drafts(SourcePassage(str(n), QUEUE, "t", package="p")) for n in range(40)]
    assert {some[2][0] for some in every} == {"number", "name", "merged", "invention"}
    for (first, source), (second, same), (third, third_source) in every:
        assert (first, second, source) == ("paraphrase", "polarity", same)
        assert third_source.startswith(source)
        assert (third == "merged") == (third_source != source)
        assert third != "number" or "5" in source
    assert drafts(SourcePassage("x", "Nothing.", "t", package="p")) == []


@pytest.mark.parametrize(
    ("kind", "claim", "fault"),
    [
        ("paraphrase", "Mail waits 5 days in the queue", ""),
        ("paraphrase", "Mail waits 6 days in the queue", "another change"),
        ("paraphrase", "In the queue letters wait 5 days", "nothing changed"),
        ("polarity", "Letters do not wait 5 days in the queue", ""),
        ("polarity", "Letters do not wait in the queue", "another change"),
        ("number", "Letters wait 6 days in the queue", ""),
        ("number", "Letters wait 5 days in the harbour", "another change"),
        ("name", "Ships wait 5 days in the queue", ""),
        ("name", "Letters wait 5 days in the queue.", "nothing changed"),
        ("invention", "Letters wait 5 days, sorted by age, in the queue", ""),
        ("invention", "Letters wait in the queue", "nothing added"),
        ("invention", "", "no sentence"),
    ],
)
def test_a_change_shows_in_the_claim(kind: str, claim: str, fault: str) -> None:
    assert wording_fault(kind, "Letters wait 5 days in the queue", claim) == fault
