"""`surefoot index`: files and folders become an index, whose documents it lists and takes out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path, PurePosixPath
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from surefoot.cli._configuration import CollectionName, ConfigFile, IndexFile, Settings, configured
from surefoot.cli._console import bar, counting, err, number, out, plain, print_json, pulling, tabled
from surefoot.config.builder import Builder
from surefoot.documents.discover import Patterns
from surefoot.documents.loaders import MAX_BYTES
from surefoot.documents.mirrors import name_of, scheme_of
from surefoot.index.build import IndexProgress, IndexReport, discovered
from surefoot.index.connection import DEFAULT
from surefoot.index.contents import StoredDocument
from surefoot.index.search import Index
from surefoot.index.update import on_disk, update
from surefoot.index.watch import watch
from surefoot.stats.text import NONE
from surefoot.types.errors import UsageError
from surefoot.types.metadata import Meta, Value, plain as plain_value

if TYPE_CHECKING:
    from surefoot.integrations.ray import StoreReport

_KINDS = 8
_NAMES = 3
_WIDTH = 40


def index(
    paths: Annotated[
        list[str] | None,
        Argument(metavar="PATH...", help="Files, folders, and https, git+https, maildir, imaps, s3, gs, az."),
    ] = None,
    listed: Annotated[bool, Option("--list", help="List the documents of the index, and what was not read.")] = False,
    remove: Annotated[
        bool, Option("--remove", help="Take the documents of PATH out of the index; the files stay.")
    ] = False,
    index: IndexFile = None,
    collection: CollectionName = None,
    config: ConfigFile = None,
    settings: Settings = None,
    meta: Annotated[
        list[str] | None,
        Option("--meta", metavar="KEY=VALUE", help="A field for all these documents, to filter by; may be repeated."),
    ] = None,
    rebuild: Annotated[
        bool, Option("--rebuild", help="Start from nothing: with PATH alone, or with the files that it names.")
    ] = False,
    push: Annotated[bool, Option("--push", help="Then bring the configured retriever's store up to date.")] = False,
    ray: Annotated[
        str | None,
        Option(
            "--ray",
            metavar="ADDRESS",
            help="Make the configured retriever's store hold PATH, and nothing else, on the nodes of a Ray cluster: "
            "HOST:PORT, auto, or local.",
        ),
    ] = None,
    watched: Annotated[
        bool, Option("--watch", help="Then stay, and index again whenever a file changes; Ctrl-C ends it.")
    ] = False,
    include: Annotated[
        list[str] | None, Option("--include", metavar="GLOB", help="Only files whose path matches; may be repeated.")
    ] = None,
    exclude: Annotated[
        list[str] | None, Option("--exclude", metavar="GLOB", help="No files whose path matches; may be repeated.")
    ] = None,
    verbose: Annotated[bool, Option("--verbose", help="Name every file that is not read.")] = False,
    max_mb: Annotated[int, Option("--max-mb", help="Largest file that is read whole.")] = MAX_BYTES // 1_000_000,
    json: Annotated[bool, Option("--json", help="Print the report, or the list, as one line of JSON.")] = False,
) -> None:
    """Index documents, tables, notebooks, mails, man pages and source code; only what changed is read.

    A GLOB is held against a file's path, or against its name where the GLOB has no "/".

    It counts for this run only: files of PATH that it leaves out leave the index.

    A field that is given to a file stays until another run over the file gives fields again.

    A file that was moved is known by its content. What still lies in a folder comes back when that is indexed again.
    """
    builder = Builder(configured(config, settings, index, collection))
    if listed:
        _list(builder.index, paths or [], json)
        return
    if not paths and (not rebuild or remove or watched or meta or include or exclude):
        raise UsageError("name files and folders: surefoot index PATH…; --list lists what is in the index")
    paths = paths or []
    if remove:
        _remove(builder.index, paths)
        return
    if watched and any(map(scheme_of, paths)):
        raise UsageError("--watch follows files and folders; run the command again to bring an address up to date")
    fields, patterns = _fields(meta), Patterns(include or (), exclude or ())
    find: dict[str, Any] = {"max_bytes": max_mb * 1_000_000, "patterns": patterns}
    if ray:
        if rebuild or push or watched:
            raise UsageError("--ray fills a store and no index; leave --rebuild, --push and --watch out")
        _on_ray(builder, ray, paths, fields, find, json, verbose)
        return

    def bring(rebuild: bool = False, always: bool = False) -> None:
        reports = _updated(builder, paths, meta=fields, rebuild=rebuild, **find)
        if always or any(report.changed for report in reports.values()):
            if json:
                print_json(next(iter(reports.values())) if paths else reports)
            else:
                _print(builder, reports, verbose)
            if push:
                with counting("Pushing") as show:
                    pushed = builder.push(show)
                out.print(f"Pushed    {pushed}", soft_wrap=True)

    bring(rebuild, always=True)
    if watched:
        err.say("watching for changes; Ctrl-C ends it")
        with suppress(KeyboardInterrupt):
            watch(paths, bring, lambda error: err.say(f"{error}; still watching"), Event(), **find)


def _updated(builder: Builder, paths: Sequence[str], **options: Any) -> dict[str, IndexReport]:
    """The report of each collection that was brought up to date, behind a bar; `options` are those of `update`."""
    section = builder.config["index"]
    collection = section.get("collection", DEFAULT)
    with pulling():
        embedder = builder.embedder
    with _progress() as show:
        path, network = Path(section["path"]), builder.network
        return update(paths, path, embedder, network, _skipped, collection=collection, on_progress=show, **options)


def _on_ray(
    builder: Builder,
    address: str,
    sources: Sequence[str],
    fields: Mapping[str, Value] | None,
    find: Mapping[str, Any],
    json: bool,
    verbose: bool,
) -> None:
    """Fill the configured store on the nodes of a Ray cluster."""
    from surefoot.integrations.ray import cluster, index

    with pulling():
        found = discovered(on_disk(sources, Path(builder.config["index"]["path"]), builder.network, _skipped), **find)
        builder.store  # noqa: B018 # what it lacks is said before a cluster is looked for
    with cluster(address), counting("Indexing") as show:
        report = index(found, builder.config, Meta(fields), show)
    if json:
        print_json(report)
        return
    _remarks(report)
    unread = sum(len(paths) for _, paths in report.ignored)
    out.print(f"Files     {report.files:,}, {len(report.skipped):,} skipped, {unread:,} not read", soft_wrap=True)
    for line in _ignored(report, verbose):
        out.print(line, soft_wrap=True)
    out.print(f"Passages  {report.pushed} · {report.seconds:.1f} s", soft_wrap=True)


def _remarks(report: "IndexReport | StoreReport") -> None:
    for path, reason in report.skipped:
        _skipped(path, reason)
    for path, note in report.notes:
        err.say(f"note {path}: {note}")


def _skipped(what: str, why: str) -> None:
    err.say(f"skipped {what}: {why}")


@contextmanager
def _progress() -> Iterator[Callable[[IndexProgress], None]]:
    """A bar of the bytes that are read, with the name of the file at hand."""
    with bar() as progress:
        task = progress.add_task("Indexing", total=None)

        def show(so_far: IndexProgress) -> None:
            name = f"Reading {plain(PurePosixPath(so_far.path).name)}" if so_far.path else "Indexing"
            shown = name[:_WIDTH].ljust(_WIDTH)
            progress.update(task, completed=so_far.bytes, total=so_far.total, description=shown)

        yield show


def _list(index: Index, paths: Sequence[str], json: bool) -> None:
    """The documents, or those of these paths; to a reader, a table of many rows is one line."""
    names = [name_of(path) if scheme_of(path) else Path(path).as_posix() for path in paths]
    every = (one for one in index.documents() if not names or any(_is_at(one.file, name) for name in names))
    if json:
        print_json([*every])
        return
    files = [[*of_file] for _, of_file in groupby(every, lambda one: one.file)]
    out.print(tabled(["Document", "File", "Kind", "Date"], ["Passages"], map(_row, files)))
    for first, *_ in files:
        if first.because:
            out.print(f"Not read  {plain(first.file)}: {plain(first.because)}", soft_wrap=True)


def _is_at(file: str, name: str) -> bool:
    return name == "." or file == name or file.startswith(f"{name}/")


def _row(documents: Sequence[StoredDocument]) -> tuple[str, ...]:
    """Title, file, kind, date and number of passages of a file."""
    first, many = documents[0], len(documents) > 1
    title = f"{len(documents):,} rows" if many else plain(first.title) or NONE
    date = "" if many and len({one.date for one in documents}) > 1 else plain(first.date)
    return title, plain(first.file), plain(first.kind), date, number(sum(one.passages for one in documents))


def _remove(index: Index, paths: Sequence[str]) -> None:
    for path in (Path(name_of(path) if scheme_of(path) else path) for path in paths):
        if not (index.delete(path) or index.delete(path.as_posix())):
            raise UsageError(f"nothing of {path} is in {index.path}; surefoot index --list lists what is")
        out.print(f"Removed   {plain(str(path))}", soft_wrap=True)
    out.print(f"Passages  {index.info().passages:,} in {index.path}", soft_wrap=True)


def _fields(texts: list[str] | None) -> dict[str, Value] | None:
    """The fields of each --meta; None: none was given, and each file keeps those of an earlier run."""
    if not texts:
        return None
    pairs = [text.partition("=") for text in texts]
    for key, equals, value in pairs:
        if not (key and equals and value):
            raise UsageError(f"--meta {key}{equals}{value} is no field; write KEY=VALUE, as in --meta year=2024")
    return {key: plain_value(value) for key, _, value in pairs}


def _print(builder: Builder, reports: Mapping[str, IndexReport], verbose: bool) -> None:
    for name, report in reports.items():
        if len(reports) > 1:
            out.print(f"\n{name}")
        _say(report, Index(Path(builder.config["index"]["path"]), name), verbose)


def _say(report: IndexReport, index: Index, verbose: bool) -> None:
    _remarks(report)
    files, passages = report.files, report.passages
    changed = ", ".join(
        f"{count} {what}"
        for count, what in (
            (files.added, "new"),
            (files.updated, "changed"),
            (files.unchanged, "unchanged"),
            (files.moved, "moved"),
            (files.removed, "gone"),
            (files.skipped, "skipped"),
            (sum(len(paths) for _, paths in report.ignored), "not read"),
        )
        if count
    )
    out.print(f"Files     {changed}", soft_wrap=True)
    if missing := report.missing:
        named = ", ".join(map(plain, missing[:_NAMES])) + ", …" * (len(missing) > _NAMES)
        way_out = f"surefoot index --remove {plain(missing[0])}"
        out.print(f"Missing   {len(missing):,} indexed before: {named}; to take out: {way_out}", soft_wrap=True)
    for line in _ignored(report, verbose):
        out.print(line, soft_wrap=True)
    total, target = index.info().passages, index.path
    out.print(f"Passages  {total:,} ({passages.added:,} new) in {target} · {report.seconds:.1f} s", soft_wrap=True)


def _ignored(report: "IndexReport | StoreReport", verbose: bool) -> Iterator[str]:
    """A line for each kind of files that are not read, with their number and the first names, or all."""
    kinds = report.ignored if verbose else report.ignored[:_KINDS]
    for kind, paths in kinds:
        named = paths if verbose else paths[:_NAMES]
        more = ", …" if len(paths) > len(named) else ""
        yield f"Not read  {len(paths):,} {plain(kind)}: {', '.join(map(plain, named))}{more}"
    if rest := len(report.ignored) - len(kinds):
        yield f"Not read  {rest} more kinds; --verbose names all"
