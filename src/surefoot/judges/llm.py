"""Any metric of the diamond by a language model: a rating from 1 to 5, why, and what it rests on, in a checked form."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from surefoot.judges._diamond import HIGHEST, lacking, metric as declared, metrics
from surefoot.judges._scores import BaseJudge, Finding, Unscored, standalone
from surefoot.run import meter
from surefoot.run.cost import tokens
from surefoot.text import toml_values
from surefoot.text.replies import object_form, objects
from surefoot.text.screen import line, screened, suspects
from surefoot.text.words import encodable
from surefoot.types import Completion, Message, Metric, Quote, Record, protocols
from surefoot.types.errors import ConfigError
from surefoot.types.llms import Spent

LONGEST_EXPLANATION = 240
"""Characters that the schema allows; what goes beyond is kept all the same, up to five times as much. llama.cpp counts
them at each token: with 400 a reply took twice as long as with none to count."""
LONGEST_QUOTE = 100
NOTE_TOKENS = 150
"""The room of a reply that holds a grading note."""
TURNS = 5
"""Turns of the conversation before a question that a judge of the question is shown."""
_EXPECTED = 120
"""Tokens of a reply that is as brief as it was asked to be."""
_BEGINNING = "The response should"

_PROMPTS = toml_values.beside(__file__, "prompts.toml")
_QUOTED = r"[\"“]([^\"“”]{3,400})[\"”]"


@dataclass(frozen=True, slots=True)
class JudgeReading:
    """A judgement as a reply states it."""

    choice: str
    """A rating, or a word of the metric's scale."""
    explanation: str
    quotes: tuple[str, ...] = ()


class LLMJudge(BaseJudge):
    """A language model's rating of any metric from 1 to 5, with its reason and checked quotations.

    `metric` names the judge that declares it; the score is a fifth of the rating. With `repeats`, a record is judged so
    often and the mean counts; since a greedy model would repeat itself, the words change, and every other time the
    levels stand upside down. `allow_abstention` is the grading note's rule that an answer which says that the context
    lacks the information gets 5; it rewards refusals. `max_tokens` is the room of a reply; a model that thinks aloud
    needs more.

    The judge sees what its metric sees: retrieved text is quoted, without sentences that give orders to a machine. A
    missing grading note is made from the question alone.

    Cost: a call for each repeat, one more where a reply cannot be read, and one for a missing note.
    """

    def __init__(
        self,
        llm: protocols.LLM,
        metric: str | Metric,
        repeats: int = 1,
        allow_abstention: bool = True,
        max_tokens: int = 400,
    ) -> None:
        about = metric if isinstance(metric, Metric) else declared(metric)
        if about is None or not about.choices:
            raise ConfigError(f"no metric called '{metric}'; there are: {', '.join(metrics())}")
        if min(repeats, max_tokens) < 1:
            raise ConfigError(f"judge 'llm': repeats and max_tokens must be at least 1, not {repeats} and {max_tokens}")
        self.llm, self.about, self.metric = llm, about, about.name
        self.repeats, self.max_tokens, self._allow_abstention = repeats, max_tokens, allow_abstention
        strict = ", no abstention" if about.abstention and not allow_abstention else ""
        self.name = f"llm:{llm.name}{f' x{repeats}' if repeats > 1 else ''}{strict}"

    def with_note(self, record: Record) -> Record:
        """The record with a grading note, if this metric needs one and the model, whose errors are raised, wrote it."""
        if "note" not in self.about.sees or record.note or lacking(self.about, record):
            return record
        for again in (False, True):
            reply = self.llm.complete(note_prompt(standalone(record), again), _NOTE_FORM, max_tokens=NOTE_TOKENS)
            if note := note_in(reply.text):
                return replace(record, note=note)
        return record

    def estimate(self, record: Record) -> Spent:
        """About what judging the record costs where each reply can be read at once; nothing is asked."""
        if lacking(self.about, record):
            return Spent()
        noted = replace(record, note=record.note or "x" * 200)
        prompted = tokens(prompt(self.about, noted, allow_abstention=self._allow_abstention))
        judged = Spent(self.repeats, self.repeats * prompted, self.repeats * min(_EXPECTED, self.max_tokens))
        if "note" not in self.about.sees or record.note:
            return judged
        return judged.plus(Spent(1, tokens(note_prompt(standalone(record))), 60))

    def find(self, record: Record) -> Finding:
        """The ratings' value, with the explanation of the one that is nearest to it."""
        record = self.with_note(record)
        if "note" in self.about.sees and not record.note:
            raise Unscored("the model wrote no readable grading note, asked twice")
        if record.contexts and "contexts" in self.about.sees and (ordering := suspects(record.contexts)):
            meter.degrade(f"instructions found in {', '.join(ordering)}: not shown to {self.name}")
        found = [self._read(record, reading) for reading in range(1, self.repeats + 1)]
        if not (read := [one for one in found if isinstance(one, JudgeReading)]):
            raise Unscored(str(found[0]))
        choices = self.about.choices
        values, unread = tuple(choices[one.choice] for one in read), len(found) - len(read)
        unanimous, mean = len(set(values)) == 1, sum(values) / len(values)
        chosen = min(read, key=lambda one: abs(choices[one.choice] - mean))
        aside = f" ({unread} of {len(found)} judgements could not be read)" if unread else ""
        return Finding(
            values[0] if unanimous else mean,
            chosen.explanation + aside,
            _checked((*chosen.quotes, *re.findall(_QUOTED, chosen.explanation)), self.about, record),
            rating=int(chosen.choice) if unanimous and not self.about.scale else None,
            repeats=values if self.repeats > 1 else (),
        )

    def _read(self, record: Record, number: int) -> JudgeReading | str:
        """The model's judgement, or why its reply could not be read."""
        stated = Completion("", "")
        for again in (False, True):
            messages = prompt(self.about, record, again, number, self._allow_abstention)
            stated = self.llm.complete(messages, schema(self.about), max_tokens=self.max_tokens)
            if found := reading(self.about, stated.text):
                return found
        cut = ", cut off at its token limit" if stated.truncated else ""
        return f"the reply was no judgement, asked twice{cut}: {line(stated.text)[:120]!r}"


