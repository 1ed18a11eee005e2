"""Shared parts of the package's own cross-encoders: the input marks, the tokeniser, files and runs."""

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
from onnxruntime import InferenceSession, SessionOptions
from onnxruntime.capi import onnxruntime_pybind11_state as ort
from tokenizers import Encoding, Tokenizer

from surefoot.models.wordpiece import wordpiece
from surefoot.run.fair_pool import FairPool
from surefoot.run.manifest import cores
from surefoot.stats.calibration import Calibration
from surefoot.text.json_values import parsed
from surefoot.text.words import encodable
from surefoot.types.errors import ConfigError, ModelError, on_one_line

Logits = npt.NDArray[np.float32]

FORMAT = 1  # version of the JSON file beside a model

CLS, SEP = 101, 102
FAULTS = (
    ort.Fail,
    ort.InvalidArgument,
    ort.InvalidGraph,
    ort.InvalidProtobuf,
    ort.NotImplemented,
    ort.RuntimeException,
)
"""onnxruntime's errors for a model that is damaged, foreign or of another shape."""


def tokenizer() -> Tokenizer:
    """The tokeniser, for which a "[SEP]" that stands in a text is text: as a mark it would end the passage there."""
    found = wordpiece()
    found.encode_special_tokens = True
    return found


def encoded(reader: Tokenizer, triples: Iterable[Sequence[str]]) -> Iterator[tuple[Encoding, Encoding, Encoding]]:
    """The encodings of each triple's three texts, without marks; nothing of a text is cut."""
    parts = iter(
        reader.encode_batch([encodable(text) for triple in triples for text in triple], add_special_tokens=False)
    )
    return zip(parts, parts, parts, strict=True)


def in_latin_script(text: str) -> bool:
    """False where more than half of the letters among the first 1,000 characters are of another script."""
    letters = [] if text.isascii() else [c for c in text[:1000] if c.isalpha()]
    return sum(c.isascii() or unicodedata.name(c, "").startswith("LATIN") for c in letters) >= len(letters) / 2


class LoadedModel:
    """The model `minilm.onnx` of a folder, and minilm.json, the card with what was fitted for it.

    The model is loaded when it is first wanted, and the threads of `pool` run it side by side, a text each. `role` is
    "evaluator" or "verifier". `threads` None: one for each core that this process may use.
    """

    def __init__(self, folder: Path, role: str, threads: int | None) -> None:
        self._path, self._role = folder / "minilm.onnx", role
        self.pool = FairPool(threads or cores(), role)
        self._loading = Lock()
        with self.card() as content:
            self._sha256: str = content["sha256"]
            self.name = f"minilm-{self._sha256[:8]}"
            fitted = content["calibration"]
            self.calibration = Calibration(tuple(fitted["logits"]), tuple(fitted["probabilities"]))

    @contextmanager
    def card(self) -> Iterator[dict[str, Any]]:
        """The card's content; what is missing or wrong in it is a ModelError."""
        path = self._path.with_suffix(".json")
        try:
            content = parsed(path.read_text(encoding="utf-8"))
            if content["format"] != FORMAT:
                raise self._broken(f"{path} is of format {content['format']}, and this version reads {FORMAT}")
            yield content
        except (OSError, ValueError, TypeError, ConfigError) as error:
            raise self._broken(f"{path}, which belongs to the {self._role}'s model, cannot be read: {error}") from error
        except KeyError as error:
            raise self._broken(f"{path}, the card of the {self._role}'s model, has no {error}") from error

    def loaded(self) -> tuple[InferenceSession, Tokenizer]:
        """The model and its tokeniser. Raises ModelError where the model does not load."""
        with self._loading:  # once, however many threads ask first
            return self._loaded

    @cached_property
    def _loaded(self) -> tuple[InferenceSession, Tokenizer]:
        """The model, on one thread, and its tokeniser."""
        options, card = SessionOptions(), self._path.with_suffix(".json").name
        options.intra_op_num_threads = 1
        try:
            data = self._path.read_bytes()
            if hashlib.sha256(data).hexdigest() != self._sha256:
                raise self._broken(f"the {self._role}'s model {self._path} is not the one that {card} was made for")
            # Sums and norms take 8 % less time one after the other than in onnxruntime's fused operator.
            skipped = ["SkipLayerNormFusion"]
            session = InferenceSession(data, options, providers=["CPUExecutionProvider"], disabled_optimizers=skipped)
        except (OSError, *FAULTS) as error:
            raise self._broken(f"the {self._role}'s model {self._path} does not load: {on_one_line(error)}") from error
        return session, tokenizer()

    def run(self, ids: list[int], sides: list[int]) -> tuple[Logits, Logits]:
        """The outputs of both heads for one text: (1,), and (1, pieces, outputs). Raises ModelError for a bad model."""
        feed = {"ids": np.array([ids], np.int64), "sides": np.array([sides], np.int64)}
        try:
            first, second = self.loaded()[0].run(None, feed)
        except (*FAULTS, ValueError) as error:
            raise self._broken(f"the {self._role}'s model {self._path} does not run: {on_one_line(error)}") from error
        return first, second

    def _broken(self, message: str) -> ModelError:
        """The error for one of the two files, with what to do."""
        return ModelError(f"{message}; reinstall surefoot, or train again: surefoot lab train {self._role}")
