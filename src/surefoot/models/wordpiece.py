"""The word pieces of all-MiniLM-L6-v2, shared by its embedder, the static one and Surefoot's own evaluator."""

from __future__ import annotations

import gzip
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def wordpiece() -> Tokenizer:
    """A fresh uncased WordPiece tokeniser, since its settings are mutable; it neither cuts nor pads."""
    from tokenizers import Tokenizer  # late: who only wants an embedder's name needs none

    packed = files("surefoot.models").joinpath("wordpiece.json.gz").read_bytes()
    return Tokenizer.from_str(gzip.decompress(packed).decode())
