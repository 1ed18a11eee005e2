"""Control evaluators: an explanation that looks the same for them does not explain the evaluator.

`Hashed` has no structure at all: values that agree with its values come from the texts and the method. `shuffled` keeps
a network's shape and all its numbers, in another order: values that agree with its values were not learned. Neither can
show that an explanation is right, only that it is wrong.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from surefoot import evaluators
from surefoot.evaluate.ask.questions import hashed
from surefoot.run.store import write_text
from surefoot.text.json_values import parsed
from surefoot.types import Grade, Thresholds
from surefoot.types.errors import UsageError
from surefoot.types.protocols import Pair

_SIZES = {1: 4, 2: 1, 3: 1, 10: 2, 11: 8}
"""Bytes of an element of the floating and quantised tensors, by ONNX's type; others hold shapes and positions."""
_GRAPH, _INITIALIZER, _TYPE, _RAW = 7, 5, 2, 9
"""Numbers of fields in ONNX's ModelProto, GraphProto and TensorProto; they never change."""


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

    `model`: the ONNX file. Raises UsageError for any other file.
    """
    data = bytearray(model.read_bytes())
    random, found = np.random.default_rng(seed), 0
    try:
        for start, end, size in _weights(data):
            elements = np.frombuffer(memoryview(data)[start:end], dtype=f"V{size}")
            data[start:end] = random.permutation(elements).tobytes()
            found += 1
    except (IndexError, ValueError) as error:
        raise UsageError(f"{model} is no ONNX model: {error}") from error
    if not found:
        raise UsageError(f"{model} is no ONNX model with weights of its own")
    card = parsed(model.with_suffix(".json").read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / model.name).write_bytes(data)
    write_text(folder / f"{model.stem}.json", json.dumps({**card, "sha256": hashlib.sha256(data).hexdigest()}))
    return folder


def weights(model: str | None) -> Path:
    """The ONNX file of the evaluator `minilm`: that of the folder, or of the package."""
    return Path(model) / "minilm.onnx" if model else Path(evaluators.__file__).with_name("minilm.onnx")


def _weights(data: bytearray) -> Iterator[tuple[int, int, int]]:
    """From and to of each weight tensor's bytes, and the size of an element."""
    for graph in _fields(data, 0, len(data), _GRAPH):
        for start, end in _fields(data, *graph, _INITIALIZER):
            kind = next((value for number, value, _ in _read(data, start, end) if number == _TYPE), 0)
            if size := _SIZES.get(kind):
                yield from ((a, b, size) for a, b in _fields(data, start, end, _RAW) if b - a > size)


def _fields(data: bytearray, start: int, end: int, wanted: int) -> list[tuple[int, int]]:
    return [(value, stop) for number, value, stop in _read(data, start, end) if number == wanted and stop]


def _read(data: bytearray, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The fields of a message in Protocol Buffers' wire format: number, value, 0; or number, from, to."""
    while at < end:
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield number, value, 0
        elif wire == 2:
            length, at = _varint(data, at)
            yield number, at, at + length
            at += length
        elif wire in (1, 5):
            at += 8 if wire == 1 else 4
        else:
            raise ValueError(f"field {number} is of the unknown type {wire}")
    if at != end:
        raise ValueError("it ends in the middle of a field")


def _varint(data: bytearray, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
