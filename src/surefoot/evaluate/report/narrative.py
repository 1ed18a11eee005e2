"""The diagnosis by a language model: an insight a metric, then one report whose form and whose claims are checked."""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

from surefoot.config.settings import settings
from surefoot.evaluate.diagnose.diagnosis import ScoredRun, diagnose, insight
from surefoot.evaluate.diagnose.settings import SystemSettings
from surefoot.evaluate.patch import Patch, refused
from surefoot.evaluate.report.form import FORM, PRIORITIES, TEXTS, TOPS, count_sentences, unsupported, violations
from surefoot.evaluate.score.lexical import METRICS
from surefoot.text import toml_values
from surefoot.text.replies import object_form, objects
from surefoot.text.screen import line
from surefoot.text.words import encodable
from surefoot.types import ActionItem, Diagnosis, Insight, Message, Score, Summary
from surefoot.types.errors import ComponentError, ConfigError
from surefoot.types.protocols import LLM

LEXICAL = {"f1": "f1", "bleu": "bleu", "rouge_1": "rouge-1", "rouge_2": "rouge-2"}
"""Metrics that support and never judge, and what a prompt calls them."""
LONGEST = 800
"""Characters of one text that a prompt shows."""
INSIGHT_TOKENS, REPORT_TOKENS = 400, 4000

_PROMPTS = toml_values.beside(__file__, "prompts.toml")
_REPORT = "\n".join([_PROMPTS["report"], *(f"- {name}: {part['rule']}" for name, part in FORM.items())])


def report(llm: LLM, run: ScoredRun, executor: Executor | None = None, max_tokens: int | None = None) -> Diagnosis:
    """The model's diagnosis.

    Two calls at least: one for each metric, which `executor` runs side by side, and one for the report. A reply that
    breaks the form, or holds a number or quotation that the model was not shown, is asked for once more, with the
    faults named. Where that or the model fails, the rules write the insight, or the whole report, and `fallback` says
    why. `max_tokens`: the room of each reply.
    """
    readings = insights(llm, run, executor, max_tokens)
    try:
        reply, broken = _requested(llm, run, readings, max_tokens or REPORT_TOKENS)
        why = f"{llm.name} gave no valid report, asked twice: {broken[0]}" if broken else ""
    except ComponentError as error:
        reply, why = {}, f"{llm.name} gave no report: {error}"
    if why:
        return replace(diagnose(run), insights=readings, fallback=why)
    items = tuple(_item(item, run) for item in reply["insights"])
    return Diagnosis(**{name: reply[name] for name in TOPS}, insights=readings, items=items, by=llm.name)


def insights(
    llm: LLM, run: ScoredRun, executor: Executor | None = None, max_tokens: int | None = None
) -> tuple[Insight, ...]:
    """One for each metric that has a mean, each from a call of its own; where that fails, the rules'."""
    most = max_tokens or INSIGHT_TOKENS
    return tuple((executor.map if executor else map)(lambda summary: _insight(llm, run, summary, most), run.judged))


def insight_messages(run: ScoredRun, summary: Summary, again: str = "") -> list[Message]:
    """The conversation that asks about one metric; `again`: the faults of the last reply."""
    return _messages(_PROMPTS["insight"], _insight_inputs(run, summary), again)


def report_messages(run: ScoredRun, readings: Sequence[Insight], again: str = "") -> list[Message]:
    """The conversation that asks for the report; `again`: the faults of the last reply."""
    return _messages(_REPORT, _report_inputs(run, readings), again)


def _messages(rules: str, inputs: Mapping[str, Any], again: str) -> list[Message]:
    reminder = f"\n\nYour last reply did not keep to the rules: {again}. Reply again, as a whole." if again else ""
    return [Message("system", rules), Message("user", _written(inputs) + reminder)]


def _insight_inputs(run: ScoredRun, summary: Summary) -> dict[str, Any]:
    about = run.metrics[summary.metric]
    return {
        "metric_name": about.title,
        "metric_description": about.about,
        **_figures(summary),
        "stratified_examples": [_example(run, score) for score in run.samples.get(summary.metric, ())],
    }


def _report_inputs(run: ScoredRun, readings: Sequence[Insight]) -> dict[str, Any]:
    figures = {summary.metric: _figures(summary) for summary in run.summaries if summary.mean is not None}
    known = {**run.metrics, **METRICS}
    return {
        "insights": [
            {
                "metric": run.metrics[i.metric].title,
                "metric_description": run.metrics[i.metric].about,
                **figures[i.metric],
                "level": i.level,
                "insight": i.text,
            }
            for i in readings
        ],
        "rag_traditional_metrics": {
            name: {"metric_description": METRICS[key].about, **figures[key]}
            for key, name in LEXICAL.items()
            if key in figures
        },
        "examples": {
            LEXICAL.get(metric, known[metric].title): [_example(run, score) for score in (of[0], *of[1:][-1:])]
            for metric, of in run.samples.items()
            if metric in known and of
        },
        "configs": {**run.config, **run.circumstances},
    }


def _figures(summary: Summary) -> dict[str, float]:
    """Mean, smallest and largest score as a prompt has them."""
    named = {"avg_score": summary.mean, "min_score": summary.smallest, "max_score": summary.largest}
    return {name: round(value, 3) for name, value in named.items() if value is not None}


