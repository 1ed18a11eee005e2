"""`surefoot improve`."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from surefoot.evaluate.improve import controls

WEAK = """\
# Ours, since the spring.
embedder = "hashing"
evaluator = "lexical"
generator = "llm"

[pipeline]
k = 1                # passages

[thresholds]
upper = 0.75
lower = 0.4
strip = 0.5

[llm]
use = "scripted"

[llm.replies]
"Tomas Aldwin" = "Tomas Aldwin [1]."
"""


def question(number: int) -> dict[str, Any]:
    """Every third has the passage that answers in the first place."""
    place = f"the bridge of Larrow{number}"
    built = {"id": f"b{number}", "title": place, "text": f"Tomas Aldwin built {place}."}
    other = {"id": f"o{number}", "title": "Cheese", "text": "Cut the cheese and let it melt."}
    passages = [built, other] if number % 3 == 0 else [other, built]
    return {"id": str(number), "question": f"Who built {place}?", "answers": ["Tomas Aldwin"], "passages": passages}


@pytest.fixture
def improve(surefoot: Callable[..., Any], here: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`surefoot improve` over forty questions with a configuration that reads one passage; the random lever is drawn
    from settings that do nothing here."""
    idle = {("refiner", "size"): (1, 4), ("refiner", "best"): (3, 8)}
    monkeypatch.setattr(controls, "_fitting", lambda config: idle)
    (here / "qa.jsonl").write_text("".join(json.dumps(question(number)) + "\n" for number in range(40)))
    (here / "few.jsonl").write_text("".join(json.dumps(question(number)) + "\n" for number in range(9)))
    (here / "surefoot.toml").write_text(WEAK)
    (here / "planted.toml").write_text("[thresholds]\nupper = 2.0\nlower = 2.0\n")
    return lambda *words: surefoot("improve", *words)


def test_what_helps_is_applied_and_comes_out_again_to_the_byte(improve: Callable[..., Any], here: Path) -> None:
    """The comment beside the value stays; the planted patch is tried and rejected with its figures."""
    done = improve("qa.jsonl", "--run", "run", "--try", "planted.toml", "--apply")
    assert done.code == 0, done.err
    assert "kept: pipeline.k=10" in done.out
    assert "harmful on the development half (p = " in done.out
    assert "undo with: surefoot improve --revert run" in done.out
    assert (here / "surefoot.toml").read_text() == WEAK.replace("k = 1 ", "k = 10 ")
    assert improve("--revert", "run").code == 0
    assert (here / "surefoot.toml").read_bytes() == WEAK.encode()
    again = improve("--revert", "run")
    assert (again.code, "nothing of run is applied" in again.err) == (2, True)


@pytest.mark.slow
def test_a_finished_run_is_applied_later(improve: Callable[..., Any], here: Path) -> None:
    """Without --apply nothing is written; with it nothing is asked again. The table fits into 80 columns."""
    first = improve("qa.jsonl", "--run", "run")
    assert (first.code, (here / "surefoot.toml").read_text()) == (0, WEAK)
    assert "write it into the configuration with --apply" in first.out
    table = first.out[: first.out.index("\n\n")].splitlines()
    assert table[0].split()[0] == "tried"
    assert max(map(len, table)) <= 80
    traces = {path: path.read_bytes() for path in (here / "run").glob("*/*/traces.jsonl")}
    assert improve("qa.jsonl", "--run", "run", "--apply").code == 0
    assert {path: path.read_bytes() for path in traces} == traces
    assert "k = 10" in (here / "surefoot.toml").read_text()


def test_a_patch_that_is_nested_without_end_is_named(improve: Callable[..., Any], here: Path) -> None:
    """As one that is not TOML is."""
    (here / "deep.toml").write_text("x = " + "[" * 5000)
    done = improve("qa.jsonl", "--run", "run", "--try", "deep.toml", "--dry-run")
    assert done.code == 2
    assert "deep.toml is not TOML" in " ".join(done.err.split())


def test_the_dry_run_shows_the_difference_and_the_cost(improve: Callable[..., Any], here: Path) -> None:
    """And what may not be tried, with its reason; the file stays as it is."""
    (here / "outside.toml").write_text('[searcher]\nuse = "wikipedia"\n')
    done = improve("qa.jsonl", "--run", "run", "--try", "outside.toml", "--dry-run")
    assert done.code == 0
    assert "-k = 1 # passages" in done.out
    assert "+k = 10 # passages" in done.out
    assert "questions" in done.out
    assert "allow it with --outside" in done.err
    assert (here / "surefoot.toml").read_text() == WEAK
    assert not (here / "run" / "held-out").exists()


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["match", "f1", "context_recall"])
def test_what_has_to_gain_can_be_chosen(improve: Callable[..., Any], metric: str) -> None:
    """A rule for gold answers, a wording, or a metric of the diamond by the judge that the configuration has for it."""
    done = improve("qa.jsonl", "--run", "run", "--metric", metric)
    assert done.code == 0, done.err
    assert f"points of {metric}, 95 % intervals" in done.out
    assert "kept: pipeline.k=10" in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name the questions"),
        (["qa.jsonl", "--set", "pipeline.k=2", "--apply"], "--set is in no file"),
        (["qa.jsonl", "--try", "none.toml"], "none.toml"),
        (["qa.jsonl", "--try", "qa.jsonl"], "is not TOML"),
        (["qa.jsonl", "--metric", "style", "--run", "odd"], "no judge called 'style'"),
        (["few.jsonl", "--run", "few"], "give more questions"),
        (["qa.jsonl", "--system", "rag"], "--system and --levers go together"),
        (["qa.jsonl", "--system", "rag", "--levers", "none.toml", "--run", "no"], "none.toml cannot be read"),
        (["--revert", "nowhere"], "nothing of nowhere is applied"),
    ],
)
def test_a_mistake_is_one_line(improve: Callable[..., Any], words: list[str], said: str) -> None:
    """On standard error, with what to do."""
    done = improve(*words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


THEIRS = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    k, word = request["config"]["k"], request["question"].split("Larrow")[1]
    found = [f"The bridge of Larrow{word} was painted.", f"Tomas Aldwin built the bridge of Larrow{word}"][:k]
    print(json.dumps({"answer": found[-1], "contexts": found}), flush=True)
"""


def test_another_system_is_improved_by_its_own_levers(
    improve: Callable[..., Any], surefoot: Callable[..., Any], here: Path
) -> None:
    """Each is tried on its own cases first; what is kept is the user's to set. The folder opens in the viewer."""
    (here / "rag.py").write_text(THEIRS)
    (here / "levers.toml").write_text('k = [1, 2]\ntone = ["kind", "curt"]\n')
    command = f"{sys.executable} rag.py"
    done = improve("qa.jsonl", "--system", command, "--levers", "levers.toml", "--run", "run")
    assert done.code == 0, done.err
    assert "item 1. Retrieve the passage that answers" in done.out
    assert "kept: k=2" in done.out
    assert "set this in your system" in done.out
    assert "tone" in done.out
    assert command not in (here / "run" / "run.json").read_text()
    assert surefoot("view", "run", "--no-browser").code == 0
