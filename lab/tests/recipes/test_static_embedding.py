"""The recipe of the static embedding, with a teacher that costs nothing."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import Whitespace

pytest.importorskip("torch", reason="needs the extra train")

from static_embedding import (
    MOST_CHARACTERS,
    VectorExamples,
    VectorRecipe,
    fit,
    taught,
    texts_of,
    turn,
)
from surefoot.embedders.static import pooled, unit
from surefoot.types.protocols import Matrix

WORDS = ["red", "green", "blue", "cat", "dog", "bird", "of", "##s"]
RECIPE = VectorRecipe(dimensions=3, epochs=30, batch=8, rate=0.05)


class Teacher:
    """Colours lie on one axis, animals on another, "of" means nothing; counts the texts it was asked for."""

    name = "teacher"
    dimensions = 4

    def __init__(self) -> None:
        self.asked = 0
        self.least = 0

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Breaks off at fewer texts than `least`."""
        if len(texts) < self.least:
            raise ZeroDivisionError
        self.asked += len(texts)
        return unit(
            np.array([[self._axis(t, WORDS[:3]), self._axis(t, WORDS[3:6]), 0, 0.1] for t in texts], np.float32)
        )

    @staticmethod
    def _axis(text: str, words: Sequence[str]) -> int:
        return sum(word in words for word in text.split())


@pytest.fixture
def tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(WordPiece({w: n for n, w in enumerate(["[UNK]", *WORDS])}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.add_special_tokens(["[UNK]"])
    return tokenizer


@pytest.fixture
def texts() -> list[str]:
    random = np.random.default_rng(1)
    return [" ".join(random.choice(WORDS[:7], 4)) for _ in range(64)]


def jsonl(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return path


def test_texts_are_questions_passages_and_paragraphs(tmp_path: Path) -> None:
    """Each text is taken once, cut, with its title, in alphabetical order."""
    data = jsonl(
        tmp_path / "a.jsonl",
        {"question": "who?", "passages": [{"title": "Hut", "text": "A hut."}, {"text": "x" * 900}]},
        {"question": "who?"},
        {"title": "Page", "paragraphs": ["First.", "Second."]},
        {"title": "", "text": "alone"},
    )
    cut = "x" * MOST_CHARACTERS
    assert texts_of([data]) == ["Hut\nA hut.", "Page\nFirst.", "Page\nSecond.", "alone", "who?", cut]


@pytest.mark.parametrize(
    ("held", "text"),
    [
        ({"question": "Who built it?"}, "who  BUILT it"),
        ({"title": "", "text": " ".join("abcdefghijklmnopq")}, "z " + " ".join("cdefghijklmno") + " z"),
        ({"title": "T", "text": "the whole text"}, "t the whole text"),
    ],
)
def test_what_is_held_out_is_not_learned(tmp_path: Path, held: dict[str, Any], text: str) -> None:
    """A text that shares 13 words in a row with a held-out one, or all its words in order, is left out."""
    data = jsonl(tmp_path / "a.jsonl", {"text": text}, {"text": "something else"})
    assert texts_of([data], [jsonl(tmp_path / "b.jsonl", held)]) == ["something else"]


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    """Of a run that broke off, only what was not yet taught is asked again."""
    teacher, texts = Teacher(), [f"red {n}" for n in range(2500)]
    teacher.least = 1000
    with pytest.raises(ZeroDivisionError):
        taught(teacher, texts, tmp_path)
    teacher.least = 0
    taught(teacher, texts, tmp_path)
    assert teacher.asked == 2500


def test_the_student_comes_to_agree_with_the_teacher(tmp_path: Path, texts: list[str], tokenizer: Tokenizer) -> None:
    """After the fit, sums of pieces are as near to each other as the teacher's vectors of the texts are."""
    teacher = Teacher()
    table = fit(texts, teacher, tokenizer, tmp_path, RECIPE)
    unseen = ["red red cat", "dog", "green of blue", "bird blue dog"]
    student = unit(pooled(table, [e.ids for e in tokenizer.encode_batch(unseen)]))
    vectors = teacher.embed(unseen)
    assert np.allclose(student @ student.T, vectors @ vectors.T, atol=0.2)


def test_each_step_goes_down_the_slope() -> None:
    """One step of Adam with a small rate moves every number against the sign of the loss's measured slope."""
    random = np.random.default_rng(3)
    table = random.normal(size=(4, 3)).astype(np.float32)
    lesson = VectorExamples(
        (np.array([0, 1, 1]), np.array([2, 0, 3])), unit(random.normal(size=(2, 3)).astype(np.float32))
    )

    def loss(table: Matrix) -> float:
        return -float((unit(pooled(table, lesson.pieces)) * lesson.directions).sum())

    nudges = 1e-2 * np.eye(12, dtype=np.float32).reshape(12, 4, 3)
    slope = np.array([loss(table + n) - loss(table - n) for n in nudges]).reshape(4, 3)
    turned = table.copy()
    turn(turned, lesson, replace(RECIPE, epochs=2, batch=2, rate=1e-3))
    assert (np.sign(turned - table) == -np.sign(slope)).all()
