"""Traces on disk: whole or not at all, resumed after a kill, and refused in one line where they are not ours."""

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from surefoot.run import manifest
from surefoot.run.store import (
    Run,
    dumps,
    from_json,
    keyed,
    loads,
    read_trace,
    recorded,
    rows,
    runs,
    to_json,
    values,
    write_text,
    write_trace,
)
from surefoot.types import TRACE_SCHEMA, Action, Grade, Passage, Trace
from surefoot.types.errors import TraceFault, UsageError

TRACE = Trace("t", "Wer baute die Brücke?", (Passage("a", "Ein Satz."),), (Grade("a", 1.0, label=Action.CORRECT),))


def test_json_is_plain() -> None:
    """Dictionaries, lists, strings and numbers; an action is its word."""
    data = to_json(TRACE)
    assert data == json.loads(json.dumps(data))
    assert data["grades"][0]["label"] == "correct"
    assert to_json({1: (Action.CORRECT,)}) == {"1": ["correct"]}


def test_a_number_without_a_point_is_a_score_too() -> None:
    """Other programs write 1.0 as 1."""
    data = to_json(TRACE)
    data["grades"][0]["score"] = 1
    score = from_json(Trace, data).grades[0].score
    assert score == 1.0
    assert isinstance(score, float)


def test_what_may_be_left_out_has_its_default() -> None:
    """A trace by another hand need not spell out every None."""
    assert loads('{"schema": 4, "id": "t", "question": "Who?"}') == Trace("t", "Who?")


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("colour", "red", "has no field 'colour'"),
        ("question", 5, "5 is not"),
        ("question", None, "None is not"),
        ("passages", {"id": "a"}, "is not <class 'list'>"),
        ("passages", ["a"], "'a' is not <class 'dict'>"),
        ("passages", [{"id": "a", "text": "t", "source": "moon"}], "'moon' is none of"),
        ("passages", [{"id": "a", "text": "t", "start": True}], "True is not"),
        ("passages", [{"id": "a", "text": "t", "start": 1.5}], "1.5 is not"),
        ("grades", [{"passage_id": "a", "score": "high"}], "'high' is not"),
        ("grades", [{"passage_id": "a", "score": 10**400}], "int too large"),
        ("grades", [{"passage_id": "a", "score": 0, "label": "perhaps"}], "'perhaps' is not a valid Action"),
        ("grades", [{"score": 0}], "passage_id"),
        ("answer", {"text": "t", "refused": 1}, "1 is not <class 'bool'>"),
        ("answer", {"text": "A", "citations": ["one"]}, "is not <class 'dict'>"),
        ("config", ["a"], "is not <class 'dict'>"),
        ("config", {"evaluator": ["lexical"]}, "is not <class 'dict'>"),
    ],
)
def test_other_data_is_refused(field: str, value: object, says: str) -> None:
    """With a TraceFault that names what is wrong."""
    with pytest.raises(TraceFault, match=f"this is not a Trace: .*{says}"):
        from_json(Trace, to_json(TRACE) | {field: value})


LATER = TRACE_SCHEMA + 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "f.json is not JSON"),
        ("{", "f.json is not JSON"),
        ("[" * 100_000, "f.json is not JSON"),
        ("[]", "f.json: this is no Surefoot trace: it has no schema version"),
        ('{"id": "t"}', "f.json: this is no Surefoot trace: it has no schema version"),
        (f'{{"schema": {TRACE_SCHEMA}}}', "f.json: this is not a Trace: "),
    ],
)
def test_a_file_that_is_no_trace_is_refused_by_name(tmp_path: Path, text: str, says: str) -> None:
    """One line, also for JSON that is nested out of all reason."""
    (tmp_path / "f.json").write_text(text)
    with pytest.raises(TraceFault, match=says):
        read_trace(tmp_path / "f.json")


@pytest.mark.parametrize("places", [[[0]], [[0, "a", "b"]], [["a", 0]], [0], "a"])
def test_a_pair_is_read_as_a_pair(places: object) -> None:
    """Each of its parts has a type of its own, and none is missing."""
    passage = {"id": "p", "text": "x", "places": [[0, "L1"], [4, "L9"]]}
    assert from_json(Passage, passage).places == ((0, "L1"), (4, "L9"))
    with pytest.raises(TraceFault, match="this is not a Passage"):
        from_json(Passage, passage | {"places": places})


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    """Absent, or not text."""
    with pytest.raises(TraceFault, match="No such file"):
        read_trace(tmp_path / "absent.json")
    (tmp_path / "image.json").write_bytes(b"\x89PNG\xff")
    with pytest.raises(TraceFault, match="it is not UTF-8 text"):
        read_trace(tmp_path / "image.json")


