"""The failure of each lost record: the first stage from question to answer that failed it, with its evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from surefoot.evaluate.diagnose.evidence import (
    Corpus,
    Pool,
    bears,
    declines,
    ended,
    holds,
    locatable,
    seen_by,
    tiny,
    together,
    torn,
)
from surefoot.judges._diamond import metrics as diamond
from surefoot.stats.figures import roc_auc, token_f1
from surefoot.text.words import STOP_WORDS, content_words, sentences, stem, words
from surefoot.types import Action, Grade, Metric, Passage, Record, Score, Trace

STAGES = tuple(
    "error retrieval chunking ranking grading thresholds search refinement truncation grounding refusal reading "
    "format".split()
)
"""The stages in the order of mending, which decides between two that lost as many records."""

WEAK = 0.5
"""A score up to this loses a record: a rating of 2, or of 1."""
GAPS = 0.6
"""The same limit for factuality, where 3 means that the core is there with gaps."""
STRONG = 0.7
"""A score from this up says that a stage did its work: a rating of 4, or of 5."""
COVERED = 0.75
"""Recall above this says that the evidence was read, in whatever words."""
FEW = 5
"""With fewer passages retrieved, a missing one may just have had no room."""
DEEP = 5
"""Place, from 0, from which a passage that was read stands far down."""
SEPARATES = 0.75
"""AUC of the grades from which the evaluator can tell passages apart, so that its thresholds are to blame."""
SUPPORTED = 0.5
"""Share of an answer's own words that stand in what was read, below which it was made up."""
ROOM = 0.6
"""An answer that does not end, and has so many words for each token allowed, was cut off."""
LONG = 12
"""Words of an answer that should end like a sentence, where nothing is known of its limit."""

_MARKER = re.compile(r"(?<!\s)\s*\[\d[\d\s,]*\]")
_CUT = re.compile(r"\b(?:cut|split|truncat\w+|mid-sentence|fragment\w*|incomplete)\b", re.IGNORECASE)
_QUOTE_WORDS = 14

Valued = Mapping[str, Score]
"""A record's scores that have a value, by metric."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why one record was lost."""

    record_id: str
    stage: str
    """One of `STAGES`."""
    kind: str
    """The kind of fault: together with the stage a key of `remedies.REMEDIES`."""
    evidence: str
    """One or two sentences with quotations from the record."""


@dataclass(frozen=True, slots=True)
class Cue:
    """All that the walk over one record goes by."""

    record: Record
    scores: Valued
    config: Mapping[str, Mapping[str, Any]]
    held: bool | None
    """Whether the corpus holds the evidence; None: nobody knows."""
    metrics: Mapping[str, Metric] = field(default_factory=diamond)
    """The metrics by name, in the order of texts."""

    def value(self, metric: str) -> float | None:
        """The score; None: there is none."""
        score = self.scores.get(metric)
        return score.value if score else None

    def weak(self, metric: str) -> bool:
        """Whether it is scored, and low."""
        value = self.value(metric)
        return value is not None and value <= WEAK

    def strong(self, metric: str) -> bool:
        """Whether it is scored, and high."""
        value = self.value(metric)
        return value is not None and value >= STRONG


def failures(
    records: Sequence[Record],
    scores: Sequence[Score],
    config: Mapping[str, Mapping[str, Any]],
    corpus: Corpus | None = None,
    metrics: Mapping[str, Metric] | None = None,
) -> tuple[Failure, ...]:
    """A failure for each lost record, in their order; no model is called.

    A record is lost where its answer is wrong, refused, or scored low. The first stage from corpus to answer that did
    not hand on the evidence is at fault. `corpus` says whether the corpus holds it; without it, only what other
    questions retrieved can tell. `metrics` None: the built-in ones.
    """
    known = diamond() if metrics is None else metrics
    valued = by_record(scores)
    pool = Pool(records)
    found: list[Failure] = []
    for record in records:
        held = True if pool.holds(record) else corpus(record) if corpus else None
        cue = Cue(record, valued.get(record.id, {}), config, held, known)
        if lost(cue) and (failure := _failure(cue)):
            found.append(failure)
    fault = "thresholds" if separated(records) else "grading"
    return tuple(replace(f, stage=fault) if f.stage == "grading" and f.kind != "ungraded" else f for f in found)


