"""Runs of a language model over passages: which passages, with how many threads, and what was done before."""

import argparse
import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from surefoot.config.builder import Builder
from surefoot.config.settings import Config, read, settings
from surefoot.evaluate.ask.questions import rows
from surefoot.evaluate.testset.prompter import Prompter, name_of, resumed, spread
from surefoot.run.store import Run, write_text
from surefoot.text import toml_values
from surefoot.types import Passage

_log = logging.getLogger(__name__)
T = TypeVar("T")

REPORT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class SourcePassage(Passage):
    """A passage of a package's documentation, as the lines of a file of passages have it."""

    package: str = ""
    use: str = ""
    kind: str = ""
    licence: str = ""


def read_passages(path: Path) -> dict[str, SourcePassage]:
    """The passages of a file, by id."""
    known = {one.name for one in fields(SourcePassage)}
    each = (SourcePassage(**{name: row[name] for name in row.keys() & known}) for _, row in rows(path))
    return {one.id: one for one in each}


class Written(Protocol):
    """Something that a model wrote."""

    @property
    def fault(self) -> str:
        """The reason why it was dropped; empty: it was not."""


def opened(inputs: argparse.Namespace, prompts: Path) -> tuple[Config, Prompter, Run]:
    """The configuration, the model with its prompts, and the run that the options name."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    config, about = read({}, *settings(inputs.settings)), toml_values.parsed(prompts.read_text(encoding="utf-8"))
    prompter = Prompter(Builder(config).llm, about)
    return config, prompter, Run(inputs.out, {"model": prompter.llm.name, "prompts": about}, "values.jsonl")


def name(passage: SourcePassage) -> str:
    """What a passage is about, as its title begins, or its package."""
    return name_of(passage.title, passage.package.removesuffix("-doc"))


def spread_passages(passages: Iterable[SourcePassage]) -> list[SourcePassage]:
    """The passages that say something, drawn by a hash from all packages and kinds in turn."""
    return spread(passages, lambda one: (one.package, one.kind))


def worked(
    run: Run, kind: type[T], passages: Sequence[SourcePassage], threads: int, work: Callable[[SourcePassage], T]
) -> dict[str, T]:
    """What `work` makes of each passage, by its id: what earlier runs left, and what is done now (`resumed`)."""
    with run.held():
        done = run.values(kind)
        left = {one.id: partial(work, one) for one in passages if one.id not in done}
        _log.info("%d passages are done, %d are left", len(done), len(left))
        begun = reported = time.monotonic()
        for number, _ in enumerate(resumed(run, done, left, threads), start=1):
            if (now := time.monotonic()) - reported > REPORT_SECONDS or number == len(left):
                reported, rate = now, number / (now - begun)
                hours = (len(left) - number) / rate / 3600
                _log.info("%d of %d, %.1f a minute, %.1f h left", number, len(left), rate * 60, hours)
    return done


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
