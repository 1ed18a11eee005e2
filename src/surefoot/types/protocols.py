"""The roles, one verb each. They are structural: a component inherits nothing, it only has the verb.

A component may also have `name: str`; an evaluator must have `name` and `thresholds`. Anything else that a component
can do is an optional protocol: SpanReader, LanguageBound, TaskAware, QuestionEmbedder, OfflineSearcher,
PricedJudge, NoteWriter. Components are safe to share between threads and hold no state of a question. One that works
for long looks between two pieces of work whether the question was cancelled (`surefoot.cancel`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol, TypeAlias, runtime_checkable

from surefoot.types import (
    Answer,
    Assertion,
    Completion,
    Decision,
    Document,
    DocumentProblem,
    Grade,
    Message,
    Metric,
    Passage,
    Record,
    RewrittenQuery,
    Score,
    Spent,
    Strip,
    Support,
    Thresholds,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Matrix: TypeAlias = "npt.NDArray[np.float32]"
Pair = tuple[str, Passage]
"""A question and the passage to grade against it; for a strip, a passage that holds the strip's text and its title."""

Knowledge: TypeAlias = Sequence[tuple[Strip, Passage]]
"""A generator's sources: kept strips, each with its passage."""
OnText: TypeAlias = Callable[[str], None] | None
"""Gets each piece of a model's text as it comes."""


@runtime_checkable
class Retriever(Protocol):
    """Finds passages of the corpus.

    One that can filter has a third parameter, `filter: Filter = NO_FILTER`, and finds the k best of the passages that
    `filter.matches`; one that has none is refused where a filter is asked for (`surefoot.types.metadata.filtered`)."""

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        """At most `k` passages, best first, ids distinct, each with its `score`; raises ComponentError."""


class StoreRow(NamedTuple):
    """A passage as a store holds it; `surefoot.index.search.Index.rows` makes them."""

    passage: Passage
    """Without a score."""
    hash: str
    """Another where anything of the passage, or the embedder, is another: equal hashes need no second writing."""
    vector: npt.NDArray[np.float32]


@runtime_checkable
class Store(Retriever, Protocol):
    """A retriever over another engine's collection of passages, which `surefoot.index.push` fills.

    Any number of processes may write to a collection at once, and be killed: each verb may be repeated. It is made by
    the first `upsert`. All raise EndpointError, which may pass, and IndexFault, which will not.
    """

    def nearest(self, question: str, k: int) -> tuple[str, ...]:
        """The ids of the `k` passages nearest by vector, nearest first, as the engine finds them for `retrieve`."""

    def hashes(self) -> Mapping[str, str]:
        """The hash of each passage that is there, by its id; none where the collection is not made yet."""

    def upsert(self, rows: Sequence[StoreRow]) -> None:
        """Put these passages, whose ids are distinct, in place of those with the same ids: all of them or none."""

    def delete(self, ids: Collection[str]) -> None:
        """Take these passages out; those that are not there are passed over."""

    def finish(self) -> None:
        """Bring what searching is fast by up to date, after writing; without it passages are found too, but slowly."""


@runtime_checkable
class Evaluator(Protocol):
    """Grades how well passages answer questions."""

    @property
    def name(self) -> str:
        """The name that its scores and thresholds carry."""

    @property
    def thresholds(self) -> Thresholds:
        """Its own thresholds, used unless others are given."""

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """One grade for each pair, in order and independent of the other pairs. `label` stays None unless the evaluator
        judges in labels. A passage that cannot be graded has score None and a reason; other grades may be cached."""


@runtime_checkable
class SpanReader(Protocol):
    """An evaluator that can say which words answer: its grades have a `span` where `returns_spans` is true."""

    returns_spans: bool


@runtime_checkable
class LanguageBound(Protocol):
    """An evaluator that has learned certain languages. A sentence in another is no evidence, unless the question is in
    its language."""

    languages: tuple[str, ...] | None
    """Codes such as "en"; None: all."""