def by_record(scores: Iterable[Score]) -> dict[str, dict[str, Score]]:
    """The scores that have a value, by record and metric; of several judges of a metric, the last one's."""
    found: dict[str, dict[str, Score]] = {}
    for score in scores:
        if score.value is not None:
            found.setdefault(score.record_id, {})[score.metric] = score
    return found


def right(cue: Cue) -> bool | None:
    """Whether the answer is right: by its factuality, or by the words of a reference answer; None: nobody can say."""
    value = cue.value("factuality")
    if value is not None:
        return value > GAPS
    if not cue.record.truths or cue.record.answer is None:
        return None
    said = answer(cue.record)
    if refused(cue.record) and (_withheld(cue.record) or not holds(said, cue.record.truths)):
        return False
    if not locatable(cue.record.truths):
        return bool({word for truth in cue.record.truths for word in words(truth)[:1]} & set(words(said)[:1]))
    return holds(said, cue.record.truths) or token_f1(said, cue.record.truths) > GAPS


def lost(cue: Cue) -> bool:
    """Whether the record is one to mend."""
    verdict = right(cue)
    if verdict is False or (cue.record.trace and cue.record.trace.error):
        return True
    if verdict is None and cue.record.answer is not None and refused(cue.record):
        return True
    looked = [m for m in cue.metrics.values() if not verdict or ("answer" in m.sees and "truths" not in m.sees)]
    return any(cue.weak(metric.name) for metric in looked)


def refused(record: Record) -> bool:
    """Whether there is no answer, or one that says so."""
    if record.trace and record.trace.answer:
        return record.trace.answer.refused or declines(record.trace.answer.text)
    return record.answer is not None and declines(record.answer)


def answer(record: Record) -> str:
    """The generator's words without its markers, also where they were withheld."""
    made = record.trace.answer if record.trace else None
    said = (made.withheld or made.text) if made and made.refused else record.answer or ""
    return _MARKER.sub("", said)


def read(record: Record) -> tuple[Passage, ...] | None:
    """The texts that the generator was given; None: they were not kept."""
    if record.trace is None or record.contexts is not None:
        return record.contexts
    origin = {passage.id: passage for passage in seen_by(record)}
    kept = [strip for strip in record.trace.strips if strip.kept]
    return tuple(
        replace(origin[strip.passage_id], text=strip.text)
        if strip.passage_id in origin
        else Passage(strip.passage_id, strip.text)
        for strip in kept
    )


def graded(records: Iterable[Record]) -> list[tuple[float, bool]]:
    """The evaluator's scores of the run, each with whether the passage bears a reference answer."""
    pairs: list[tuple[float, bool]] = []
    for record in records:
        if record.trace and locatable(record.truths):
            grades = {grade.passage_id: grade.score for grade in record.trace.grades}
            for passage in seen_by(record):
                score = grades.get(passage.id)
                if score is not None:
                    pairs.append((score, bears(record.question, passage, record.truths)))
    return pairs


def separated(records: Iterable[Record]) -> bool:
    """Whether the evaluator's scores tell passages with evidence from others, so that thresholds could."""
    pairs = graded(records)
    area = roc_auc([score for score, _ in pairs], [good for _, good in pairs]).value if pairs else None
    # Passages without evidence among which none has any say nothing of the evaluator; thresholds are cheaper to mend.
    return area is None or area >= SEPARATES


def quoted(text: str, most: int = _QUOTE_WORDS) -> str:
    """The beginning of a text in quotation marks, word for word, up to the first such mark in it."""
    there = re.split("[“”]", text.strip(" \n“”"))[0].split()
    return f"“{' '.join(there[:most])}{'…' if len(there) > most else ''}”"


