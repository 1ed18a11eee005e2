"""What the package's own cross-encoders share: the marks of their input, the tokeniser, their files and their runs."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from onnxruntime import InferenceSession, SessionOptions
from onnxruntime.capi.onnxruntime_pybind11_state import (
    Fail,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    NotImplemented,
    RuntimeException,
)
from tokenizers import Tokenizer

from surefoot.errors import ConfigError, ModelError, on_one_line
from surefoot.models.wordpiece import wordpiece
from surefoot.stats.calibration import Calibration
from surefoot.text.json_values import parsed

T = TypeVar("T")
Logits = npt.NDArray[np.float32]

FORMAT = 1
"""Version of the JSON file beside a model."""

CLS, SEP = 101, 102
FAULTS = (Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, NotImplemented, RuntimeException)
"""onnxruntime's errors for a model that is damaged, foreign or of another shape."""


def tokenizer() -> Tokenizer:
    """The tokeniser, for which a "[SEP]" that stands in a text is text: as a mark it would end the passage there."""
    found = wordpiece()
    found.encode_special_tokens = True
    return found


def readable(text: str) -> str:
    """The text as a tokeniser takes it: one "?" in the place of half a surrogate pair keeps the offsets."""
    return text.encode("utf-8", "replace").decode()


def in_latin_script(text: str) -> bool:
    """False where more than half of the letters among the first 1,000 characters are of another script."""
    letters = [] if text.isascii() else [c for c in text[:1000] if c.isalpha()]
    return sum(c.isascii() or unicodedata.name(c, "").startswith("LATIN") for c in letters) >= len(letters) / 2


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model, and beside it the card of the same name: the JSON file with what was fitted for it."""

    path: Path
    """Of the model."""
    role: str
    """"evaluator" or "verifier"."""

    def card(self, made: Callable[[dict[str, Any], Calibration], T]) -> T:
        """What `made` makes of the card's content and its calibration. Raises ModelError for a card that is missing,
        damaged, or of another format."""
        path = self.path.with_suffix(".json")
        try:
            told = parsed(path.read_text(encoding="utf-8"))
            if told["format"] != FORMAT:
                raise self._broken(f"{path} is of format {told['format']}, and this version reads {FORMAT}")
            fitted = told["calibration"]
            return made(told, Calibration(tuple(fitted["logits"]), tuple(fitted["probabilities"])))
        except (OSError, ValueError, TypeError, ConfigError) as error:
            raise self._broken(f"{path}, which belongs to the {self.role}'s model, cannot be read: {error}") from error
        except KeyError as error:
            raise self._broken(f"{path}, the card of the {self.role}'s model, has no {error}") from error

    def session(self, sha256: str) -> InferenceSession:
        """The model, on one thread. Raises ModelError for one that is damaged, or not the one with this hash."""
        options, card = SessionOptions(), self.path.with_suffix(".json").name
        options.intra_op_num_threads = 1
        try:
            data = self.path.read_bytes()
            if hashlib.sha256(data).hexdigest() != sha256:
                raise self._broken(f"the {self.role}'s model {self.path} is not the one that {card} was made for")
            # Sums and norms take 8 % less time one after the other than in onnxruntime's fused operator.
            skipped = ["SkipLayerNormFusion"]
            return InferenceSession(data, options, providers=["CPUExecutionProvider"], disabled_optimizers=skipped)
        except (OSError, *FAULTS) as error:
            raise self._broken(f"the {self.role}'s model {self.path} does not load: {on_one_line(error)}") from error

    def run(self, model: InferenceSession, ids: list[int], sides: list[int]) -> tuple[Logits, Logits]:
        """The outputs of both heads for one text: (1,), and (1, pieces, outputs). Raises ModelError for a model with
        other inputs or outputs."""
        feed = {"ids": np.array([ids], np.int64), "sides": np.array([sides], np.int64)}
        try:
            first, second = model.run(None, feed)
        except (*FAULTS, ValueError) as error:
            raise self._broken(f"the {self.role}'s model {self.path} does not run: {on_one_line(error)}") from error
        return first, second

    def _broken(self, said: str) -> ModelError:
        return ModelError(f"{said}; reinstall surefoot, or train again: surefoot train {self.role}")
