"""`surefoot lab train`: make an evaluator or a verifier from labelled data."""

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
    from surefoot_lab.train.loop import TrainingProgress

EVALUATOR = Path(surefoot.__file__).parent / "evaluators" / "minilm.onnx"
"""The shipped evaluator, from which the verifier starts."""
_QUIET = 30.0
"""Seconds between two lines about the progress, where no bar can be drawn."""
_Data = Annotated[Path, Option("--data", metavar="FOLDER", help="Folder of the files to learn from.")]
_Out = Annotated[Path, Option("--out", metavar="FOLDER", help="Folder for what is made.")]
_Mixture = Annotated[
    Path | None, Option("--mixture", metavar="FILE", help="Mixture of what is learned; else that of our own.")
]
_Seed = Annotated[int, Option("--seed")]
_Device = Annotated[str | None, Option("--device", help="cpu or cuda; cuda where there is one.")]
_Bfloat16 = Annotated[
    bool,
    Option(
        "--bfloat16",
        help="Compute in bfloat16: faster on a processor with avx512_bf16, and far slower on one without.",
    ),
]


def evaluator(
    data: _Data,
    to: _Out,
    mixture: _Mixture = None,
    start: Annotated[
        Path | None,
        Option(
            "--start",
            metavar="PATH",
            help="A folder that holds all-MiniLM-L6-v2, unless its package is installed; or an earlier best.pt, or "
            "minilm.onnx.",
        ),
    ] = None,
    teacher: Annotated[
        Path | None,
        Option("--teacher", metavar="FILE", help="A teacher's best.pt, to learn its scores beside the labels."),
    ] = None,
    seed: _Seed = 0,
    device: _Device = None,
    bfloat16: _Bfloat16 = False,
) -> None:
    """Train Surefoot's own evaluator, minilm; run it again to go on where it stopped."""
    with _extra("evaluator"):
        from surefoot_lab.train.evaluator import ONWARD, finish, require_questions, train
        from surefoot_lab.train.export import imported
        from surefoot_lab.train.grader import GraderRecipe
        from surefoot_lab.train.mixture import SHIPPED, Mixture, sources
        from surefoot_lab.train.network import GraderNetwork, pretrained, restored
        from surefoot_lab.train.teacher import teach
    learned = Mixture(data, sources(mixture or SHIPPED))
    require_questions(learned)
    if teacher:
        with counting("scoring") as on_scored:
            teach(learned, teacher, to, on_scored, bfloat16)
    with _reporting() as on_progress:
        if start and start.is_file():
            network = imported(start) if start.suffix == ".onnx" else restored(start, GraderNetwork)
            recipe = ONWARD
        else:
            network, recipe = pretrained(start, seed), GraderRecipe()
        best = train(network, learned, to, replace(recipe, seed=seed, bfloat16=bfloat16), on_progress, device)
    _finished("evaluator", to, partial(finish, best, learned, to))


def average(
    weights: Annotated[
        list[Path], Argument(metavar="WEIGHTS...", help="best.pt, checkpoint.pt or minilm.onnx of each.")
    ],
    data: _Data,
    to: _Out,
    role: Annotated[Literal["evaluator", "verifier"], Option("--role", help="What they are.")] = "evaluator",
    mixture: _Mixture = None,
) -> None:
    """Make one minilm of several trainings from the same start: their mean, calibrated."""
    with _extra("average"):
        from surefoot_lab.train import claims, evaluator, mixture as mixtures, verifier
        from surefoot_lab.train.export import average as mean
        from surefoot_lab.train.network import GraderNetwork
    if role == "verifier":
        sets = claims.ClaimSets(data, claims.sources(mixture or claims.SHIPPED))
        _finished(role, to, partial(verifier.finish, mean(weights, to, verifier.VerifierNetwork), sets, to))
    else:
        learned = mixtures.Mixture(data, mixtures.sources(mixture or mixtures.SHIPPED))
        evaluator.require_questions(learned)
        _finished(role, to, partial(evaluator.finish, mean(weights, to, GraderNetwork), learned, to))


def verifier(
    data: _Data,
    to: _Out,
    sets: Annotated[
        Path | None, Option("--sets", metavar="FILE", help="Sets to learn from; else those of Surefoot's own verifier.")
    ] = None,
    start: Annotated[
        Path | None,
        Option("--start", metavar="FILE", help="The minilm.onnx of an evaluator to start from; else the shipped one."),
    ] = None,
    seed: _Seed = 0,
    bfloat16: _Bfloat16 = False,
) -> None:
    """Train Surefoot's own verifier; run it again to go on where it stopped."""
    with _extra("verifier"):
        from surefoot_lab.train.claims import SHIPPED, ClaimSets, sources
        from surefoot_lab.train.export import imported
        from surefoot_lab.train.network import with_new_heads
        from surefoot_lab.train.verifier import RECIPE, VerifierNetwork, finish, train
    learned = ClaimSets(data, sources(sets or SHIPPED))
    body = imported(start or EVALUATOR).state_dict()
    network = with_new_heads(body, VerifierNetwork, RECIPE.heads, seed)
    with _reporting() as on_progress:
        best = train(network, learned, to, replace(RECIPE, seed=seed, bfloat16=bfloat16), on_progress)
    _finished("verifier", to, partial(finish, best, learned, to))