def prompt(
    metric: Metric, record: Record, again: bool = False, number: int = 1, allow_abstention: bool = True
) -> list[Message]:
    """The conversation that asks for a judgement, the `number`th; `again`: the last reply could not be read."""
    levels = [f"{HIGHEST - place}: {level}" for place, level in enumerate(metric.levels)] or [*metric.scale]
    special = " ".join(part for part in (metric.special, metric.abstention if allow_abstention else "") if part)
    rules = _PROMPTS["rules"].format(
        about=metric.about, levels="\n".join(levels if number % 2 else reversed(levels)), special=special
    )
    parts = [_part(name, record) for name in metric.sees]
    if record.history and "question" in metric.sees:
        earlier = [text for turn in record.history[-TURNS:] for text in turn if text]
        parts.insert(0, f"The conversation before it, which the question may go on from:\n{_quoted(earlier)}")
    if number > 1:
        parts.append(f"This is judgement {number} of the same; judge as if it were the first.")
    if again:
        parts.append("Your last reply did not have the form that was asked for. Keep it short.")
    kind = f"one of {json.dumps([*metric.scale], ensure_ascii=False)}" if metric.scale else 'a rating from "1" to "5"'
    form = f'{{"explanation": "…", "{metric.key}": {kind}, "quotes": ["…"]}}'
    parts.append(f"Reply with this JSON object and nothing else: {form}")
    return [Message("system", rules), Message("user", encodable("\n\n".join(parts)))]


def note_prompt(question: str, again: bool = False) -> list[Message]:
    """The conversation that asks for a grading note; it sees the question alone."""
    repeated = "Your last reply did not have the form that was asked for. " if again else ""
    form = f'Reply with this JSON object and nothing else: {{"note": "{_BEGINNING} …"}}'
    return [
        Message("system", _PROMPTS["note"]),
        Message("user", encodable(f"{_quoted([question])}\n\n{repeated}{form}")),
    ]


def note_in(reply: str) -> str:
    """The grading note in a reply, on one line; empty: there is none."""
    notes = (one.get("note") for one in objects(reply))
    stated = next((line(note) for note in notes if isinstance(note, str)), "")
    return stated if stated.casefold().startswith(_BEGINNING.casefold()) else ""


