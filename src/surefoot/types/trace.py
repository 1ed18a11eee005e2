"""The values of a question and its answer: passages, grades, the decision, strips, citations and the `Trace` itself."""

from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from typing import Any, Literal

from surefoot.types.metadata import NO_META, Meta

TRACE_SCHEMA = 4
"""Version of the JSON form of `Trace`. A release that changes a field raises it; traces of another are refused."""

Source = Literal["corpus", "external"]

Trust = Literal["trusted", "plain", "web", "untrusted"]


class Action(StrEnum):
    """The action that corrective RAG takes on what was retrieved (CRAG paper, section 4.3)."""

    CORRECT = "correct"
    AMBIGUOUS = "ambiguous"
    INCORRECT = "incorrect"


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document that was, or can be, retrieved."""

    id: str
    text: str
    title: str = ""
    source: Source = "corpus"
    url: str | None = None
    """The document's place for a reader: a path as it was indexed, or an address that its row or the web claims."""
    start: int = 0
    """Offset in characters of `text` in the document's extracted text."""
    score: float | None = None
    """The retriever's own score; higher is better, comparable only within one retrieval."""
    via: str = ""
    """The way a searcher found it ("direct title", "snippet"); empty: of the corpus, or there is only one way."""
    file: str | None = None
    """The file of an index that really holds it, by its path as indexed; None: not of an index."""
    trust: Trust = "plain"
    """Trust in its source: "untrusted" alone decides nothing, nor does the open "web" unless its grade's `cap` is
    CORRECT; "trusted" may repeat the question."""
    meta: Meta = NO_META
    """The fields of its document, such as its product or year; filters go by them."""
    places: tuple[tuple[int, str], ...] = ()
    """(offset in `text`, end of an address) of its first block and of each that stands elsewhere than the one before
    it: `url` leads to the first, `surefoot.text.places.located` to the others. Empty: `url` is the place of all."""


@dataclass(frozen=True, slots=True)
class Grade:
    """The evaluator's verdict on one passage."""

    passage_id: str
    score: float | None
    """On the evaluator's own scale; None: could not be graded, which is not "irrelevant"."""
    probability: float | None = None
    """Calibrated probability in [0, 1] that the passage holds the answer; None: the evaluator is not calibrated."""
    label: Action | None = None
    """The action that this passage alone would lead to; None: could not be graded."""
    reason: str = ""
    span: tuple[int, int] | None = None
    """Offsets of the answering words in the passage's text; None: the evaluator points at none."""
    window: tuple[int, int] | None = None
    """Offsets of the part of an over-long passage that earned the score; None: it was read whole."""
    cap: Action | None = None
    """The most that the passage may decide alone, whatever its score; `reason` says why. CORRECT: a language model read
    that it states the answer, which counts on the open web too. None: no cap."""

    def pointed(self, text: str) -> str:
        """The answering words in the passage's text; empty: the evaluator points at none."""
        return text[slice(*self.span)] if self.span else ""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The scores at which an evaluator's grades become actions, with the name of that evaluator."""

    upper: float
    """τ+: a passage at or above it carries the answer."""
    lower: float
    """τ−: a passage below it is of no use."""
    strip: float
    """A strip below it is dropped in refinement."""
    evaluator: str
    """Name of the evaluator whose scores these are."""
    fitted_on: str = ""
    """The data and the rule that they come from."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The action taken, with all that `redecide` needs to take it again from the same grades."""

    action: Action
    policy: str
    upper: float
    lower: float
    because: str
    best: float | None = None
    """The score the decision hangs on; None: no passage could be graded."""
    margin: float | None = None
    """Distance of `best` from the nearest threshold, in score units: how close the call was."""
    again: bool = False
    """Rewrite the question and retrieve again before acting (count policy)."""
    rewrites: int = 0
    """Rewrites made before this decision (count policy)."""


@dataclass(frozen=True, slots=True)
class RewrittenQuery:
    """A question in the words that find what it lacks."""

    query: str
    """For a search on the web; not empty."""
    question: str = ""
    """For the retriever; empty: `query` is for both."""
    missing: str = ""
    """Facts that nothing found so far states; empty: the rewriter does not tell."""


