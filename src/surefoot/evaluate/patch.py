"""Patches of surefoot.toml: which are allowed, and how one is written into the file and taken out again.

A model that read hostile text may have proposed the patch. So it may set numbers, truth values and names that Surefoot
knows (`trust.knows`), and nothing that says where data lie, what runs, who is asked, or how the gain is measured.
`refused` is the one rule, for proposals and for trials.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from surefoot import components
from surefoot.config.builder import Builder
from surefoot.config.consent import NAMES, texts
from surefoot.config.settings import DEFAULTS, Config, read
from surefoot.config.trust import INSIDE, knows
from surefoot.evaluate.diagnose.settings import SystemSettings, settable
from surefoot.retrievers import _given
from surefoot.run.store import write_bytes, write_text
from surefoot.text import toml_values
from surefoot.text.json_values import parsed
from surefoot.types.errors import ConfigError, UsageError

Patch = Mapping[str, Mapping[str, Any]]
"""Settings by section and key, as in surefoot.toml."""

CLOSED = {
    "index": "the runs before and after have to search the same index",
    "embedder": "the index was made with it; change it by hand, run `surefoot index --rebuild`, and improve anew",
    "network": "whom the machine may talk to is for you to say",
    "sources": "whom to rely on is for you to say",
    "judge": "what measures has to be the same before and after",
}
"""Sections that no patch may touch, and why."""

BEFORE, APPLIED = "before.toml", "applied.json"
"""Files in the run's folder: the configuration before the patch, and the record of its path and hashes."""


def refused(patch: Patch, config: Mapping[str, Any], outside: bool = False) -> str:
    """The reason why the patch may not be tried with this configuration; empty: it may. `outside` allows components
    that ask other machines. Raises ConfigError for an installed component that does not load."""
    for section, values in patch.items():
        if section in CLOSED:
            return f"[{section}] stays as it is: {CLOSED[section]}"
        if section not in DEFAULTS or not isinstance(values, Mapping):
            return f"'{section}' must be a section of keys; there are: {', '.join(DEFAULTS)}"
        if why := _kept(section, values, SystemSettings(config)):
            return f"[{section}] stays as it is: {why}"
        if why := next((why for told in texts(values) if (why := _named(section, *told, config, outside))), ""):
            return why
    changed = {section: {**config.get(section, {}), **values} for section, values in patch.items()}
    known = settable({**config, **changed})
    unknown = [key for section, values in patch.items() for key in values if f"{section}.{key}" not in known]
    return f"there is no setting '{unknown[0]}' with these components" if unknown else _untied(patch, config)


def tried(config: Config, patch: Patch, outside: bool = False) -> Config:
    """The configuration with the patch, after a dry run: the patch is allowed, changes something, and builds a
    pipeline. Raises UsageError with the reason where not; MissingExtra is one."""
    if why := refused(patch, config, outside):
        raise ConfigError(why)
    changed = read(config, patch)
    if changed == config:
        raise ConfigError("it changes nothing: all of it is set so already")
    Builder(changed).pipeline()
    return changed


def size(patch: Patch) -> int:
    """The number of settings that it sets."""
    return sum(len(values) for values in patch.values())


def joined(one: Patch, other: Patch) -> dict[str, dict[str, Any]] | None:
    """Both patches in one; None: they contradict, or one names a component whose options the other sets."""
    both = {section: dict(values) for section, values in one.items()}
    for section, values in other.items():
        mine = both.setdefault(section, {})
        if any(mine.get(key, value) != value for key, value in values.items()):
            return None
        if mine and ("use" in mine) != ("use" in values):
            return None
        mine.update(values)
    return both


def shown(patch: Patch) -> str:
    """The patch on one line, as `--set` takes it: "pipeline.k=10, refiner.mode='sentences'"."""
    settings = ((f"{section}.{key}", value) for section, values in patch.items() for key, value in values.items())
    return ", ".join(f"{name}={toml_values.spelled(value)}" for name, value in settings)


def diff(text: str, patch: Patch, name: str = "surefoot.toml") -> str:
    """The patch as a unified diff of this text of a configuration file. Raises as `written` does."""
    lines = text.splitlines(keepends=True), written(text, patch).splitlines(keepends=True)
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in difflib.unified_diff(*lines, name, name))


