"""What an evaluation left in its folder."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from surefoot.evaluate.records.files import read
from surefoot.evaluate.records.folder import opened
from surefoot.evaluate.records.redaction import HIDDEN, share_safe, without_secrets
from surefoot.run.store import Run, to_json
from surefoot.types import (
    Action,
    Answer,
    Citation,
    Conflict,
    Decision,
    Grade,
    Passage,
    Quote,
    Record,
    Score,
    Step,
    Strip,
    Trace,
)
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


def test_what_a_stopped_run_has_not_come_to_is_unscored(tmp_path: Path) -> None:
    """Else a gate would hold a mean of two for one of all."""
    folder = written(tmp_path, Score("a", "m", 0.4))
    (folder / "run.json").write_text(json.dumps({"judges": {"m": "j"}}))
    assert [(one.record_id, one.value, one.unscored_because) for one in opened(folder).scores] == [
        ("a", 0.4, ""),
        ("b", None, "not judged yet"),
    ]


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
        ("run.json", "[]", "this is not a dict"),
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


# Records without words.


TEXT = "Ask Anna at anna.tresk@example.org or +49 170 1234567. She was born in 1911."


def trace() -> Trace:
    passage = Passage("p1", TEXT, "Contact anna.tresk@example.org", url="https://a.b/c?token=abcdef")
    strips = (
        Strip("p1", 0, 37, TEXT[:37], 0.5, kept=True),
        Strip("p1", 37, len(TEXT), TEXT[37:], 0.5, kept=False, reason="says anna.tresk@example.org"),
    )
    half = TEXT[TEXT.index("+49") : TEXT.index("4567")]  # a quotation that ends within the number
    answer = Answer("Ask anna.tresk@example.org [1].", (Citation(1, strips[0], half, quoted=True),), model="m")
    return Trace(
        "t1",
        "Whom?",
        (passage,),
        grades=(Grade("p1", 0.9, label=Action.CORRECT, span=(12, 34)),),
        decision=Decision(Action.CORRECT, "threshold", 0.5, 0.1, "0.9 is above"),
        strips=strips,
        conflicts=(Conflict("p1", half, "gone", "call 0170 1234567"),),
        answer=answer,
        steps=(Step("generate", 0.5, tokens=7),),
        config={"llm": {"use": "local"}},
    )


RECORD = Record(
    "q1",
    "Is anna.tresk@example.org right?",
    (Passage("p1", TEXT),),
    "Yes, ANNA.TRESK@example.org",
    ("Otto", "otto@example.org"),
    group="g",
    tags={"domain": "huts", "user": "Anna"},
    trace=trace(),
    history=(("Who is Otto?", "Anna's."),),
)
SCORE = Score("q1", "factuality", 0.8, 4, "It says anna.tresk@example.org", (Quote("Ask Anna", "p1", verified=True),))


def test_share_safe_keeps_every_figure_and_no_text() -> None:
    """Hashes with lengths, and nothing else; the tags by which figures are told apart stay."""
    (record,), (score,) = share_safe([RECORD], [SCORE])
    told = str(to_json(record)) + str(to_json(score))
    assert not re.search("anna|otto|tresk|above|Whom", told, re.IGNORECASE)
    assert (score.value, score.rating, score.metric) == (0.8, 4, "factuality")
    assert re.fullmatch(r"text:[0-9a-f]{16}:32", record.question)
    assert record.tags["domain"] == "huts"
    assert (record.trace.grades[0].score, record.trace.grades[0].label) == (0.9, Action.CORRECT)
    assert record.trace.steps == trace().steps
    assert record.trace.config == {}
    assert (record.note, record.trace.error) == ("", None)


def test_share_safe_keeps_what_belongs_together() -> None:
    """Scores find their records, quotes their contexts, the same text the same hash. Each export has a secret of its
    own."""
    assert share_safe([RECORD], [])[0] != share_safe([RECORD], [])[0]
    other = replace(RECORD, id="q2")
    records, (score,) = share_safe([RECORD, other], [SCORE])
    assert score.record_id == records[0].id != records[1].id
    assert records[0].question == records[1].question
    assert score.quotes[0].where == (records[0].contexts or ())[0].id
    answer = replace(SCORE, quotes=(Quote("x", "answer", verified=True),))
    assert share_safe([], [answer])[1][0].quotes[0].where == "answer"


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("api_key", "abc", HIDDEN),
        ("clientSecret", ["abc"], [HIDDEN]),
        ("headers", {"Authorization": "Basic abc"}, {"Authorization": HIDDEN}),
        ("extra", "--header 'Bearer abc'", HIDDEN),
        ("note", "use sk-123", HIDDEN),
        ("url", "https://me:pw@host/v1?code=9", f"https://{HIDDEN}@host/v1?{HIDDEN}"),
        ("key_env", "OPENAI_API_KEY", "OPENAI_API_KEY"),
        ("max_tokens", 100, 100),
        ("prompt", "Is it so? See https://host/a?b=c", f"Is it so? See https://host/a?{HIDDEN}"),
        ("rate", float("inf"), "inf"),
    ],
)
def test_no_secret_of_a_configuration_is_kept(name: str, value: Any, shown: Any) -> None:
    """By its name, by the form of the key, or in an address; what is no secret stands as it is."""
    assert without_secrets({name: value}) == {name: shown}
