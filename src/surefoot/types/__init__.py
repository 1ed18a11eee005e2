"""The values that flow through Surefoot: frozen, comparable, without behaviour. A question becomes a `Trace`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from surefoot.types.metadata import NO_META, Meta

TRACE_SCHEMA = 4
"""Version of the JSON form of `Trace`. A change of fields from one release to the next raises it and adds to
`store.MIGRATIONS`, by which earlier ones are read; a later one is refused."""

Source = Literal["corpus", "external"]
Standing = Literal["vouched", "plain", "doubted"]


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
    """The file of an index that really holds it, by its path as indexed; None: not of an index, or an older trace."""
    standing: Standing = "plain"
    """Trust in its source: "doubted" alone decides nothing, "vouched" may repeat the question."""
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
    """The most that the passage may decide alone, whatever its score; `reason` says why. None: no cap."""


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
    """What nothing found so far says; empty: the rewriter does not tell."""


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
    """Kept evidence of the corpus and from outside that disagree. It is shown, never averaged; the reader judges."""

    local: str
    """Id of the passage of the corpus."""
    local_says: str
    """Its words, as they stand there."""
    external: str
    """Id of the passage from outside."""
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
    """Whether the sources of the sentence together carry it, by the configured verifier; None: it could not tell, or
    nobody asked it."""
    title: str = ""
    """The title of the source and the headings above its words."""
    url: str | None = None
    """Where it opens, down to the page, the anchor or the line; None: nowhere."""


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
    """Whether evidence carries an assertion."""

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
    """What was counted, in words."""
    value: float
    adds: float
    """To the log-odds that the answer is right, beyond what this fact of an average answer adds to them."""


@dataclass(frozen=True, slots=True)
class Critique:
    """What a model thinks of a passage and of its own answer from it. None: it did not say."""

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


@dataclass(frozen=True, slots=True)
class Answer:
    """The reply to the user: an answer with citations, or a refusal that names what was missing."""

    text: str
    citations: tuple[Citation, ...] = ()
    refused: bool = False
    model: str | None = None
    """None: no model was called."""
    withheld: str | None = None
    """The model's own words, where Surefoot refused to pass them on or removed addresses that are no source's."""
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
    why; an older trace, and a refusal for another reason, have neither."""
    factors: tuple[Factor, ...] = ()
    """What the confidence rests on; empty without one."""
    unjudged: str = ""
    """Why there is no confidence."""
    drafts: tuple[Draft, ...] = ()
    """What it was chosen from, in the order of the sources; empty: the generator has no critique of its own."""


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
    completion_tokens: int | None = None
    """Output tokens among `tokens`; None: an older trace, which does not tell them apart."""
    started: str = ""
    """UTC, ISO 8601, to the millisecond; empty: an older trace."""

    @property
    def prompt_tokens(self) -> int | None:
        """Prompt tokens among `tokens`; None: an older trace, which does not tell them apart."""
        return None if self.completion_tokens is None else self.tokens - self.completion_tokens


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
    """Empty also where the kept evidence is of one kind only."""
    read_as: str = ""
    """The question that was searched, graded and answered: complete without the turns before it, and with its spelling
    mended; empty: `question` itself."""
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
    """What the rewriter told beside plain queries, in order, asked or not; empty: it gives plain queries only."""
    schema: int = TRACE_SCHEMA

    @property
    def asked(self) -> str:
        """The question that was searched, graded and answered."""
        return self.read_as or self.question

    @property
    def kept(self) -> tuple[Strip, ...]:
        """The strips that an answer may stand on; [n] cites the n-th of them, from 1."""
        return tuple(strip for strip in self.strips if strip.kept)


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing that an explanation credits: words of a question, a title or a text, or a passage of a trace."""

    side: Literal["question", "title", "text", "passage"]
    start: int
    """Offset in characters in the question, the title or the text; of a passage, 0."""
    end: int
    words: str
    """The words there; of a passage, its id."""


@dataclass(frozen=True, slots=True)
class Interaction:
    """The worth of two units together beyond their separate worth (Shapley interaction index)."""

    first: int
    """Number of the unit in `Attribution.units`, from 0."""
    second: int
    value: float
    error: float
    """Standard error; 0: every coalition was counted."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """Shapley values: how much each unit adds to a number, and how far these shares can be trusted."""

    of: str
    """The explained number in words, and whose it is."""
    question: str
    passage: Passage | None
    """None: the units are passages."""
    units: tuple[Unit, ...]
    values: tuple[float, ...]
    """One for each unit, on the scale of the number itself."""
    errors: tuple[float, ...]
    """The standard error of each value; 0: every coalition was counted."""
    base: float
    """The number without any of the units."""
    full: float
    """The number as it is."""
    gap: float
    """`full - base - sum(values)`: 0 but for rounding, or something is wrong."""
    method: Literal["exact", "regression", "permutation", "owen"]
    baseline: Literal["", "delete", "filler", "pad"]
    """The stand-in for removed words; empty: the units are passages."""
    evaluations: int
    """Distinct coalitions evaluated, including those of `interactions`."""
    seed: int
    tolerance: float
    """The largest standard error allowed, as a share of the largest value."""
    reached: bool
    """True: the tolerance was met. False: the allowed evaluations ran out first."""
    ties: tuple[tuple[int, ...], ...] = ()
    """Groups of units with equal values, by number: their order means nothing."""
    interactions: tuple[Interaction, ...] = ()
    notes: tuple[str, ...] = ()
    """Caveats for the reader, such as the score assumed for a text without words."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation with a language model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Token:
    """A token that a language model wrote, and those that it weighed in its place."""

    text: str
    logprob: float
    """Natural logarithm of its probability: 0 or less."""
    weighed: tuple[tuple[str, float], ...] = ()
    """The likeliest tokens in its place, each with its log-probability; it may be among them or not."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A language model's reply."""

    text: str
    model: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    truncated: bool = False
    """The token limit cut it off."""
    tokens: tuple[Token, ...] = ()
    """What the text is made of, with log-probabilities; empty: the endpoint gave none, or was not asked for them."""


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
    the next piece of the model's draft, which nobody has checked: "answer" brings what was."""


