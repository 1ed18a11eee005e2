"""Sentence encoders of Hugging Face, on BERTs of two layers."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra transformers")
transformers = pytest.importorskip("transformers", reason="needs the extra transformers")

from huggingface_hub.errors import LocalEntryNotFoundError  # noqa: E402

from surefoot.contracts import verify  # noqa: E402
from surefoot.embedders.transformers import TransformersEmbedder  # noqa: E402
from surefoot.models import checkpoint  # noqa: E402
from surefoot.network import Network  # noqa: E402
from surefoot.types.errors import ConfigError, ModelError, NetworkError  # noqa: E402

TEXT = "tomas aldwin built the iron bridge ."


@pytest.fixture(scope="module")
def bare(tiny_cross_encoder: Callable[..., Path]) -> Path:
    """An encoder that says nothing of its pooling."""
    return tiny_cross_encoder(cls="BertModel")


@pytest.fixture
def folder(bare: Path, tmp_path: Path) -> Path:
    """A copy, for files beside it."""
    return Path(shutil.copytree(bare, tmp_path / "encoder"))


def write(folder: Path, file: str, values: Any) -> Path:
    path = folder / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(values))
    return folder


def states(folder: Path, text: str) -> Any:
    """The last states of one text through transformers alone."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        found = transformers.AutoModel.from_pretrained(folder).eval()(**tokenizer(text, return_tensors="pt"))
    return found.last_hidden_state[0].numpy()


def unit(row: Any) -> Any:
    return row / np.linalg.norm(row)


def test_it_keeps_the_contract(bare: Path) -> None:
    """With either pooling."""
    for pooling in ("mean", "cls"):
        verify("embedder", TransformersEmbedder(str(bare), pooling, device="cpu"))


def test_a_row_is_the_mean_or_the_first_of_the_states(bare: Path) -> None:
    """At length 1, as transformers alone computes them."""
    for pooling, expected in (("mean", states(bare, TEXT).mean(0)), ("cls", states(bare, TEXT)[0])):
        (row,) = TransformersEmbedder(str(bare), pooling, device="cpu").embed([TEXT])
        np.testing.assert_allclose(row, unit(expected), atol=1e-5)


@pytest.mark.parametrize(("key", "pooling"), [("pooling_mode_cls_token", "cls"), ("pooling_mode_mean_tokens", "mean")])
def test_the_models_own_pooling_is_taken(folder: Path, key: str, pooling: str) -> None:
    """As sentence-transformers writes it."""
    write(folder, "1_Pooling/config.json", {"word_embedding_dimension": 16, "pooling_mode_lasttoken": False, key: True})
    kinds = ["models.Transformer", "models.Pooling", "models.Normalize"]
    write(folder, "modules.json", [{"type": f"sentence_transformers.{kind}"} for kind in kinds])
    told, given = (TransformersEmbedder(str(folder), given, device="cpu") for given in (None, pooling))
    assert told.name == given.name
    np.testing.assert_array_equal(told.embed([TEXT]), given.embed([TEXT]))


@pytest.mark.parametrize(
    ("file", "values", "what"),
    [
        ("README.md", {}, "does not say how it pools"),
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}, "pools by pooling_mode_max_tokens"),
        (
            "1_Pooling/config.json",
            {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True},
            "pools by cls and mean",
        ),
        ("modules.json", [{"type": "sentence_transformers.models.Dense"}], "a module 'Dense' behind its encoder"),
    ],
)
def test_a_form_that_is_not_known_is_refused(folder: Path, file: str, values: Any, what: str) -> None:
    """Another vector than the model's would find other passages, and nobody would notice."""
    with pytest.raises(ConfigError, match=what):
        TransformersEmbedder(str(write(folder, file, values)), device="cpu")


def test_a_file_that_the_hub_does_not_give_is_not_taken_for_none(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it a model's prefixes would be left out in silence; one that the hub does not have is none."""
    monkeypatch.delenv("SUREFOOT_OFFLINE", raising=False)
    monkeypatch.setattr(checkpoint, "_here", lambda _: str(bare))
    for failure in (LocalEntryNotFoundError("no connection"), OSError("no connection")):
        monkeypatch.setattr(checkpoint, "hf_hub_download", Mock(side_effect=failure))
        with pytest.raises(ModelError, match="cannot be read: no connection"):
            checkpoint.beside("nobody/nothing", "modules.json")
    with pytest.raises(NetworkError):
        checkpoint.beside("nobody/nothing", "modules.json", Network(allow=[]))
    monkeypatch.setattr(checkpoint, "try_to_load_from_cache", lambda *_: object())
    assert checkpoint.beside("nobody/nothing", "modules.json") is None


def test_prefixes_are_the_models_own_unless_others_are_given(folder: Path) -> None:
    """Questions and passages have each theirs."""
    plain = TransformersEmbedder(str(folder), "mean", device="cpu")
    write(folder, "config_sentence_transformers.json", {"prompts": {"query": "who ", "document": "iron ", "x": 7}})
    own = TransformersEmbedder(str(folder), "mean", device="cpu")
    np.testing.assert_array_equal(own.embed(["bridge"]), plain.embed(["iron bridge"]))
    np.testing.assert_array_equal(own.embed_questions(["bridge"]), plain.embed_questions(["who bridge"]))
    given = TransformersEmbedder(str(folder), "mean", "", "", device="cpu")
    assert given.name == plain.name != own.name


def test_pieces_beyond_the_models_positions_are_not_read(bare: Path) -> None:
    """Whatever `max_pieces` says: it has 64 positions."""
    embedder = TransformersEmbedder(str(bare), "mean", max_pieces=512, device="cpu")
    head = "iron " * 62
    np.testing.assert_array_equal(embedder.embed([head + "cheese"]), embedder.embed([head]))


def test_an_encoder_without_weights_is_refused(folder: Path) -> None:
    """Its vectors would be drawn at random."""
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    kept = {name: tensor for name, tensor in weights.items() if "layer.1" not in name}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match="is no trained encoder"):
        TransformersEmbedder(str(folder), "mean", device="cpu")
