"""`surefoot lab manuals`: ask questions about manuals, and follow the evidence from the index to the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from surefoot import __version__
from surefoot.cli._configuration import ConfigFile, Settings, configured
from surefoot.cli._console import bar, counting, err, plain, pulling, write_json
from surefoot.config.builder import Builder
from surefoot.config.settings import Config
from surefoot.index.build import build
from surefoot.run import manifest
from surefoot.run.store import write_text
from surefoot.types.errors import UsageError
from surefoot_lab import manuals as bench_manuals
from surefoot_lab.cli._options import Threads
from surefoot_lab.datasets.manuals import read
from surefoot_lab.report import as_markdown, show

REPORT = "report"
"""Name of both reports in the run's folder, before .json and .md."""


def manuals(
    data: Annotated[Path, Argument(metavar="QUESTIONS.jsonl", help="Questions, as benchmarks/manuals describes them.")],
    folder: Annotated[Path, Argument(metavar="MANUALS", help="A folder with a folder of pages for each manual.")],
    run: Annotated[Path, Option("--out", metavar="RUN", help="Keep indexes, traces and both reports here; resumes.")],
    workers: Threads = 1,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Ask questions about manuals, beside BM25's first passage, and count where evidence is lost.

    Each manual is indexed by itself, from the folder in MANUALS that has the package's name.
    """
    questions, chosen = read(data), configured(config, settings, None)
    folders = {name: _folder(folder, name) for name in sorted({question.manual for question in questions})}
    configs = {name: _indexed_as(chosen, run / "indexes" / f"{name}.db") for name in folders}
    passages = {name: _indexed(folders[name], one) for name, one in configs.items()}
    about: dict[str, Any] = {"surefoot": __version__, "command": "manuals", "data": str(data)}
    about |= {"sha256": manifest.fingerprint(data), "questions": len(questions), "passages": passages}
    with pulling():
        Builder(configs[questions[0].manual]).pipeline()  # fetches what all need, before the next bar is shown
    with counting("questions") as on_done:
        reports = bench_manuals.run(
            questions, lambda name: Builder(configs[name]), run, {**about, "config": chosen}, on_done, workers
        )
    whole = {**about, "config": chosen, "environment": manifest.environment()}
    write_json(run / f"{REPORT}.json", bench_manuals.as_json(reports, whole))
    made = bench_manuals.tables(reports)
    write_text(run / f"{REPORT}.md", as_markdown(made) + "\n")
    show(made[:3])
    err.say(f"both reports, as .json and .md, and the traces in {run}", "dim")


def _folder(folder: Path, name: str) -> Path:
    if not (found := folder / name).is_dir():
        raise UsageError(f"there is no folder {found} with the manual of {name}; benchmarks/manuals/fetch.sh makes one")
    return found


def _indexed_as(config: Config, index: Path) -> Config:
    return {**config, "index": {**config["index"], "path": str(index)}}


def _indexed(folder: Path, config: Config) -> int:
    """The number of passages of the manual's index, which is brought up to date."""
    builder, index = Builder(config), Path(config["index"]["path"])
    index.parent.mkdir(parents=True, exist_ok=True)
    with pulling():
        embedder = builder.embedder
    with bar() as progress:
        task = progress.add_task(plain(f"indexing {folder.name}"), total=None)
        build(
            [folder],
            index,
            embedder,
            on_progress=lambda so_far: progress.update(task, completed=so_far.bytes, total=so_far.total),
        )
    return builder.index.info().passages