# The walk


def _failure(cue: Cue) -> Failure | None:
    trace = cue.record.trace
    if trace and _error(trace):
        return _told(cue, "error", "failed", "a part failed before there was an answer")
    has_read = _was_read(cue)
    if has_read is None:
        return _by_signature(cue)
    if has_read:
        return _generation(cue)
    if trace and (good := _good(cue, trace)):
        return _between(cue, trace, good)
    return _not_retrieved(cue)


def _was_read(cue: Cue) -> bool | None:
    """Whether the generator had the evidence; None: nothing tells."""
    given = read(cue.record)
    recall = cue.value("context_recall")
    if recall is not None and recall > COVERED and given != ():
        return True
    if given is None or not locatable(cue.record.truths):
        return None
    bearing = any(bears(cue.record.question, passage, cue.record.truths) for passage in given)
    return bearing or together(given, cue.record.truths)


def _good(cue: Cue, trace: Trace) -> list[Passage]:
    """The passages found, at home or outside, that bear a reference answer."""
    found = trace.passages + trace.external
    return [passage for passage in found if bears(cue.record.question, passage, cue.record.truths)]


def _between(cue: Cue, trace: Trace, good: Sequence[Passage]) -> Failure:
    """The fate of evidence that was found and never read."""
    grades = {grade.passage_id: grade for grade in trace.grades}
    useful = [p for p in good if not grades or (p.id in grades and grades[p.id].label not in (None, Action.INCORRECT))]
    if not useful:
        return _misgraded(cue, trace, good, grades)
    ids = {passage.id for passage in useful}
    strips = [strip for strip in trace.strips if strip.passage_id in ids]
    bearing = [strip for strip in strips if holds(strip.text, cue.record.truths)]
    if kept := {strip.text for strip in bearing if strip.kept}:
        if kept & {passage.text for passage in read(cue.record) or ()}:
            return _generation(cue)  # what is asked about stands elsewhere in the passage
        return _told(cue, "truncation", "sources", f"{_truth(cue)} was kept, and there was no room for it")
    if strips and not bearing:
        return _told(cue, "refinement", "cut", f"the passage that holds {_truth(cue)} was cut so that no strip does")
    if any(not strip.reason.startswith("not among") for strip in bearing):
        scores = [strip.score for strip in bearing if strip.score is not None]
        best = f" at {max(scores):.3g}" if scores else ""
        return _told(cue, "refinement", "dropped", f"the strip that holds {_truth(cue)} was dropped{best}")
    place = [passage.id for passage in trace.passages + trace.external].index(useful[0].id) + 1
    what = f"{_truth(cue)} stands in passage {place} of {len(seen_by(cue.record))} and was not among what was read"
    return _told(cue, "ranking", "late", what)


def _misgraded(cue: Cue, trace: Trace, good: Sequence[Passage], grades: Mapping[str, Grade]) -> Failure:
    scored = [grade.score for p in good if (grade := grades.get(p.id)) and grade.score is not None]
    if not scored:
        return _told(cue, "grading", "ungraded", f"the passage that holds {_truth(cue)} could not be graded")
    lower = f", below τ− at {trace.decision.lower:.3g}" if trace.decision else ""
    return _told(cue, "grading", "strict", f"the passage that holds {_truth(cue)} was graded {max(scored):.3g}{lower}")


def _not_retrieved(cue: Cue) -> Failure:
    """Nothing that was found holds the evidence: which stage should have brought it?"""
    found, trace = seen_by(cue.record), cue.record.trace
    missing = f"{_truth(cue)} stands in {_none_of(len(found))}"
    if torn(found, cue.record.truths) or tiny(found):
        return _told(cue, "chunking", "split", f"{missing}, and passages end in the middle of a sentence")
    if trace is None or cue.held or (cue.held is None and len(trace.passages) < FEW):
        known = {True: ", though the corpus holds it", False: ", nor in the corpus", None: ""}[cue.held]
        return _told(cue, "retrieval", "miss", f"{missing}{known}")
    return _not_searched(cue, trace, missing)


