"""The whole method on one screen: retrieve, grade, decide, refine, search where needed, answer or refuse."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, SupportsIndex

from surefoot.components import OBJECTS
from surefoot.evidence.answer_policy import AnswerPolicy, remembered
from surefoot.evidence.checking import Checking
from surefoot.evidence.citations import refusal, unfounded
from surefoot.evidence.differences import conflicts
from surefoot.evidence.exclusions import Evidence
from surefoot.evidence.hedge import absent, given_up, hedged, hopeless
from surefoot.evidence.merge import by_id, distinct, fresh, selected
from surefoot.evidence.passages import Text, passages as as_passages
from surefoot.evidence.policies import labelled, require_match
from surefoot.evidence.ranking import Decompose, useful
from surefoot.evidence.sources import Sources, corroborated
from surefoot.index.bounds import bounded
from surefoot.network.pace import left, within
from surefoot.run import meter
from surefoot.run.conversation import Conversation, Turn
from surefoot.run.cost import NO_BUDGET, Budget
from surefoot.run.origin import Origin
from surefoot.run.recorder import Listener, Recorder, safely, streamed
from surefoot.text.questions import LONGEST_QUESTION, checked
from surefoot.types import Action, Answer, Decision, Event, Grade, Passage, RewrittenQuery, Strip, Thresholds, Trace
from surefoot.types.errors import ComponentError, ConfigError
from surefoot.types.metadata import NO_FILTER, Filter, filtered, searched
from surefoot.types.protocols import (
    Evaluator,
    Generator,
    Knowledge,
    Policy,
    Refiner,
    Retriever,
    Rewriter,
    Searcher,
    Verifier,
    sends_queries,
)
from surefoot.types.ranges import Count
from surefoot.verifiers.lexical import LexicalVerifier

SIZES = ("k", "keep", "external_k", "external_keep", "decompose", "rounds", "seconds")
"""The pipeline's own settings, as `[pipeline]` names them."""
SECTIONS = {"answering": "answer", "budget": "budget"}
"""The parts that are plain values, each with the section that holds its fields."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Corrective RAG over built components. `run` a question; vary it with `but`."""

    retriever: Retriever
    evaluator: Evaluator
    policy: Policy
    refiner: Refiner
    rewriter: Rewriter
    searcher: Searcher
    generator: Generator
    verifier: Verifier = field(default_factory=LexicalVerifier)
    quoting: Generator | None = None
    """Quotes where the generator fails, its words stand on nothing, or a quotation says the same more surely."""
    k: Count = 30
    """Passages retrieved, and graded, for each question."""
    keep: Count = 6
    """The number of these that are refined, the best ones."""
    external_k: Count = 30
    """Passages taken from outside, and graded, for each query."""
    external_keep: Count = 5
    """The number of these that are refined, the best ones (the paper: 5)."""
    decompose: Decompose = "useful"
    """The passages that may be among these, retrieved and from outside."""
    rounds: Count = 2
    """Rewrites of the question for searches outside; each later one sees what the earlier ones found."""
    seconds: Count = 60
    """Time for all searches of a question together; after it, the answer is made from what was found."""
    budget: Budget = NO_BUDGET
    """The most that a question may cost; what goes beyond takes its declared fallback."""
    outside: Thresholds | None = None
    """Thresholds for passages from outside; None: the policy's."""
    sources: Sources = field(default_factory=Sources)
    """The sources that are trusted or untrusted."""
    answering: AnswerPolicy = field(default_factory=AnswerPolicy)
    """What is done with an answer that no source carries, and where there is no source."""
    config: dict[str, Any] = field(default_factory=dict)
    """The configuration that it was built from; each trace records it."""
    filter: Filter = NO_FILTER
    """The documents that passages of any question may come from; `run` may narrow it."""
    conversation: Conversation = field(default_factory=Conversation)
    """Completes a question from the turns before it."""
    listener: Listener | None = field(default=None, repr=False, compare=False)
    """Hears every event of every question, after the listener of the question itself."""
    origin: Origin | None = field(default=None, repr=False, compare=False)
    """How it was built; None: it was put together by hand."""

    def __post_init__(self) -> None:
        for thresholds in filter(None, (self.policy.thresholds, self.outside)):
            require_match(thresholds, self.evaluator.name)

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """Pickle the configuration, and of the parts those that did not come from it; by hand, all of them."""
        if self.origin is None:
            return object.__reduce_ex__(self, protocol)
        return self.origin.reduced(self)

    def but(self, **parts: Any) -> Pipeline:
        """The same pipeline with other parts: `pipeline.but(searcher=Nowhere())` is an ablation, and
        `pipeline.but(filter={"year": 2024})` asks within a filter, also where a framework asks.

        Its traces say so: in their configuration the section of a part is the class that took its place, and
        `[sources]`, `[answer]` and `[budget]` hold what it says. A conversation has no section; `outside` and `filter`
        stand in the trace itself. Raises ConfigError for an evaluator, which other parts hold too.
        """
        if "evaluator" in parts:
            raise ConfigError(
                "the refiner and the generator would still hold the old evaluator; build the pipeline from its "
                "configuration instead: surefoot.load(pipeline.config, evaluator=…)"
            )
        config = {**self.config, "pipeline": dict(self.config.get("pipeline", {}))}
        if "filter" in parts:
            parts["filter"] = Filter.of(parts["filter"])
        for name, part in parts.items():
            if name in SIZES:
                config["pipeline"][name] = part
            elif name == "sources":
                config[name] = {"trusted": [*part.trusted], "untrusted": [*part.untrusted]}
            elif name in SECTIONS:
                config[SECTIONS[name]] = {key: value for key, value in asdict(part).items() if value is not None}
            elif name in OBJECTS:
                config[name] = {"use": f"{type(part).__module__}:{type(part).__qualname__}"}
        return replace(self, **{"config": config, **parts})

    def run(
        self,
        question: str,
        on_event: Listener | None = None,
        *,
        history: Sequence[Turn] = (),
        filter: Mapping[str, Any] | Filter | None = None,
        cancel: threading.Event | None = None,
    ) -> Trace:
        """The trace of one question.

        `history` holds the turns before it, the oldest first; a question that goes on from them is completed. Once
        `cancel` is set, or the listener raises Cancelled, the question ends, and the `error` of its trace says so.

        `filter` says of which documents passages may come, by their fields, as `Filter.of` reads it; it reaches
        retrieval and search themselves. Raises FieldFault for what is no filter, and ConfigError where the retriever
        cannot filter. A searcher that cannot is not asked, and its step says so.

        A component that fails (ComponentError) is replaced by its declared fallback, which the trace shows. What the
        user can mend is raised: QuestionError for an empty or over-long question, IndexFault for a damaged index.
        """
        run = Recorder(checked(question), self.config, on_event, self.listener, filter=self.filter & Filter.of(filter))
        with self._limited(run, cancel):
            self._read(history, run)
            decision = self._retrieve(run)
            near, local = self._refined(decision, run)
            found: tuple[Strip, ...] = ()
            if decision.action is not Action.CORRECT:
                self._search(run)
                far = useful(run.trace.external, run.trace.grades[len(run.trace.passages) :], self.decompose)
                chosen, others = selected(far, near, self.external_keep)
                found = self._refine("refine external", chosen, run) + others
            self._merge(local + found, run)
            self._answer(run)
        return run.finish()

    def correct(
        self,
        question: str,
        passages: Sequence[Text],
        on_event: Listener | None = None,
        *,
        cancel: threading.Event | None = None,
    ) -> Trace:
        """The trace of grading these passages, deciding, and refining: the method without retrieval, search and answer.

        A passage is a text, a `Passage`, or a mapping of its fields. `decision` says what to do, `kept` holds the
        strips to do it with. `cancel`, the listener, and parts that fail are as in `run`. Raises QuestionError, and
        UsageError for what is no passage.
        """
        run = Recorder(checked(question), self.config, on_event, self.listener)
        brought = as_passages(passages)
        with self._limited(run, cancel):
            taken = run.step("take", bounded, tuple, brought, fallback=(), instead="no passages")
            decision = self._weigh(taken, 0, run)
            self._merge(self._refined(decision, run)[1], run)
        return run.finish()

    def grade(self, question: str, texts: Sequence[Text]) -> tuple[Grade, ...]:
        """Grade each text, in order; texts are as in `correct`. Excluded sentences count for nothing. Raises
        QuestionError, UsageError, and ComponentError where the evaluator fails."""
        passages = self.sources.placed(as_passages(texts))
        evidence = Evidence.for_question(self.evaluator, checked(question))
        grades = labelled(self._graded(evidence, passages), self.policy.thresholds)
        return corroborated(passages, evidence.judged(passages, grades))

    @contextmanager
    def _limited(self, run: Recorder, cancel: threading.Event | None) -> Iterator[None]:
        """While this lasts, steps run within the budget, and until `cancel` is set."""
        with run.running(cancel, self.budget), within(self.budget.seconds or math.inf):
            yield

    def _read(self, history: Sequence[Turn], run: Recorder) -> None:
        """Complete the question from the turns before it."""
        if not history:
            return
        typed, complete = run.trace.question, self.conversation.whole
        rules = self.conversation.by_rules(typed, history)
        whole = run.step("complete", complete, typed, history, fallback=rules, instead="completed by rules")
        if whole != typed and len(whole) <= LONGEST_QUESTION:
            run.set("read_as", whole)

    def _retrieve(self, run: Recorder) -> Decision:
        """Retrieve, grade and decide; again with another query while the policy asks for it and there is one."""
        query = run.standalone
        find = filtered(self.retriever.retrieve, run.filter, "the configured retriever")
        while True:
            new = run.step("retrieve", bounded, find, query, self.k, fallback=(), instead="nothing retrieved")
            decision = self._weigh(new, len(run.trace.earlier), run)
            others = [one.question or one.query for one in self._rewrite(run)] if decision.again else []
            query = next((one for one in others if one not in (run.standalone, *run.trace.queries)), "")
            if not query:
                return decision
            run.note(earlier=(*run.trace.earlier, decision))
            run.set("queries", (*run.trace.queries, query))

    def _weigh(self, new: tuple[Passage, ...], rewrites: int, run: Recorder) -> Decision:
        """Grade all passages so far, and decide."""
        run.set("passages", self.sources.placed(by_id(run.trace.passages + new)))
        run.set("grades", corroborated(run.trace.passages, self._grade("grade", run.trace.passages, run)))
        return run.set("decision", self.policy.decide(run.trace.grades, rewrites))

    def _grade(
        self, step: str, passages: tuple[Passage, ...], run: Recorder, by: Thresholds | None = None
    ) -> tuple[Grade, ...]:
        """Grades of the parts that count as evidence, labelled by these thresholds, or the policy's."""
        evidence = Evidence.for_question(self.evaluator, run.standalone)
        ungraded = tuple(Grade(passage.id, None, reason="the evaluator failed") for passage in passages)
        instead = "the passages count as ungraded"
        grades = run.step(step, self._graded, evidence, passages, fallback=ungraded, instead=instead)
        return evidence.judged(passages, labelled(grades, by or self.policy.thresholds))

    def _graded(self, evidence: Evidence, passages: tuple[Passage, ...]) -> tuple[Grade, ...]:
        """The evaluator's own grades of the parts that count as evidence."""
        if found := evidence.dismissed(passages):
            summary = "; ".join(f"{what}, in {', '.join(ids)}" for what, ids in found.items())
            meter.degrade(f"not counted as evidence: {summary}")
        grades = self.evaluator.grade([(evidence.question, evidence.masked(passage)) for passage in passages])
        if len(grades) != len(passages):
            raise ComponentError(f"{self.evaluator.name} gave {len(grades)} grades for {len(passages)} passages")
        return grades

    def _refined(self, decision: Decision, run: Recorder) -> tuple[tuple[Passage, ...], tuple[Strip, ...]]:
        """The passages of use, best first, and the strips of the best of them."""
        if decision.action is Action.INCORRECT:
            return (), ()
        near = useful(run.trace.passages, run.trace.grades, self.decompose)
        return near, self._refine("refine", near[: self.keep], run)

    def _refine(self, step: str, passages: tuple[Passage, ...], run: Recorder) -> tuple[Strip, ...]:
        return run.step(step, self.refiner.refine, run.standalone, passages, fallback=(), instead="no strips")

    def _rewrite(self, run: Recorder) -> tuple[RewrittenQuery, ...]:
        """Queries for what was found so far; a rewriter that has seen it is not asked twice."""
        seen, question = run.trace.passages + run.trace.external, run.standalone
        if seen in run.rewrites:
            return run.rewrites[seen]
        rewrite, instead = self.rewriter.rewrite, "asked as it is"
        made = run.step("rewrite", rewrite, question, seen, fallback=(question,), instead=instead)
        queries = tuple(RewrittenQuery(one) if isinstance(one, str) else one for one in made)
        run.note(rewritten=run.trace.rewritten + tuple(one for one in queries if one.question or one.missing))
        return run.rewrites.setdefault(seen, queries)

    def _search(self, run: Recorder) -> None:
        """Ask outside, query by query, until a passage is graded CORRECT.

        Where none is, the question is rewritten with all that was found in sight, and what is new is asked, for
        `rounds` rounds in all. A round that finds nothing new is the last: the next rewrite would see the same. So is
        one in which the time for searches runs out.
        """
        run.note(outside=self.outside)
        searched: set[str] = set()
        graded: list[Grade] = []
        spare = float(self.seconds)
        for _ in range(self.rounds):
            known = run.trace.external
            for query in (one.query for one in self._rewrite(run)):
                if query not in searched:
                    searched.add(query)
                    hits, spare = self._hits(query, run, spare)
                    if self._answers(hits, run, graded) or spare <= 0:
                        return
            if run.trace.external == known:
                return

    def _hits(self, query: str, run: Recorder, seconds: float) -> tuple[tuple[Passage, ...], float]:
        """The passages found outside within so many seconds, and the seconds left."""
        run.set("queries", tuple(dict.fromkeys((*run.trace.queries, query))))
        find = searched(self.searcher.search, run.filter, self.searcher.name)
        with within(seconds):
            hits = run.step(
                "search", bounded, find, query, self.external_k, fallback=(), instead="nothing came from outside"
            )
            return hits, left()

    def _answers(self, hits: tuple[Passage, ...], run: Recorder, graded: list[Grade]) -> bool:
        """Grade the new hits in one batch, and tell whether a passage is CORRECT. `graded` keeps the evaluator's own
        grades, since a new passage may back one that was alone before."""
        new = self.sources.placed(fresh(hits, run.trace.passages + run.trace.external))
        run.set("external", run.trace.external + new)
        graded += self._grade("grade external", new, run, self.outside)
        near = run.trace.grades[: len(run.trace.passages)]
        grades = run.set("grades", corroborated(run.trace.passages + run.trace.external, (*near, *graded)))
        return any(grade.label is Action.CORRECT for grade in grades[len(near) :])

    def _merge(self, strips: tuple[Strip, ...], run: Recorder) -> None:
        """Nothing said twice, and what differs shown."""
        run.set("strips", distinct(strips))
        every = run.trace.passages + run.trace.external
        run.set("conflicts", conflicts(run.standalone, every, run.trace.grades, run.trace.strips))

    def _answer(self, run: Recorder) -> None:
        """The checked answer, or the refusal that takes its place."""
        every = run.trace.passages + run.trace.external
        evidence = Evidence.for_question(self.evaluator, run.standalone)
        origin = {passage.id: evidence.masked(passage) for passage in every}
        checking = self.checking(run, [(strip, origin[strip.passage_id]) for strip in run.trace.kept_strips])
        answer: Answer | None = None
        missing = absent(run.standalone, every)
        if (checking.knowledge and not missing) or self.answering.fallback == "memory":
            answer = self.drafted(checking)
        if answer and not checking.knowledge:
            answer = remembered(answer)
        queries = run.trace.queries if sends_queries(self.searcher) else ()
        looked: dict[str, Any] = {"graded": len(run.trace.grades), "knowledge": checking.knowledge, "queries": queries}
        refused = partial(refusal, run.standalone, **looked, missing=missing)
        if answer is None or answer.refused:
            answer = refused(draft=answer)
        answer = hedged(answer, run.trace, self.evaluator, self.answering.risk)
        quoted = checking.quoted(self.quoting, "hedged words stay") if answer.worded and answer.hedged else None
        sure = hedged(quoted, run.trace, self.evaluator, self.answering.risk) if quoted else None
        if sure and not sure.hedged and checking.confirms(sure, answer):
            answer = replace(sure, withheld=answer.body)
        if hopeless(answer):
            answer = given_up(answer, refused(draft=Answer("", refused=True)).text)
        run.set("answer", answer)

    def checking(self, run: Recorder, knowledge: Knowledge) -> Checking:
        """The check of drafts against this knowledge, as `[answer] check` has it; without any, they are only marked."""
        return Checking(run, self.verifier, knowledge, self.answering.check if knowledge else "mark")

    def drafted(self, checking: Checking) -> Answer | None:
        """The generator's answer as the check leaves it. Where it fails, or its words stand on nothing, the evidence is
        quoted instead, if `quoting` can; what stood on nothing is then in `withheld`. None: it failed."""
        instead = "quoted instead" if self.quoting and checking.knowledge else "refused to answer"
        inputs = checking.run.standalone, checking.knowledge, checking.add
        draft = checking.run.step("generate", self.generator.generate, *inputs, fallback=None, instead=instead)
        answer = checking.held(draft) if draft else None
        if answer and not unfounded(answer):
            return answer
        quoted = checking.quoted(self.quoting, "refused to answer")
        return replace(quoted, withheld=answer.withheld if answer else None) if quoted else answer

    async def arun(self, question: str, on_event: Listener | None = None, **options: Any) -> Trace:
        """`run`, with its other options but `cancel`, in a thread of the loop's default executor, which calls the
        listener. A task that is cancelled cancels the question."""
        stop = threading.Event()
        try:
            return await asyncio.to_thread(self.run, question, on_event, cancel=stop, **options)
        except asyncio.CancelledError:
            stop.set()
            raise

    async def events(self, question: str, **options: Any) -> AsyncGenerator[Event, None]:
        """Yield each event of `arun` as it comes, the last with the whole trace; raises what that raises. Close it, as
        `contextlib.aclosing` does, and the question is cancelled."""
        async with aclosing(streamed(partial(self.arun, question, **options))) as stream:
            async for event in stream:
                yield event

    def run_many(self, questions: Sequence[str], workers: int = 2) -> Iterator[Trace]:
        """The trace of each question, in order, `workers` at a time; one that fails is a trace with its error."""
        with ThreadPoolExecutor(workers) as pool:
            yield from pool.map(lambda one: safely(lambda: self.run(one), one, self.config), questions)
