"""Teaches the grader how near a larger sentence encoder finds question and passage; no label is needed.

    python recipes/similarity.py ROWS.jsonl... --encoder FOLDER --out OUT
    surefoot lab train average OUT/best.pt --data DATA --out models/similar     # calibrates it

Each pair's target is the logit of the grader that it starts from plus `WEIGHT` times how far the encoder's cosine is
above the mean; where the grader points stays as it was. ROWS are questions with passages, such as manual_questions.py
makes, best as many hard ones of a question as can be had. FOLDER holds a sentence encoder for transformers, such
as all-mpnet-base-v2. Targets stay in OUT/targets, so that a run that was killed goes on; a GPU is used where there is
one. Two cores embed 12 texts and learn 25 pairs a second.
"""

import argparse
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

import surefoot
from surefoot.evaluate.ask import questions
from surefoot.evaluators.minilm import encode
from surefoot.stats.figures import Floats
from surefoot_lab.train.evaluator import ONWARD
from surefoot_lab.train.export import imported
from surefoot_lab.train.grader import EncodedExample, GraderRecipe, batched, groups, in_parts, read
from surefoot_lab.train.loop import Task, TrainingProgress, train
from surefoot_lab.train.network import GraderNetwork

_log = logging.getLogger(__name__)

Pair = tuple[str, str, str]
"""Question, title and text."""
Embed = Callable[[Sequence[str]], Floats]

WEIGHT = 12.0
"""Logits that a cosine of 1 is worth. With grade and retrieval it put the evidence first for 59.8 and 51.6 % of the
questions about two times six manuals, where 53.8 and 49.2 % are without it."""
SCALE, KEPT = 0.25, 0.5
"""What the squared error of the logit counts, and the divergence of the places pointed at."""
PART = 1024
"""Pairs whose targets are computed between two writes."""
RECIPE = replace(ONWARD, checkpoint=100, patience=None)


def pairs(paths: Sequence[Path]) -> list[Pair]:
    """Every pair of the files once, in the order of the files."""
    rows = (row for path in paths for _, row in questions.rows(path))
    found = ((row["question"], p.get("title") or "", p["text"]) for row in rows for p in row.get("passages", ()))
    return list(dict.fromkeys(found))


def encoder(folder: Path, device: str) -> Embed:
    """Vectors of length 1 by the mean of the last layer's pieces, in bfloat16; of a text at most 256 pieces."""
    from transformers import AutoModel, AutoTokenizer

    reader = AutoTokenizer.from_pretrained(folder)
    network = AutoModel.from_pretrained(folder).eval().to(device, torch.bfloat16)

    @torch.inference_mode()
    def embed(texts: Sequence[str]) -> Floats:
        order, rows = np.argsort([len(text) for text in texts]), [np.zeros(0)] * len(texts)
        for some in np.split(order, range(16, len(order), 16)):
            chosen = [texts[i] for i in some]
            batch = reader(chosen, padding=True, truncation=True, max_length=256, return_tensors="pt").to(device)
            seen = batch["attention_mask"][..., None]
            mean = (network(**batch).last_hidden_state.float() * seen).sum(1) / seen.sum(1)
            for i, row in zip(some, torch.nn.functional.normalize(mean, dim=1).cpu().numpy(), strict=True):
                rows[i] = row
        return np.array(rows)

    return embed


def cosines(some: Sequence[Pair], embed: Embed) -> Floats:
    """The cosine of each question and its passage, which is read under the last heading of its title."""
    asked, texts = list({one[0]: None for one in some}), list({_text(one): None for one in some})
    vectors = dict(zip([*asked, *texts], embed([*asked, *texts]), strict=True))
    return np.array([vectors[one[0]] @ vectors[_text(one)] for one in some])


def _text(pair: Pair) -> str:
    return f"{pair[1].rpartition(' › ')[2]}\n{pair[2]}"