def _not_searched(cue: Cue, trace: Trace, missing: str) -> Failure:
    """The corpus seems to lack the evidence: was it looked for elsewhere?"""
    if any(step.error for step in trace.steps if step.name == "search"):
        return _told(cue, "search", "failed", f"{missing}, and the search outside failed")
    if cue.config.get("searcher", {}).get("use", "nowhere") == "nowhere":
        return _told(cue, "search", "off", f"{missing}, and no searcher is configured")
    if trace.decision is None:
        return _told(cue, "retrieval", "miss", missing)
    if trace.decision.action is Action.CORRECT:
        best = "" if trace.decision.best is None else f" at {trace.decision.best:.3g}"
        return _told(
            cue, "grading", "lax", f"{missing}, and yet the best was graded CORRECT{best} and nothing searched"
        )
    return _told(cue, "search", "nothing", f"{missing}, {len(trace.external)} of them from the search outside")


def _generation(cue: Cue) -> Failure:
    """The evidence was read, and still the record is lost."""
    record, said = cue.record, answer(cue.record)
    there = f"{_truth(cue)} was in what was read" if record.truths else "what was read holds the evidence"
    if said.strip() and _truncated(cue, said):
        return _told(cue, "truncation", "answer", f"{there}, and the answer breaks off")
    if refused(record) and (not said.strip() or declines(said) or not _withheld(record)):
        return _told(cue, "refusal", "silent", there)
    if right(cue):
        return _form(cue, there)
    if _made_up(cue, said):
        return _told(cue, "grounding", "invented", f"{there}, and the answer says what is not")
    if _far_down(cue):
        return _told(cue, "ranking", "late", f"{there}, but {DEEP} passages or more stood before it")
    return _told(cue, "reading", "wrong", there)


def _form(cue: Cue, there: str) -> Failure:
    """The answer is right, and something else about it is not."""
    if cue.weak("context_adherence"):
        return _told(cue, "grounding", "invented", f"{there}, and much of the answer was not")
    others = [name for name in cue.metrics if name not in diamond()]
    return _by_metric(cue, others) or _told(cue, "format", "form", "the answer is right, but not as it should look")


def _by_signature(cue: Cue) -> Failure | None:
    """The failure by the scores alone, from the corpus to the answer."""
    relevancy = cue.scores.get("context_relevancy")
    coverage = [metric for metric in ("context_recall", "context_relevancy") if cue.weak(metric)]
    fed = cue.strong("context_relevancy") or cue.strong("context_recall")
    silent = cue.record.answer is not None and refused(cue.record)
    if silent and read(cue.record) == ():
        return _empty_handed(cue)  # judges of contexts that are not there say nothing of retrieval
    if coverage:
        cut = relevancy is not None and bool(_CUT.search(relevancy.reason))
        stage, kind = ("chunking", "split") if cut else ("retrieval", "miss")
        return _told(cue, stage, kind, _scored(cue, coverage))
    if silent and (fed or read(cue.record)):
        return _told(cue, "refusal", "silent", "there was something to answer from")
    if silent:
        return _empty_handed(cue)
    if _truncated(cue, answer(cue.record)):
        return _told(cue, "truncation", "answer", "the answer breaks off")
    if cue.weak("context_adherence"):
        return _told(cue, "grounding", "invented", _scored(cue, ["context_adherence"]))
    if right(cue) is False:
        return _told(cue, "reading", "wrong", _scored(cue, ["factuality"]) or "the answer is not a reference answer")
    return _by_metric(cue, ["grading_note", *cue.metrics])


def _by_metric(cue: Cue, names: Iterable[str]) -> Failure | None:
    """The failure that the first weak one of these metrics stands for."""
    weak = next((name for name in names if cue.weak(name)), None)
    return _told(cue, *cue.metrics[weak].remedy, _scored(cue, [weak])) if weak else None


