"""Damage strangers' files in every way for a while, and say what did not end as it should.

    python tests/fuzz --minutes 60 --seed 1
    python tests/fuzz --seconds 20 --target trace --target "loader pdf"
    python tests/fuzz --replay FOLDER/trace-17.json

A case is told by seed, target and number; each target gets as much time as any other, the attacks that were written by
hand first. A fault is an exception that is no SurefootError, a crash, a process over its memory, time or output, one
that was left behind, anything written outside of the case's folder, connected to or run, and a promise that was not
kept. What brought it is kept below --out. Exit code 1: there was a fault. Linux only.
"""

from __future__ import annotations

import argparse
import base64
import json
import logging
import os
import pickle
import pkgutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
sys.path[:0] = [str(Path(__file__).parents[1])]
if "PYTHONPATH" in os.environ:  # of processes that are started in another folder too
    os.environ["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, os.environ["PYTHONPATH"].split(os.pathsep)))

import surefoot  # noqa: E402
from fuzz import attacks, seeds  # noqa: E402
from fuzz.mutation import Files, mutated  # noqa: E402
from fuzz.targets import TARGETS  # noqa: E402
from fuzz.worker import MOST_MEMORY, MOST_SECONDS, Outcome, Workers  # noqa: E402

SAVED = 3
"""Inputs that are kept of one cause."""


@dataclass(slots=True)
class Tally:
    """What a target came to."""

    cases: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    memory: int = 0

    def add(self, outcome: Outcome) -> None:
        self.cases += 1
        self.seconds += outcome.seconds
        self.memory = max(self.memory, outcome.memory)
        if outcome.fault:
            self.faults[outcome.key] += 1


class Fuzz:
    """One run: cases by turns, and what came of them."""

    def __init__(self, names: list[str], seed: int, out: Path, workers: Workers, store: Path) -> None:
        self.tallies = {name: Tally() for name in names}
        self._seed = seed
        self._out = out
        self._workers = workers
        self._store = store
        self._valid, self._attacks = _in_a_child(_made, names, store)

    def step(self) -> None:
        """One case of the target that has had the least time."""
        name = min(self.tallies, key=lambda name: (self.tallies[name].seconds, self.tallies[name].cases))
        tally = self.tallies[name]
        number = tally.cases
        files, turn = self._case(name, number)
        outcome = self._workers.run(name, files, turn)
        tally.add(outcome)
        if outcome.fault and tally.faults[outcome.key] <= SAVED:
            if tally.faults[outcome.key] == 1:
                print(f"{name} {number}: {outcome.fault}", flush=True)
            self._save(name, number, turn, files, outcome)

    def _case(self, name: str, number: int) -> tuple[Files, int | None]:
        """The files, and the turn of the commands that they meet: with another seed others."""
        if number < self._attacks[name]:
            return _read(self._store, name, number), number + self._seed
        dice = Random(f"{self._seed} {name} {number}")
        return mutated(dice, dice.choice(self._valid[name]), self._valid[name]), number + self._seed

    def _save(self, name: str, number: int, turn: int | None, files: Files, outcome: Outcome) -> None:
        self._out.mkdir(parents=True, exist_ok=True)
        kept = {
            "target": name,
            "seed": self._seed,
            "number": number,
            "turn": turn,
            "fault": outcome.fault,
            "key": outcome.key,
            "seconds": round(outcome.seconds, 2),
            "memory": outcome.memory,
            "traceback": outcome.told.splitlines(),
            "files": {path: base64.b64encode(data).decode() for path, data in files.items()},
        }
        (self._out / f"{name.replace(' ', '-')}-{number}.json").write_text(json.dumps(kept, indent=1))


def main() -> int:
    """Run, or replay, as the command line says."""
    given = _arguments()
    warnings.simplefilter("ignore")
    logging.disable()
    _import_all()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        workers = Workers(Path(folder, "worker"))
        try:
            return _replay(Path(given.replay), workers) if given.replay else _run(given, workers, Path(folder))
        finally:
            workers.close()


def _run(given: argparse.Namespace, workers: Workers, store: Path) -> int:
    fuzz = Fuzz(given.target or list(TARGETS), given.seed, given.out, workers, store)
    started = told = time.monotonic()
    whole = given.seconds or given.minutes * 60
    with suppress(KeyboardInterrupt):  # what was found until then is told all the same
        while (passed := time.monotonic() - started) < whole:
            fuzz.step()
            if time.monotonic() - told > given.every:
                told = time.monotonic()
                cases = sum(tally.cases for tally in fuzz.tallies.values())
                left = f"{(whole - passed) / 60:.1f} minutes left"
                print(f"{cases:,} cases, {_distinct(fuzz)} distinct faults, {left}", flush=True)
    remains = workers.close()
    print(_table(fuzz))
    if remains:
        print(remains.fault)
    if _distinct(fuzz):
        print(f"inputs are kept in {given.out}; run one again: python tests/fuzz --replay FILE")
    return 1 if _distinct(fuzz) or remains else 0


def _replay(file: Path, workers: Workers) -> int:
    kept = json.loads(file.read_text())
    files = {path: base64.b64decode(data) for path, data in kept["files"].items()}
    outcome = workers.run(kept["target"], files, kept["turn"])
    print(outcome.told or "")
    print(f"{outcome.fault or 'no fault'}; {outcome.seconds:.2f} s, {outcome.memory / 1e6:,.0f} MB")
    return 1 if outcome.fault else 0


def _import_all() -> None:
    """Once, before workers are made of this process, and not once in each of them."""
    for module in pkgutil.walk_packages(surefoot.__path__, "surefoot."):
        if not module.name.startswith(("surefoot_lab.train", "surefoot.__main__", "surefoot.llms.local")):
            with suppress(ImportError):  # of an extra that is not installed
                import_module(module.name)
    for name in ("openpyxl", "pypdfium2", "lxml.html", "trafilatura", "charset_normalizer"):
        import_module(name)


def _distinct(fuzz: Fuzz) -> int:
    return sum(len(tally.faults) for tally in fuzz.tallies.values())


def _table(fuzz: Fuzz) -> str:
    heading = f"{'target':<16}{'cases':>9}{'faults':>9}{'distinct':>10}{'seconds':>10}{'largest MB':>12}"
    rows = [
        f"{name:<16}{tally.cases:>9,}{tally.faults.total():>9,}{len(tally.faults):>10}"
        f"{tally.seconds:>10.1f}{tally.memory / 1e6:>12,.0f}"
        for name, tally in fuzz.tallies.items()
    ]
    limits = f"limits: {MOST_MEMORY / 1e6:,.0f} MB, {MOST_SECONDS:g} s"
    keys = [
        f"{count:>6} × {name}: {key}"
        for name, tally in fuzz.tallies.items()
        for key, count in tally.faults.most_common()
    ]
    return "\n".join(["", heading, *rows, limits, *keys])


def _made(names: list[str], store: Path) -> tuple[dict[str, list[Files]], dict[str, int]]:
    """Valid input for each target, and how many attacks lie in the folder: memory that they took would be counted as
    that of every worker."""
    valid = seeds.made()
    counted = {}
    for name in names:
        cases = [*valid[name], *attacks.attacks(name, valid[name])]
        for number, files in enumerate(cases):
            (store / f"{name}-{number}").write_bytes(pickle.dumps(files))
        counted[name] = len(cases)
    return {name: valid[name] for name in names}, counted


def _read(store: Path, name: str, number: int) -> Files:
    files: Files = pickle.loads((store / f"{name}-{number}").read_bytes())
    return files


def _in_a_child(make: Any, *given: Any) -> Any:
    """What it makes, made in a process of its own: what it starts must not be in the one that workers are made of."""
    with get_context("fork").Pool(1) as pool:
        return pool.apply(make, given)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python tests/fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", action="append", choices=list(TARGETS))
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir(), "surefoot-fuzz"))
    parser.add_argument("--replay", metavar="FILE")
    parser.add_argument("--every", type=float, default=30.0, help="seconds between lines of progress")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
