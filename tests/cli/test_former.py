"""What version 0.1.0 left on disk opens in this one. `tests/former/make.py` made the files with 0.1.0 itself."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from surefoot.evaluate.records.files import read
from surefoot.evaluate.records.folder import opened
from surefoot.evaluate.score import scoring
from surefoot.run.store import read_trace, recorded, runs
from surefoot.types import TRACE_SCHEMA, Action

Surefoot = Callable[..., Any]
RUN = "run/crag+search"


@pytest.fixture
def former(here: Path) -> Path:
    """The working directory, as its user left it."""
    with tarfile.open(Path(__file__).parents[1] / "former" / "0.1.0.tar.gz") as tar:
        tar.extractall(here, filter="data")
    return here


def test_a_trace_is_read_drawn_and_replayed(surefoot: Surefoot, former: Path) -> None:
    """With all that it holds, and the same decision; what 0.1.0 did not know has its default."""
    trace = read_trace(former / "trace.json")
    assert trace.decision is not None
    assert trace.decision.action is Action.INCORRECT
    assert [passage.source for passage in (*trace.passages, *trace.external)] == ["corpus", "corpus", "external"]
    assert trace.schema == TRACE_SCHEMA
    assert {passage.file for passage in trace.passages} == {None}
    assert {grade.cap for grade in trace.grades} == {None}
    drawn = surefoot("trace", "trace.json")
    assert (drawn.code, drawn.err) == (0, "")
    assert "The Ostel Tower was built by Udo Marek in 1874. [1]" in drawn.out
    replayed = surefoot("replay", "trace.json")
    assert (replayed.code, replayed.out) == (0, "same decision: incorrect (best score 0.2 < τ− 0.4)\n")


def test_a_trace_is_explained(surefoot: Surefoot, former: Path) -> None:
    """From what it records."""
    done = surefoot("explain", "--trace", "trace.json")
    assert (done.code, done.err) == (0, "")
    assert "INCORRECT: best score 0.2 < τ− 0.4" in done.out


def test_a_run_is_read(former: Path) -> None:
    """Whole, with what is known of it."""
    assert runs(former / "run") == [former / RUN]
    about, traces = recorded(former / RUN)
    assert about["method"] == "crag+search"
    assert list(traces) == ["ruvel", "hohrin", "larrow", "keddling", "tower", "age"]
    assert not any(trace.error for trace in traces.values())


def test_a_run_is_evaluated(surefoot: Surefoot, former: Path) -> None:
    """With the gold answers of the questions that it names; the figure is that of 0.1.0."""
    done = surefoot("evaluate", "run", "--run", "again", "--judge", "embedded", "--metric", "factuality")
    assert done.code == 0
    rows = [line.split() for line in done.out.splitlines() if line.startswith("factuality")]
    assert rows[0][:2] == ["factuality", "0.839"]
    assert {score.value for score in scoring.scores(former / "again").values()} == {
        score.value for score in scoring.scores(former / "evaluation").values()
    }


def test_a_run_and_an_evaluation_go_on(surefoot: Surefoot, former: Path) -> None:
    """What was answered and judged is not answered or judged again."""
    before = (former / "improved/before.toml").read_text().partition("[thresholds]")[0]
    (former / "surefoot.toml").write_text(before)
    other = surefoot("lab", "qa", "six.jsonl", "--run", "run")
    assert (other.code, "holds another run" in other.err) == (2, True)  # sentences were held against shared words then
    (former / "surefoot.toml").write_text(f'{before}\n[verifier]\nuse = "lexical"\n')
    before = {name: (former / name).read_bytes() for name in (f"{RUN}/traces.jsonl", "evaluation/scores.jsonl")}
    assert surefoot("lab", "qa", "six.jsonl", "--run", "run").code == 0
    assert surefoot("evaluate", "run", "--run", "evaluation", "--judge", "embedded", "--metric", "factuality").code == 0
    assert {name: (former / name).read_bytes() for name in before} == before


def test_an_evaluation_is_read(former: Path) -> None:
    """By each of those who read one: records with their traces, scores, passes, and as a file of records."""
    found = opened(former / "evaluation")
    assert (len(found.records), len(found.scores), found.about["surefoot"]) == (6, 6, "0.1.0")
    assert all(record.trace for record in found.records)
    assert scoring.records(former / "evaluation") == [*found.records]
    assert [one.judged for one in scoring.passes(former / "evaluation")] == [6]
    assert read(former / "evaluation").records == found.records


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("view", "evaluation", "--html", "page.html"), "page.html: 6 records, "),
        (("view", "evaluation", "--share-safe", "--html", "safe.html"), "safe.html: 6 records, "),
        (("compare", "evaluation", "evaluation"), "6 records are in both"),
        (("gate", "evaluation", "--min", "factuality.mean>=0.8"), "factuality"),
        (("explain", "--run", "evaluation", "--record", "hohrin"), "hohrin, 1: Hohrin"),
        (("ask", "Who built the Ruvel Hut?"), "The Ruvel Hut was built by"),
    ],
    ids=lambda given: " ".join(given[:3]) if isinstance(given, tuple) else "",
)
def test_the_commands_take_it(surefoot: Surefoot, former: Path, words: tuple[str, ...], says: str) -> None:
    """Those that read an evaluation, and `ask`, whose indexes are of 0.1.0 too."""
    done = surefoot(*words)
    assert (done.code, says in done.out) == (0, True)


def test_an_improvement_is_taken_back(surefoot: Surefoot, former: Path) -> None:
    """To the byte. The file that was written over is named by its place, which is another one here."""
    about = json.loads((former / "improved/applied.json").read_text())
    (former / "improved/applied.json").write_text(json.dumps(about | {"file": str(former / "surefoot.toml")}))
    before = (former / "improved/before.toml").read_bytes()
    assert (former / "surefoot.toml").read_bytes() != before
    assert surefoot("improve", "--revert", "improved").code == 0
    assert (former / "surefoot.toml").read_bytes() == before
