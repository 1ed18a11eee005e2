"""Checks that a pipeline's surroundings are sound, without asking it anything."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from surefoot import components
from surefoot.config.builder import Builder
from surefoot.config.settings import Config
from surefoot.documents import loaders
from surefoot.index.storage import making
from surefoot.models import registry
from surefoot.types.errors import ConfigError, MissingExtra, SurefootError

ENOUGH_DISK = 500_000_000
"""Bytes: the models, and an index of 100,000 passages."""
_NO_CONTACT = "none, and Wikipedia asks for one; set [network] contact to an address that reaches you"


@dataclass(frozen=True, slots=True)
class Checkup:
    """One thing looked at."""

    name: str
    ok: bool
    found: str
    """The finding; for a fault, with the remedy."""


def examine(config: Config, deep: bool = False) -> list[Checkup]:
    """All checks, in the order in which a user would mend things. Calls the endpoint, when one is configured.

    `deep` reads model files and the index in full: a second for 400 MB of models, or for 40,000 passages.
    """
    builder = Builder(config)
    return [
        Checkup("Python", True, sys.version.split()[0]),
        _try("SQLite", _sqlite),
        _try("loaders", _loaders),
        *_models(config, deep),
        _try("disk", _disk),
        _try("index", lambda: _index(builder, deep)),
        _try("language model", lambda: _llm(builder)),
        *_contact(config),
        _try("pipeline", lambda: f"builds: {type(builder.pipeline()).__name__}"),
    ]


def _try(name: str, look: Callable[[], str]) -> Checkup:
    try:
        return Checkup(name, True, look())
    except SurefootError as error:
        return Checkup(name, False, str(error))


def _sqlite() -> str:
    with sqlite3.connect(":memory:") as db:
        try:
            db.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
            db.execute("CREATE TABLE typed (value ANY) STRICT")
        except sqlite3.OperationalError as error:
            raise SurefootError(
                f"this Python's SQLite lacks full-text search (FTS5), or is older than 3.37: {error}; use another build"
            ) from error
    return f"{sqlite3.sqlite_version} with full-text search"


def _loaders() -> str:
    """Import each loader's library now, rather than when the first file of its format turns up."""
    broken: dict[str, list[str]] = {}
    more: dict[str, list[str]] = {}
    for suffix, name in sorted(loaders.formats().items()):
        try:
            components.find("loader", name)
        except MissingExtra as error:
            more.setdefault(str(error).rpartition("; ")[2], []).append(suffix)
        except ConfigError as error:
            broken.setdefault(" ".join(str(error.__cause__ or error).split()), []).append(suffix)
    if broken:
        faults = (f"cannot read {' '.join(kinds)} ({why}); run: {_install(why)}" for why, kinds in broken.items())
        raise SurefootError("; ".join(faults))
    return "; ".join(
        [f"can read {loaders.supported()}", *(f"for {' '.join(kinds)} {way}" for way, kinds in more.items())]
    )


def _install(why: str) -> str:
    """The line that mends an import. Older versions of pip leave out what trafilatura asks of lxml by an extra."""
    return f"pip install {'lxml_html_clean' if 'lxml_html_clean' in why else 'surefoot'}"


def _models(config: Config, deep: bool) -> Iterator[Checkup]:
    wanted = _wanted(config)
    for status in map(registry.verify, registry.REGISTRY) if deep else registry.status():
        if status.state == "damaged":
            yield Checkup(
                f"model {status.model.name}", False, f"{status.reason}; run: surefoot models pull {status.model.name}"
            )
        elif status.state == "ready":
            yield Checkup(f"model {status.model.name}", True, "ready, and whole" if deep else "ready")
        elif status.model.name in wanted:
            yield _try(f"model {status.model.name}", partial(_absent, status.model.name))


def _absent(name: str) -> str:
    return str(registry.path(name)) if registry.offline() else "not here yet; the first question fetches it"


def _wanted(config: Config) -> set[str]:
    """Names of the models that the first use of this configuration fetches."""
    llm, embedder = config["llm"], config["embedder"]
    local = {str(llm.get("model", "smollm2-135m-instruct-q4_1"))} if llm["use"] == "local" else set()
    return local | ({"minilm-int8"} if embedder["use"] == "minilm" else set())


def _disk() -> str:
    place = registry.cache_dir()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if free < ENOUGH_DISK:
        raise SurefootError(f"{free / 1e6:.0f} MB free for models in {place}; make room for {ENOUGH_DISK / 1e6:.0f} MB")
    return f"{free / 1e9:.0f} GB free"


def _index(builder: Builder, deep: bool) -> str:
    info = builder.index.info()
    builder.index.check(builder.embedder)
    if not info.complete:
        raise SurefootError(
            f"{builder.config['index']['path']} is unfinished; run surefoot index again on the same paths"
        )
    if not info.passages:
        raise SurefootError(f"{builder.config['index']['path']} holds no passages; {making(builder.index.path)}")
    found = f"{info.passages:,} passages of {info.documents:,} documents, embedded by {info.embedder}"
    if not deep:
        return found
    builder.index.verify()
    return f"{found}, and the file is whole"


def _llm(builder: Builder) -> str:
    try:
        llm = getattr(builder.llm, "inner", builder.llm)
    except MissingExtra as error:
        if builder.config["generator"]["use"] == "llm":
            raise
        return f"none, and nothing here needs one ({error})"
    if probe := getattr(llm, "probe", None):
        return f"{llm.name} answers; models there: {', '.join(probe()) or 'none named'}"
    return f"{llm.name}, in this process"


def _contact(config: Config) -> Iterator[Checkup]:
    """Where Wikipedia is asked: its rules want an address in the User-Agent that reaches whoever runs the program."""
    contact = str(config["network"].get("contact", ""))
    if _asks_wikipedia(config["searcher"]):
        yield Checkup("contact", bool(contact), contact or _NO_CONTACT)


def _asks_wikipedia(part: object) -> bool:
    """True for Wikipedia's own searcher, and for one that is made of it."""
    if isinstance(part, Mapping):
        own = part.get("use") == "wikipedia" and not part.get("base_url")
        return own or _asks_wikipedia([part.get("of"), part.get("searchers")])
    return any(map(_asks_wikipedia, part)) if isinstance(part, list | tuple) else part == "wikipedia"