def teacher(
    data: _Data,
    to: _Out,
    start: Annotated[
        Path, Option("--start", metavar="FOLDER", help="Folder of all-mpnet-base-v2, which is fetched if not there.")
    ],
    mixture: _Mixture = None,
    more: Annotated[
        list[Path] | None, Option("--more", metavar="FILE", help="A further file of labelled questions to learn from.")
    ] = None,
    seed: _Seed = 0,
    device: _Device = None,
    bfloat16: _Bfloat16 = False,
) -> None:
    """Train the teacher, whose scores other graders learn; run it again to go on where it stopped."""
    with _extra("teacher"):
        from surefoot_lab.train.evaluator import train
        from surefoot_lab.train.examples import Source
        from surefoot_lab.train.mixture import Mixture, sources
        from surefoot_lab.train.teacher import MIXTURE, RECIPE, pretrained
    further = [Source(str(path.absolute().with_suffix("")), "train") for path in more or ()]
    learned = Mixture(data, [*sources(mixture or MIXTURE), *further])
    with _reporting() as on_progress:
        recipe = replace(RECIPE, seed=seed, bfloat16=bfloat16)
        best = train(pretrained(start, seed), learned, to, recipe, on_progress, device)
    out.say(f"{best}; use it: surefoot lab train evaluator --teacher {best}")


def t5(
    start: Annotated[str, Argument(metavar="FOLDER", help="The T5 to start from, as save_pretrained writes it.")],
    data: Annotated[list[Path], Argument(metavar="DATA...", help="Questions with labelled passages, JSON lines.")],
    to: _Out,
    label: Annotated[
        Literal["label_title", "label"], Option("--label", help="Label to learn; label_title is the paper's.")
    ] = "label_title",
    task: Annotated[str, Option("--task", help="Form of the input: popqa, pubhealth, arc or bio.")] = "popqa",
    epochs: Annotated[int, Option("--epochs", min=1)] = 8,
    batch: Annotated[int, Option("--batch", min=1, help="Pairs a step.")] = 12,
    rate: Annotated[float, Option("--rate", help="Learning rate in the first step; it falls to 0.")] = 1e-4,
    seed: _Seed = 0,
    device: _Device = None,
) -> None:
    """Fine-tune a T5 as CRAG's evaluator was; run it again to go on where it stopped."""
    with _extra("t5", "transformers", "surefoot"):
        from surefoot_lab.train.t5 import T5Recipe, examples, train_t5
    recipe = T5Recipe(task=task, epochs=epochs, batch=batch, rate=rate, seed=seed)
    with _reporting() as on_progress:
        targets = train_t5(start, examples(data, label), to, recipe, on_progress, device)
    out.say(f"{to}: {len(targets)} pairs, {sum(target > 0 for target in targets)} of them +1")
    out.say(f"use it: --set evaluator.use=t5 --set evaluator.folder={to}")


@contextmanager
def _extra(command: str, extra: str = "train", package: str = "surefoot-lab") -> Iterator[None]:
    """Name the extra to install where an import fails."""
    try:
        yield
    except ImportError as error:
        raise MissingExtra(f"surefoot lab train {command}", extra, package) from error


def _finished(role: str, to: Path, finish: Callable[[OnDone], Path]) -> None:
    with counting("calibrating") as on_progress:
        finish(on_progress)
    use = f"--set {role}.use=minilm --set {role}.model={to}"
    out.say(f"{to / 'minilm.onnx'}, with what was fitted for it in minilm.json")
    out.say(f"measure it: surefoot lab {role} {to / 'dev/test'}/*.jsonl {use}")
    out.say(f"use it: {use}")


@contextmanager
def _reporting() -> Iterator[Callable[[TrainingProgress], None]]:
    """Show how far a training is: a bar on a terminal, and elsewhere a line now and then."""
    with bar(MofNCompleteColumn()) as shown:
        task = shown.add_task("starting", total=None)
        last = time.monotonic()

        def report(progress: TrainingProgress) -> None:
            nonlocal last
            seen = "" if progress.dev is None else f", dev AUC {progress.dev:.3f}"
            text = f"loss {progress.loss:.3f}{seen}"
            shown.update(task, description=text, completed=progress.step, total=progress.steps)
            if not err.is_terminal and time.monotonic() - last > _QUIET:
                last = time.monotonic()
                err.print(f"step {progress.step} of {progress.steps}, {text}")

        yield report
