"""The stage that lost a record: one truth a stage, told by whatever there is: traces, contexts, or scores alone."""

from dataclasses import replace
from typing import Any

import pytest

from surefoot.embedders.hashing import Hashing
from surefoot.evaluate.diagnose.evidence import (
    bears,
    bears_out,
    declines,
    ended,
    held_by,
    holds,
    torn,
)
from surefoot.evaluate.diagnose.failures import contexts, failures
from surefoot.evaluate.diagnose.record_context import RecordContext
from surefoot.evaluate.diagnose.verdicts import calibrated
from surefoot.evaluate.records.folder import Evaluated
from surefoot.evaluate.score.calibration import Calibration, Cuts
from surefoot.evaluate.score.labels import ANSWER, Label
from surefoot.index.build import build
from surefoot.index.search import Index
from surefoot.stats.figures import Figure
from surefoot.types import Action, Answer, Decision, Grade, Passage, Record, Score, Step, Strip, Trace

QUESTION, TRUTH = "Who built the Ruvel Bridge?", "Tomas Aldwin"
GOOD = Passage("good", "The Ruvel Bridge is of iron. It was built by Tomas Aldwin in 1911.", "Ruvel Bridge")
POOR = tuple(Passage(f"poor{n}", f"Boil {n} dumplings until they float.", "Dumplings") for n in range(1, 6))
OUTSIDE = Passage("out", "Dumplings of the world, told.", "Almanac", "external")
FOLDER = {"searcher": {"use": "folder"}}


def traced(
    *passages: Passage,
    strips: tuple[Strip, ...] = (),
    said: Answer | None = None,
    labels: dict[str, Action] | None = None,
    scores: dict[str, float | None] | None = None,
    action: Action = Action.INCORRECT,
    **more: Any,
) -> Record:
    grades = tuple(
        Grade(p.id, (scores or {}).get(p.id, 0.1), label=(labels or {}).get(p.id, Action.INCORRECT)) for p in passages
    )
    decision = Decision(action, "threshold", 0.7, 0.4, "best", 0.1)
    answer = said or Answer("I cannot answer this.", refused=True)
    trace = Trace("t", QUESTION, passages, grades, decision, strips=strips, answer=answer, **more)
    return Record("r", QUESTION, None, answer.text, (TRUTH,), trace=trace)


def strip(passage: Passage, text: str = "", kept: bool = True, reason: str = "", score: float | None = 0.3) -> Strip:
    return Strip(passage.id, 0, len(text or passage.text), text or passage.text, score, kept, reason)


def bare(answer: str, *contexts: Passage) -> Record:
    return Record("r", QUESTION, contexts, answer, (TRUTH,))


def stage(record: Record, config: dict[str, Any] | None = None, *scores: Score) -> tuple[str, str] | None:
    found = failures(contexts([record], scores, config or {}))
    return (found[0].stage, found[0].kind) if found else None


def scored(**values: float) -> list[Score]:
    return [Score("r", metric, value) for metric, value in values.items()]


def useful(*more: Passage, **parts: Any) -> Record:
    """A record whose good passage passed the grading."""
    return traced(GOOD, *more, labels={"good": Action.CORRECT}, action=Action.CORRECT, **parts)


# With a trace


def read_by(said: str | Answer) -> Record:
    """A record whose good passage was read, and this answer."""
    return useful(strips=(strip(GOOD),), said=Answer(said) if isinstance(said, str) else said)


def plain(record: Record) -> Record:
    """The same record of a method that grades nothing."""
    return replace(record, trace=replace(record.trace, grades=(), decision=None))


CUT_OFF = Step("generate", 0.1, degraded="cut off after 6 tokens; raise generator.max_tokens")
HALVES = (strip(GOOD, "The Ruvel Bridge is of iron."), strip(GOOD, "It was built by Tomas"))
TORN = Passage("a", "The bridge was built by Tomas"), Passage("b", "Aldwin in 1911.", start=30)
UNSAID = Answer("", refused=True, withheld="The sources do not mention it.")