@dataclass(frozen=True, slots=True)
class Record:
    """One question as some RAG system answered it: all that a judge may see."""

    id: str
    question: str
    contexts: tuple[Passage, ...] | None = None
    """The generator's sources, in its order. None: nobody kept them; empty: there were none."""
    answer: str | None = None
    """None: nobody kept it; empty: there was none, or a refusal without words."""
    truths: tuple[str, ...] = ()
    """Reference answers, any of which will do; empty: there is none."""
    note: str = ""
    """The structure that an answer should have; empty: not said."""
    group: str = ""
    """Records of one group are not independent of each other; empty: a group of its own."""
    tags: dict[str, str] = field(default_factory=dict)
    """Labels by which results are grouped, such as `domain` or `system`."""
    trace: Trace | None = None
    """Of a run of Surefoot; None: the record comes from elsewhere."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Words that a judge quotes from a record."""

    text: str
    where: str
    """"question", "answer", "truth", "note", or the id of a context; empty: they stand nowhere."""
    verified: bool
    """True: they stand there, word for word but for white space and case."""


@dataclass(frozen=True, slots=True)
class Score:
    """A judge's verdict on one record."""

    record_id: str
    metric: str
    value: float | None
    """In [0, 1], higher is better; None: unscored, or the metric does not apply."""
    rating: int | None = None
    """1 to 5, as it was judged; None: the judge does not rate. Where there is one, `value` is a fifth of it."""
    reason: str = ""
    """The judge's explanation, about this metric alone."""
    quotes: tuple[Quote, ...] = ()
    """The explanation's quotations from the record, each looked up there."""
    unscored_because: str = ""
    """The reason why there is no value; empty: there is one."""
    passing: bool = False
    """True: the obstacle may pass, so a resumed run asks again."""
    applies: bool = True
    """False: the record lacks what the metric is about; it counts in no mean and is no failure."""
    judge: str = ""
    repeats: tuple[float, ...] = ()
    """The values whose mean is `value`, where it was judged several times; empty: it was judged once."""
    calls: int = 0
    """Of a language model."""
    tokens: int = 0


Level = Literal["low", "moderate", "high"]
"""A mean below .5, below .9, or from .9 on."""

Priority = Literal["critical", "high", "medium"]


@dataclass(frozen=True, slots=True)
class Summary:
    """The scores of one metric, summed up over all records."""

    metric: str
    mean: float | None
    """Over the scored records; None: there are none."""
    low: float | None
    """95 % interval of the mean, from a bootstrap over groups; None: fewer than two groups."""
    high: float | None
    smallest: float | None
    largest: float | None
    scored: int
    unscored: int
    not_applicable: int
    """Records left out of every mean and bound."""
    least: float | None
    """The mean if every unscored record had the metric's lowest value."""
    most: float | None
    """The mean if every unscored record had 1."""
    level: Level | None
    unscored_because: dict[str, int] = field(default_factory=dict)
    """The number of unscored records by reason."""


@dataclass(frozen=True, slots=True)
class Insight:
    """A reading of one metric's scores in three to five plain sentences."""

    metric: str
    level: Level
    text: str
    by: str
    """The model that wrote it, or "rules"."""
    unsupported: tuple[str, ...] = ()
    """Numbers, quotations and settings in the text that the run does not support."""


@dataclass(frozen=True, slots=True)
class Gain:
    """The effect of a change on questions that nobody had looked at before."""

    metric: str
    before: float
    after: float
    difference: float
    low: float
    """95 % interval of the difference, paired, from a bootstrap over groups."""
    high: float
    p: float
    """Two-sided, of the paired test."""
    questions: int