def _empty_handed(cue: Cue) -> Failure:
    """Refused, with nothing to answer from: nobody knows what the answer would have been."""
    trace = cue.record.trace
    if trace is None or not trace.passages:
        return _told(cue, "retrieval", "miss", "there was nothing to answer from")
    what = f"{_none_of(len(seen_by(cue.record)))} was graded good enough"
    off = cue.config.get("searcher", {}).get("use", "nowhere") == "nowhere"
    return _told(cue, "search", "off" if off else "nothing", what)


# What it goes by


def _error(trace: Trace) -> str:
    """The error that prevented an answer; empty: none did."""
    vital = (step.error for step in trace.steps if step.name in ("retrieve", "generate") and step.error)
    return trace.error or next(vital, "")


def _truncated(cue: Cue, said: str) -> bool:
    """Whether an answer was cut off: it ends within a sentence, and no fuller one would have had room. A quotation is
    whole, though it ends in a command or a row of a table."""
    generator = cue.config.get("generator", {})
    if ended(said) or not words(said) or generator.get("use") == "extractive":
        return False
    if words(said)[-1] in STOP_WORDS or _begins_the_answer(cue.record, said):
        return True
    limit = generator.get("max_tokens", 100) if generator.get("use") == "llm" else LONG / ROOM
    return len(said.split()) >= ROOM * limit


def _begins_the_answer(record: Record, said: str) -> bool:
    """Whether a sentence that was read begins so and goes on to a reference answer."""
    flat = " ".join(said.split())
    given = (" ".join(p.text[a:b].split()) for p in read(record) or () for a, b in sentences(p.text))
    return any(whole.startswith(flat) and holds(whole[len(flat) :], record.truths) for whole in given)


def _made_up(cue: Cue, said: str) -> bool:
    """Whether the answer says what nothing that was read does."""
    value = cue.value("context_adherence")
    if value is not None and (value <= WEAK or value >= STRONG):
        return value <= WEAK
    asked = {stem(word) for word in words(cue.record.question)}
    new = {stem(word) for word in content_words(said)} - asked
    given = " ".join(f"{passage.title} {passage.text}" for passage in read(cue.record) or ())
    there = {stem(word) for word in words(given)}
    return bool(new) and len(new & there) < SUPPORTED * len(new)


def _withheld(record: Record) -> bool:
    """Whether the pipeline refused for the model, which had said something."""
    made = record.trace.answer if record.trace else None
    return bool(made and made.refused and made.withheld)


def _far_down(cue: Cue) -> bool:
    if cue.record.trace:
        return False  # what was read is in order of its grades, and short
    first = [bears(cue.record.question, passage, cue.record.truths) for passage in cue.record.contexts or ()]
    return True in first and first.index(True) >= DEEP


# How it is told


def _told(cue: Cue, stage: str, kind: str, what: str) -> Failure:
    return Failure(cue.record.id, stage, kind, f"{what}; {_ending(cue.record)}." if what else f"{_ending(cue.record)}.")


def _ending(record: Record) -> str:
    said = answer(record)
    if record.trace and (error := _error(record.trace)):
        return f"the error was {quoted(error)}"
    if refused(record):
        return f"the answer {quoted(said)} was withheld" if _withheld(record) and words(said) else "it was refused"
    return f"the answer was {quoted(said)}" if words(said) else "the answer is not known"


def _truth(cue: Cue) -> str:
    return quoted(next((truth for truth in cue.record.truths if locatable((truth,))), cue.record.truths[0]))


def _scored(cue: Cue, metrics: Iterable[str]) -> str:
    return " and ".join(
        f"{cue.metrics[metric].title} is {cue.value(metric):.2g}" for metric in metrics if metric in cue.scores
    )


def _none_of(passages: int) -> str:
    if passages < 2:
        return "nothing that was found" if passages else "no passage, since none was found"
    return f"none of the {passages} passages found"