def test_a_written_trace_is_readable_by_people(tmp_path: Path) -> None:
    """Indented, in its own letters, in a folder that is made for it."""
    write_trace(TRACE, tmp_path / "new" / "t.json")
    assert '"question": "Wer baute die Brücke?",\n' in (tmp_path / "new" / "t.json").read_text(encoding="utf-8")


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    """When writing breaks off, the old text stays, and no half file beside it."""
    path = tmp_path / "t.txt"
    write_text(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "x" * 100_000 + "\ud800")
    assert path.read_text() == "old"
    write_text(path, "new")
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("t.txt", "new")]


def test_a_file_is_for_whom_the_umask_lets(tmp_path: Path) -> None:
    """A model that one person trains in a shared folder is for the others too."""
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "card.json", "{}")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "card.json").stat().st_mode) == 0o640


DEEP = ["[" * 100_000, '{"a":' * 500 + "1" + "}" * 500, "1" * 10_000, '{"a": NaN}', '{"a": 1e999}']


@pytest.mark.parametrize("text", DEEP, ids=lambda text: text[:9])
def test_what_python_cannot_hold_is_a_fault_wherever_it_is_read(tmp_path: Path, text: str) -> None:
    """A trace, the description of a run, and a line of it: too deep, too long a number, or what JSON cannot write."""
    for name in ("run.json", "traces.jsonl"):
        (tmp_path / name).write_text(text + "\n")
        with pytest.raises(TraceFault, match=f"{name}.*(nested more than 100 deep|Exceeds the limit|is no number)"):
            recorded(tmp_path)
        with pytest.raises(TraceFault, match=f"{name} is not JSON"):
            read_trace(tmp_path / name)
        (tmp_path / name).write_text("{}\n")


def test_a_written_trace_does_nothing_to_a_terminal(tmp_path: Path) -> None:
    """Text of documents and models stands in it; escaped, it comes back as it was."""
    trace = replace(TRACE, question="who\x1b[2J \x9b1m built\u202e it\U000e0041\x7f?")
    write_trace(trace, tmp_path / "t.json")
    for text in ((tmp_path / "t.json").read_text(encoding="utf-8"), dumps(trace)):
        assert not set("\x1b\x9b\u202e\U000e0041\x7f") & set(text)
        assert loads(text) == trace


def test_a_run_is_resumed_with_the_same_settings(tmp_path: Path) -> None:
    """In any order, tuples being lists on disk; what was done is there by key, the last one of a key."""
    run = Run(tmp_path / "run", {"data": "q.jsonl", "seeds": (1, 2)})
    run.append("q1", Trace("old", "Who?"))
    run.append("q1", TRACE)
    resumed = Run(tmp_path / "run", {"seeds": (1, 2), "data": "q.jsonl"})
    assert resumed.done() == {"q1": TRACE}


def test_how_answers_are_judged_is_no_part_of_what_was_run(tmp_path: Path) -> None:
    """Nor is an empty section: a folder from before there was a `[judge]` or `[sources]` goes on, and so does one whose
    judge has another budget now, or whose traces are sent somewhere; what it says of itself stays, and any other
    section tells runs apart."""
    about = {"data": "q.jsonl", "config": {"pipeline": {"k": 3}}}
    Run(tmp_path, about).append("q1", TRACE)
    for judge in ({}, {"budget": "3 calls"}):
        apart = {"judge": judge, "telemetry": {"base_url": "http://localhost:4318"}, "sources": {}}
        again = Run(tmp_path, {"data": "q.jsonl", "config": {"pipeline": {"k": 3}, **apart}})
        assert again.done() == {"q1": TRACE}
    assert json.loads((tmp_path / "run.json").read_text())["config"] == about["config"]
    with pytest.raises(TraceFault, match="holds another run"):
        Run(tmp_path, {"data": "q.jsonl", "config": {"pipeline": {"k": 3}, "network": {"allow": []}}})


def test_a_run_whose_environments_are_no_list_is_damaged(tmp_path: Path) -> None:
    """A stranger's run.json may say anything."""
    Run(tmp_path, {"method": "crag"})
    said = json.loads((tmp_path / "run.json").read_text()) | {"environments": 3}
    (tmp_path / "run.json").write_text(json.dumps(said))
    with pytest.raises(TraceFault, match="is damaged: its environments are no list"):
        Run(tmp_path, {"method": "crag"})


def test_a_folder_of_another_run_is_left_alone(tmp_path: Path) -> None:
    """Two runs in one folder would count as one."""
    Run(tmp_path, {"method": "crag"})
    with pytest.raises(TraceFault, match="holds another run; give a new folder, or the same settings to resume it"):
        Run(tmp_path, {"method": "rag"})
    assert json.loads((tmp_path / "run.json").read_text())["method"] == "crag"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{torn", "line 2 is damaged"),
        ("[1]", "line 2 is damaged"),
        ('{"key": "q"}', "line 2 is damaged: it has no trace; take the line out to go on"),
        (f'{{"key": "q", "trace": {{"id": "t", "schema": {LATER}}}}}', f"line 2: it has trace schema {LATER}"),
        ('{"key": "q", "trace": {"id": "t", "schema": 4}}', "line 2: this is not a Trace"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str, says: str) -> None:
    """A line in the middle is not torn but damaged; nobody counts on without it."""
    run = Run(tmp_path, {})
    run.append("q1", TRACE)
    with run.path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(TraceFault, match=says):
        Run(tmp_path, {}).done()


def test_a_line_is_one_write(tmp_path: Path) -> None:
    """Runs that append to one folder at once do not mix their lines, however long these are."""
    traces = {str(n): Trace(str(n), f"{n}" * 50_000) for n in range(60)}
    runs = [Run(tmp_path, {}) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: runs[n % 4].append(str(n), traces[str(n)]), range(60)))
    assert Run(tmp_path, {}).done() == traces


