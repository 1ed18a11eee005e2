"""Builds a set of labelled questions from the passages of an index."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from surefoot.evaluate.ask.questions import folded, hashed
from surefoot.evaluate.testset.model_questions import SHARED, drafts, span, written
from surefoot.evaluate.testset.prompter import Prompter, name_of, resumed, spread
from surefoot.evaluate.testset.structure import Fact, Structure
from surefoot.run.store import Run
from surefoot.text.words import content_words, places
from surefoot.types import Passage
from surefoot.types.protocols import Evaluator, Retriever

SHARES = {"single": 4, "multi-hop": 2, "unanswerable": 2, "false premise": 2}
"""Each kind of question with its weight among them."""
FOUND, READ = 10, 3
"""Passages that are retrieved for a question, and those of them that a model reads to see that none answers."""
BATCH = 8
"""Questions that are tried at a time, at least."""


@dataclass(frozen=True, slots=True)
class MadeQuestion:
    """A question with its evidence, and what the round trip made of it."""

    kind: str
    question: str
    answers: tuple[str, ...] = ()
    """Verbatim parts of passages, any of which is right; none where nothing answers."""
    evidence: tuple[tuple[str, str], ...] = ()
    """Id of a passage and the words of it that answer, or lead to the answer."""
    fault: str = ""
    """The reason why it was dropped."""


Work = tuple[str, Callable[[], MadeQuestion]]


@dataclass
class QuestionMaker:
    """Makes questions to passages: by a language model where there is one, else by rules over their structure.

    Each is confirmed by a round trip: the passage is among the first ten retrieved, and the model, or the reader that
    quotes, points at the place when it is shown the passage.
    """

    structure: Structure
    retriever: Retriever
    reader: Evaluator
    """It returns spans."""
    prompter: Prompter | None = None
    _faults: dict[str, str] = field(default_factory=dict)

    def candidates(self, kind: str) -> Iterator[Work]:
        """Keys of possible questions of a kind, drawn by a hash, each with what makes and confirms it."""
        if kind == "single" and self.prompter:
            for passage in spread(self.structure.passages, lambda one: one.file):
                for draft in islice(drafts(passage), 1):
                    yield f"{passage.id} {draft[1]}", partial(self._written, passage, draft, self.prompter)
        else:
            make = {
                "single": self._single,
                "multi-hop": self._hop,
                "unanswerable": self._absent,
                "false premise": self._premise,
            }[kind]
            for fact in self.structure.drawn(kind):
                yield f"{kind} {fact.id}", partial(make, fact)

    def _written(self, passage: Passage, draft: tuple[str, int, int], prompter: Prompter) -> MadeQuestion:
        one = written(passage, _name(passage), draft, prompter, self._found)
        words = passage.text[one.start : one.end]
        holding = [other for other in self._found(one.question) if places(words, other.text)] if not one.fault else []
        evidence = tuple((other.id, words) for other in holding)
        return MadeQuestion("single", one.question, (span(one, passage.text),), evidence, one.fault)

    def _single(self, fact: Fact) -> MadeQuestion:
        return self._made("single", fact, self.structure.question(fact), self._fault(fact))

    def _hop(self, fact: Fact) -> MadeQuestion:
        for question, other in self.structure.hops(fact):
            wording = self._reworded(fact.passage, question, fact.key)
            fault = self._fault(other) or self._missed(wording, [fact])
            made = self._made("multi-hop", other, wording, fault)
            return replace(made, evidence=((fact.passage.id, fact.value), *made.evidence))
        return MadeQuestion("multi-hop", "", fault="leads to no other fact")

    def _premise(self, fact: Fact) -> MadeQuestion:
        question, other = self.structure.premise(fact)
        if not question:
            return MadeQuestion("false premise", "", fault="no other value")
        wording = self._reworded(fact.passage, question, fact.key, other)
        fault = self._fault(fact) or self._missed(wording, self.structure.same(fact))
        return self._made("false premise", fact, wording, fault)

    def _absent(self, fact: Fact) -> MadeQuestion:
        name = self.structure.absent(fact)
        if not name:
            return MadeQuestion("unanswerable", "", fault="no name that is not there")
        other = replace(fact, key=name)
        question = self._reworded(fact.passage, self.structure.question(other, self.structure.key(other)), name)
        found = self._found(question)
        if any(places(name, f"{one.title}\n{one.text}") for one in found):
            return MadeQuestion("unanswerable", question, fault="its name is there")
        if self.prompter and any(self._reply(one, question) for one in found[:READ]):
            return MadeQuestion("unanswerable", question, fault="answered")
        return MadeQuestion("unanswerable", question)

    def _made(self, kind: str, fact: Fact, question: str, fault: str) -> MadeQuestion:
        same = self.structure.same(fact)
        evidence = tuple((one.passage.id, one.value) for one in same)
        return MadeQuestion(kind, question, tuple(dict.fromkeys(one.value for one in same)), evidence, fault)

    def _reworded(self, passage: Passage, question: str, *names: str) -> str:
        """The question in the model's words where these names stay in it; else, or without a model, as it is."""
        if self.prompter is None:
            return question
        other = self.prompter.reply(passage, _name(passage), "reword", question)
        return other if other.endswith("?") and all(name in other for name in names) else question

    def _fault(self, fact: Fact) -> str:
        """The reason to drop all questions over a fact; empty: its own question passes the round trip."""
        if fact.id not in self._faults:
            question = self.structure.question(fact)
            missed = self._missed(question, self.structure.same(fact))
            self._faults[fact.id] = missed or self._misread(question, fact)
        return self._faults[fact.id]

    def _missed(self, question: str, facts: Sequence[Fact]) -> str:
        found = {one.id for one in self._found(question)}
        return "" if found & {one.passage.id for one in facts} else "not retrieved"

    def _misread(self, question: str, fact: Fact) -> str:
        if self.prompter:
            reply, value = {*content_words(self._reply(fact.passage, question))}, {*content_words(fact.value)}
            return "" if reply and len(reply & value) >= SHARED * len(reply) else "answered elsewhere"
        place = self.reader.grade([(question, fact.passage)])[0].span
        return "" if place and place[0] < fact.unit[1] and fact.unit[0] < place[1] else "answered elsewhere"

    def _reply(self, passage: Passage, question: str) -> str:
        """The model's answer; empty where it finds none."""
        reply = self.prompter.reply(passage, _name(passage), "answer", question) if self.prompter else ""
        return "" if reply.strip(".").upper() == "NONE" else reply

    def _found(self, question: str) -> tuple[Passage, ...]:
        return self.retriever.retrieve(question, FOUND)


