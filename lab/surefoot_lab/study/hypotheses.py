"""Hypotheses of a study: written down, hashed and kept before anything is computed."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from surefoot.config.settings import read_file
from surefoot.run.manifest import fingerprint
from surefoot.run.store import Run, from_json, to_json, write_text
from surefoot.types.errors import ConfigError, TraceFault, UsageError
from surefoot_lab.study.examination import MEASURES

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

    def __post_init__(self) -> None:
        if self.untestable:
            return
        if unknown := [name for name in (self.measure, self.less or self.measure) if name not in MEASURES]:
            raise ValueError(f"{self.id}: no measure '{unknown[0]}'; there are: {', '.join(MEASURES)}")
        if not self.smallest > 0:
            raise ValueError(f"{self.id}: smallest must be above 0, or nothing could be refuted")


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

    def __post_init__(self) -> None:
        ids, tested = [claim.id for claim in self.claims], sum(not claim.untestable for claim in self.claims)
        if not 0 < self.alpha < 1 or self.questions < 2 or self.resamples < 1 or self.seed < 0:
            raise ValueError("alpha lies between 0 and 1, questions are 2 or more, resamples 1 or more, seed 0 or more")
        if twice := [id for id in ids if ids.count(id) > 1]:
            raise ValueError(f"two claims are called '{twice[0]}'")
        if tested / (self.resamples + 1) >= self.alpha:
            raise ValueError(
                f"with {self.resamples} resamples none of {tested} claims could be decided at alpha {self.alpha:g}; "
                f"take {int(tested / self.alpha) + 1} or more"
            )
        if unknown := [name for one in self.conclusions for name in one.needs if name not in ids]:
            raise ValueError(f"no claim is called '{unknown[0]}'")


def read(path: str | Path = SHIPPED) -> Hypotheses:
    """The hypotheses of a file. Raises ConfigError for one that cannot be read, or is not understood."""
    table, data = read_file(path), Path(path).read_bytes()
    lists = {"claims": table.pop("claim", []), "conclusions": table.pop("conclusion", [])}
    file = {"text": data.decode("utf-8"), "sha256": hashlib.sha256(data).hexdigest()}
    try:
        return from_json(Hypotheses, {**table, **lists, **file}, str(path))
    except TraceFault as error:
        raise ConfigError(str(error)) from error


def register(folder: Path, hypotheses: Hypotheses, about: Mapping[str, Any], file: str) -> Run:
    """Open the run in `folder`. Its record holds `about`, the hypotheses file and the file's hash.

    Raises UsageError where the folder holds other hypotheses or another run.
    """
    path, mine = folder / REGISTERED, hypotheses.sha256
    if path.exists() and (known := fingerprint(path)) != mine:
        raise UsageError(
            f"{folder} was begun with other hypotheses ({known[:12]}, not {mine[:12]}), which do not change under way; "
            "give a new folder"
        )
    selected = Run(folder, {**about, "hypotheses": mine}, file)
    if not path.exists():
        write_text(path, hypotheses.text)
    return selected


def fits(among: Among, pair: Any) -> bool:
    """True if the claim is about this pair, by its fields of these names."""
    wanted = {name: want for name, want in to_json(among).items() if want is not None}
    return all(getattr(pair, name) in (want if isinstance(want, list) else [want]) for name, want in wanted.items())
