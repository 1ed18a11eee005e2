"""What an evaluation left in its folder."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from surefoot.evaluate.records.files import read
from surefoot.evaluate.records.folder import opened
from surefoot.run.store import Run, to_json
from surefoot.types import Passage, Record, Score
from surefoot.types.errors import TraceFault, UsageError

RECORDS = (
    Record("b", "Who built it?", (Passage("p", "Aldwin built it.", ""),), "Aldwin", ("Aldwin",), group="bridge"),
    Record("a", "When?", tags={"domain": "history"}),
)


def written(folder: Path, *scores: Score) -> Path:
    run = Run(folder, {"what": "evaluation"}, file="scores.jsonl")
    lines = [json.dumps(to_json(record)) for record in RECORDS]
    (folder / "records.jsonl").write_text("\n".join(lines) + "\n")
    for score in scores:
        run.add(f"{score.record_id}\t{score.metric}", score)
    return folder


def test_a_folder_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Description, records in their order, scores whichever came first; the last of a record and metric counts."""
    scores = Score("b", "m", 0.4), Score("a", "m", None, unscored_because="timed out")
    found = opened(written(tmp_path, Score("b", "m", 0.6, judge="other"), *scores))
    assert found.about["what"] == "evaluation"
    assert (found.records, found.scores) == (RECORDS, scores[::-1])
    assert found.groups == {"b": "bridge"}


def test_a_last_line_that_was_cut_short_is_not_read(tmp_path: Path) -> None:
    """Nor is the file touched."""
    folder = written(tmp_path, Score("a", "m", 0.4), Score("b", "m", 0.6))
    torn = (folder / "scores.jsonl").read_bytes()[:-9]
    (folder / "scores.jsonl").write_bytes(torn)
    assert opened(folder).scores == (Score("a", "m", 0.4),)
    assert (folder / "scores.jsonl").read_bytes() == torn


def test_its_records_are_read_alike_by_whoever_evaluates_them_again(tmp_path: Path) -> None:
    """Without a torn last line, and of one that got a grading note the second line."""
    run = Run(written(tmp_path, Score("b", "m", 0.4)), {"what": "evaluation"}, file="records.jsonl")
    run.path.unlink()
    for record in (RECORDS[1], RECORDS[0], replace(RECORDS[1], note="one sentence")):
        run.add(record.id, record)
    run.path.write_bytes(run.path.read_bytes() + b'{"key": "c')
    assert read(tmp_path).records == opened(tmp_path).records == (replace(RECORDS[1], note="one sentence"), RECORDS[0])


@pytest.mark.parametrize("name", ["run.json", "records.jsonl", "scores.jsonl"])
def test_a_folder_without_an_evaluation_is_refused(tmp_path: Path, name: str) -> None:
    """Whichever file is missing, it is named."""
    (written(tmp_path, Score("a", "m", 0.4)) / name).unlink()
    with pytest.raises(UsageError, match=name):
        opened(tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("run.json", "{", "run.json is damaged"),
        ("run.json", "[]", "no description of a run"),
        ("scores.jsonl", '{"key": "a"\n{}\n', "line 1 is damaged: Expecting"),
        ("scores.jsonl", "[1]\n", "line 1 is damaged: it is no JSON object"),
        ("scores.jsonl", '\n{"key": "a\\tm", "value": {"record_id": "a"}}\n', "line 2: this is not a Score"),
        ("records.jsonl", '{"id": 3}\n', "line 1: this is not a Record"),
        ("scores.jsonl", '{"record_id": "a", "metric": "m", "value": 1e308}\n', "1e\\+308 is no value of m"),
        ("scores.jsonl", '{"record_id": "a", "metric": "m", "value": -0.1}\n', "-0.1 is no value of m"),
    ],
)
def test_a_damaged_file_is_named_with_its_line(tmp_path: Path, name: str, text: str, said: str) -> None:
    """And what is wrong there."""
    (written(tmp_path, Score("a", "m", 0.4)) / name).write_text(text)
    with pytest.raises(TraceFault, match=said):
        opened(tmp_path)
