"""What does pointing at the answer cost the grade? The same training twice, with the evidence loss and without.

    python benchmarks/second_head.py DATA runs/heads [--steps 800]

Same lessons, same order, same rates; both stop after so many steps of the whole schedule, and the development AUC at
each look stands side by side. Each step takes 1.7 s on two cores. Stopped, the same command goes on; and the folder of
a training that was done already serves as OUT/both-heads.
"""

from __future__ import annotations

import argparse
import json
from contextlib import suppress
from pathlib import Path

from surefoot_lab.train.evaluator import EvaluatorRecipe, train
from surefoot_lab.train.mixture import Mixture, sources
from surefoot_lab.train.network import pretrained
from surefoot_lab.train.training import TrainingProgress


class Enough(Exception):
    """The steps that were asked for are done."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=800)
    given = parser.parse_args()
    mixture = Mixture(given.data, sources())

    def told(progress: TrainingProgress) -> None:
        print(f"\rstep {progress.step}, loss {progress.loss:.3f} ", end="", flush=True)
        if progress.step >= given.steps:
            raise Enough

    looks = []
    for name, evidence in (("both heads", 1.0), ("relevance alone", 0.0)):
        folder = given.out / name.replace(" ", "-")
        with suppress(Enough):
            train(pretrained(), mixture, folder, EvaluatorRecipe(evidence=evidence), told)
        looks.append([json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()])
    print("\n| step | both heads | relevance alone | difference |\n|---|---|---|---|")
    for both, alone in zip(*looks, strict=False):  # a training that was done already has more
        gap = both["mean"] - alone["mean"]
        print(f"| {both['step']} | {both['mean']:.4f} | {alone['mean']:.4f} | {gap:+.4f} |")


if __name__ == "__main__":
    main()
