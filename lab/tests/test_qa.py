"""A benchmark counts every question, resumes where it stopped, and keeps each outcome."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from surefoot.evaluate.ask.questions import Example
from surefoot.run.store import recorded
from surefoot.types import Action, Answer, Decision, Passage, Step, Trace
from surefoot_lab.figures import Share, risk_area
from surefoot_lab.qa import QAReport, comparisons, kind, report, tables


def share(count: int, of: int, low: float | None = None, high: float | None = None) -> Any:
    return pytest.approx((count, of, count / of, low, high), abs=5e-4) if of else (0, 0, None, None, None)


def plain(figure: Share) -> tuple[Any, ...]:
    return (figure.count, figure.of, figure.share, figure.low, figure.high)


def example(id: str, *answers: str, gold: str = "", question: str = "Who?") -> Example:
    return Example(id, question, answers, frozenset(gold.split()))


def trace(
    action: Action | None,
    text: str,
    refused: bool = False,
    found: str = "",
    seconds: float = 1.0,
    error: str | None = None,
) -> Trace:
    return Trace(
        "t",
        "Who?",
        passages=tuple(Passage(id, "text") for id in found.split()),
        decision=Decision(action, "threshold", 0.5, 0.0, "because") if action else None,
        answer=None if error else Answer(text, refused=refused),
        steps=(Step("retrieve", seconds / 4), Step("grade", seconds / 4), Step("retrieve", seconds / 2)),
        error=error,
    )


EXAMPLES = [
    example("right", "Aldwin", gold="b"),
    example("lower", "Aldwin", gold="h"),
    example("refused", "refuse"),
    example("wrong", "Aldwin", gold="z"),
    example("failed", "Aldwin"),
]
TRACES = [
    trace(Action.CORRECT, "Tomas Aldwin [1]", found="b x", seconds=1.0),
    trace(Action.CORRECT, "aldwin", found="x h#2", seconds=2.0),
    trace(Action.INCORRECT, "I refuse.", refused=True, found="x", seconds=3.0),
    trace(Action.AMBIGUOUS, "A troll", found="", seconds=4.0),
    trace(None, "", error="the index is gone", seconds=10.0),
]


@pytest.fixture(scope="module")
def figures() -> QAReport:
    """Five questions: one right, one right in lower case, one refused, one wrong, one failed."""
    return report("crag", EXAMPLES, TRACES)


def rows(name: str, *reports: QAReport) -> list[Any]:
    return next((list(table.rows) for table in tables(reports) if table.name == name), [])


def test_every_question_is_in_the_denominator(figures: QAReport) -> None:
    """Refused and failed ones count as wrong, though the words of a refusal hold the alias."""
    assert plain(figures.share("match")) == share(1, 5, 0.0362, 0.6245)
    assert plain(figures.share("match_lower")) == share(2, 5, 0.1176, 0.7693)
    assert plain(figures.share("answered")) == share(3, 5, 0.2307, 0.8824)
    ((_, right, answered, _),) = rows("methods", figures)
    ((_, of_these, _, failed, _),) = rows("answers", figures)
    assert [plain(one)[:2] for one in (right, answered, of_these)] == [(2, 5), (3, 5), (2, 3)]
    assert failed == 1


def test_each_action_has_a_row(figures: QAReport) -> None:
    """In the order of the actions, with its share of all questions and what became of its own; then the undecided."""
    found = [(row[1], *(plain(one)[:2] for one in row[2:])) for row in rows("actions", figures)]
    assert found == [
        ("CORRECT", (2, 5), (2, 2), (2, 2)),
        ("AMBIGUOUS", (1, 5), (0, 1), (1, 1)),
        ("INCORRECT", (1, 5), (0, 1), (0, 1)),
        ("NO DECISION", (1, 5), (0, 1), (0, 1)),
    ]


def test_each_type_has_a_row_and_a_cell_for_each_action() -> None:
    """The commonest type first, with its commonest action."""
    queries = [
        replace(example(str(n), "Aldwin"), prop=prop) for n, prop in enumerate(["author", "author", "author", ""])
    ]
    done = [TRACES[0], TRACES[2], TRACES[0], TRACES[3]]
    author, other = rows("types", report("crag", queries, done))
    assert (author[1], plain(author[2])[:2], author[3], plain(author[4])[:2]) == ("author", (2, 3), "CORRECT", (2, 3))
    assert [plain(cell)[:2] for cell in author[5:]] == [(2, 2), (0, 0), (0, 1), (0, 0)]
    assert (other[1], other[3]) == ("other", "AMBIGUOUS")


@pytest.mark.parametrize(
    ("question", "type"),
    [
        ("What is Henry Feilden's occupation?", "occupation"),
        ("Who is the author of City of Glass?", "author"),
        ("Who was the COMPOSER of it?", "composer"),
        ("Who wrote Sportsman?", "other"),
    ],
)
def test_a_type_comes_from_the_first_key_word(question: str, type: str) -> None:
    """As a word of its own, unless the data name what is asked for."""
    assert kind(example("1", question=question)) == type
    assert kind(replace(example("1", question=question), prop="place of birth")) == "place of birth"


def test_recall_counts_the_questions_whose_gold_is_known(figures: QAReport) -> None:
    """Also one for which nothing was retrieved; a part of a passage counts as the passage."""
    ((_, *found),) = rows("recall", figures)
    assert [plain(one)[:2] for one in found] == [(1, 3), (2, 3), (2, 3)]


def unanswerable(id: str) -> Example:
    return replace(example(id), answerable=False)


def test_a_wrong_answer_costs_more_than_silence() -> None:
    """1 for a right answer and for declining what nothing answers, 0 for declining the rest, −1 for a wrong one."""
    hedged = replace(TRACES[0], answer=Answer("Tomas Aldwin", hedged=True))
    cases = [(EXAMPLES[0], TRACES[0], 1), (EXAMPLES[2], TRACES[2], 0), (EXAMPLES[3], TRACES[3], -1)]
    cases += [(unanswerable("u"), TRACES[2], 1), (unanswerable("u"), TRACES[0], -1)]
    cases += [(EXAMPLES[0], hedged, 0), (unanswerable("u"), hedged, 1), (EXAMPLES[4], TRACES[4], 0)]
    for queries, results, points in cases:
        ((*_, score),) = rows("methods", report("crag", [queries], [results]))
        assert score.value == points, (queries.id, results.answer)


def test_declining_what_nothing_answers_is_counted() -> None:
    """Refused or hedged, over the unanswerable questions alone."""
    queries = [EXAMPLES[2], unanswerable("a"), unanswerable("b")]
    ((_, _, declined, *_),) = rows("answers", report("crag", queries, [TRACES[2], TRACES[2], TRACES[0]]))
    assert plain(declined) == share(1, 2, 0.0945, 0.9055)


def test_a_confidence_is_held_against_the_grade() -> None:
    """Over the answers that have both: here the grade is turned and the confidence is right."""
    wrong = [n % 2 == 0 for n in range(40)]
    results = [
        replace(
            trace(Action.CORRECT, text := "a troll" if no else "Aldwin"),
            decision=Decision(Action.CORRECT, "threshold", 0.5, 0.0, "because", best=float(no)),
            answer=Answer(text, confidence=0.9 - no / 2),
        )
        for no in wrong
    ]
    unjudged = replace(results[0], answer=Answer("a troll"))
    found = report("crag", [EXAMPLES[0]] * 41, [*results, unjudged])
    _, by_confidence, change = (row[2:] for row in rows("risk", found))
    assert [one.count for one in by_confidence[:4]] == [0, 0, 10, 20]
    assert change[-1].of == 40
    before, after = risk_area(wrong, wrong).value, risk_area([not no for no in wrong], wrong).value
    assert change[-1].value == pytest.approx(after / before - 1)  # type: ignore[operator]
    assert change[-1].low < change[-1].value < change[-1].high < 0


def test_methods_are_held_against_each_other() -> None:
    """Each pair once, the first named first, with McNemar's counts and a paired bootstrap."""
    queries = [example(str(n), "Aldwin") for n in range(40)]
    good = report("crag", queries, [trace(Action.CORRECT, "Aldwin")] * 40)
    half = report("rag:1", queries, [trace(None, "Aldwin" if n % 2 else "aldwin") for n in range(40)])
    bad = report("none", queries, [trace(None, "nobody")] * 40)
    found = comparisons([good, half, bad], "match")
    assert [(one.first, one.second) for one in found] == [("crag", "rag:1"), ("crag", "none"), ("rag:1", "none")]
    assert (found[0].paired.first, found[0].paired.second, found[0].paired.of) == (20, 0, 40)
    assert (found[0].gain.value, comparisons([good, half], "match_lower")[0].gain.value) == (0.5, 0.0)
    assert found[0].gain.low is not None
    assert 0.3 < found[0].gain.low < 0.4
    assert found[0].paired.p < 1e-5