def _name(passage: Passage) -> str:
    return name_of(passage.title, Path(passage.file or "").stem)


def shared_out(questions: int, kinds: Sequence[str]) -> dict[str, int]:
    """How many questions of each kind, by `SHARES`; the first kinds get what is left over."""
    weights = {kind: weight for kind, weight in SHARES.items() if kind in kinds}
    whole = {kind: questions * weight // sum(weights.values()) for kind, weight in weights.items()}
    left = questions - sum(whole.values())
    return {kind: count + (n < left) for n, (kind, count) in enumerate(whole.items())}


def build(
    maker: QuestionMaker, run: Run, wanted: Mapping[str, int], threads: int, on_done: Callable[[int, int], None]
) -> dict[str, MadeQuestion]:
    """So many confirmed questions of each kind, or as many as the passages yield, by their keys. Each candidate is on
    disk in `run` as soon as it is made, dropped ones with the reason; the same call goes on after a kill. `on_done`
    counts confirmed questions and all that are wanted."""
    confirmed: dict[str, MadeQuestion] = {}
    with run.held():
        done = run.values(MadeQuestion)
        for kind, most in wanted.items():
            candidates, own = maker.candidates(kind), dict[str, MadeQuestion]()
            while len(own) < most and (batch := dict(islice(candidates, max(BATCH, threads)))):
                for _ in resumed(run, done, batch, threads):
                    pass
                questions = {folded(one.question) for one in (*confirmed.values(), *own.values())}
                for key in batch:
                    if (one := done.get(key)) and not one.fault and folded(one.question) not in questions:
                        own[key] = one
                        questions.add(folded(one.question))
                on_done(len(confirmed) + min(len(own), most), sum(wanted.values()))
            confirmed |= dict(islice(own.items(), most))
    return confirmed


def row(key: str, made: MadeQuestion, titles: Mapping[str, str]) -> dict[str, Any]:
    """The question as a line of the file that `surefoot improve` takes."""
    return {
        "id": hashed(key, 6).hex(),
        "question": made.question,
        "answers": [*made.answers],
        "answerable": bool(made.answers),
        "prop": made.kind,
        "passages": [
            {"id": id, "title": titles[id], "label": 1, "quote": quote} for id, quote in dict.fromkeys(made.evidence)
        ],
    }