@torch.no_grad()
def graded(network: GraderNetwork, encoded: Sequence[EncodedExample]) -> list[tuple[float, Floats]]:
    """The logit of each pair, and those of its pieces as first and last of the evidence: (pieces, 2)."""
    found = []
    for start in range(0, len(encoded), 16):
        some = encoded[start : start + 16]
        logits, marks, _ = read(network.eval(), some)
        rows = zip(logits.tolist(), marks.cpu().numpy().astype(np.float16), some, strict=True)
        found += [(logit, mark[: len(one.ids)]) for logit, mark, one in rows]
    return found


def targets(
    every: Sequence[Pair], encoded: Sequence[EncodedExample], network: GraderNetwork, embed: Embed, folder: Path
) -> list[EncodedExample]:
    """The examples with the logit to learn as `label`, and where the grader points as `marks`."""
    folder.mkdir(parents=True, exist_ok=True)
    logits, near, marks = list[float](), list[float](), list[Floats]()
    for start in range(0, len(every), PART):
        path, part = folder / f"{start:07}.npz", slice(start, start + PART)
        if not path.exists():
            found = graded(network, encoded[part])
            own = {f"mark{i}": mark for i, (_, mark) in enumerate(found)}
            fresh = path.with_suffix(".new.npz")
            np.savez(fresh, logits=[one for one, _ in found], near=cosines(every[part], embed), **own)
            fresh.rename(path)
            _log.info("%d of %d targets", min(start + PART, len(every)), len(every))
        held = np.load(path)
        logits += held["logits"].tolist()
        near += held["near"].tolist()
        marks += [held[f"mark{i}"] for i in range(len(held["logits"]))]
    goals = np.array(logits) + WEIGHT * (np.array(near) - np.mean(near))
    return [replace(one, label=float(goal), marks=mark) for one, goal, mark in zip(encoded, goals, marks, strict=True)]


def losses(network: GraderNetwork, examples: Sequence[EncodedExample], batch: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The squared error of the logits, and its weighted sum with the divergence of the places."""
    some = [examples[i] for i in batch]
    logits, marks, ids = read(network, some)
    error = ((logits - torch.tensor([one.label for one in some], device=logits.device)) ** 2).mean()
    goal = torch.full_like(marks, -1e4)
    for row, one in enumerate(some):
        goal[row, : len(one.ids)] = torch.as_tensor(np.asarray(one.marks, np.float32))
    placed = marks.masked_fill((ids == 0)[:, :, None], -1e4).log_softmax(1)
    divergence = (goal.softmax(1) * (goal.log_softmax(1) - placed)).sum(1).mean()
    return error, SCALE * error + KEPT * divergence


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute the targets, and train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path, nargs="+")
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    start = Path(surefoot.__file__).parent / "evaluators" / "minilm.onnx"
    parser.add_argument("--start", type=Path, default=start, help="the grader to go on from; else the shipped one")
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--bfloat16", action="store_true")
    inputs = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    recipe: GraderRecipe = replace(RECIPE, bfloat16=inputs.bfloat16)
    every, network = pairs(inputs.rows), imported(inputs.start).to(device)
    parts = in_parts(encode, every)
    most = recipe.pieces - 1
    encoded = [
        EncodedExample([*p.ids[:most], p.ids[-1]] if len(p.ids) > most else p.ids, p.sides[: recipe.pieces], 0, 1, None)
        for p in parts
    ]
    examples = targets(every, encoded, network, encoder(inputs.encoder, device), inputs.out / "targets")
    order = np.random.default_rng(recipe.seed)
    chosen = [int(i) for _ in range(inputs.passes) for i in order.permutation(len(examples))]
    steps = [[chosen[i] for i in batch] for batch in batched([examples[i] for i in chosen], recipe)]
    task = Task(network, groups(network, recipe), steps, partial(losses, network, examples))
    about = {"encoder": inputs.encoder.name, "rows": [path.name for path in inputs.rows]}
    train(task, recipe, every, about, inputs.out, _report)


def _report(progress: TrainingProgress) -> None:
    if progress.step % 20 == 0 or progress.step == progress.steps:
        _log.info("step %d of %d, squared error %.2f", progress.step, progress.steps, progress.loss)


if __name__ == "__main__":
    main()
