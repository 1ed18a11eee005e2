"""Trains the weights of `surefoot.embedders.static`: word vectors whose sum points where a transformer's vector does.

    python recipes/static_embedding.py --data A.jsonl B.jsonl --without TEST.jsonl --cache DIR --out static.npz

1. The teacher embeds the training texts and every word piece of its vocabulary. This is nearly all of the work, about
   40 texts a second and core; a stopped run goes on where it was.
2. The texts' vectors are rotated to their principal axes; the student learns the first 256.
3. A piece starts at its own vector from the teacher, less the mean of all, weighted by a / (a + its frequency) (Arora,
   Liang and Ma 2017).
4. Adam turns the pieces until the sum over a text has the direction of the teacher's vector (as in model2vec's
   tokenlearn; Minish Lab 2024). Only texts that hold a piece turn it.
5. Every row is rounded to int8 by its own scale.

No answer, no label and no passage under `--without` takes part: the student only learns to read.
"""

import argparse
import hashlib
import json
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer
from torch.nn import EmbeddingBag
from torch.nn.functional import cosine_similarity

from surefoot.embedders.minilm import MiniLMEmbedder
from surefoot.embedders.static import unit
from surefoot.evaluate.ask.questions import rows
from surefoot.models.wordpiece import wordpiece
from surefoot.run.manifest import fingerprint
from surefoot.run.store import write_bytes
from surefoot.types.protocols import Embedder, Matrix

Ids = npt.NDArray[np.int64]

_log = logging.getLogger(__name__)

MOST_CHARACTERS = 600
"""Characters of a text; about as many as a passage of an index has."""
_PART = 1000
"""Texts embedded between two writes to disk."""
_RUN = 13
"""Words in a row that do not recur by chance (Brown et al. 2020, appendix C)."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class VectorRecipe:
    """The settings of the fit; the shipped weights have the defaults."""

    dimensions: int = 256
    smoothing: float = 1e-3
    """The a of a / (a + frequency)."""
    epochs: int = 12
    batch: int = 128
    rate: float = 3e-3
    """Adam's learning rate at the start; it falls linearly to 0."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class VectorExamples:
    """Training texts as pieces, each with the direction that their sum should have."""

    pieces: tuple[Ids, ...]
    directions: Matrix


def texts_of(files: Sequence[Path], without: Sequence[Path] = ()) -> list[str]:
    """The distinct questions and passages of the files, cut to MOST_CHARACTERS, in alphabetical order.

    A line is a JSON object with a `question`, with `passages` of `title` and `text`, or with `title` and `paragraphs`.
    Leaves out texts that share a title or 13 words in a row, or all words of a shorter text, with `without`.
    """
    held = [pair for file in without for pair in _texts(file)]
    titles = {title.casefold() for title, _ in held if title}
    runs = {run for title, text in held for run in (*_runs(text), *_runs(f"{title} {text}"))}
    found = {
        (f"{title}\n{text}" if title else text)[:MOST_CHARACTERS]
        for file in files
        for title, text in _texts(file)
        if title.casefold() not in titles and runs.isdisjoint(_runs(text))
    }
    return sorted(found)


def taught(teacher: Embedder, texts: Sequence[str], cache: Path) -> Matrix:
    """The teacher's vectors of the texts, from `cache` where an earlier run left them for this teacher and these texts.

    They are written there in parts, each whole or not at all.
    """
    cache.mkdir(parents=True, exist_ok=True)
    rows = np.zeros((len(texts), teacher.dimensions), np.float32)
    for start in range(0, len(texts), _PART):
        _log.info("teaching text %d of %d", start, len(texts))
        rows[start : start + _PART] = _part(teacher, texts[start : start + _PART], cache)
    return rows


def fit(texts: Sequence[str], teacher: Embedder, tokenizer: Tokenizer, cache: Path, recipe: VectorRecipe) -> Matrix:
    """The student's table: a row a piece of the tokeniser, 0 for special pieces."""
    lesson, axes = _lesson(texts, taught(teacher, texts, cache), tokenizer, recipe.dimensions)
    table = _start(lesson, taught(teacher, _pieces(tokenizer), cache) @ axes, recipe.smoothing)
    turn(table, lesson, recipe)
    table[[piece for piece, token in tokenizer.get_added_tokens_decoder().items() if token.special]] = 0
    return table


