"""Prompts about passages for a language model, and what it replied, which a killed run need not ask again."""

import logging
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import Any, TypeVar

from surefoot.evaluate.ask.questions import hashed
from surefoot.run.store import Run
from surefoot.text import toml_values
from surefoot.text.words import words
from surefoot.types import Message, Passage
from surefoot.types.errors import EndpointError
from surefoot.types.protocols import LLM

_log = logging.getLogger(__name__)
T = TypeVar("T")

JOINT = " › "
"""Between two headings in a passage's title."""
LEAST_WORDS = 25
"""Words of a passage that says something, at least."""
WORDS = toml_values.beside(__file__, "words.toml")
"""Words by which passages and questions are drawn and dropped."""
GENERIC = frozenset(WORDS["generic"].split())

S = TypeVar("S", bound=Passage)


class Prompter:
    """Asks a model about passages. Each prompt begins with the same examples, then comes the passage, then the task, so
    that a server reads the examples once, and a passage once for all its tasks."""

    def __init__(self, llm: LLM, prompts: Mapping[str, Any]) -> None:
        """`prompts` has `system`, `tasks` by name, and `turns`: a title and a text with lists of task, words, reply."""
        self.llm = llm
        self._tasks: Mapping[str, str] = prompts["tasks"]
        self._turns = [Message("system", prompts["system"].strip())]
        for turn in prompts["turns"]:
            opening = _opening(turn["title"], turn["text"])
            for task, about, reply in turn["replies"]:
                prompt = opening + self._tasks[task].format(about, name=name_of(turn["title"], ""))
                self._turns += [Message("user", prompt), Message("assistant", reply)]
                opening = ""

    def reply(self, passage: Passage, name: str, task: str, about: str, max_tokens: int = 60) -> str:
        """The first line of the model's reply to a task about these words of a passage on `name`."""
        prompt = _opening(passage.title, passage.text) + self._tasks[task].format(about, name=name)
        messages = [*self._turns, Message("user", prompt)]
        return self.llm.complete(messages, max_tokens=max_tokens, stop=["\n"]).text.strip()


def prompts() -> dict[str, Any]:
    """The prompts of `model_questions` and `build`."""
    return toml_values.beside(__file__, "prompts.toml")


def _opening(title: str, text: str) -> str:
    return f"Title: {title}\nText: {text.strip()}\n\n"


def name_of(title: str, otherwise: str) -> str:
    """What a passage is about as its title begins, without the kind of the document, else `otherwise`: "git-add(1)
    Manual Page" gives "git-add"."""
    name = re.split(r"\s*[(:—–|]", title.partition(JOINT)[0], maxsplit=1)[0]
    return " ".join(word for word in name.split() if word.lower() not in GENERIC) or otherwise


def spread(passages: Iterable[S], group: Callable[[S], Hashable]) -> list[S]:
    """The passages that say something, drawn by a hash from all groups in turn."""
    telling = (one for one in passages if len(words(one.text)) >= LEAST_WORDS)
    plain = (one for one in telling if not any(word in one.text.lower() for word in WORDS["legal"]))
    return in_turn(plain, lambda one: one.id, group)


def in_turn(items: Iterable[T], id: Callable[[T], str], group: Callable[[T], Hashable]) -> list[T]:
    """The items in the order of a hash of their ids, from all groups in turn."""
    groups = grouped(sorted(items, key=lambda one: hashed(id(one))), group)
    turns = ((n, hashed(id(one)), one) for same in groups.values() for n, one in enumerate(same))
    return [one for _, _, one in sorted(turns, key=lambda turn: turn[:2])]


def grouped(items: Iterable[T], key: Callable[[T], Hashable]) -> dict[Hashable, list[T]]:
    """The items by what they have in common; of what none has, none."""
    groups: dict[Hashable, list[T]] = defaultdict(list)
    for one in items:
        groups[key(one)].append(one)
    return groups


def resumed(run: Run, done: dict[str, T], work: Mapping[str, Callable[[], T]], threads: int) -> Iterator[str]:
    """Do what is not yet done, so many at a time, and add it to `done`; yield each key that was worked on.

    Each value is on disk as soon as it is made. One for which the endpoint fails is left to the next run; the error is
    raised where that happens as often in a row as there are threads.
    """
    failures = 0
    for key, future in _worked({key: one for key, one in work.items() if key not in done}, threads):
        try:
            done[key] = future.result()
        except EndpointError as error:
            _log.warning("%s: %s", key, error)
            if (failures := failures + 1) >= threads:
                raise
        else:
            failures = 0
            run.add(key, done[key])
        yield key


def _worked(work: Mapping[str, Callable[[], T]], threads: int) -> Iterator[tuple[str, Future[T]]]:
    """Keys and results as they come; those that nobody waits for any more are not begun."""
    with ThreadPoolExecutor(threads) as pool:
        futures = {pool.submit(one): key for key, one in work.items()}
        try:
            for future in as_completed(futures):
                yield futures[future], future
        finally:
            pool.shutdown(cancel_futures=True)
