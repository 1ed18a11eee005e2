"""Options of the commands that ask labelled questions, and the workers that ask them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from surefoot import __version__
from surefoot.cli._console import counting, err, pulling
from surefoot.config.builder import Builder
from surefoot.config.settings import Config
from surefoot.evaluate.ask import context, questions
from surefoot.evaluate.ask.runs import Arm, Spread, run, threads
from surefoot.evaluate.problems import PLACES, DataProblem
from surefoot.retrievers import _given
from surefoot.run import manifest
from surefoot.run.store import to_json
from surefoot.types import Trace
from surefoot.types.errors import UsageError

Data = Annotated[
    Path,
    Argument(
        help="Questions: lines of {id, question, answers, passages?}, a file of Self-RAG's eval_data, or a set of "
        "CRAG's data/ folder."
    ),
]
Golds = Annotated[
    Path | None,
    Option("--golds", metavar="FILE", help="Gold answers, where DATA has none: joined by the question's words."),
]
Texts = Annotated[bool, Option("--given", help="Instead of an index, read the texts that come with the questions.")]
Limit = Annotated[int | None, Option("--limit", min=1, help="Only a sample of so many questions.")]
Threads = Annotated[int, Option("--threads", min=1, help="Questions at a time.")]

Spreading = Callable[[Config], AbstractContextManager[Spread]]
"""Opens the workers that ask questions of a configuration."""


@dataclass(frozen=True, slots=True)
class QuestionRun:
    """Labelled questions, the configuration that answers them, and the folder of the run."""

    loaded: questions.LoadedQuestions
    config: Config
    about: dict[str, Any]
    """The run's description without the configuration, for the run folder and the report."""
    folder: Path

    @property
    def searches(self) -> bool:
        """True if a searcher is configured."""
        return bool(self.config["searcher"]["use"] != "nowhere")

    def traces(self, arms: Sequence[Arm], spreading: Spreading) -> Iterator[tuple[Arm, list[Trace]]]:
        """Ask every question in each of these ways (`runs.run`)."""
        about = {**self.about, "config": self.config}
        with spreading(self.config) as ask, counting("questions") as on_done:
            yield from run(arms, self.loaded.examples, ask, self.folder, about, on_done)

    @property
    def report(self) -> dict[str, Any]:
        """The part of a report beside its figures."""
        known = {"format": self.loaded.format, "problems": to_json(self.loaded.problems)}
        return {**self.about, **known, "config": self.config, "environment": manifest.environment()}


def question_run(
    command: str,
    data: Path,
    golds: Path | None,
    limit: int | None,
    texts: bool | None,
    run: Path | None,
    config: Config,
) -> QuestionRun:
    """The questions, with what is amiss in them said, and what a run over them is called. `texts` None: the texts that
    come with the questions are read where there is no index."""
    loaded = questions.load(data, golds, limit)
    if texts is None:
        bring = any(context.inside(example) for example in loaded.examples)
        texts = bring and not Path(config["index"]["path"]).exists()
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
def spread(config: Config, workers: int) -> Iterator[Spread]:
    """Threads of this process that ask the questions."""
    with pulling():
        pipeline = Builder(config).pipeline()
    yield threads(pipeline, workers)


def remarks(problems: Iterable[DataProblem]) -> None:
    """Print what is amiss in the data: how often, what, and where first."""
    for problem in problems:
        where = ", ".join(problem.where) + (", …" if problem.count > len(problem.where) else "")
        err.say(f"data: {problem.count:,} × {problem.what} ({where})", "yellow")


def kept_in(folder: Path) -> None:
    """Say where the traces are."""
    err.say(f"traces in {folder}", "dim")


def _without_texts(loaded: questions.LoadedQuestions) -> questions.LoadedQuestions:
    """Report the questions that bring no text. They stay, and find nothing."""
    bare = [example.id for example in loaded.examples if not context.inside(example)]
    what = "no text came with the question; nothing is retrieved for it"
    amiss = (DataProblem(what, len(bare), tuple(bare[:PLACES])),) if bare else ()
    return replace(loaded, problems=loaded.problems + amiss)


def _reading(config: Config, loaded: questions.LoadedQuestions) -> Config:
    """The configuration with the given texts retrieved, and what a web search had brought found by the search, unless
    another searcher is configured."""
    if not any(context.inside(example) for example in loaded.examples):
        raise UsageError("--given needs texts that come with the questions, and there are none; name an --index")
    chosen = {**config, "retriever": {"use": _given.USE}}
    brought = any(example.external for example in loaded.examples)
    return {**chosen, "searcher": {"use": _given.USE}} if brought and config["searcher"]["use"] == "nowhere" else chosen