@dataclass(frozen=True, slots=True)
class Strip:
    """A slice of a passage: `text == passage.text[start:end]`. Dropped strips stay in the trace."""

    passage_id: str
    start: int
    end: int
    text: str
    score: float | None
    """None: it was not, or could not be, graded."""
    kept: bool
    reason: str = ""
    """Why it was dropped; empty for a kept one."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Kept evidence of two sources that disagree: of the corpus and from outside, or of two documents of the corpus. It
    is shown, never averaged; the reader judges."""

    local: str
    """Id of the passage of the corpus; of two, of the newer one, where their dates tell."""
    local_says: str
    """Its words, as they stand there."""
    external: str
    """Id of the passage from outside, or of the other one of the corpus."""
    external_says: str


@dataclass(frozen=True, slots=True)
class Citation:
    """One [n] of an answer, checked against the strip it names."""

    marker: int
    """The n of [n]: the position, from 1, among the strips that the generator was given."""
    strip: Strip | None
    """None: the answer cites a strip that does not exist."""
    quote: str
    """The words of the strip that carry the sentence, as they stand there; empty when there are none."""
    quoted: bool
    """True: these words stand in the source, and no other word of the sentence needs a source and lacks it. It does not
    say that they answer the question, nor that the source supports the sentence as a whole."""
    reason: str = ""
    """Why it is not quoted; empty for a quoted one."""
    supported: bool | None = None
    """True where the sources of the sentence together carry it, by the configured verifier; None: it could not tell, or
    nobody asked it."""
    title: str = ""
    """The title of the source and the headings above its words."""
    url: str | None = None
    """Where it opens, down to the page, the anchor or the line; None: nowhere."""
    date: str = ""
    """The source's, as its fields or properties give it; empty: they give none."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """A sentence, and the evidence to judge it by."""

    text: str
    evidence: tuple[Passage, ...]
    """Read together: what one of them begins another may complete."""
    context: str = ""
    """The question, or what was said before; it helps to read the sentence and carries nothing."""


@dataclass(frozen=True, slots=True)
class Support:
    """A verifier's verdict on an assertion."""

    probability: float | None
    """The calibrated chance that it does, in [0, 1]; None: the verifier gives none."""
    supported: bool | None
    """None: it cannot tell, and `reason` says why."""
    unsupported: tuple[tuple[int, int], ...] = ()
    """Offsets in the assertion's text of words that nothing carries, in order and disjoint."""
    reason: str = ""
    name: str = ""
    """The verifier's."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A fact that an answer's confidence rests on."""

    name: str
    """The fact, in words."""
    value: float
    adds: float
    """To the log-odds that the answer is right, beyond what this fact of an average answer adds to them."""


@dataclass(frozen=True, slots=True)
class Critique:
    """A model's opinion of a passage and of its own answer from it. None: it did not say."""

    relevance: float | None
    """Chance that the passage is relevant, in [0, 1] (ISREL of Self-RAG)."""
    support: float | None
    """How far the passage supports the answer, in [0, 1] (ISSUP)."""
    utility: float | None
    """How useful the answer is, in [-1, 1] (ISUSE)."""
    likelihood: float | None
    """The geometric mean of the chances of the answer's tokens, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Draft:
    """One of the answers among which a generator chose by its own critique."""

    text: str
    passages: tuple[str, ...]
    """Ids of those it was written from; empty: from memory."""
    critique: Critique
    worth: float
    """By which it was chosen: the weighted sum of the critique; in a closed task, of all drafts that say the same."""
    chosen: bool


NOT_THERE = "[not in the sources]"
"""Stands behind a sentence of a model's answer that no source carries."""
Certainty = Literal["sure", "likely", "unsure", "not found"]
"""How far an answer can be relied on. The first two are given plainly; an unsure one is hedged, and its passages stand
before it; where nothing answers, that is said."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The reply to the user: an answer with citations, or a refusal that names what was missing."""

    text: str
    citations: tuple[Citation, ...] = ()
    refused: bool = False
    model: str | None = None
    """None: no model was called."""
    withheld: str | None = None
    """The model's own words, where Surefoot refused to pass them on, quotes a source in place of those that needed a
    hedge, or removed addresses that are no source's."""
    hedged: bool = False
    """True: it may not answer what was asked, so the passages are shown before it. `because` says why."""
    because: str = ""
    """The reason of the hedge, or what a refusal has to say of the question itself; empty: there is none."""
    uncited: tuple[str, ...] = ()
    """Sentences of the text that no source carries, neither by its words nor by the verifier."""
    stands_for: str | None = None
    """The words that a letter or a verdict stands for, which are held against the sources in its place: those of the
    choice, or the claim that is called true. None: the text says what it means."""
    confidence: float | None = None
    """The calibrated chance that it is right, in [0, 1]; of a refusal, that what it withholds is. None: `unjudged` says
    why; a refusal for another reason has neither."""
    factors: tuple[Factor, ...] = ()
    """The facts that the confidence rests on; empty without one."""
    unjudged: str = ""
    """Why there is no confidence."""
    drafts: tuple[Draft, ...] = ()
    """The answers that it was chosen from, in the order of the sources; empty: the generator criticises none."""
    hedge: str = ""
    """The words with which the text begins where the answer is hedged; empty: it is not."""
    certainty: Certainty | None = None
    """How sure it is, in a word; None: a draft, before that is known."""
    worded: bool = False
    """True: a language model chose the words; False: it consists of quotations."""

    @property
    def body(self) -> str:
        """The text as the generator gave it, with its citations: without the hedge and the marks of the check."""
        text = self.text.removeprefix(self.hedge).lstrip("\n") if self.hedge else self.text
        return text.replace(f" {NOT_THERE}", "")

    def _repr_html_(self) -> str:
        return str(import_module("surefoot.cli._html_view").answer(self))  # by name: it is above this layer


