"""One network from several trainings."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")


from surefoot_lab.train.export import average, export, imported  # noqa: E402
from surefoot_lab.train.network import GraderNetwork, restored  # noqa: E402


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
    shipped = tiny(2)
    with torch.no_grad():
        for tensor in shipped.parameters():
            if tensor.ndim == 1:  # as in `test_export`: the exporter writes equal ones once
                tensor.normal_()
    export(shipped, tmp_path / "minilm.onnx")
    made = average([tmp_path / "best.pt", tmp_path / "minilm.onnx"], tmp_path / "out", GraderNetwork)
    found = restored(made, GraderNetwork).state_dict()
    first, second = tiny(1).state_dict(), imported(tmp_path / "minilm.onnx").state_dict()
    for name, tensor in found.items():
        assert torch.allclose(tensor.float(), (first[name].float() + second[name].float()) / 2, atol=1e-6), name
