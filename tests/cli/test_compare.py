"""`surefoot compare` and `surefoot gate`: two evaluations side by side, and one against conditions."""

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluations import written
from surefoot.cli._console import between, chance, number, share, signed
from surefoot.evaluate.records.folder import LABELS
from surefoot.evaluate.score.costs import costs
from surefoot.evaluate.score.labels import Label
from surefoot.evaluate.score.scoring import Pass, Stage
from surefoot.run.store import Run, write_value
from surefoot.types import Record, Step, Trace

Surefoot = Callable[..., Any]

WEAK = [0.2, 0.4, 0.6, 0.4, 0.2, 0.8] * 5
STRONG = [0.8, 0.8, 1.0, 0.6, 0.4, 0.8] * 5


@pytest.fixture
def runs(here: Path) -> tuple[Path, Path]:
    """Two evaluations of the same 30 records, the second with better adherence, and with less of recall scored."""
    first = written(here / "weak", {"context_adherence": WEAK, "context_recall": STRONG})
    missing: list[float | None] = [None, *STRONG[1:]]
    return first, written(here / "strong", {"context_adherence": STRONG, "context_recall": missing})


def test_the_differences_are_shown_in_eighty_columns(surefoot: Surefoot, runs: tuple[Path, Path]) -> None:
    """Means, difference with interval, and p; and how many only one has scored."""
    done = surefoot("compare", *runs)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()[2:]  # the first have the folders' names
    assert max(map(len, lines)) <= 80
    row = next(line.split() for line in lines if line.startswith("context_adherence"))
    assert row[:5] == ["context_adherence", "30", ".433", ".733", "+.300"]
    assert row[-2:] == ["<.001", "<.001"]
    rows = [line.split() for line in lines if line.startswith("context_recall")]
    assert (rows[0][1], *rows[1][1:3]) == ("29", "1", "0")


def test_the_comparison_is_printed_as_json(surefoot: Surefoot, runs: tuple[Path, Path]) -> None:
    """On one line, and nothing else; twice the same."""
    done = surefoot("compare", *runs, "--json")
    (found,) = json.loads(done.out)["comparisons"]
    assert found["records"] == 30
    assert [change["metric"] for change in found["changes"]] == ["context_adherence", "context_recall"]
    assert surefoot("compare", *runs, "--json").out == done.out


def test_several_runs_stand_side_by_side_and_each_against_the_first(
    surefoot: Surefoot, runs: tuple[Path, Path], here: Path
) -> None:
    """A column a run, then a pair of tables for each but the first."""
    third = written(here / "third", {"context_adherence": WEAK})
    done = surefoot("compare", *runs, third)
    assert done.code == 0
    rows = [line.split() for line in done.out.splitlines() if line.startswith("context_adherence")]
    assert rows[0] == ["context_adherence", ".433", ".733", ".433"]
    assert [line[:11] for line in done.out.splitlines() if line.startswith("A and")] == ["A and B: 30", "A and C: 30"]
    assert "only C" in done.out
    alone = surefoot("compare", third)
    assert (alone.code, "it takes two evaluations" in alone.err) == (2, True)


def test_time_and_tokens_of_each_stage_stand_side_by_side(
    surefoot: Surefoot, runs: tuple[Path, Path], here: Path
) -> None:
    """Of the passes that judged; a run that recorded none has a dash."""
    stage = Stage("context_adherence", 30, 30, 6000, 15.0)
    spent = Pass("2026", 15.0, None, 0, 0, (stage,))
    Run(runs[1], {"what": "evaluation"}, "passes.jsonl").add("2026", spent)
    done = surefoot("compare", *runs)
    row = next(line.split() for line in done.out.splitlines() if line.startswith("judge context_adherence"))
    assert row == ["judge", "context_adherence", "–", "500", "ms,", "200", "tokens"]
    (cost,) = json.loads(surefoot("compare", *runs, "--json").out)["costs"][1]
    assert (cost["of"], cost["seconds"], cost["tokens"]) == (30, 0.5, 200)


def test_steps_of_the_pipeline_cost_the_mean_of_all_questions(here: Path) -> None:
    """Also of those that went without the step, so that the stages add up to a question's time."""
    traces = [Trace(str(n), "q?", steps=(Step("retrieve", 0.2), *[Step("search", 1.0)] * n)) for n in range(2)]
    found = costs(here, [Record(trace.id, "q?", trace=trace) for trace in traces])
    assert {one.stage: one.seconds for one in found} == {"retrieve": 0.2, "search": 0.5}


def test_corrected_means_are_marked_beside_differences_of_the_judge(
    surefoot: Surefoot, runs: tuple[Path, Path], here: Path
) -> None:
    """And the gate holds its conditions against them."""
    labels = tuple(Label(f"r{n}", "context_adherence", 1.0) for n in range(20))
    write_value(runs[0] / LABELS, labels)
    text = " ".join(surefoot("compare", *runs).out.split())
    assert "context_adherence 1.000* .733" in text
    assert "* as people would judge, by 20 labels; all other figures are of the judge's scores" in text
    done = surefoot("gate", runs[0], "--min", "adherence.mean>=0.95")
    assert (done.code, "corrected with 20 labels" in " ".join(done.out.split())) == (0, True)


