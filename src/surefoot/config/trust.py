"""The one gate for a configuration that a trace, a run, an evaluation or a report brings along.

Such a file may be anybody's. It may say which of Surefoot's own components there were, with their numbers, truth values
and the words that they know. Where data lie, which machine is asked, with which key, how hard this machine works and
what is imported are for the user to say, in a configuration of their own. Patches that a diagnosis proposes keep to the
same words: `knows`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from surefoot import components
from surefoot.config.consent import NAMES, named
from surefoot.config.settings import DEFAULTS, Config, read
from surefoot.evidence.answer_policy import Fallback
from surefoot.evidence.citations import Check
from surefoot.evidence.policies import PRESETS
from surefoot.evidence.ranking import Decompose
from surefoot.generators._prompts import TEMPLATES
from surefoot.generators.self_rag import Paragraphs
from surefoot.refiners.strips import Mode
from surefoot.retrievers import _given
from surefoot.types.errors import ConfigError, UsageError

INSIDE = {
    "searcher": {"nowhere", "folder", "zim"},
    "llm": {"local", "scripted"},
    "embedder": {"hashing", "minilm", "static"},
    "retriever": {"bm25", "dense", "hybrid", "reranked"},
}
"""Components that ask no other machine, of the roles whose others do. A retriever among them searches the index."""

YOURS = ("index", "network", "judge", "report", "metric", "server", "telemetry")
"""Sections of which a record says nothing that counts: where data lie, whom the machine talks to, what judging is, who
may come in."""

WORDS: dict[tuple[str, str], Sequence[str]] = {
    ("refiner", "mode"): get_args(Mode),
    ("thresholds", "preset"): tuple(PRESETS),
    ("evaluator", "task"): tuple(PRESETS),
    ("generator", "prompt"): tuple(TEMPLATES),
    ("generator", "paragraphs"): get_args(Paragraphs),
    ("answer", "check"): get_args(Check),
    ("answer", "fallback"): get_args(Fallback),
    ("pipeline", "decompose"): get_args(Decompose),
    ("retriever", "reranker"): ("cosine", "lexical", "minilm"),
}
"""Words that an option knows, by section and key."""

LARGEST = 1e9
"""A number of a component's is no larger; what is would only fill memory."""

_GOING_OUT = ("retriever", "searcher")
"""Roles whose components reach other machines by what they are; that of a model has to be named."""
_MACHINE = ("threads", "batch", "context", "timeout", "retries", "seconds")
"""Numbers that say how hard this machine works, and how long it waits."""
_LABELS = ("evaluator", "fitted_on")
"""Keys that name the evaluator of thresholds. They are only compared, so any text is harmless."""
_OWN = re.compile(rf"surefoot\.({'|'.join(components.ROOMS.values())})(\.[a-z_0-9]+)+:\w+")


@dataclass(frozen=True, slots=True)
class Own:
    """The user's own word on a record."""

    config: Config
    """Complete, as `config.read` gives it."""
    settings: Sequence[Mapping[str, Any]] = ()
    """Overrides of what was recorded."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A recorded configuration, as far as it may be built."""

    config: Config
    left: tuple[str, ...]
    """Settings of the record that were not taken, such as "llm.base_url", and that `Own.settings` do not give; the
    user's own stand there, or none."""


def rebuilt(recorded: Mapping[str, Any], own: Own) -> Rebuilt:
    """Join a recorded configuration with the user's own.

    Raises ConfigError where it names a component that is neither Surefoot's nor in the user's own configuration.
    """
    sections = {name: _keys(of) for name, of in _keys(recorded).items() if name in DEFAULTS}
    if foreign := dict.fromkeys(name for part in sections.items() for name in _foreign(*part, own.config)):
        raise ConfigError(
            f"what is recorded names {', '.join(foreign)}, and a record may have nothing imported; if you know that "
            "code, name it in a surefoot.toml of your own"
        )
    left = [name for name in recorded if name not in DEFAULTS]
    taken: dict[str, Any] = {name: own.config[name] for name in YOURS}
    for name, values in sections.items():
        mine = own.config[name]
        if name in YOURS:
            left += [f"{name}.{key}" for key, value in values.items() if value != mine.get(key)]
        else:
            taken[name] = _section(name, name, values, mine, left)
    overridden = {f"{section}.{key}" for layer in own.settings for section, of in layer.items() for key in of}
    return Rebuilt(read(taken, *own.settings), tuple(key for key in left if key not in overridden))


