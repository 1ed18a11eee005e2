"""Questions about manuals are counted by their outcome, and the evidence is followed from retrieval to the answer."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from surefoot.pipeline import Pipeline
from surefoot.types import Answer, Grade, Passage, Step, Strip, Trace
from surefoot_lab.datasets.manuals import ManualQuestion
from surefoot_lab.manuals import first_passage, outcome, tables
from surefoot_lab.qa import QAReport
from surefoot_lab.report import as_markdown

HOT = "It boils at 95 degrees by default."


def question(**changes: Any) -> ManualQuestion:
    queries = ManualQuestion(
        "1", "kettle-doc 1", "k.html", "How hot?", "number", "en", True, ("95",), (), ("95 degrees",), "95 degrees."
    )
    return replace(queries, **changes)


def unanswerable(**changes: Any) -> ManualQuestion:
    gone = {"id": "2", "kind": "unanswerable", "file": None, "answerable": False, "answers": (), "evidence": ()}
    return question(**{**gone, **changes})


class EmptyShelf:
    """Finds nothing."""

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        """Nothing."""
        return ()


class Reserved(Answer):
    """An answer that is given with a reservation."""

    def __getattribute__(self, name: str) -> Any:
        return True if name == "hedged" else super().__getattribute__(name)


def trace(answer: Answer | None, *passages: tuple[str, float | None], strips: tuple[Strip, ...] = ()) -> Trace:
    found = tuple(Passage(str(place), text) for place, (text, _) in enumerate(passages))
    grades = tuple(Grade(str(place), score) for place, (_, score) in enumerate(passages))
    return Trace(
        "t", "How hot?", passages=found, grades=grades, strips=strips, answer=answer, steps=(Step("retrieve", 0.5),)
    )


@pytest.mark.parametrize(
    ("answer", "ending", "right"),
    [
        (Answer("At 95 [1]."), "right", True),
        (Answer("At 80 [95]."), "wrong", False),
        (Reserved("At 95."), "hedged", True),
        (Reserved("At 80."), "hedged", False),
        (Answer("Not 95.", refused=True), "refused", False),
        (None, "failed", False),
    ],
)
def test_a_question_ends_in_one_way(answer: Answer | None, ending: str, right: bool) -> None:
    """A hedged answer may be right all the same; a refusal never is, whatever it says."""
    one = outcome(question(), trace(answer))
    assert (one["ending"], one["right"]) == (ending, right)
    assert (one["words"] is None) == (ending in ("refused", "failed"))


def test_the_evidence_is_followed_to_the_answer() -> None:
    """The fourth-best passage is retrieved but not shown; what has no grade is no best-graded one."""

    def came(*passages: tuple[str, float | None], text: str = "Boils.") -> dict[str, Any]:
        return outcome(question(), trace(Answer(text) if text else None, *passages))

    others = [("water", 0.9), ("steam", 0.8), ("lid", 0.7)]
    deep, far = came((HOT, 0.1), *others), ("retrieved", "three", "shown", "kept", "answered")
    assert [deep[how] for how in far] == [True, False, False, False, False]
    third = came(("lid", None), (HOT, 0.1), *others[:2])
    assert [third[how] for how in ("three", "best", "shown", "answered")] == [True, False, True, False]
    best = came(("lid", 0.2), (HOT, 0.3), text="")
    assert (best["best"], best["answered"]) == (True, False)


@pytest.fixture
def reports() -> list[QAReport]:
    """Four questions: Surefoot has one right, withholds one, gets one wrong, and declines the unanswerable one."""
    queries = [question(id=str(number), lang=lang) for number, lang in enumerate(("en", "de", "en"))] + [unanswerable()]
    ours = [
        trace(Answer("It is 95 degrees."), (HOT, 0.9)),
        trace(Reserved("It is warm."), (HOT, 0.9)),
        trace(Answer("It is cold."), ("lid", 0.9)),
        trace(Answer("Nothing.", refused=True)),
    ]
    queries[3] = replace(queries[3], id="3")
    plain = [
        replace(trace(Answer(text), (text, None)), grades=()) for text in ("The lid.", HOT, "The lid.", "The lid.")
    ]
    both = {"surefoot": ours, "bm25": plain}
    return [QAReport.of(name, queries, traces, outcome) for name, traces in both.items()]


def rows(name: str, reports: list[QAReport]) -> list[tuple[Any, ...]]:
    return next([*table.rows] for table in tables(reports) if table.name == name)


def test_shares_are_of_the_answerable_and_declined_is_of_the_others(reports: list[QAReport]) -> None:
    """Withheld: hedged or refused and not right, although the evidence was retrieved. What grades nothing has no
    graded passages."""
    ours, plain = ([(row[at].count, row[at].of) for row in rows("questions", reports)] for at in (1, 2))
    assert ours == [*[(1, 3)] * 4, (0, 3), (1, 1), *[(2, 3)] * 4, (0, 3), (1, 3)]
    assert (plain[0], plain[5], plain[8]) == ((1, 3), (0, 1), (0, 0))


def test_methods_are_compared_question_by_question(reports: list[QAReport]) -> None:
    """Each has one right that the other has not; in German only the plain search."""
    (_, _, gain, first, second, _), _ = rows("differences", reports)
    assert (first, second, gain.value) == (1, 1, 0)
    german, _ = rows("by lang", reports)
    assert (german[0], german[1].count, german[2].count, german[3].value) == ("de", 0, 1, -1)


def test_the_tables_show_shares_with_interval_and_count(reports: list[QAReport]) -> None:
    """Every row has as many cells as its table has columns, and an empty class has dashes."""
    text = as_markdown(tables(reports))
    assert "| right, hedged or not | 33.3 % (6.1 to 79.2), 1 of 3 | 33.3 % (6.1 to 79.2), 1 of 3 |" in text
    assert "| right, hedged or not | surefoot − bm25 | +0.0 (−100.0 to +100.0) | 1 | 1 | 1 |" in text
    assert "| the three that are shown | 66.7 % (20.8 to 93.9), 2 of 3 | – |" in text
    assert "| surefoot | 3 | 0.50 |" in text
    assert "| unanswerable | – | – | – | – | – | 100 % of 1 |" in text
    found = [part.splitlines() for part in text.split("\n\n") if part.startswith("|")]
    assert len(found) == 6
    assert all(line.count("|") == table[0].count("|") for table in found for line in table)


def test_the_baseline_shows_the_first_passage_as_it_stands(pipeline: Pipeline) -> None:
    """Nothing is graded; a search that finds nothing refuses."""
    shown = first_passage(pipeline, "Who built the Ruvel Bridge?")
    assert shown.answer is not None
    assert shown.answer.text == shown.passages[0].text
    assert shown.grades == ()
    empty = first_passage(replace(pipeline, retriever=EmptyShelf()), "Who built the Ruvel Bridge?")
    assert empty.answer is not None
    assert empty.answer.refused


CASES = [
    ("kettle-doc", "How hot does the kettle boil by default?", ["95"], "kettle boils at 95 degrees"),
    ("kettle-doc", "Where is the lid of the kettle?", ["behind"], "lid sits behind"),
    ("toaster-doc", "How many slots has the toaster?", ["four"], "toaster has four slots"),
    ("toaster-doc", "Does the toaster speak Latin?", [], ""),
]


@pytest.fixture
def bench(surefoot: Callable[..., Any], here: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The command, over four questions and a folder with two manuals, and with a configuration that needs no model."""
    rows = [
        {
            "id": str(number),
            "corpus": f"{manual} 1.0-2",
            "file": "page.html" if evidence else None,
            "question": question,
            "class": "number" if evidence else "unanswerable",
            "lang": "en",
            "answerable": bool(evidence),
            "answers": answers,
            "all_of": [],
            "evidence": [evidence] if evidence else [],
            "gold": "",
        }
        for number, (manual, question, answers, evidence) in enumerate(CASES)
    ]
    monkeypatch.setenv("COLUMNS", "120")
    (here / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for manual, text in (
        ("kettle-doc", "The kettle boils at 95 degrees by default.</p><h1>Parts</h1><p>The lid sits behind the spout."),
        ("toaster-doc", "The toaster has four slots and no voice."),
    ):
        folder = here / "manuals" / manual
        folder.mkdir(parents=True)
        (folder / "page.html").write_text(f"<html><body><h1>Manual</h1><p>{text}</p></body></html>")
    return lambda *words: surefoot("lab", "manuals", "q.jsonl", "manuals", "--out", "run", *words)


def selected(here: Path, method: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (here / "run" / method / "traces.jsonl").read_text().splitlines()]


def test_each_manual_is_asked_its_own_questions(bench: Callable[..., Any], here: Path) -> None:
    """Both methods search the index of the question's manual, and every question is counted."""
    done = bench()
    assert done.code == 0, done.err
    assert "right, hedged or not" in done.out
    for method in ("surefoot", "bm25"):
        rows = {row["key"]: row["trace"] for row in selected(here, method)}
        assert sorted(rows) == ["0", "1", "2", "3"]
        assert all("kettle" in found["text"] or "lid" in found["text"] for found in rows["0"]["passages"])
        assert all("toaster" in found["text"] for found in rows["2"]["passages"])


def test_both_reports_are_written(bench: Callable[..., Any], here: Path) -> None:
    """The JSON has what was run and every outcome; the Markdown has the tables."""
    assert bench().code == 0
    report = json.loads((here / "run" / "report.json").read_text())
    assert report["passages"].keys() == {"kettle-doc", "toaster-doc"}
    assert report["config"]["llm"]["use"] == "scripted"
    plain = report["reports"][1]
    assert (plain["method"], [one["id"] for one in plain["outcomes"]]) == ("bm25", ["0", "1", "2", "3"])
    assert report["tables"]["questions"][0]["bm25"]["count"] == 3
    assert "## by manual" in (here / "run" / "report.md").read_text()


def test_a_manual_that_is_not_there_is_named(bench: Callable[..., Any], here: Path) -> None:
    """Before anything is indexed."""
    (here / "manuals" / "toaster-doc").rename(here / "manuals" / "toaster")
    done = bench()
    assert done.code == 2
    assert "toaster-doc" in done.err
    assert "fetch.sh" in done.err
    assert not (here / "run" / "indexes").exists()
