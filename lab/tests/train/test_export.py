"""From the network to what ships, and one network from several trainings."""

import copy
import json
import random
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnxruntime import InferenceSession

torch = pytest.importorskip("torch", reason="needs the extra train")
pytest.importorskip("onnx", reason="needs the extra train")

from surefoot_lab.train.export import average, export, imported  # noqa: E402
from surefoot_lab.train.network import GraderNetwork, restored  # noqa: E402

Pair = tuple[list[list[int]], list[list[int]]]


@pytest.fixture(scope="module")
def network() -> Any:
    """A small one whose scores differ."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    network = GraderNetwork(width=64, heads=2, layers=2)
    with torch.no_grad():
        network.relevance.weight.normal_()
        network.evidence.weight.normal_()
    return network


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    """Forty of random pieces, from 4 to 256 long."""
    chance = random.Random(0)
    lengths = [4, 256, *(chance.randint(5, 120) for _ in range(38))]
    queries = [chance.randint(2, length - 2) for length in lengths]
    rows = [[101, *(chance.randint(1000, 1400) for _ in range(length - 2)), 102] for length in lengths]
    return [([row], [[0] * n + [1] * (len(row) - n)]) for row, n in zip(rows, queries, strict=True)]


def torch_says(network: Any, pairs: list[Pair]) -> list[tuple[float, Any]]:
    with torch.no_grad():
        read = [network.eval()(torch.tensor(ids), torch.tensor(sides)) for ids, sides in pairs]
    return [(float(relevance[0]), evidence.numpy()) for relevance, evidence in read]


def onnx_says(path: Path, pairs: list[Pair]) -> list[tuple[float, Any]]:
    session = InferenceSession(str(path), providers=["CPUExecutionProvider"])
    feeds = [{"ids": np.array(ids, np.int64), "sides": np.array(sides, np.int64)} for ids, sides in pairs]
    return [(float(relevance[0]), evidence) for relevance, evidence in (session.run(None, feed) for feed in feeds)]


def varied(network: Any) -> Any:
    """The exporter writes equal vectors once, and those of a trained network differ."""
    with torch.no_grad():
        for tensor in network.parameters():
            if tensor.ndim == 1:
                tensor.normal_()
    return network


def test_the_plain_export_computes_the_same(network: Any, pairs: list[Pair], tmp_path: Path) -> None:
    """For pairs of any length, but for the rounding of the word vectors."""
    export(network, tmp_path / "plain.onnx", quantised=False)
    for ours, theirs in zip(torch_says(network, pairs), onnx_says(tmp_path / "plain.onnx", pairs), strict=True):
        assert ours[0] == pytest.approx(theirs[0], abs=0.15)
        assert ours[1].shape == theirs[1].shape
        assert np.allclose(ours[1], theirs[1], atol=0.3)


def test_int8_keeps_the_order(network: Any, pairs: list[Pair], tmp_path: Path) -> None:
    """It is a fourth of the size, and scores that lie apart stay so."""
    export(network, tmp_path / "plain.onnx", quantised=False)
    export(network, tmp_path / "int8.onnx")
    ours = np.array([score for score, _ in torch_says(network, pairs)])
    theirs = np.array([score for score, _ in onnx_says(tmp_path / "int8.onnx", pairs)])
    assert np.abs(ours - theirs).max() < 0.1 * (ours.max() - ours.min())
    assert np.corrcoef(ours.argsort().argsort(), theirs.argsort().argsort())[0, 1] > 0.98
    assert (tmp_path / "int8.onnx").stat().st_size < (tmp_path / "plain.onnx").stat().st_size


def test_what_was_there_stays_where_the_export_fails(network: Any, tmp_path: Path) -> None:
    """Half a model is none."""
    (tmp_path / "minilm.onnx").mkdir()
    (tmp_path / "minilm.onnx/earlier").write_text("an earlier one")
    with pytest.raises(OSError, match=r"minilm\.onnx"):
        export(network, tmp_path / "minilm.onnx")
    assert [path.name for path in tmp_path.rglob("*")] == ["minilm.onnx", "earlier"]


def test_what_was_exported_is_read_back(network: Any, tmp_path: Path) -> None:
    """Every tensor under its own name, but for the rounding; what is exported again stays the same to the last bit."""
    network = varied(copy.deepcopy(network))
    export(network, tmp_path / "one.onnx")
    export(imported(tmp_path / "one.onnx"), tmp_path / "two.onnx")
    first, again = (imported(tmp_path / name).state_dict() for name in ("one.onnx", "two.onnx"))
    for name, tensor in network.state_dict().items():
        assert torch.equal(first[name], again[name])
        assert first[name].shape == tensor.shape
        assert (first[name].float() - tensor.float()).abs().max() <= tensor.float().abs().max() / 127


def tiny(seed: int, width: int = 32) -> Any:
    torch.manual_seed(seed)
    return GraderNetwork(width, 2, 2)


def test_the_mean_of_the_weights_is_kept_with_the_hashes_of_what_it_is_of(tmp_path: Path) -> None:
    """A training's last state counts as well as its best."""
    best, last = tmp_path / "best.pt", tmp_path / "checkpoint.pt"
    torch.save(tiny(1).state_dict(), best)
    torch.save({"about": "x", "network": tiny(2).state_dict(), "step": 3}, last)
    made = average([best, last, last], tmp_path / "out", GraderNetwork)
    found, first, second = restored(made, GraderNetwork).state_dict(), tiny(1).state_dict(), tiny(2).state_dict()
    for name, tensor in found.items():
        assert torch.allclose(tensor.float(), (first[name].float() + 2 * second[name]) / 3, atol=1e-6), name
    hashes = [sha256(path.read_bytes()).hexdigest() for path in (best, last, last)]
    assert json.loads((tmp_path / "out/made.json").read_text()) == {"average": hashes}


def test_an_evaluator_that_runs_can_be_one_of_them(tmp_path: Path) -> None:
    """Its int8 weights are read back, so that what a training started from is part of the mean."""
    torch.save(tiny(1).state_dict(), tmp_path / "best.pt")
    export(varied(tiny(2)), tmp_path / "minilm.onnx")
    made = average([tmp_path / "best.pt", tmp_path / "minilm.onnx"], tmp_path / "out", GraderNetwork)
    found = restored(made, GraderNetwork).state_dict()
    first, second = tiny(1).state_dict(), imported(tmp_path / "minilm.onnx").state_dict()
    for name, tensor in found.items():
        assert torch.allclose(tensor.float(), (first[name].float() + second[name].float()) / 2, atol=1e-6), name
