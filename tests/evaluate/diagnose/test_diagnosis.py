"""From failures to items: what comes first, with which evidence, patch and prediction, in which words."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from evaluations import as_report
from surefoot.config.settings import read
from surefoot.evaluate.diagnose.diagnosis import ScoredRun, as_markdown, diagnose, insight, predicted, tallies
from surefoot.evaluate.diagnose.failures import contexts, failures
from surefoot.evaluate.diagnose.patterns import tail
from surefoot.evaluate.diagnose.remedies import REMEDIES, patches_of
from surefoot.evaluate.diagnose.settings import SystemSettings
from surefoot.evaluate.patch import refused
from surefoot.evaluate.report.form import TEXTS, count_sentences, count_words, violations
from surefoot.judges._diamond import metrics
from surefoot.types import (
    Action,
    Answer,
    Decision,
    Diagnosis,
    Grade,
    Level,
    Metric,
    Passage,
    Record,
    Score,
    Strip,
    Summary,
    Trace,
)

CONFIG: dict[str, Any] = {
    "retriever": {"use": "bm25"},
    "pipeline": {"k": 5},
    "evaluator": {"use": "lexical"},
    "generator": {"use": "llm", "max_tokens": 20},
    "searcher": {"use": "folder", "path": "x.db"},
}


def asked(number: int) -> str:
    return f"Who built bridge number {number} over the Ruvel?"


def missed(number: int) -> Record:
    """Nothing retrieved."""
    return Record(f"m{number}", asked(number), (), "Josef Keld, I think.", (f"Tomas Aldwin {number}",))


def invented(number: int) -> Record:
    """Good contexts and an answer that none of them says."""
    context = Passage(f"p{number}", f"Bridge number {number} over the Ruvel was built by Tomas Aldwin {number}.")
    return Record(f"i{number}", asked(number), (context,), "Zebulon of Atlantis.", (f"Tomas Aldwin {number}",))


def good(number: int) -> Record:
    record = invented(number)
    return replace(record, id=f"g{number}", answer=f"It was Tomas Aldwin {number}.")


def judged(records: Sequence[Record], **values: float) -> list[Score]:
    return [Score(r.id, metric, value, reason="As it is.") for r in records for metric, value in values.items()]


def summary(metric: str, mean: float, scored: int = 10, **other: Any) -> Summary:
    level: Level = "low" if mean < 0.5 else "moderate" if mean < 0.9 else "high"
    known = {"low": mean - 0.05, "high": mean + 0.05, "smallest": 0.2, "largest": 1.0, "least": mean, "most": mean}
    rest = {"unscored": 0, "not_applicable": 0, "level": level, **known, **other}
    return Summary(metric=metric, mean=mean, scored=scored, **rest)


RECORDS = [*map(missed, range(6)), *map(invented, range(10, 13)), *map(good, range(20, 31))]
SCORES = [
    *judged(RECORDS[:6], factuality=0.2, context_recall=0.2, context_relevancy=0.4),
    *judged(RECORDS[6:9], factuality=0.2, context_recall=1.0, context_relevancy=1.0, context_adherence=0.2),
    *judged(RECORDS[9:], factuality=1.0, context_recall=1.0, context_relevancy=1.0, context_adherence=1.0),
]
SUMMARIES = [
    summary("factuality", 0.64, 20),
    summary("context_recall", 0.76, 20),
    summary("context_relevancy", 0.82, 20),
    summary("context_adherence", 0.83, 14, unscored=6, least=0.64, most=0.88),
    summary("f1", 0.41, 20),
]


FOREIGN = "retrieval chunking ranking grounding refusal reading format".split()
"""Stages that are found without a trace."""


@pytest.fixture(scope="module")
def made() -> Diagnosis:
    return diagnose(ScoredRun(RECORDS, SCORES, SUMMARIES, CONFIG))


def test_there_is_an_insight_a_metric_and_a_prioritised_report(made: Diagnosis) -> None:
    """Word overlap supports and gets no insight of its own."""
    assert [i.metric for i in made.insights] == [s.metric for s in SUMMARIES[:4]]
    assert [item.stage for item in made.items] == ["retrieval", "grounding"]
    assert [item.priority for item in made.items] == ["critical", "high"]
    assert made.by == "rules"
    assert violations(as_report(made)) == (), "the validator is the one that a model's report has to pass"


@pytest.mark.parametrize(("records", "summaries"), [([], ()), (RECORDS[:1], ()), (RECORDS[9:], ()), (RECORDS, ())])
def test_little_is_told_in_the_same_form(records: list[Record], summaries: tuple[Summary, ...]) -> None:
    """No record, one, none lost, no metric; with one metric too."""
    for known in (summaries, SUMMARIES[:1], SUMMARIES[:2]):
        made = diagnose(ScoredRun(records, [], known))
        assert violations(as_report(made), min(2, len(records))) == ()
    assert as_markdown(diagnose(ScoredRun(records, [], ())), ())


def test_nothing_is_said_of_answers_that_nobody_judged() -> None:
    """They are in no share and no count; where none was judged the diagnosis says so, in the same form, and no more."""
    waiting = [Record(f"w{n}", "Who?", answer="Aldwin") for n in range(30)]
    nothing = diagnose(ScoredRun(waiting, [Score(one.id, "factuality", None) for one in waiting], []))
    assert nothing.executive_summary_gist.startswith("None of the 30 answers was judged")
    assert "needs work" not in str(nothing)
    assert (nothing.items, violations(as_report(nothing))) == ((), ())
    part = diagnose(ScoredRun([*RECORDS, *waiting], SCORES, SUMMARIES, CONFIG))
    assert part.executive_summary_gist.startswith("9 of 20 judged answers need work")
    assert part.executive_summary.startswith("9 of 20 judged answers need work")
    assert violations(as_report(part)) == ()
    assert "6 of 20 records (30 %" in part.items[0].problem_detection
    fine = diagnose(ScoredRun([*RECORDS[9:], *waiting], SCORES, [], CONFIG))
    assert fine.executive_summary_gist.startswith("None of the 11 judged answers needs work")
    assert violations(as_report(fine)) == ()


def test_a_mean_says_of_how_many_it_is_and_no_gain_is_promised_without_one(made: Diagnosis) -> None:
    """Of the scored ones among those that it applies to."""
    assert (
        "Context Adherence with a mean of 83 % (95 % interval 78 % to 88 %) over 14 of 20 records"
        in made.executive_summary
    )
    assert "Factuality averages 20 % over 6 of these; in all 64 % (95 % interval 59 % to 69 %) over 20 records." in str(
        made.items[0]
    )
    bare = diagnose(ScoredRun(RECORDS, [], [], CONFIG))
    assert bare.items[0].patch
    assert [item.predicted for item in bare.items] == [None] * len(bare.items)


@pytest.mark.parametrize("key", REMEDIES)
def test_every_remedy_makes_an_item_of_the_form(key: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """With metrics and without, for a configuration of ours and of nobody's."""
    stage, kind = key
    found = tuple(replace(f, stage=stage, kind=kind) for f in failures(contexts(RECORDS, SCORES, CONFIG)))
    monkeypatch.setattr("surefoot.evaluate.diagnose.diagnosis.failures", lambda *_: found)
    for config in (CONFIG, {}, {"top_k": 5, "prompt": "Answer."}):
        for known in (SUMMARIES, ()):
            assert violations(as_report(diagnose(ScoredRun(RECORDS, SCORES, known, config)))) == ()


