"""Has a language model write questions to passages, and keeps those that a round trip confirms.

    python recipes/written_questions.py PASSAGES.jsonl OUT --set llm.use=openai --set llm.base_url=http://…/v1

PASSAGES has lines {"id", "package", "use", "kind", "licence", "title", "text"}. For each of two sentences, items or
rows of a passage the model writes a question of one of the `KINDS`. A question is dropped where it cannot be understood
alone or repeats its sentence, where the default retrieval over the package does not find the sentence among the first
ten passages, and where the model, shown the passage and the question, answers with other words.

OUT/values.jsonl has every question, dropped ones with the reason. A killed run goes on from there, also with more
passages than before. OUT/written.jsonl has the others in the format of `surefoot_lab.datasets.pairs`. Other passages
that were retrieved have no label: passages of one package repeat each other, so a teacher has to grade them.
"""

import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any

from manual_questions import slipped
from passage_runs import Prompter, SourcePassage, finished, name_of, opened, options, read_passages, resumed, spread
from surefoot.config.builder import Builder
from surefoot.index.search import Index
from surefoot.text.blocks import led, parts
from surefoot.text.ids import labels
from surefoot.text.words import content_words, longest_run, places, words
from surefoot.types import Block, Document
from surefoot.types.protocols import Retriever

PROMPTS = Path(__file__).with_suffix(".toml")
EACH, FOUND = 2, 10
"""Questions of a passage, and passages that are retrieved for one."""
UNANSWERABLE = 0.1
"""Share of the questions that lose the passages that answer."""
KINDS = {"how-to": 3, "number": 2, "definition": 2, "yes": 1, "no": 1, "list": 1, "comparison": 1, "detail": 4}
"""Each kind of question with its weight in the draw. Half of the details become keywords, the others get a slip."""
CUES = {
    "number": ("default", *"0123456789"),
    "definition": (" is ", " are ", " means ", "stands for", "refers to", "\n", "|"),
    "list": (", and ", ", or ", "\n- ", "\n* "),
    "comparison": (" than ", "unlike", "instead", "whereas", "differ", "rather", "however", " but "),
}
"""Words that answer such a question have one of these."""
SHORTEST, LONGEST = 5, 60
"""Words that a question is made of, at least and at most."""
POINTING = frozenset("this these those passage ferryd gridlet shelf".split())
PRONOUNS = frozenset("it its they their he she".split())
"""Words of questions that cannot be understood alone: the second ones where a question begins with them."""
ASKING = frozenset("what which how why when where who".split())
LONGEST_NAME = 2
"""Words of a name that a person would type to say what a question is about, at most."""
VERDICTS = ("yes", "no")
"""The first words of questions that are not answered by yes or no, and the kinds of those that are."""
COPIED = 0.7
"""Share of a question's words that stand in the passage in the same order, from which on it repeats the passage."""
NEW, SHARED = 0.34, 0.6
"""Share of the words of an answer that its question does not have, and share of these that have to stand where the
question came from."""


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    """A question to a passage, and what the round trip made of it."""

    kind: str
    start: int
    end: int
    """The place in the passage that the question is made of."""
    question: str
    reply: str = ""
    """The model's own answer."""
    found: tuple[str, ...] = ()
    """Ids of the passages that were retrieved, best first."""
    fault: str = ""
    """The reason why it was dropped."""


Questions = tuple[WrittenQuestion, ...]


@dataclass
class Shelves:
    """The default retrieval over each package alone, which is indexed when a passage of it is first asked for."""

    folder: Path
    passages: Mapping[str, Sequence[SourcePassage]]
    config: Mapping[str, Any]
    _opened: dict[str, Retriever] = field(default_factory=dict)
    _lock: Any = field(default_factory=Lock)

    def found(self, package: str, question: str) -> tuple[SourcePassage, ...]:
        """The passages of the package that come first for the question."""
        with self._lock:
            if package not in self._opened:
                self._opened[package] = self._indexed(package)
        known = {one.id: one for one in self.passages[package]}
        each = (labels(passage.id) & known.keys() for passage in self._opened[package].retrieve(question, FOUND))
        return tuple(known[id] for id in dict.fromkeys(id for ids in each for id in ids))

    def _indexed(self, package: str) -> Retriever:
        path = self.folder / f"{len(self._opened)}.db"
        builder = Builder({**self.config, "index": {**self.config["index"], "path": str(path)}})
        same = self.passages[package]
        with Index.make(path, builder.embedder) as index:
            index.add((Document(p.id, p.title, (Block(p.text),), id=p.id) for p in same), builder.embedder)
        return builder.retriever


def drafts(passage: SourcePassage) -> Iterator[tuple[str, int, int]]:
    """Kinds of questions, each with another place of the passage that can answer it, drawn by a hash."""
    chance, text = random.Random(passage.id), passage.text
    prose = [part for part in parts(text) if part.kind != "code"]
    left = [unit for part in prose for unit in part.units]
    lists = [(part.start, part.end) for part in prose if part.kind == "list"]
    for kind in sorted(KINDS, key=lambda kind: chance.random() ** (1 / KINDS[kind]), reverse=True):
        some = left + lists * (kind == "list")
        fitting = [one for one in chance.sample(some, len(some)) if _fits(kind, led(text, *one)[0])]
        if fitting:
            left = [one for one in left if one != fitting[0]]
            yield kind, *fitting[0]


def _fits(kind: str, text: str) -> bool:
    return SHORTEST <= len(words(text)) <= LONGEST and any(cue in text for cue in CUES.get(kind, ("",)))


