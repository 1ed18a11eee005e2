"""A trace, an answer and an evaluation as a notebook shows them, in the words of the terminal.

Documents wrote most of these texts: all of them are escaped, what would turn their direction is shown as \\ufffd, and
nothing is loaded from anywhere. No colour is set, so that light and dark themes stay legible.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from surefoot.cli._answer_view import chance, citation_texts, confidence_text, unopened, whence, with_grades
from surefoot.cli._console import REASONS, plain, tamed
from surefoot.cli._text_view import excerpt
from surefoot.cli._trace_view import decision_text
from surefoot.cli.evaluate import FIGURES, summary_row
from surefoot.evaluate.patch import shown
from surefoot.evaluate.records.folder import Evaluated
from surefoot.evidence.ranking import order
from surefoot.types import Answer, Diagnosis, Grade, Passage, Trace

SHOWN = 10
"""Passages that the table has, at most."""
_BOX = "border:1px solid rgba(128,128,128,.5);border-radius:6px;padding:.5em .9em;max-width:60em;overflow-x:auto"
_CELL = "text-align:left;vertical-align:top;white-space:normal;padding:.25em .8em .25em 0"


def trace(one: Trace) -> str:
    """The question, the decision in words, the answer with its sources, and the best passages: grade, text and what
    was kept of each."""
    parts = [_line(one.question, "b")]
    parts += [_line(decision_text(one.decision).plain)] if one.decision else []
    parts += [_answered(one.answer, one)] if one.answer else []
    parts += [_line(f"No answer: {one.error}")] if one.error else []
    every, grades = with_grades(one)
    rows = (_passage(one, every[n], grades[n]) for n in order(every, grades)[:SHOWN])
    parts += [_table(("grade", "passage", "kept"), rows)] if every else []
    parts += [_line(f"and {len(every) - SHOWN} more passages")] if len(every) > SHOWN else []
    return _box(parts)


def answer(one: Answer) -> str:
    """Its text, how sure it is, and what each citation quotes and where."""
    return _box([_answered(one, None)])


def evaluation(one: Evaluated) -> str:
    """A row a metric, and why scores are missing."""
    summaries = one.summaries
    reasons = Counter[str]()
    for summary in summaries:
        reasons.update(summary.unscored_because)
    rows = ([_text(cell) for cell in summary_row(summary)] for summary in summaries)
    unscored = [_line(f"{times:,} unscored: {reason}") for reason, times in reasons.most_common(REASONS)]
    return _box([_line(f"Records: {len(one.records):,}", "b"), _table(("metric", *FIGURES), rows), *unscored])


def diagnosis(one: Diagnosis) -> str:
    """The gist, and each change with its reason, the most urgent first."""
    items = []
    for item in one.items:
        texts = [item.problem_detection_gist, *item.recommended_protocol_gist.splitlines()]
        lines = [_line(f"{item.title} ({item.priority})", "b"), *map(_line, texts)]
        items.append(f"<li>{''.join(lines)}{_line(shown(item.patch), 'code') if item.patch else ''}</li>")
    return _box([_line(one.executive_summary_gist), f"<ol>{''.join(items)}</ol>"])


def _answered(one: Answer, whole: Trace | None) -> str:
    sure = confidence_text(one)
    notes = [one.because if one.refused or one.hedged else "", sure.plain if sure else ""]
    pieces = escape(tamed(one.text)).split("**")
    bold = [f"<b>{piece}</b>" if n % 2 else piece for n, piece in enumerate(pieces)]
    text = f'<p dir="auto" style="white-space:pre-wrap">{"".join(bold) if len(pieces) % 2 else "**".join(pieces)}</p>'
    cited = (f'<li dir="auto" style="list-style:none">{_text(line.plain)}</li>' for line in citation_texts(one, whole))
    return f"{text}{''.join(_line(note) for note in notes if note)}<ul>{''.join(cited)}</ul>"


def _passage(of: Trace, passage: Passage, grade: Grade) -> Sequence[str]:
    start, end = excerpt(passage.text, grade.span)
    first, last = grade.span or (start, start)
    text = tamed(passage.text)
    first, last = max(start, first), min(end, max(start, last))
    pieces = escape(text[start:first]), escape(text[first:last]), escape(text[last:end])
    before, after = "… " if start else "", " …" if end < len(text) else ""
    where = _text(whence(passage, unopened).plain)
    body = f"{where}<br>{before}{pieces[0]}<b>{pieces[1]}</b>{pieces[2]}{after}"
    return f"{_text(chance(grade))}<br>{_text(grade.label or 'not graded')}", body, _text(_kept(of, passage, grade))


def _kept(of: Trace, passage: Passage, grade: Grade) -> str:
    """How much of a passage was kept; of one that was dropped, why."""
    strips = [strip for strip in of.strips if strip.passage_id == passage.id]
    if count := sum(strip.kept for strip in strips):
        return f"{count} of {len(strips)} strips"
    reason = strips[0].reason if strips else grade.reason
    return f"no: {reason}" if reason else "no"


def _text(content: str) -> str:
    return escape(plain(content))


def _line(content: str, tag: str = "span") -> str:
    return f'<div dir="auto"><{tag}>{_text(content)}</{tag}></div>'


def _table(names: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f'<th style="{_CELL}">{_text(name)}</th>' for name in names)
    body = ("".join(f'<td dir="auto" style="{_CELL}">{cell}</td>' for cell in row) for row in rows)
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{cells}</tr>' for cells in body)}</table>"


def _box(parts: Iterable[str]) -> str:
    return f'<div style="{_BOX}">{"".join(parts)}</div>'
