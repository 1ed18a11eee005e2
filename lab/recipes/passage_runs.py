"""Runs of a language model over passages: which passages, with how many threads, and what was done before."""

import argparse
import json
import logging
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Protocol, TypeVar

from manual_wording import JOINT
from surefoot.config.builder import Builder
from surefoot.config.settings import Config, read, settings
from surefoot.evaluate.ask.questions import hashed, rows
from surefoot.run.store import Run, write_text
from surefoot.text import toml_values
from surefoot.text.words import words
from surefoot.types import Message
from surefoot.types.errors import EndpointError
from surefoot.types.protocols import LLM

_log = logging.getLogger(__name__)
T = TypeVar("T")

LEAST_WORDS = 25
"""Words of a passage that says something, at least."""
GENERIC = frozenset(
    "manual page reference guide documentation handbook the user user's users' api docs faq readme changes changelog "
    "news index contents introduction overview tutorial tutorials notes release license licence".split()
)
"""Words of titles that name no subject."""
LEGAL = ("warranties", "copyright notice", "hereby granted")
"""Words of licences, about which nobody asks."""
REPORT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """A passage of a package's documentation, as the lines of a file of passages have it."""

    id: str
    package: str
    title: str
    text: str
    use: str = ""
    kind: str = ""
    licence: str = ""


def read_passages(path: Path) -> dict[str, SourcePassage]:
    """The passages of a file, by id."""
    known = {one.name for one in fields(SourcePassage)}
    each = (SourcePassage(**{name: row[name] for name in row.keys() & known}) for _, row in rows(path))
    return {one.id: one for one in each}


def spread(passages: Iterable[SourcePassage]) -> list[SourcePassage]:
    """The passages that say something, drawn by a hash from all packages and kinds in turn."""
    groups: dict[tuple[str, str], list[SourcePassage]] = defaultdict(list)
    for one in sorted(passages, key=lambda one: hashed(one.id)):
        if len(words(one.text)) >= LEAST_WORDS and not any(word in one.text.lower() for word in LEGAL):
            groups[one.package, one.kind].append(one)
    turns = ((n, hashed(one.id), one) for same in groups.values() for n, one in enumerate(same))
    return [one for _, _, one in sorted(turns, key=lambda turn: turn[:2])]


class Written(Protocol):
    """Something that a model wrote."""

    @property
    def fault(self) -> str:
        """The reason why it was dropped; empty: it was not."""


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
                prompt = opening + self._task(name_of(turn["title"], ""), task, about)
                self._turns += [Message("user", prompt), Message("assistant", reply)]
                opening = ""

    def reply(self, passage: SourcePassage, task: str, about: str, max_tokens: int = 60) -> str:
        """The first line of what the model says to a task about these words."""
        prompt = _opening(passage.title, passage.text) + self._task(
            name_of(passage.title, passage.package), task, about
        )
        messages = [*self._turns, Message("user", prompt)]
        return self.llm.complete(messages, max_tokens=max_tokens, stop=["\n"]).text.strip()

    def _task(self, name: str, task: str, about: str) -> str:
        return self._tasks[task].format(about, name=name)


def _opening(title: str, text: str) -> str:
    return f"Title: {title}\nText: {text.strip()}\n\n"


def opened(inputs: argparse.Namespace, prompts: Path) -> tuple[Config, Prompter, Run]:
    """The configuration, the model with its prompts, and the run that the options name."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    config, about = read({}, *settings(inputs.settings)), toml_values.parsed(prompts.read_text(encoding="utf-8"))
    prompter = Prompter(Builder(config).llm, about)
    return config, prompter, Run(inputs.out, {"model": prompter.llm.name, "prompts": about}, "values.jsonl")


def name_of(title: str, package: str) -> str:
    """What a passage is about as its title begins, without the kind of the document, else its package: "git-add(1)
    Manual Page" gives "git-add"."""
    name = re.split(r"\s*[(:—–|]", title.partition(JOINT)[0], maxsplit=1)[0]
    return " ".join(word for word in name.split() if word.lower() not in GENERIC) or package.removesuffix("-doc")


def resumed(
    run: Run, kind: type[T], passages: Sequence[SourcePassage], threads: int, work: Callable[[SourcePassage], T]
) -> dict[str, T]:
    """What `work` makes of each passage, by its id: what earlier runs left, and what is done now on so many threads.
    Each value is on disk as soon as it is made. A passage for which the endpoint fails is left to the next run; the
    error is raised where that happens as often in a row as there are threads."""
    with run.held():
        done = run.values(kind)
        left = [one for one in passages if one.id not in done]
        _log.info("%d passages are done, %d are left", len(done), len(left))
        begun = reported = time.monotonic()
        failures = 0
        for number, (id, future) in enumerate(_worked(left, threads, work), start=1):
            try:
                done[id] = future.result()
            except EndpointError as error:
                _log.warning("%s: %s", id, error)
                if (failures := failures + 1) >= threads:
                    raise
            else:
                failures = 0
                run.add(id, done[id])
            if (now := time.monotonic()) - reported > REPORT_SECONDS or number == len(left):
                reported, rate = now, number / (now - begun)
                hours = (len(left) - number) / rate / 3600
                _log.info("%d of %d, %.1f a minute, %.1f h left", number, len(left), rate * 60, hours)
    return done


def _worked(
    passages: Sequence[SourcePassage], threads: int, work: Callable[[SourcePassage], T]
) -> Iterator[tuple[str, Future[T]]]:
    """Ids and results as they come; those that nobody waits for any more are not begun."""
    with ThreadPoolExecutor(threads) as pool:
        futures = {pool.submit(work, one): one.id for one in passages}
        try:
            for future in as_completed(futures):
                yield futures[future], future
        finally:
            pool.shutdown(cancel_futures=True)


def options(about: str | None) -> argparse.ArgumentParser:
    """The options of a recipe that asks a model about passages."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("passages", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--limit", type=int, default=8_000, help="passages; 0 only writes the results again")
    parser.add_argument("--threads", type=int, default=48, help="passages at a time, for a server that batches them")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="A.B=C", help="the model: llm.…")
    return parser


def finished(done: Mapping[str, Sequence[Written]], rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Report how many were dropped for what, and write the rows of the others."""
    faults = Counter(one.fault or "kept" for some in done.values() for one in some)
    _log.info("%s", ", ".join(f"{fault}: {count}" for fault, count in faults.most_common()))
    write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
