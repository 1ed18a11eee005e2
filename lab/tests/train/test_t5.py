"""CRAG's training recipe, on a T5 of two layers."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra transformers")
transformers = pytest.importorskip("transformers", reason="needs the extra transformers")


from surefoot.evaluators.t5 import T5  # noqa: E402
from surefoot.types import Passage  # noqa: E402
from surefoot.types.errors import ModelError, UsageError  # noqa: E402
from surefoot_lab.train.t5 import T5Example, T5Recipe, train  # noqa: E402

HELPS = ["tomas aldwin built the ruvel bridge", "the bridge is of iron", "Josef is the keeper", "the hut of Josef"]
DOES_NOT = ["who is who", "of the of the", "hut hut hut", "is iron the hut"]
DATA = [T5Example("who built the bridge", Passage(t, t), 1.0) for t in HELPS]
DATA += [T5Example("who built the bridge", Passage(t, t), -1.0) for t in DOES_NOT]
QUICK = T5Recipe(epochs=2, batch=3, rate=1e-3)


@pytest.fixture(scope="module")
def base(tiny_t5: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A T5 that generates, as the recipe starts from; it drops out a tenth, as T5 does."""
    folder = tmp_path_factory.mktemp("base")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tiny_t5 / name, folder / name)
    torch.manual_seed(0)
    config = transformers.T5Config.from_pretrained(tiny_t5)
    transformers.T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


def test_the_numbers_are_those_of_crag() -> None:
    """Its training script, and the paper's appendix."""
    assert T5Recipe() == T5Recipe("popqa", epochs=8, batch=12, rate=1e-4, clip=1.0, max_pieces=512, seed=0)


def test_it_learns_eight_pairs_by_heart(base: Path, tmp_path: Path) -> None:
    """Scores go to +1 and -1, and the evaluator reads what was written."""
    done = train(str(base), DATA, tmp_path / "t5", T5Recipe(epochs=30, batch=4, rate=1e-2))
    grades = T5(str(done.folder), device="cpu").grade([(it.question, it.passage) for it in DATA])
    assert all(abs((g.score or 0.0) - it.target) < 0.5 for g, it in zip(grades, DATA, strict=True))
    assert (done.pairs, done.positives, len(done.losses)) == (8, 4, 30)
    assert done.losses[-1] < 0.2 < done.losses[0]


def test_what_is_there_is_not_overwritten(base: Path, tmp_path: Path) -> None:
    """A finished evaluator cost hours."""
    (tmp_path / "t5").mkdir()
    with pytest.raises(UsageError, match="t5 is there already; give another folder"):
        train(str(base), DATA, tmp_path / "t5", QUICK)


def test_a_loss_that_is_no_number_stops_the_training(base: Path, tmp_path: Path) -> None:
    """At once, and nothing is kept of it."""
    with pytest.raises(ModelError, match=r"the loss is (nan|inf) after \d steps; give a lower rate"):
        train(str(base), DATA, tmp_path / "t5", replace(QUICK, rate=1e20))
    assert not (tmp_path / "t5").exists()