@pytest.mark.parametrize(
    ("record", "config", "values", "named"),
    [
        (read_by("It was Tomas Aldwin."), {}, {}, None),
        (read_by("It was Tomas Aldwin."), {}, {"factuality": 0.2}, "reading wrong"),
        (traced(), FOLDER, {}, "retrieval miss"),
        (traced(*POOR[:1]), FOLDER, {}, "retrieval miss"),
        (traced(*POOR), {}, {}, "search off"),
        (traced(*POOR, external=(OUTSIDE,)), FOLDER, {}, "search nothing"),
        (traced(*POOR, steps=(Step("search", 0.1, error="down"),)), FOLDER, {}, "search failed"),
        (traced(GOOD, *POOR, scores={"good": 0.3}), {}, {}, "thresholds strict"),
        (traced(GOOD, *POOR, scores={"good": 0.05}), {}, {}, "grading strict"),
        (traced(GOOD, scores={"good": None}), {}, {}, "grading ungraded"),
        (useful(strips=(strip(GOOD, kept=False, reason="0.30 < 0.50"),)), {}, {}, "refinement dropped"),
        (useful(strips=HALVES), {}, {}, "refinement cut"),
        (useful(strips=(strip(GOOD, kept=False, reason="not among the best 5"),)), {}, {}, "ranking late"),
        (plain(traced(*POOR, GOOD, strips=(strip(POOR[0]),), said=Answer("Boil 1"))), {}, {}, "ranking late"),
        (replace(useful(strips=(strip(GOOD),)), contexts=()), {}, {}, "truncation sources"),
        (useful(strips=(strip(GOOD),)), {}, {}, "refusal silent"),
        (read_by(UNSAID), {}, {}, "refusal silent"),
        (useful(strips=(strip(GOOD),), said=Answer("It was built by"), steps=(CUT_OFF,)), {}, {}, "truncation answer"),
        (bare("The bridge was built by", GOOD), {}, {}, "truncation answer"),
        (bare("Ruvel, the iron bridge over water that many know and few cross, is", GOOD), {}, {}, "truncation answer"),
        (read_by("It was built by"), {}, {}, "reading wrong"),  # a quotation may end anywhere
        (read_by("It was built in 1911."), {}, {}, "reading wrong"),
        (replace(useful(), trace=Trace("t", QUESTION, error="EndpointError: down")), {}, {}, "error failed"),
        (useful(steps=(Step("retrieve", 0.1, error="the model is missing"),)), {}, {}, "error failed"),
        (useful(steps=(Step("generate", 0.1, error="the model is missing"),)), {}, {}, "error failed"),
        (bare("Josef Keld", *POOR), {}, {}, "retrieval miss"),
        (bare("Josef Keld of Atlantis.", GOOD), {}, {"context_adherence": 0.1}, "grounding invented"),
        (bare("Josef Keld of Atlantis.", GOOD), {}, {}, "reading wrong"),
        (bare("It was built in 1911.", GOOD), {}, {}, "reading wrong"),
        (bare("I do not know.", GOOD), {}, {}, "refusal silent"),
        (bare("Built in 1911, of iron.", *POOR, GOOD), {}, {}, "ranking late"),
        (bare("nobody", *TORN), {}, {}, "chunking split"),
        (
            bare("Somebody else.", Passage("p", "T. Aldwyn was its builder.")),
            {},
            {"context_recall": 1.0, "context_adherence": 0.2},
            "grounding invented",
        ),
    ],
)
def test_the_first_stage_that_lost_the_evidence_is_named(
    record: Record, config: dict[str, Any], values: dict[str, float], named: str | None
) -> None:
    """With a trace and without; a judge that finds the facts outvotes the words."""
    found = stage(record, config, *scored(**values))
    assert (" ".join(found) if found else None) == named


