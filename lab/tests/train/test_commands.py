"""`surefoot lab train`."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Surefoot = Callable[..., Any]

PASSAGES = [
    {"id": "1", "title": "Bridge", "text": "tomas aldwin built the bridge", "label": 1, "label_title": 1},
    {"id": "2", "title": "Hut", "text": "the hut", "label": 0, "label_title": 0},
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two pairs."""
    path = tmp_path / "pairs.jsonl"
    path.write_text(json.dumps({"id": "1", "question": "who built the bridge", "passages": PASSAGES}) + "\n")
    return path


@pytest.mark.slow
def test_a_trained_t5_grades_questions(surefoot: Surefoot, tiny_t5: Path, data: Path, tmp_path: Path) -> None:
    """What is printed says how to use it, and that works."""
    done = surefoot("lab", "train", "t5", tiny_t5, data, "--out", "mine", "--epochs", "2")
    assert (done.code, done.err) == (0, "")
    assert "mine: 2 pairs, 1 of them +1\n" in done.out
    *_, settings = done.out.strip().splitlines()
    assert surefoot("index", "library").code == 0
    queries = surefoot("ask", "Who built the Ruvel Bridge?", *settings.removeprefix("use it: ").split())
    assert queries.code in (0, 1), queries.err


def test_without_the_extra_it_says_how_to_get_it(
    surefoot: Surefoot, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No traceback; the other commands do not need it."""
    for module in ("surefoot_lab.train.t5", "surefoot.models.checkpoint", "surefoot.evaluators.t5"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    done = surefoot("lab", "train", "t5", "base", data, "--out", "mine")
    assert done.code == 2
    assert "pip install 'surefoot[transformers]'" in " ".join(done.err.split())


# The evaluator of our own


@pytest.fixture
def lessons(tmp_path: Path) -> Path:
    """A folder of data with its mixture."""
    folder = tmp_path / "lessons"
    folder.mkdir()
    for name in ("learn", "look"):
        row = {"id": name, "question": f"who built the {name}", "answers": ["aldwin"]}
        passages = [{**p, "id": f"{name}{p['id']}", "title": f"{name} {p['title']}"} for p in PASSAGES]
        (folder / f"{name}.jsonl").write_text(json.dumps({**row, "passages": passages}) + "\n")
    rows = [json.loads((folder / "look.jsonl").read_text()) for _ in range(200)]
    many = [{**row, "id": str(n), "question": f"{row['question']} of {n}"} for n, row in enumerate(rows)]
    (folder / "look.jsonl").write_text("".join(json.dumps(row) + "\n" for row in many))
    (folder / "mine.toml").write_text('[learn]\nuse = "train"\n\n[look]\nuse = "dev"\nsearched = true\n')
    return folder


def test_our_own_evaluator_is_trained_and_finished(
    surefoot: Surefoot, tiny_bert: Path, lessons: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is printed says how to measure it and how to use it."""
    finish = pytest.importorskip("surefoot_lab.train.evaluator", reason="needs the extra train")
    results: list[Any] = []
    monkeypatch.setattr(finish, "finish", lambda best, mixture, folder, on_done: results.append((best, folder)))
    done = surefoot(
        *("lab", "train", "evaluator", "--data", lessons, "--mixture", lessons / "mine.toml"),
        *("--start", tiny_bert, "--out", "mine", "--seed", 3, "--device", "cpu"),
    )
    assert (done.code, done.err) == (0, "")
    assert results == [(Path("mine/best.pt"), Path("mine"))]
    assert Path("mine/best.pt").is_file()
    settings = "--set evaluator.use=minilm --set evaluator.model=mine"
    assert done.out.splitlines()[-2:] == [
        f"measure it: surefoot lab evaluator mine/dev/test/*.jsonl {settings}",
        f"use it: {settings}",
    ]


@pytest.mark.parametrize("start", ["mine/best.pt", "minilm.onnx"])
def test_a_training_goes_on_from_weights_that_were_made_before(
    surefoot: Surefoot, tiny_bert: Path, lessons: Path, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    """Those of a training, or those that ship; gently, and what came of it says which recipe that was."""
    finish = pytest.importorskip("surefoot_lab.train.evaluator", reason="needs the extra train")
    export, network = (pytest.importorskip(f"surefoot_lab.train.{name}") for name in ("export", "network"))
    monkeypatch.setattr(finish, "finish", lambda *arguments: None)
    train = ("lab", "train", "evaluator", "--data", lessons, "--mixture", lessons / "mine.toml", "--device", "cpu")
    assert surefoot(*train, "--start", tiny_bert, "--out", "mine").code == 0
    export.export(network.restored(Path("mine/best.pt"), network.GraderNetwork), Path("minilm.onnx"))
    done = surefoot(*train, "--start", start, "--out", "more")
    assert (done.code, done.err) == (0, "")
    made = [json.loads((Path(folder) / "made.json").read_text()) for folder in ("mine", "more")]
    assert [one["recipe"]["rate"] for one in made] == [8e-5, 4e-5]
    assert made[0]["start"] != made[1]["start"]


def test_a_mixture_that_could_not_be_finished_is_not_begun(surefoot: Surefoot, lessons: Path) -> None:
    """Hours of training would end with the same message."""
    pytest.importorskip("torch", reason="needs the extra train")
    pytest.importorskip("onnx", reason="needs the extra train")
    (lessons / "mine.toml").write_text('[learn]\nuse = "train"\n\n[look]\nuse = "dev"\n')
    done = surefoot("lab", "train", "evaluator", "--data", lessons, "--mixture", lessons / "mine.toml", "--out", "mine")
    assert done.code == 2
    assert "no file of the mixture has searched = true" in " ".join(done.err.split())
    assert not Path("mine").exists()
