"""The values of an evaluation: records, scores, and what a diagnosis makes of them."""

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

from surefoot.types.trace import Passage, Trace

Level = Literal["low", "moderate", "high"]
"""A mean below .5, below .9, or from .9 on."""

Priority = Literal["critical", "high", "medium"]

Verdict = Literal["right", "lost", "undecided"]


@dataclass(frozen=True, slots=True)
class Record:
    """One question as some RAG system answered it: all that a judge may see."""

    id: str
    question: str
    contexts: tuple[Passage, ...] | None = None
    """The generator's sources, in its order. None: they were not recorded; empty: there were none."""
    answer: str | None = None
    """None: it was not recorded; empty: there was none, or a refusal without words."""
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
    history: tuple[tuple[str, str], ...] = ()
    """Questions and answers before it in the same conversation, the oldest first."""
    answerable: bool = True
    """False: the data say that nothing answers the question, so a refusal is right and any answer is wrong."""
    context_ids: tuple[str, ...] = ()
    """Ids of what was retrieved, as the data name them; empty: they do not."""
    reference_ids: tuple[str, ...] = ()
    """Ids of the passages that hold the answer; empty: not known."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Words that a judge quotes from a record."""

    text: str
    where: str
    """"question", "answer", "truth", "note", or the id of a context; empty: they stand nowhere."""
    verified: bool
    """True: they stand there, word for word but for white space and case."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of an answer or of a reference answer, and how likely its sources carry it."""

    text: str
    """Word for word as it stands there."""
    chance: float
    """The verifier's, in [0, 1]; 0 or 1 of a verifier that only says yes or no."""


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
    claims: tuple[Claim, ...] = ()
    """The statements that `value` comes from, in the order of their text; empty: it was not judged by any."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One property of an answered question: an edge of the diamond of question, context, answer and truth. Its judge
    declares it as `about`."""

    name: str
    edge: tuple[str, str]
    """Two corners of the diamond: from, to."""
    sees: tuple[str, ...]
    """The fields of the record that a judge of it may be shown."""
    about: str
    """The question that it answers, in one line."""
    levels: tuple[str, ...] = ()
    """The meaning of each rating, from 5 down to 1; empty: it is not rated so."""
    special: str = ""
    """Rules for a judge beside the levels."""
    abstention: str = ""
    """A rule for answers that say that the context lacks the information, which can be switched off; empty: none."""
    remedy: tuple[str, str] = ("format", "form")
    """Stage and kind of the remedy for a record that it alone scores low: a table of `remedies.toml`."""
    scale: dict[str, float] = field(default_factory=dict)
    """The words that a language model chooses from in place of ratings, each with its score."""
    decides: bool = True
    """False: a low score by it loses no record."""

    @property
    def key(self) -> str:
        """The key of a rating in a model's reply."""
        return f"{self.name}_score"

    @property
    def choices(self) -> dict[str, float]:
        """What a language model chooses from, each with its score; empty: none can judge it."""
        return self.scale or {str(rating): rating / 5 for rating in range(5, 0, -1) if self.levels}

    @property
    def title(self) -> str:
        """Its name in a text."""
        return self.name.replace("_", " ").title()


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
    corrected: int = 0
    """The number of people's labels that mean and interval are corrected with, so that they are the mean that people
    would give; 0: they are the judge's own."""


@dataclass(frozen=True, slots=True)
class Insight:
    """A reading of one metric's scores in three to five plain sentences."""

    metric: str
    level: Level
    text: str
    by: str
    """The model that wrote it, or "rules"."""


@dataclass(frozen=True, slots=True)
class RecordOutcome:
    """What became of one answer, and where it was lost, by the rules of the diagnosis."""

    record_id: str
    verdict: Verdict
    step: str = ""
    """The first step of the funnel that it did not pass: "run", "retrieved", "kept", "read", "grounded" or "right";
    empty: it is not lost."""
    stage: str = ""
    """The stage at fault, as an `ActionItem` names it."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Gain:
    """The effect of a change on some questions, paired."""

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
    """Ids of the records that show the fault: all of them by the rules, those that it quotes by a model."""
    patch: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The change as settings of `surefoot.toml`, by section and key; empty: no setting does it."""
    alternatives: tuple[dict[str, dict[str, Any]], ...] = ()
    """Other settings for the same fault, to be tried after `patch`."""
    predicted: float | None = None
    """The patch's expected gain in the first of `metrics`; None: none is expected, or it was tried."""
    on_cases: Gain | None = None
    """The effect of `patch` on the item's own cases; None: it was not tried."""
    on_others: Gain | None = None
    """Its effect on as many other records, drawn by the seed."""
    realised: Gain | None = None
    """Its effect on held-out questions; None: it was not tried there."""


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
    fallback: str = ""
    """The reason why the rules wrote it although a model was asked; empty: no model was asked, or its report stands."""

    def _repr_html_(self) -> str:
        return str(import_module("surefoot.cli._html_view").diagnosis(self))  # by name: it is above this layer
