"""What holds for all tests."""

import gc
import hashlib
import json
import os
import string
from collections.abc import Callable, Iterator
from pathlib import Path

# Before numpy is imported: on a busy machine the threads of its linear algebra wait for each other, and a test of
# small matrices took 115 s instead of 8.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Before haystack is imported, one of the clients: it would report home from a thread of its own, in the middle of tests
# that see whether anything is reached for.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

import pytest
from hypothesis import settings

from faults import PLANTED, spelled
from shelf import pipeline as pipeline

# A collection that begins at the limit of recursion, where texts that nest without end are refused, cannot call what
# waits for an object's end, and pytest blames the test. Collected a hundred times less often, that does not happen.
gc.set_threshold(100_000)

# A busy machine is no reason to fail, and what fails in CI must fail again at home.
settings.register_profile("surefoot", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("surefoot")


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_written_into_the_home_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What a user agreed to is neither read nor changed, also by the programs that a test starts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_file_holds_a_key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Of all that the tests have written, whichever they were; each key of theirs is PLANTED in part."""
    yield
    files = [path for path in tmp_path_factory.getbasetemp().rglob("*") if path.is_file() and os.access(path, os.R_OK)]
    wanted = spelled(PLANTED)
    assert [path for path in files if (held := path.read_bytes()) and any(key in held for key in wanted)] == []


@pytest.fixture(scope="session")
def tiny_t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a T5 evaluator of two layers and random weights, and a tokeniser of words and letters."""
    torch = pytest.importorskip("torch", reason="needs the extra transformers")
    transformers = pytest.importorskip("transformers", reason="needs the extra transformers")
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    words = [f"▁{word}" for word in "who built the ruvel bridge tomas aldwin iron hut of is keeper Josef".split()]
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", -20.0)]
    pieces += [(word, -3.0) for word in words] + [(letter, -6.0) for letter in "▁" + string.printable[:94]]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=2))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.post_processor = processors.TemplateProcessing(single=["$A", "</s>"], special_tokens=[("</s>", 1)])
    config = transformers.T5Config(
        vocab_size=len(pieces), d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, decoder_start_token_id=0
    )
    torch.set_num_threads(1)
    torch.manual_seed(1)
    config.num_labels = 1
    model = transformers.T5ForSequenceClassification(config)
    torch.nn.init.normal_(model.classification_head.dense.weight)
    torch.nn.init.normal_(model.classification_head.out_proj.weight)  # else all scores lie within 0.01 of each other
    folder = tmp_path_factory.mktemp("t5")
    model.save_pretrained(folder)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    ).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Writes a cross-encoder of two layers and random weights, for at most 64 pieces, and gives its folder."""
    torch = pytest.importorskip("torch", reason="needs the extra transformers")
    transformers = pytest.importorskip("transformers", reason="needs the extra transformers")
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    words = "who built the ruvel bridge tomas aldwin iron hut of is keeper josef cheese add flour and eggs ? .".split()

    def made(labels: int = 1, seed: int = 1, cls: str = "BertForSequenceClassification") -> Path:
        pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words, *(f"##{chr(n)}" for n in range(97, 123))]
        tokenizer = Tokenizer(models.WordPiece({p: n for n, p in enumerate(pieces)}, unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer()
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
        config = transformers.BertConfig(
            vocab_size=len(pieces),
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=64,
            num_labels=labels,
            initializer_range=0.5,
        )
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        folder = tmp_path_factory.mktemp("reranker")
        getattr(transformers, cls)(config).save_pretrained(folder)
        transformers.BertTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)
        return folder

    return made


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the weights of a BERT of one layer, named as the hub's files name them."""
    torch = pytest.importorskip("torch", reason="needs the extra train")
    safetensors = pytest.importorskip("safetensors.torch", reason="needs the extra train")
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (30522, 64),
        "embeddings.position_embeddings.weight": (512, 64),
        "embeddings.token_type_embeddings.weight": (2, 64),
        "pooler.dense.weight": (64, 64),
    }
    attention = [f"attention.self.{part}" for part in ("query", "key", "value")] + ["attention.output.dense"]
    layer = {**dict.fromkeys(attention, (64, 64)), "intermediate.dense": (256, 64), "output.dense": (64, 256)}
    for name, shape in layer.items():
        shapes |= {f"encoder.layer.0.{name}.weight": shape, f"encoder.layer.0.{name}.bias": shape[:1]}
    for norm in ("embeddings", "encoder.layer.0.attention.output", "encoder.layer.0.output"):
        shapes |= {f"{norm}.LayerNorm.weight": (64,), f"{norm}.LayerNorm.bias": (64,)}
    torch.manual_seed(1)
    folder = tmp_path_factory.mktemp("bert")
    weights = {name: torch.randn(shape) for name, shape in shapes.items()}
    safetensors.save_file(weights, str(folder / "model.safetensors"))
    return folder


@pytest.fixture(scope="session")
def tiny_minilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an evaluator of one layer, which looks for the question's words: the more of a text they are, the
    higher its score, and one of them is what it points at."""
    torch = pytest.importorskip("torch", reason="needs the extra train")
    pytest.importorskip("onnx", reason="needs the extra train")
    from surefoot_lab.train.export import export
    from surefoot_lab.train.network import GraderNetwork

    torch.set_num_threads(1)
    torch.manual_seed(0)
    network = GraderNetwork(width=32, heads=2, layers=1)
    with torch.no_grad():
        for table in (network.word, network.place, network.side):
            table.weight.mul_(0.1)
        direction = torch.randn(32).sign()
        network.shared.weight[1] = direction
        network.relevance.weight[0, 32:] = 0.5 * direction
        network.evidence.weight[:] = 0.1 * direction
    folder = tmp_path_factory.mktemp("minilm")
    export(network, folder / "minilm.onnx")
    card = {
        "format": 1,
        "sha256": hashlib.sha256((folder / "minilm.onnx").read_bytes()).hexdigest(),
        "calibration": {"logits": [-5.0, 0.0, 10.0], "probabilities": [0.0, 0.4, 1.0]},
        "evidence": {"margin": 0.0},
        "thresholds": {"upper": 4.0, "lower": -1.0, "strip": 0.0, "fitted_on": "nothing: for tests"},
    }
    (folder / "minilm.json").write_text(json.dumps(card))
    return folder