def place(name: str, option: str) -> Path:
    """A file or folder that a record names, if it lies below the working directory. Raises UsageError for any other,
    with the option by which the user names it: a stranger's record may name a device, a pipe, a share elsewhere."""
    path = Path(name)
    if not name or path.is_absolute() or "\0" in name or not _below_here(path.resolve()):
        raise UsageError(f"the record names {name!r}, which is not below this folder; name it by {option}")
    return path


def _below_here(path: Path) -> bool:
    return path.is_relative_to(Path.cwd().resolve()) and (path.is_file() or path.is_dir())


def knows(section: str, key: str, word: str) -> bool:
    """True for a text that means the same on every machine: a component of Surefoot's, a word that an option knows, or
    a label."""
    if (section, key) in WORDS:
        return word in WORDS[section, key]
    if key in NAMES and section in components.ROLES:
        return word in components.built_in(section)
    return key in _LABELS and section in ("thresholds", "evaluator")


def _foreign(section: str, values: Any, own: Config) -> list[str]:
    """The components of a recorded section that are neither Surefoot's nor the user's."""
    words = [word for word in named(section, values) if word not in {*named(section, own[section])}]
    if section == "judge":
        return [word for word in words if ":" in word]
    reranking = components.built_in("evaluator") if section == "retriever" else ()
    return [word for word in words if not (_OWN.fullmatch(word) or knows(section, "use", word) or word in reranking)]


def _section(role: str, at: str, values: Mapping[str, Any], own: Mapping[str, Any], left: list[str]) -> dict[str, Any]:
    """A recorded section beside the user's own of the same role; what is not taken goes to `left`."""
    use = values.get("use", DEFAULTS[role].get("use"))
    if not isinstance(use, str | None):
        raise ConfigError(f"what is recorded is no configuration: {at}.use must be a name, not {use!r}")
    if role in _GOING_OUT and not _inside(role, use) and use != own.get("use"):
        left.append(f"{at}.use")
        return dict(own)
    mine = own if own.get("use") == use else {}
    taken: dict[str, Any] = {}
    for key, value in values.items():
        if key == "use" or (key in mine and value == mine[key]) or _plain(role, key, value):
            taken[key] = value
        elif key == "evaluators" and isinstance(value, list | tuple):
            taken[key] = [_section(role, f"{at}.{key}", _keys(part), {}, left) for part in value]
        else:
            left.append(f"{at}.{key}")
            taken |= {key: mine[key]} if key in mine else {}
    if role in INSIDE:  # whom it asks is all the user's, also what the record does not say
        taken |= {key: value for key, value in mine.items() if key not in taken and not _plain(role, key, value)}
    return taken


def _plain(role: str, key: str, value: Any) -> bool:
    """True for a value made of numbers, truth values and known words only."""
    if isinstance(value, bool):
        return True
    if isinstance(value, int | float):
        return key not in _MACHINE and abs(value) <= LARGEST
    if isinstance(value, str):
        goes_out = role in _GOING_OUT and key in NAMES and (role, key) not in WORDS and not _inside(role, value)
        return knows(role, key, value) and not goes_out
    if isinstance(value, Mapping):
        return key != "extra_body" and all(_plain(role, str(inner), one) for inner, one in value.items())
    return isinstance(value, list | tuple) and all(_plain(role, key, one) for one in value)


def _inside(role: str, use: str | None) -> bool:
    module = str(use).partition(":")[0].removeprefix(f"surefoot.{components.ROOMS[role]}.")
    return module in INSIDE[role] or use == _given.USE


def _keys(values: Any) -> Mapping[str, Any]:
    """A section's settings; of one that is a name alone, that."""
    if isinstance(values, str):
        return {"use": values}
    if not isinstance(values, Mapping):
        raise ConfigError(f"what is recorded is no configuration, which is tables of settings: {values!r}")
    return values
