"""Exports the trained network as it ships, one ONNX file with int8 weights and its card, and reads such a file back;
makes one network of several trainings.

Word vectors are rounded row by row, and the layers' matrices column by column. Their inputs are rounded at run time, by
the text's largest activation (onnxruntime's dynamic quantisation), so a run takes one text: a second would change that.
"""

import json
import os
import re
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import onnx
import torch
from google.protobuf.message import DecodeError
from onnx import numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn

from surefoot.models.cross_encoder import FORMAT
from surefoot.run.manifest import fingerprint
from surefoot.run.store import write_text
from surefoot.stats.calibration import Calibration
from surefoot.text.json_values import parsed
from surefoot.types.errors import ModelError
from surefoot_lab.train.loop import MADE, claimed, keep, saved
from surefoot_lab.train.network import GraderNetwork, restored, shaped

UNFITTED = Calibration((0.0,), (0.5,))
"""For a first card, with which the network runs while its calibration is fitted."""


class Shipped(nn.Module):
    """The network as it is run: without padding, and with word vectors in int8, a scale a row."""

    rows: Tensor
    scales: Tensor

    def __init__(self, network: GraderNetwork) -> None:
        super().__init__()
        self.network = network
        table = network.word.weight.detach()
        scales = table.abs().amax(1, keepdim=True).clamp(min=1e-12) / 127
        self.register_buffer("rows", (table / scales).round().to(torch.int8))
        self.register_buffer("scales", scales)

    def forward(self, ids: Tensor, sides: Tensor) -> tuple[Tensor, Tensor]:
        """As `GraderNetwork.forward`."""
        return self.network.read(ids, sides, self.rows[ids].float() * self.scales[ids], None)


def export(network: GraderNetwork, path: Path, quantised: bool = True) -> None:
    """Write the network, which must be on the CPU, as an ONNX file, whole or not at all.

    Inputs `ids` and `sides`, (1, pieces); outputs `relevance`, (1,), and `evidence`, (1, pieces, 2). `quantised` False
    leaves the layers in float32.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        made = Path(folder) / "float.onnx"
        _traced(Shipped(network.eval()), made)
        if quantised:
            plain, made = made, Path(folder) / "int8.onnx"
            matrices = ["MatMul", "Gemm"]
            quantize_dynamic(plain, made, per_channel=True, weight_type=QuantType.QInt8, op_types_to_quantize=matrices)
        os.replace(made, path)


def _traced(shipped: Shipped, path: Path) -> None:
    ids = torch.tensor([[101, 2040, 2003, 2009, 102, 2009, 2003, 1037, 3231, 102]])
    sides = torch.tensor([[0] * 5 + [1] * 5])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the old exporter says that it is old; the new one needs onnxscript
        torch.onnx.export(
            shipped,
            (ids, sides),
            str(path),
            input_names=["ids", "sides"],
            output_names=["relevance", "evidence"],
            dynamic_axes={"ids": {1: "pieces"}, "sides": {1: "pieces"}, "evidence": {1: "pieces"}},
            opset_version=17,
            dynamo=False,
        )


def imported(path: Path) -> GraderNetwork:
    """The network of a file that `export` wrote, in float32: what rounding lost stays lost.

    The same file gives the same weights to the last bit. Raises ModelError for any other file.
    """
    try:
        return shaped(_weights(onnx.load(str(path)).graph), GraderNetwork)
    except (OSError, DecodeError, KeyError, ValueError, RuntimeError) as error:
        raise ModelError(f"{path} holds no exported evaluator; give the minilm.onnx of one") from error


def _weights(graph: onnx.GraphProto) -> dict[str, Tensor]:
    """The tensors by the names that they have in the network.

    A matrix lost its own name, but its product is still named by the layer; the marks of shared pieces are the only
    constants of one row that something is multiplied by.
    """
    held = {one.name: torch.from_numpy(numpy_helper.to_array(one).copy()) for one in graph.initializer}
    found = {"word.weight": held["rows"].float() * held["scales"]}
    found |= {name.removeprefix("network."): held[name] for name in held if re.fullmatch(_KEPT, name)}
    marks = []
    for node in graph.node:
        if node.op_type == "MatMulInteger" and (name := node.input[1]) in held:
            matrix = held[name].float() * held[name.replace("_quantized", "_scale")]
            found[node.name.strip("/").rpartition("/")[0].replace("/", ".") + ".weight"] = matrix.T.contiguous()
        elif node.op_type == "Mul":
            marks += [(name, held[name]) for name in node.input if name in held and name.startswith("onnx::Mul")]
    found["shared.weight"] = torch.stack([mark for _, mark in sorted(marks, key=lambda pair: pair[0])])
    return found


_KEPT = r"network\.(?:comparable|.*\.(?:weight|bias))"
"""Names of the tensors that keep theirs in a file."""


def write_card(work: Path, own: dict[str, Any], fitted: Calibration, best: Path | None = None) -> None:
    """Write `minilm.json` with the hash of the `minilm.onnx` beside it, `own` and the calibration.

    `best`: the weights that the network is of; if their training left its `made.json` beside them, the card holds it.
    """
    card: dict[str, Any] = {
        "format": FORMAT,
        "sha256": fingerprint(work / "minilm.onnx"),
        **own,
        "calibration": {"logits": fitted.scores, "probabilities": fitted.probabilities},
    }
    if best and (origin := best.with_name(MADE)).exists():
        card["made"] = parsed(origin.read_text(encoding="utf-8"))
    write_text(work / "minilm.json", json.dumps(card, indent=1) + "\n")


def average(paths: Sequence[Path], folder: Path, kind: type[GraderNetwork]) -> Path:
    """Write the mean of these weights to `best.pt` in the folder, their hashes to `made.json`; returns the former path.

    Trainings that begin at the same weights mostly end in the same valley of the loss. Its middle is often better than
    each of them, and costs no more to run (Wortsman et al. 2022, "model soups"). Each path is a `best.pt`, a
    `checkpoint.pt` for the last weights of a training, or an evaluator's `minilm.onnx`; all count the same, and one
    that is given twice counts twice. Raises ModelError for another file, for weights of another shape than the first,
    and for those of another `kind`.
    """
    read = [_trained(path) for path in paths]
    shapes = [{name: tensor.shape for name, tensor in weights.items()} for weights in read]
    if odd := [path for path, shape in zip(paths, shapes, strict=True) if shape != shapes[0]]:
        raise ModelError(f"{odd[0]} is of another shape than {paths[0]}; only trainings of one network can be averaged")
    mean = {
        name: (sum(weights[name].float() for weights in read) / len(read)).to(tensor.dtype)
        for name, tensor in read[0].items()
    }
    with claimed(folder):
        keep(folder / "best.pt", mean)
        write_text(folder / MADE, json.dumps({"average": [fingerprint(path) for path in paths]}, indent=1) + "\n")
    restored(folder / "best.pt", kind)
    return folder / "best.pt"


def _trained(path: Path) -> dict[str, torch.Tensor]:
    if path.suffix == ".onnx":
        return dict(imported(path).state_dict())
    found: Any = saved(path)
    weights: dict[str, Any] | None = found.get("network", found) if isinstance(found, dict) else None
    if not weights or not all(isinstance(tensor, torch.Tensor) for tensor in weights.values()):
        raise ModelError(f"{path} holds no weights of a training; give the best.pt or the checkpoint.pt of a training")
    return weights