def wording_fault(kind: str, question: str, place: str) -> str:
    """The reason to drop a question to these words for its own words; empty: there is none."""
    there = words(question)
    run = longest_run(there, words(place))
    if not question.endswith("?") or len(content_words(question)) < 2 or (kind in VERDICTS and there[0] in ASKING):
        return "no question"
    if POINTING & {*there} or PRONOUNS & {*there[:4]}:
        return "not understood alone"
    return "repeats the passage" if len(run) > 4 and len(run) >= COPIED * len(there) else ""


def answer_fault(one: WrittenQuestion, text: str) -> str:
    """The reason to drop a question for what the model answers; empty: the answer has the right verdict, and says more
    than the question in words that stand in the question's place."""
    verdict, answer = verdict_of(one)
    place = {*content_words(led(text, one.start, one.end)[0])}
    reply = {*content_words(answer)}
    new = reply if verdict else reply - {*content_words(one.question)}
    if verdict != (one.kind if one.kind in VERDICTS else ""):
        return "another verdict"
    if not new or len(new) < NEW * len(reply):
        return "gives its answer"
    return "" if len(new & place) >= SHARED * len(new) else "answered elsewhere"


def verdict_of(one: WrittenQuestion) -> tuple[str, str]:
    """ "yes", "no" or nothing, and the words of the model's answer."""
    first, _, rest = one.reply.partition(":")
    verdict = first.strip().lower()
    return (verdict, rest.strip()) if one.kind in VERDICTS else ("", one.reply)


def span(one: WrittenQuestion, text: str) -> str:
    """The words of the passage that answer: the model's where they stand in the question's place, else all of that."""
    answer = verdict_of(one)[1]
    whole = text[one.start : one.end]
    if answer in whole:
        return answer
    exact = places(answer, whole)
    return whole[slice(*exact[0])] if exact else whole


def written(passage: SourcePassage, prompter: Prompter, shelves: Shelves) -> Questions:
    """The questions of a passage after their round trip."""
    return tuple(_written(passage, draft, prompter, shelves) for draft in list(drafts(passage))[:EACH])


def _written(
    passage: SourcePassage, draft: tuple[str, int, int], prompter: Prompter, shelves: Shelves
) -> WrittenQuestion:
    kind, start, end = draft
    place = led(passage.text, start, end)[0]
    question = prompter.reply(passage, kind, " ".join(place.split()), 40)
    question = named(question, name_of(passage.title, passage.package))
    one = WrittenQuestion(kind, start, end, question)
    if fault := wording_fault(kind, question, place):
        return replace(one, fault=fault)
    if kind == "detail":
        one = replace(one, question=typed(question, random.Random(f"{passage.id} {start}")))
    found = shelves.found(passage.package, one.question)
    one = replace(one, found=tuple(other.id for other in found))
    if not any(places(passage.text[start:end], other.text) for other in found):
        return replace(one, fault="not retrieved")
    one = replace(one, reply=prompter.reply(passage, "decide" if kind in VERDICTS else "answer", question))
    return replace(one, fault=answer_fault(one, passage.text))


def named(question: str, name: str) -> str:
    """The question, with the name of what it is about where it has no word of that."""
    own = {*content_words(name)}
    if not own or len(own) > LONGEST_NAME or own & {*content_words(question)} or not question.endswith("?"):
        return question
    return f"{question[:-1]} in {name}?"


def typed(question: str, chance: random.Random) -> str:
    """The question as people type it: as keywords, or without capital and mark, with a slip."""
    if chance.random() < 0.5 and len(content_words(question)) > 2:
        return " ".join(content_words(question))
    return slipped(question[:1].lower() + question[1:].rstrip("?"), chance)


def lines(passages: Mapping[str, SourcePassage], done: Mapping[str, Questions]) -> Iterator[dict[str, Any]]:
    """The questions that were not dropped, as labelled pairs; a share of them without the passages that answer."""
    for id, one in ((id, one) for id, questions in done.items() for one in questions if not one.fault):
        if passage := passages.get(id):
            without = random.Random(f"{id} {one.start}").random() < UNANSWERABLE
            right = passage.text[one.start : one.end]
            found = [passages[other] for other in one.found if other in passages]
            labelled = [(p, 1 if places(right, p.text) else None) for p in found]
            yield {
                "id": f"{id} {one.start}",
                "item": f"{passage.package} {passage.title}",
                "package": passage.package,
                "use": passage.use,
                "licence": passage.licence,
                "kind": one.kind,
                "question": one.question,
                "answers": [] if without else [span(one, passage.text)],
                "answerable": not without,
                "passages": [
                    {"id": p.id, "title": p.title, "text": p.text, "rank": rank, "label": label}
                    for rank, (p, label) in enumerate(labelled, start=1)
                    if not (without and label)
                ],
            }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the questions and, at the end, the file of pairs."""
    inputs = options(__doc__).parse_args(arguments)
    config, prompter, run = opened(inputs, PROMPTS)
    passages, packages = read_passages(inputs.passages), defaultdict(list)
    for one in passages.values():
        packages[one.package].append(one)
    wanted = spread(passages.values())[: inputs.limit]
    with tempfile.TemporaryDirectory() as folder:
        shelves = Shelves(Path(folder), packages, config)
        done = resumed(run, Questions, wanted, inputs.threads, lambda one: written(one, prompter, shelves))
    finished(done, lines(passages, done), inputs.out / "written.jsonl")


if __name__ == "__main__":
    main()