def test_a_run_may_go_on_elsewhere_and_says_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each environment once, in order; it is no part of what was run."""
    here = manifest.environment()
    Run(tmp_path, {"method": "crag"})
    Run(tmp_path, {"method": "crag"})
    monkeypatch.setattr(manifest, "environment", lambda: {"cpu": "another"})
    Run(tmp_path, {"method": "crag"})
    assert recorded_about(tmp_path) == {"method": "crag", "environments": [here, {"cpu": "another"}]}


def recorded_about(folder: Path) -> object:
    return json.loads((folder / "run.json").read_text())


def test_one_process_holds_a_run(tmp_path: Path) -> None:
    """A second is told so, and does not take what the first is writing for torn."""
    run = Run(tmp_path, {})
    run.append("q1", TRACE)
    with run.held():
        run.path.write_bytes(run.path.read_bytes() + b'{"half')
        other = Run(tmp_path, {})
        with pytest.raises(UsageError, match="is being run by another process"), other.held():
            pass
        assert run.path.read_bytes().endswith(b'{"half')
    assert Run(tmp_path, {}).done() == {"q1": TRACE}


def test_runs_are_a_folder_or_those_in_it(tmp_path: Path) -> None:
    """A folder that is none stays, so that whoever reads it can say so."""
    assert runs(tmp_path) == [tmp_path]
    for name in ("b", "a"):
        Run(tmp_path / name, {})
    assert runs(tmp_path) == [tmp_path / "a", tmp_path / "b"]
    assert runs(tmp_path / "a") == [tmp_path / "a"]


def test_a_run_is_read_and_not_touched(tmp_path: Path) -> None:
    """Another process may be writing its last line."""
    run = Run(tmp_path, {"data": "popqa.jsonl"})
    run.append("1", TRACE)
    with run.path.open("a") as file:
        file.write('{"key": "2", "tra')
    before = run.path.read_bytes()
    about, traces = recorded(tmp_path)
    assert (about["data"], traces, run.path.read_bytes()) == ("popqa.jsonl", {"1": TRACE}, before)


def test_a_whole_last_line_without_its_end_is_kept(tmp_path: Path) -> None:
    """Some editors write none; it is read, and the next line does not run into it."""
    run = Run(tmp_path, {})
    run.append("1", TRACE)
    run.path.write_bytes(run.path.read_bytes().rstrip())
    assert recorded(tmp_path)[1] == {"1": TRACE}
    resumed = Run(tmp_path, {})
    resumed.append("2", TRACE)
    assert resumed.done() == {"1": TRACE, "2": TRACE}


def test_every_reader_of_a_run_folder_takes_lines_alike(tmp_path: Path) -> None:
    """Blank lines and a torn last one are none; a line in the middle that is damaged is named."""
    run = Run(tmp_path, {}, "values.jsonl")
    run.add("1", Passage("a", "t"))
    whole = run.path.read_bytes()
    for data in (whole + b"\n\n", whole + b'{"key": "2', whole[:-1]):
        run.path.write_bytes(data)
        assert run.values(Passage) == values(run.path, Passage) == {"1": Passage("a", "t")}
        assert [row["key"] for _, row in rows(run.path)] == [key for _, key, _ in keyed(run.path)] == ["1"]
    for damaged in (b"{\n", b"null\n", b"[1]\n"):
        run.path.write_bytes(damaged + whole)
        with pytest.raises(TraceFault, match=r"values\.jsonl, line 1 is damaged: .*; take the line out to go on"):
            values(run.path, Passage)


@pytest.mark.parametrize(
    ("about", "traces", "error", "says"),
    [
        (None, "", UsageError, r"is no folder of a run: \S+run\.json cannot be read"),
        ("{", "", TraceFault, r"run\.json is damaged: Expecting"),
        ("[]", "", TraceFault, r"run\.json is damaged: this is not a dict"),
        ("{}", None, UsageError, r"traces\.jsonl cannot be read"),
        ("{}", "{}\n", TraceFault, "line 1 is damaged: it has no key that is a text"),
    ],
)
def test_what_is_no_run_says_so(tmp_path: Path, about: Any, traces: Any, error: type[Exception], says: str) -> None:
    """With the file, and the line."""
    for name, text in (("run.json", about), ("traces.jsonl", traces)):
        if text is not None:
            (tmp_path / name).write_text(text)
    with pytest.raises(error, match=says):
        recorded(tmp_path)
