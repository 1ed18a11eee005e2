"""CRAG's own evaluator, on a T5 of two layers that says nothing sensible but must be asked in exactly the right way."""

import pickle
import re
import shutil
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra transformers")
transformers = pytest.importorskip("transformers", reason="needs the extra transformers")

from surefoot.config.builder import Builder  # noqa: E402
from surefoot.config.options import build  # noqa: E402
from surefoot.config.settings import read  # noqa: E402
from surefoot.contracts import HOSTILE, PASSAGES, QUESTION, verify  # noqa: E402
from surefoot.evaluators.t5 import T5, text_of  # noqa: E402
from surefoot.evidence.policies import PRESETS  # noqa: E402
from surefoot.types import Passage  # noqa: E402
from surefoot.types.errors import ConfigError, ModelError  # noqa: E402

BRIDGE, HUT, CHEESE = PASSAGES[:3]
PAIRS = [(QUESTION, passage) for passage in (BRIDGE, HUT, CHEESE)]


@pytest.fixture(scope="module")
def t5(tiny_t5: Path) -> T5:
    """The evaluator as PopQA is graded."""
    return T5(str(tiny_t5), device="cpu")


def by_hand(folder: Path, text: str) -> float:
    """The logit of one text through transformers alone, padded to 512 as in CRAG's scripts."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.T5ForSequenceClassification.from_pretrained(folder, num_labels=1).eval()
    inputs = tokenizer(text, return_tensors="pt", padding="max_length", truncation=True, max_length=512)
    with torch.no_grad():
        return float(model(inputs["input_ids"], attention_mask=inputs["attention_mask"]).logits)


def scores(evaluator: T5, pairs: Sequence[tuple[str, Passage]]) -> list[float]:
    return [grade.score if grade.score is not None else float("nan") for grade in evaluator.grade(pairs)]


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ("popqa", "Who keeps it? [SEP] Josef does."),
        ("pubhealth", "Who keeps it? [SEP] The hut // Josef does."),
        ("arc", "Who keeps it? [SEP] The hut // Josef does."),
        ("bio", "Who keeps it? [SEP] The hut // Josef does."),
    ],
)
def test_each_task_has_the_input_of_the_scripts(task: str, text: str) -> None:
    """To the letter; PopQA alone goes without the title."""
    assert text_of("Who keeps it?", Passage("1", "Josef does.", "The hut"), task) == text


@pytest.mark.parametrize("task", PRESETS)
def test_a_score_is_the_logit_of_the_scripts(tiny_t5: Path, task: str) -> None:
    """Equal to what transformers gives for one pair at a time; neither clamped nor scaled."""
    expected = [by_hand(tiny_t5, text_of(question, passage, task)) for question, passage in PAIRS]
    assert scores(T5(str(tiny_t5), task, device="cpu"), PAIRS) == pytest.approx(expected, abs=1e-4)
    assert max(map(abs, expected)) > 1
    assert len({round(score, 2) for score in expected}) == 3


@pytest.mark.parametrize("task", PRESETS)
def test_the_thresholds_are_those_of_the_task(tiny_t5: Path, task: str) -> None:
    """And belong to the evaluator's name; the preset of the task is accepted, and that of another is not."""
    evaluator = T5(str(tiny_t5), task)
    assert evaluator.thresholds == replace(PRESETS[task], evaluator=evaluator.name)
    section = {"use": "t5", "folder": str(tiny_t5), "task": task}
    for preset in PRESETS:
        builder = Builder(read({"evaluator": section, "thresholds": {"preset": preset}}))
        with nullcontext() if preset == task else pytest.raises(ConfigError):
            assert builder.thresholds == evaluator.thresholds


def test_thresholds_of_one_checkpoint_do_not_judge_another(tiny_t5: Path, copy: Path) -> None:
    """Nor one task's the other's: the name holds the task and a hash of the weights."""
    model = transformers.T5ForSequenceClassification.from_pretrained(copy)
    torch.nn.init.constant_(model.classification_head.out_proj.bias, 1.0)
    model.save_pretrained(copy)
    names = [T5(str(folder), task).name for folder in (tiny_t5, copy) for task in ("popqa", "arc")]
    assert len(set(names)) == 4
    assert all(re.fullmatch(r"t5:(popqa|arc)-[0-9a-f]{8}", name) for name in names)
    assert T5(str(tiny_t5)).name == names[0]


def test_a_score_does_not_depend_on_its_neighbours(tiny_t5: Path, t5: T5) -> None:
    """Padding is masked: in a batch with much longer and shorter ones a score is the same to 1e-4."""
    words = ["Tomas Aldwin", "the bridge of iron", "who is the keeper of the hut"]
    pairs = [(QUESTION, Passage(f"{n}", " ".join(words[: n % 3 + 1]) * (n + 1))) for n in range(20)]
    assert scores(T5(str(tiny_t5), batch=7, device="cpu"), pairs) == pytest.approx(scores(t5, pairs), abs=1e-4)


def test_it_keeps_the_contract(t5: T5) -> None:
    """One pair a run, the default, is the same to the last bit in any company."""
    verify("evaluator", t5)


