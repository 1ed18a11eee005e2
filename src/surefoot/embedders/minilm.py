"""all-MiniLM-L6-v2 with int8 weights, through onnxruntime."""

import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from onnxruntime import InferenceSession, SessionOptions
from tokenizers import Encoding

from surefoot.models import fetch
from surefoot.models.cross_encoder import FAULTS
from surefoot.models.wordpiece import wordpiece
from surefoot.network import Network
from surefoot.text.words import encodable
from surefoot.types.errors import ModelError, on_one_line
from surefoot.types.protocols import Matrix

MAX_PIECES = 256  # the pieces that the model was trained to read; it does not see the rest of a longer text


class MiniLMEmbedder:
    """Sentence embedding by a six-layer transformer: mean of the token vectors, 384 dimensions.

    One run a text: the int8 kernels scale a whole batch by its largest activation, so in a batch a row would depend on
    its neighbours. `threads` texts run side by side; None: one for each core. `network` is what the model is fetched
    over, where it is not here; None: one without restrictions.
    """

    dimensions = 384

    def __init__(self, threads: int | None = None, network: Network | None = None) -> None:
        path = fetch.ensure("minilm-int8", network)
        data, options = path.read_bytes(), SessionOptions()
        options.intra_op_num_threads = 1
        try:
            self._session = InferenceSession(data, options, providers=["CPUExecutionProvider"])
        except FAULTS as error:
            remedy = "run: surefoot models pull minilm-int8"
            raise ModelError(f"the MiniLM model {path} does not load: {on_one_line(error)}; {remedy}") from error
        self._tokenizer = wordpiece()
        self._tokenizer.enable_truncation(MAX_PIECES)
        self._threads = threads or os.cpu_count() or 1
        self.name = f"minilm-int8-{hashlib.sha256(data).hexdigest()[:8]}"

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Rows of length 1, row i from text i only; 0 for a text without words. Some 40 passages a second and core."""
        encodings = self._tokenizer.encode_batch([*map(encodable, texts)])
        with ThreadPoolExecutor(self._threads) as pool:
            rows = list(pool.map(self._row, encodings))
        return np.array(rows, np.float32).reshape(len(texts), self.dimensions)

    def _row(self, encoding: Encoding) -> Matrix:
        if len(encoding.ids) <= 2:  # only the marks of begin and end
            return np.zeros(self.dimensions, np.float32)
        ids = np.array([encoding.ids], np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        mean: Matrix = self._session.run(None, inputs)[0][0].mean(axis=0)
        return mean / np.linalg.norm(mean)
