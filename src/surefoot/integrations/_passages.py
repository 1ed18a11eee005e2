"""What every framework's adapter shares: passages with their grades as metadata, and a failed step as an error."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from surefoot.config import correction
from surefoot.evidence.ranking import order
from surefoot.pipeline import Pipeline
from surefoot.text.places import located
from surefoot.types import Action, Answer, Grade, Passage, Source, Strip, Trace
from surefoot.types.errors import ComponentError, UsageError
from surefoot.types.metadata import NO_FILTER, Filter, filtered

KEY = "surefoot"
"""Of the grade in a document's metadata."""
ADDRESSES = ("source", "url", "file_path")
"""The keys under which loaders of the frameworks keep a document's address, the first that is there counts."""

Graded = tuple[Passage, Grade]


def as_json(grade: Grade) -> dict[str, Any]:
    """A grade in plain values; `label` is "correct", "ambiguous", "incorrect", or None where it could not be graded."""
    label = grade.label and grade.label.value
    return {"label": label, "probability": grade.probability, "score": grade.score, "reason": grade.reason}


def metadata(passage: Passage, grade: Grade) -> dict[str, Any]:
    """The passage's fields, title, address (`source`) and grade."""
    return {**passage.meta, "title": passage.title, "source": passage.url, KEY: as_json(grade)}


def worth(about: Mapping[str, Any]) -> float | None:
    """The number of a document: the probability of its grade, which is `as_json`, or the score of an evaluator that is
    not calibrated; None: it could not be graded."""
    value: float | None = about["score"] if about["probability"] is None else about["probability"]
    return value


def numbered(documents: Iterable[tuple[str, Mapping[str, Any]]], source: Source = "corpus") -> tuple[Passage, ...]:
    """A passage for each text with its metadata. Its id is its place, from 1, since documents need no id, and two may
    share one."""
    return tuple(
        Passage(str(place), text, _text(about, "title"), source, _text(about, *ADDRESSES) or None)
        for place, (text, about) in enumerate(documents, start=1)
    )


def _text(about: Mapping[str, Any], *keys: str) -> str:
    return next((about[key] for key in keys if isinstance(about.get(key), str)), "")


def retrieved(pipeline: Pipeline, question: str, k: int, useful: bool, filter: Filter = NO_FILTER) -> list[Graded]:
    """The `k` best passages of the pipeline's retriever within its filter and this one, graded, best first.

    Those that do not help are there too; `useful` leaves them out, and those that could not be graded. As many are
    graded as the pipeline says, or `k` if that is more. Raises UsageError, and what retriever and evaluator raise.
    """
    if k < 1:
        raise UsageError("k must be 1 or more")
    find = filtered(pipeline.retriever.retrieve, pipeline.filter & filter, "the configured retriever")
    found = find(question, max(k, pipeline.k))
    grades = pipeline.grade(question, found)
    aside = (None, Action.INCORRECT) if useful else ()
    return [(found[n], grades[n]) for n in order(found, grades) if grades[n].label not in aside][:k]


def corrected(pipeline: Pipeline | None, question: str, passages: Sequence[Passage]) -> Trace:
    """The trace of `Pipeline.correct`, None: of `surefoot.correct`. Raises ComponentError where a step failed: nothing
    kept would read as "nothing helps"."""
    return sound((pipeline or correction).correct(question, passages))


def sound(trace: Trace) -> Trace:
    """The trace, if no step of it failed; raises ComponentError."""
    if broken := next((step for step in trace.steps if step.error), None):
        raise ComponentError(f"the step '{broken.name}' failed: {broken.error}")
    return trace


def remains(trace: Trace) -> list[tuple[int, str, dict[str, Any]]]:
    """Of each of the `numbered` passages that helps, most helpful first: its place from 0, its kept strips, a line
    each, and its grade in plain values with the strips' offsets as `kept`."""
    found: dict[str, list[Strip]] = {}
    for strip in trace.kept_strips:
        found.setdefault(strip.passage_id, []).append(strip)
    grades = {grade.passage_id: as_json(grade) for grade in trace.grades}
    return [
        (
            int(id) - 1,
            "\n".join(strip.text for strip in strips),
            {**grades[id], "kept": [[strip.start, strip.end] for strip in strips]},
        )
        for id, strips in found.items()
    ]


def answered(trace: Trace) -> Answer:
    """The answer of a trace. Raises ComponentError where there is none, and where it is a refusal after a step failed,
    since a refusal says that the documents do not answer."""
    if trace.answer is None:
        raise ComponentError(f"the question ended without an answer: {trace.error}")
    if trace.answer.refused:
        sound(trace)
    return trace.answer


def sources(trace: Trace) -> list[Graded]:
    """The kept strips as passages, each with the grade of the passage that it comes from: [n] of the answer cites the
    n-th of them, from 1. They end with the last that is cited, if any is."""
    last = max((one.marker for one in answered(trace).citations if one.strip), default=None)
    graded = {one.id: (one, grade) for one, grade in zip(trace.passages + trace.external, trace.grades, strict=True)}
    return [(_part(graded[one.passage_id][0], one), graded[one.passage_id][1]) for one in trace.kept_strips[:last]]


def _part(whole: Passage, strip: Strip) -> Passage:
    return replace(located(whole, strip.start), text=strip.text, start=whole.start + strip.start, places=())


def summary(trace: Trace) -> dict[str, Any]:
    """What an answer's reader wants to know, in plain values: `action`, `because`, `refused`, `certainty`,
    `confidence`."""
    answer, decision = answered(trace), trace.decision
    return {
        "action": decision and decision.action.value,
        "because": decision and decision.because,
        "refused": answer.refused,
        "certainty": answer.certainty,
        "confidence": answer.confidence,
    }
