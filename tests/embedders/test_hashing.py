"""The hashing embedder."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from surefoot.embedders.hashing import Hashing
from surefoot.types.protocols import Embedder


@given(st.lists(st.text(max_size=30), max_size=5))
def test_rows_have_length_one_or_zero_and_depend_on_their_text_only(texts):
    """What every embedder promises."""
    rows = Hashing().embed(texts)
    assert rows.shape == (len(texts), 256)
    assert rows.dtype == np.float32
    assert all(length == pytest.approx(1, abs=1e-5) or length == 0 for length in np.linalg.norm(rows, axis=1))
    for text, row in zip(texts, rows, strict=True):
        assert (Hashing().embed([text])[0] == row).all()


def test_texts_that_share_words_are_nearer():
    """Whatever their case."""
    hut, same, other = Hashing().embed(["The hut has beds", "THE HUT", "A glacier melts"])
    assert hut @ same > hut @ other
    assert isinstance(Hashing(), Embedder)
