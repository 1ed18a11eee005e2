"""The whole method: which knowledge reaches the answer, what failing parts do to it, and what a document cannot do."""

import json
from collections.abc import Sequence
from dataclasses import replace
from time import sleep

import pytest

from parts import (
    AD,
    ANSWER,
    GOOD,
    HALF,
    OUTSIDE,
    POOR,
    QUESTION,
    Down,
    Known,
    Queries,
    Shelf,
    action,
    kept,
    pipeline,
    step,
)
from surefoot import Count, Threshold
from surefoot.evaluators.lexical import Lexical
from surefoot.generators.llm import LLMGenerator
from surefoot.llms._budgeted import Budgeted
from surefoot.llms.scripted import Scripted
from surefoot.rewriters.llm import LLMRewriter
from surefoot.run.conversation import Conversation, Turn
from surefoot.run.cost import Budget
from surefoot.run.store import to_json
from surefoot.searchers.nowhere import Nowhere
from surefoot.types import Action, Event, Message, Passage, RewrittenQuery, Trace
from surefoot.types.errors import ComponentError, ConfigError, QuestionError


def test_correct_answers_from_the_corpus_and_asks_nobody_else() -> None:
    """One passage that carries the answer is enough: no query, no search."""
    world = Shelf(OUTSIDE)
    trace = pipeline(GOOD, POOR, searcher=world).run(QUESTION)
    assert action(trace) is Action.CORRECT
    assert kept(trace) == ["good"]
    assert (world.asked, trace.queries, trace.external) == ([], (), ())
    assert trace.answer.text == "Tomas Aldwin built it. [1]"
    assert [c.quoted for c in trace.answer.citations] == [True]


def test_incorrect_uses_nothing_of_the_corpus() -> None:
    """What was retrieved and is of no use is neither refined nor cited."""
    trace = pipeline(POOR).run(QUESTION)
    assert action(trace) is Action.INCORRECT
    assert {strip.passage_id for strip in trace.strips} == {"out"}
    assert "refine" not in [step.name for step in trace.steps]
    assert not trace.answer.refused


def test_ambiguous_uses_both_and_each_strip_leads_to_its_source() -> None:
    """Local strips come first, external ones after, and every one names a passage that says where it is from."""
    trace = pipeline(HALF).run(QUESTION)
    assert action(trace) is Action.AMBIGUOUS
    origin = {passage.id: passage for passage in trace.passages + trace.external}
    assert [origin[id].source for id in kept(trace)] == ["corpus", "external"]
    assert trace.external[0].url == "http://a/1"


def test_all_passages_of_an_action_that_uses_them_may_be_refined() -> None:
    """As in the paper's algorithm, where only strips are dropped; else a passage graded INCORRECT gives none. What the
    action INCORRECT sets aside stays aside."""
    refined = pipeline(GOOD, POOR, decompose="all").run(QUESTION)
    assert {strip.passage_id for strip in refined.strips} == {"good", "poor"}
    assert {strip.passage_id for strip in pipeline(GOOD, POOR).run(QUESTION).strips} == {"good"}
    aside = pipeline(POOR, decompose="all").run(QUESTION)
    assert not any(strip.passage_id == "poor" for strip in aside.strips)


def test_nothing_found_anywhere_is_refused_in_words() -> None:
    """And names no search where nothing searches; the model is not even asked."""
    trace = pipeline(POOR, searcher=Nowhere()).run(QUESTION)
    assert trace.answer.refused
    assert "None of the passages that were found answers it" in trace.answer.text
    assert "searched for" not in trace.answer.text
    assert "generate" not in [step.name for step in trace.steps]
    assert step(trace, "search").degraded
    asked = pipeline(POOR, searcher=Shelf()).run(QUESTION)
    assert f"searched for “{asked.queries[0]}”" in asked.answer.text


