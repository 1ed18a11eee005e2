"""Each plugin keeps the contract of its role, is found by its name, and does its work in the whole."""

import json
from pathlib import Path

import pytest
from surefoot_example.jaccard import Jaccard
from surefoot_example.own_words import OwnWords
from surefoot_example.srt import Subtitles
from surefoot_example.two_witnesses import TwoWitnesses
from surefoot_example.vectors import Vectors

from surefoot import Passage, Thresholds, components, load
from surefoot.config.builder import Builder
from surefoot.config.settings import read
from surefoot.contracts import PASSAGES, verify
from surefoot.embedders.hashing import Hashing
from surefoot.evaluate.evaluation import Evaluation
from surefoot.evaluate.report import page
from surefoot.index.build import build
from surefoot.index.push import Pushed
from surefoot.index.search import Index
from surefoot.judges.llm import LLMJudge
from surefoot.llms.scripted import Scripted
from surefoot.types import Record
from surefoot.types.protocols import StoreRow

SUBTITLES = """1
00:00:01,000 --> 00:00:04,000
The Ruvel Bridge was built by Tomas Aldwin.

2
00:01:01,000 --> 00:01:09,000
It is of iron.
"""
COPIED = Record("copied", "Who?", (Passage("p", "It was built in 1911 by Aldwin."),), "It was built in 1911 by Aldwin.")
FREE = Record("free", "Who?", COPIED.contexts, "Tomas Aldwin is the one who made it, long ago.")


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """Of a folder with a film in it."""
    (tmp_path / "films").mkdir()
    (tmp_path / "films" / "bridge.srt").write_text(SUBTITLES)
    build([tmp_path / "films"], tmp_path / "index.db", Hashing())
    return tmp_path / "index.db"


@pytest.mark.parametrize(
    ("role", "name", "plugin"),
    [
        ("evaluator", "jaccard", Jaccard),
        ("judge", "own_words", OwnWords),
        ("loader", "srt", Subtitles),
        ("retriever", "vectors", Vectors),
        ("policy", "two_witnesses", TwoWitnesses),
    ],
)
def test_it_is_found_by_its_name_and_keeps_the_contract(role: str, name: str, plugin: type, tmp_path: Path) -> None:
    """Its entry point makes the name work, and Surefoot's own suite for the role passes over it."""
    assert components.find(role, name) is plugin
    filled = Vectors(Hashing(), str(tmp_path / "v.db"))
    filled.upsert([StoreRow(passage, "", Hashing().embed([passage.text])[0]) for passage in PASSAGES])
    made = {"retriever": filled, "policy": TwoWitnesses(Thresholds(0.5, 0.1, 0.1, "any"))}
    verify(role, made.get(role) or plugin())


def test_a_metric_is_judged_diagnosed_and_shown(tmp_path: Path) -> None:
    """By its own judge and by a language model; the page has its words and its place, and imports nothing for them."""
    builder = Builder(read({}, {"judge": {"use": "embedded"}}))
    evaluation = Evaluation(builder, builder.judges(["own_words"]), [COPIED, FREE], tmp_path)
    evaluation.judge({})
    _, diagnosis = evaluation.conclude()
    assert "Own Words averages 50 %" in diagnosis.insights[0].text
    assert [case for item in diagnosis.items for case in item.cases] == ["copied"]
    assert "**Own Words.**" in (tmp_path / "report.md").read_text()
    shown = page._head(page.read(tmp_path))["metrics"]
    assert shown[6] == {
        "name": "own_words",
        "label": "Own words",
        "edge": "context → answer",
        "corners": ("context", "answer"),
    }
    rating = json.dumps({"explanation": "It is copied.", "own_words_score": "1", "quotes": []})
    assert LLMJudge(Scripted(lambda _: rating), "own_words").judge(COPIED).value == 0.2


def test_a_file_of_its_suffix_is_indexed(index: Path) -> None:
    """In the process that reads files, as any other."""
    with Index.open(index) as opened:
        (passage,) = opened.lexical("Who built the Ruvel Bridge?", 5)
    assert passage.text == "The Ruvel Bridge was built by Tomas Aldwin.\n\nIt is of iron."


def test_an_index_is_pushed_to_its_store(index: Path, tmp_path: Path) -> None:
    """As `surefoot index --push` does."""
    sections = {"index": {"path": str(index)}, "embedder": {"use": "hashing"}}
    retriever = {"use": "vectors", "path": str(tmp_path / "vectors.db")}
    builder = Builder(read({**sections, "retriever": retriever}))
    assert builder.push() == Pushed(new=1, changed=0, unchanged=0, gone=0)
    assert builder.push() == Pushed(new=0, changed=0, unchanged=1, gone=0)
    assert builder.pipeline().retriever.retrieve("Ruvel Bridge", 3)[0].title == "bridge"


def test_a_policy_is_named_in_the_configuration(index: Path) -> None:
    """With its options; it decides, and the trace says by what."""
    parts = {"retriever": {"use": "bm25"}, "evaluator": {"use": "jaccard"}, "embedder": {"use": "hashing"}}
    policy = {"use": "two_witnesses", "witnesses": 3}
    pipeline = load({**parts, "index": {"path": str(index)}, "policy": policy})
    decision = pipeline.run("Who built the Ruvel Bridge?").decision
    assert decision is not None
    assert decision.policy == "two-witnesses"
    assert decision.because == "1 of 3 witnesses reach τ+"
