"""Damage strangers' files in every way for a while, and report what did not end as it should.

    python tests/fuzz --minutes 60 --seed 1
    python tests/fuzz --seconds 20 --target trace --target "loader pdf"
    python tests/fuzz --replay FOLDER/trace-17.json

Seed, target and number determine a case; each target gets as much time as any other, the attacks that were written by
hand first. A fault is an exception that is no SurefootError, a crash, a process over its memory, time or output,
anything written outside of the case's folder, connected to or run, and a broken promise. Its input is saved below
--out. Exit code 1: there was a fault. Linux only.
"""

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

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
sys.path[:0] = [str(Path(__file__).parents[1])]
if "PYTHONPATH" in os.environ:  # of processes that are started in another folder too
    os.environ["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, os.environ["PYTHONPATH"].split(os.pathsep)))

import surefoot  # noqa: E402
from fuzz import attacks, seeds  # noqa: E402
from fuzz.mutation import Files, mutated  # noqa: E402
from fuzz.targets import TARGETS  # noqa: E402
from fuzz.worker import Outcome, Workers  # noqa: E402
from surefoot.types.errors import MissingExtra  # noqa: E402

SAVED = 3
"""Inputs that are saved of one cause."""


@dataclass(slots=True)
class Tally:
    """The cases of a target so far."""

    cases: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0


class Fuzz:
    """One run: cases by turns, and their faults."""

    def __init__(self, names: list[str], seed: int, out: Path, workers: Workers, store: Path) -> None:
        self.tallies = {name: Tally() for name in names}
        self._seed = seed
        self._out = out
        self._workers = workers
        self._store = store
        # In a process of its own: its memory, and what it starts, must not be in the one that workers are forked from.
        with get_context("fork").Pool(1) as pool:
            self._valid, self._attacks = pool.apply(_made, (names, store))

    def step(self) -> None:
        """One case of the target that has had the least time."""
        name = min(self.tallies, key=lambda name: (self.tallies[name].seconds, self.tallies[name].cases))
        tally = self.tallies[name]
        number = tally.cases
        files, turn = self._case(name, number), number + self._seed
        outcome = self._workers.run(name, files, turn)
        tally.cases += 1
        tally.seconds += outcome.seconds
        if not outcome.fault:
            return
        tally.faults[outcome.key] += 1
        if tally.faults[outcome.key] <= SAVED:
            print(f"{name} {number}: {outcome.fault}", flush=True)
            self._save(name, number, turn, files, outcome)

    def _case(self, name: str, number: int) -> Files:
        if number < self._attacks[name]:
            files: Files = pickle.loads((self._store / f"{name}-{number}").read_bytes())
            return files
        dice = Random(f"{self._seed} {name} {number}")
        return mutated(dice, dice.choice(self._valid[name]), self._valid[name])

    def _save(self, name: str, number: int, turn: int, files: Files, outcome: Outcome) -> None:
        self._out.mkdir(parents=True, exist_ok=True)
        saved = {
            "target": name,
            "turn": turn,
            "fault": outcome.fault,
            "traceback": outcome.traceback.splitlines(),
            "files": {path: base64.b64encode(data).decode() for path, data in files.items()},
        }
        (self._out / f"{name.replace(' ', '-')}-{number}.json").write_text(json.dumps(saved, indent=1))


def main() -> int:
    """Run, or replay, as the command line says."""
    options = _options()
    warnings.simplefilter("ignore")
    logging.disable()
    _import_all()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        workers = Workers(Path(folder, "worker"))
        try:
            return _replay(options.replay, workers) if options.replay else _run(options, workers, Path(folder))
        finally:
            workers.close()


def _run(options: argparse.Namespace, workers: Workers, store: Path) -> int:
    fuzz = Fuzz(options.target or list(TARGETS), options.seed, options.out, workers, store)
    ends = time.monotonic() + (options.seconds or options.minutes * 60)
    with suppress(KeyboardInterrupt):  # what was found until then is reported all the same
        while time.monotonic() < ends:
            fuzz.step()
    print(f"{'target':<16}{'cases':>9}{'faults':>9}{'seconds':>10}")
    for name, tally in fuzz.tallies.items():
        print(f"{name:<16}{tally.cases:>9,}{tally.faults.total():>9,}{tally.seconds:>10.1f}")
    faults = [(name, *fault) for name, tally in fuzz.tallies.items() for fault in tally.faults.most_common()]
    for name, key, count in faults:
        print(f"{count:>6} × {name}: {key}")
    if faults:
        print(f"inputs are saved in {options.out}; run one again: python tests/fuzz --replay FILE")
    return 1 if faults else 0


def _replay(file: Path, workers: Workers) -> int:
    saved = json.loads(file.read_text())
    files = {path: base64.b64decode(data) for path, data in saved["files"].items()}
    outcome = workers.run(saved["target"], files, saved["turn"])
    print(f"{outcome.traceback}\n{outcome.fault or 'no fault'}; {outcome.seconds:.2f} s")
    return 1 if outcome.fault else 0


def _import_all() -> None:
    """Once, before workers are forked from this process, and not once in each of them."""
    for module in pkgutil.walk_packages(surefoot.__path__, "surefoot."):
        if not module.name.startswith(("surefoot.__main__", "surefoot.llms.local")):
            with suppress(ImportError, MissingExtra):  # of an extra that is not installed
                import_module(module.name)
    for name in ("openpyxl", "pypdfium2", "lxml.html", "trafilatura", "charset_normalizer"):
        import_module(name)


def _made(names: list[str], store: Path) -> tuple[dict[str, list[Files]], dict[str, int]]:
    """Valid input for each target, and the number of its first cases, which lie in the folder."""
    valid, counted = seeds.made(), {}
    for name in names:
        cases = [*valid[name], *attacks.attacks(name, valid[name])]
        for number, files in enumerate(cases):
            (store / f"{name}-{number}").write_bytes(pickle.dumps(files))
        counted[name] = len(cases)
    return {name: valid[name] for name in names}, counted


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python tests/fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", action="append", choices=list(TARGETS))
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir(), "surefoot-fuzz"))
    parser.add_argument("--replay", metavar="FILE", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
