"""The failure of each lost record: the first stage from question to answer that failed it, with its evidence."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from surefoot.evaluate.diagnose import evidence as texts
from surefoot.evaluate.diagnose.evidence import Corpus, Pool, holds, locatable, seen_by
from surefoot.evaluate.diagnose.record_context import STRONG, RecordContext, quoted
from surefoot.evaluate.diagnose.settings import SystemSettings
from surefoot.evaluate.score.calibration import Calibration
from surefoot.judges._diamond import metrics as diamond
from surefoot.stats.figures import roc_auc
from surefoot.stats.text import percent
from surefoot.text.words import STOP_WORDS, words
from surefoot.types import Action, Metric, Passage, Record, Score, Trace

STAGES = tuple(
    "error retrieval chunking ranking grading thresholds search refinement truncation grounding refusal reading "
    "format".split()
)
"""The stages in the order of mending, which decides between two that lost as many records."""

COVERED = 0.75
"""Recall above this says that the evidence was read, in whatever words."""
FEW = 5
"""With fewer passages retrieved, a missing one may just have had no room."""
DEEP = 5
"""Place, from 0, from which a passage that was read stands far down."""
SEPARATES = 0.75
"""AUC of the grades from which the evaluator can tell passages apart, so that its thresholds are to blame."""
LONG = 12
"""Words of an answer that should end like a sentence, where nothing is known of its limit."""

_CUT = r"\b(?:cut|split|truncat\w+|mid-sentence|fragment\w*|incomplete)\b"


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why one record was lost."""

    record_id: str
    stage: str
    """One of `STAGES`."""
    kind: str
    """The kind of fault: together with the stage a key of `remedies.REMEDIES`."""
    evidence: str


def contexts(
    records: Sequence[Record],
    scores: Sequence[Score],
    config: Mapping[str, Mapping[str, Any]],
    corpus: Corpus | None = None,
    metrics: Mapping[str, Metric] | None = None,
    calibrations: Iterable[Calibration] = (),
) -> tuple[RecordContext, ...]:
    """Each record with all that tells whether it is lost, and by which stage.

    `corpus` says whether the corpus holds its evidence; without it, only what other questions retrieved can tell.
    `metrics` None: the built-in ones. Where several judges of a metric are calibrated, the last counts.
    """
    valued: defaultdict[str, dict[str, Score]] = defaultdict(dict)
    for score in scores:
        if score.value is not None:
            valued[score.record_id][score.metric] = score
    pool, known = Pool(records), diamond() if metrics is None else metrics
    held = [pool.holds(record) or (corpus(record) if corpus else None) for record in records]
    fitted = {one.metric: one for one in calibrations}
    pairs = zip(records, held, strict=True)
    return tuple(RecordContext(record, valued[record.id], config, there, known, fitted) for record, there in pairs)


def failures(cases: Sequence[RecordContext]) -> tuple[Failure, ...]:
    """A failure for each lost record, in their order: the first stage from corpus to answer that did not hand on the
    evidence. No model is called."""
    found = [failure for case in cases if case.verdict == "lost" and (failure := _failure(case))]
    pairs = graded([case.record for case in cases])
    area = roc_auc([score for score, _ in pairs], [good for _, good in pairs]).value if pairs else None
    # Passages without evidence among which none has any say nothing of the evaluator; thresholds are cheaper to mend.
    fault = "thresholds" if area is None or area >= SEPARATES else "grading"
    return tuple(replace(f, stage=fault) if f.stage == "grading" and f.kind != "ungraded" else f for f in found)


def graded(records: Iterable[Record]) -> list[tuple[float, bool]]:
    """The evaluator's scores of the run, each with whether the passage bears a reference answer."""
    return [
        (score, texts.bears(record.question, passage, record.truths))
        for record in records
        if record.trace and locatable(record.truths)
        for grades in [{grade.passage_id: grade.score for grade in record.trace.grades}]
        for passage in seen_by(record)
        if (score := grades.get(passage.id)) is not None
    ]


# The walk


def _failure(case: RecordContext) -> Failure | None:
    trace = case.record.trace
    if trace and _error(trace):
        return _fault(case, "error", "failed", "a part failed before there was an answer")
    if not case.record.answerable:
        return _fault(case, "grounding", "unanswerable", "nothing answers the question, by its data")
    if (has_read := _was_read(case)) is None:
        return _by_signature(case)
    if has_read:
        return _generation(case)
    if trace and (good := [passage for passage in seen_by(case.record) if case.bears(passage)]):
        return _between(case, trace, good)
    return _not_retrieved(case)


