"""The evaluator's network, small."""

import shutil
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")
safetensors = pytest.importorskip("safetensors.torch", reason="needs the extra train")

from surefoot.models.wordpiece import wordpiece  # noqa: E402
from surefoot.types.errors import ConfigError  # noqa: E402
from surefoot_lab.train.network import VOCABULARY, GraderNetwork, pretrained  # noqa: E402


def ids(text: str) -> list[int]:
    return wordpiece().encode(f"[CLS] {text}", add_special_tokens=False).ids


def pair(question: str, text: str, padding: int = 0) -> tuple[Any, Any]:
    """The two sides as the network takes them, with some padding behind."""
    first, second = ids(f"{question} [SEP]"), ids(f"{text} [SEP]")[1:]
    sides = [0] * len(first) + [1] * len(second) + [0] * padding
    return torch.tensor([first + second + [0] * padding]), torch.tensor([sides])


@pytest.fixture(scope="module")
def network() -> Any:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    return GraderNetwork(32, 2, 2).eval()


@pytest.fixture
def bert(tiny_bert: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    return shutil.copytree(tiny_bert, tmp_path / "bert")


def test_padding_changes_nothing(network: Any) -> None:
    """A pair has the same numbers in a longer batch."""
    with torch.no_grad():
        relevance, evidence = network(*pair("who built the bridge", "tomas aldwin built it"))
        padded, longer = network(*pair("who built the bridge", "tomas aldwin built it", padding=9))
    assert torch.allclose(relevance, padded, atol=1e-5)
    assert torch.allclose(evidence, longer[:, : evidence.shape[1]], atol=1e-5)
    assert (relevance.shape, evidence.shape) == ((1,), (1, evidence.shape[1], 2))


def test_pieces_that_both_sides_have_are_marked(network: Any) -> None:
    """On the side that is asked for; not function words, marks and single letters, and not a word that stands twice on
    one side."""
    question = ids("who is the x of the bridge bridge iron ? [SEP]")
    text = ids("the bridge of x is iron hut hut ? [SEP]")[1:]
    both, sides = torch.tensor([question + text]), torch.tensor([[0] * len(question) + [1] * len(text)])
    pieces = wordpiece()
    for side, expected in ((0, ["bridge", "bridge", "iron"]), (1, ["bridge", "iron"])):
        marked = network._shared(both, sides, side)[0, :, 0]
        assert [pieces.id_to_token(int(piece)) for piece in both[0][marked > 0]] == expected


def test_it_computes_what_bert_computes(bert: Path) -> None:
    """The pretrained weights mean what they meant: against transformers, without marks."""
    transformers = pytest.importorskip("transformers", reason="needs the extra transformers")
    config = transformers.BertConfig(
        vocab_size=VOCABULARY, hidden_size=64, num_hidden_layers=1, num_attention_heads=2, intermediate_size=256
    )
    theirs = transformers.BertModel(config, add_pooling_layer=False).eval()
    arguments = safetensors.load_file(str(bert / "model.safetensors"))
    theirs.load_state_dict(
        {name: tensor for name, tensor in arguments.items() if not name.startswith("pooler")}, strict=False
    )
    ours = pretrained(bert).eval()
    tokens, sides = pair("who built the bridge", "tomas aldwin did")
    with torch.no_grad():
        ours.shared.weight.zero_()
        ours.evidence.weight.copy_(torch.eye(64)[:2])
        states = theirs(
            input_ids=tokens, token_type_ids=sides, attention_mask=torch.ones_like(tokens)
        ).last_hidden_state
        _, evidence = ours(tokens, sides)
    assert torch.allclose(evidence, states[:, :, :2], atol=1e-4)


def test_the_seed_draws_the_heads_alone(bert: Path) -> None:
    """The same one the same, in any state of torch's own dice, which stays as it was."""
    torch.manual_seed(5)
    before = torch.get_rng_state()
    one, two, other = (
        pretrained(bert, 3).state_dict(),
        pretrained(bert, 3).state_dict(),
        pretrained(bert, 4).state_dict(),
    )
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(one[name], two[name]) for name in one)
    differing = {name for name in one if not torch.equal(one[name], other[name])}
    assert differing == {"shared.weight", "relevance.weight", "evidence.weight"}


@pytest.mark.parametrize("damage", ["missing", "torn", "foreign"])
def test_weights_that_do_not_fit_are_refused(bert: Path, damage: str) -> None:
    """In one line that names the file."""
    path = bert / "model.safetensors"
    match damage:
        case "missing":
            path.unlink()
        case "torn":
            path.write_bytes(path.read_bytes()[:1000])
        case _:
            safetensors.save_file({"weight": torch.zeros(1)}, str(path))
    with pytest.raises(ConfigError, match=r"model\.safetensors cannot be used: .*; name a folder that holds"):
        pretrained(bert)
