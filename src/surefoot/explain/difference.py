"""Where two traces part: what was asked of each, found, graded, decided, kept and answered."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from surefoot.types import Answer, Decision, Grade, Passage, RewrittenQuery, Trace

NOTHING = ""
"""Stands for what one of the traces lacks."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that the two traces have differently, in words."""

    of: str
    """What: "question", "setting k.x", "passage ID", "grade of ID", "decision", "query 1", "strip ID 0–40", "answer",
    "citation 1", "step retrieve", …"""
    first: str
    second: str


def differences(first: Trace, second: Trace) -> Iterator[Difference]:
    """Each difference, from the question to the answer; ids, dates and seconds are none."""
    mine, other = _facts(first), _facts(second)
    together = zip_longest(mine, other)  # so that what only one has stands beside its neighbours
    for of in dict.fromkeys(key for pair in together for key in pair if key is not None):
        one, another = mine.get(of, NOTHING), other.get(of, NOTHING)
        if one != another:
            yield Difference(of, one, another)


def _facts(trace: Trace) -> dict[str, str]:
    """What the trace says, by what it is about, in the order in which it came to be."""
    facts = {"question": trace.question, "read as": trace.read_as}
    facts |= {f"setting {key}": value for key, value in sorted(_settings(trace.config))}
    facts |= {"filter": json.dumps(trace.filter, sort_keys=True)} if trace.filter else {}
    facts |= {f"passage {p.id}": _passage(p, rank) for rank, p in enumerate(trace.passages, start=1)}
    facts |= {f"passage from outside {p.id}": _passage(p, rank) for rank, p in enumerate(trace.external, start=1)}
    facts |= {f"grade of {grade.passage_id}": _grade(grade) for grade in trace.grades}
    facts |= {f"decision {number}": _decision(one) for number, one in enumerate(trace.earlier, start=1)}
    facts["decision"] = _decision(trace.decision)
    facts |= {f"rewritten {n}": _rewritten(one) for n, one in enumerate(trace.rewritten, start=1)}
    facts |= {f"query {number}": query for number, query in enumerate(trace.queries, start=1)}
    facts |= {f"strip {s.passage_id} {s.start}–{s.end}": f"kept: {s.text}" for s in trace.kept}
    facts |= _answer(trace.answer)
    facts |= {f"step {step.name}": said for step in trace.steps if (said := step.error or step.degraded or NOTHING)}
    return facts | {"error": trace.error or NOTHING}


def _rewritten(said: RewrittenQuery) -> str:
    return f"{said.query} / {said.question or said.query}; missing: {said.missing or 'not told'}"


def _settings(config: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for section, values in config.items():
        for key, value in values.items():
            yield f"{section}.{key}", json.dumps(value, sort_keys=True, ensure_ascii=False)


def _passage(passage: Passage, rank: int) -> str:
    return f"{rank}. {passage.title or passage.text[:60]}"


def _grade(grade: Grade) -> str:
    if grade.score is None:
        return f"none: {grade.reason}"
    return f"{grade.score:.3g} {grade.label.value if grade.label else ''}".rstrip()


def _decision(decision: Decision | None) -> str:
    return f"{decision.action.value}: {decision.because}" if decision else NOTHING


def _answer(answer: Answer | None) -> dict[str, str]:
    if answer is None:
        return {}
    kind = "refused: " if answer.refused else "hedged: " if answer.hedged else NOTHING
    facts = {"answer": kind + answer.text, "because": answer.because, "withheld": answer.withheld or NOTHING}
    words = {True: "supported", False: "not supported", None: NOTHING}
    for cited in answer.citations:
        marks = filter(None, ("quoted" if cited.quoted else cited.reason, words[cited.supported]))
        facts[f"citation {cited.marker}"] = f"{', '.join(marks)}: {cited.quote}"
    return facts
