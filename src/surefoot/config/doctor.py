"""Checks that a pipeline's surroundings are sound, without asking it anything."""

import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from surefoot import components
from surefoot.config.builder import Builder
from surefoot.config.settings import Config
from surefoot.documents import loaders
from surefoot.index.storage import making
from surefoot.models import registry
from surefoot.types.errors import ConfigError, MissingExtra, SurefootError, on_one_line

ENOUGH_DISK = 500_000_000
"""Bytes: the models, and an index of 100,000 passages."""


@dataclass(frozen=True, slots=True)
class Checkup:
    """One check."""

    name: str
    ok: bool
    found: str
    """The finding; for a fault, with the remedy."""


def examine(config: Config, deep: bool = False, disk: float = ENOUGH_DISK) -> list[Checkup]:
    """All checks, in the order in which a user would mend things. Calls the endpoint, when one is configured.

    `deep` reads model files and the index in full: a second for 400 MB of models, or for 40,000 passages. `disk` is the
    number of bytes that must be free for models.
    """
    builder = Builder(config)
    return [
        Checkup("Python", True, sys.version.split()[0]),
        _try("SQLite", _sqlite),
        _try("loaders", _loaders),
        *_models(config, deep),
        _try("disk", lambda: _disk(disk)),
        _try("index", lambda: _index(builder, deep)),
        _try("language model", lambda: _llm(builder)),
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
    remedies: list[str] = []
    for suffix, name in sorted(loaders.formats().items()):
        try:
            components.find("loader", name)
        except MissingExtra as error:
            remedies.append(f"for {suffix} {str(error).rpartition('; ')[2]}")
        except ConfigError as error:
            why = error.__cause__ or error
            raise SurefootError(f"cannot read {suffix} ({on_one_line(why)}); run: pip install surefoot") from error
    return "; ".join([f"can read {loaders.supported()}", *remedies])


def _models(config: Config, deep: bool) -> Iterator[Checkup]:
    wanted = _wanted(config)
    for status in map(registry.verify, registry.REGISTRY) if deep else registry.status():
        name = status.model.name
        if status.state == "damaged":
            yield Checkup(f"model {name}", False, f"{status.reason}; run: surefoot models pull {name}")
        elif status.state == "ready":
            yield Checkup(f"model {name}", True, "ready, and whole" if deep else "ready")
        elif name in wanted:
            yield _try(f"model {name}", partial(_absent, name))


def _absent(name: str) -> str:
    return str(registry.path(name)) if registry.offline() else "not here yet; the first question fetches it"


def _wanted(config: Config) -> set[str]:
    """Names of the models that the first use of this configuration fetches."""
    llm, embedder = config["llm"], config["embedder"]
    local = {str(llm.get("model", "smollm2-135m-instruct-q4_1"))} if llm["use"] == "local" else set()
    return local | ({"minilm-int8"} if embedder["use"] == "minilm" else set())


def _disk(enough: float) -> str:
    place = registry.cache_dir()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if free < enough:
        raise SurefootError(f"{free / 1e6:.0f} MB free for models in {place}; make room for {enough / 1e6:.0f} MB")
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
