"""What the package's own cross-encoders share: the marks of their input, the tokeniser, and onnxruntime's session."""

from __future__ import annotations

import hashlib
from pathlib import Path

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

from surefoot.errors import ModelError, on_one_line
from surefoot.models.wordpiece import wordpiece

CLS, SEP = 101, 102
FAULTS = (Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, NotImplemented, RuntimeException)
"""onnxruntime's errors for a model that is damaged, foreign or of another shape."""


def tokenizer() -> Tokenizer:
    """The tokeniser, for which a "[SEP]" that stands in a text is text: as a mark it would end the passage there."""
    found = wordpiece()
    found.encode_special_tokens = True
    return found


def session(path: Path, sha256: str, role: str, way_out: str) -> InferenceSession:
    """The model, on one thread. Raises ModelError, with `role` and `way_out`, for one that is damaged or another."""
    options = SessionOptions()
    options.intra_op_num_threads = 1
    try:
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != sha256:
            raise ModelError(f"the {role}'s model {path} is not the one that {path.stem}.json was made for; {way_out}")
        # Sums and norms take 8 % less time one after the other than in onnxruntime's fused operator.
        skipped = ["SkipLayerNormFusion"]
        return InferenceSession(data, options, providers=["CPUExecutionProvider"], disabled_optimizers=skipped)
    except (OSError, *FAULTS) as error:
        raise ModelError(f"the {role}'s model {path} does not load: {on_one_line(error)}; {way_out}") from error