def schema(metric: Metric) -> dict[str, Any]:
    """The JSON schema of a reply: the reason comes first, so that the rating can follow from it, and the quotations
    last, where being cut off costs least."""
    # Patterns, since bounds of lengths are refused by some endpoints; they keep a small model from never ending a text.
    properties = {
        "explanation": {"type": "string", "pattern": f'^[^"\\\\]{{1,{LONGEST_EXPLANATION}}}$'},
        metric.key: {"type": "string", "enum": sorted(metric.choices)},
        "quotes": {"type": "array", "items": {"type": "string", "pattern": f'^[^"\\\\]{{1,{LONGEST_QUOTE}}}$'}},
    }
    return object_form(properties)


def reading(metric: Metric, reply: str) -> JudgeReading | None:
    """The judgement in a reply; None: there is none, none with a reason, or several that differ in their rating."""
    stated = [one for one in objects(reply) if metric.key in one]
    choices = {_choice(metric, one[metric.key]) for one in stated}
    choice = choices.pop() if len(choices) == 1 else None
    if choice is None:
        return None
    explanation, quotes = stated[-1].get("explanation"), stated[-1].get("quotes")
    if not isinstance(explanation, str) or not line(explanation):
        return None
    texts = [one for one in quotes if isinstance(one, str) and one.strip()] if isinstance(quotes, list) else []
    return JudgeReading(choice, line(explanation)[: 5 * LONGEST_EXPLANATION], tuple(texts))


def _choice(metric: Metric, value: object) -> str | None:
    """A word of the scale, in any case, or 1 to 5, as text or as a number; None: it is something else."""
    if metric.scale:
        return next((word for word in metric.scale if word.casefold() == str(value).strip().casefold()), None)
    number = re.fullmatch(r"\s*([1-5])(?:\.0+)?(?:\s*/\s*5)?\s*", str(value))
    return number[1] if number and isinstance(value, str | int | float) else None


def _quoted(texts: Sequence[str]) -> str:
    """Texts as lines that begin with >, without anything that could pass for a turn of a conversation."""
    lines = (line(part) for text in texts for part in text.splitlines() or [""])
    return "\n".join(f"> {stated}" for stated in lines if stated) or ">"


def _checked(quotes: Sequence[str], metric: Metric, record: Record) -> tuple[Quote, ...]:
    """Each quotation once, looked up in what the judge was shown: word for word, but for white space and case."""
    texts: dict[str, str] = {}
    for name in metric.sees:
        if name == "contexts":
            texts |= {p.id: f"{p.title}: {p.text}" for p in map(screened, record.contexts or ())}
        else:
            value = "\n".join(record.truths) if name == "truths" else getattr(record, name)
            texts["truth" if name == "truths" else name] = value or ""
    folded = {where: _folded(text) for where, text in texts.items()}
    wanted = {_folded(quote): line(quote) for quote in quotes if _folded(quote)}
    found = {stated: next((w for w, text in folded.items() if stated in text), "") for stated in wanted}
    return tuple(Quote(text, found[stated], bool(found[stated])) for stated, text in wanted.items())


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).strip("\"'“”‘’…. ")


def _part(name: str, record: Record) -> str:
    """A field of the record under its heading; passages are numbered, without orders to a machine, a line each."""
    heading = _PROMPTS["headings"][name]
    if name == "contexts":
        passages = enumerate(map(screened, record.contexts or ()), start=1)
        texts = [f"[{n}] {f'{line(p.title)}: ' if p.title else ''}{line(p.text)}" for n, p in passages]
    elif name == "truths" and record.truths[1:]:
        heading = "Reference answers, any of which will do:"
        texts = [f"Possible answers: {'; '.join(map(line, record.truths))}"]
    else:
        texts = [*record.truths] if name == "truths" else [getattr(record, name)]
    return f"{heading}\n{_quoted([text for text in texts if text] or [_PROMPTS['nothing'].get(name, '')])}"


_NOTE_FORM = object_form({"note": {"type": "string", "pattern": f'^{_BEGINNING} [^"\\\\]{{1,{LONGEST_EXPLANATION}}}$'}})