def test_an_item_says_level_cases_cause_settings_gain_and_trade_off(made: Diagnosis) -> None:
    """And one thing beyond the obvious. Another system's settings are told as they are called, and no gain is."""
    theirs = diagnose(ScoredRun(RECORDS, SCORES, SUMMARIES, {"search": {"top_k": 3}})).items[0]
    assert (theirs.patch, theirs.predicted) == ({}, None)
    assert "`search.top_k` (now 3)" in theirs.root_cause_analysis
    item = made.items[0]
    assert "6 of 20 records (30 %, 95 % interval" in item.problem_detection
    assert "Factuality averages 64 %" in item.problem_detection
    assert item.evidence_trace.count("\n- “Who built bridge number") == 4
    assert item.cases == tuple(record.id for record in RECORDS[:6])
    assert "`pipeline.k` (now 5)" in item.root_cause_analysis
    assert "`pipeline.k` from 5 to 10" in item.recommended_protocol
    for part in ("Beyond the obvious:", "The price:", "Expected: Factuality up by about"):
        assert part in item.recommended_protocol
    assert item.patch == {"pipeline": {"k": 10}, "retriever": {"use": "hybrid"}}


def test_the_prediction_is_shrunk(made: Diagnosis) -> None:
    """Half of what was lost comes back, each by what the others are better, as if 20 more had been judged."""
    assert predicted(6, 20, 0.8) == round(0.5 * 6 / 40 * 0.8, 3)
    others = (3 * 0.2 + 11 * 1.0) / 14
    assert made.items[0].metrics[0] == "factuality"
    assert made.items[0].predicted == predicted(6, 20, others - 0.2)


