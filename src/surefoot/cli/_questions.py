"""What the commands share that ask labelled questions: their options, and how the asking is spread and shown."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import MofNCompleteColumn
from rich.table import Table

from surefoot import __version__, manifest
from surefoot.cli._console import bar, err, headed, plain, pulling
from surefoot.cli.errors import remarks
from surefoot.config.builder import Builder
from surefoot.config.settings import Config
from surefoot.datasets import given, questions
from surefoot.datasets.problems import PLACES, DataProblem
from surefoot.errors import MissingExtra, UsageError
from surefoot.evaluate.ask.runs import OnDone, Spread, threads
from surefoot.lab.qa import MethodComparison
from surefoot.pipeline import Pipeline
from surefoot.retrievers import _given
from surefoot.stats.figures import Figure, Share
from surefoot.store import to_json

Data = Annotated[
    Path,
    typer.Argument(
        help="Questions: lines of {id, question, answers, passages?}, a file of Self-RAG's eval_data, or a set of "
        "CRAG's data/ folder."
    ),
]
Texts = Annotated[
    bool, typer.Option("--given", help="Instead of an index, read the texts that come with the questions.")
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only a sample of so many questions.")]
Threads = Annotated[int, typer.Option("--threads", min=1, help="Questions at a time.")]
Ray = Annotated[
    str | None,
    typer.Option("--ray", metavar="ADDRESS", help="Spread the questions over this Ray cluster: host:port, or auto."),
]
Top = Annotated[int, typer.Option("--top", min=1, help="Passages that rag reads where it does not say.")]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="none (the model's memory), rag (or rag:10: ten passages), crag (searches nowhere), crag+search, "
        "self-crag, self-crag+search; again for one beside it. Unnamed: crag, with the search if one is configured.",
    ),
]
JsonFile = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the report here.")]
RunFolder = Annotated[
    Path | None, typer.Option("--run", metavar="FOLDER", help="Keep the traces here, a folder each; resumes.")
]


@dataclass(frozen=True, slots=True)
class QuestionRun:
    """What is asked, of what, and where it is kept."""

    loaded: questions.LoadedQuestions
    config: Config
    about: dict[str, Any]
    """What was run, but for the configuration; the run folder and the report both say it."""
    folder: Path

    @property
    def searches(self) -> bool:
        """Whether a searcher is configured."""
        return bool(self.config["searcher"]["use"] != "nowhere")

    @property
    def report(self) -> dict[str, Any]:
        """What a report says beside its figures."""
        known = {"format": self.loaded.format, "problems": to_json(self.loaded.problems)}
        return {**self.about, **known, "config": self.config, "environment": manifest.environment()}


def asked(
    command: str, data: Path, golds: Path | None, limit: int | None, texts: bool, run: Path | None, config: Config
) -> QuestionRun:
    """The questions, with what is amiss in them said, and what a run over them is called."""
    loaded = questions.load(data, golds, limit)
    if texts:
        loaded = _without_texts(loaded)
    remarks(loaded.problems)
    about: dict[str, Any] = {"surefoot": __version__}
    about |= {"command": command, "data": str(data), "sha256": manifest.fingerprint(data)}
    about |= {"golds": str(golds), "golds_sha256": manifest.fingerprint(golds)} if golds else {}
    about |= {"questions": len(loaded.examples), "limit": limit}
    folder = run or Path("runs") / f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{command}"
    return QuestionRun(loaded, _reading(config, loaded) if texts else config, about, folder)


@contextmanager
def spread(config: Config, ray: str | None, workers: int) -> Iterator[Spread]:
    """How questions are asked: on a cluster, or in this process."""
    if ray is None:
        with pulling():
            pipeline = Builder(config).pipeline()
        yield threads(pipeline, workers)
        return
    try:
        from surefoot.lab import cluster
    except ImportError as error:
        raise MissingExtra("--ray", "ray") from error
    with cluster.workers(ray, partial(_built, config, os.getcwd())) as found:
        yield found


@contextmanager
def shown(name: str) -> Iterator[OnDone]:
    """A bar with the time left. What was there before says nothing about how long the rest takes."""
    with bar(MofNCompleteColumn()) as progress:
        task = progress.add_task(name, total=None)
        begun: list[int] = []

        def told(done: int, total: int) -> None:
            if begun:
                progress.update(task, completed=done, total=total)
            else:
                progress.reset(task, completed=done, total=total)
                begun.append(done)

        yield told


def kept_in(folder: Path) -> None:
    """Say where the traces are."""
    err.say(f"traces in {folder}", "dim")


def compared(comparisons: list[MethodComparison]) -> Table:
    """Methods held against each other, with how sure one can be that they differ."""
    table = headed(["difference"], ["points", "95 % interval", "only the first", "only the second", "p"])
    for one in comparisons:
        figures = f"{one.paired.first:,}", f"{one.paired.second:,}", f"{one.paired.p:.2g}"
        table.add_row(plain(f"{one.first} − {one.second}"), *points(one.gain), *figures)
    return table


def points(gain: Figure) -> tuple[str, str]:
    """A difference of shares in points, and its interval."""
    if gain.value is None:
        return "–", "–"
    interval = "–" if gain.low is None or gain.high is None else f"{gain.low * 100:+.1f} to {gain.high * 100:+.1f}"
    return f"{gain.value * 100:+.1f}", interval


def percent(share: Share) -> str:
    """A share as it is shown."""
    return "–" if share.share is None else f"{share.share * 100:.1f} %"


def interval(share: Share) -> str:
    """Its interval."""
    return "–" if share.low is None or share.high is None else f"{share.low * 100:.1f} to {share.high * 100:.1f}"


def _without_texts(loaded: questions.LoadedQuestions) -> questions.LoadedQuestions:
    """With the questions that bring no text among what is amiss; each stays, and finds nothing."""
    bare = [example.id for example in loaded.examples if not given.inside(example)]
    what = "no text came with the question; nothing is retrieved for it"
    amiss = (DataProblem(what, len(bare), tuple(bare[:PLACES])),) if bare else ()
    return replace(loaded, problems=loaded.problems + amiss)


def _reading(config: Config, loaded: questions.LoadedQuestions) -> Config:
    """The configuration with the given texts retrieved, and what a web search had brought found by the search, unless
    another searcher is configured."""
    if not any(given.inside(example) for example in loaded.examples):
        raise UsageError("--given needs texts that come with the questions, and there are none; name an --index")
    chosen = {**config, "retriever": {"use": _given.USE}}
    brought = any(example.external for example in loaded.examples)
    return {**chosen, "searcher": {"use": _given.USE}} if brought and config["searcher"]["use"] == "nowhere" else chosen


def _built(config: Config, folder: str) -> Pipeline:
    """In another process: what the configuration names by a relative path lies in the same folder there as here."""
    os.chdir(folder)
    return Builder(config).pipeline()