def written(text: str, patch: Patch) -> str:
    """The text of a configuration file with the patch; comments, order and all else stay as they are.

    Naming another component removes the options of the one before. The result is read again and compared; a file of a
    shape that we cannot edit raises ConfigError, which lists the settings to write by hand.
    """
    try:
        before = toml_values.parsed(text)
        wanted = read(read(before), patch)
        lines = list(_statements(text))
        for section, values in patch.items():
            lines = _set(lines, section, dict(values), before.get(section), wanted[section])
        after = "".join(line.text for line in lines)
        if read(toml_values.parsed(after)) == wanted:
            return after
    except ValueError as error:
        raise ConfigError(f"the configuration file is not TOML: {error}") from error
    raise ConfigError(f"the configuration file has a shape that is left alone; write by hand: {shown(patch)}")


def apply(file: Path, patch: Patch, folder: Path) -> None:
    """Write the patch into the file, and keep the file's old bytes in the run's folder for `revert`. Raises ConfigError
    as `written` does, and UsageError where the folder's patch is applied already."""
    if (folder / APPLIED).exists():
        raise UsageError(f"what {folder} found is applied already; undo it with: surefoot improve --revert {folder}")
    place = file.resolve()
    before = place.read_bytes() if place.exists() else None
    after = written((before or b"").decode(), patch).encode()
    if before is not None:
        write_bytes(folder / BEFORE, before)
    # Before the file itself: if the process is killed in between, `revert` still knows both states.
    about = {"file": str(place), "existed": before is not None, "before": _hash(before), "after": _hash(after)}
    write_text(folder / APPLIED, json.dumps(about, indent=1) + "\n")
    write_bytes(place, after)


def revert(folder: Path, file: Path) -> Path:
    """Restore the bytes that the configuration file had before `apply`, or delete it if there was none; returns the
    file. Raises UsageError where nothing was applied, where the file changed since, or where the folder, which a
    stranger may have written, names another file than `file`."""
    try:
        about = parsed((folder / APPLIED).read_bytes())
        place, known = Path(about["file"]), (about["before"], about["after"])
        before = (folder / BEFORE).read_bytes() if about["existed"] else None
    except FileNotFoundError as error:
        raise UsageError(f"nothing of {folder} is applied; {error.filename} is not there") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{folder / APPLIED} cannot be read: {error}") from error
    if place != (file := file.resolve()):
        raise UsageError(f"what {folder} applied is in {place}, not in {file}; if that is yours, name it: --config")
    if _hash(file.read_bytes() if file.exists() else None) not in known:
        kept = folder / BEFORE if before is not None else "no file"
        raise UsageError(f"{file} was changed since, and stays; before, it was {kept}")
    if before is None:
        file.unlink(missing_ok=True)
    else:
        write_bytes(file, before)
    (folder / APPLIED).unlink()
    return file


def _kept(section: str, values: Mapping[str, Any], settings: SystemSettings) -> str:
    """The reason why no patch may set this section now; empty: one may."""
    use = settings.use(section) if section in ("retriever", "searcher") else ""
    if use == _given.USE:
        return "its texts come with the questions"
    if section == "retriever" and "use" in values and use not in INSIDE[section]:
        return f"what '{use}' finds need not be in the index"
    return ""


def _named(section: str, key: str, word: str, config: Mapping[str, Any], outside: bool) -> str:
    """The reason why this text may not stand in the section; empty: it may."""
    if not knows(section, key, word):
        if not (key in NAMES and section in components.ROOMS and word in components.names(section)):
            return f"{section}.{key} = '{word}' is no name that Surefoot knows; write what names a place yourself"
        components.find(section, word)  # the user installed it; only what is imported says which settings it has
    if word in INSIDE.get(section, {word}):
        return ""
    if not outside:
        return f"{section}.{key} = '{word}' asks other machines; allow it with --outside"
    closed = not config.get("network", DEFAULTS["network"]).get("allow", ["*"])
    return f"{section}.{key} = '{word}' asks other machines, and [network] allows none" if closed else ""


def _untied(patch: Patch, config: Mapping[str, Any]) -> str:
    """The reason why thresholds and evaluator do not fit: thresholds are on the scale of one evaluator, and those of a
    preset or file come as a whole."""
    before, now = config.get("thresholds", {}), SystemSettings(config).use("evaluator")
    use = patch.get("evaluator", {}).get("use", now)
    if use != now and before and "thresholds" not in patch:
        return f"[thresholds] are those of '{now}' and mean nothing for '{use}'; take them out"
    whole = next((key for key in ("preset", "file") if key in before), "")
    if "thresholds" in patch and (whole or use == "cascade"):
        told = f"come from a {whole}" if whole else "of a cascade are two evaluators'"
        return f"[thresholds] {told}, and are not set one by one"
    return ""


