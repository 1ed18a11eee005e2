"""CRAG's training recipe, on a T5 of two layers."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra transformers")
transformers = pytest.importorskip("transformers", reason="needs the extra transformers")


from surefoot.evaluators.t5 import T5  # noqa: E402
from surefoot.types import Passage  # noqa: E402
from surefoot.types.errors import UsageError  # noqa: E402
from surefoot_lab.train.examples import TrainingExample  # noqa: E402
from surefoot_lab.train.loop import TrainingProgress  # noqa: E402
from surefoot_lab.train.t5 import T5Recipe, train_t5  # noqa: E402

HELPS = ["tomas aldwin built the ruvel bridge", "the bridge is of iron", "Josef is the keeper", "the hut of Josef"]
DOES_NOT = ["who is who", "of the of the", "hut hut hut", "is iron the hut"]
DATA = [
    TrainingExample("who built the bridge", "", t, label, None) for label in (1, 0) for t in (DOES_NOT, HELPS)[label]
]
QUICK = T5Recipe(epochs=2, batch=3, rate=1e-3)


def quiet(progress: TrainingProgress) -> None:
    """Told, and silent."""


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
    recipe = T5Recipe()
    assert (recipe.task, recipe.epochs, recipe.batch, recipe.max_pieces) == ("popqa", 8, 12, 512)
    assert (recipe.rate, recipe.warm_up, recipe.clip) == (1e-4, 0.0, 1.0)


def test_it_learns_eight_pairs_by_heart(base: Path, tmp_path: Path) -> None:
    """Scores go to +1 and -1, and the evaluator reads what was written."""
    losses: list[float] = []
    recipe = T5Recipe(epochs=30, batch=4, rate=1e-2)
    targets = train_t5(str(base), DATA, tmp_path / "t5", recipe, lambda progress: losses.append(progress.loss))
    pairs = [(it.text, Passage(it.evidence, it.evidence)) for it in DATA]
    grades = T5(str(tmp_path / "t5"), device="cpu").grade(pairs)
    assert targets == [1.0] * 4 + [-1.0] * 4
    assert all(abs((g.score or 0.0) - target) < 0.5 for g, target in zip(grades, targets, strict=True))
    assert losses[-1] < 0.3 < losses[0]


def test_a_run_that_was_stopped_goes_on_and_what_is_finished_stays(base: Path, tmp_path: Path) -> None:
    """From the last checkpoint, to the same weights; a finished evaluator cost hours."""
    recipe = replace(QUICK, checkpoint=2)

    def stop(progress: TrainingProgress) -> None:
        if progress.step == 3:
            raise KeyboardInterrupt

    train_t5(str(base), DATA, tmp_path / "whole", recipe, quiet)
    with pytest.raises(KeyboardInterrupt):
        train_t5(str(base), DATA, tmp_path / "t5", recipe, stop)
    seen: list[int] = []
    train_t5(str(base), DATA, tmp_path / "t5", recipe, lambda progress: seen.append(progress.step))
    assert seen == [3, 4, 5, 6]
    one, other = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "t5"))
    assert one == other
    with pytest.raises(UsageError, match="t5 is there already; give another folder"):
        train_t5(str(base), DATA, tmp_path / "t5", recipe, quiet)