@dataclass(frozen=True, slots=True)
class ActionItem:
    """A change to make, with its reason and effect. Texts may hold Markdown, which the viewer must sanitise."""

    title: str
    """The change in a few words."""
    priority: Priority
    problem_detection: str
    problem_detection_gist: str
    root_cause_analysis: str
    root_cause_analysis_gist: str
    evidence_trace: str
    evidence_trace_gist: str
    recommended_protocol: str
    recommended_protocol_gist: str
    stage: str = ""
    """The part at fault: "retrieval", "ranking", "chunking", "grading", "search",
    "refinement", "grounding", "format", "refusal", "data"; empty: a model wrote the item and named none."""
    metrics: tuple[str, ...] = ()
    """The metrics that show the fault."""
    cases: tuple[str, ...] = ()
    """Ids of records that show the fault."""
    patch: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The change as settings of `surefoot.toml`, by section and key; empty: no setting does it."""
    predicted: float | None = None
    """The patch's expected gain in the first of `metrics`; None: none is expected."""
    realised: Gain | None = None
    """None: it was not tried."""
    unsupported: tuple[str, ...] = ()
    """Numbers, quotations and settings in the texts that the run does not support."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A run's scores turned into advice."""

    executive_summary: str
    executive_summary_gist: str
    insights: tuple[Insight, ...]
    items: tuple[ActionItem, ...]
    """The most urgent first; at most four."""
    strategic_conclusion: str
    by: str
    """The model that wrote it, or "rules"."""
    unsupported: tuple[str, ...] = ()
    """Claims of the summary and the conclusion that the run does not support."""
    fallback: str = ""
    """The reason why the rules wrote it although a model was asked; empty: no model was asked, or its report stands."""


BlockKind = Literal["paragraph", "list", "table", "code", "definition", "caption", "note", "contents"]
"""`contents`: only links to other parts or pages, such as a table of contents or a menu."""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a document as its author set it apart. `surefoot.text.blocks` writes the text of each kind."""

    text: str
    """Plain Markdown; only lists, tables, code and definitions hold line ends."""
    kind: BlockKind = "paragraph"
    path: tuple[str, ...] = ()
    """The headings that it stands under, outermost first, without the document's title."""
    place: str = ""
    """Where a reader finds it, as the end of an address: "anchor", "page=12", "L40"; empty: somewhere in the file."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text on its own: a whole file, or one row of a table."""

    key: str
    """Unique in its file and stable while the document's content is; "" where the file is one document."""
    title: str
    blocks: tuple[Block, ...]
    """In the order of the text."""
    url: str | None = None
    """The row's own address; None: the file is where a reader finds it."""
    id: str | None = None
    """The row's own id, which its passages take over; None: they get theirs from what they say."""
    meta: Meta = NO_META
    """Its fields, such as its product or year, which all its passages carry."""

    @property
    def text(self) -> str:
        """The whole text, an empty line between two blocks."""
        return "\n\n".join(block.text for block in self.blocks)


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """Something in a file that was not read, or was read with a reservation."""

    reason: str
    skipped: bool = True
    """False: nothing is missing, but the text may not be what its author wrote."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One thing that can be good or bad about an answered question: an edge of the diamond of question, context, answer
    and truth. Its judge declares it as `about`; reports and pages take their words from here."""

    name: str
    edge: tuple[str, str]
    """From which corner of the diamond to which."""
    sees: tuple[str, ...]
    """Fields of the record that a judge of it may be shown, and no others."""
    about: str
    """The question that it answers, in one line."""
    levels: tuple[str, ...] = ()
    """The meaning of each rating, from 5 down to 1; empty: no language model can rate it."""
    special: str = ""
    """Rules for a judge beside the levels."""
    switch: str = ""
    """Another rule, which may be switched off; empty: there is none."""
    stage: str = "generation"
    """The part of a system that it is about, as a diagnosis names it."""
    good: str = ""
    """A high mean stands for these, such as "answers that address what was asked"; empty: nothing is said of it."""
    advice: str = ""
    """For a low mean, in the imperative and without a full stop; empty: there is none."""
    remedy: tuple[str, str] = ("format", "form")
    """Stage and kind of the remedy for a record that it alone scores low: a table of `remedies.toml`."""
    place: int = 100
    """Where it stands among the others: they are told in this order, the lowest first."""
    alias: str = ""
    """A shorter name that texts use; empty: there is none."""
    label: str = ""
    """Its name on a page; empty: `name` in words."""
    aside: str = ""
    """Words behind its edge on a page, such as "structure"; empty: none."""

    @property
    def key(self) -> str:
        """The key of a rating in a model's reply."""
        return f"{self.name}_score"

    @property
    def title(self) -> str:
        """Its name in a text."""
        return self.name.replace("_", " ").title()