def turn(table: Matrix, lesson: VectorExamples, recipe: VectorRecipe) -> None:
    """Adam on 1 - cosine, in place. A row moves only in the steps whose texts hold its piece."""
    random = np.random.default_rng(recipe.seed)
    bag = EmbeddingBag.from_pretrained(torch.from_numpy(table), freeze=False, mode="sum", sparse=True)
    optimiser = torch.optim.SparseAdam(list(bag.parameters()), lr=recipe.rate)
    steps = recipe.epochs * -(-len(lesson.pieces) // recipe.batch)
    falling = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - (step + 1) / steps)
    for epoch in range(recipe.epochs):
        order = random.permutation(len(lesson.pieces))
        for start in range(0, len(order), recipe.batch):
            batch = order[start : start + recipe.batch]
            ids = [lesson.pieces[i] for i in batch]
            starts = np.cumsum([0, *map(len, ids[:-1])])
            sums = bag(torch.from_numpy(np.concatenate(ids)), torch.from_numpy(starts))
            loss = 1 - cosine_similarity(sums, torch.from_numpy(lesson.directions[batch])).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            falling.step()
            if start == 0:
                _log.info("epoch %d of %d: the first batch is off by %.4f", epoch + 1, recipe.epochs, loss.item())


def write(table: Matrix, path: Path) -> None:
    """The table as `Static` reads it, put in place whole: rows in int8 and the scale of each, shape (rows, 1)."""
    scales = np.abs(table).max(axis=1, keepdims=True) / np.float32(127)
    rows = np.rint(np.divide(table, scales, out=np.zeros_like(table), where=scales > 0))
    write_bytes(path, _saved(np.savez, rows=rows.astype(np.int8), scales=scales))


def _saved(save: Callable[..., None], *values: Any, **named: Any) -> bytes:
    data = BytesIO()
    save(data, *values, **named)
    return data.getvalue()


def main(arguments: Sequence[str] | None = None) -> None:
    """The command of this module's docstring."""
    parser = argparse.ArgumentParser(prog="python recipes/static_embedding.py", description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="JSON lines to learn from")
    parser.add_argument("--without", type=Path, nargs="*", default=[], help="JSON lines whose texts are left out")
    parser.add_argument("--cache", type=Path, required=True, help="folder for the teacher's vectors")
    parser.add_argument("--out", type=Path, required=True)
    inputs = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    texts = texts_of(inputs.data, inputs.without)
    _log.info("%d texts, sha256 %s", len(texts), _digest(texts)[:16])
    write(fit(texts, MiniLMEmbedder(), wordpiece(), inputs.cache, VectorRecipe()), inputs.out)
    _log.info("%s: sha256 %s", inputs.out, fingerprint(inputs.out)[:16])


def _texts(file: Path) -> Iterator[tuple[str, str]]:
    for _, record in rows(file):
        if "question" in record:
            yield "", record["question"]
        for passage in [*record.get("passages", []), *([record] if "text" in record else [])]:
            yield passage.get("title") or "", passage["text"]
        for paragraph in record.get("paragraphs", []):
            yield record["title"], paragraph


def _runs(text: str) -> Iterator[int]:
    words = _WORD.findall(text.casefold())
    return (hash(tuple(words[start : start + _RUN])) for start in range(max(1, len(words) - _RUN + 1)))


def _part(teacher: Embedder, texts: Sequence[str], cache: Path) -> Matrix:
    path = cache / f"{_digest([teacher.name, *texts])}.npy"
    if path.exists():
        known: Matrix = np.load(path, allow_pickle=False)
        return known
    vectors = teacher.embed(texts)
    write_bytes(path, _saved(np.save, vectors))
    return vectors


def _lesson(texts: Sequence[str], goal: Matrix, tokenizer: Tokenizer, dimensions: int) -> tuple[VectorExamples, Matrix]:
    """The texts that have pieces, and the axes, (goal's width, dimensions), of their directions."""
    pieces = [np.array(e.ids, np.int64) for e in tokenizer.encode_batch(list(texts), add_special_tokens=False)]
    known = [i for i, ids in enumerate(pieces) if len(ids) and goal[i].any()]
    axes = np.linalg.eigh(goal[known].T @ goal[known])[1][:, ::-1][:, :dimensions]
    return VectorExamples(tuple(pieces[i] for i in known), unit(goal[known] @ axes)), axes


def _pieces(tokenizer: Tokenizer) -> list[str]:
    """Every piece as a text, by its number."""
    vocabulary = tokenizer.get_vocab()
    return [piece.removeprefix("##") for piece in sorted(vocabulary, key=vocabulary.__getitem__)]


def _start(lesson: VectorExamples, pieces: Matrix, smoothing: float) -> Matrix:
    """The pieces' own vectors, centred, weighted by their frequency in the texts, and of mean length 1."""
    # A tenth of a count for every piece, so that one that the texts lack has a frequency too.
    counts = np.bincount(np.concatenate(lesson.pieces), minlength=len(pieces)) + 0.1
    weights = smoothing / (smoothing + counts / counts.sum())
    table: Matrix = ((pieces - pieces.mean(axis=0)) * weights[:, np.newaxis]).astype(np.float32)
    table /= np.linalg.norm(table, axis=1).mean()
    return table


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest()


if __name__ == "__main__":
    main()