def _was_read(case: RecordContext) -> bool | None:
    """True if the generator had the evidence; None: nothing tells."""
    sources, recall = case.sources, case.value("context_recall")
    if recall is not None and recall > COVERED and sources != ():
        return True
    if sources is None or not locatable(case.record.truths):
        return None
    return any(map(case.bears, sources)) or texts.together(sources, case.record.truths)


def _between(case: RecordContext, trace: Trace, good: Sequence[Passage]) -> Failure:
    """The fate of evidence that was found and never read."""
    grades = {grade.passage_id: grade for grade in trace.grades}
    useful = [p for p in good if not grades or (p.id in grades and grades[p.id].label not in (None, Action.INCORRECT))]
    if not useful:
        scored = [grade.score for p in good if (grade := grades.get(p.id)) and grade.score is not None]
        passage = f"the passage that holds {_truth(case)}"
        if not scored:
            return _fault(case, "grading", "ungraded", f"{passage} could not be graded")
        lower = f", below the lower threshold at {trace.decision.lower:.3g}" if trace.decision else ""
        return _fault(case, "grading", "strict", f"{passage} was graded {max(scored):.3g}{lower}")
    ids = {passage.id for passage in useful}
    strips = [strip for strip in trace.strips if strip.passage_id in ids]
    bearing = [strip for strip in strips if holds(strip.text, case.record.truths)]
    if used := {strip.text for strip in bearing if strip.kept}:
        if used & {passage.text for passage in case.sources or ()}:
            return _generation(case)  # what is asked about stands elsewhere in the passage
        return _fault(case, "truncation", "sources", f"{_truth(case)} was kept, and there was no room for it")
    if strips and not bearing:
        return _fault(case, "refinement", "cut", f"the passage that holds {_truth(case)} was cut so that no strip does")
    if any(not strip.reason.startswith("not among") for strip in bearing):
        scores = [strip.score for strip in bearing if strip.score is not None]
        best = f" at {max(scores):.3g}" if scores else ""
        return _fault(case, "refinement", "dropped", f"the strip that holds {_truth(case)} was dropped{best}")
    found = [passage.id for passage in seen_by(case.record)]
    place = f"passage {found.index(useful[0].id) + 1} of {len(found)}"
    return _fault(case, "ranking", "late", f"{_truth(case)} stands in {place} and was not among what was read")


def _not_retrieved(case: RecordContext) -> Failure:
    """Nothing that was found holds the evidence: which stage should have brought it?"""
    found, trace = seen_by(case.record), case.record.trace
    missing = f"{_truth(case)} stands in {_none_of(len(found))}"
    if texts.torn(found, case.record.truths):
        return _fault(case, "chunking", "split", f"{missing}, and a passage breaks off inside it")
    if trace is None or case.held or (case.held is None and len(trace.passages) < FEW):
        known = {True: ", though the corpus holds it", False: ", nor in the corpus", None: ""}[case.held]
        return _fault(case, "retrieval", "miss", f"{missing}{known}")
    # The corpus seems to lack the evidence: was it looked for elsewhere?
    if any(step.error for step in trace.steps if step.name == "search"):
        return _fault(case, "search", "failed", f"{missing}, and the search outside failed")
    if _searches_nowhere(case):
        return _fault(case, "search", "off", f"{missing}, and no searcher is configured")
    if trace.decision is None:
        return _fault(case, "retrieval", "miss", missing)
    if trace.decision.action is Action.CORRECT:
        best = "" if trace.decision.best is None else f" at {trace.decision.best:.3g}"
        what = f"{missing}, and yet the best was graded CORRECT{best} and nothing searched"
        return _fault(case, "grading", "lax", what)
    return _fault(case, "search", "nothing", f"{missing}, {len(trace.external)} of them from the search outside")


def _generation(case: RecordContext) -> Failure:
    """The evidence was read, and still the record is lost."""
    text = case.answer
    there = f"{_truth(case)} was in what was read" if case.record.truths else "what was read holds the evidence"
    if text.strip() and _truncated(case):
        return _fault(case, "truncation", "answer", f"{there}, and the answer breaks off")
    if case.refused and (not text.strip() or texts.declines(text) or not case.withheld):
        return _fault(case, "refusal", "silent", there)
    if case.right:  # and a metric of one's own is low
        bad_form = "the answer is right, but not as it should look"
        return _by_metric(case, case.own) or _fault(case, "format", "form", bad_form)
    if case.weak("context_adherence"):
        return _fault(case, "grounding", "invented", f"{there}, and the answer says what is not")
    if not case.record.trace:  # with one, what was read is in order of its grades, and short
        first = [case.bears(passage) for passage in case.record.contexts or ()]
        if True in first and first.index(True) >= DEEP:
            return _fault(case, "ranking", "late", f"{there}, but {DEEP} passages or more stood before it")
    return _fault(case, "reading", "wrong", there)


