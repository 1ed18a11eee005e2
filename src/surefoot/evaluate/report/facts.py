"""Every number, quotation and setting of a text, looked up in the run that the text is about."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any

from surefoot.evaluate.diagnose.scored_run import ScoredRun
from surefoot.evaluate.diagnose.settings import SystemSettings, flat, settable, written
from surefoot.evaluate.report.form import TEXTS
from surefoot.text.words import replaced, sentences
from surefoot.types import ActionItem, Diagnosis, Insight, Metric, Record, Score, Summary

BOUNDS = (0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""A text may say how many scores lie below, at, or above each of these."""
BANDS = (0.5, 0.6, 0.7, 0.9)
"""Numbers that a text may compare with: they part low from moderate and high, and lost from kept."""
PROSE = 4
"""Smaller numbers that count no records are a way of speaking, as in "2 changes"."""

_CODE = re.compile(r"`[^`]*`")
_QUOTED = re.compile(r"“([^”]+)”|\"([^\"\n]+)\"|«([^»]+)»")
_NUMBER = re.compile(
    r"(?<![\w.])(?<!\w[-−])([-−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(\s?%|\s(?:percent|per cent)\b)?(?![\w]|\.\d)"
)
_RANGE = re.compile(r"(?<=\d)(\s?%)?\s?[-–—]\s?(?=\d)")
_MARK = re.compile(r"^[ \t]*(?:#+\s|\d{1,2}[.)]\s)", re.MULTILINE)
_SETTING = re.compile(r"`([a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*)`|\b([a-z][a-z_]*\.[a-z][a-z_]*)\b")
_ASSIGNED = re.compile(r"`([a-z][a-z0-9_.]*)\s*(?:=|:)\s*([^`]+)`")
_VALUE = r"[`\"“]?(-?[\w.:/-]*\w)[`\"”]?"
_SAID = re.compile(
    rf"\s*\(?\s*(?:,\s*)?(?:(?:is|was|stands)\s+)?(?:now|currently|=|:|is|was|of|at|from|set\s+to|set\s+at)\s+{_VALUE}"
)
_PROPOSED = re.compile(rf"\s*(?:(?:be|set|raised|lowered|changed)\s+)?(?:to|→)\s+{_VALUE}")
_TOP = re.compile(r"\btop[- ](\d+)\b|\bk\s?=\s?(\d+)\b", re.IGNORECASE)
_COUNTED = re.compile(
    r"\s+(?:of|out\s+of|\w+\s+)?\s*(?:the\s+)?(?:records?|questions?|cases?|answers?|examples?|contexts?|passages?|"
    r"scores?|responses?|of)\b",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"(?:below|under|above|over|than|least|most|exceeds?|exceeding|from|to|threshold(?:\s+of)?|[<>≤≥])\s*\Z|"
    r"\bscor(?:e|es|ed|ing)\s+\Z",
    re.IGNORECASE,
)
_HOPED = re.compile(
    r"(?:\bto|\bby|about|around|roughly|least|most|(?:gain|rise|lift|increase|improvement)s?\s+of|[~≈→=+])\s*\Z",
    re.IGNORECASE,
)
_NOW = re.compile(r"(?:\bfrom|now|current(?:ly)?(?:\s+\w+)?)\s*\Z", re.IGNORECASE)
_SURE = re.compile(r"\s*(?:confidence|interval|CI)\b", re.IGNORECASE)
_SCALE = re.compile(r"(?:out\s+of|/|\brated|\brating(?:\s+of)?|\bscale\b.*|\b1\s+to)\s*\Z", re.IGNORECASE)
_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_SPELT = re.compile(rf"\b({'|'.join(_WORDS[PROSE + 1 :])})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Facts(ScoredRun):
    """The numbers, texts and settings of a run, which support a statement or do not."""

    samples: Mapping[str, Sequence[Score]] = field(default_factory=dict)
    """Examples of each metric, the lowest first; texts may state their number."""
    also: tuple[float, ...] = ()
    """Numbers that were told besides, such as how many records a stage lost."""

    @cached_property
    def texts(self) -> dict[str, str]:
        """The whole text of each record, folded, to look quotations up in."""
        reasons: dict[str, list[str]] = defaultdict(list)
        for score in self.scores:
            reasons[score.record_id].append(score.reason)
        return {record.id: _folded("\n".join([*_said(record), *reasons[record.id]])) for record in self.records}

    @cached_property
    def keys(self) -> frozenset[str]:
        """Settings that there are."""
        known = frozenset(flat(self.config))
        return known | settable(self.config) if SystemSettings(self.config).ours else known

    @cached_property
    def general(self) -> tuple[float, ...]:
        """Numbers that may stand anywhere: counts, what was told besides, numbers of the configuration."""
        settings = [value for value in flat(self.config).values() if _is_number(value)]
        counts = len(self.records), len(self.summaries), *map(len, self.samples.values())
        return (*self.also, *map(float, (*counts, *settings)))

    @cached_property
    def of_metric(self) -> dict[str, tuple[float, ...]]:
        """The figures of a summary and its scores, by metric."""
        values: dict[str, list[float]] = defaultdict(list)
        for score in self.scores:
            if score.value is not None:
                values[score.metric].append(score.value)
        summed = {summary.metric: list(_numbers_of(summary)) for summary in self.summaries}
        return {name: (*summed.get(name, ()), *_counts(values[name])) for name in dict.fromkeys([*summed, *values])}

    def of_record(self, id: str) -> tuple[float, ...]:
        """Numbers that stand in a record, or count its parts."""
        mine = [score for score in self.scores if score.record_id == id]
        scored = [number for s in mine for number in (s.value, s.rating) if number is not None]
        written = [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", self.texts[id])]
        return (*map(float, scored), *written, *_parts(self.by_id[id]))


def unsupported(text: str, facts: Facts, proposes: bool = False, about: str = "") -> tuple[str, ...]:
    """The numbers, quotations and settings in a text that the run does not support, as they stand there, each once.

    A quotation must stand in a record, but for case, white space and what … leaves out. A setting must exist and have
    the stated value. A number must be one of the run, to the digits written: of the metric that its sentence names,
    else of `about` (if given), or of a record that its paragraph quotes. `proposes`: numbers say what to do, unless
    they are said to be so now.
    """
    return tuple(dict.fromkeys(_found(text, facts, proposes, about)))


def checked(diagnosis: Diagnosis, facts: Facts) -> Diagnosis:
    """The diagnosis with the statements of its texts that lack support."""
    whole = "\n".join((diagnosis.executive_summary, diagnosis.executive_summary_gist))
    told = dict.fromkeys((*unsupported(whole, facts), *unsupported(diagnosis.strategic_conclusion, facts, True)))
    return replace(
        diagnosis,
        insights=tuple(checked_insight(insight, facts) for insight in diagnosis.insights),
        items=tuple(_checked_item(item, facts) for item in diagnosis.items),
        unsupported=tuple(told),
    )


def checked_insight(insight: Insight, facts: Facts) -> Insight:
    """The insight with its statements that lack support; one that names no metric is about the insight's own."""
    return replace(insight, unsupported=unsupported(insight.text, facts, about=insight.metric))


def _checked_item(item: ActionItem, facts: Facts) -> ActionItem:
    proposing = ("recommended_protocol", "recommended_protocol_gist", "title")
    found = [said for name in TEXTS for said in unsupported(getattr(item, name), facts, name in proposing)]
    return replace(item, unsupported=tuple(dict.fromkeys(found)))


def _found(text: str, facts: Facts, proposes: bool, about: str) -> Iterator[str]:
    for line in _MARK.sub("", text).splitlines():
        outside = _CODE.sub(lambda match: " " * len(match[0]), line)
        quotes = {match.span(): next(filter(None, match.groups())) for match in _QUOTED.finditer(outside)}
        holders = {quote: _holders(quote, facts) for quote in quotes.values()}
        yield from (f"“{quote}”" for quote, ids in holders.items() if not ids and not _is_setting(quote, facts))
        near = [number for ids in holders.values() if len(ids) <= PROSE for id in ids for number in facts.of_record(id)]
        rest = replaced(line, dict.fromkeys(quotes, "“”"))
        for start, end in sentences(rest):
            wrong, left = _settings(rest[start:end], facts, proposes)
            yield from wrong
            yield from _numbers(left, facts, near, proposes, about)


# Quotations


def _holders(quote: str, facts: Facts) -> list[str]:
    parts = [part.strip(" .,;:!?") for part in re.split(r"…|\.\.\.|\[…\]", _folded(quote))]
    pattern = re.compile(".*?".join(re.escape(part) for part in parts if part), re.DOTALL)
    return [id for id, text in facts.texts.items() if pattern.search(text)] if any(parts) else []


def _is_setting(quote: str, facts: Facts) -> bool:
    """Whether the words are no record's but a value or a key of the configuration, or the name of a metric."""
    values = {written(value).casefold() for value in flat(facts.config).values()}
    names = {name.casefold() for metric in facts.metrics.values() for name in (metric.name, metric.title)}
    return quote.casefold() in values | names or quote in facts.keys


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").replace("‘", "'").split())


def _said(record: Record) -> Iterator[str]:
    yield from (record.question, record.answer or "", record.note, *record.truths, *record.tags.values())
    trace = record.trace
    for passage in (*(record.contexts or ()), *(trace.passages + trace.external if trace else ())):
        yield f"{passage.title}\n{passage.text}"
    if trace:
        yield from (trace.error or "", *trace.queries)
        yield from (trace.answer.text, trace.answer.withheld or "") if trace.answer else ()
        yield from (step.error or step.degraded or "" for step in trace.steps)


# Settings


def _settings(sentence: str, facts: Facts, proposes: bool) -> tuple[list[str], str]:
    """Settings that do not exist or have another value, and the sentence without what was said of settings."""
    wrong = [
        match[0]
        for match in _ASSIGNED.finditer(sentence)
        if not _exists(match[1], facts) or not (proposes or _has(match[1], match[2], facts))
    ]
    sentence = _ASSIGNED.sub(" ", sentence)
    spans: list[tuple[int, int]] = []
    for match in _SETTING.finditer(sentence):
        key = match[1] or match[2]
        if not _exists(key, facts):
            wrong += [f"`{key}`"] if _is_named(key, facts) else []
            continue
        said = _SAID.match(sentence, match.end())
        if said and not _has(key, said[1], facts):
            wrong.append(f"`{key}` {said[1].rstrip('.')}")
        proposed = _PROPOSED.match(sentence, said.end() if said else match.end())
        spans.append((match.start(), (proposed or said or match).end()))
    for match in _TOP.finditer(sentence):
        if not proposes and not _is_k(match[1] or match[2], facts):
            wrong.append(match[0])
        spans.append(match.span())
    for start, end in sorted(spans, reverse=True):
        sentence = f"{sentence[:start]} {sentence[end:]}"
    return wrong, sentence


def _exists(key: str, facts: Facts) -> bool:
    return key in facts.keys or any(known.rpartition(".")[2] == key for known in facts.keys)


def _is_named(key: str, facts: Facts) -> bool:
    """Whether it is meant for a setting: its section is one."""
    return "." in key and any(known.startswith(f"{key.partition('.')[0]}.") for known in facts.keys)


def _has(key: str, value: str, facts: Facts) -> bool:
    """Whether a setting has the value, or is no setting whose value is known."""
    given = flat(facts.config)
    named = [key] if "." in key else [known for known in given if known.rpartition(".")[2] == key]
    settings = SystemSettings(facts.config)
    values = [given[name] if name in given else settings.now(name) for name in named]
    known = [written(current).casefold() for current in values if current is not None]
    said = value.strip(" .\"'`“”()").casefold()
    return said in known or any(_equal(said, current) for current in known) or (not known and not said[:1].isdigit())


def _is_k(value: str, facts: Facts) -> bool:
    """Whether it is how many passages are retrieved or read."""
    keys = [key for key in facts.keys if re.search(r"(?:^|[._])(?:k|top_?k|top_?n|best|external_keep|depth)\Z", key)]
    return any(_has(key, value, facts) for key in keys)


def _equal(one: str, other: str) -> bool:
    try:
        return float(one) == float(other)
    except ValueError:
        return False


# Numbers


def _numbers(sentence: str, facts: Facts, near: Sequence[float], proposes: bool, about: str) -> Iterator[str]:
    named = [metric for metric in facts.of_metric if _names(sentence, metric, facts.metrics.get(metric))] or [about] * (
        about in facts.of_metric
    )
    every = [number for metric in named or facts.of_metric for number in facts.of_metric[metric]]
    means = [mean for metric in named if (mean := facts.mean(metric)) is not None]
    gaps = [abs(one - other) for one, other in combinations(means, 2)]
    known = [*facts.general, *every, *gaps, *near]
    plain = _RANGE.sub(lambda match: f"{match[1] or ''} – ", sentence)
    for match in _NUMBER.finditer(plain):
        before, after = plain[: match.start()], plain[match.end() :]
        if not _is_claim(match, before, after) or (proposes and _is_proposal(before, bool(named))):
            continue
        if not any(_bears_out(fact, match) for fact in known):
            yield match[0].strip()
    for match in _SPELT.finditer(plain):
        number = float(_WORDS.index(match[1].lower()))
        if _COUNTED.match(plain, match.end()) and not proposes and number not in known:
            yield match[0]


def _is_claim(match: re.Match[str], before: str, after: str) -> bool:
    """Whether a number says something of the run: not of its scale, a band, a confidence, or a way of speaking."""
    number = float(match[1].replace("−", "-").replace(",", ""))
    if match[2]:
        return not (number == 95 and _SURE.match(after)) and not (number / 100 in BANDS and _COMPARED.search(before))
    if number in BANDS and (_COMPARED.search(before) or re.match(r"\s+or\s+(?:less|more|below|above)", after)):
        return False
    if number.is_integer() and "." not in match[1] and 0 <= number <= 5:
        return bool(_COUNTED.match(after)) or not (number <= PROSE or _SCALE.search(before))
    return True


def _is_proposal(before: str, metric: bool) -> bool:
    """Whether a number in a recommendation is what to do, or what to hope for, and not what is."""
    return not _NOW.search(before) and (not metric or bool(_HOPED.search(before)))


def _bears_out(fact: float, match: re.Match[str]) -> bool:
    """Whether a fact, rounded to as many digits as were written, is the number."""
    digits = match[1].replace("−", "-").replace(",", "")
    decimals = len(digits.partition(".")[2])
    scale = 100.0 if match[2] else 1.0
    return abs(scale * fact - float(digits)) <= 0.5 * 10.0**-decimals + 1e-9


def _names(sentence: str, metric: str, about: Metric | None) -> bool:
    names = (metric, about.title.casefold(), about.alias) if about else (metric,)
    return any(name and re.search(rf"\b{re.escape(name)}\b", sentence.casefold()) for name in names)


def _numbers_of(summary: Summary) -> Iterator[float]:
    fields = (summary.mean, summary.low, summary.high, summary.smallest, summary.largest, summary.least, summary.most)
    yield from (number for number in fields if number is not None)
    counts = (summary.scored, summary.unscored, summary.not_applicable)
    yield from map(float, (*counts, sum(counts), *summary.unscored_because.values()))
    if of := summary.scored + summary.unscored:
        yield from (summary.scored / of, summary.unscored / of)


def _counts(values: Sequence[float]) -> Iterator[float]:
    """The distinct values, and how many, and what share, lie below, at or above each bound."""
    yield from set(values)
    for bound in BOUNDS:
        below, at = sum(value < bound for value in values), sum(value == bound for value in values)
        for count in {below, at, below + at, len(values) - below, len(values) - below - at}:
            yield float(count)
            if values:
                yield count / len(values)


def _parts(record: Record) -> Iterator[float]:
    trace = record.trace
    yield from map(float, (len(record.contexts or ()), len(record.truths)))
    if trace:
        found = len(trace.passages) + len(trace.external)
        kept = sum(strip.kept for strip in trace.strips)
        yield from map(float, (len(trace.passages), len(trace.external), found, len(trace.strips), kept))
        yield from map(float, range(1, found + 1))  # the place of a passage
        yield from (score for scored in (trace.grades, trace.strips) for s in scored if (score := s.score) is not None)
        if trace.decision:
            yield from (trace.decision.upper, trace.decision.lower)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
