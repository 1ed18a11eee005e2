"""The suffixes that each loader reads, apart from the loaders, so that none is imported to find out."""

import tomllib
from pathlib import Path

_FORMATS = tomllib.loads(Path(__file__).with_name("formats.toml").read_text(encoding="utf-8"))


def _by_suffix(table: str) -> dict[str, str]:
    return {suffix: name for name, suffixes in _FORMATS[table].items() for suffix in suffixes.split()}


LANGUAGES = _by_suffix("languages")
"""By each suffix of source code its language, as one writes it behind a fence."""
SETTINGS = _by_suffix("settings")
"""By each suffix of settings their language."""
PANDOC = _by_suffix("pandoc")
"""By each suffix that pandoc reads, the name of its reader."""
OLD = _by_suffix("old")
"""By the suffix of each old binary format, the one to save it as."""
BY_LOADER = {name: suffixes.split() for name, suffixes in _FORMATS["loaders"].items()}
BY_LOADER |= {"code": [*LANGUAGES, *SETTINGS], "pandoc": [*PANDOC]}
"""The suffixes of each built-in loader that reads others than the one it is named as."""
