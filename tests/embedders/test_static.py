"""The static embedding that ships with the package."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from surefoot.embedders.static import Static
from surefoot.types.protocols import Embedder


@pytest.fixture(scope="module")
def static() -> Static:
    return Static()


texts = st.lists(
    st.text(max_size=60) | st.sampled_from(["the hut", "Anna Tresk, botanist", "", "café № 5"]), max_size=12
)


def test_it_is_an_embedder_named_after_its_weights(static: Static) -> None:
    """The name carries dimensions, version and a hash of the weights, so that new weights are another embedder."""
    assert isinstance(static, Embedder)
    kind, dimensions, version, digest = static.name.split("-")
    assert (kind, int(dimensions), version, len(digest)) == ("static", static.dimensions, "v1", 8)


@given(texts=texts, data=st.data())
def test_a_row_depends_on_its_text_only(static: Static, texts: list[str], data: st.DataObject) -> None:
    """Shuffled, or alone, a text gets the same vector to the last bit."""
    shuffled = data.draw(st.permutations(texts))
    rows = {text: row.tobytes() for text, row in zip(texts, static.embed(texts), strict=True)}
    assert all(rows[t] == row.tobytes() for t, row in zip(shuffled, static.embed(shuffled), strict=True))
    assert all(rows[t] == static.embed([t])[0].tobytes() for t in texts)


@pytest.mark.parametrize(
    ("one", "like", "unlike"),
    [
        ("Who wrote the novel?", "The author of the book", "The price of copper fell"),
        ("a doctor treats patients", "the physician works in a hospital", "the train leaves the station"),
        ("When was the bridge built?", "Construction of the crossing ended in 1932.", "Cats sleep most of the day."),
        ("capital of France", "Paris is the largest French city", "Photosynthesis needs light"),
    ],
)
def test_likeness_of_meaning_is_nearness(static: Static, one: str, like: str, unlike: str) -> None:
    """A text that says something related in other words is nearer than one about something else."""
    question, near, far = static.embed([one, like, unlike])
    assert question @ near > question @ far + 0.1