ROWS = [
    {"id": "1", "question": "Who built the Ruvel Bridge?", "answers": ["Tomas Aldwin"]},
    {"id": "2", "question": "Who built the Hohrin Hut?", "answers": ["the monks"]},
]


@pytest.fixture
def bench(indexed: Callable[..., Any], here: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`surefoot lab qa` over two questions, the second of which gets a wrong answer."""
    monkeypatch.setenv("COLUMNS", "120")
    (here / "qa.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return lambda *words: indexed("lab", "qa", "qa.jsonl", *words)


def keys_and_ids(folder: Path) -> list[tuple[str, str]]:
    rows = map(json.loads, (folder / "traces.jsonl").read_text().splitlines())
    return [(row["key"], row["trace"]["id"]) for row in rows]


def test_the_figures_are_shown_with_interval_and_count(bench: Callable[..., Any]) -> None:
    """Of all questions, of those that were answered, and by action."""
    done = bench()
    assert done.code == 0
    assert "50.0 % (9.5 to 90.5), 1 of 2" in done.out
    assert "CORRECT" in done.out
    assert ".500 [" in done.out  # the score: the second is hedged, and wrong
    assert "wrong among the surest" in done.out
    assert "confidence against" not in done.out.replace(
        "confidence against grade: its", ""
    )  # a model's answers have none
    assert "traces in runs/" in done.err


def test_the_report_is_written_as_json(bench: Callable[..., Any], here: Path) -> None:
    """With what was run, and every outcome."""
    assert bench("--json", "report.json").code == 0
    report = json.loads((here / "report.json").read_text())
    assert (report["tables"]["methods"][0]["method"], report["tables"]["methods"][0]["right"]["count"]) == ("crag", 1)
    assert [outcome["match"] for outcome in report["reports"][0]["outcomes"]] == [True, False]
    assert report["config"]["llm"]["use"] == "scripted"


def test_a_run_that_was_cut_off_goes_on_where_it_stopped(bench: Callable[..., Any], here: Path) -> None:
    """What is there is not asked again; a torn last line is."""
    assert bench("--run", "run").code == 0
    selected = here / "run" / "crag"
    first, second = keys_and_ids(selected)
    text = (selected / "traces.jsonl").read_text()
    (selected / "traces.jsonl").write_text(text[: text.index("\n") + 20])
    assert bench("--run", "run").code == 0
    again = keys_and_ids(selected)
    assert again[0] == first
    assert again[1][0] == "2"
    assert again[1] != second


def test_several_methods_are_asked_the_same_questions(bench: Callable[..., Any], here: Path) -> None:
    """A line each, their differences, and a folder each; the report begins with the first."""
    done = bench("--method", "crag", "--method", "rag:1", "--method", "none", "--run", "run", "--json", "r.json")
    assert done.code == 0
    assert "rag:1" in done.out
    assert "crag − none" in done.out
    assert sorted(path.parent.name for path in (here / "run").glob("*/traces.jsonl")) == ["crag", "none", "rag-1"]
    report = json.loads((here / "r.json").read_text())
    assert [one["method"] for one in report["reports"]] == ["crag", "rag:1", "none"]
    assert len(report["tables"]["differences"]) == 3


def test_texts_that_come_with_the_questions_need_no_index(surefoot: Callable[..., Any], here: Path) -> None:
    """Passages are retrieved; what a web search had brought is found by a search."""
    text = "The Ruvel Bridge was built by Tomas Aldwin."
    found = {"id": "w", "title": "Hohrin Hut", "text": "The Hohrin Hut was built by Napoleon."}
    rows = [
        {**ROWS[0], "passages": [{"id": "p", "text": "The Ruvel Bridge was built in 1911 by Tomas Aldwin."}]},
        {**ROWS[1], "passages": [{"id": "q", "text": text}], "outside": [found]},
        {**ROWS[0], "id": "bare"},
    ]
    (here / "given.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = surefoot("lab", "qa", "given.jsonl", "--given", "--run", "run")
    assert done.code == 0
    assert "1 of 3" in done.out
    assert "data: 1 × no text came with the question; nothing is retrieved for it (bare)" in done.err
    _, traces = recorded(here / "run" / "crag+search")
    assert [passage.id for passage in traces["1"].passages] == ["p"]
    assert traces["2"].passages[0].text == "The Ruvel Bridge was built by Tomas Aldwin."
    assert traces["2"].external[0].text == "The Hohrin Hut was built by Napoleon."


def test_what_is_taken_away_is_asked_again_and_drawn(bench: Callable[..., Any], here: Path) -> None:
    """Each change of each method in a folder of its own; said in words, and asked once."""
    words = ("--method", "crag", "--method", "rag:1", "--without", "grading", "--worse", "lost:1", "--run", "run")
    done = bench(*words, "--figure", "r.svg")
    assert done.code == 0, done.err
    assert "crag − crag without grading" in done.out
    assert "without grading: every passage counts as CORRECT" in done.out
    folders = sorted(path.parent.name for path in (here / "run").glob("*/traces.jsonl"))
    assert folders == ["crag", "crag-lost-1", "crag-without-grading", "rag-1", "rag-1-lost-1"]
    assert ElementTree.fromstring((here / "r.svg").read_text()).tag.endswith("svg")
    before = {path: path.read_bytes() for path in here.glob("run/*/traces.jsonl")}
    assert bench(*words).out == done.out
    assert {path: path.read_bytes() for path in here.glob("run/*/traces.jsonl")} == before


def test_a_picture_that_cannot_be_is_refused_before_a_question_is_asked(bench: Callable[..., Any], here: Path) -> None:
    """By its name, or as one method at a time has its types and actions drawn."""
    assert "r.jpg is none of these" in bench("--run", "run", "--figure", "r.jpg").err
    assert (
        "draws types and actions of one method"
        in bench("--method", "rag", "--method", "none", "--run", "run", "--figure", "r.svg").err
    )
    assert not (here / "run").exists()


def test_official_data_are_counted_by_type_with_what_is_amiss(indexed: Callable[..., Any], here: Path) -> None:
    """A question without gold stays in the denominator, and the report says why it is wrong."""
    rows = [
        {"id": 1, "question": "Who built the Ruvel Bridge?", "possible_answers": '["tomas aldwin"]', "prop": "author"},
        {"id": 2, "question": "In what city does the Ruvel Bridge stand?", "possible_answers": "?"},
    ]
    (here / "pop.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = indexed("lab", "qa", "pop.jsonl", "--run", "run", "--json", "qa.json", "--figure", "types.svg")
    assert (done.code, "data: 1 × no gold answer; whatever is said counts as wrong (2)" in done.err) == (0, True)
    report = json.loads((here / "qa.json").read_text())
    assert (report["format"], report["problems"][0]["where"]) == ("PopQA of Self-RAG", ["2"])
    types = report["tables"]["types"]
    assert [(row["type"], row["right"]["count"], row["right"]["of"]) for row in types] == [
        ("author", 1, 1),
        ("city", 0, 1),
    ]
    assert ElementTree.fromstring((here / "types.svg").read_text()).tag.endswith("svg")
