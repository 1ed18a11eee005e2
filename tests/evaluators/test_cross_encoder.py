"""Cross-encoders of Hugging Face, on BERTs of two layers."""

import json
from collections.abc import Callable
from math import exp
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra transformers")
transformers = pytest.importorskip("transformers", reason="needs the extra transformers")

from surefoot.contracts import PASSAGES, QUESTION, verify  # noqa: E402
from surefoot.evaluators.cross_encoder import CrossEncoder  # noqa: E402
from surefoot.types import Passage  # noqa: E402
from surefoot.types.errors import ConfigError, ModelError  # noqa: E402

BRIDGE, HUT, CHEESE = PASSAGES[:3]
PAIRS = [(QUESTION, passage) for passage in (BRIDGE, HUT, CHEESE)]
FITTED = {"upper": 1.0, "lower": -1.0, "strip": -1.0}

Make = Callable[..., Path]


@pytest.fixture(scope="module")
def make(tiny_cross_encoder: Make) -> Make:
    """Writes a cross-encoder with so many labels, for at most 64 pieces."""
    return tiny_cross_encoder


@pytest.fixture(scope="module")
def folder(make: Make) -> Path:
    """One label."""
    return make()


@pytest.fixture(scope="module")
def encoder(folder: Path) -> CrossEncoder:
    """Fitted by eye."""
    return CrossEncoder(str(folder), FITTED, device="cpu")


def by_hand(folder: Path, question: str, text: str) -> list[float]:
    """The logits of one pair through transformers alone."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        logits = model(**tokenizer(question, text, return_tensors="pt")).logits[0]
    return [float(logit) for logit in logits]


def test_a_score_is_the_raw_logit(folder: Path, encoder: CrossEncoder) -> None:
    """Of question and passage as a pair, title before text; no sigmoid."""
    expected = [by_hand(folder, QUESTION, f"{p.title}\n{p.text}")[0] for _, p in PAIRS]
    assert [g.score for g in encoder.grade(PAIRS)] == pytest.approx(expected, abs=1e-5)
    assert len({round(score, 4) for score in expected}) == 3


def test_of_two_labels_the_score_is_the_probability_of_the_second(make: Make) -> None:
    """Softmax; the first is "not relevant" wherever there are two."""
    two = make(labels=2)
    (grade,) = CrossEncoder(str(two), FITTED, device="cpu").grade([(QUESTION, HUT)])
    no, yes = by_hand(two, QUESTION, f"{HUT.title}\n{HUT.text}")
    assert grade.score == pytest.approx(exp(yes) / (exp(no) + exp(yes)), abs=1e-5)


def test_a_long_passage_is_read_in_windows_and_the_best_counts(folder: Path, encoder: CrossEncoder) -> None:
    """Whatever stands at its end is seen; the grade says which part earned the score."""
    text = "add flour and eggs . " * 30 + "the ruvel bridge is of iron ? " + "cheese is of eggs . " * 30
    (grade,) = encoder.grade([(QUESTION, Passage("1", text))])
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    windows = tokenizer(
        QUESTION,
        text,
        truncation="only_second",
        max_length=64,
        stride=(64 - 3 - 6) // 4,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
    )
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    scores = []
    with torch.no_grad():
        for ids, sides in zip(windows["input_ids"], windows["token_type_ids"], strict=True):
            logits = model(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([sides])).logits
            scores.append(float(logits))
    best = scores.index(max(scores))
    passage = [o for o, s in zip(windows["offset_mapping"][best], windows.sequence_ids(best), strict=True) if s == 1]
    assert grade.score == pytest.approx(max(scores), abs=1e-5)
    assert grade.window == (passage[0][0], passage[-1][1])
    assert grade.reason == f"the best of {len(scores)} windows"


def test_a_window_counts_from_the_text_not_from_the_title(encoder: CrossEncoder) -> None:
    """All windows of a text lie in it, and the first begins it."""
    words = "cheese and eggs . " * 40
    asked = "who built the ruvel bridge tomas aldwin iron hut of is keeper josef cheese add flour and eggs ? .".split()
    found = {encoder.grade([(q, Passage("1", words, "Iron bridge"))])[0].window for q in asked}
    assert None not in found
    assert all(w[0] >= 0 and w[1] <= len(words) and words[slice(*w)] == words[slice(*w)].strip() for w in found if w)


def test_it_keeps_the_contract(encoder: CrossEncoder) -> None:
    """The one that every evaluator has to keep."""
    verify("evaluator", encoder)


@pytest.mark.parametrize(
    ("question", "text", "reason"),
    [
        ("", "the bridge", "there is no question"),
        (QUESTION, " ", "the passage has no text"),
        ("who built the bridge " * 15, "the bridge", "the question leaves no room in the 64 pieces"),
    ],
)
def test_what_cannot_be_graded_has_a_reason(encoder: CrossEncoder, question: str, text: str, reason: str) -> None:
    """And no score."""
    (grade,) = encoder.grade([(question, Passage("1", text))])
    assert grade.score is None
    assert reason in grade.reason


def test_without_thresholds_it_grades_and_says_how_to_fit_them(folder: Path) -> None:
    """Fitting needs scores; judging by them needs thresholds that fit."""
    unfitted = CrossEncoder(str(folder), device="cpu")
    assert unfitted.grade(PAIRS)[0].score is not None
    with pytest.raises(ConfigError, match=r"no thresholds; fit them .* `surefoot lab tune`, .* fitted = { upper"):
        _ = unfitted.thresholds
    with pytest.raises(ConfigError, match=r"lower -1\.0 lies above upper -2\.0"):
        CrossEncoder(str(folder), {**FITTED, "upper": -2.0})


def test_a_model_that_was_never_trained_to_classify_is_refused(make: Make) -> None:
    """transformers would draw a head at random and warn; its scores would be noise."""
    with pytest.raises(ModelError, match="is no trained cross-encoder: its weights lack classifier"):
        CrossEncoder(str(make(cls="BertModel")))


def test_code_in_a_checkpoint_is_not_run(make: Make) -> None:
    """`trust_remote_code` is never given, and nobody is asked for it."""
    strange = make()
    config = json.loads((strange / "config.json").read_text())
    code = {"AutoConfig": "code.Config", "AutoModelForSequenceClassification": "code.Model"}
    (strange / "config.json").write_text(json.dumps({**config, "model_type": "strange", "auto_map": code}))
    (strange / "code.py").write_text(f"open({str(strange / 'ran')!r}, 'w')\n")
    with pytest.raises(ModelError, match="does not load"):
        CrossEncoder(str(strange))
    assert not (strange / "ran").exists()


def test_a_name_that_the_cache_holds_needs_no_network(
    folder: Path, encoder: CrossEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model of the hub is fetched once; SUREFOOT_OFFLINE forbids even that."""
    from huggingface_hub import constants

    stored = tmp_path / "models--org--reranker"
    (stored / "refs").mkdir(parents=True)
    (stored / "refs" / "main").write_text("a" * 40)
    (stored / "snapshots").mkdir()
    (stored / "snapshots" / ("a" * 40)).symlink_to(folder)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("SUREFOOT_OFFLINE", "1")
    assert CrossEncoder("org/reranker", device="cpu").grade(PAIRS) == encoder.grade(PAIRS)
    with pytest.raises(ModelError, match="the checkpoint org/other does not load"):
        CrossEncoder("org/other")
