"""The metric diamond as data: what each metric sees, its levels, and what it lacks in a record."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from surefoot.judges._diamond import lacking, metric, metrics, recorded, title
from surefoot.run.store import to_json
from surefoot.types import Metric, Passage, Record
from surefoot.types.errors import TraceFault

WHOLE = Record("1", "Who built it?", (Passage("a", "Tomas Aldwin built it."),), "Tomas Aldwin", ("Tomas Aldwin",))


def sees(name: str, edge: tuple[str, str], key: str, *inputs: str) -> Metric:
    """The metric, after a look at what every metric has."""
    metric = metrics()[name]
    assert (metric.edge, metric.key, set(metric.sees)) == (edge, key, set(inputs))
    assert len(metric.levels) == 5 == len(set(metric.levels))
    return metric


def test_answer_relevancy_is_judged_from_question_and_answer() -> None:
    """From meeting the whole need down to being about something else."""
    metric = sees("answer_relevancy", ("question", "answer"), "answer_relevancy_score", "question", "answer")
    assert "whole need" in metric.levels[0]
    assert "something else" in metric.levels[-1]


def test_context_relevancy_is_judged_from_question_and_context_and_cut_text_lowers_it() -> None:
    """And that something is not possible is valid information."""
    metric = sees("context_relevancy", ("question", "context"), "context_relevancy_score", "question", "contexts")
    assert "in the middle" in metric.special
    assert "say so" in metric.special
    assert "not possible" in metric.special


def test_context_adherence_is_judged_from_context_and_answer_piece_by_piece() -> None:
    """The question is not shown."""
    metric = sees("context_adherence", ("context", "answer"), "context_adherence_score", "contexts", "answer")
    assert "every piece" in metric.special


def test_factuality_is_judged_from_question_truth_and_answer() -> None:
    """Further text counts only where it keeps the user from what was asked for."""
    metric = sees("factuality", ("truth", "answer"), "factuality_score", "question", "truths", "answer")
    assert "Further text" in metric.special


def test_context_recall_is_judged_from_question_truth_and_context_fact_by_fact() -> None:
    """What else the context holds is ignored."""
    metric = sees("context_recall", ("truth", "context"), "context_recall_score", "question", "truths", "contexts")
    assert "into its facts" in metric.special
    assert "does not matter" in metric.special


def test_the_grading_note_is_judged_from_question_note_and_answer() -> None:
    """Its rule for answers that say that the context lacks it stands apart, so that it can be left out."""
    metric = sees("grading_note", ("question", "answer"), "grading_note_score", "question", "note", "answer")
    assert "gets 5" in metric.abstention
    assert "gets 5" not in metric.special


def test_a_run_describes_the_metrics_of_others() -> None:
    """They come behind the built-in ones, whose words nobody can change."""
    charm = Metric("charm", ("question", "answer"), ("question", "answer"), "Is it charming?")
    known = recorded({"metrics": {"charm": to_json(charm), "factuality": to_json(replace(charm, name="factuality"))}})
    assert [*known] == [*metrics(), "charm"]
    assert known["factuality"] is metrics()["factuality"]
    assert (title("charm", known), title("charm"), title("context_recall")) == ("Charm", "charm", "Context Recall")
    for damaged in ("charm", {"charm": 7}, {"charm": {"name": "charm"}}):
        with pytest.raises(TraceFault):
            recorded({"metrics": damaged})


def test_a_judge_may_declare_no_metric() -> None:
    """`llm` judges any; a judge that there is not declares none either."""
    assert [metric(name) for name in ("llm", "nobody")] == [None, None]
    assert metric("surefoot.judges.factuality:Factuality") is metrics()["factuality"]


def test_only_one_metric_has_a_rule_to_switch() -> None:
    """The others are judged by their levels alone."""
    assert [name for name, metric in metrics().items() if metric.abstention] == ["grading_note"]


@pytest.mark.parametrize("metric", metrics().values(), ids=metrics())
def test_what_a_metric_sees_is_in_a_record(metric: Metric) -> None:
    """By the names of its fields; and a whole record lacks nothing."""
    assert set(metric.sees) <= {field.name for field in fields(Record)}
    assert lacking(metric, WHOLE) == ""


@pytest.mark.parametrize("metric", metrics().values(), ids=metrics())
@pytest.mark.parametrize(
    ("missing", "said"),
    [({"answer": None}, "no answer"), ({"contexts": None}, "retrieved"), ({"truths": ()}, "no ground truth")],
)
def test_a_metric_applies_where_the_record_has_what_it_sees(
    metric: Metric, missing: dict[str, object], said: str
) -> None:
    """Without a ground truth, factuality and context recall do not apply; nor do others without their inputs."""
    why = lacking(metric, replace(WHOLE, **missing))  # type: ignore[arg-type]
    assert bool(why) == (next(iter(missing)) in metric.sees)
    assert said in why or not why


@pytest.mark.parametrize("metric", metrics().values(), ids=metrics())
def test_nothing_retrieved_and_nothing_answered_can_be_judged(metric: Metric) -> None:
    """They are known, unlike what was not recorded."""
    assert lacking(metric, replace(WHOLE, contexts=(), answer="")) == ""