@runtime_checkable
class Policy(Protocol):
    """Turns grades into a decision; pure."""

    @property
    def name(self) -> str:
        """The name that its decisions carry."""

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds for decisions and labels; they name the evaluator whose scores they are for."""

    def decide(self, grades: Sequence[Grade], rewrites: int = 0) -> Decision:
        """The action for these grades after so many rewrites."""


@runtime_checkable
class Refiner(Protocol):
    """Cuts passages into strips and keeps those that help."""

    def refine(self, question: str, passages: Sequence[Passage]) -> tuple[Strip, ...]:
        """All strips, kept and dropped, in the order of the passages and of the text; each a slice of its passage."""


@runtime_checkable
class Rewriter(Protocol):
    """Turns a question into search queries."""

    def rewrite(self, question: str, seen: Sequence[Passage]) -> tuple[str | RewrittenQuery, ...]:
        """At least one query, best first, none empty; `seen` was retrieved before and did not help. A plain text is for
        the web and the retriever alike."""


@runtime_checkable
class Searcher(Protocol):
    """Looks for knowledge outside the corpus. One that can filter has a third parameter, as a retriever has; one that
    has none is not called where there is a filter."""

    @property
    def name(self) -> str:
        """Its name in traces."""

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        """At most `k` passages with source "external", best first. Nothing found is an empty tuple; a failure raises
        SearchError."""


@runtime_checkable
class OfflineSearcher(Searcher, Protocol):
    """A searcher that says whether it sends queries anywhere; a refusal names only queries that were sent."""

    sends_queries: bool


@runtime_checkable
class LLM(Protocol):
    """A language model behind one call."""

    @property
    def name(self) -> str:
        """Its name in traces."""

    def complete(
        self,
        messages: Sequence[Message],
        schema: dict[str, Any] | None = None,
        *,
        max_tokens: int = 100,
        stop: Sequence[str] = (),
        on_text: OnText = None,
    ) -> Completion:
        """Greedy. `schema`: JSON schema that the text must satisfy. `on_text` gets each piece as it comes; the pieces
        joined are the completion's text. Counts itself in `surefoot.run.meter`. Raises ModelError, EndpointError or
        ContextOverflow."""


@runtime_checkable
class Generator(Protocol):
    """Answers a question from knowledge, and from nothing else."""

    def generate(self, question: str, knowledge: Knowledge, on_text: OnText = None) -> Answer:
        """The answer with its [n] markers, n counting `knowledge` from 1; citations are slices of its sources, word for
        word, or left for the pipeline to find. `knowledge` may be empty only where the caller wants the model's own
        memory."""


@runtime_checkable
class TaskAware(Protocol):
    """A generator or rewriter whose prompt depends on the task."""

    def with_task(self, task: str) -> Any:
        """The component with the prompt of a task: "qa", "choice", "claim", "biography" or "chat"."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """It changes whenever the vectors would: an index built under another name cannot be searched."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Shape (len(texts), dimensions); rows of length 1 (0: no known word); row i depends on text i only."""


@runtime_checkable
class QuestionEmbedder(Embedder, Protocol):
    """An embedder that was trained to read questions otherwise than passages, as e5 was."""

    def embed_questions(self, texts: Sequence[str]) -> Matrix:
        """As `embed`, for questions."""


@runtime_checkable
class Judge(Protocol):
    """Says how good one thing about an answered question is."""

    @property
    def name(self) -> str:
        """The name that its scores carry: two judges of one metric have two names."""

    @property
    def metric(self) -> str:
        """The metric that it judges, such as "context_adherence"."""

    def judge(self, record: Record) -> Score:
        """The record's score on the metric. Where the record lacks what the metric is about, `applies` is False; a
        record that cannot be judged has no value but a reason. Raises only for mistakes in the configuration."""


@runtime_checkable
class MetricJudge(Judge, Protocol):
    """A judge that declares its metric."""

    @property
    def about(self) -> Metric:
        """The metric, whose name is `metric`; a class attribute, so that it is known before a judge is built."""


@runtime_checkable
class PricedJudge(Judge, Protocol):
    """A judge that calls a language model, and can say how much before it does."""

    def estimate(self, record: Record) -> Spent:
        """About what judging the record costs where each reply can be read at once; nothing is called."""


@runtime_checkable
class NoteWriter(Judge, Protocol):
    """A judge that needs the record's grading note, and can write one."""

    def with_note(self, record: Record) -> Record:
        """The record with a grading note, or as it is where none is needed or none can be read."""


@runtime_checkable
class Verifier(Protocol):
    """Says whether evidence carries a sentence."""

    @property
    def name(self) -> str:
        """The name that its verdicts carry; it changes whenever they would."""

    def support(self, assertions: Sequence[Assertion]) -> tuple[Support, ...]:
        """One verdict for each, in order and independent of the others. A sentence without evidence is not supported;
        what cannot be judged has `supported` None and a reason. Raises ComponentError."""


@runtime_checkable
class Loader(Protocol):
    """Reads one format of files, by whose suffix it is plugged in."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The documents of a seekable file, in its order, and a problem in place of each part that cannot be read. For
        want of a better title, a document has that of the file's `name`. Raises Unreadable, also after some."""


def returns_spans(evaluator: object) -> bool:
    """True for an evaluator whose grades say which words answer."""
    return isinstance(evaluator, SpanReader) and evaluator.returns_spans


def languages_of(evaluator: object) -> tuple[str, ...] | None:
    """The languages that an evaluator has learned; None: all, or it does not say."""
    return evaluator.languages if isinstance(evaluator, LanguageBound) else None


def sends_queries(searcher: object) -> bool:
    """True for a searcher whose queries go somewhere."""
    return not isinstance(searcher, OfflineSearcher) or searcher.sends_queries


def embedded_questions(embedder: Embedder, questions: Sequence[str]) -> Matrix:
    """Vectors of questions, by the embedder's own way to read these where it has one."""
    return (embedder.embed_questions if isinstance(embedder, QuestionEmbedder) else embedder.embed)(questions)
