"""The reproduction ledger: the papers' figures hold together as it says, and ours are joined to them, never made up."""

from __future__ import annotations

import importlib.util
import json
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FILE = Path(__file__).parents[1] / "benchmarks" / "ledger.py"
SHARE = {"count": 6, "of": 10, "share": 0.6, "low": 0.31, "high": 0.83}


@pytest.fixture(scope="module")
def ledger() -> ModuleType:
    """benchmarks/ledger.py, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("ledger", FILE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def known() -> dict[str, Any]:
    """benchmarks/ledger.toml."""
    return tomllib.loads(FILE.with_suffix(".toml").read_text(encoding="utf-8"))


def report(*right: int, **more: Any) -> dict[str, Any]:
    outcomes = [{"id": str(n), "match_lower": bool(one), "match": False} for n, one in enumerate(right)]
    return {"method": "crag", "rules": {"match_lower": SHARE}, "outcomes": outcomes} | more


def test_the_contradictions_are_found(ledger: ModuleType, known: dict[str, Any]) -> None:
    """By arithmetic alone: 23.0 − 19.3 is 3.7, the actions come to 55.4, and the types leave 97 questions out."""
    wrong = {row["what"]: round(ledger.implied(row), 1) for row in known["check"] if not ledger.agrees(row)}
    assert wrong == {
        "gain of AMBIGUOUS by Wikipedia": 3.7,
        "accuracy with Wikipedia, from the actions": 55.4,
        "questions whose type has a row, of all": 93.0,
    }


def test_what_was_not_run_says_so(ledger: ModuleType, known: dict[str, Any]) -> None:
    """Each of its figures and gains; nothing else stands there."""
    page = list(ledger.page(known, {}))
    assert sum("| not run" in line for line in page) == len(known["figure"]) + len(known["gain"])
    reasons = [row["because"] for kind in ("figure", "gain") for row in known[kind] if "because" in row]
    assert sum("| not run: " in line for line in page) == len(reasons)
    assert {line.partition("| not run: ")[2].partition(" |")[0] for line in page if "not run: " in line} == set(reasons)


@pytest.mark.parametrize(("value", "where"), [(20.0, "below"), (31.0, "within"), (83.0, "within"), (90.0, "above")])
def test_a_figure_is_held_against_the_interval(ledger: ModuleType, value: float, where: str) -> None:
    """The published one lies within ours, or beside it."""
    cells = ledger.figure({"value": value, "ours": "a/crag"}, {"a": report()})
    assert cells == ("60.0 [31.0, 83.0] of 10", where)


@pytest.mark.parametrize(
    ("after", "published", "ours", "says"),
    [
        ([1] * 20, 7.0, "+50.0 [+30.0, +70.0] on 20", "the same sign (p = 0.002)"),
        ([1] * 20, -1.2, "+50.0 [+30.0, +70.0] on 20", "the other sign (p = 0.002)"),
        ([1] * 12 + [0] * 8, 7.0, "+10.0 [+0.0, +25.0] on 20", "undetermined (p = 0.5)"),
    ],
)
def test_a_gain_is_of_the_same_questions(
    ledger: ModuleType, after: list[int], published: float, ours: str, says: str
) -> None:
    """The same sign or the other one only where McNemar's test is sure of a sign."""
    row = {"value": published, "ours": "a/crag", "over": "b/rag"}
    reports = {"a": report(*after), "b": report(*[1] * 10, *[0] * 10, 1, 1, method="rag")}
    assert ledger.gain(row, reports) == (ours, says)
    assert ledger.gain(row | {"rule": "match"}, reports)[0] == "+0.0 [+0.0, +0.0] on 20"
    assert ledger.gain(row | {"over": "b/crag"}, reports) == ("not run", "")


def test_it_prints_a_page(ledger: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the reports that are named; a name that there is not is an error with those that there are."""
    parts = {"evaluator": {"use": "minilm"}, "generator": {"use": "extractive"}}
    actions = [
        {"action": name, "questions": SHARE, "match_lower": SHARE} for name in ("correct", "ambiguous", "incorrect")
    ]
    made = report(1, method="crag", actions=actions, data="here/qa.jsonl", questions=1, config=parts)
    (tmp_path / "r.json").write_text(json.dumps(made))
    assert ledger.main([f"popqa={tmp_path / 'r.json'}"]) == 0
    out = capsys.readouterr().out
    assert "- ours, popqa: 1 questions of qa.jsonl, evaluator minilm, generator extractive" in out
    assert "| PopQA, CRAG without search | 54.4 of 1,385 | 60.0 [31.0, 83.0] of 10 | within |" in out
    assert ledger.main(["pop=r.json"]) == 2
    assert "no run called 'pop'; there are: arc," in capsys.readouterr().err
    assert ledger.main(["popqa=absent.json"]) == 2
