"""`surefoot lab ragxplain`: before and after the change that a diagnosis proposes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from surefoot.evaluate.ask.questions import load
from surefoot.types.errors import UsageError

CONFIG = """\
embedder = "hashing"
evaluator = "lexical"
generator = "llm"
retriever = "bm25"

[pipeline]
k = 1

[llm]
use = "scripted"

[llm.replies]
"Tomas Aldwin" = "Tomas Aldwin"
"bridge" = "Nobody"
"""


def write_rows(path: Path, count: int) -> None:
    """Questions of which BM25 finds another passage first."""
    path.parent.mkdir(parents=True)
    rows = [
        {
            "id": str(n),
            "question": f"Who built the bridge of Larrow{n}?",
            "answers": ["Tomas Aldwin"],
            "passages": [
                {"id": f"a{n}", "title": f"Larrow{n} bridge", "text": f"The bridge of Larrow{n} is old. Who built it?"},
                {"id": f"b{n}", "title": "Engineers", "text": f"Tomas Aldwin made what spans the river at Larrow{n}."},
            ],
        }
        for n in range(count)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    """WikiPassageQA as its authors give it, with one question."""
    folder = tmp_path / "WikiPassageQA"
    folder.mkdir()
    (folder / "document_passages.json").write_text(json.dumps({"7": {"0": "It is old.", "1": "Iron.", "2": "Aldwin."}}))
    head = "QID\tQuestion\tDocumentID\tDocumentName\tRelevantPassages\n"
    (folder / "test.tsv").write_text(f"{head}3\tHow was the bridge built?\t7\tRuvel_Bridge.html\t1,2\n")
    return folder


def test_a_set_is_answered_changed_and_answered_again(here: Path, surefoot: Callable[..., Any]) -> None:
    """With the paper's figures beside ours; a set that is not there is named; a second run asks nothing again."""
    write_rows(here / "data/hotpotqa/dev_distractor.jsonl", 8)
    (here / "surefoot.toml").write_text(CONFIG)
    done = surefoot("lab", "ragxplain", "data", "--questions", "6", "--run", "run")
    assert done.code == 0, done.err
    assert "NQ is left out" in done.err
    assert 'HotpotQA: retriever.use="hybrid", pipeline.k=10' in done.out
    [factuality] = [line.split() for line in done.out.splitlines() if line.startswith("factuality")]
    assert (factuality[1], factuality[2][0]) == ("+.046", "+")
    traces = (here / "run/HotpotQA/before/traces.jsonl").read_text()
    assert surefoot("lab", "ragxplain", "data", "--questions", "6", "--run", "run").out == done.out
    assert (here / "run/HotpotQA/before/traces.jsonl").read_text() == traces


def test_no_set_at_all_is_a_mistake(here: Path, surefoot: Callable[..., Any]) -> None:
    (here / "data").mkdir()
    done = surefoot("lab", "ragxplain", "data", "--run", "run")
    assert (done.code, "holds none of nq/oracle.jsonl" in done.err) == (2, True)


def test_wikipassageqa_is_read_as_its_authors_give_it(wiki: Path) -> None:
    """The relevant passages together stand for the answer."""
    [example] = load(wiki).examples
    assert (example.answers, example.gold) == (("Iron. Aldwin.",), frozenset({"7-1", "7-2"}))
    assert [one.title for one in example.passages] == ["Ruvel Bridge"] * 3


def test_passages_of_wikipassageqa_that_are_missing_are_counted(wiki: Path) -> None:
    (wiki / "document_passages.json").write_text(json.dumps({"7": {"1": "Iron."}}))
    [problem] = load(wiki).problems
    assert (problem.what, problem.count) == ("relevant passages that are not there", 1)


def test_wikipassageqa_without_questions_is_refused(wiki: Path) -> None:
    (wiki / "test.tsv").unlink()
    with pytest.raises(UsageError, match=r"has no questions; test\.tsv"):
        load(wiki)