def test_a_pipeline_has_a_listener_for_every_question() -> None:
    """It hears each after the question's own."""
    heard: list[tuple[str, str]] = []
    listening = pipeline(GOOD).but(listener=lambda event: heard.append(("pipeline", event.name)))
    trace = listening.run(QUESTION, lambda event: heard.append(("question", event.name)))
    assert heard[:2] == [("question", "begun"), ("pipeline", "begun")]
    assert heard[-2:] == [("question", "ended"), ("pipeline", "ended")]
    assert trace.config == pipeline(GOOD).config | {"pipeline": {}}
    heard.clear()
    listening.correct(QUESTION, [GOOD])
    assert heard[-1] == ("pipeline", "ended")


def test_outside_passages_are_graded_against_the_question_and_not_the_query() -> None:
    """Whatever is asked outside, only the user's question decides what is of use."""
    evaluator = Known()
    trace = pipeline(POOR, evaluator=evaluator, rewriter=Queries("something else")).run(QUESTION)
    assert {question for question, _ in evaluator.asked} == {QUESTION}
    assert trace.queries == ("something else",)
    assert [grade.passage_id for grade in trace.grades] == ["poor", "out"]


@pytest.mark.parametrize(("found", "queries"), [(OUTSIDE, ["one"]), (AD, ["one", "two"])])
def test_searching_ends_with_the_first_query_that_finds_the_answer(found: Passage, queries: list[str]) -> None:
    """A passage graded CORRECT makes the others needless; one that comes twice is graded once."""
    world = Shelf(found)
    trace = pipeline(POOR, searcher=world, rewriter=Queries("one", "two")).run(QUESTION)
    assert world.asked == queries
    assert trace.external == (found,)


class Second(Queries):
    """A rewriter that has another idea once it has seen the advertisement."""

    def __init__(self) -> None:
        self.seen: list[list[str]] = []

    def rewrite(self, question: str, seen: Sequence[Passage]) -> tuple[str, ...]:
        self.seen.append([passage.id for passage in seen])
        return ("one", "two") if len(self.seen) == 1 else ("two", f"idea {len(self.seen)}")


def test_a_second_rewrite_sees_what_the_first_brought() -> None:
    """Only what is new is asked, and the trace has every query. A round that brings nothing is the last."""
    rewriter, world = Second(), Shelf(AD)
    trace = pipeline(POOR, searcher=world, rewriter=rewriter).run(QUESTION)
    assert rewriter.seen == [["poor"], ["poor", "ad"]]
    assert world.asked == list(trace.queries) == ["one", "two", "idea 2"]
    nothing = Second()
    pipeline(POOR, searcher=Shelf(), rewriter=nothing).run(QUESTION)
    assert len(nothing.seen) == 1


@pytest.mark.parametrize(("rounds", "asked"), [(1, 2), (2, 3), (4, 5)])
def test_rounds_are_bounded(rounds: int, asked: int) -> None:
    """However much comes and however little of it helps."""

    class Endless(Shelf):
        def search(self, query: str, k: int) -> tuple[Passage, ...]:
            self.asked.append(query)
            return (replace(AD, id=query, text=f"Buy {query}."),)

    world = Endless()
    pipeline(POOR, searcher=world, rewriter=Second(), rounds=rounds).run(QUESTION)
    assert len(world.asked) == asked


WORDED = RewrittenQuery("Ruvel Bridge engineer", "Which engineer built the bridge?", "the builder")


