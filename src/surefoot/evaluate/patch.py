"""Patches of surefoot.toml: which are allowed, and how one is written into the file and taken out again.

A model that read hostile text may have proposed the patch. So it may set numbers, truth values and names that Surefoot
knows (`trust.knows`), and nothing that says where data lie, what runs, who is asked, or how the gain is measured.
`refused` is the one rule, for proposals and for trials.
"""

import difflib
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from surefoot import components
from surefoot.config.builder import Builder
from surefoot.config.consent import NAMES, texts
from surefoot.config.settings import DEFAULTS, Config, read
from surefoot.config.trust import INSIDE, WORDS, knows
from surefoot.evaluate.diagnose.settings import SYSTEM, SystemSettings, named, settable
from surefoot.retrievers import _given
from surefoot.run.store import write_bytes, write_value
from surefoot.text import toml_values
from surefoot.text.json_values import parsed
from surefoot.types.errors import ConfigError, UsageError

Patch = dict[str, dict[str, Any]]
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
        use = SystemSettings(config).use(section) if section in ("retriever", "searcher") else ""
        if use == _given.USE:
            return f"[{section}] stays as it is: its texts come with the questions"
        if section == "retriever" and "use" in values and use not in INSIDE[section]:
            return f"[{section}] stays as it is: what '{use}' finds need not be in the index"
        if why := next((why for detail in texts(values) if (why := _named(section, *detail, config, outside))), ""):
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


def joined(one: Patch, other: Patch) -> Patch | None:
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
    return ", ".join(f"{name}={toml_values.spelled(value)}" for name, value in named(patch).items())


def toml_lines(patch: Mapping[str, Mapping[str, Any]], settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """A patch as lines of TOML, each behind "+", "-" or " "; `settings` are those it is for, where they are known."""
    for section, keys in patch.items():
        if section != SYSTEM:  # of another system, whose settings stand in no table
            yield " ", f"[{section}]"
        known = of if isinstance(of := settings.get(section), Mapping) else {}
        for key, value in keys.items():
            same = key in known and known[key] == value
            if key in known and not same:
                yield "-", f"{key} = {toml_values.spelled(known[key])}"
            yield " " if same else "+", f"{key} = {toml_values.spelled(value)}"


def diff(text: str, patch: Patch, name: str = "surefoot.toml") -> str:
    """The patch as a unified diff of this text of a configuration file. Raises as `written` does."""
    lines = text.splitlines(keepends=True), written(text, patch).splitlines(keepends=True)
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in difflib.unified_diff(*lines, name, name))


def written(text: str, patch: Patch) -> str:
    """The text of a configuration file with the patch; comment lines, order and all else stay as they are.

    Naming another component removes the options of the one before. The result is read again and compared; a file whose
    settings are not one a line below their `[section]` raises ConfigError, which lists the settings to write by hand.
    """
    try:
        before = toml_values.parsed(text)
    except ValueError as error:
        raise ConfigError(f"the configuration file is not TOML: {error}") from error
    wanted, lines = read(read(before), patch), text.splitlines(keepends=True)
    for section, values in patch.items():
        own = before.get(section, {})
        if not isinstance(own, dict):  # `evaluator = "lexical"`
            lines = [line for line in lines if not re.match(rf"{section}\s*=", line)]
            values, own = {"use": own, **values}, {}
        lines = _set(lines, section, values, [key for key in own if key not in wanted[section]])
    after = "".join(lines)
    with suppress(ValueError):
        if read(toml_values.parsed(after)) == wanted:
            return after
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
    write_value(folder / APPLIED, about)
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
        previous = folder / BEFORE if before is not None else "no file"
        raise UsageError(f"{file} was changed since, and stays; before, it was {previous}")
    if before is None:
        file.unlink(missing_ok=True)
    else:
        write_bytes(file, before)
    (folder / APPLIED).unlink()
    return file


def _named(section: str, key: str, word: str, config: Mapping[str, Any], outside: bool) -> str:
    """The reason why this text may not stand in the section; empty: it may."""
    if not knows(section, key, word):
        if not (key in NAMES and section in components.ROOMS and word in components.names(section)):
            return f"{section}.{key} = '{word}' is no name that Surefoot knows; write what names a place yourself"
        components.find(section, word)  # the user installed it; only what is imported says which settings it has
    if (section, key) in WORDS or word in INSIDE.get(section, {word}):
        return ""
    asks = f"{section}.{key} = '{word}' asks other machines"
    if not outside:
        return f"{asks}; allow it with --outside"
    allowed = config.get("network", DEFAULTS["network"]).get("allow", ["*"])
    return "" if allowed else f"{asks}, and [network] allows none"


def _untied(patch: Patch, config: Mapping[str, Any]) -> str:
    """The reason why thresholds and evaluator do not fit: they are on the scale of one, and of a preset come whole."""
    before, now = config.get("thresholds", {}), SystemSettings(config).use("evaluator")
    use = patch.get("evaluator", {}).get("use", now)
    if use != now and before and "thresholds" not in patch:
        return f"[thresholds] are those of '{now}' and mean nothing for '{use}'; take them out"
    whole = next((key for key in ("preset", "file") if key in before), "")
    if "thresholds" in patch and (whole or use == "cascade"):
        detail = f"come from a {whole}" if whole else "of a cascade are two evaluators'"
        return f"[thresholds] {detail}, and are not set one by one"
    return ""


def _set(lines: list[str], section: str, values: Mapping[str, Any], gone: Sequence[str]) -> list[str]:
    """The lines with these settings of a section, and without those of `gone`."""
    ending = "\r\n" if any(line.endswith("\r\n") for line in lines) else "\n"
    lines = [line if line.endswith("\n") else f"{line}{ending}" for line in lines]
    heads = [number for number, line in enumerate(lines) if re.match(rf"\s*\[{section}\]", line)]
    if not heads:
        lines += [*([ending] if lines else []), f"[{section}]{ending}"]
    start = (heads or [len(lines) - 1])[0] + 1
    end = next((number for number in range(start, len(lines)) if lines[number].lstrip().startswith("[")), len(lines))
    inner = [line for line in lines[start:end] if _key(line) not in gone]
    for key, value in values.items():
        setting = f"{key} = {toml_values.spelled(value)}"
        at = next((number for number, line in enumerate(inner) if _key(line) == key), None)
        if at is None:
            at = max((number for number, line in enumerate(inner, 1) if line.strip()), default=0)
            inner.insert(at, "")
        comment = re.search(r"[ \t]*#[^\"']*$", inner[at].rstrip("\r\n"))
        inner[at] = f"{setting}{comment[0] if comment else ''}{ending}"
    return [*lines[:start], *inner, *lines[end:]]


def _key(line: str) -> str:
    """The key that a line sets; empty: none."""
    match = re.match(r"\s*([\w-]+)\s*=", line)
    return match[1] if match else ""


def _hash(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()
