"""`surefoot serve backup` and `surefoot serve restore`: all that the server keeps, as one file."""

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from surefoot.cli._configuration import ConfigFile, Settings, agreed, with_extra
from surefoot.cli._console import out
from surefoot.cli.serve import server_settings
from surefoot.config.options import assemble
from surefoot.config.settings import FILE, settings as overrides
from surefoot.text import toml_values

BackupFile = Annotated[Path, Argument(metavar="FILE", help="The backup.")]


def backup(
    file: BackupFile,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Write all that the server keeps to one file, also while it runs.

    The index, keys, uploads, conversations, feedback, traces, and surefoot.toml. The file holds what users asked: keep
    it as safe as the server.
    """
    stores = _stores(*server_settings(config, settings), config)
    size = _backup().back_up(stores, file)
    out.print(f"Backed up {size:,} bytes to {file}", soft_wrap=True)


def restore(
    file: BackupFile,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace what is there.")] = False,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Put all of a backup into place, or nothing of it. Stop the server first.

    Places are those of the configuration; without one here, of the backup's surefoot.toml, which is then restored too.
    """
    if config is None and not FILE.exists() and (text := _backup().settings_of(file)):
        tables = toml_values.parsed(text)
        places: dict[str, Any] = {section: tables[section] for section in ("index", "server") if section in tables}
        whole = agreed(None, places, *overrides(settings or []))
        chosen = assemble("[server]", with_extra(*_SERVICE).ServerSettings, whole["server"], {})
    else:
        chosen, whole = server_settings(config, settings)
    count = _backup().restore(_stores(chosen, whole, config), file, overwrite)
    out.print(f"Restored {count:,} files; start the server with surefoot serve", soft_wrap=True)


_SERVICE = ("surefoot.server.service", "surefoot serve", "server")


def _backup() -> Any:
    return with_extra("surefoot.server.backup", "surefoot serve", "server")


def _stores(chosen: Any, whole: Any, config: str | None) -> Any:
    index, folder, traces = whole["index"]["path"], chosen.folder, Path(chosen.runs) / "serve"
    return _backup().Stores(Path(index), Path(folder), traces, Path(config or FILE))
