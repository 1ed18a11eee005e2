"""The values that flow through Surefoot: frozen, comparable, without behaviour. A question becomes a `Trace`."""

from surefoot.types.documents import Block, BlockKind, Document, DocumentProblem
from surefoot.types.evaluation import (
    ActionItem,
    Claim,
    Diagnosis,
    Gain,
    Insight,
    Level,
    Metric,
    Priority,
    Quote,
    Record,
    RecordOutcome,
    Score,
    Summary,
    Verdict,
)
from surefoot.types.explanation import Attribution, Unit
from surefoot.types.llms import Completion, Message, Prices, Spent, Token
from surefoot.types.trace import (
    NOT_THERE,
    TRACE_SCHEMA,
    Action,
    Answer,
    Assertion,
    Certainty,
    Citation,
    Conflict,
    Critique,
    Decision,
    Draft,
    Event,
    Factor,
    Grade,
    Passage,
    RewrittenQuery,
    Source,
    Step,
    Strip,
    Support,
    Thresholds,
    Trace,
    Trust,
)
