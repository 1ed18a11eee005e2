"""`surefoot index`: files and folders become an index."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli._console import ConfigFile, IndexFile, Settings, bar, configured, err, out, plain, pulling
from surefoot.config.builder import Builder
from surefoot.corpus.build import IndexReport, build
from surefoot.corpus.loaders import MAX_BYTES

_KINDS = 8


def index(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files and folders.")],
    index: IndexFile = None,
    config: ConfigFile = None,
    settings: Settings = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Start from nothing; only these paths are in it then.")
    ] = False,
    push: Annotated[
        bool, typer.Option("--push", help="Then copy the index to the configured retriever's server.")
    ] = False,
    max_mb: Annotated[int, typer.Option("--max-mb", help="Largest file that is read whole.")] = MAX_BYTES // 1_000_000,
) -> None:
    """Index documents (.txt .md .html .pdf .docx .jsonl .csv); only what changed is read."""
    builder = Builder(configured(config, settings, index))
    target = Path(builder.config["index"]["path"])
    with pulling():
        embedder = builder.embedder
    with bar() as progress:
        task = progress.add_task("Indexing", total=None)
        report = build(
            paths,
            target,
            embedder,
            rebuild=rebuild,
            max_bytes=max_mb * 1_000_000,
            on_progress=lambda done, total, path: progress.update(task, completed=done, total=total),
        )
    _say(report, builder, target)
    if push:
        out.print(builder.push())


def _say(report: IndexReport, builder: Builder, target: Path) -> None:
    for path, reason in report.skipped:
        err.say(f"skipped {path}: {reason}")
    for path, note in report.notes:
        err.say(f"note {path}: {note}")
    files, passages = report.files, report.passages
    changed = ", ".join(
        f"{count} {what}"
        for count, what in (
            (files.added, "new"),
            (files.updated, "changed"),
            (files.unchanged, "unchanged"),
            (files.removed, "gone"),
            (files.skipped, "skipped"),
            (sum(count for _, count in report.ignored), f"ignored ({_kinds(report)})"),
        )
        if count
    )
    out.print(f"Files     {changed}", soft_wrap=True)
    total = builder.index.info().passages
    out.print(f"Passages  {total:,} ({passages.added:,} new) in {target} · {report.seconds:.1f} s", soft_wrap=True)


def _kinds(report: IndexReport) -> str:
    """The commonest kinds of ignored files, and how many of each."""
    named = ", ".join(f"{plain(kind)} {count}" for kind, count in report.ignored[:_KINDS])
    return f"{named}, …" if len(report.ignored) > _KINDS else named
