"""Control evaluators: an explanation that looks the same for them does not explain the evaluator.

`Hashed` has no structure at all: values that agree with its values come from the texts and the method. `shuffled` keeps
a network's shape and all its numbers, in another order: values that agree with its values were not learned. Neither can
show that an explanation is right, only that it is wrong.
"""

import hashlib
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from surefoot import evaluators
from surefoot.evaluate.ask.questions import hashed
from surefoot.run.store import write_text
from surefoot.text.json_values import parsed
from surefoot.types import Grade, Thresholds
from surefoot.types.errors import MissingExtra, UsageError
from surefoot.types.protocols import Pair

_SIZES = {1: 4, 2: 1, 3: 1, 10: 2, 11: 8}
"""Bytes of an element of the floating and quantised tensors, by ONNX's type; others hold shapes and positions."""


class Hashed:
    """Scores by the hash of question, title and text: repeatable and meaningless."""

    def __init__(self, thresholds: Thresholds) -> None:
        self.name = "hashed"
        self.thresholds = thresholds

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """One grade a pair, in [-1, 1]."""
        drawn = (hashed(f"{question}\0{passage.title}\0{passage.text}")[:6] for question, passage in pairs)
        scores = (math.sin(int.from_bytes(one, "big")) for one in drawn)
        return tuple(Grade(p.id, score, reason="by chance") for (_, p), score in zip(pairs, scores, strict=True))


def shuffled(model: Path, folder: Path, seed: int = 0) -> Path:
    """A folder with the same model, an ONNX file with its JSON, but each tensor of weights in random order.

    `model`: the ONNX file. Raises UsageError for any other file, MissingExtra where the library onnx is missing.
    """
    try:
        import onnx
        from google.protobuf.message import DecodeError
    except ImportError as error:
        raise MissingExtra("the control with shuffled weights", "train", "surefoot-lab") from error
    try:
        found = onnx.load_from_string(model.read_bytes())
    except DecodeError as error:
        raise UsageError(f"{model} is no ONNX model: {error}") from error
    random = np.random.default_rng(seed)
    weights = [one for one in found.graph.initializer if len(one.raw_data) > _SIZES.get(one.data_type, sys.maxsize)]
    if not weights:
        raise UsageError(f"{model} is no ONNX model with weights of its own")
    for one in weights:
        one.raw_data = random.permutation(np.frombuffer(one.raw_data, dtype=f"V{_SIZES[one.data_type]}")).tobytes()
    data = found.SerializeToString()
    card = parsed(model.with_suffix(".json").read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / model.name).write_bytes(data)
    write_text(folder / f"{model.stem}.json", json.dumps({**card, "sha256": hashlib.sha256(data).hexdigest()}))
    return folder


def weights(model: str | None) -> Path:
    """The ONNX file of the evaluator `minilm`: that of the folder, or of the package."""
    return Path(model) / "minilm.onnx" if model else Path(evaluators.__file__).with_name("minilm.onnx")
