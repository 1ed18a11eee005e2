"""The word pieces of all-MiniLM-L6-v2, which its embedder, the static one and Surefoot's own evaluator all read."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def wordpiece() -> Tokenizer:
    """The uncased WordPiece tokeniser, whole texts, no padding; a fresh one each time, since a tokeniser's settings are
    mutable."""
    from tokenizers import Tokenizer  # late: who only wants an embedder's name needs none

    packed = files("surefoot.models").joinpath("wordpiece.json.gz").read_bytes()
    return Tokenizer.from_str(gzip.decompress(packed).decode())


def encodable(texts: Sequence[str]) -> list[str]:
    """The texts without lone surrogates, which a file name or a broken decoder can bring, and no tokeniser takes."""
    return [text.encode("utf-8", "ignore").decode() for text in texts]