@pytest.mark.parametrize(
    ("passage", "retrieved", "searched"),
    [
        (POOR, [], [WORDED.query, "Ruvel Bridge"]),
        (HALF, [WORDED.question, "Ruvel Bridge"], [WORDED.query, "Ruvel Bridge"]),
    ],
)
def test_count_routing_rewrites_twice_and_then_searches(
    passage: Passage, retrieved: list[str], searched: list[str]
) -> None:
    """Ambiguous passages for ever: three retrievals, a search, and an end. The retriever is asked the rewritten
    question, the web its query; a plain one is for both, and in no need of being noted."""
    shelf, world = Shelf(passage, replace(passage, id="too")), Shelf()
    parts = {"retriever": shelf, "searcher": world, "policy": Count(Known.thresholds)}
    trace = pipeline(rewriter=Queries(WORDED, "Ruvel Bridge"), **parts).run(QUESTION)
    assert (shelf.asked, world.asked) == ([QUESTION, *retrieved], searched)
    assert [(one.again, one.rewrites) for one in (*trace.earlier, trace.decision)] == [
        *((True, n) for n in range(len(retrieved))),
        (False, len(retrieved)),
    ]
    assert {*trace.rewritten} == {WORDED}


def test_a_rewriter_is_not_asked_twice_about_the_same_passages() -> None:
    """Nor the retriever for the same query: a rewriter that knows no other leaves it to the search."""
    shelf, rewriter = Shelf(HALF, replace(HALF, id="too")), Queries(QUESTION)
    parts = {"retriever": shelf, "searcher": Shelf(), "policy": Count(Known.thresholds)}
    pipeline(rewriter=rewriter, **parts).run(QUESTION)
    assert (shelf.asked, rewriter.asked) == ([QUESTION], [QUESTION])


def test_count_routing_stops_rewriting_once_there_is_enough() -> None:
    """What a rewritten query finds joins what was there before."""

    class Later(Shelf):
        def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
            self.asked.append(question)
            return (HALF, replace(HALF, id="half 2")) if len(self.asked) == 1 else (GOOD,)

    trace = pipeline(retriever=Later(), policy=Count(Known.thresholds), rewriter=Queries("one")).run(QUESTION)
    assert action(trace) is Action.CORRECT
    assert [passage.id for passage in trace.passages] == ["half", "half 2", "good"]
    assert trace.external == ()


@pytest.mark.parametrize(
    ("role", "failed", "passage", "decided", "evidence", "queries", "refused"),
    [
        ("retriever", "retrieve", GOOD, Action.INCORRECT, ["out"], ["Ruvel Bridge"], False),
        ("evaluator", "grade", GOOD, Action.AMBIGUOUS, [], ["Ruvel Bridge"], True),
        ("refiner", "refine", GOOD, Action.CORRECT, [], [], True),
        ("rewriter", "rewrite", POOR, Action.INCORRECT, ["out"], [QUESTION], False),
        ("searcher", "search", HALF, Action.AMBIGUOUS, ["half"], ["Ruvel Bridge"], True),
        ("generator", "generate", GOOD, Action.CORRECT, ["good"], [], True),
        ("verifier", "verify", GOOD, Action.CORRECT, ["good"], [], False),
    ],
)
def test_a_part_that_fails_shows_in_its_step_and_the_question_still_ends(
    role: str, failed: str, passage: Passage, decided: Action, evidence: list[str], queries: list[str], refused: bool
) -> None:
    """The step holds the error, and its fallback is taken: nothing retrieved, passages that count as ungraded, no
    strips, the question as the query, nothing from outside, a refusal, a citation that nobody checked."""
    trace = pipeline(passage, **{role: Down(ComponentError("it is down"))}).run(QUESTION)
    assert step(trace, failed).error == "it is down"
    assert step(trace, failed).degraded
    assert (action(trace), kept(trace), list(trace.queries)) == (decided, evidence, queries)
    assert all(grade.score is None and grade.reason for grade in trace.grades if role == "evaluator")
    assert (trace.answer.refused, bool(trace.answer.text)) == (refused, True)
    assert all(one.supported is None for one in trace.answer.citations if role == "verifier")