def test_no_gain_is_predicted_that_cannot_be_counted() -> None:
    """Where the lost records, or the others, have no score of the metric, or where the others score no better."""
    lost = [score for score in SCORES if score.record_id.startswith("m")]
    as_low = [replace(score, value=0.2) for score in SCORES if score.metric == "factuality"]
    for scores in ([score for score in SCORES if score not in lost], lost, as_low):
        item = next(
            item for item in diagnose(ScoredRun(RECORDS, scores, SUMMARIES, CONFIG)).items if item.stage == "retrieval"
        )
        assert item.patch
        assert item.predicted is None


def test_a_stage_that_lost_one_record_is_told_only_where_no_other_lost_more() -> None:
    """A single case is no pattern. Records of one group, which are not independent, widen the interval of a share."""
    found = failures(contexts(RECORDS, (), {}))
    apart = tallies(found, RECORDS)[0]
    together = tallies(found, [replace(r, group=str(n // 5)) for n, r in enumerate(RECORDS)])[0]
    assert together.low < apart.low < apart.high < together.high
    assert [i.stage for i in diagnose(ScoredRun([*RECORDS[:3], RECORDS[6]], (), ())).items] == ["retrieval"]
    lone = [RECORDS[6], RECORDS[9]]
    assert [i.stage for i in diagnose(ScoredRun(lone, judged(lone, context_adherence=0.1), ())).items] == ["grounding"]


def test_answers_that_are_wrong_come_before_more_of_them_that_are_badly_put() -> None:
    """However many a metric of form loses, its answers are right: it is last, of medium priority, and not what is
    summed up."""
    tone = Metric("tone", ("question", "answer"), ("answer",), "Is it polite?")
    records = [invented(1), invented(2), *(good(n) for n in range(3, 8))]
    scores = [*judged(records[:2], context_adherence=0.1), *judged(records[2:], factuality=1.0, tone=0.2)]
    made = diagnose(ScoredRun(records, scores, (), metrics={**metrics(), "tone": tone}))
    assert [(item.stage, item.priority) for item in made.items] == [("grounding", "critical"), ("format", "medium")]
    assert "for 2 of them the generator left its sources" in made.executive_summary_gist


def test_what_cannot_be_decided_is_counted_and_not_called_good() -> None:
    """In the summary and its gist, with lost answers and without."""
    unknown = [replace(good(n), truths=()) for n in range(4)]
    for records in (unknown, [*unknown, invented(9)]):
        made = diagnose(ScoredRun(records, judged(unknown, answer_relevancy=0.3), ()))
        assert "4 are undecided" in made.executive_summary
        assert re.search(r"\b4 (?:of them are )?undecided", made.executive_summary_gist)
        assert violations(as_report(made), 1) == ()


def server(n: int, *, low: bool, **other: Any) -> Record:
    """A question about a port or a colour, its reference answer and what was read for it."""
    thing = "port" if low else f"colour{n}"
    source = Passage(f"p{n}", "It is old.", title="ports.html" if low else f"page {n}")
    return Record(f"q{n:02}", f"Which {thing} of server {n}?", (source,), f"It has {n}.", (f"Blue rpm {n}.",), **other)


def told_of(records: Sequence[Record], **values: Callable[[int], float]) -> str:
    """The insight into the first of the metrics."""
    scores = [Score(r.id, metric, of(n)) for metric, of in values.items() for n, r in enumerate(records)]
    known = [summary(metric, 0.5) for metric in values]
    return insight(ScoredRun(records, scores, known, {}), known[0]).text


def test_an_insight_tells_what_the_low_scored_records_share_and_others_have_less() -> None:
    """A word of the questions, a source, a tag; the words that are missing; each with its counts."""
    records = [server(n, low=n < 6, tags={"domain": "law" if n < 6 else "food"}) for n in range(20)]
    told = told_of(records, factuality=lambda n: 0.1 if n < 6 else 0.9)
    assert "6 of 20 score 50 % or less; the lowest, 10 %, is “Which port of server 0?”." in told
    assert "Words of the reference that the answer lacks most often in these 6: “blue” (6), “rpm” (6)." in told
    assert "6 of these 6 have the domain “law”, and 0 of the 14 others." in told
    assert "“ports.html” is among the contexts of 6 of these 6, and of 0 of the 14 others." in told


def test_an_insight_tells_nothing_that_may_be_an_accident() -> None:
    """Two low-scored records that share a word, or traits that all records have, are no pattern."""
    for count in (2, 20):
        records = [server(n, low=n < count, tags={"domain": "law"}) for n in range(20)]
        told = told_of(records, answer_relevancy=lambda n: 0.1 if n < count else 0.9)  # noqa: B023
        assert "of these" not in told
        assert "others" not in told


def test_a_missing_word_is_named_only_where_a_tenth_of_the_low_scored_records_lack_it() -> None:
    """Two of twenty, and not two of thirty."""
    for count, told in ((20, True), (30, False)):
        records = [replace(server(n, low=False), truths=(f"w{n // 2}",)) for n in range(count)]
        assert ("that the answer lacks" in told_of(records, factuality=lambda n: 0.1)) is told


def test_an_insight_tells_retrieval_from_generation_by_counts() -> None:
    """Of the low-scored answers: how many had good contexts, and how many bad ones."""
    records = [server(n, low=True) for n in range(4)]
    told = told_of(records, factuality=lambda n: 0.1, context_recall=lambda n: 0.2 if n else 0.8)
    assert (
        "Of these 4, 1 had contexts with a Context Recall of 70 % or more, which points to generation, and 3 " in told
    )
    alone = told_of(records, context_recall=lambda n: 0.2 if n else 0.8)
    assert "generation" not in alone


def test_a_high_metric_has_its_figures_and_no_advice() -> None:
    """And a sentence on what could not be scored."""
    known = summary("factuality", 0.95, unscored=3, least=0.2, most=0.9)
    told = insight(ScoredRun(RECORDS[:2], judged(RECORDS[:2], factuality=0.95), [known], {}), known)
    assert (told.level, told.by) == (known.level, "rules")
    assert count_sentences(told.text) == 2
    assert "3 more could not be scored, so that the mean of all lies between 20 % and 90 %." in told.text


def test_the_chance_of_an_uneven_spread_is_fishers() -> None:
    """Three of three marked, of ten with three marked: one in 120."""
    assert tail(3, 3, 3, 10) == pytest.approx(1 / 120)
    assert tail(0, 3, 3, 10) == pytest.approx(1)


def test_the_gist_names_only_what_there_is_to_go_by() -> None:
    """Reference answers and traces where there are some."""
    bare = [Record(f"r{n}", f"Who built {n}?", (Passage("p", "Of iron."),), "Aldwin did.") for n in range(3)]
    told = diagnose(ScoredRun(bare, judged(bare, context_adherence=0.1), ())).executive_summary_gist
    assert "as the scores alone show, for there are neither reference answers nor traces" in told
    assert 40 <= count_words(told) <= 50


def test_the_gist_ends_in_what_only_this_run_can_say(made: Diagnosis) -> None:
    """How many answers the first stage and the next one lost; where none is lost, how many of many still may be."""
    both = "Start with the retrieval stage, which could bring back up to 6 answers; the next stage, grounding, lost 3."
    assert made.executive_summary_gist.endswith(both)
    alone = diagnose(ScoredRun(RECORDS[:6], SCORES, (), CONFIG)).executive_summary_gist
    assert alone.endswith("up to 6 answers; no other stage lost any.")
    assert "up to 26 % of such answers" in diagnose(ScoredRun(RECORDS[9:], SCORES, (), CONFIG)).executive_summary_gist


@pytest.mark.parametrize("key", [key for key in REMEDIES if key[0] in FOREIGN])
def test_a_remedy_of_a_system_that_is_not_ours_names_no_part_of_ours(key: tuple[str, str]) -> None:
    """Without a trace there is no evaluator that could be read of, no command and no withheld answer."""
    assert not re.search(r"evaluator|grade[ds]|`|withh", str(replace(REMEDIES[key], settings=())))


@pytest.mark.parametrize(("decides", "verdict"), [(True, "lost"), (False, "right")])
def test_a_low_score_loses_a_record_only_by_a_metric_that_decides(decides: bool, verdict: str) -> None:
    """One of somebody's own does; one that stands beside the six does not."""
    tone = Metric("tone", ("question", "answer"), ("answer",), "Is it polite?", decides=decides)
    record = replace(good(1), truths=())
    scores = judged([record], context_adherence=0.9, tone=0.1)
    (case,) = contexts([record], scores, {}, metrics={**metrics(), "tone": tone})
    assert case.verdict == verdict


def test_a_refusal_is_right_where_nothing_answers_the_question() -> None:
    """Any answer to it is lost: it was made up."""
    nothing = [
        Record("refused", "Who founded it?", (), "I do not know.", answerable=False),
        Record("answered", "Who founded it?", (), "Aldwin did, in 1997.", answerable=False),
    ]
    cases = contexts(nothing, judged(nothing, context_relevancy=0.9), {})
    assert [case.verdict for case in cases] == ["right", "lost"]
    (failure,) = failures(cases)
    assert (failure.record_id, failure.stage, failure.kind) == ("answered", "grounding", "unanswerable")
    assert "nothing answers the question, by its data" in failure.evidence


def test_the_page_has_the_metrics_the_items_and_their_patches(made: Diagnosis) -> None:
    """And why a model's report was dropped."""
    page = as_markdown(replace(made, fallback="the model was down"), SUMMARIES)
    assert "| Factuality | 64 % | 59 % to 69 % | 20 | 0 | moderate |" in page
    assert '[pipeline]\nk = 10\n[retriever]\nuse = "hybrid"\n```' in page
    assert "## 1. Retrieve the passage that answers (critical)" in page
    assert "By rules: the model was down." in page


def test_nothing_that_a_record_or_a_model_says_is_markup_of_the_page(made: Diagnosis) -> None:
    """No HTML, no picture that is loaded, no link, no fence, no character that steers a terminal; lists stay lists."""
    evil = "<img src=x onerror=alert(1)> ![p](http://evil.example/p.png)\n```\n- x\x1b\u202e&lt;"
    item = replace(made.items[0], **dict.fromkeys(TEXTS, evil), patch={"retriever": {"use": 'a"\n```\n<b>'}})
    insights = tuple(replace(one, text=evil) for one in made.insights)
    summed = dict.fromkeys(("executive_summary", "strategic_conclusion", "by", "fallback"), evil)
    told = replace(made, items=(item,), insights=insights, **summed)
    page = as_markdown(told, SUMMARIES)
    assert re.findall("^```.*", page, re.MULTILINE) == ["```toml", "```"]
    outside = re.sub("```toml.*?\n```", "", page, flags=re.DOTALL)
    assert not re.search(r"<|(?<!\\)[\[\]]|[\x1b\u202e]", outside)
    assert "\n- x" in page
    assert "&amp;lt;" in page


# Patches


def traced(score: float, good: bool, strip: float | None = None) -> Record:
    passage = Passage("p", f"The Ruvel Bridge was built by {'Tomas Aldwin' if good else 'masons'}.", "Ruvel Bridge")
    strips = (Strip("p", 0, 9, passage.text, strip, kept=False, reason="low"),) if strip is not None else ()
    grade, decision = Grade("p", score, label=Action.INCORRECT), Decision(Action.INCORRECT, "threshold", 9, 9, "")
    refusal = Answer("", refused=True)
    trace = Trace("t", "Who built the Ruvel Bridge?", (passage,), (grade,), decision, strips=strips, answer=refusal)
    return Record(f"{score}{good}", trace.question, (), "", ("Tomas Aldwin",), trace=trace)


@pytest.mark.parametrize("key", REMEDIES)
@pytest.mark.parametrize("use", [{}, {"generator": {"use": "extractive"}}, {"searcher": {"use": "nowhere"}}])
def test_every_patch_holds_only_settings_that_exist(key: tuple[str, str], use: dict[str, Any]) -> None:
    """It applies to the configuration, and changes something of it."""
    config = read({**CONFIG, **use})
    for patch in patches_of(*key, config, [traced(0.3, good=True, strip=0.2), traced(0.1, good=False)]):
        assert refused(patch, config, outside=True) == ""
        assert all(config[section].get(name) != value for section, of in patch.items() for name, value in of.items())
        read(config, patch)


def test_fitted_thresholds_lie_below_the_evidence_and_above_the_rest() -> None:
    """Scores that are tied at a threshold stay on their side."""
    records = [traced(0.6667, good=True) for _ in range(9)] + [traced(0.4444, good=False) for _ in range(9)]
    assert patches_of("thresholds", "strict", CONFIG, records)[0] == {"thresholds": {"upper": 0.45, "lower": 0.45}}
    overlapping = [traced(score, good=True) for score in (0.3, 0.5555, 0.8)] + [traced(0.4444, good=False)]
    assert patches_of("thresholds", "lax", CONFIG, overlapping)[0] == {"thresholds": {"upper": 0.45, "lower": 0.32}}


@pytest.mark.parametrize("key", REMEDIES)
@pytest.mark.parametrize("use", ["surefoot.retrievers._given:Given", "surefoot.retrievers.bm25:Bm25", "pgvector"])
def test_no_other_retriever_is_proposed_where_its_texts_are_not_the_indexs(key: tuple[str, str], use: str) -> None:
    """Those that come with the questions, and those of a retriever of one's own; a longer list is still proposed."""
    config = read(CONFIG, {"retriever": {"use": use}})
    patches = patches_of(*key, config, [traced(0.3, good=True, strip=0.2)])
    assert not any("retriever" in patch for patch in patches)
    assert any("pipeline" in patch for patch in patches) or key[0] != "retrieval"


ALONE = {"searcher": {"use": "nowhere"}, "network": {"allow": []}}
EXTRACTIVE = {"generator": {"use": "extractive"}}


@pytest.mark.parametrize(
    ("fault", "config", "patch"),
    [
        ("thresholds strict", {"thresholds": {"preset": "popqa"}}, {}),
        ("grading strict", {}, {"evaluator": {"use": "minilm"}}),
        ("grading strict", {"thresholds": {"upper": 1}}, {"thresholds": {"upper": 0.3, "lower": 0.3}}),
        ("search off", ALONE, {}),
        ("search off", ALONE | {"network": {"allow": ["*"]}}, {"searcher": {"use": "wikipedia"}}),
        ("refinement dropped", {"refiner": {"use": "whole"}}, {}),
        ("refinement dropped", {"refiner": {"use": "strips", "mode": "selection"}}, {}),
        ("reading wrong", EXTRACTIVE | {"refiner": {"mode": "selection"}}, {"refiner": {"mode": "sentences"}}),
        ("reading wrong", EXTRACTIVE | {"refiner": {"use": "whole"}}, {"refiner": {"use": "strips"}}),
        ("reading wrong", EXTRACTIVE | {"refiner": {"mode": "sentences"}}, {"refiner": {"best": 2}}),
    ],
)
def test_a_patch_is_one_that_the_configuration_leaves_a_meaning(fault: str, config: Any, patch: Any) -> None:
    """None beside a preset, no other evaluator beside thresholds by hand, none for a search where the machine may ask
    nobody, nor what is set already. Who is misled by whole passages is given sentences, and then fewer of them."""
    stage, kind = fault.split()
    found = patches_of(stage, kind, {**CONFIG, **config}, [traced(0.3, good=True)])
    assert next(iter(found), {}) == patch


def test_the_value_that_holds_is_told_be_it_a_default() -> None:
    """Of the pipeline, and of the component that is configured."""
    keys = "pipeline.k", "pipeline.rounds", "refiner.best", "refiner.size", "searcher.use", "nothing.here"
    assert [*map(SystemSettings(CONFIG).now, keys)] == [5, 2, None, 3, "folder", None]