def test_evidence_that_nobody_retrieved_is_a_retrieval_miss_where_others_saw_it() -> None:
    """Another question of the run retrieved the passage, so the corpus holds it, or whoever knows the corpus says so.
    One that lacks it makes it a missing search, however few were retrieved."""
    assert failures(contexts([traced(*POOR)], (), {}, lambda record: True))[0].stage == "retrieval"
    assert failures(contexts([traced(*POOR[:1])], (), {}, lambda record: False))[0].stage == "search"
    other = replace(useful(strips=(strip(GOOD),), said=Answer("Tomas Aldwin")), id="other")
    found = failures(contexts([traced(*POOR), other], (), FOLDER))
    assert [(f.record_id, f.stage) for f in found] == [("r", "retrieval")]
    assert "though the corpus holds it" in found[0].evidence


def test_a_strip_that_was_read_had_room_though_what_is_asked_about_stands_elsewhere() -> None:
    """The strip names neither the bridge nor who built it; its passage does."""
    words = "He was Tomas Aldwin, no Josef Keld."
    passage = Passage("good", f"The Ruvel Bridge was built in 1911. {words}")
    found = traced(
        passage, strips=(strip(passage, words),), labels={"good": Action.CORRECT}, said=Answer("Josef Keld.")
    )
    assert stage(replace(found, contexts=(Passage("good", words),))) == ("reading", "wrong")
    assert stage(replace(found, contexts=())) == ("truncation", "sources")


def test_a_withheld_answer_that_no_source_says_is_not_grounded() -> None:
    """The pipeline refused for the model."""
    said = Answer("", refused=True, withheld="Zebulon of Atlantis built it in gold.")
    record = useful(strips=(strip(GOOD),), said=said)
    assert stage(record, {}, *scored(context_adherence=0.1)) == ("grounding", "invented")
    assert "was withheld" in failures(contexts([record], (), {}))[0].evidence


def test_a_refusal_whose_answer_cannot_be_looked_up_is_told_by_its_trace() -> None:
    """Nothing retrieved, nothing searched, nothing found outside, or a strip kept and not used."""
    unknown = [replace(r, truths=("Yes.",)) for r in (traced(), traced(*POOR), useful(strips=(strip(GOOD),)))]
    assert [stage(record) for record in unknown] == [("retrieval", "miss"), ("search", "off"), ("refusal", "silent")]
    assert stage(unknown[1], FOLDER) == ("search", "nothing")
    assert stage(unknown[1], {}, *scored(context_relevancy=0.0)) == ("search", "off"), "nothing was read to be relevant"


def test_a_refusal_without_a_reference_is_no_loss_unless_its_contexts_answer() -> None:
    """Nobody knows if there was something to say."""
    refusals = [replace(r, truths=()) for r in (traced(), traced(*POOR), useful(strips=(strip(GOOD),)))]
    assert [contexts([record], (), {})[0].verdict for record in refusals] == ["undecided"] * 3
    assert stage(refusals[2], {}, *scored(context_relevancy=0.8)) == ("refusal", "silent")


# Without one


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"context_relevancy": 0.8, "context_adherence": 0.2}, "grounding"),
        ({"context_recall": 0.2, "context_adherence": 0.2}, "retrieval"),
        ({"context_relevancy": 0.2, "answer_relevancy": 0.2}, "retrieval"),
        ({"context_recall": 0.8, "factuality": 0.4, "context_adherence": 1.0}, "reading"),
        ({"factuality": 1.0, "context_adherence": 0.2, "answer_relevancy": 0.2}, ""),
        ({"answer_relevancy": 0.4, "context_relevancy": 0.8}, "reading"),
        ({"context_recall": 0.8, "factuality": 0.8}, ""),
        ({}, ""),
    ],
)
def test_signatures_of_scores_alone(values: dict[str, float], named: str) -> None:
    """High relevancy beside low adherence is grounding, low recall is retrieval, and the rest in their order. Where the
    answer is right, or nothing is known, nothing failed."""
    scores = [replace(score, rating=round(5 * (score.value or 0))) for score in scored(**values)]
    found = failures(contexts([Record("r", QUESTION, answer="Aldwin built it.")], scores, {}))
    assert [failure.stage for failure in found] == ([named] if named else [])