@dataclass(frozen=True, slots=True)
class Step:
    """The cost and outcome of one step."""

    name: str
    seconds: float
    calls: int = 0
    """Calls of a language model."""
    graded: int = 0
    """(question, text) pairs scored by the evaluator."""
    escalated: int = 0
    """Pairs that a cascade also passed to its expensive evaluator; `graded` counts each of them twice."""
    tokens: int = 0
    """Prompt and output tokens of those calls."""
    cached: int = 0
    """Results that came out of a cache."""
    degraded: str | None = None
    """The declared fallback that was taken, in words."""
    error: str | None = None
    completion_tokens: int = 0
    """Output tokens among `tokens`."""
    started: str = ""
    """UTC, ISO 8601, to the millisecond."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything that led from a question to its answer."""

    id: str
    question: str
    passages: tuple[Passage, ...] = ()
    grades: tuple[Grade, ...] = ()
    """One for each of `passages` and then of `external`, in their order."""
    decision: Decision | None = None
    """None: the question failed, or its method makes no decision."""
    queries: tuple[str, ...] = ()
    """Queries asked beside the retrieval by the question itself, in order, each once."""
    external: tuple[Passage, ...] = ()
    strips: tuple[Strip, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    """Empty: the kept evidence agrees, as far as the evaluator points at answers."""
    read_as: str = ""
    """The question that was searched, graded and answered, complete without the turns before it; empty: `question`
    itself."""
    answer: Answer | None = None
    steps: tuple[Step, ...] = ()
    config: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The configuration that the pipeline was built from, as given."""
    error: str | None = None
    """The reason why there is no answer; None: the question ran to its end."""
    created: str = ""
    """UTC, ISO 8601."""
    filter: dict[str, Any] = field(default_factory=dict)
    """Of which documents passages might come, as `Filter.of` reads it; empty: of all."""
    earlier: tuple[Decision, ...] = ()
    """The decisions before `decision` that had the question rewritten and asked again, in order."""
    outside: Thresholds | None = None
    """By which passages from outside were labelled; None: by those of `decision`, or nothing was searched."""
    rewritten: tuple[RewrittenQuery, ...] = ()
    """The rewriter's notes beside plain queries, in order, asked or not; empty: it gives plain queries only."""
    schema: int = TRACE_SCHEMA

    @property
    def standalone_question(self) -> str:
        """The question that was searched, graded and answered."""
        return self.read_as or self.question

    @property
    def kept_strips(self) -> tuple[Strip, ...]:
        """The strips that an answer may stand on; [n] cites the n-th of them, from 1."""
        return tuple(strip for strip in self.strips if strip.kept)

    def _repr_html_(self) -> str:
        return str(import_module("surefoot.cli._html_view").trace(self))  # likewise


@dataclass(frozen=True, slots=True)
class Event:
    """A message to `on_event` while a question runs: where it stands, or a value as soon as it exists."""

    name: Literal[
        "begun",
        "read_as",
        "passages",
        "grades",
        "decision",
        "queries",
        "external",
        "strips",
        "conflicts",
        "text",
        "answer",
        "step_begins",
        "step",
        "ended",
    ]
    value: Any
    """The trace's field of that name. For "begun", the first, a `Trace` of id, question, time and configuration; for
    "ended", the last, the whole trace. For "step_begins" the step's name, for "step" the finished `Step`. For "text"
    the next sentences that a model wrote, as the check leaves them; "answer" brings the whole, which may begin with a
    hedge, or be another where the model failed."""
