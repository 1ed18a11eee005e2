"""Hypotheses of a study: written down, hashed and kept before anything is computed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeVar

from surefoot.run.store import Run, from_json, write_text
from surefoot.text import toml_values
from surefoot.types.errors import ConfigError, TraceFault, UsageError
from surefoot_lab.study.examination import MEASURES

T = TypeVar("T")

SHIPPED = Path(__file__).with_name("hypotheses.toml")
"""The claims of the open reproduction of CRAG."""
REGISTERED = "hypotheses.toml"
"""In the folder of a run: the file as it was when the run began."""


@dataclass(frozen=True, slots=True)
class Among:
    """The pairs that a claim is about; None: all of them."""

    action: tuple[str, ...] | None = None
    """Labels of the passage alone."""
    label: int | None = None
    """1: it answers the question."""
    holds_answer: bool | None = None
    """An accepted answer stands in its title or text."""
    names_entity: bool | None = None
    """It names what the question is about."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A sentence about the evaluator with the effect that it claims, in standard deviations of the score."""

    id: str
    says: str
    measure: str = ""
    """One of `examination.MEASURES`."""
    less: str = ""
    """A measure to subtract from it, pair by pair; empty: none."""
    among: Among = field(default_factory=Among)
    direction: Literal["up", "down"] = "up"
    """The direction of the effect."""
    presence: Literal["present", "absent"] = "present"
    """True if the claim is that there is such an effect, or none."""
    smallest: float = 0.0
    """The smallest effect that counts; positive."""
    refuted_by: str = ""
    untestable: str = ""
    """Why it cannot be tested here; empty: it can."""


@dataclass(frozen=True, slots=True)
class StudyConclusion:
    """Follows where all its claims are supported; one refuted claim refutes it."""

    id: str
    says: str
    needs: tuple[str, ...]
    """Ids of claims."""


@dataclass(frozen=True, slots=True)
class Hypotheses:
    """A file of them."""

    text: str
    sha256: str
    alpha: float
    """Of the tests that support, and again of those that refute; one-sided."""
    questions: int
    """With pairs of fewer, nothing is decided."""
    resamples: int
    seed: int
    """Of the bootstrap."""
    claims: tuple[Hypothesis, ...]
    conclusions: tuple[StudyConclusion, ...]


def read(path: str | Path = SHIPPED) -> Hypotheses:
    """The hypotheses of a file. Raises UsageError for one that cannot be read, ConfigError for one that is not
    understood."""
    try:
        data = Path(path).read_bytes()
        text = data.decode("utf-8")
        table = toml_values.parsed(text)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{path} is not TOML: {error}") from error
    claims, conclusions = table.pop("claim", []), table.pop("conclusion", [])
    if odd := sorted(set(table) ^ {"alpha", "questions", "resamples", "seed"}):
        raise ConfigError(f"{path} must say alpha, questions, resamples and seed, and claims; look at '{odd[0]}'")
    made = Hypotheses(
        text=text,
        sha256=hashlib.sha256(data).hexdigest(),
        claims=tuple(_made(Hypothesis, one, path) for one in claims),
        conclusions=tuple(_made(StudyConclusion, one, path) for one in conclusions),
        **_numbers(table, path),
    )
    _check(made, path)
    return made


def register(folder: Path, hypotheses: Hypotheses, about: Mapping[str, Any], file: str) -> Run:
    """Open the run in `folder`. Its record holds `about`, the hypotheses file and the file's hash.

    Raises UsageError where the folder holds other hypotheses or another run.
    """
    path, mine = folder / REGISTERED, hypotheses.sha256
    if path.exists() and (known := hashlib.sha256(path.read_bytes()).hexdigest()) != mine:
        raise UsageError(
            f"{folder} was begun with other hypotheses ({known[:12]}, not {mine[:12]}), which do not change under way; "
            "give a new folder"
        )
    selected = Run(folder, {**about, "hypotheses": mine}, file)
    if not path.exists():
        write_text(path, hypotheses.text)
    return selected


def _numbers(table: Mapping[str, Any], path: str | Path) -> dict[str, Any]:
    for key, value in table.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or (key != "alpha" and type(value) is not int):
            raise ConfigError(f"{path}: {key} cannot be {value!r}")
    if not 0 < table["alpha"] < 1 or table["questions"] < 2 or table["resamples"] < 1 or table["seed"] < 0:
        raise ConfigError(f"{path}: alpha lies between 0 and 1, questions are 2 or more, resamples 1 or more")
    return dict(table)


def _made(kind: type[T], arguments: Any, path: str | Path) -> T:
    named = arguments.get("id", "without an id") if isinstance(arguments, dict) else arguments
    try:
        return from_json(kind, arguments)
    except TraceFault as error:
        raise ConfigError(f"{path}, {named}: {error}") from error


def _check(made: Hypotheses, path: str | Path) -> None:
    ids = [claim.id for claim in made.claims]
    for claim in made.claims:
        if ids.count(claim.id) > 1:
            raise ConfigError(f"{path}: two claims are called '{claim.id}'")
        if claim.untestable:
            continue
        for name in filter(None, (claim.measure or "none", claim.less)):
            if name not in MEASURES:
                raise ConfigError(f"{path}, {claim.id}: no measure '{name}'; there are: {', '.join(MEASURES)}")
        if not claim.smallest > 0:
            raise ConfigError(f"{path}, {claim.id}: smallest must be above 0, or nothing could be refuted")
    tested = sum(not claim.untestable for claim in made.claims)
    if tested / (made.resamples + 1) >= made.alpha:
        raise ConfigError(
            f"{path}: with {made.resamples} resamples none of {tested} claims could be decided at alpha "
            f"{made.alpha:g}; take {int(tested / made.alpha) + 1} or more"
        )
    for conclusion in made.conclusions:
        if unknown := sorted(set(conclusion.needs) - set(ids)):
            raise ConfigError(f"{path}, {conclusion.id}: no claim is called '{unknown[0]}'")


def fits(among: Among, pair: Any) -> bool:
    """True if the claim is about this pair, by its fields of these names."""
    wanted = {each.name: getattr(among, each.name) for each in fields(among)}
    return all(
        want is None or (getattr(pair, name) in want if isinstance(want, tuple) else getattr(pair, name) == want)
        for name, want in wanted.items()
    )