def _by_signature(case: RecordContext) -> Failure | None:
    """The failure by the scores alone, from the corpus to the answer."""
    weak = [metric for metric in ("context_recall", "context_relevancy") if case.weak(metric)]
    fed = any((case.value(metric) or 0.0) >= STRONG for metric in ("context_relevancy", "context_recall"))
    silent = case.record.answer is not None and case.refused
    if weak and not (silent and case.sources == ()):  # judges of contexts that are not there say nothing of retrieval
        relevancy = case.scores.get("context_relevancy")
        cut = relevancy is not None and re.search(_CUT, relevancy.reason, re.IGNORECASE)
        return _fault(case, *(("chunking", "split") if cut else ("retrieval", "miss")), _scored(case, weak))
    if silent and case.sources != () and (fed or case.sources):
        return _fault(case, "refusal", "silent", "there was something to answer from")
    if silent:  # with nothing to answer from: the answer that it would have been is unknown
        if case.record.trace is None or not case.record.trace.passages:
            return _fault(case, "retrieval", "miss", "there was nothing to answer from")
        what = f"{_none_of(len(seen_by(case.record)))} was graded good enough"
        return _fault(case, "search", "off" if _searches_nowhere(case) else "nothing", what)
    if _truncated(case):
        return _fault(case, "truncation", "answer", "the answer breaks off")
    if case.weak("context_adherence"):
        return _fault(case, "grounding", "invented", _scored(case, ["context_adherence"]))
    if case.right is False:
        return _fault(case, "reading", "wrong", _scored(case, ["factuality"]) or "the answer is not a reference answer")
    return _by_metric(case, ["grading_note", *(name for name in case.metrics if case.metrics[name].decides)])


def _by_metric(case: RecordContext, names: Iterable[str]) -> Failure | None:
    """The failure that the first weak one of these metrics stands for."""
    weak = next((name for name in names if case.weak(name)), None)
    return _fault(case, *case.metrics[weak].remedy, _scored(case, [weak])) if weak else None


# What it goes by


def _searches_nowhere(case: RecordContext) -> bool:
    return SystemSettings(case.config).use("searcher") == "nowhere"


def _error(trace: Trace) -> str:
    """The error that prevented an answer; empty: none did."""
    vital = (step.error for step in trace.steps if step.name in ("retrieve", "generate") and step.error)
    return trace.error or next(vital, "")


def _truncated(case: RecordContext) -> bool:
    """True if an answer was cut off: its trace says so, or, without one, it ends within a sentence."""
    if trace := case.record.trace:
        return any("cut off after" in (step.degraded or "") for step in trace.steps if step.name == "generate")
    text = words(case.answer)
    return bool(text) and not texts.ended(case.answer) and (text[-1] in STOP_WORDS or len(text) >= LONG)


# How it is told


def _fault(case: RecordContext, stage: str, kind: str, what: str) -> Failure:
    trace = case.record.trace
    if trace and (error := _error(trace)):
        ending = f"the error was {quoted(error)}"
    elif case.refused:
        held_back = case.withheld and words(case.answer)
        ending = f"the answer {quoted(case.answer)} was withheld" if held_back else "it was refused"
    else:
        ending = f"the answer was {quoted(case.answer)}" if words(case.answer) else "the answer is not known"
    return Failure(case.record.id, stage, kind, f"{what}; {ending}." if what else f"{ending}.")


def _truth(case: RecordContext) -> str:
    return quoted(next((truth for truth in case.record.truths if locatable((truth,))), case.record.truths[0]))


def _scored(case: RecordContext, metrics: Iterable[str]) -> str:
    there = (metric for metric in metrics if metric in case.scores)
    return " and ".join(f"{case.metrics[metric].title} is {percent(case.value(metric), 0)}" for metric in there)


def _none_of(passages: int) -> str:
    if passages < 2:
        return "nothing that was found" if passages else "no passage, since none was found"
    return f"none of the {passages} passages found"
