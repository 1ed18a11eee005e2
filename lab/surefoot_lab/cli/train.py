"""`surefoot lab train`: make an evaluator from labelled pairs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from rich.progress import MofNCompleteColumn
from typer import Argument, Option

import surefoot
from surefoot.cli._console import bar, counting, err, out
from surefoot.types.errors import MissingExtra

if TYPE_CHECKING:
    from surefoot.evaluate.ask.runs import OnDone
    from surefoot_lab.train.training import TrainingProgress

EVALUATOR = Path(surefoot.__file__).parent / "evaluators" / "minilm.onnx"
"""The shipped evaluator, from which the verifier starts."""
_QUIET = 30.0
"""Seconds between two lines about the progress, where no bar can be drawn."""
_Bfloat16 = Annotated[
    bool,
    Option(
        "--bfloat16",
        help="Compute in bfloat16: faster on a processor with avx512_bf16, and far slower on one without.",
    ),
]


def evaluator(
    data: Annotated[Path, Option("--data", metavar="FOLDER", help="Folder of the mixture's files.")],
    to: Annotated[Path, Option("--out", metavar="FOLDER", help="Folder for the evaluator.")],
    mixture: Annotated[
        Path | None,
        Option("--mixture", metavar="FILE", help="Mixture to learn from; else that of Surefoot's own evaluator."),
    ] = None,
    start: Annotated[
        Path | None,
        Option(
            "--start",
            metavar="PATH",
            help="A folder that holds all-MiniLM-L6-v2, unless its package is installed; or an earlier best.pt, or "
            "minilm.onnx.",
        ),
    ] = None,
    seed: Annotated[int, Option("--seed")] = 0,
    device: Annotated[str | None, Option("--device", help="cpu or cuda; cuda where there is one.")] = None,
    bfloat16: _Bfloat16 = False,
) -> None:
    """Train Surefoot's own evaluator, minilm; run it again to go on where it stopped."""
    try:
        from surefoot_lab.train.evaluator import ONWARD, EvaluatorRecipe, train
        from surefoot_lab.train.export import imported
        from surefoot_lab.train.finish import finish, require_questions
        from surefoot_lab.train.mixture import SHIPPED, Mixture, sources
        from surefoot_lab.train.network import pretrained, restored
    except ImportError as error:
        raise MissingExtra("surefoot lab train evaluator", "train", "surefoot-lab") from error
    learned = Mixture(data, sources(mixture or SHIPPED))
    require_questions(learned)
    with _telling(_of_minilm) as tell:
        if start and start.is_file():
            first = imported(start) if start.suffix == ".onnx" else restored(start)
            recipe = replace(ONWARD, seed=seed)
        else:
            first, recipe = pretrained(start, seed), EvaluatorRecipe(seed=seed)
        best = train(first, learned, to, replace(recipe, bfloat16=bfloat16), tell, device)
    _finished("evaluator", to, partial(finish, best, learned, to))


def average(
    weights: Annotated[
        list[Path], Argument(metavar="WEIGHTS...", help="best.pt, checkpoint.pt or minilm.onnx of each.")
    ],
    data: Annotated[Path, Option("--data", metavar="FOLDER", help="Folder of the files that they learned from.")],
    to: Annotated[Path, Option("--out", metavar="FOLDER", help="Folder for the mean.")],
    role: Annotated[Literal["evaluator", "verifier"], Option("--role", help="What they are.")] = "evaluator",
    mixture: Annotated[
        Path | None, Option("--mixture", metavar="FILE", help="Mixture or sets that they learned from; else our own.")
    ] = None,
) -> None:
    """Make one minilm of several trainings from the same start: their mean, calibrated."""
    try:
        from surefoot_lab.train import claims, finish, network, verifier_finish
        from surefoot_lab.train import verifier as verifiers
        from surefoot_lab.train.average import average as mean
        from surefoot_lab.train.mixture import SHIPPED, Mixture, sources
    except ImportError as error:
        raise MissingExtra("surefoot lab train average", "train", "surefoot-lab") from error
    if role == "verifier":
        sets = claims.ClaimSets(data, claims.sources(mixture or claims.SHIPPED))
        best = mean(weights, to, verifiers.restored)
        _finished(role, to, partial(verifier_finish.finish, best, sets, to))
        return
    learned = Mixture(data, sources(mixture or SHIPPED))
    finish.require_questions(learned)
    _finished(role, to, partial(finish.finish, mean(weights, to, network.restored), learned, to))