# What it goes by


def test_a_short_fact_stands_word_by_word_and_a_long_one_by_most_of_its_words() -> None:
    """With all its numbers."""
    long = "The bridge over the gorge was finished by forty masons in 1911"
    assert holds("Tomas Aldwin's work", [TRUTH])
    assert not holds("Aldwin, Tomas", [TRUTH])
    assert holds("In 1911 forty masons finished the bridge at the gorge.", [long])
    assert not holds("In 1912 forty masons finished the bridge at the gorge.", [long])


def test_the_corpus_holds_it_only_in_a_passage_that_names_what_is_asked_about() -> None:
    """Somebody else was born in the same city. What holds the year and not the bridge bears nothing at all."""
    assert bears("When was the Ruvel Bridge built?", GOOD, ["1911"])
    assert not bears("When was the Ruvel Bridge built?", Passage("p", "In 1911 the hut burnt down."), ["1911"])
    passage = Passage("p", "Ada Keld was born in the city of Torvath.")
    assert bears("In what city was Rosa Quillen born?", passage, ["Torvath"])
    assert not bears_out("In what city was Rosa Quillen born?", passage, ["Torvath"])
    assert bears_out("In what city was Ada Keld born?", passage, ["Torvath"])


def test_an_index_is_looked_through_for_the_reference(tmp_path: Any) -> None:
    """Whether the corpus holds it is known then, but for a bare yes."""
    (tmp_path / "a.md").write_text(f"# Ruvel Bridge\n\n{GOOD.text}\n", encoding="utf-8")
    build([tmp_path / "a.md"], tmp_path / "index.db", Hashing())
    with Index.open(tmp_path / "index.db") as index:
        found = held_by(index)
        assert found(bare("", *POOR)) is True
        assert found(Record("r", QUESTION, truths=("Josef Keld",))) is False
        assert found(Record("r", QUESTION, truths=("yes",))) is None


def test_a_long_answer_may_say_what_its_sources_lack() -> None:
    """Only one that begins so is a refusal, or a short one, whatever its words."""
    assert all(map(declines, ("I don't know.", "", "The context does not mention it.", "Not found.", "I cannot say.")))
    rest = "word " * 40
    assert not declines(f"Tomas Aldwin built it. {rest}. The sources do not mention when.")
    assert declines(f"I do not know who built it. {rest}.")


def test_a_right_answer_in_the_words_of_a_refusal_is_right() -> None:
    """Where it was given, and not withheld."""
    words = "No information says otherwise: Tomas Aldwin."
    assert stage(bare(words, GOOD)) is None
    assert stage(useful(strips=(strip(GOOD),), said=Answer("", refused=True, withheld="Tomas Aldwin.")))


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ({"context_adherence": 0.4}, "lost"),
        ({"context_adherence": 0.5, "answer_relevancy": 0.9}, "undecided"),
        ({"context_adherence": 0.7, "answer_relevancy": 0.1, "context_relevancy": 0.1}, "right"),
        ({"answer_relevancy": 0.1}, "undecided"),
        ({"answer_relevancy": 0.9}, "undecided"),
        ({}, "undecided"),
    ],
)
def test_without_a_reference_only_judges_that_can_tell_decide(values: dict[str, float], verdict: str) -> None:
    """Those of this machine that go by wording are silent, high or low; a language model's ratings are not."""
    record = Record("r", QUESTION, (GOOD,), "Aldwin built it.")
    assert contexts([record], scored(**values), {})[0].verdict == verdict
    low = [Score("r", "answer_relevancy", 0.2, rating=1)]
    assert contexts([record], low, {})[0].verdict == "lost"


