"""The metric diamond as data: what each metric sees, its levels, and what it lacks in a record."""

from __future__ import annotations

from dataclasses import replace

import pytest

from surefoot.judges._diamond import lacking, metric, metrics, recorded, title
from surefoot.run.store import to_json
from surefoot.types import Metric, Passage, Record
from surefoot.types.errors import TraceFault

WHOLE = Record("1", "Who built it?", (Passage("a", "Tomas Aldwin built it."),), "Tomas Aldwin", ("Tomas Aldwin",))


@pytest.mark.parametrize(
    ("name", "edge", "sees", "rules"),
    [
        ("answer_relevancy", "question answer", "question answer", ["whether the answer is true is not your concern"]),
        ("context_relevancy", "question context", "question contexts", ["in the middle", "say so", "not possible"]),
        ("context_adherence", "context answer", "contexts answer", ["every piece"]),
        ("factuality", "truth answer", "question truths answer", ["further text"]),
        ("context_recall", "truth context", "question truths contexts", ["into its facts", "does not matter"]),
        ("grading_note", "question answer", "question note answer", ["by the note alone"]),
    ],
)
def test_a_metric_declares_its_edge_its_inputs_its_levels_and_its_rule(
    name: str, edge: str, sees: str, rules: list[str]
) -> None:
    """As the paper has them. What is seen is in a record; nothing retrieved and nothing answered are known."""
    metric = metrics()[name]
    assert (metric.edge, metric.key, metric.sees) == (tuple(edge.split()), f"{name}_score", tuple(sees.split()))
    assert len(set(metric.levels)) == 5
    assert all(rule in metric.special.lower() for rule in rules)
    assert ("gets 5" in metric.abstention) == (name == "grading_note")
    assert lacking(metric, WHOLE) == lacking(metric, replace(WHOLE, contexts=(), answer="")) == ""


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
