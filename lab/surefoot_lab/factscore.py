"""Are the facts of a long answer supported? FActScore (Min et al. 2023) through any language model.

A sentence at a time is split into atomic facts, and each fact is held against the sources that resemble it most. The
paper judges by all of Wikipedia's article on the person; ours by the texts that came with the question, the same ones
for every method, so that a fact which these do not tell counts as unsupported, true or not. Its prompts are not ours,
and its length penalty and its second opinion by a likelihood model are left out.

Cost: a call of the language model a sentence, and one a fact; about 30 for a biography of 100 words.

A verifier may judge in its place, without a language model: of whole sentences, so that one that is half true is not
supported, and scores are lower.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from surefoot.cli._configuration import ConfigFile, Settings, configured
from surefoot.cli._console import REASONS, counting, out, plain, pulling, write_json
from surefoot.cli._questions import remarks
from surefoot.config.builder import Builder
from surefoot.config.trust import place
from surefoot.evaluate.ask import questions, runs
from surefoot.evaluate.ask.questions import Example
from surefoot.evaluate.ask.runs import OnDone
from surefoot.run import manifest, store
from surefoot.run.store import Run, recorded, to_json
from surefoot.stats.figures import Figure
from surefoot.text.json_values import parsed
from surefoot.text.replies import object_form
from surefoot.text.screen import line, screened
from surefoot.text.words import content_words, sentences
from surefoot.types import Assertion, Message, Passage, Trace
from surefoot.types.errors import ComponentError, UsageError
from surefoot.types.protocols import LLM, Verifier
from surefoot_lab import qa
from surefoot_lab.cli._options import JsonFile
from surefoot_lab.figures import Share, average, counted
from surefoot_lab.report import Form, Table, interval, percent, share, show

FILE = "facts.jsonl"
"""In the folder of a judge, which is in a run's: its judgements, a line a question."""
SOURCES = 5
"""Sources that a fact is held against: those that share most words with it (the paper takes five, too)."""
TOKENS = 300
"""Of a reply that lists facts."""