def test_an_ablation_differs_in_the_part_that_was_replaced() -> None:
    """`but` leaves the original as it was, and the configuration of its traces names the part."""
    whole = replace(pipeline(HALF), config={"searcher": {"use": "folder", "path": "x.db"}, "pipeline": {"k": 10}})
    without = whole.but(searcher=Nowhere(), k=3)
    assert (kept(without.run(QUESTION)), kept(whole.run(QUESTION))) == (["half"], ["half", "out"])
    assert without.config["searcher"] == {"use": "surefoot.searchers.nowhere:Nowhere"}
    assert (without.config["pipeline"], whole.config["pipeline"]) == ({"k": 3}, {"k": 10})


@pytest.mark.parametrize("question", ["", " \n\t ", "x" * 50_000])
def test_an_empty_and_an_endless_question_are_the_users_mistake(question: str) -> None:
    """They are refused before anything is retrieved."""
    shelf = Shelf(GOOD)
    with pytest.raises(QuestionError):
        pipeline(retriever=shelf).run(question)
    assert shelf.asked == []


class Completing(Conversation):
    """A conversation in which every question goes on from the turns before it."""

    def by_rules(self, question: str, history: Sequence[Turn]) -> str:
        return QUESTION

    def whole(self, question: str, history: Sequence[Turn]) -> str:
        return QUESTION


TYPED = "And who built it?"
HISTORY = (("Where is the Ruvel Bridge?", "Over the Larrow."),)


def test_a_completed_question_is_the_one_that_is_searched_graded_and_answered() -> None:
    """By every part; the trace keeps the question as it was typed, and says how it was read."""
    prompts, events = list[str](), list[Event]()
    shelf, evaluator, world, rewriter = Shelf(HALF), Known(), Shelf(), Queries()

    def told(messages: Sequence[Message]) -> str:
        prompts.append(messages[-1].content)
        return "The mayor opened it."

    trace = pipeline(
        retriever=shelf,
        evaluator=evaluator,
        searcher=world,
        rewriter=rewriter,
        generator=LLMGenerator(Scripted(told)),
        conversation=Completing(),
    ).run(TYPED, events.append, history=HISTORY)
    assert (trace.question, trace.read_as, trace.standalone_question) == (TYPED, QUESTION, QUESTION)
    heard = [event.name for event in events if not event.name.startswith("step")]
    assert heard[:3] == ["begun", "read_as", "passages"]
    assert shelf.asked == world.asked == [QUESTION]
    assert {question for question, _ in evaluator.asked} == {QUESTION}
    assert set(rewriter.asked) == {QUESTION}
    assert prompts
    assert all(QUESTION in prompt and TYPED not in prompt for prompt in prompts)


def bare(trace: Trace) -> Trace:
    """Without what differs from run to run."""
    return replace(
        trace, id="", created="", steps=tuple(replace(step, seconds=0.0, started="") for step in trace.steps)
    )


def test_many_questions_side_by_side_give_what_each_gives_alone() -> None:
    """Threads change ids and times, and nothing else; the order is that of the questions."""
    built = pipeline(HALF, POOR)
    questions = [f"Who built the Ruvel Bridge in {year}?" for year in range(1900, 1924)]
    together = list(built.run_many(questions, workers=4))
    assert [bare(trace) for trace in together] == [bare(built.run(question)) for question in questions]
    assert len({trace.id for trace in together}) == len(questions)


def test_a_question_that_fails_among_many_is_a_trace_with_its_error() -> None:
    """The others are answered, and the denominator is honest."""
    good, bad, last = pipeline(GOOD).run_many([QUESTION, "", QUESTION])
    assert bad.error
    assert "empty" in bad.error
    assert (bad.answer, good.error, last.error) == (None, None, None)


