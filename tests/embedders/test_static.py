"""The static embedding that ships with the package."""

import pytest

from surefoot.embedders.static import Static
from surefoot.types.protocols import Embedder


@pytest.fixture(scope="module")
def static() -> Static:
    return Static()


def test_it_is_an_embedder_named_after_its_weights(static: Static) -> None:
    """The name carries dimensions, version and a hash of the weights, so that new weights are another embedder."""
    assert isinstance(static, Embedder)
    kind, dimensions, version, digest = static.name.split("-")
    assert (kind, int(dimensions), version, len(digest)) == ("static", static.dimensions, "v1", 8)


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
