"""Traces of our own as records, and records that were written before."""

import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from surefoot.evaluate.problems import Problems
from surefoot.evaluate.records.messages import identified
from surefoot.run.store import from_json, recorded
from surefoot.text.words import sentences
from surefoot.types import Answer, Passage, Record, Trace
from surefoot.types.errors import TraceFault, UsageError

T = TypeVar("T")


def record(trace: Trace, id: str = "", tags: dict[str, str] | None = None) -> Record:
    """The parts of a trace that a judge may see.

    Contexts are the strips that the generator read, in its order, each under its passage's id, title and address: the
    answer can adhere only to those. The answer loses its citation markers, which references lack too; a refusal is cut
    to its first sentence, since the rest would be judged as claims. A failed question has an empty answer, so that it
    counts. The question is the user's own; of one that goes on from earlier turns, which no judge sees, it is the
    completed one.
    """
    goes_on = any(step.name == "complete" for step in trace.steps)
    question = trace.standalone_question if goes_on else trace.question
    answer = trace.answer or Answer("")
    markers = {citation.marker for citation in answer.citations}
    text = re.sub(r" ?\[(\d{1,3})\]", lambda match: "" if int(match[1]) in markers else match[0], answer.body)
    if answer.refused:
        text = answer.body[slice(*next(iter(sentences(answer.body)), (0, 0)))]
    return Record(id or trace.id, question, read(trace), text, tags=dict(tags or {}), trace=trace)


def read(trace: Trace) -> tuple[Passage, ...]:
    """The kept strips that the generator read, as passages; the second of a passage has "#2" behind its id."""
    origin = {passage.id: passage for passage in (*trace.external, *trace.passages)}
    found = []
    for strip in trace.strips:
        if strip.kept:
            whole = origin.get(strip.passage_id, Passage(strip.passage_id, ""))
            found.append(replace(whole, text=strip.text, start=whole.start + strip.start))
    # A generator that did not read all kept sources leaves out the last ones, and reports it.
    reasons = " ".join(step.degraded or "" for step in trace.steps if step.name == "generate")
    unread = sum(map(int, re.findall(r"(\d+) of \d+ sources left out", reasons)))
    return identified(found[: len(found) - unread])


def run(folder: Path, problems: Problems) -> list[Record]:
    """The records of a run's folder, tagged with its method. Raises UsageError, TraceFault."""
    about, traces = recorded(folder)
    if not traces:
        raise UsageError(f"{folder} holds no traces yet; let the run answer a question first")
    if not (folder / "traces.jsonl").read_bytes().endswith(b"\n"):
        problems.add("lines that were cut short; not read, resume the run to have them", "traces.jsonl")
    tags = {"system": str(about["method"])} if about.get("method") else {}
    return [record(trace, key, tags) for key, trace in traces.items()]


def is_trace(value: Any) -> bool:
    """True for a trace, or a line of a run's `traces.jsonl`."""
    if not isinstance(value, dict):
        return False
    return set(value) == {"key", "trace"} or {"schema", "question", "strips", "steps"} <= set(value)


def is_record(value: Any) -> bool:
    """True for a record as `to_json` writes it, alone or under a key."""
    inner = value.get("value") if isinstance(value, dict) and set(value) == {"key", "value"} else value
    return isinstance(inner, dict) and {"id", "truths", "trace"} <= set(inner) <= {each.name for each in fields(Record)}


def decoded(kind: type[T], key: str, value: Any, place: str) -> T:
    """A trace or a record that was written before, alone or under its key. Raises TraceFault, naming the place."""
    try:
        return from_json(kind, value.get(key, value) if isinstance(value, dict) else value, place)
    except TraceFault as error:
        raise TraceFault(f"{error}; take the line out, or give the file that it comes from") from error