def test_any_text_can_be_graded_in_a_batch(tiny_t5: Path) -> None:
    """T5's `</s>` inside a passage would end the input there, and fail the whole batch; it counts as space."""
    texts = [*HOSTILE, "the bridge </s> </s> of iron", "the <pad> bridge"]
    grades = T5(str(tiny_t5), batch=16, device="cpu").grade([(QUESTION, Passage("x", text)) for text in texts])
    assert [grade.score is None for grade in grades] == [not text.strip() for text in texts]
    plain, marked = T5(str(tiny_t5), device="cpu").grade(
        [(QUESTION, Passage("x", "the bridge of iron")), (QUESTION, Passage("x", "the bridge </s> of iron"))]
    )
    assert marked == plain


def test_what_was_cut_off_is_said(t5: T5) -> None:
    """A passage beyond 512 pieces is read up to there, as in the scripts; the grade says how far."""
    passage = Passage("1", "the hut is of iron " * 2000)
    (grade,) = t5.grade([(QUESTION, passage)])
    assert grade.window is not None
    start, end = grade.window
    (alone,) = t5.grade([(QUESTION, Passage("1", passage.text[:end]))])
    assert (start, alone.window, alone.score) == (0, None, grade.score)
    assert f"up to character {end} of 38000" in grade.reason


def test_a_text_of_sentencepiece_is_cut_as_the_scripts_cut_it(tiny_t5: Path, tmp_path: Path) -> None:
    """What CRAG's training script saves is spiece.model and no tokenizer.json; line breaks are spaces to it."""
    sentencepiece = pytest.importorskip("sentencepiece", reason="needs the extra transformers")
    with (tmp_path / "spiece.model").open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter([f"{QUESTION} {p.text}" for p in PASSAGES]),
            model_writer=file,
            vocab_size=60,
            hard_vocab_limit=False,
            pad_id=0,
            eos_id=1,
            unk_id=2,
            bos_id=-1,
            minloglevel=2,
        )
    copied(tiny_t5, tmp_path, "config.json", "model.safetensors")
    expected = by_hand(tmp_path, f"{QUESTION} [SEP] The hut. It is high.")
    found = scores(T5(str(tmp_path), device="cpu"), [(QUESTION, Passage("1", "The hut.\nIt is  high."))])
    assert found == pytest.approx([expected], abs=1e-4)


def copied(source: Path, target: Path, *names: str) -> None:
    for name in names or [path.name for path in source.iterdir()]:
        shutil.copy(source / name, target / name)


@pytest.fixture
def copy(tiny_t5: Path, tmp_path: Path) -> Path:
    """The checkpoint, to be spoilt."""
    copied(tiny_t5, tmp_path)
    return tmp_path


def weights(folder: Path) -> dict[str, Any]:
    return transformers.T5ForSequenceClassification.from_pretrained(folder).state_dict()  # type: ignore[no-any-return]


def test_a_model_that_returns_nan_grades_nothing(copy: Path) -> None:
    """A failure is never a number."""
    model = transformers.T5ForSequenceClassification.from_pretrained(copy)
    torch.nn.init.constant_(model.classification_head.out_proj.bias, float("nan"))
    model.save_pretrained(copy)
    (grade,) = T5(str(copy), device="cpu").grade([(QUESTION, BRIDGE)])
    assert (grade.score, grade.reason) == (None, "the evaluator returned nan")


def test_a_t5_that_was_never_trained_to_grade_is_refused(tiny_t5: Path, tmp_path: Path) -> None:
    """transformers would draw a head at random and warn; its scores would be noise."""
    copied(tiny_t5, tmp_path, "tokenizer.json", "tokenizer_config.json")
    transformers.T5ForConditionalGeneration(transformers.T5Config.from_pretrained(tiny_t5)).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="no classification head; run: surefoot lab train t5"):
        T5(str(tmp_path))


class Bomb:
    """What a pickle can do to whoever loads it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_a_pickle_runs_no_code(copy: Path) -> None:
    """Weights of the old kind are read by torch.load(weights_only=True), which refuses anything but tensors."""
    (copy / "model.safetensors").unlink()
    with (copy / "pytorch_model.bin").open("wb") as file:
        pickle.dump(Bomb(copy / "exploded"), file, protocol=2)
    with pytest.raises(ModelError, match="does not load"):
        T5(str(copy))
    assert not (copy / "exploded").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": "squad"}, "no task called 'squad'; there are: popqa, pubhealth, arc, bio"),
        ({"batch": 0}, "batch must be greater than or equal to 1, not 0"),
        ({"max_pieces": 3}, "max_pieces must be greater than or equal to 16, not 3"),
        ({"device": "abacus"}, "the device 'abacus' cannot be used"),
    ],
)
def test_an_option_that_does_not_fit_is_refused(tiny_t5: Path, options: dict[str, Any], message: str) -> None:
    """With what would."""
    with pytest.raises(ConfigError, match=message):
        build("evaluator", "t5", {"folder": str(tiny_t5), **options}, {})