@dataclass(frozen=True, slots=True)
class _Line:
    """A statement of a file with its comment and line end, or a blank line, or a comment."""

    text: str
    table: tuple[str, ...] = ()
    """The table that it stands in or begins."""
    key: str = ""
    """The first part of the key that it sets; empty: it sets none."""
    heads: bool = False


def _statements(text: str) -> Iterator[_Line]:
    """The statements; one over several lines ends with the first line up to which it is TOML."""
    table: tuple[str, ...] = ()
    pending = ""
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        bare = line.strip()
        if not pending and (not bare or bare.startswith("#")):
            yield _Line(line, table)
        elif not pending and bare.startswith("["):
            table = tuple(_path(toml_values.parsed(line)))
            yield _Line(line, table, heads=True)
        else:
            pending += line
            if said := _parsed(pending):
                yield _Line(pending, table, next(iter(said)))
                pending = ""


def _parsed(text: str) -> dict[str, Any]:
    try:
        return toml_values.parsed(text)
    except ValueError:
        return {}


def _path(tables: Any) -> Iterator[str]:
    while tables:
        inner = tables[0] if isinstance(tables, list) else tables
        if not inner:
            return
        key = next(iter(inner))
        yield key
        tables = inner[key]


def _set(lines: list[_Line], section: str, values: dict[str, Any], was: Any, wanted: dict[str, Any]) -> list[_Line]:
    """The lines with this section's settings; `was` is the section in the file, `wanted` the whole of it patched."""
    own = was if isinstance(was, dict) else {"use": was} if was else {}
    if mine := [line for line in lines if line.key == section and not line.table]:  # `evaluator = "lexical"`
        whole = {key: wanted[key] for key in wanted if key in {**own, **values}}
        name = isinstance(was, str) and list(whole) == ["use"]
        return _replaced(lines, mine, section, whole["use"] if name else whole)
    gone = {key for key in own if key not in wanted}
    lines = [line for line in lines if not _sets(line, section, gone)]
    for key, value in values.items():
        lines = _put(lines, section, key, value)
    return lines


def _replaced(lines: list[_Line], mine: list[_Line], key: str, value: Any) -> list[_Line]:
    """The lines with one statement in place of those of `mine`."""
    changed = replace(mine[0], text=_statement(key, value, mine[0].text))
    return [changed if line is mine[0] else line for line in lines if line is mine[0] or line not in mine]


def _put(lines: list[_Line], section: str, key: str, value: Any) -> list[_Line]:
    """The lines with one setting: in its old place, else behind the last of its section, else in a new section."""
    mine = [line for line in lines if _sets(line, section, {key})]
    if mine and mine[0].table == (section,):
        return _replaced(lines, mine, key, value)
    lines = [line for line in lines if line not in mine]
    ending = "\r\n" if any("\r\n" in line.text for line in lines) else "\n"
    new = _Line(_statement(key, value, ending), (section,), key)
    at = max((n for n, line in enumerate(lines, 1) if line.table == (section,) and (line.heads or line.key)), default=0)
    if at:
        return [*_closed(lines[:at], ending), new, *lines[at:]]
    head = _Line(f"{ending if lines else ''}[{section}]{ending}", (section,), heads=True)
    return [*_closed(lines, ending), head, new]


def _sets(line: _Line, section: str, keys: set[str]) -> bool:
    """Whether it sets one of these keys of the section, in its table or in one of its own."""
    within = line.table[:1] == (section,) and bool(line.key or line.heads)
    return within and ((line.table == (section,) and line.key in keys) or line.table[1:2] in {(key,) for key in keys})


def _closed(lines: list[_Line], ending: str) -> list[_Line]:
    """The lines with an end to the last, which the last line of a file may lack."""
    if not lines or lines[-1].text.endswith("\n"):
        return lines
    return [*lines[:-1], replace(lines[-1], text=lines[-1].text + ending)]


def _statement(key: str, value: Any, before: str) -> str:
    """A statement with this value, and the indentation, comment and line end of the statement `before`."""
    indent = before[: len(before) - len(before.lstrip(" \t"))]
    ending = before[len(before.rstrip("\r\n")) :]
    return f"{indent}{toml_values.key(key)} = {toml_values.spelled(value)}{_comment(before)}{ending}"


def _comment(statement: str) -> str:
    """The comment behind a value with the blanks before it: its removal leaves the value as it is."""
    said = _parsed(statement)
    for place in (match.start() for match in re.finditer(r"[ \t]*#", statement)):
        if said and _parsed(statement[:place]) == said:
            return statement[place:].rstrip("\r\n")
    return ""


def _hash(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()
