"""Has a language model write questions to passages, and keeps those that a round trip confirms.

    python recipes/written_questions.py PASSAGES.jsonl OUT --set llm.use=openai --set llm.base_url=http://…/v1

PASSAGES has lines {"id", "package", "use", "kind", "licence", "title", "text"}. For each of two sentences, items or
rows of a passage the model writes a question, as `surefoot testset` has it do; half of the details become keywords,
the others get a slip. A question is dropped where it cannot be understood
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
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any

from manual_questions import slipped
from passage_runs import SourcePassage, finished, name, opened, options, read_passages, spread_passages, worked
from surefoot.config.builder import Builder
from surefoot.evaluate.testset import model_questions
from surefoot.evaluate.testset.model_questions import WrittenQuestion, drafts, span, written
from surefoot.evaluate.testset.prompter import Prompter
from surefoot.index.search import Index
from surefoot.text.ids import labels
from surefoot.text.words import content_words, places
from surefoot.types import Block, Document
from surefoot.types.protocols import Retriever

PROMPTS = Path(model_questions.__file__).with_name("prompts.toml")
EACH, FOUND = 2, 10
"""Questions of a passage, and passages that are retrieved for one."""
UNANSWERABLE = 0.1
"""Share of the questions that lose the passages that answer."""
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


def questions_of(passage: SourcePassage, prompter: Prompter, shelves: Shelves) -> Questions:
    """The questions of a passage after their round trip."""
    found = partial(shelves.found, passage.package)
    some = islice(drafts(passage), EACH)
    return tuple(written(passage, name(passage), draft, prompter, found, partial(posed, passage)) for draft in some)


def posed(passage: SourcePassage, one: WrittenQuestion) -> str:
    """The question as it is asked; details as people type them."""
    return typed(one.question, random.Random(f"{passage.id} {one.start}")) if one.kind == "detail" else one.question


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
    wanted = spread_passages(passages.values())[: inputs.limit]
    with tempfile.TemporaryDirectory() as folder:
        shelves = Shelves(Path(folder), packages, config)
        done = worked(run, Questions, wanted, inputs.threads, lambda one: questions_of(one, prompter, shelves))
    finished(done, lines(passages, done), inputs.out / "written.jsonl")


if __name__ == "__main__":
    main()
