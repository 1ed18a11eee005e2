"""Labelled questions of a command that asks them, and the configuration that answers them."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from surefoot import __version__
from surefoot.cli._console import err, pulling
from surefoot.config.builder import Builder
from surefoot.config.settings import Config
from surefoot.evaluate.ask import questions
from surefoot.evaluate.ask.runs import Spread, threads
from surefoot.evaluate.problems import PLACES, DataProblem
from surefoot.retrievers import _given
from surefoot.run import manifest
from surefoot.types.errors import UsageError
from surefoot.types.protocols import Judge

Golds = Annotated[
    Path | None,
    Option("--golds", metavar="FILE", help="Gold answers, where DATA has none: joined by the question's words."),
]


Scale = Annotated[
    str, Option("--scale", metavar="LOW:HIGH", help="Scale of labels that are numbers; 0 and 1 are no and yes.")
]


def scale_of(text: str) -> tuple[float, float]:
    """The ends of a scale such as "1:5". Raises UsageError for any other text."""
    low, _, high = text.partition(":")
    try:
        ends = float(low), float(high)
    except ValueError:
        ends = 0.0, 0.0
    if not ends[0] < ends[1]:
        raise UsageError(f"'{text}' is no scale; write LOW:HIGH, such as 1:5")
    return ends


@dataclass(frozen=True, slots=True)
class QuestionRun:
    """Labelled questions, the configuration that answers them, and the folder of the run."""

    loaded: questions.LoadedQuestions
    config: Config
    about: dict[str, Any]
    """The run's description without the configuration, for the run folder and the report."""
    folder: Path


def question_run(
    command: str,
    data: Path,
    config: Config,
    run: Path | None = None,
    golds: Path | None = None,
    limit: int | None = None,
    texts: bool | None = None,
) -> QuestionRun:
    """Read the questions and print what is amiss in them. With `texts` those that come with the questions are
    retrieved; None: where there is no index."""
    loaded = questions.load(data, golds, limit)
    bare = [example.id for example in loaded.examples if not example.passages]
    if texts is None:
        texts = len(bare) < len(loaded.examples) and not Path(config["index"]["path"]).exists()
    if texts:
        config = _reading(config, loaded.examples, len(bare))
        what = "no text came with the question; nothing is retrieved for it"
        amiss = (DataProblem(what, len(bare), tuple(bare[:PLACES])),) if bare else ()
        loaded = replace(loaded, problems=loaded.problems + amiss)
    remarks(loaded.problems)
    about: dict[str, Any] = {"surefoot": __version__}
    about |= {"command": command, "data": str(data), "sha256": manifest.fingerprint(data)}
    about |= {"golds": str(golds), "golds_sha256": manifest.fingerprint(golds)} if golds else {}
    about |= {"questions": len(loaded.examples), "limit": limit}
    return QuestionRun(loaded, config, about, run or Path("runs") / f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{command}")


def _reading(config: Config, examples: Sequence[questions.Example], bare: int) -> Config:
    """The configuration with the given texts retrieved, and what a web search had brought found by the search, unless
    another searcher is configured."""
    if bare == len(examples):
        raise UsageError("--given needs texts that come with the questions, and there are none; name an --index")
    chosen = {**config, "retriever": {"use": _given.USE}}
    if config["searcher"]["use"] == "nowhere" and any(example.outside for example in examples):
        chosen["searcher"] = {"use": _given.USE}
    return chosen


Ray = Annotated[
    str | None,
    Option("--ray", metavar="ADDRESS", help="Work on the nodes of this Ray cluster: HOST:PORT, auto, or local."),
]


@contextmanager
def spread(config: Config, workers: int, ray: str | None = None) -> Iterator[Spread]:
    """What asks so many questions at a time: threads of this process, or each node of the Ray cluster at this
    address."""
    with pulling():
        pipeline = Builder(config).pipeline()
    if not ray:
        yield threads(pipeline, workers)
        return
    from surefoot.integrations.ray import asking, cluster

    with cluster(ray):
        yield asking(config, workers)


@contextmanager
def executor(builder: Builder, judges: Sequence[Judge], ray: str | None) -> Iterator[dict[str, Any]]:
    """The options of `Evaluation.judge` that have these judges judge on the Ray cluster at this address; None: here."""
    if not ray:
        yield {}
        return
    from surefoot.integrations.ray import cluster, judging

    with cluster(ray):
        where, in_flight = judging(builder.config, judges)
        yield {"judging": where, "in_flight": max(in_flight, builder.in_flight)}


def remarks(problems: Iterable[DataProblem]) -> None:
    """Print what is amiss in the data: how often, what, and where first."""
    for problem in problems:
        where = ", ".join(problem.where) + (", …" if problem.count > len(problem.where) else "")
        err.say(f"data: {problem.count:,} × {problem.what} ({where})", "yellow")