def test_another_judge_and_few_records_are_said(surefoot: Surefoot, here: Path) -> None:
    one = written(here / "one", {"m": [0.2, 0.4, 0.6]}, judge="kind")
    two = written(here / "two", {"m": [0.4, 0.4]}, judge="strict")
    said = " ".join(surefoot("compare", one, two).out.split())
    assert "judged by kind in A and by strict in B, which may be what differs: m" in said
    assert "fewer than 20 independent records or groups, so that the interval is too narrow: m (2)" in said
    assert "records that only one has: 1 in A, 0 in B" in said


@pytest.mark.parametrize(
    ("conditions", "code", "said"),
    [
        (["adherence.low>=0.6"], 0, "kept"),
        (["adherence.low>=0.6", "adherence.mean>=0.9"], 1, "not kept"),
        (["adherence.low>=0.6", "relevancy.low>=0.5"], 2, "cannot be checked"),
        (["tone>=0.5"], 2, "tone>=0.5: no metric 'tone'; there are: context_adherence, context_recall"),
        (["adherence.mean>=0.9", "relevancy.low>=0.5"], 1, "cannot be checked"),
        (["unscored<=0.02"], 1, "not kept"),
        (["unscored<=0.04", "recall.scored>=29"], 0, "29"),
    ],
)
def test_the_gate_has_an_exit_code(
    surefoot: Surefoot, runs: tuple[Path, Path], conditions: list[str], code: int, said: str
) -> None:
    """0 where all is kept, 1 where something is broken, 2 where nothing is but something cannot be checked."""
    done = surefoot("gate", runs[1], *[word for one in conditions for word in ("--min", one)])
    assert (done.code, done.err) == (code, "")
    assert said in " ".join(done.out.split())
    assert max(map(len, done.out.splitlines())) <= 80


def test_the_gate_warns_of_an_interval_of_few(surefoot: Surefoot, here: Path) -> None:
    """Three perfect scores have an interval without width."""
    folder = written(here / "few", {"m": [1.0, 1.0, 1.0]})
    told = " ".join(surefoot("gate", folder, "--min", "m>=0.9").out.split())
    assert "m has fewer than 20 scores: its interval is too narrow" in told
    assert "too narrow" not in surefoot("gate", folder, "--min", "m.mean>=0.9").out


def test_the_gate_prints_json(surefoot: Surefoot, runs: tuple[Path, Path]) -> None:
    """A check each; the exit code is the same."""
    done = surefoot("gate", runs[1], "--min", "adherence.mean>=0.9", "--json")
    (check,) = json.loads(done.out)
    assert (done.code, check["metric"], check["kept"]) == (1, "context_adherence", False)


def test_the_gate_writes_into_the_summary_of_a_job_of_github(
    surefoot: Surefoot, runs: tuple[Path, Path], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind what stands there, as a table: verdicts, means with their intervals, and how many records these are of."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here / "summary.md"))
    (here / "summary.md").write_text("# Before\n")
    surefoot("gate", runs[1], "--min", "recall.mean>=0.9", "--min", "tone>=0.5")
    assert (here / "summary.md").read_text().splitlines() == [
        "# Before",
        "| condition | verdict | figures |",
        "| --- | --- | --- |",
        "| `recall.mean>=0.9` | not kept | context_recall: mean 0.731 (95 % interval 0.662 to 0.793) over 29 of 30 "
        "records |",
        "| `tone>=0.5` | cannot be checked | no metric 'tone'; there are: context_adherence, context_recall |",
    ]


ROOT = Path(__file__).parents[2]


def test_the_action_of_github_runs_the_gate(here: Path, runs: tuple[Path, Path]) -> None:
    """As it stands in action.yml, with a condition a line, but for blank ones; its exit code is the gate's."""
    text = (ROOT / "action.yml").read_text()
    script = textwrap.dedent(text.partition("run: |\n")[2])
    (here / "surefoot").write_text(f'#!/bin/sh\nexec {sys.executable} -m surefoot "$@"\n')
    (here / "surefoot").chmod(0o755)
    known = {"RUN": str(runs[1]), "CONDITIONS": "adherence.low>=0.6\n\nadherence.mean>=0.9\n", "HOME": str(here)}
    path = {"PATH": f"{here}:{os.environ['PATH']}", "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    done = subprocess.run(["bash", "-e", "-c", script], env={**known, **path}, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.count("adherence.") == 2


def test_the_hook_of_pre_commit_is_the_gate() -> None:
    """It gets no files, and runs whatever changed."""
    lines = (ROOT / ".pre-commit-hooks.yaml").read_text().splitlines()
    assert {"  entry: surefoot gate", "  pass_filenames: false", "  always_run: true"} <= {*lines}


def test_figures_are_written_short() -> None:
    """Without the nought before the point, with a proper minus, and a dash for what is not known."""
    assert [share(one) for one in (0.6124, 1.0, 0.0, -0.25, None)] == [".612", "1.000", ".000", "−.250", "–"]
    assert [signed(one) for one in (0.1, -0.1, 0.0, -0.0001, None)] == ["+.100", "−.100", ".000", ".000", "–"]
    assert (between(0.1, 0.2), between(-0.1, 0.2, True), between(None, None)) == ("[.100, .200]", "[−.100, +.200]", "")
    assert [chance(one) for one in (0.0004, 0.04, 1.0, None)] == ["<.001", ".040", "1.000", "–"]
    assert (number(12345), number(None)) == ("12,345", "–")
