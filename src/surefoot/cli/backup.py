"""`surefoot serve backup` and `surefoot serve restore`: all that the server keeps, as one file."""

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from surefoot.cli._configuration import ConfigFile, Settings, agreed, configured, with_extra
from surefoot.cli._console import out
from surefoot.cli.serve import server_settings
from surefoot.config.settings import FILE, Config, settings as overrides
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
    size = _backup().back_up(_stores(configured(config, settings, None), config), file)
    out.print(f"Backed up {size:,} bytes to {file}", soft_wrap=True)


def restore(
    file: BackupFile,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace what is there.")] = False,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Put all of a backup into place, or nothing of it, where no server runs.

    Places are those of the configuration; without one here, of the backup's surefoot.toml, which is then restored too.
    """
    if config is None and not FILE.exists() and (text := _backup().settings_of(file)):
        tables = toml_values.parsed(text)
        places: dict[str, Any] = {section: tables[section] for section in ("index", "server") if section in tables}
        whole = agreed(None, places, *overrides(settings or []))
    else:
        whole = configured(config, settings, None)
    count = _backup().restore(_stores(whole, config), file, overwrite)
    out.print(f"Restored {count:,} files; start the server with surefoot serve", soft_wrap=True)


def _backup() -> Any:
    return with_extra("surefoot.server.backup", "surefoot serve", "server")


def _stores(whole: Config, config: str | None) -> Any:
    own, index = server_settings(whole), Path(whole["index"]["path"])
    return _backup().Stores(index, Path(own.folder), Path(own.runs) / "serve", Path(config or FILE))