def schema() -> dict[str, Any]:
    """The JSON schema of a report; lengths are checked afterwards, since few endpoints can."""
    text = {"type": "string"}
    item: dict[str, Any] = dict.fromkeys(TEXTS, text)
    item["priority"] = {"type": "string", "enum": list(PRIORITIES)}
    item["settings"] = {"type": "array", "items": text}
    items = {"type": "array", "items": object_form(item)}
    return object_form({**dict.fromkeys(TOPS, text), "insights": items})


def _insight(llm: LLM, run: ScoredRun, summary: Summary, most: int) -> Insight:
    again, shown = "", _insight_inputs(run, summary) | {"records": len(run.records), "scored": summary.scored}
    for _ in range(2):
        try:
            text = llm.complete(insight_messages(run, summary, again), max_tokens=most).text.strip()
        except ComponentError:
            break
        count, wrong = count_sentences(text), unsupported(text, shown)
        if 3 <= count <= 5 and not wrong:
            return Insight(summary.metric, summary.level or "low", text, llm.name)
        again = _unfounded(wrong) if wrong else f"it has {count} sentences and must have 3 to 5"
    return insight(run, summary)


def _requested(
    llm: LLM, run: ScoredRun, readings: Sequence[Insight], most: int
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The report, asked for twice at most, and what is still wrong with it."""
    report: dict[str, Any] = {}
    broken: tuple[str, ...] = ()
    for _ in range(2):
        messages = report_messages(run, readings, "; ".join(broken))
        report = next(iter(objects(llm.complete(messages, schema(), max_tokens=most).text)), {})
        if not report:
            broken = ("it is no JSON object",)
            continue
        broken = (*violations(report, min(2, len(run.records))), *_unknown(report, run))
        if not broken:
            items = report["insights"]
            texts = [*(report[name] for name in TOPS), *(item[name] for item in items for name in TEXTS)]
            shown = {"records": len(run.records), "settings": [item.get("settings") for item in items]}
            wrong = unsupported("\n".join(texts), _report_inputs(run, readings) | shown)
            broken = (_unfounded(wrong),) if wrong else ()
        if not broken:
            break
    return report, broken


def _unfounded(wrong: Sequence[str]) -> str:
    return f"it has what stands nowhere in the object: {', '.join(wrong[:5])}"


def _unknown(reply: Mapping[str, Any], run: ScoredRun) -> tuple[str, ...]:
    """Settings that there are not, each in a sentence."""
    items = [item for item in reply.get("insights") or [] if isinstance(item, Mapping)]
    return tuple(
        f"insights[{n}].settings names what cannot be set: {_written(inputs)[:200]}"
        for n, inputs in enumerate(item.get("settings") or [] for item in items)
        if _patch(inputs, run.config) is None
    )


def _patch(inputs: Any, config: Mapping[str, Any]) -> Patch | None:
    """The settings as a patch; None: they cannot be set. Another system's settings are words, and no patch."""
    if not isinstance(inputs, list) or not all(isinstance(text, str) for text in inputs):
        return None
    if not SystemSettings(config).ours:
        return {}
    patch: Patch = {}
    try:
        for layer in settings(inputs):
            for section, values in layer.items():
                patch.setdefault(section, {}).update(values)
    except ConfigError:
        return None
    return None if refused(patch, config, outside=True) else patch


def _item(reply: Mapping[str, Any], run: ScoredRun) -> ActionItem:
    text = f"{reply['title']} {reply['problem_detection']} {reply['evidence_trace']}".casefold()
    named = tuple(one.name for one in run.metrics.values() if one.title.casefold() in text or one.name in text)
    evidence = " ".join(reply["evidence_trace"].split())
    cases = tuple(r.id for r in run.records if r.question.strip() and " ".join(r.question.split()) in evidence)
    return ActionItem(
        **{name: reply[name].strip() for name in TEXTS},
        priority=reply["priority"],
        metrics=named,
        cases=cases,
        patch=_patch(reply.get("settings") or [], run.config) or {},
    )


def _example(run: ScoredRun, score: Score) -> dict[str, Any]:
    """A scored record as a prompt shows it, without the fields that it lacks."""
    record = run.by_id[score.record_id]
    shown: dict[str, Any] = {
        "score": round(score.value or 0.0, 3),
        "explanation": line(score.reason)[:LONGEST],
        "question": line(record.question)[:LONGEST],
        "candidate_answer": line(record.answer or "")[:LONGEST],
    }
    if record.history:
        shown["asked_before"] = line(" / ".join(question for question, _ in record.history))[-LONGEST:]
    if record.truths:
        shown["gt_answer"] = line(" / ".join(record.truths))[:LONGEST]
    mine = (one for one in run.scores if one.record_id == record.id and one.metric in LEXICAL)
    return shown | {LEXICAL[one.metric]: round(one.value, 3) for one in mine if one.value is not None}


def _written(inputs: Any) -> str:
    # A lone surrogate, which no endpoint can be sent, must not fail the rest.
    return encodable(json.dumps(inputs, ensure_ascii=False, default=str))