def verifier(
    data: Annotated[Path, Option("--data", metavar="FOLDER", help="Folder of the sets' files.")],
    to: Annotated[Path, Option("--out", metavar="FOLDER", help="Folder for the verifier.")],
    sets: Annotated[
        Path | None, Option("--sets", metavar="FILE", help="Sets to learn from; else those of Surefoot's own verifier.")
    ] = None,
    start: Annotated[
        Path | None,
        Option("--start", metavar="FILE", help="The minilm.onnx of an evaluator to start from; else the shipped one."),
    ] = None,
    seed: Annotated[int, Option("--seed")] = 0,
    bfloat16: _Bfloat16 = False,
) -> None:
    """Train Surefoot's own verifier; run it again to go on where it stopped."""
    try:
        from surefoot_lab.train.claims import SHIPPED, ClaimSets, sources
        from surefoot_lab.train.verifier import VerifierRecipe, from_shipped, train
        from surefoot_lab.train.verifier_finish import finish
    except ImportError as error:
        raise MissingExtra("surefoot lab train verifier", "train", "surefoot-lab") from error
    learned = ClaimSets(data, sources(sets or SHIPPED))
    with _telling(_of_minilm) as tell:
        recipe = VerifierRecipe(seed=seed, bfloat16=bfloat16)
        best = train(from_shipped(start or EVALUATOR, seed), learned, to, recipe, tell)
    _finished("verifier", to, partial(finish, best, learned, to))


def _finished(role: str, to: Path, finish: Callable[[OnDone], Path]) -> None:
    with counting("calibrating") as on_progress:
        finish(on_progress)
    use = f"--set {role}.use=minilm --set {role}.model={to}"
    out.say(f"{to / 'minilm.onnx'}, with what was fitted for it in minilm.json")
    out.say(f"measure it: surefoot lab {role} {to / 'dev/test'}/*.jsonl {use}")
    out.say(f"use it: {use}")


def _of_minilm(progress: TrainingProgress) -> str:
    seen = "" if progress.dev is None else f", dev AUC {progress.dev:.3f}"
    return f"loss {progress.loss:.3f}{seen}"


def t5(
    start: Annotated[str, Argument(metavar="FOLDER", help="The T5 to start from, as save_pretrained writes it.")],
    data: Annotated[list[Path], Argument(metavar="DATA...", help="Questions with labelled passages, JSON lines.")],
    to: Annotated[Path, Option("--out", metavar="FOLDER", help="New folder for the evaluator.")],
    label: Annotated[
        Literal["label_title", "label"], Option("--label", help="Label to learn; label_title is the paper's.")
    ] = "label_title",
    task: Annotated[str, Option("--task", help="Form of the input: popqa, pubhealth, arc or bio.")] = "popqa",
    epochs: Annotated[int, Option("--epochs", min=1)] = 8,
    batch: Annotated[int, Option("--batch", min=1, help="Pairs a step.")] = 12,
    rate: Annotated[float, Option("--rate", help="Learning rate in the first step; it falls to 0.")] = 1e-4,
    seed: Annotated[int, Option("--seed")] = 0,
    device: Annotated[str | None, Option("--device", help="cpu or cuda; cuda where there is one.")] = None,
) -> None:
    """Fine-tune a T5 as CRAG's evaluator was."""
    try:
        from surefoot_lab.train.t5 import T5Recipe, lessons, train
    except ImportError as error:
        raise MissingExtra("surefoot lab train t5", "transformers") from error
    recipe = T5Recipe(task, epochs, batch, rate, seed=seed)
    with _telling(_of_t5) as tell:
        done = train(start, lessons(data, label), to, recipe, device=device, on_step=tell)
    first, last = done.losses[0], done.losses[-1]
    out.say(f"{done.folder}: {done.pairs} pairs, {done.positives} of them +1")
    out.say(f"mean squared error {first:.3f} in the first epoch, {last:.3f} in the last")
    out.say(f"use it: --set evaluator.use=t5 --set evaluator.folder={done.folder}")


def _of_t5(progress: TrainingProgress) -> str:
    return f"epoch {progress.epoch}, loss {progress.loss:.3f}"


@contextmanager
def _telling(about: Callable[[TrainingProgress], str]) -> Iterator[Callable[[TrainingProgress], None]]:
    """Shows how far a training is: a bar on a terminal, and elsewhere a line now and then; `about` words it."""
    with bar(MofNCompleteColumn()) as shown:
        task = shown.add_task("starting", total=None)
        last = time.monotonic()

        def tell(progress: TrainingProgress) -> None:
            nonlocal last
            what = about(progress)
            shown.update(task, description=what, completed=progress.step, total=progress.steps)
            if not err.is_terminal and time.monotonic() - last > _QUIET:
                last = time.monotonic()
                err.print(f"step {progress.step} of {progress.steps}, {what}")

        yield tell