_MARKER = re.compile(r"(?<!\s)\s*\[\d+\]")
_FACTS = {"type": "array", "items": {"type": "string"}}
_VERDICT = {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement of an answer."""

    text: str
    supported: bool | None
    """None: it could not be judged."""
    reason: str = ""
    """Why it could not be; empty: it was."""


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """The judgement of one answer."""

    facts: tuple[Fact, ...] = ()
    unjudged: str = ""
    """Why the answer, or a sentence of it, could not be split or judged at all; empty: all of it was."""

    @property
    def score(self) -> float | None:
        """Share of the judged facts that is supported; None: there is none, and it is no 0."""
        known = [fact.supported for fact in self.facts if fact.supported is not None]
        return sum(known) / len(known) if known else None


@dataclass(frozen=True, slots=True)
class FactReport:
    """The support that a run's facts have. The JSON form is stable: fields are added, never changed."""

    run: str
    judge: str
    answered: Share
    """Of all questions; the others say nothing that could be judged."""
    score: Figure
    """FActScore: the mean over the answers that could be judged of the share of their facts that is supported."""
    supported: Share
    """Of all facts that could be judged."""
    facts: int
    unjudged: dict[str, int] = field(default_factory=dict)
    """Answers, sentences and facts that could not be judged, by reason; they are in no share."""


def splitting(question: str, sentence: str) -> list[Message]:
    """The conversation that asks for the facts of a sentence of an answer."""
    return [
        Message(
            "user",
            f"The question was: {line(question)}\nA sentence of the answer: {line(sentence)}\n"
            "List every single fact that the sentence states, each as a short sentence that can be understood alone: "
            'names, no pronouns. Reply as JSON: {"facts": ["...", "..."]}',
        )
    ]


def judging(question: str, fact: str, sources: Sequence[Passage]) -> list[Message]:
    """The conversation that asks whether the sources support a fact."""
    quoted = [f"> {line(f'{source.title}: {source.text}' if source.title else source.text)}" for source in sources]
    queries = f"The question was: {line(question)}\nA statement of the answer: {line(fact)}"
    rule = "Do the sources say so? What they leave open, or deny, they do not say."
    form = 'Reply as JSON: {"supported": true} or {"supported": false}'
    return [Message("user", "\n".join(["Sources:", *quoted, "", queries, f"{rule} {form}"]))]


def judged(judge: LLM | Verifier, question: str, answer: str, sources: Sequence[Passage]) -> JudgedAnswer:
    """The facts of an answer, each with whether the sources support it; of a verifier, its sentences. A call that fails
    leaves its part unjudged."""
    if not sources:
        return JudgedAnswer(unjudged="there are no texts to judge by")
    wording, failed, facts = [answer[start:end] for start, end in sentences(answer)], "", list[Fact]()
    if isinstance(judge, Verifier):
        try:
            verdicts = judge.support([Assertion(one, tuple(_nearest(one, sources)), question) for one in wording])
        except ComponentError as error:
            return JudgedAnswer(unjudged=f"the sentences could not be judged: {error}")
        known = zip(wording, verdicts, strict=True)
        facts = [Fact(one, v.supported, "" if v.supported is not None else v.reason) for one, v in known]
    else:
        for sentence in wording:
            try:
                stated = _asked(judge, splitting(question, sentence), "facts", _FACTS, TOKENS)
            except ComponentError as error:
                failed = failed or f"a sentence could not be split: {error}"
            else:
                facts += [_held(judge, question, fact, sources) for fact in stated if fact.strip()]
    return JudgedAnswer(tuple(facts), failed or ("" if facts else "it states no facts"))


def run(
    judge: LLM | Verifier, folder: Path, examples: Sequence[Example], traces: Mapping[str, Trace], on_done: OnDone
) -> dict[str, JudgedAnswer]:
    """The judgements of a run's answers by question, refusals apart; finished ones of the same judge are reused."""
    judgements = Run(folder / runs.place(f"facts {judge.name}"), {"judge": judge.name}, FILE)
    done = judgements.values(JudgedAnswer)
    # Citations are no facts.
    wording = {name: _MARKER.sub("", qa.answer_text(trace)) for name, trace in traces.items()}
    answered = [(example, text) for example in examples if (text := wording.get(example.id))]
    for number, (example, text) in enumerate(answered):
        on_done(number, len(answered))
        if example.id not in done:
            sources = [screened(passage) for passage in (*example.passages, *example.outside)]
            done[example.id] = judged(judge, example.question, text, sources)
            judgements.add(example.id, done[example.id])
    on_done(len(answered), len(answered))
    return {example.id: done[example.id] for example, _ in answered}


def report(name: str, judge: str, questions: int, found: Mapping[str, JudgedAnswer]) -> FactReport:
    """The figures of these answers, out of so many questions; pure."""
    scores = [one.score for one in found.values() if one.score is not None]
    facts = [fact for one in found.values() for fact in one.facts]
    known = [fact.supported for fact in facts if fact.supported is not None]
    reasons = Counter([one.unjudged for one in found.values() if one.unjudged])
    reasons.update(fact.reason for fact in facts if fact.supported is None)
    shares = counted(sum(known), len(known))
    return FactReport(
        name, judge, counted(len(found), questions), average(scores), shares, len(facts), dict(reasons.most_common())
    )


def _held(llm: LLM, question: str, fact: str, sources: Sequence[Passage]) -> Fact:
    try:
        supported = _asked(llm, judging(question, fact, _nearest(fact, sources)), "supported", _VERDICT, 20)
    except ComponentError as error:
        return Fact(fact, None, str(error))
    return Fact(fact, supported)


def _nearest(fact: str, sources: Sequence[Passage]) -> list[Passage]:
    """The sources that share most words with it, at most `SOURCES`."""
    wording = set(content_words(fact))
    return sorted(sources, key=lambda one: -len(wording & set(content_words(f"{one.title} {one.text}"))))[:SOURCES]


def _asked(llm: LLM, messages: Sequence[Message], name: str, form: dict[str, Any], tokens: int) -> Any:
    """The value under this name in the reply. Raises ComponentError where it has another form, or none."""
    text = llm.complete(messages, object_form({name: form}), max_tokens=tokens).text
    try:
        reply = parsed(text)  # and not mended: of a list that was cut off the rest would be missing without a word
    except ValueError as error:
        raise ComponentError("the judge's reply is no JSON") from error
    match reply.get(name) if isinstance(reply, dict) else None:
        case bool() as value if form is _VERDICT:
            return value
        case list() as value if form is _FACTS and all(isinstance(one, str) for one in value):
            return value
    raise ComponentError(f"the judge's reply has no '{name}'")


def facts(
    folders: Annotated[list[Path], Argument(metavar="RUN...", help="Folders that `surefoot lab qa` kept.")],
    data: Annotated[
        Path | None, Option("--data", metavar="FILE", help="The questions, if they are no longer where they were.")
    ] = None,
    verifier: Annotated[
        bool,
        Option("--verifier", help="Let the configured verifier judge, sentence by sentence, without a model call."),
    ] = False,
    json_file: JsonFile = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Let the language model judge, fact by fact, whether texts support a run's answers.

    The texts are those that came with the questions. It takes a call a sentence and one a fact, or, with --verifier,
    none; run again, it goes on where it stopped.
    """
    chosen = configured(config, settings, None)
    with pulling():
        judge = getattr(Builder(chosen), "verifier" if verifier else "llm")
    reports = []
    for folder in (inner for each in folders for inner in store.runs(each)):
        about, traces = recorded(folder)
        if not data and not about.get("data"):
            raise UsageError(f"{folder} does not say on which data it was run; name them with --data")
        loaded = questions.load(data or place(str(about["data"]), "--data"))
        remarks(problem for problem in loaded.problems if not problem.what.startswith("no gold answer"))
        queries = [example for example in loaded.examples if example.id in traces]
        with counting(folder.name) as on_done:
            found = run(judge, folder, queries, traces, on_done)
        reports.append(report(str(folder), judge.name, len(queries), found))
    write_json(json_file, {"config": chosen, "environment": manifest.environment(), "runs": to_json(reports)})
    columns: dict[str, Form] = {"run": str, "answered": share, "FActScore": _percent, "supported": share}
    show([Table("facts", columns, [(one.run, one.answered, one.score, one.supported) for one in reports])])
    for one in reports:
        if one.unjudged:
            because = [f"{plain(reason)} ({n:,})" for reason, n in [*one.unjudged.items()][:REASONS]]
            words = f"{one.run}: {sum(one.unjudged.values()):,} could not be judged: {'; '.join(because)}"
            out.say(words, "yellow")


def _percent(score: Figure) -> str:
    return f"{percent(score.value)} ({interval(score)})"