@pytest.mark.parametrize(("relevancy", "named"), [(0.3, "grounding"), (0.1, "retrieval")])
def test_a_judge_that_goes_by_wording_blames_retrieval_only_where_it_is_sure(relevancy: float, named: str) -> None:
    """A language model's rating of 2 does, and its own score only far below."""
    record = Record("r", QUESTION, (GOOD,), "Zebulon built it.")
    low = scored(context_relevancy=relevancy, context_adherence=0.2)
    assert failures(contexts([record], low, {}))[0].stage == named
    rated = [replace(low[0], value=0.4, rating=2), low[1]]
    assert failures(contexts([record], rated, {}))[0].stage == "retrieval"


def fitted_cuts(metric: str, cuts: Cuts) -> tuple[Calibration, ...]:
    return (Calibration(metric, "", 50, 20, Figure(0.9, 0.8, 1.0, 50), cuts),)


def test_calibrated_cuts_decide_in_place_of_the_shipped_ones() -> None:
    """What is lost, what is right, and what is low; between the cuts it is undecided, also beside a reference."""
    record = Record("r", QUESTION, (GOOD,), "Zebulon built it.")
    known = fitted_cuts("context_adherence", Cuts(0.7, 0.8, 0.75))

    def case(value: float) -> RecordContext:
        return contexts([record], scored(context_adherence=value), {}, calibrations=known)[0]

    assert [case(value).verdict for value in (0.7, 0.75, 0.81)] == ["lost", "undecided", "right"]
    assert [case(value).weak("context_adherence") for value in (0.75, 0.76)] == [True, False]
    told, between = scored(factuality=0.5, context_adherence=0.1), fitted_cuts("factuality", Cuts(0.4, 0.6, 0.5))
    beside = contexts([replace(record, truths=(TRUTH,))], told, {}, calibrations=between)[0]
    assert (beside.right, beside.verdict) == (None, "undecided")


def test_a_metric_whose_judge_cannot_tell_takes_no_part_in_the_verdict() -> None:
    """The others decide, and it points at no stage."""
    record = Record("r", QUESTION, (GOOD,), "Zebulon built it.")
    low = [*scored(context_adherence=0.1), Score("r", "answer_relevancy", 0.8, rating=4)]
    known = fitted_cuts("context_adherence", Cuts(None, None, None))
    case = contexts([record], low, {}, calibrations=known)[0]
    assert (case.verdict, case.weak("context_adherence")) == ("right", False)


def test_the_verdicts_are_held_against_peoples_before_and_after() -> None:
    """A record is bad if any of its labels says so; those without a label are in no count."""
    records = tuple(Record(f"r{n}", f"{n}?", (GOOD,), "Zebulon built it.") for n in range(100))
    scores = tuple(Score(f"r{n}", "context_adherence", n / 100) for n in range(100))
    labels = tuple(Label(f"r{n}", "context_adherence", float(n > 80), binary=True) for n in range(0, 100, 2))
    report = calibrated(Evaluated({}, records, scores, labels))
    assert (report.before.of, report.before.bad, report.before.lost, report.before.rightly) == (50, 41, 21, 21)
    assert report.after.lost - report.after.rightly <= 2
    assert report.after.rightly >= 38
    assert report.lines[-1].startswith("People call 41 of 50 labelled answers bad. As shipped, 21 are called lost, 21")
    assert calibrated(Evaluated({}, records, scores)) is None
    astray = calibrated(
        Evaluated({}, records, scores, (*labels, Label("r0", "politness", 1.0), Label("r0", ANSWER, 1.0)))
    )
    assert "politness: 1 labels are of no score of this run, and unused." in astray.lines
    assert astray.unused == {"politness": 1}


def test_torn_passages_are_told_from_whole_ones() -> None:
    """A short passage that ends with its sentence is whole. A judge that says so makes it chunking, too."""
    score = Score("r", "context_relevancy", 0.2, rating=1, reason="The passage is cut off before the name.")
    assert failures(contexts([Record("r", QUESTION)], [score], {}))[0].stage == "chunking"
    assert not torn([GOOD], [TRUTH])
    assert torn([Passage("a", "It was built by Tomas")], [TRUTH])
    assert ended("# A heading")
    assert ended("He said “no.”")
    assert not ended("It was built by")