def test_a_listener_hears_every_step_and_every_field_as_they_come() -> None:
    """What is drawn or streamed while a question runs is what the trace says afterwards."""
    events: list[Event] = []
    trace = pipeline(HALF).run(QUESTION, events.append)
    assert tuple(event.value for event in events if event.name == "step") == trace.steps
    walked = [event for event in events if event.name in ("step_begins", "step")]
    assert [event.value for event in walked[::2]] == [step.name for step in trace.steps]
    assert [event.name for event in walked] == ["step_begins", "step"] * len(trace.steps)
    assert events[0] == Event("begun", Trace(trace.id, QUESTION, config=trace.config, created=trace.created))
    assert events[-1] == Event("ended", trace)
    assert all(json.dumps(to_json(event), allow_nan=False) for event in events)
    last = {event.name: event.value for event in events}
    for name in ("passages", "grades", "decision", "queries", "external", "strips", "conflicts", "answer"):
        assert last[name] == getattr(trace, name)


def test_thresholds_of_another_evaluator_are_refused_when_the_pipeline_is_made() -> None:
    """Scores mean nothing on another scale."""
    with pytest.raises(ConfigError, match="fitted for the evaluator 'lexical'"):
        pipeline(GOOD).but(policy=Threshold(Lexical.thresholds))
    with pytest.raises(ConfigError, match="mean nothing for 'known'"):
        pipeline(GOOD, outside=replace(Known.thresholds, evaluator="t5"))


def test_what_comes_from_outside_is_labelled_by_thresholds_of_its_own() -> None:
    """The corpus keeps the policy's; the trace holds both. With the same for all, one search would be enough here."""
    strict = replace(Known.thresholds, upper=2.0, lower=1.5)
    one = pipeline(POOR, rewriter=Queries("a", "b"), outside=strict)
    trace = one.run(QUESTION)
    assert (trace.queries, trace.grades[-1].label, trace.outside) == (("a", "b"), Action.INCORRECT, strict)
    assert (trace.decision.upper, kept(trace)) == (Known.thresholds.upper, [])
    same = one.but(outside=None).run(QUESTION)
    assert (same.queries, same.grades[-1].label, same.outside) == (("a",), Action.CORRECT, None)


@pytest.mark.parametrize("calls", [1, 2])
def test_a_spent_budget_ends_the_question_with_what_it_has(calls: int) -> None:
    """A rewriter that takes the one call leaves none to answer with: a refusal, and the step says why."""
    said = {"Question: ": '{"query": "Ruvel Bridge"}', "sources": ANSWER}
    model = Budgeted(Scripted(lambda messages: said["sources" if "[1]" in messages[-1].content else "Question: "]))
    parts = {"rewriter": LLMRewriter(model), "generator": LLMGenerator(model), "budget": Budget(calls=calls)}
    trace = pipeline(POOR, **parts).run(QUESTION)
    made = step(trace, "generate")
    assert sum(one.calls for one in trace.steps) == calls
    assert (trace.answer.refused, made.degraded) == ((True, "refused to answer") if calls == 1 else (False, None))
    assert (made.error or "").startswith("the budget of 1 calls is spent" if calls == 1 else "")


def test_steps_whose_time_is_over_take_their_fallbacks() -> None:
    """What was found before stays; the question ends in a refusal, not in an error."""

    class Slow(Shelf):
        def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
            sleep(0.03)
            return super().retrieve(question, k)

    trace = pipeline(retriever=Slow(GOOD), budget=Budget(seconds=0.02)).run(QUESTION)
    late = "the budget of 0.02 seconds is spent: the time is over; "
    over = [one.name for one in trace.steps if (one.error or "").startswith(late)]
    assert over[:4] == ["grade", "refine", "rewrite", "search"]
    assert (trace.passages, trace.error) == ((GOOD,), None)
    assert trace.answer.refused


def test_a_draft_stops_when_the_time_is_over() -> None:
    """Between two pieces of the model's text."""
    words: list[str] = []

    def listen(event: Event) -> None:
        if event.name == "text":
            words.append(event.value)
            sleep(0.6)

    trace = pipeline(GOOD, says="Tomas Aldwin built it. " * 50, budget=Budget(seconds=2)).run(QUESTION, listen)
    assert 0 < len(words) < 20
    assert "time is over" in (step(trace, "generate").error or "")
