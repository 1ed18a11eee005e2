"""The transformer embedder; its model is pulled, not shipped."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from surefoot.contracts import verify
from surefoot.embedders.minilm import MiniLMEmbedder
from surefoot.models import registry
from surefoot.types.errors import ModelError


@pytest.fixture(scope="module")
def minilm() -> MiniLMEmbedder:
    try:
        registry.path("minilm-int8")
    except ModelError as error:
        pytest.skip(str(error))
    return MiniLMEmbedder(threads=2)


@pytest.mark.slow
def test_it_keeps_the_contract_on_any_number_of_threads(minilm: MiniLMEmbedder) -> None:
    """A text gets the same vector to the last bit; the name has the start of the model file's sha256."""
    verify("embedder", minilm)
    assert minilm.name == f"minilm-int8-{registry.REGISTRY['minilm-int8'].sha256[:8]}"
    texts = ["a short one", "a much longer one, " * 40, "Where is the hut?"]
    assert MiniLMEmbedder(threads=1).embed(texts).tobytes() == minilm.embed(texts).tobytes()


@pytest.mark.slow
def test_the_end_of_a_long_text_is_not_seen(minilm: MiniLMEmbedder) -> None:
    """What lies beyond 256 pieces does not change the vector."""
    start = "mountain " * 254
    one, other = minilm.embed([start + "hut", start + "glacier"])
    assert one.tobytes() == other.tobytes()


@pytest.mark.slow
def test_likeness_of_meaning_is_nearness(minilm: MiniLMEmbedder) -> None:
    """A question is nearer to its answer, in other words, than to a text that shares its words."""
    question, answer, other = minilm.embed(
        ["How tall is the tower?", "The building rises 300 metres.", "How tall are your children?"]
    )
    assert question @ answer > question @ other


def test_a_damaged_model_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of the right size, and one that is the known one but no model, become a ModelError with the command."""
    model = registry.REGISTRY["minilm-int8"]
    monkeypatch.setenv("SUREFOOT_MODELS", str(tmp_path))
    monkeypatch.setenv("SUREFOOT_OFFLINE", "1")
    with (tmp_path / model.file).open("wb") as file:
        file.truncate(model.size)
    with pytest.raises(ModelError, match=r"damaged .*surefoot models pull minilm-int8"):
        MiniLMEmbedder()
    junk = replace(model, size=4, sha256=hashlib.sha256(b"junk").hexdigest())
    monkeypatch.setitem(registry.REGISTRY, model.name, junk)
    (tmp_path / model.file).write_bytes(b"junk")
    with pytest.raises(ModelError, match=r"does not load.*surefoot models pull minilm-int8"):
        MiniLMEmbedder()
